//! The merges of a byte-level BPE, found by their pair.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::pair_table::{GrowingPairs, PairSlot, PairTable};
use jeton_stages::tables::perfect_hash::{MAX_NUMBERS, PerfectHash};

/// A merge: the pair of ids, its rank, and the id of the result.
pub type Merge = ((u32, u32), u32, u32);

/// All ids and ranks are below this.
pub const MAX_IDS: u32 = NO_ID;
/// An id that no pair has.
pub const NO_ID: u32 = MAX_NUMBERS;
/// Bits of an id.
const ID: u32 = NO_ID.count_ones();

/// The merge that makes a token.
#[derive(Clone, Copy)]
pub struct Maker {
    /// The token on the left side of that merge.
    pub left: u32,
    /// The token on its right side.
    pub right: u32,
    /// One more than the merge's rank; 0 where no merge makes the token.
    pub age: u32,
}

/// Merges by their pair, and by their rank.
pub struct Pairs<T = PerfectHash> {
    table: T,
    /// By rank: left id, right id, and the id of what they make; all ones where there is no merge, or
    /// where merges of one rank make different tokens.
    merges: Vec<u64>,
    /// What pairs make whose rank does not say it.
    ties: HashMap<u64, u32>,
    /// The age of each token; empty if it is one more than the id of all that are made.
    ages: Vec<u32>,
}

impl Pairs {
    /// These merges, of tokens up to `max_id`, if they fit. Of two that make the same token, the
    /// later one is its maker. Merges may share a rank; such a rank has no maker unless all make one token.
    pub fn new(merges: &[Merge], max_id: u32) -> Option<Self> {
        let ranks = merges.iter().map(|merge| merge.1 + 1).max().unwrap_or(0);
        if max_id >= MAX_IDS || ranks > MAX_IDS {
            return None;
        }
        let ranks_are_ids = merges.iter().all(|&(_, rank, id)| rank == id);
        let [by_rank, ages] = if ranks_are_ids {
            [max_id + 1, 0]
        } else {
            [ranks.max(1), max_id + 1]
        };
        let entry = |&((left, right), rank, _): &Merge| (pair(left, right), rank);
        let mut this = Self {
            table: PerfectHash::new(&merges.iter().map(entry).collect::<Vec<_>>()),
            merges: vec![u64::MAX; by_rank as usize],
            ties: HashMap::new(),
            ages: vec![0; ages as usize],
        };
        let mut tied = Vec::new();
        for &((left, right), rank, id) in merges {
            let merge = &mut this.merges[rank as usize];
            if *merge != u64::MAX && *merge as u32 & NO_ID != id {
                tied.push(rank);
            }
            *merge = pair(left, right) << ID | u64::from(id);
            if let Some(age) = this.ages.get_mut(id as usize) {
                *age = rank + 1;
            }
        }
        for rank in tied {
            this.merges[rank as usize] = u64::MAX;
        }
        for &((left, right), rank, id) in merges {
            if this.merges[rank as usize] == u64::MAX {
                this.ties.insert(pair(left, right), id);
            }
        }
        Some(this)
    }
}

impl Pairs<GrowingPairs> {
    /// No merges yet, and room for `count` of ranks below `ranks`, of tokens up to `max_id`.
    pub fn with_room(count: usize, ranks: u32, max_id: u32) -> Option<Self> {
        (max_id < MAX_IDS && ranks <= MAX_IDS).then(|| Self {
            table: GrowingPairs::with_capacity_and_hasher(count, RandomState::default()),
            merges: vec![u64::MAX; ranks.max(1) as usize],
            ties: HashMap::new(),
            ages: vec![0; max_id as usize + 1],
        })
    }

    /// Says that a token is made by the merge of a rank.
    pub fn set_maker(&mut self, id: u32, rank: u32) {
        self.ages[id as usize] = rank + 1;
    }

    /// No merges yet, and room for `count` whose ranks are the ids that they make, up to `max_id`.
    pub fn of_ranks(count: usize, max_id: u32) -> Option<Self> {
        (max_id < MAX_IDS).then(|| Self {
            table: GrowingPairs::with_capacity_and_hasher(count, RandomState::default()),
            merges: vec![u64::MAX; max_id as usize + 1],
            ties: HashMap::new(),
            ages: Vec::new(),
        })
    }

    /// Takes in the merge of a pair that is not there yet. Where ranks are not ids, what it makes has no
    /// maker by that.
    #[inline]
    pub fn insert(&mut self, ((left, right), rank, id): Merge) {
        let pair = pair(left, right);
        self.table.insert(pair, rank);
        self.merges[rank as usize] = pair << ID | u64::from(id);
    }

    /// The table of all merges, when all are found.
    pub fn completed(&self) -> PerfectHash {
        let entry = |((left, right), rank, _)| (pair(left, right), rank);
        PerfectHash::new(&self.iter().map(entry).collect::<Vec<_>>())
    }

    /// The same merges in that table.
    pub fn complete(self, table: PerfectHash) -> Pairs {
        Pairs {
            table,
            merges: self.merges,
            ties: self.ties,
            ages: self.ages,
        }
    }
}

impl<T: PairTable> Pairs<T> {
    /// The merges, in the order of ranks.
    pub fn iter(&self) -> impl Iterator<Item = Merge> {
        (0..)
            .zip(&self.merges)
            .filter(|(_, merge)| **merge != u64::MAX)
            .map(|(rank, &merge)| (Self::sides(merge), rank, merge as u32 & NO_ID))
    }

    #[inline(always)]
    fn sides(merge: u64) -> (u32, u32) {
        let [left, right] = [merge >> (2 * ID), merge >> ID];
        (left as u32 & NO_ID, right as u32 & NO_ID)
    }

    /// Where a pair belongs.
    #[inline(always)]
    pub fn place(&self, left: u32, right: u32) -> PairSlot {
        self.table.place(pair(left, right))
    }

    /// Prefetches the memory in which the rank of a pair that belongs there would be found.
    #[inline(always)]
    pub fn prefetch(&self, place: PairSlot) {
        self.table.prefetch(place);
    }

    /// The rank of a pair, or [`NONE`](jeton_stages::tables::perfect_hash::NONE).
    #[inline(always)]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        self.rank_at(self.place(left, right), left, right)
    }

    /// As [`Self::rank`], of a pair that belongs there.
    #[inline(always)]
    pub fn rank_at(&self, place: PairSlot, left: u32, right: u32) -> u32 {
        self.table.rank_at(place, pair(left, right))
    }

    /// What the merge of a pair makes, which has this rank.
    #[inline(always)]
    pub fn product(&self, rank: u32, left: u32, right: u32) -> u32 {
        if self.ages.is_empty() {
            return rank;
        }
        match self.merges[rank as usize] as u32 & NO_ID {
            NO_ID => self.ties[&pair(left, right)],
            id => id,
        }
    }

    /// The merge that makes a token.
    #[inline(always)]
    pub fn maker(&self, id: u32) -> Maker {
        let age = match self.ages.get(id as usize) {
            Some(&age) => age,
            None => id + 1,
        };
        let merge = self.merges[age.saturating_sub(1) as usize];
        let (left, right) = Self::sides(merge);
        Maker {
            left,
            right,
            age: if merge == u64::MAX { 0 } else { age },
        }
    }
}

#[inline(always)]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << ID | u64::from(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_stages::tables::perfect_hash::NONE;

    #[test]
    fn every_pair_is_found_and_no_other() {
        for made in [0, 1] {
            let merges: Vec<Merge> = (0..5_000u32)
                .map(|rank| ((rank % 70, rank / 70), rank + 2, rank + 2 + made))
                .collect();
            let pairs = Pairs::new(&merges, 6_000).unwrap();
            for &((left, right), rank, id) in &merges {
                assert_eq!(pairs.rank(left, right), rank);
                assert_eq!(pairs.product(rank, left, right), id);
                let maker = pairs.maker(id);
                assert_eq!(
                    (maker.left, maker.right, maker.age),
                    (left, right, rank + 1)
                );
                assert_eq!(pairs.rank(left + 70, right), NONE);
                assert_eq!(pairs.rank(left, NO_ID), NONE);
            }
            assert_eq!(pairs.maker(0).age, 0);
        }
    }

    #[test]
    fn merges_of_one_rank_make_what_their_pairs_make() {
        let merges = [
            ((0, 1), 0, 5),
            ((1, 0), 0, 6),
            ((1, 1), 1, 7),
            ((0, 7), 1, 7),
        ];
        let pairs = Pairs::new(&merges, 7).unwrap();
        for ((left, right), rank, id) in merges {
            assert_eq!(pairs.rank(left, right), rank);
            assert_eq!(pairs.product(rank, left, right), id);
        }
    }

    #[test]
    fn no_merges() {
        let pairs = Pairs::new(&[], 255).unwrap();
        assert_eq!(pairs.rank(1, 2), NONE);
        assert_eq!(pairs.maker(7).age, 0);
        assert!(Pairs::new(&[], MAX_IDS).is_none());
    }
}
