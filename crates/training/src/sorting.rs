//! Sorting on all threads that can be ended while it sorts: a quicksort down to what is sorted in a
//! millisecond.
//!
//! Look here before sorting what grows with the corpus: the sorts of rayon and of the standard
//! library ask nobody, and take seconds for ten million texts.

use jeton_text::interrupt::{Listener, paced, poll};

/// Items that are sorted without asking.
const ITEMS_AT_ONCE: usize = if cfg!(test) { 5 } else { 1 << 15 };

/// Times that items are parted before they are sorted in one go: if each part has at most three
/// quarters of what it was part of, what is left is short.
const PARTINGS: u32 = 64;

/// Items whose median parts the others.
const SAMPLE: usize = 99;

/// Sorts items by what `key` says of each. Equal ones are in any order.
pub(crate) fn sort<T: Copy + Send, K: Ord>(
    listener: Listener<'_>,
    items: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
) {
    sort_parted(listener, items, key, PARTINGS);
}

fn sort_parted<T: Copy + Send, K: Ord>(
    listener: Listener<'_>,
    items: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
    partings: u32,
) {
    let is_short = items.len() <= ITEMS_AT_ONCE || partings == 0;
    let lesser = if is_short {
        0
    } else {
        listener.during(|| part(items, key))
    };
    // Nothing is less than the median where most are equal: the sort of the library is quick with these.
    if lesser == 0 {
        items.sort_unstable_by_key(key);
        return;
    }
    let sort = |part: &mut [T]| {
        listener.during(poll);
        sort_parted(listener, part, key, partings - 1);
    };
    let (low, high) = items.split_at_mut(lesser);
    rayon::join(|| sort(low), || sort(high));
}

/// Moves the items below the median of some to the front; returns how many these are.
fn part<T: Copy, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) -> usize {
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
        Listener::told(|listener| sort(listener, &mut items, &|item| *item));
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
    fn it_ends_where_it_is_told_to() {
        let asked = AtomicUsize::new(0);
        let third = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
        let items = (0..1_000).rev().collect();
        assert_eq!(listening(&third, || sorted(items)), Err(Interrupted));
    }
}
