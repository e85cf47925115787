//! The interface of tables from pairs to ranks: the one that encodes, which is complete, and the one that
//! grows while a file of ranks is read.

use jeton_stages::tables::perfect_hash::PerfectHash;

/// The place of a pair in a table.
#[derive(Clone, Copy)]
pub struct PairSlot(pub u64);

/// A table of ranks by pair.
pub trait PairTable {
    /// The place of a pair.
    fn place(&self, pair: u64) -> PairSlot;

    /// Prefetches the memory of a place.
    fn prefetch(&self, place: PairSlot);

    /// The rank of the pair at its place, or [`NONE`](jeton_stages::tables::tag_table::NONE); `is` says
    /// whether it is the pair of a rank.
    fn rank_at(&self, place: PairSlot, pair: u64, is: impl Fn(u32) -> bool) -> u32;
}

impl PairTable for PerfectHash {
    #[inline(always)]
    fn place(&self, pair: u64) -> PairSlot {
        PairSlot(self.place(pair).into())
    }

    #[inline(always)]
    fn prefetch(&self, PairSlot(place): PairSlot) {
        self.prefetch(place as u32);
    }

    #[inline(always)]
    fn rank_at(&self, PairSlot(place): PairSlot, pair: u64, _: impl Fn(u32) -> bool) -> u32 {
        self.number_at(place as u32, pair)
    }
}
