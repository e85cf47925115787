//! The merges of a byte-level BPE, found by their pair.

use std::hash::BuildHasher;
use std::hint::select_unpredictable;

use foldhash::fast::RandomState;

use crate::compiled::cache::words::fold;
use crate::compiled::tagged::{AHEAD, Address, MOST_NUMBERS, NONE, Tagged};

/// A merge: the pair, its rank, and what it makes.
pub type Merge = ((u32, u32), u32, u32);

/// Ids and ranks are below this.
pub const MOST_IDS: u32 = NO_ID;
/// An id that is in no pair.
pub const NO_ID: u32 = MOST_NUMBERS;
/// The bits of an id.
const ID: u32 = NO_ID.count_ones();
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// The merge that makes a token.
#[derive(Clone, Copy)]
pub struct Maker {
    pub left: u32,
    pub right: u32,
    /// One more than the merge's rank; 0 where no merge makes the token.
    pub age: u32,
}

/// Merges by their pair, and by their rank.
pub struct Pairs {
    table: Tagged,
    /// By rank: left id, right id, and the id of what they make; all ones where there is no merge.
    merges: Vec<u64>,
    /// The age of each token; empty if it is one more than the id of all that are made.
    ages: Vec<u32>,
    /// Moves the hashes, so that no file can aim pairs at one line.
    seed: u64,
}

impl Pairs {
    /// These merges, of tokens up to `max_id`, if they fit. Of two that make the same token, the
    /// later one is its maker.
    pub fn new(merges: &[Merge], max_id: u32) -> Option<Self> {
        let ranks = merges.iter().map(|merge| merge.1 + 1).max().unwrap_or(0);
        let ranks_are_ids = merges.iter().all(|&(_, rank, id)| rank == id);
        let mut this = match ranks_are_ids {
            true => Self::of_ranks(merges.len(), max_id)?,
            false => Self::with_room(merges.len(), ranks, max_id as usize + 1, max_id)?,
        };
        for (i, &merge) in merges.iter().enumerate() {
            if let Some(&((left, right), ..)) = merges.get(i + AHEAD) {
                this.prefetch(this.place(left, right));
            }
            this.insert(merge);
        }
        Some(this)
    }

    /// No merges yet, and room for `count` whose ranks are the ids that they make, up to `max_id`.
    pub fn of_ranks(count: usize, max_id: u32) -> Option<Self> {
        Self::with_room(count, max_id.checked_add(1)?, 0, max_id)
    }

    fn with_room(count: usize, ranks: u32, ages: usize, max_id: u32) -> Option<Self> {
        (max_id < MOST_IDS && ranks <= MOST_IDS).then(|| Self {
            table: Tagged::new(count),
            merges: vec![u64::MAX; ranks.max(1) as usize],
            ages: vec![0; ages],
            seed: RandomState::default().hash_one(0),
        })
    }

    /// Takes a merge in, of a pair that is not there yet.
    #[inline]
    pub fn insert(&mut self, ((left, right), rank, id): Merge) {
        let mut place = self.place(left, right);
        while !self.table.insert(place, rank) {
            place = self.table.behind(place);
        }
        self.merges[rank as usize] = Self::pair(left, right) << ID | u64::from(id);
        if let Some(age) = self.ages.get_mut(id as usize) {
            *age = rank + 1;
        }
    }

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

    #[inline(always)]
    fn pair(left: u32, right: u32) -> u64 {
        u64::from(left) << ID | u64::from(right)
    }

    /// Where a pair belongs.
    #[inline(always)]
    pub fn place(&self, left: u32, right: u32) -> Address {
        self.table
            .place(fold(Self::pair(left, right) ^ self.seed, MIX))
    }

    /// Asks for the memory in which the rank of a pair that belongs there would be found.
    #[inline(always)]
    pub fn prefetch(&self, place: Address) {
        self.table.prefetch(place);
    }

    /// The rank of a pair, or [`NONE`].
    #[inline(always)]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        self.rank_at(self.place(left, right), left, right)
    }

    /// As [`Self::rank`], of a pair that belongs there. Whether it is found is nothing that a
    /// processor could guess, so the answer is chosen, not branched to; only what few pairs need is a
    /// branch.
    #[inline(always)]
    pub fn rank_at(&self, place: Address, left: u32, right: u32) -> u32 {
        let alike = self.table.alike(place);
        let rank = alike.first();
        let found = self.is(rank, left, right);
        if !found & (alike.are_many() | alike.is_full()) {
            return self.rank_behind(left, right, place);
        }
        select_unpredictable(found, rank, NONE)
    }

    #[inline(always)]
    fn is(&self, rank: u32, left: u32, right: u32) -> bool {
        self.merges[rank as usize] >> ID == Self::pair(left, right)
    }

    /// The same, for a pair whose line has several that look alike, or is full.
    #[cold]
    fn rank_behind(&self, left: u32, right: u32, mut place: Address) -> u32 {
        loop {
            let alike = self.table.alike(place);
            if let Some(rank) = alike.all().find(|&rank| self.is(rank, left, right)) {
                return rank;
            }
            if !alike.is_full() {
                return NONE;
            }
            place = self.table.behind(place);
        }
    }

    /// What the merge of a rank makes.
    #[inline(always)]
    pub fn made(&self, rank: u32) -> u32 {
        match self.ages.is_empty() {
            true => rank,
            false => self.merges[rank as usize] as u32 & NO_ID,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_found_and_no_other() {
        for made in [0, 1] {
            let merges: Vec<Merge> = (0..5_000u32)
                .map(|rank| ((rank % 70, rank / 70), rank + 2, rank + 2 + made))
                .collect();
            let pairs = Pairs::new(&merges, 6_000).unwrap();
            for &((left, right), rank, id) in &merges {
                assert_eq!(pairs.rank(left, right), rank);
                assert_eq!(pairs.made(rank), id);
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
    fn no_merges() {
        let pairs = Pairs::new(&[], 255).unwrap();
        assert_eq!(pairs.rank(1, 2), NONE);
        assert_eq!(pairs.maker(7).age, 0);
        assert!(Pairs::new(&[], MOST_IDS).is_none());
    }
}
