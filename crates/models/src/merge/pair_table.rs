//! The interface of tables from pairs to ranks: the one that encodes, which is complete, and the one that
//! grows while a file of ranks is read.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use jeton_stages::tables::perfect_hash::{NONE, PerfectHash};

/// Ranks by pair, to which pairs can be added.
pub type GrowingPairs = HashMap<u64, u32, RandomState>;

/// The place of a pair in a table.
#[derive(Clone, Copy)]
pub struct PairSlot(pub u32);

/// A table of ranks by pair.
pub trait PairTable {
    /// The place of a pair.
    fn place(&self, pair: u64) -> PairSlot;

    /// Prefetches the memory of a place.
    fn prefetch(&self, place: PairSlot);

    /// The rank of the pair at its place, or [`NONE`].
    fn rank_at(&self, place: PairSlot, pair: u64) -> u32;
}

impl PairTable for PerfectHash {
    #[inline(always)]
    fn place(&self, pair: u64) -> PairSlot {
        PairSlot(self.place(pair))
    }

    #[inline(always)]
    fn prefetch(&self, PairSlot(place): PairSlot) {
        self.prefetch(place);
    }

    #[inline(always)]
    fn rank_at(&self, PairSlot(place): PairSlot, pair: u64) -> u32 {
        self.number_at(place, pair)
    }
}

/// Pairs have no place before they are looked up.
impl PairTable for GrowingPairs {
    #[inline(always)]
    fn place(&self, _: u64) -> PairSlot {
        PairSlot(0)
    }

    #[inline(always)]
    fn prefetch(&self, _: PairSlot) {}

    #[inline(always)]
    fn rank_at(&self, _: PairSlot, pair: u64) -> u32 {
        self.get(&pair).copied().unwrap_or(NONE)
    }
}
