//! The automaton of a pattern over character classes.
//!
//! Look here for how a match is found. The automaton is that of `regex-automata`, built from the pattern
//! over [`CharacterClasses`], so it is small: it is built at once and stays in the nearest cache. Reading a
//! text is then one step per character. To split whole texts, `jeton_stages::split::one_pass` combines the
//! steps of one or several patterns over the same classes ([`steps_over`]) into one table.

use std::collections::HashMap;
use std::ops::Range;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::look::LookMatcher;
use regex_automata::util::primitives::{PatternID, StateID};
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;

use crate::interrupt::tick;
use crate::pattern::character_classes::CharacterClasses;
use crate::pattern::dead_ends::DeadEnds;
use crate::text::boundary_before;

/// Bytes of the largest automaton: far above what split patterns need, and soon made.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;

/// Which pattern of an automaton reads more than its match: the white space of the tail, or a letter after
/// a look. The other is the branches as written.
pub(super) const TAIL: PatternID = PatternID::new_unchecked(1);

/// What the automaton does with a character: the row of the next state, and marks.
#[derive(Clone, Copy)]
pub struct AutomatonStep(u32);

impl AutomatonStep {
    /// A match may end before the character.
    pub const MATCH: u32 = 1 << 29;
    /// And it is one of the pattern that gives its last character back, or of a look-around has read one
    /// letter more.
    pub const TAIL: u32 = 1 << 28;
    /// No match continues with the character; none does at the end of the text.
    pub const DEAD: u32 = 1 << 27;
    /// The row; what lies above it are marks.
    const ROW: u32 = (1 << 27) - 1;

    /// Whether it has all of `marks`.
    pub fn has(self, marks: u32) -> bool {
        self.0 & marks == marks
    }

    /// Index of the state that follows.
    pub fn row(self) -> usize {
        (self.0 & Self::ROW) as usize
    }
}

/// What was found of the match that begins at a place.
struct Found {
    /// Where the longest preferred match ends, if there is one.
    end: Option<usize>,
    /// How far the text was read.
    read: usize,
}

/// An automaton; see the top of this file.
pub struct Automaton {
    classes: CharacterClasses,
    /// One row a state: a step for each class, and one for the end of the text.
    steps: Vec<AutomatonStep>,
}

impl Automaton {
    /// The automaton of `patterns`, of which the second, if there is one, is white space that gives
    /// its last character back, unless that is all of it or the text ends there.
    ///
    /// `None` where it would be large.
    pub fn new(patterns: &[Hir]) -> Option<Self> {
        let classes = CharacterClasses::of(patterns)?;
        let steps = steps_over(&classes, patterns)?;
        Some(Self { classes, steps })
    }

    /// The step from the state of `row` at byte `at` of `text`, and the length of its character.
    #[inline(always)]
    fn step(&self, row: usize, text: &[u8], at: usize) -> (AutomatonStep, usize) {
        let (class, length) = if at < text.len() {
            self.classes.at(text, at)
        } else {
            (self.classes.count() as u8, 0)
        };
        (self.steps[row + usize::from(class)], length)
    }

    /// The match that begins at byte `start`.
    fn match_at(&self, text: &str, start: usize, dead_ends: &mut DeadEnds) -> Found {
        let bytes = text.as_bytes();
        let (mut row, mut at) = (0, start);
        let (mut end, mut tail) = (None, false);
        dead_ends.start(start);
        loop {
            if dead_ends.ends(row, at, end) {
                break;
            }
            let (step, length) = self.step(row, bytes, at);
            if step.has(AutomatonStep::MATCH) {
                (end, tail) = (Some(at), step.has(AutomatonStep::TAIL));
            }
            if step.has(AutomatonStep::DEAD) || length == 0 {
                break;
            }
            row = step.row();
            at += length;
        }
        dead_ends.stop(start, at, end, text.len());
        let end = end.map(|end| {
            if tail && end < text.len() {
                before_last(text, start, end)
            } else {
                end
            }
        });
        Found { end, read: at }
    }

    /// The leftmost match that begins at byte `from` of `text` or later.
    ///
    /// # Errors
    /// Where to continue from, if much of the text would have to be read again and again to find one.
    pub fn find_from(
        &self,
        text: &str,
        from: usize,
        dead_ends: &mut DeadEnds,
    ) -> Result<Option<Range<usize>>, usize> {
        /// Bytes that may be read again.
        const MAX_READ_AGAIN: usize = 4 << 10;
        let mut read_again = 0;
        let mut start = from;
        while start < text.len() {
            tick();
            let found = self.match_at(text, start, dead_ends);
            if let Some(end) = found.end {
                return Ok(Some(start..end));
            }
            start += self.classes.at(text.as_bytes(), start).1;
            read_again += found.read.saturating_sub(start);
            if read_again > MAX_READ_AGAIN {
                return Err(start);
            }
        }
        Ok(None)
    }
}

/// The steps of the automaton of `patterns` over classes that distinguish their characters; see
/// `Automaton::new`.
pub fn steps_over(classes: &CharacterClasses, patterns: &[Hir]) -> Option<Vec<AutomatonStep>> {
    let patterns: Vec<_> = patterns.iter().map(|it| classes.pattern(it)).collect();
    // A line ends before the class of the line feed.
    let mut looks = LookMatcher::new();
    looks.set_line_terminator(classes.at(b"\n", 0).0);
    let nfa = thompson::Compiler::new()
        .configure(
            thompson::Config::new()
                .utf8(false)
                .look_matcher(looks)
                .which_captures(thompson::WhichCaptures::None)
                .nfa_size_limit(Some(MAX_AUTOMATON_BYTES)),
        )
        .build_many_from_hir(&patterns)
        .ok()?;
    let dfa = dense::Builder::new()
        .configure(
            dense::Config::new()
                .start_kind(StartKind::Anchored)
                .dfa_size_limit(Some(MAX_AUTOMATON_BYTES))
                .determinize_size_limit(Some(MAX_AUTOMATON_BYTES)),
        )
        .build_from_nfa(&nfa)
        .ok()?;
    let start = Input::new("").anchored(Anchored::Yes);
    let start = dfa.start_state_forward(&start).ok()?;
    Some(steps(&dfa, start, classes.count()))
}

/// Where the last character of `text[start..end]` begins; `end` if it is the only one.
pub(super) fn before_last(text: &str, start: usize, end: usize) -> usize {
    match boundary_before(text, end - 1) {
        last if last > start => last,
        _ => end,
    }
}

/// The steps of `dfa` from `start` on, over this many classes.
pub(super) fn steps(
    dfa: &dense::DFA<Vec<u32>>,
    start: StateID,
    classes: usize,
) -> Vec<AutomatonStep> {
    let width = classes + 1;
    let next = |state: StateID, class: usize| {
        if class < classes {
            dfa.next_state(state, class as u8)
        } else {
            dfa.next_eoi_state(state)
        }
    };
    // A match is only known one step later, in a state that may have no other purpose.
    let is_end = |state: StateID| {
        dfa.is_dead_state(state)
            || dfa.is_match_state(state)
                && (0..width).all(|class| dfa.is_dead_state(next(state, class)))
    };
    let mut rows = HashMap::from([(start, 0)]);
    let mut states = vec![start];
    let mut steps = Vec::new();
    let mut done = 0;
    while let Some(&state) = states.get(done) {
        for class in 0..width {
            let reached = next(state, class);
            let mut step = 0;
            if dfa.is_match_state(reached) {
                let tail = dfa.match_pattern(reached, 0) == TAIL;
                step |= AutomatonStep::MATCH | if tail { AutomatonStep::TAIL } else { 0 };
            }
            step |= if class == classes || is_end(reached) {
                AutomatonStep::DEAD
            } else {
                *rows.entry(reached).or_insert_with(|| {
                    states.push(reached);
                    ((states.len() - 1) * width) as u32
                })
            };
            steps.push(AutomatonStep(step));
        }
        done += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn automaton(patterns: &[&str]) -> Option<Automaton> {
        let patterns = patterns.iter().map(|it| regex_syntax::parse(it).unwrap());
        Automaton::new(&patterns.collect::<Vec<_>>())
    }

    #[test]
    fn the_leftmost_match_is_found() {
        let automaton = automaton(&[r"\p{L}+|\p{N}|'s"]).unwrap();
        assert_eq!(automaton.classes.count(), 5);
        let find_from = |text, at| automaton.find_from(text, at, &mut DeadEnds::default());
        assert_eq!(find_from("it's 5", 0), Ok(Some(0..2)));
        assert_eq!(find_from("it's 5", 4), Ok(Some(5..6)));
        assert_eq!(find_from("it's ", 4), Ok(None));
    }

    #[test]
    fn to_look_on_and_on_is_given_up() {
        let automaton = automaton(&["a+b"]).unwrap();
        let mut dead_ends = DeadEnds::default();
        let found = automaton.find_from("caab", 0, &mut dead_ends);
        assert_eq!(found, Ok(Some(1..4)));
        let mut dead_ends = DeadEnds::default();
        let found = automaton.find_from(&"a".repeat(10_000), 0, &mut dead_ends);
        assert!(found.is_err() && dead_ends.take_read_in_vain() > 4 << 10);
    }

    #[test]
    fn bytes_read_behind_a_match_are_counted() {
        let automaton = automaton(&["a+b|a"]).unwrap();
        let mut dead_ends = DeadEnds::default();
        let found = automaton.find_from(&"a".repeat(4_000), 0, &mut dead_ends);
        assert_eq!(found, Ok(Some(0..1)));
        assert_eq!(dead_ends.take_read_in_vain(), 3_999);
    }

    #[test]
    fn large_expressions_have_no_automaton() {
        assert!(automaton(&[r"[ab]*a[ab]{20}"]).is_none());
    }
}
