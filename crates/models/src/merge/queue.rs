//! The queue of pairs that wait to be merged, in text that is too long to scan for the best one: the
//! lowest rank first, the leftmost among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use jeton_text::interrupt::tick;

/// Places in a text, each with the rank of the pair that begins there. It does not notice when another merge
/// takes a part of the pair: the caller checks each place that it returns.
///
/// The rank and the place are one number, the rank in the upper bits, so that one comparison orders both.
#[derive(Default)]
pub struct Queue(BinaryHeap<Reverse<u64>>);

impl Queue {
    /// Adds a place.
    #[inline]
    pub fn push(&mut self, rank: u32, at: u32) {
        self.0.push(Reverse(u64::from(rank) << 32 | u64::from(at)));
    }

    /// Removes the place of the lowest rank, the leftmost among equals, and returns it with its rank.
    #[inline]
    pub fn pop(&mut self) -> Option<(u32, u32)> {
        tick();
        let Reverse(first) = self.0.pop()?;
        Some(((first >> 32) as u32, first as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_ranks_come_first_and_places_from_left_to_right() {
        let mut queue = Queue::default();
        for (rank, at) in [(5, 0), (5, 2), (5, 1), (9, 0)] {
            queue.push(rank, at);
        }
        assert_eq!(queue.pop(), Some((5, 0)));
        // What a merge makes may rank below the merge itself.
        queue.push(3, 7);
        assert_eq!(queue.pop(), Some((3, 7)));
        let rest = std::iter::from_fn(|| queue.pop());
        assert!(rest.eq([(5, 1), (5, 2), (9, 0)]));
    }
}
