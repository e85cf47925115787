//! All suffixes of the fragments in the order of their texts, compared up to a depth.
//!
//! Look here for how equal substrings come to be neighbours. Pieces are short, so
//! suffixes are compared only up to the longest piece: as many symbols as fit are packed into
//! a 64-bit key, suffixes are sorted by it, and runs of equal ones by the next symbols, until the
//! fragments or the depth end. Each round is linear except for sorting the keys.

use rayon::prelude::*;

use crate::pieces::END;
use crate::sorting::sort;
use jeton_text::interrupt::{Listener, paced, poll};

/// A suffix by where it begins, with the symbols that it is sorted by.
#[derive(Clone, Copy)]
struct Keyed {
    key: u64,
    start: u32,
}

/// Suffixes that a thread compares with their neighbours at a time.
const SUFFIXES_AT_ONCE: usize = if cfg!(test) { 5 } else { 1 << 15 };

struct Packing {
    /// How many bits a symbol has.
    bits: u32,
    /// How many symbols a key has.
    count: usize,
}

impl Packing {
    fn new(symbols: &[u32]) -> Self {
        let largest = symbols.iter().copied().max().unwrap_or(0);
        let bits = (u32::BITS - largest.leading_zeros()).max(1);
        Self {
            bits,
            count: (u64::BITS / bits) as usize,
        }
    }

    /// The first symbols of `rest`, up to the end of the fragment, first symbol first.
    fn key(&self, rest: &[u32]) -> u64 {
        let mut key = 0;
        let mut left = self.count;
        for &symbol in rest.iter().take(self.count) {
            if symbol == END {
                break;
            }
            key = key << self.bits | u64::from(symbol);
            left -= 1;
        }
        // A whole key is only shifted by nothing, never by all its bits.
        if left == self.count {
            0
        } else {
            key << (left as u32 * self.bits)
        }
    }

    /// Whether the fragments of suffixes with this key end within it.
    fn ends(&self, key: u64) -> bool {
        key & ((1 << (self.bits - 1) << 1) - 1) == 0
    }
}

/// Where each suffix begins, in order: by its first `depth` symbols, a shorter one before those that
/// it is the beginning of, and equal ones by where they begin.
pub(super) fn sorted(symbols: &[u32], depth: usize) -> Vec<u32> {
    let packing = Packing::new(symbols);
    let keyed = |start: usize| Keyed {
        key: packing.key(&symbols[start..]),
        start: start as u32,
    };
    let suffixes = Listener::lend(|listener| {
        let parts = (0..symbols.len()).into_par_iter().step_by(SUFFIXES_AT_ONCE);
        let mut suffixes: Vec<Keyed> = parts
            .flat_map_iter(|from| {
                listener.during(poll);
                let part = from..symbols.len().min(from + SUFFIXES_AT_ONCE);
                part.filter(|&start| symbols[start] != END).map(keyed)
            })
            .collect();
        let sorting = Sorting {
            symbols,
            packing: &packing,
            depth,
            listener,
        };
        sorting.sort(&mut suffixes, packing.count);
        suffixes
    });
    suffixes
        .into_par_iter()
        .map(|suffix| suffix.start)
        .collect()
}

/// What the sort of suffixes reads, and the listener that may end it.
struct Sorting<'a> {
    symbols: &'a [u32],
    packing: &'a Packing,
    depth: usize,
    listener: Listener<'a>,
}

impl Sorting<'_> {
    /// Sorts suffixes by the keys that they have, which reach up to `reach`, and then by what follows.
    fn sort(&self, suffixes: &mut [Keyed], reach: usize) {
        sort(self.listener, suffixes, &|suffix| {
            (suffix.key, suffix.start)
        });
        if reach >= self.depth {
            return;
        }
        suffixes
            .par_chunk_by_mut(|a, b| a.key == b.key)
            .filter(|same| same.len() > 1 && !self.packing.ends(same[0].key))
            .for_each(|same| {
                self.listener.during(|| {
                    for suffix in paced(same.iter_mut()) {
                        let rest = &self.symbols[suffix.start as usize + reach..];
                        suffix.key = self.packing.key(rest);
                    }
                });
                self.sort(same, reach + self.packing.count);
            });
    }
}

/// How many symbols each suffix has in common with the one before, up to `depth`; the first none.
pub(super) fn common(symbols: &[u32], sorted: &[u32], depth: usize) -> Vec<u16> {
    let mut common = vec![0; sorted.len()];
    let compare = |first: usize, common: &mut [u16]| {
        poll();
        for (length, at) in common.iter_mut().zip(first..) {
            if at > 0 {
                let [a, b] = [sorted[at - 1], sorted[at]].map(|start| start as usize);
                let pairs = symbols[a..].iter().zip(&symbols[b..]).take(depth);
                *length = pairs.take_while(|(a, b)| a == b && **a != END).count() as u16;
            }
        }
    };
    Listener::lend(|listener| {
        let parts = common.par_chunks_mut(SUFFIXES_AT_ONCE).enumerate();
        parts.for_each(|(part, common)| {
            listener.during(|| compare(part * SUFFIXES_AT_ONCE, common));
        });
    });
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(symbols: &[u32], start: u32, depth: usize) -> Vec<u32> {
        let rest = symbols[start as usize..].iter().copied();
        rest.take_while(|&symbol| symbol != END)
            .take(depth)
            .collect()
    }

    #[test]
    fn sorted_as_a_plain_sort_does() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for (alphabet, depth) in [
            (1, 3),
            (2, 40),
            (3, 17),
            (200, 5),
            (70_000, 3),
            (u64::from(u32::MAX), 4),
        ] {
            let mut symbols = Vec::new();
            for _ in 0..40 {
                symbols.extend((0..next(60)).map(|_| 1 + next(alphabet) as u32));
                symbols.push(END);
            }
            let sorted = sorted(&symbols, depth);
            let mut expected: Vec<u32> = (0..symbols.len() as u32)
                .filter(|&start| symbols[start as usize] != END)
                .collect();
            expected.sort_by_key(|&start| (text_of(&symbols, start, depth), start));
            assert_eq!(
                sorted
                    .iter()
                    .map(|&s| text_of(&symbols, s, depth))
                    .collect::<Vec<_>>(),
                expected
                    .iter()
                    .map(|&s| text_of(&symbols, s, depth))
                    .collect::<Vec<_>>(),
            );
            let lengths = common(&symbols, &sorted, depth);
            for at in 1..sorted.len() {
                let [a, b] = [sorted[at - 1], sorted[at]].map(|s| text_of(&symbols, s, depth));
                let expected = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
                assert_eq!(usize::from(lengths[at]), expected);
            }
        }
    }
}
