//! Several splitting stages, one after another, in one pass over the text.
//!
//! Look here for which pre-tokenizers are split this way, and for what happens if the table has no row for
//! the next state.

mod stage;
mod table;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::stretch::Stretches;
use crate::pre_tokenizer::{PreTokenizer, SplitRule, refine};
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::pattern::CharacterClasses;
use jeton_text::text::boundary_before;
use stage::Stage;
use table::{MAX_HELD, OnePassTable, TableStep, held, read};

/// Characters that are held back before all stages are run, one after another.
const MAX_HELD_BACK: usize = 128;
/// Stages at most: what a table takes to be made grows with their square. Published files have six.
const MAX_STAGES: usize = 16;
/// Bytes that are searched for a split point.
const WINDOW: usize = 512;
/// States of matches that are followed from one character to the next before no split point is looked for
/// any more.
const MAX_STEPS: usize = 1 << 20;
/// Bytes of a character at most.
const CHARACTER: usize = 4;

/// A pre-tokenizer whose stages only split, as one table.
#[derive(Clone)]
pub struct OnePass(Arc<Automata>);

struct Automata {
    /// The stages as they are, each of which splits the pieces of the one before it.
    plain: Vec<PreTokenizer>,
    stages: Vec<Stage>,
    classes: CharacterClasses,
    table: OnePassTable,
}

/// A place in a text, and what is known there.
struct Reader {
    row: usize,
    /// Where the character begins that is read next.
    at: usize,
    /// Where those before it begin, the last one first.
    before: [usize; MAX_HELD],
}

impl OnePass {
    /// The table of these stages, none of which is a sequence, if automata find what they split at and it is not
    /// large.
    pub fn new(plain: Vec<PreTokenizer>) -> Option<Self> {
        Self::of(plain, |_| true)
    }

    /// The same, unless text is dropped again and again, so that hardly two pieces lie side by side.
    pub fn side_by_side(plain: Vec<PreTokenizer>) -> Option<Self> {
        Self::of(plain, |stages| !stages.iter().any(Stage::drops))
    }

    fn of(plain: Vec<PreTokenizer>, is_wanted: impl FnOnce(&[Stage]) -> bool) -> Option<Self> {
        if plain.len() > MAX_STAGES {
            return None;
        }
        let mut cuts = Vec::new();
        plain
            .iter()
            .try_for_each(|stage| SplitRule::find(stage, &mut cuts))?;
        let patterns: Vec<_> = cuts.iter().flat_map(|it| it.patterns.clone()).collect();
        let classes = CharacterClasses::of(&patterns)?;
        let stages: Vec<_> = cuts
            .iter()
            .map(|cut| Stage::new(&classes, cut))
            .collect::<Option<_>>()?;
        if !is_wanted(&stages) {
            return None;
        }
        let table = OnePassTable::new(&stages)?;
        Some(Self(Arc::new(Automata {
            plain,
            stages,
            classes,
            table,
        })))
    }

    /// The stages, one after the other.
    pub fn stages(&self) -> &[PreTokenizer] {
        &self.0.plain
    }

    /// Calls `visit` with stretches of pieces, as a scanner does.
    ///
    /// # Errors
    /// As the stages.
    pub fn split(&self, text: &str, visit: impl FnMut(usize, usize, &[u64])) -> Result<()> {
        let mut stretches = Stretches::new(visit);
        let mut reader = Reader {
            row: 0,
            at: 0,
            before: [0; MAX_HELD],
        };
        while reader.at < text.len() {
            tick();
            if self.read_table(text.as_bytes(), &mut reader, &mut stretches)
                && !self.read_on(text, &mut reader, &mut stretches)
            {
                return self.read_plainly(text, reader.before[MAX_HELD - 1], stretches);
            }
        }
        let end = usize::from(self.0.stages[0].end());
        reader.follow(self.0.table.steps[reader.row + end], &mut stretches);
        stretches.end(text.len());
        Ok(())
    }

    /// Reads some characters; whether the next one takes a step that is rare.
    #[inline(always)]
    fn read_table(
        &self,
        text: &[u8],
        reader: &mut Reader,
        stretches: &mut Stretches<impl FnMut(usize, usize, &[u64])>,
    ) -> bool {
        let Automata { classes, table, .. } = &*self.0;
        let Reader {
            mut row,
            mut at,
            before: [mut first, mut second],
        } = *reader;
        // No character lies farther back that is still held.
        let base = at.saturating_sub(MAX_HELD * CHARACTER);
        let limit = text.len().min(base + 64);
        let (mut begins, mut is_rare) = (0, false);
        while at < limit {
            let (class, length) = classes.at(text, at);
            let step = table.steps[row + usize::from(class)];
            if step.is_rare() {
                is_rare = true;
                break;
            }
            begins |= step.begins(0) << (at - base);
            if step.begins_before() {
                begins |= step.begins(1) << (first - base) | step.begins(2) << (second - base);
            }
            (second, first) = (first, at);
            at += length;
            row = step.row();
        }
        *reader = Reader {
            row,
            at,
            before: [first, second],
        };
        stretches.begin(base, begins);
        is_rare
    }
    /// Takes a step that is rare, and others until the table says again how to go on. Whether it does; else
    /// much is held back, the first of which is the last of `before`.
    #[cold]
    fn read_on(
        &self,
        text: &str,
        reader: &mut Reader,
        stretches: &mut Stretches<impl FnMut(usize, usize, &[u64])>,
    ) -> bool {
        let Automata {
            stages,
            classes,
            table,
            ..
        } = &*self.0;
        let bytes = text.as_bytes();
        let (class, length) = classes.at(bytes, reader.at);
        let step = table.steps[reader.row + usize::from(class)];
        if !step.is_beyond() {
            reader.follow(step, stretches);
            let [first, _] = reader.before;
            *reader = Reader {
                row: step.row(),
                at: reader.at + length,
                before: [reader.at, first],
            };
            return true;
        }
        let mut states = table.states(reader.row).clone();
        let before = reader.before[..held(&states)].iter().rev();
        let mut places: VecDeque<usize> = before.copied().collect();
        let (mut at, mut known) = (reader.at, Vec::new());
        while places.len() <= MAX_HELD_BACK {
            let (class, length) = if at < bytes.len() {
                classes.at(bytes, at)
            } else {
                (stages[0].end(), 0)
            };
            read(stages, &mut states, class, &mut known);
            places.extend((length > 0).then_some(at));
            for symbol in known.drain(..) {
                let Some(place) = places.pop_front() else {
                    unreachable!("a character is given on once");
                };
                if symbol.begins {
                    stretches.begin(place, 1);
                }
                if symbol.is_dropped {
                    stretches.end(place);
                }
            }
            at += length;
            let row = if places.len() <= MAX_HELD {
                table.row_of(&states)
            } else {
                None
            };
            if let Some(row) = row {
                let mut before = places.iter().rev().copied();
                let before = [(); MAX_HELD].map(|()| before.next().unwrap_or(at));
                *reader = Reader { row, at, before };
                return true;
            }
        }
        reader.before[MAX_HELD - 1] = places[0];
        false
    }

    /// Splits by all stages, one after another, and gives the pieces that begin at `from` or after it; of
    /// the others all is given but where the last one ends, if that is not before `from`.
    #[cold]
    fn read_plainly(
        &self,
        text: &str,
        from: usize,
        mut stretches: Stretches<impl FnMut(usize, usize, &[u64])>,
    ) -> Result<()> {
        let pieces = stage_by_stage(&self.0.plain, text)?.into_iter();
        // One that ends there is yet to be ended, where what follows is dropped.
        let pieces = pieces.filter(|piece| piece.end >= from);
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            if piece.start >= from {
                stretches.begin(piece.start, 1);
            }
            if pieces.peek().is_none_or(|next| next.start != piece.end) {
                stretches.end(piece.end);
            }
        }
        stretches.end(text.len());
        Ok(())
    }

    /// A safe split point of `text`, about `reach` bytes after `start`, or farther on if there is none near:
    /// the pieces before and after it are those of the text.
    pub fn split_point(&self, text: &str, start: usize, reach: usize) -> usize {
        self.split_point_counted(text, start, reach, &mut 0)
    }

    /// The same, counting steps; past [`MAX_STEPS`] of them it is the end of the text.
    fn split_point_counted(
        &self,
        text: &str,
        start: usize,
        mut reach: usize,
        steps: &mut usize,
    ) -> usize {
        loop {
            let limit = start.saturating_add(reach);
            if limit >= text.len() || *steps > MAX_STEPS {
                return text.len();
            }
            if let Some(end) = self.last_split_point(text, start, limit, steps) {
                return end;
            }
            reach = reach.saturating_mul(2).max(WINDOW);
        }
    }

    /// The last such place after `start` and before `limit`, if one is near `limit`.
    ///
    /// It lies between two characters where one stage is sure to split, and where in that stage and in those before
    /// it no match goes on, whatever stands farther off: then each of these sees the same segments if the text
    /// ends there, and those after it see an end in any case.
    fn last_split_point(
        &self,
        text: &str,
        start: usize,
        limit: usize,
        steps: &mut usize,
    ) -> Option<usize> {
        let Automata {
            stages, classes, ..
        } = &*self.0;
        let mut at = boundary_before(text, start.max(limit.saturating_sub(WINDOW)));
        // The states of all matches that may be read there.
        let mut open: Vec<Vec<u32>> = stages.iter().map(|stage| stage.rows().collect()).collect();
        let (mut before, mut last) = (None, None);
        while at < limit && *steps <= MAX_STEPS {
            let more = 1 + open.iter().map(Vec::len).sum::<usize>();
            *steps += more;
            tick();
            let (class, length) = classes.at(text.as_bytes(), at);
            if let Some(before) = before.filter(|_| at > start) {
                let all = stages.iter().zip(&open);
                let mut ended = all.take_while(|(stage, rows)| stage.ends(rows, class));
                if ended.any(|(stage, rows)| stage.surely_cuts(rows, before, class)) {
                    last = Some(at);
                }
            }
            for (stage, rows) in stages.iter().zip(&mut open) {
                *rows = stage.possible(rows, class);
            }
            before = Some(class);
            at += length;
        }
        last
    }
}

/// The pieces that stages make of `text`, one after another.
fn stage_by_stage(stages: &[PreTokenizer], text: &str) -> Result<Vec<Range<usize>>> {
    let whole = std::iter::once(0..text.len()).filter(|whole| !whole.is_empty());
    stages.iter().try_fold(whole.collect(), |coarse, stage| {
        let mut pieces = Vec::new();
        refine(text, coarse, &mut pieces, |piece, pieces| {
            stage.ranges(piece, pieces)
        })?;
        Ok(pieces)
    })
}

impl Reader {
    /// Says where pieces begin, and what belongs to none, as a step does.
    fn follow(&self, step: TableStep, stretches: &mut Stretches<impl FnMut(usize, usize, &[u64])>) {
        for back in (0..=MAX_HELD).rev() {
            let place = match back {
                0 => self.at,
                back => self.before[back - 1],
            };
            if step.begins(back) == 1 {
                stretches.begin(place, 1);
            }
            if step.is_dropped(back) {
                stretches.end(place);
            }
        }
    }
}

impl std::fmt::Debug for OnePass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnePass")
            .field("stages", &self.0.plain)
            .finish_non_exhaustive()
    }
}
