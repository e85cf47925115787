//! One stage as a machine that reads character classes and says where pieces begin.
//!
//! Look here for what a stage does with a character. It holds characters back as long as it cannot say whether
//! a piece begins there: characters that a match may give back, and possible matches. It passes all others
//! at once to the next stage.

use crate::pre_tokenizer::{SplitBehavior, SplitRule};
use jeton_text::pattern::{AutomatonStep, CharacterClasses, steps_over};

/// A character on its way from stage to stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its class.
    pub class: u8,
    /// A piece begins with it.
    pub begins: bool,
    /// It belongs to no piece.
    pub is_dropped: bool,
}

/// What a piece consists of: matches, and the gaps between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Segment {
    /// Nothing, so far.
    #[default]
    None,
    Gap,
    Match,
}

/// The state of a stage inside of the piece that it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StageState {
    /// What the last character belongs to that was given on.
    segment: Segment,
    /// That character is of the match that is being read.
    is_open: bool,
    /// That character is of what is being read, and belongs to a gap if that is no match: all that was
    /// given on of it has the same state of the automaton, wherever a match begins in it.
    is_undecided: bool,
    /// The state of the automaton, of the match that is being read.
    row: u32,
    /// The characters of that match, or of what may become one, that are held back.
    held: Vec<u8>,
}

impl StageState {
    /// How many characters are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// What is undecided is of a match.
    fn decide(&mut self) {
        if std::mem::take(&mut self.is_undecided) {
            (self.segment, self.is_open) = (Segment::Match, true);
        }
    }
}

/// What a match that was read up to a state of the automaton is for certain.
#[derive(Clone, Copy)]
enum Certain {
    /// It may be none, or a shorter one.
    Nothing,
    /// It is one, and may give its last character back.
    AllButLast,
    /// It is one up to here, and may go on.
    All,
}

/// A stage that only splits, at places that an automaton finds.
pub struct Stage {
    steps: Vec<AutomatonStep>,
    /// By state of the automaton.
    certain: Vec<Certain>,
    /// See [`end`](Self::end); the number of the others.
    end: u8,
    behavior: SplitBehavior,
    invert: bool,
    /// Whether matches may give their last character back.
    has_tail: bool,
}

impl Stage {
    /// The stage that splits by this rule, if an automaton can find the places; `classes` distinguish its
    /// characters.
    pub fn new(classes: &CharacterClasses, cut: &SplitRule) -> Option<Self> {
        let steps = steps_over(classes, &cut.patterns)?;
        let certain = |row: &[AutomatonStep]| {
            let (_, inside) = row.split_last().unwrap_or((&row[0], row));
            if !row.iter().all(|step| step.has(AutomatonStep::MATCH)) {
                Certain::Nothing
            } else if inside.iter().any(|step| step.has(AutomatonStep::TAIL)) {
                Certain::AllButLast
            } else {
                Certain::All
            }
        };
        Some(Self {
            certain: steps.chunks(classes.count() + 1).map(certain).collect(),
            has_tail: steps.iter().any(|step| step.has(AutomatonStep::TAIL)),
            steps,
            end: classes.count() as u8,
            behavior: cut.behavior,
            invert: cut.invert,
        })
    }

    /// The class of the end of a piece, or of the text.
    pub fn end(&self) -> u8 {
        self.end
    }

    fn width(&self) -> usize {
        usize::from(self.end) + 1
    }

    fn step(&self, row: u32, class: u8) -> AutomatonStep {
        self.steps[row as usize + usize::from(class)]
    }

    fn certain(&self, row: u32) -> Certain {
        self.certain[row as usize / self.width()]
    }

    /// The states of the automaton.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        (0..self.steps.len() as u32).step_by(self.width())
    }

    /// Whether it may be used to drop text, not to keep what it finds everywhere.
    pub fn drops(&self) -> bool {
        let finds_all = (0..self.end).all(|class| !self.step(0, class).has(AutomatonStep::DEAD));
        self.behavior == SplitBehavior::Removed && !(self.invert && finds_all)
    }

    /// Reads a character of the piece, or its end, and appends the characters of which it is known then
    /// where they belong.
    pub fn read(&self, state: &mut StageState, class: u8, known: &mut Vec<Symbol>) {
        // What is read once more after it, the next one last.
        let mut rest = Vec::new();
        let mut next = Some(class);
        while let Some(class) = next.take().or_else(|| rest.pop()) {
            let at_end = class == self.end;
            let step = self.step(state.row, class);
            // A match that consists of one character does not give it back.
            let is_longer = |state: &StageState| state.held.len() + usize::from(state.is_open) > 1;
            if step.has(AutomatonStep::MATCH) {
                state.decide();
                let gives_back = step.has(AutomatonStep::TAIL) && !at_end && is_longer(state);
                self.give_match(state, state.held.len() - usize::from(gives_back), known);
            }
            if !step.has(AutomatonStep::DEAD) {
                state.row = step.row() as u32;
                state.held.push(class);
                let held = state.held.len();
                match self.certain(state.row) {
                    Certain::Nothing => self.give_undecided(state, known),
                    Certain::AllButLast if is_longer(state) => {
                        self.give_match(state, held - 1, known);
                    }
                    Certain::AllButLast | Certain::All => {
                        state.decide();
                        self.give_match(state, held, known);
                    }
                }
                continue;
            }
            // What was held back is read once more, as what may begin another match.
            let mut was_open = std::mem::take(&mut state.is_open);
            if std::mem::take(&mut state.is_undecided) {
                (state.segment, was_open) = (Segment::Gap, true);
            }
            let is_held = !state.held.is_empty();
            state.row = 0;
            if is_held || was_open {
                rest.push(class);
            }
            let skipped = usize::from(is_held && !was_open);
            rest.extend(state.held.drain(skipped..).rev());
            if let Some(class) = state.held.pop() {
                self.give_gap(state, class, known);
            } else if !was_open {
                if at_end {
                    state.segment = Segment::None
                } else {
                    self.give_gap(state, class, known)
                }
            }
        }
    }

    /// Gives the first characters on that are held back, which belong to the match that is being read.
    fn give_match(&self, state: &mut StageState, count: usize, known: &mut Vec<Symbol>) {
        for class in state.held.drain(..count) {
            let begins = !state.is_open && self.cuts(state.segment, Segment::Match);
            known.push(self.symbol(class, begins, Segment::Match));
            (state.segment, state.is_open) = (Segment::Match, true);
        }
    }

    /// Gives the last character on if it may be of a match or of a gap, and that makes no difference.
    fn give_undecided(&self, state: &mut StageState, known: &mut Vec<Symbol>) {
        let &[class] = state.held.as_slice() else {
            return;
        };
        let fresh = self.step(0, class);
        let as_match = self.cuts(state.segment, Segment::Match);
        let is_same = if state.is_undecided {
            !fresh.has(AutomatonStep::DEAD) && fresh.row() as u32 == state.row
        } else {
            !state.is_open
                && !self.has_tail
                && self.behavior != SplitBehavior::Removed
                && as_match == self.cuts(state.segment, Segment::Gap)
        };
        if !is_same {
            return;
        }
        let begins = !state.is_undecided && as_match;
        state.held.clear();
        state.is_undecided = true;
        known.push(self.symbol(class, begins, Segment::Gap));
    }

    /// Gives a character on that belongs to no match.
    fn give_gap(&self, state: &mut StageState, class: u8, known: &mut Vec<Symbol>) {
        let begins = self.cuts(state.segment, Segment::Gap);
        known.push(self.symbol(class, begins, Segment::Gap));
        state.segment = Segment::Gap;
    }

    fn symbol(&self, class: u8, begins: bool, of: Segment) -> Symbol {
        let is_dropped = self.behavior == SplitBehavior::Removed && self.is_delimiter(of);
        Symbol {
            class,
            begins: begins && !is_dropped,
            is_dropped,
        }
    }

    fn is_delimiter(&self, segment: Segment) -> bool {
        (segment == Segment::Match) != self.invert
    }

    /// Whether a piece ends between two segments, the second of which begins there or continues with a gap.
    fn cuts(&self, before: Segment, behind: Segment) -> bool {
        if before == Segment::None {
            return true;
        }
        if (before, behind) == (Segment::Gap, Segment::Gap) {
            return false;
        }
        let (before, behind) = (self.is_delimiter(before), self.is_delimiter(behind));
        match self.behavior {
            SplitBehavior::Removed | SplitBehavior::Isolated => true,
            SplitBehavior::MergedWithPrevious => before || !behind,
            SplitBehavior::MergedWithNext => !before || behind,
            SplitBehavior::Contiguous => before != behind,
        }
    }

    /// The states of matches that may be read when a character of this class was, if before it one of
    /// `rows` may have been.
    pub fn possible(&self, rows: &[u32], class: u8) -> Vec<u32> {
        let steps = rows.iter().chain(&[0]).map(|row| self.step(*row, class));
        let alive = steps.filter(|step| !step.has(AutomatonStep::DEAD));
        let mut rows: Vec<_> = alive.map(|step| step.row() as u32).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Whether all matches that are at one of `rows` end before a character of this class, or are none,
    /// and would if the text ended there.
    pub fn ends(&self, rows: &[u32], class: u8) -> bool {
        rows.iter().all(|&row| {
            let (step, at_end) = (self.step(row, class), self.step(row, self.end));
            let alike = step.has(AutomatonStep::MATCH) == at_end.has(AutomatonStep::MATCH);
            step.has(AutomatonStep::DEAD) && !step.has(AutomatonStep::TAIL) && alike
        })
    }

    /// Whether a piece surely ends between characters of these classes, where all matches [end](Self::ends)
    /// that are at one of `rows`.
    pub fn surely_cuts(&self, rows: &[u32], before: u8, behind: u8) -> bool {
        const EITHER: &[Segment] = &[Segment::Gap, Segment::Match];
        let of = |class: u8, is_gap: bool| {
            let step = self.step(0, class);
            let is_match = !step.has(AutomatonStep::DEAD)
                && !matches!(self.certain(step.row() as u32), Certain::Nothing);
            match (is_gap, is_match) {
                (true, _) => &EITHER[..1],
                (_, true) => &EITHER[1..],
                _ => EITHER,
            }
        };
        let behind = of(behind, self.step(0, behind).has(AutomatonStep::DEAD));
        let mut before = of(before, rows.is_empty()).iter();
        before.all(|&before| behind.iter().all(|&behind| self.cuts(before, behind)))
    }
}
