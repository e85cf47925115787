//! A queue of pairs, the most frequent first.
//!
//! Most pairs that training ever sees are rare and never reach the top, so only pairs about as
//! frequent as the top one are kept in a heap. The others wait, unsorted, in one list for each
//! power of two, and enter the heap when their turn comes. The caller says how ties are broken:
//! `pair_counts` has the order.

use std::cmp::Ordering;

/// A pair that may be merged, with its count when it was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub count: u64,
    /// Among equally frequent candidates the one with the lowest key comes first, where the
    /// caller's order does not look at something else.
    pub key: u64,
    /// Where it occurs.
    pub segment: u32,
}

/// A priority queue of candidates. The caller passes the order with each call, always the same one;
/// `Greater` means earlier, and the more frequent must come first.
pub(super) struct Queue {
    heap: Vec<Candidate>,
    /// Candidates in the heap have at least this many bits in their counts.
    level: usize,
    waiting: [Vec<Candidate>; 65],
}

fn bits(count: u64) -> usize {
    (u64::BITS - count.leading_zeros()) as usize
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            heap: Vec::new(),
            level: 64,
            waiting: std::array::from_fn(|_| Vec::new()),
        }
    }

    pub(super) fn push(
        &mut self,
        candidate: Candidate,
        order: impl Fn(&Candidate, &Candidate) -> Ordering,
    ) {
        match bits(candidate.count) {
            level if level < self.level => self.waiting[level].push(candidate),
            _ => {
                self.heap.push(candidate);
                self.sift_up(self.heap.len() - 1, &order);
            }
        }
    }

    pub(super) fn pop(
        &mut self,
        order: impl Fn(&Candidate, &Candidate) -> Ordering,
    ) -> Option<Candidate> {
        while self.level > 0
            && self
                .heap
                .first()
                .is_none_or(|first| bits(first.count) < self.level)
        {
            self.level -= 1;
            self.heap.append(&mut self.waiting[self.level]);
            for at in (0..self.heap.len() / 2).rev() {
                self.sift_down(at, &order);
            }
        }
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first_mut() else {
            return Some(last);
        };
        let first = std::mem::replace(first, last);
        self.sift_down(0, &order);
        Some(first)
    }

    fn sift_up(&mut self, mut at: usize, order: &impl Fn(&Candidate, &Candidate) -> Ordering) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if order(&self.heap[at], &self.heap[parent]) != Ordering::Greater {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    fn sift_down(&mut self, mut at: usize, order: &impl Fn(&Candidate, &Candidate) -> Ordering) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let Some(child) = children.max_by(|&a, &b| order(&self.heap[a], &self.heap[b])) else {
                break;
            };
            if order(&self.heap[child], &self.heap[at]) != Ordering::Greater {
                break;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BinaryHeap;

    #[test]
    fn pops_as_an_ordinary_heap_does() {
        let order = |a: &Candidate, b: &Candidate| (a.count, b.key).cmp(&(b.count, a.key));
        let mut numbers = ChaCha8Rng::seed_from_u64(1);
        let mut queue = Queue::new();
        let mut heap = BinaryHeap::new();
        for round in 0..20_000 {
            if numbers.random_range(0..5) < 3 {
                let count = numbers.random_range(0..100_000) >> numbers.random_range(0..18);
                let key = numbers.random_range(0..1 << 40);
                queue.push(
                    Candidate {
                        count,
                        key,
                        segment: 0,
                    },
                    order,
                );
                heap.push((count, std::cmp::Reverse(key)));
            } else {
                let popped = queue
                    .pop(order)
                    .map(|c| (c.count, std::cmp::Reverse(c.key)));
                assert_eq!(popped, heap.pop(), "round {round}");
            }
        }
    }
}
