//! The table of pairs while a file of ranks is read: the bytes of each token are merged by the merges of
//! shorter tokens, and the last two parts are the next pair.

use std::hash::BuildHasher;
use std::hint::select_unpredictable;

use foldhash::fast::RandomState;

use crate::merge::pair_table::{PairSlot, PairTable};
use jeton_stages::tables::tag_table::{Address, NONE, TagTable};
use jeton_text::mem::short_keys::{MIX, fold};

/// Ranks by pair, to which pairs can be added.
pub struct GrowingPairs {
    table: TagTable,
    /// Moves the hashes, so that no file can aim pairs at one line.
    seed: u64,
}

impl GrowingPairs {
    /// Room for this many pairs.
    pub fn new(count: usize) -> Self {
        Self {
            table: TagTable::new(count),
            seed: RandomState::default().hash_one(0),
        }
    }

    /// Inserts the rank of a pair that is not there yet.
    #[inline]
    pub fn insert(&mut self, pair: u64, rank: u32) {
        let mut address = self.address(pair);
        while !self.table.insert(address, rank) {
            address = self.table.behind(address);
        }
    }

    #[inline(always)]
    fn address(&self, pair: u64) -> Address {
        self.table.place(fold(pair ^ self.seed, MIX))
    }

    /// As [`PairTable::rank_at`], for a pair whose line has several that look alike, or is full.
    #[cold]
    fn rank_behind(&self, mut address: Address, is: impl Fn(u32) -> bool) -> u32 {
        loop {
            let alike = self.table.alike(address);
            if let Some(rank) = alike.all().find(|&rank| is(rank)) {
                return rank;
            }
            if !alike.is_full() {
                return NONE;
            }
            address = self.table.behind(address);
        }
    }
}

impl PairTable for GrowingPairs {
    #[inline(always)]
    fn place(&self, pair: u64) -> PairSlot {
        PairSlot(self.address(pair).into())
    }

    #[inline(always)]
    fn prefetch(&self, PairSlot(place): PairSlot) {
        self.table.prefetch(place.into());
    }

    #[inline(always)]
    fn rank_at(&self, PairSlot(place): PairSlot, _: u64, is: impl Fn(u32) -> bool) -> u32 {
        let alike = self.table.alike(place.into());
        let rank = alike.first();
        let found = is(rank);
        if !found & (alike.are_many() | alike.is_full()) {
            return self.rank_behind(place.into(), is);
        }
        // A processor cannot guess whether it is found.
        select_unpredictable(found, rank, NONE)
    }
}
