//! A filter of texts that were seen: a bit array that answers "certainly new" or "perhaps seen", so that new
//! texts are neither looked for nor remembered at first sight.

use crate::mem::short_keys::{MIX, fold};

/// Bits of the filter.
const BITS: usize = 1 << 16;
/// Texts that are added before all are forgotten: a fuller filter would say little.
const MOST: usize = BITS / 4;

/// A set of texts seen of late, which may seem to hold others too.
pub struct SeenFilter {
    bits: [u64; BITS / 64],
    added: usize,
}

impl Default for SeenFilter {
    fn default() -> Self {
        Self {
            bits: [0; BITS / 64],
            added: 0,
        }
    }
}

impl SeenFilter {
    /// Only the ends and the length of a text say which bit is its own.
    fn bit(text: &[u8]) -> usize {
        let (front, back) = match (text.first_chunk(), text.last_chunk()) {
            (Some(front), Some(back)) => (u64::from_le_bytes(*front), u64::from_le_bytes(*back)),
            _ => {
                let word = (text.iter()).fold(0, |word, &byte| word << 8 | u64::from(byte));
                (word, word)
            }
        };
        fold(front ^ MIX, back ^ text.len() as u64) as usize % BITS
    }

    /// Adds a text.
    pub fn add(&mut self, text: &[u8]) {
        if self.added == MOST {
            *self = Self::default();
        }
        let bit = Self::bit(text);
        self.bits[bit / 64] |= 1 << (bit % 64);
        self.added += 1;
    }

    /// Whether a text may have been added.
    pub fn may_hold(&self, text: &[u8]) -> bool {
        let bit = Self::bit(text);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let mut seen = SeenFilter::default();
        seen.add(b"to be or not");
        assert!(seen.may_hold(b"to be or not") && !seen.may_hold(b"that is"));
        seen.add(b"where the ends are alike");
        assert!(seen.may_hold(b"where the best are alike"));
    }

    #[test]
    fn says_little_of_what_was_seen_long_ago() {
        let mut seen = SeenFilter::default();
        let text = |n: usize| n.to_le_bytes().repeat(5);
        let held = |seen: &SeenFilter| {
            (1_000_000..1_001_000)
                .filter(|&n| seen.may_hold(&text(n)))
                .count()
        };
        for n in 0..500_000 {
            seen.add(&text(n));
            assert!(seen.may_hold(&text(n)));
        }
        assert!(held(&seen) < 400);
    }
}
