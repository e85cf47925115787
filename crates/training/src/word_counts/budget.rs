//! The memory budget of counting: what it allows, and the error when words do not fit.

use std::path::PathBuf;

use jeton_text::error::{Error, ErrorKind, Result};

/// How much memory counting, and the training after it, may use. Beyond it, counts go to disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    /// In bytes.
    pub bytes: u64,
    /// Where counts go on disk.
    pub folder: PathBuf,
    /// What the words need in the end.
    pub needs: WordMemory,
}

/// How much memory distinct words need, and what is computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordMemory {
    /// Bytes whatever the words are.
    pub fixed: u64,
    /// Bytes for each word.
    pub per_word: u64,
    /// Bytes for each byte of it.
    pub per_byte: u64,
}

impl WordMemory {
    fn of(&self, words: u64, bytes: u64) -> u64 {
        let words = words.saturating_mul(self.per_word);
        let words = words.saturating_add(self.fixed);
        words.saturating_add(bytes.saturating_mul(self.per_byte))
    }
}

/// Gives memory that is free again back to the system, where the allocator would keep it: it keeps
/// some for each thread, and a budget is soon past by that.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time; memory that is in use is left alone.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Count from which on a word is not rare, and is never proposed to be left out.
const NOT_RARE_FROM: usize = 1_000;

/// Adds up the memory that words need, and refuses words beyond the budget.
pub(super) struct Fit<'b> {
    budget: Option<&'b MemoryBudget>,
    words: u64,
    bytes: u64,
    /// Words and bytes by count, those of [`NOT_RARE_FROM`] and more last.
    by_count: Vec<(u64, u64)>,
}

impl<'b> Fit<'b> {
    pub(super) fn new(budget: Option<&'b MemoryBudget>) -> Self {
        Self {
            budget,
            words: 0,
            bytes: 0,
            by_count: vec![(0, 0); NOT_RARE_FROM + 1],
        }
    }

    /// Notes a word; returns whether all so far fit.
    pub(super) fn add(&mut self, length: usize, count: u64) -> bool {
        let Some(budget) = self.budget else {
            return true;
        };
        self.words += 1;
        self.bytes += length as u64;
        let alike = &mut self.by_count[count.min(NOT_RARE_FROM as u64) as usize];
        alike.0 += 1;
        alike.1 += length as u64;
        budget.needs.of(self.words, self.bytes) <= budget.bytes
    }

    /// # Errors
    /// The words do not fit, with what would.
    pub(super) fn check(&self) -> Result<()> {
        let Some(budget) = self.budget else {
            return Ok(());
        };
        let needed = budget.needs.of(self.words, self.bytes);
        if needed <= budget.bytes {
            return Ok(());
        }
        let (mut words, mut bytes) = (self.words, self.bytes);
        let mut enough = None;
        for (count, alike) in self.by_count[..NOT_RARE_FROM].iter().enumerate() {
            words -= alike.0;
            bytes -= alike.1;
            if budget.needs.of(words, bytes) <= budget.bytes {
                enough = Some((count + 1, words));
                break;
            }
        }
        let (needed, allowed) = (amount(needed), amount(budget.bytes));
        let message = match budget.needs.fixed {
            0 => format!(
                "{} distinct words need {needed} of memory, and the budget is {allowed}",
                self.words
            ),
            fixed => format!(
                "{} distinct words need {needed} of memory, {} of it for the vocabulary, and the \
                 budget is {allowed}",
                self.words,
                amount(fixed)
            ),
        };
        let hint = match enough {
            Some((count, kept)) => format!(
                "allow more, or set min_word_count={count} to leave out rarer words, which keeps {kept}"
            ),
            None => "allow more".to_owned(),
        };
        Err(Error::new(ErrorKind::Training, message).hint(hint))
    }
}

/// An amount of memory, to be read.
pub(crate) fn amount(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        10_000_000..10_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{} GB", bytes.div_ceil(1_000_000_000)),
    }
}
