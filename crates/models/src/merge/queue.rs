//! The queue of pairs that wait to be merged, in text that is too long to scan for the best one: the
//! lowest rank first, the leftmost among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes of the longest text that is merged with a heap; longer text is merged with [`Lists`].
pub const HEAPED: usize = 4096;

/// A queue of places in a text, each with the rank of the pair that begins there. It does not notice when
/// another merge takes a part of the pair: the caller checks each place that it returns.
pub trait Queue {
    /// Adds a place.
    fn push(&mut self, rank: u32, at: u32);
    /// Removes the place of the lowest rank, the leftmost among equals, and returns it with its rank.
    fn pop(&mut self) -> Option<(u32, u32)>;
}

/// For text of some hundred bytes, whose pairs mostly have different ranks. The rank and the place are one
/// number, the rank in the upper bits, so that one comparison orders both.
impl Queue for BinaryHeap<Reverse<u64>> {
    fn push(&mut self, rank: u32, at: u32) {
        BinaryHeap::push(self, Reverse(u64::from(rank) << 32 | u64::from(at)));
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        let Reverse(first) = BinaryHeap::pop(self)?;
        Some(((first >> 32) as u32, first as u32))
    }
}

/// A queue for longer text, whose ranks are not very high: a list of places for each rank. A text of one
/// letter has a million places and a dozen ranks; in a heap of places, each of them would cost a walk.
#[derive(Default)]
pub struct Lists {
    /// The ranks whose lists wait.
    ranks: BinaryHeap<Reverse<u32>>,
    /// One more than the number of each rank's list; 0 for a rank without one.
    numbers: Vec<u32>,
    lists: Vec<Places>,
}

/// The places of one rank.
#[derive(Default)]
struct Places {
    /// Whether its rank is among those that wait; if not, it is empty.
    waits: bool,
    /// In rising order: merges of one rank go through the text from left to right, and so do the
    /// pairs that they make. The first `taken` of them are taken.
    rising: Vec<u32>,
    taken: usize,
    /// What would break that order.
    others: BinaryHeap<Reverse<u32>>,
}

impl Places {
    /// Takes a place, if that is simple.
    #[inline(always)]
    fn push(&mut self, at: u32) -> bool {
        let is_simple = self.waits && self.rising.last().is_some_and(|&last| last <= at);
        if is_simple {
            self.rising.push(at);
        }
        is_simple
    }

    /// Gives the leftmost place, if that is simple.
    #[inline(always)]
    fn pop(&mut self) -> Option<u32> {
        let first = self.rising.get(self.taken);
        let &at = first.filter(|_| self.others.is_empty())?;
        self.taken += 1;
        Some(at)
    }

    /// Gives the leftmost place.
    fn pop_any(&mut self) -> Option<u32> {
        match (self.rising.get(self.taken), self.others.peek()) {
            (Some(at), Some(Reverse(other))) if other < at => {}
            (Some(&at), _) => {
                self.taken += 1;
                return Some(at);
            }
            (None, _) => {}
        }
        self.others.pop().map(|Reverse(at)| at)
    }
}

impl Lists {
    #[inline(always)]
    fn list(&mut self, rank: u32) -> Option<&mut Places> {
        let &number = self.numbers.get(rank as usize)?;
        self.lists.get_mut((number as usize).wrapping_sub(1))
    }

    #[inline(never)]
    fn push_any(&mut self, rank: u32, at: u32) {
        let number = rank as usize;
        if number >= self.numbers.len() {
            self.numbers.resize((number + 1).next_power_of_two(), 0);
        }
        let number = &mut self.numbers[number];
        if *number == 0 {
            self.lists.push(Places::default());
            *number = self.lists.len() as u32;
        }
        let places = &mut self.lists[*number as usize - 1];
        if places.waits {
            places.others.push(Reverse(at));
        } else {
            places.waits = true;
            places.rising.push(at);
            self.ranks.push(Reverse(rank));
        }
    }

    #[inline(never)]
    fn pop_any(&mut self) -> Option<(u32, u32)> {
        loop {
            let &Reverse(rank) = self.ranks.peek()?;
            let places = self.list(rank)?;
            if let Some(at) = places.pop_any() {
                return Some((rank, at));
            }
            places.waits = false;
            places.rising.clear();
            places.taken = 0;
            self.ranks.pop();
        }
    }
}

impl Queue for Lists {
    #[inline(always)]
    fn push(&mut self, rank: u32, at: u32) {
        let done = self.list(rank).is_some_and(|places| places.push(at));
        if !done {
            self.push_any(rank, at);
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, u32)> {
        let &Reverse(rank) = self.ranks.peek()?;
        match self.list(rank)?.pop() {
            Some(at) => Some((rank, at)),
            None => self.pop_any(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn lower_ranks_come_first_and_places_from_left_to_right() {
        let mut lists = Lists::default();
        for (rank, at) in [(5, 0), (5, 2), (5, 1), (9, 0)] {
            lists.push(rank, at);
        }
        assert_eq!(lists.pop(), Some((5, 0)));
        // What a merge makes may rank below the merge itself.
        lists.push(3, 7);
        assert_eq!(lists.pop(), Some((3, 7)));
        let rest = std::iter::from_fn(|| lists.pop());
        assert!(rest.eq([(5, 1), (5, 2), (9, 0)]));
    }

    /// A merge may make a pair of lower rank each time, and the rank that waits is the same again.
    #[test]
    fn lower_ranks_in_between_cost_no_more() {
        let mut lists = Lists::default();
        let count = 200_000;
        (0..count).for_each(|at| lists.push(5, at));
        for at in 0..count {
            assert_eq!(lists.pop(), Some((5, at)));
            lists.push(3, at);
            assert_eq!(lists.pop(), Some((3, at)));
        }
        assert_eq!(lists.pop(), None);
    }

    #[test]
    fn lists_give_what_a_heap_gives() {
        let mut numbers = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..200 {
            let (mut lists, mut heap) = (Lists::default(), BinaryHeap::new());
            let ranks = numbers.random_range(1..6);
            for at in 0..300 {
                let at = if numbers.random_bool(0.7) {
                    at
                } else {
                    numbers.random_range(0..300)
                };
                let rank = numbers.random_range(0..ranks);
                lists.push(rank, at);
                Queue::push(&mut heap, rank, at);
                if numbers.random_bool(0.4) {
                    assert_eq!(lists.pop(), Queue::pop(&mut heap));
                }
            }
            while let Some(first) = Queue::pop(&mut heap) {
                assert_eq!(lists.pop(), Some(first));
            }
            assert_eq!(lists.pop(), None);
        }
    }
}
