//! Texts that may have been met before, a bit for some of them each: what was not need not be looked
//! for, and is perhaps never met again.

use crate::mem::short_keys::{MIX, fold};

/// How many bits there are.
const BITS: usize = 1 << 16;
/// How many texts are added before all are forgotten: more bits would say little.
const MOST: usize = BITS / 4;

/// A set of the texts met of late, which may seem to hold others too.
pub struct Met {
    bits: [u64; BITS / 64],
    added: usize,
}

impl Default for Met {
    fn default() -> Self {
        Self {
            bits: [0; BITS / 64],
            added: 0,
        }
    }
}

impl Met {
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
        let mut met = Met::default();
        met.add(b"to be or not");
        assert!(met.may_hold(b"to be or not") && !met.may_hold(b"that is"));
        met.add(b"where the ends are alike");
        assert!(met.may_hold(b"where the best are alike"));
    }

    #[test]
    fn says_little_of_what_was_met_long_ago() {
        let mut met = Met::default();
        let text = |n: usize| n.to_le_bytes().repeat(5);
        let held = |met: &Met| {
            (1_000_000..1_001_000)
                .filter(|&n| met.may_hold(&text(n)))
                .count()
        };
        for n in 0..500_000 {
            met.add(&text(n));
            assert!(met.may_hold(&text(n)));
        }
        assert!(held(&met) < 400);
    }
}
