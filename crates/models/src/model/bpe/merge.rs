//! Merging: the best pair of neighbouring symbols becomes one, until no pair may be merged.
//!
//! Look here for the algorithm itself. By definition the pair with the lowest rank is merged,
//! the leftmost one on ties; [`merge`] picks between two ways to do that. Finding the lowest rank
//! by scanning is quadratic and fastest for short pieces; a queue of ranks and positions with linked
//! symbols is O(n log n) for all others.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::merge::queue::Queue;
use jeton_text::interrupt::paced;
use jeton_text::mem::large_pages;

/// Symbols up to which scanning is faster than a heap.
const SCANNED: usize = 64;

/// No neighbour on this side.
const END: u32 = u32::MAX;

/// The id of a symbol that has become part of its left neighbour.
const GONE: u32 = u32::MAX;

/// A token of a piece, or a part of one that is still to be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Id of the token.
    pub id: u32,
    /// How many bytes of the piece it holds.
    pub length: u32,
}

/// What a pair becomes: the lower the rank, the earlier the merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The lowest is merged first.
    pub rank: u32,
    /// Id of the token that the pair becomes.
    pub id: u32,
}

impl Merge {
    const NONE: Self = Self {
        rank: u32::MAX,
        id: u32::MAX,
    };
}

/// The pairs of ids that may be merged.
#[derive(Clone, Default)]
pub struct Pairs(HashMap<u64, Merge, FixedState>);

impl Pairs {
    /// No pairs, with room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(HashMap::with_capacity_and_hasher(
            capacity,
            FixedState::default(),
        ))
    }

    /// Adds a pair, or changes its merge.
    pub fn insert(&mut self, left: u32, right: u32, merge: Merge) {
        self.0.insert(Self::key(left, right), merge);
    }

    /// The merge of two neighbours, if there is one of another rank than `except`.
    fn get(&self, left: Symbol, right: Symbol, except: u32) -> Merge {
        match self.0.get(&Self::key(left.id, right.id)) {
            Some(merge) if merge.rank != except => *merge,
            _ => Merge::NONE,
        }
    }

    fn key(left: u32, right: u32) -> u64 {
        u64::from(left) << 32 | u64::from(right)
    }
}

/// Merges `symbols` by all pairs but those of the rank `except`, which may be none (`u32::MAX`).
pub fn merge(symbols: &mut Vec<Symbol>, pairs: &Pairs, except: u32) {
    match symbols.len() {
        ..=1 => {}
        2..=SCANNED => merge_by_scan(symbols, pairs, except),
        _ => merge_by_queue(symbols, pairs, except, || false, |_, _, _| {}),
    }
}

fn merge_by_scan(symbols: &mut Vec<Symbol>, pairs: &Pairs, except: u32) {
    let mut merges: Vec<Merge> = symbols
        .windows(2)
        .map(|pair| pairs.get(pair[0], pair[1], except))
        .collect();
    while let Some((i, merge)) = merges
        .iter()
        .copied()
        .enumerate()
        .min_by_key(|(_, merge)| merge.rank)
        .filter(|(_, merge)| *merge != Merge::NONE)
    {
        let right = symbols.remove(i + 1);
        symbols[i].id = merge.id;
        symbols[i].length += right.length;
        merges.remove(i);
        if i < merges.len() {
            merges[i] = pairs.get(symbols[i], symbols[i + 1], except);
        }
        if i > 0 {
            merges[i - 1] = pairs.get(symbols[i - 1], symbols[i], except);
        }
    }
}

/// Merges with a queue. A merge that `drop` rejects comes back after the next one
/// that it accepts: BPE-dropout as Hugging Face `tokenizers` does it. `merged` hears of each merge: the
/// number of its left symbol, both ids, and what they become.
///
/// `symbols` must be fewer than `u32::MAX`.
pub(crate) fn merge_by_queue(
    symbols: &mut Vec<Symbol>,
    pairs: &Pairs,
    except: u32,
    mut drop: impl FnMut() -> bool,
    mut merged: impl FnMut(usize, [u32; 2], Merge),
) {
    let count = symbols.len() as u32;
    let mut previous = large_pages::with_capacity::<u32>(symbols.len());
    let mut next = large_pages::with_capacity::<u32>(symbols.len());
    for at in paced(0..count) {
        previous.push(at.wrapping_sub(1));
        next.push(at + 1);
    }
    if let Some(last) = next.last_mut() {
        *last = END;
    }
    // The merge of each symbol with its right neighbour, so that an entry of the queue can be
    // found to be out of date without a look-up.
    let mut merges = large_pages::with_capacity(symbols.len());
    let mut queue = Queue::default();
    for (pair, at) in paced(symbols.windows(2).zip(0..)) {
        let merge = pairs.get(pair[0], pair[1], except);
        if merge != Merge::NONE {
            queue.push(merge.rank, at);
        }
        merges.push(merge);
    }
    merges.push(Merge::NONE);

    let mut dropped = Vec::new();
    while let Some((rank, at)) = queue.pop() {
        if drop() {
            dropped.push((rank, at));
            continue;
        }
        for (rank, at) in dropped.drain(..) {
            queue.push(rank, at);
        }
        let left = at as usize;
        // A rank makes one id only.
        if merges[left].rank != rank {
            continue;
        }
        let id = merges[left].id;
        let right = next[left] as usize;
        merged(left, [symbols[left].id, symbols[right].id], merges[left]);
        symbols[left].id = id;
        symbols[left].length += symbols[right].length;
        symbols[right].id = GONE;
        merges[right] = Merge::NONE;
        next[left] = next[right];
        merges[left] = Merge::NONE;
        if next[left] != END {
            let after = next[left] as usize;
            previous[after] = at;
            merges[left] = pairs.get(symbols[left], symbols[after], except);
            if merges[left] != Merge::NONE {
                queue.push(merges[left].rank, at);
            }
        }
        if previous[left] != END {
            let before = previous[left] as usize;
            merges[before] = pairs.get(symbols[before], symbols[left], except);
            if merges[before] != Merge::NONE {
                queue.push(merges[before].rank, before as u32);
            }
        }
    }
    symbols.retain(|symbol| symbol.id != GONE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Random symbols and pairs; new ids are fresh, as those of real merges are.
    fn random(numbers: &mut ChaCha8Rng) -> (Vec<Symbol>, Pairs) {
        let alphabet = numbers.random_range(1..5);
        let mut pairs = Pairs::default();
        for rank in 0..numbers.random_range(0..40) {
            let id = alphabet + rank;
            let merge = Merge { rank, id };
            pairs.insert(
                numbers.random_range(0..id),
                numbers.random_range(0..id),
                merge,
            );
        }
        let symbols = (0..numbers.random_range(0..200))
            .map(|_| Symbol {
                id: numbers.random_range(0..alphabet),
                length: 1,
            })
            .collect();
        (symbols, pairs)
    }

    #[test]
    fn scan_and_queue_agree() {
        let mut numbers = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2000 {
            let (symbols, pairs) = random(&mut numbers);
            let (mut scanned, mut queued) = (symbols.clone(), symbols);
            merge_by_scan(&mut scanned, &pairs, u32::MAX);
            merge_by_queue(&mut queued, &pairs, u32::MAX, || false, |_, _, _| {});
            assert_eq!(scanned, queued);
        }
    }

    #[test]
    fn all_merges_dropped_leaves_the_symbols() {
        let (symbols, pairs) = random(&mut ChaCha8Rng::seed_from_u64(2));
        let mut merged = symbols.clone();
        merge_by_queue(&mut merged, &pairs, u32::MAX, || true, |_, _, _| {});
        assert_eq!(merged, symbols);
    }
}
