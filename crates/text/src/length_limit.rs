//! The limit for how long the stages may make a text: a file with which a short text fills the memory
//! is an error instead.
//!
//! Look here for the figures. No published tokenizer comes near them: the character that grows most
//! is U+FDFA, 3 bytes, which NFKC turns into 33 and GPT-2's printable characters into 63.

use std::cell::Cell;

use crate::error::{Error, ErrorKind, Result};

/// Times as long as it was that a text may become, beside [`ALLOWANCE`].
const FACTOR: usize = 32;

/// Bytes that any text may become, or tokens where these are counted. Few, as a batch may have many
/// texts.
const ALLOWANCE: usize = 1 << 12;

/// Bytes of the longest replacement in a character map. A map with a longer one is refused when it is read,
/// because a lookup cannot return an error.
pub const LONGEST_REPLACEMENT: usize = 128;

/// The length of a text, all its pieces together, and the greatest that it may have.
#[derive(Debug)]
pub struct LengthLimit {
    original: usize,
    length: Cell<usize>,
}

impl LengthLimit {
    /// Of a text of this length.
    pub fn of(length: usize) -> Self {
        Self {
            original: length,
            length: Cell::new(length),
        }
    }

    /// How long it may become.
    pub fn longest(&self) -> usize {
        (self.original.saturating_mul(FACTOR)).saturating_add(ALLOWANCE)
    }

    /// How long a piece of this length may become.
    pub fn room(&self, piece: usize) -> usize {
        self.longest()
            .saturating_sub(self.length.get().saturating_sub(piece))
    }

    /// A piece that had one length has another.
    ///
    /// # Errors
    /// The text is too long by then.
    pub fn change(&self, from: usize, to: usize) -> Result<()> {
        if to > self.room(from) {
            return Err(self.error("bytes"));
        }
        self.length
            .set(self.length.get().saturating_sub(from).saturating_add(to));
        Ok(())
    }

    /// The error of a text that is too long. `unit` is what its length counts.
    pub fn error(&self, unit: &str) -> Error {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "a text of {} {unit} becomes one of more than {}, past the limit of {FACTOR} times \
                 as many and {ALLOWANCE}",
                self.original,
                self.longest()
            ),
        )
        .hint("no useful tokenizer needs this: look at where it comes from")
    }
}

/// Whether `new` is at most as much longer than `old` as a text may become without what any text may.
pub fn is_in_proportion(old: usize, new: usize) -> bool {
    new <= FACTOR.saturating_mul(old.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_text_share_its_limit() {
        let limit = LengthLimit::of(10);
        let most = 10 * FACTOR + ALLOWANCE;
        limit.change(5, most - 5).unwrap();
        assert_eq!(limit.room(5), 5);
        assert!(limit.change(5, 6).is_err());
        limit.change(most - 5, 3).unwrap();
        limit.change(5, most - 3).unwrap();
        assert!(limit.change(0, 1).is_err());
    }
}
