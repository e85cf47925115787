//! A parallel sort that can be interrupted: quicksort, down to parts that take a millisecond.
//!
//! Look here before you sort what grows with the corpus: the sorts of rayon and of the standard library cannot
//! be interrupted, and take seconds for ten million texts.

use jeton_text::interrupt::{Listener, paced, poll};

/// Items that are sorted without a poll for an interrupt.
const ITEMS_AT_ONCE: usize = if cfg!(test) { 5 } else { 1 << 15 };

/// Partitions, one within another, before items are sorted in one go: where each has at most three quarters of
/// the items, few are left.
const MAX_DEPTH: u32 = 64;

/// Items whose median is the pivot.
const SAMPLE: usize = 99;

/// Sorts items by `key`; equal ones are in any order.
pub(crate) fn sort<T: Copy + Send, K: Ord>(
    listener: Listener<'_>,
    items: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
) {
    quicksort(listener, items, key, MAX_DEPTH);
}

fn quicksort<T: Copy + Send, K: Ord>(
    listener: Listener<'_>,
    items: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
    depth: u32,
) {
    let is_short = items.len() <= ITEMS_AT_ONCE || depth == 0;
    let lesser = if is_short {
        0
    } else {
        listener.during(|| partition(items, key))
    };
    // Nothing is less than the pivot where most items are equal, which the sort of the library is fast at.
    if lesser == 0 {
        items.sort_unstable_by_key(key);
        return;
    }
    let sort = |part: &mut [T]| {
        listener.during(poll);
        quicksort(listener, part, key, depth - 1);
    };
    let (low, high) = items.split_at_mut(lesser);
    rayon::join(|| sort(low), || sort(high));
}

/// Moves the items below a pivot to the front; returns how many these are.
fn partition<T: Copy, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) -> usize {
    let step = items.len().div_ceil(SAMPLE);
    let mut sample: Vec<T> = items.iter().step_by(step).copied().collect();
    sample.sort_unstable_by_key(&key);
    let pivot = sample[sample.len() / 2];
    let pivot = key(&pivot);
    let mut lesser = 0;
    for at in paced(0..items.len()) {
        let is_less = key(&items[at]) < pivot;
        items.swap(at, lesser);
        lesser += usize::from(is_less);
    }
    lesser
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use jeton_text::interrupt::{Interrupted, listening};
    use rand::{Rng, SeedableRng};

    use super::*;

    fn sorted(mut items: Vec<u32>) -> Vec<u32> {
        Listener::lend(|listener| sort(listener, &mut items, &|item| *item));
        items
    }

    #[test]
    fn as_the_library_sorts() {
        let mut numbers = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for length in [0, 1, 5, 6, 7, 99, 100, 3_000] {
            for below in [1, 2, 10, u32::MAX] {
                let items: Vec<u32> = (0..length)
                    .map(|_| numbers.random_range(0..below))
                    .collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                assert_eq!(sorted(items), expected);
                let descending: Vec<u32> = expected.iter().rev().copied().collect();
                assert_eq!(sorted(descending), expected);
                assert_eq!(sorted(expected.clone()), expected);
            }
        }
    }

    #[test]
    fn an_interrupt_ends_the_sort() {
        let asked = AtomicUsize::new(0);
        let third = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
        let items = (0..1_000).rev().collect();
        assert_eq!(listening(&third, || sorted(items)), Err(Interrupted));
    }
}
