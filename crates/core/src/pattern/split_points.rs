//! Safe split points of a pattern: places where a match ends whatever stands before, so that a large
//! text can be cut there for several threads.
//!
//! Look here for how such a place is found. Nothing is known of the state of the automaton in the
//! middle of a text, so all states are thought possible, and read on together. Most have nothing
//! to go on with after a few characters. A match surely ends where it does in all that are left.

use super::automaton::{Automaton, Step};
use crate::text::boundary_before;

/// Bytes that are searched for one place.
const WINDOW: usize = 512;
/// Steps that are taken for it at most: where many states stay possible there is none.
const PATIENCE: usize = 1 << 20;

/// What may be true of the place between two characters.
#[derive(Default)]
struct Possible {
    /// The rows of matches that reach over the place, or end there.
    rows: Vec<usize>,
    /// Whether it may be right behind a character that no match holds.
    gap: bool,
}

impl Automaton {
    /// Where the part of `text` that begins at `start` and has about `reach` bytes ends, so that a
    /// match surely ends there, whatever surrounds it. No such place near by: a longer part.
    ///
    /// The matches of what lies before it and of what lies behind are those of the text.
    pub fn split_point(&self, text: &str, start: usize, mut reach: usize) -> usize {
        loop {
            let limit = start.saturating_add(reach);
            if limit >= text.len() {
                return text.len();
            }
            if let Some(end) = self.last_split_point(text, start, limit) {
                return end;
            }
            reach = reach.saturating_mul(2).max(WINDOW);
        }
    }

    /// The last place behind `start` and before `limit` where a match surely ends, if one is near
    /// `limit`.
    fn last_split_point(&self, text: &str, start: usize, limit: usize) -> Option<usize> {
        let mut at = boundary_before(text, start.max(limit.saturating_sub(WINDOW)));
        let mut possible = Possible {
            rows: (0..self.steps.len()).step_by(self.width()).collect(),
            gap: true,
        };
        let (mut last, mut steps) = (None, 0);
        while at < limit && steps < PATIENCE {
            let (class, length) = self.classes.at(text.as_bytes(), at);
            let class = usize::from(class);
            if at > start && self.surely_ends(&possible, class) {
                last = Some(at);
            }
            steps += possible.rows.len() * self.width();
            possible = self.read(&possible, class);
            at += length;
        }
        last
    }

    /// Whether a match ends before a character of this class, whatever is true; and would, if the
    /// text ended.
    fn surely_ends(&self, possible: &Possible, class: usize) -> bool {
        let ends = |row: &usize| {
            let (step, at_end) = (
                self.steps[row + class],
                self.steps[row + self.classes.count()],
            );
            let alike = step.has(Step::MATCH) == at_end.has(Step::MATCH);
            step.has(Step::DEAD) && !step.has(Step::TAIL) && alike
        };
        !possible.gap && possible.rows.iter().all(ends)
    }

    /// What may be true behind a character of this class.
    fn read(&self, possible: &Possible, class: usize) -> Possible {
        let mut begins = possible.gap;
        let mut behind = Possible::default();
        for row in &possible.rows {
            let step = self.steps[row + class];
            if step.has(Step::DEAD) {
                begins |= step.has(Step::MATCH);
                continue;
            }
            behind.rows.push(step.row());
            // The match may turn out to have ended before the character.
            let went_on = self.is_match(step.row());
            begins |= step.has(Step::MATCH) && !went_on || self.may_give_back(step.row());
        }
        if begins {
            let step = self.steps[class];
            let is_match = !step.has(Step::DEAD) && self.is_match(step.row());
            if !step.has(Step::DEAD) {
                behind.rows.push(step.row());
            }
            behind.gap = !is_match;
        }
        behind.rows.sort_unstable();
        behind.rows.dedup();
        behind
    }

    /// Whether what was read up to this state is a match, whatever follows.
    fn is_match(&self, row: usize) -> bool {
        let steps = &self.steps[row..row + self.width()];
        steps.iter().all(|step| step.has(Step::MATCH))
    }

    /// Whether what was read up to this state may be a match but for its last character.
    fn may_give_back(&self, row: usize) -> bool {
        let steps = &self.steps[row..row + self.width()];
        steps.iter().any(|step| step.has(Step::TAIL))
    }

    fn width(&self) -> usize {
        self.classes.count() + 1
    }
}
