//! The budget of work for the matches of a text: in proportion to its length.
//!
//! Look here for where a pattern that would take too long is stopped. A step is work that shows that a
//! pattern reads the same text again and again: a step of a backtracking engine in a try that it gave up,
//! or a byte that an automaton has read beyond the end of its match. Patterns without such steps, such as
//! those of published models, never reach the limit. Work that steps do not show is limited by the clock.

use std::time::{Duration, Instant};

use crate::interrupt;

/// Steps for each byte of a text, and bytes that are added to its length.
pub(super) const STEPS_PER_BYTE: u64 = 4096;
const MORE_BYTES: u64 = 16;

/// Time for each byte of a text, some hundred times what is usual, and time that is added.
const TIME_PER_BYTE: Duration = Duration::from_micros(32);
const MORE_TIME: Duration = Duration::from_secs(4);

/// Time between two looks at the clock that is counted, at most: the process may have been stopped.
const MAX_COUNTED_GAP: Duration = Duration::from_secs(1);
/// Time between two looks above which they become more frequent, and less frequent below; and matches
/// between two looks, at most.
const OFTEN_ABOVE: Duration = Duration::from_millis(1);
const MAX_UNSEEN: u32 = 1 << 10;

/// The steps and the time that are left for the matches of a text.
#[derive(Clone)]
pub(super) struct Budget {
    bytes: u64,
    steps: u64,
    spent: Duration,
    /// Set once there is nothing left.
    over: Option<Spent>,
    /// When the clock was last looked at, how many matches were searched for since, and after how many
    /// it is looked at again.
    seen: Option<Instant>,
    unseen: u32,
    gap: u32,
}

/// Which of the two budgets is spent. The message continues one that names the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    Steps,
    Time,
}

impl Budget {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.len() as u64;
        Self {
            bytes,
            steps: STEPS_PER_BYTE.saturating_mul(bytes + MORE_BYTES),
            spent: Duration::ZERO,
            over: None,
            seen: None,
            unseen: 0,
            gap: 1 << 4,
        }
    }

    /// Takes steps from the budget.
    ///
    /// # Errors
    /// Fewer are left.
    #[inline]
    pub(super) fn take(&mut self, steps: u64) -> Result<(), Spent> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => self.end(Spent::Steps),
        }
    }

    /// How many steps were taken.
    #[cfg(test)]
    pub(super) fn taken(&self) -> u64 {
        STEPS_PER_BYTE * (self.bytes + MORE_BYTES) - self.steps
    }

    /// Checks that this many steps are left.
    ///
    /// # Errors
    /// Fewer are left.
    pub(super) fn has(&self, steps: u64) -> Result<(), Spent> {
        if steps <= self.steps {
            Ok(())
        } else {
            Err(Spent::Steps)
        }
    }

    #[cold]
    fn end(&mut self, spent: Spent) -> Result<(), Spent> {
        // So that the next `tick` looks, and fails too.
        self.gap = 0;
        Err(*self.over.insert(spent))
    }

    /// Checks after each search for a match that anything is left, and polls for an interrupt.
    ///
    /// # Errors
    /// The budget is spent.
    #[inline]
    pub(super) fn tick(&mut self) -> Result<(), Spent> {
        self.unseen += 1;
        if self.unseen < self.gap {
            Ok(())
        } else {
            self.look()
        }
    }

    /// As [`Self::tick`], and the clock is looked at in any case.
    #[inline(never)]
    pub(super) fn look(&mut self) -> Result<(), Spent> {
        if let Some(spent) = self.over {
            return Err(spent);
        }
        interrupt::poll();
        let now = now();
        let between = now.zip(self.seen);
        let between = between.map_or(Duration::ZERO, |(now, seen)| now - seen);
        (self.seen, self.unseen) = (now, 0);
        self.gap = if between < OFTEN_ABOVE {
            MAX_UNSEEN.min(self.gap * 2)
        } else {
            1.max(self.gap / 8)
        };
        self.spent += between.min(MAX_COUNTED_GAP);
        if self.spent.as_micros() <= self.allowed().as_micros() {
            Ok(())
        } else {
            self.end(Spent::Time)
        }
    }

    fn allowed(&self) -> Duration {
        let micros = TIME_PER_BYTE.as_micros() as u64;
        MORE_TIME + Duration::from_micros(micros.saturating_mul(self.bytes))
    }
}

/// The time, unless this is a page of a browser, where Rust knows no clock: only steps count there.
fn now() -> Option<Instant> {
    const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));
    HAS_CLOCK.then(Instant::now)
}

impl std::fmt::Display for Spent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps => write!(
                f,
                "it goes over the text again and again, more than {STEPS_PER_BYTE} steps for each byte"
            ),
            Self::Time => write!(
                f,
                "it takes more than {} µs for each byte",
                TIME_PER_BYTE.as_micros()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_proportion_to_the_text() {
        let mut budget = Budget::of("abcd");
        assert_eq!(budget.take(STEPS_PER_BYTE * 19), Ok(()));
        assert_eq!(budget.has(STEPS_PER_BYTE), Ok(()));
        assert_eq!(budget.has(STEPS_PER_BYTE + 1), Err(Spent::Steps));
        assert_eq!(budget.take(STEPS_PER_BYTE), Ok(()));
        assert_eq!(budget.tick(), Ok(()));
        assert_eq!(budget.take(1), Err(Spent::Steps));
        assert_eq!([budget.tick(), budget.tick()], [Err(Spent::Steps); 2]);
    }

    #[test]
    fn time_counts_where_no_steps_show() {
        let mut budget = Budget::of("");
        budget.spent = MORE_TIME;
        let wait = || std::thread::sleep(OFTEN_ABOVE * 2);
        let ended = (0..1000).find_map(|_| {
            wait();
            budget.tick().err()
        });
        assert_eq!(ended, Some(Spent::Time));
        assert!(Spent::Time.to_string().contains("32 µs"));
    }
}
