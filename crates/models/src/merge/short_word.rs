//! A short word while it is merged: its row of symbols, and where the last merge was.

use super::pairs::Pairs;
use super::row::{MAX_SYMBOLS, Row};
use crate::merge::pair_table::{PairSlot, PairTable};
use jeton_stages::tables::perfect_hash::NONE;
#[cfg(target_arch = "x86_64")]
use jeton_text::simd::Avx2;
use jeton_text::simd::{Lanes, Portable};

/// A piece while it is merged.
#[derive(Clone)]
pub struct ShortWord {
    row: Row,
    /// Where the last merge was, and where the two pairs that it made belong in the table.
    at: usize,
    places: [PairSlot; 2],
}

impl ShortWord {
    /// Room for one piece.
    pub const NEW: Self = Self {
        row: Row::EMPTY,
        at: 1,
        places: [PairSlot(0); 2],
    };

    /// Room for the symbols that a piece begins as.
    #[inline(always)]
    pub fn room(&mut self) -> &mut [u32; MAX_SYMBOLS] {
        self.row.room()
    }

    /// Makes the first `count` symbols the piece; see `Row::begin`.
    #[inline(always)]
    pub fn begin(&mut self, count: usize, rank: impl Fn(&[u32], usize) -> u32) {
        self.row.begin(count, rank);
    }

    /// Merges the piece, until no pair may be merged.
    pub fn merge<T: PairTable>(&mut self, pairs: &Pairs<T>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = Avx2::detected() {
            // SAFETY: the processor has the features that the function is compiled for.
            unsafe { self.merge_avx2(lanes, pairs) };
            return;
        }
        self.merge_by(Portable, pairs);
    }

    /// The same code, for processors that compare eight ranks at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_avx2<T: PairTable>(&mut self, lanes: Avx2, pairs: &Pairs<T>) {
        self.merge_by(lanes, pairs);
    }

    #[inline(always)]
    fn merge_by<T: PairTable>(&mut self, lanes: impl Lanes, pairs: &Pairs<T>) {
        while self.step(pairs, lanes).is_some() {
            self.refresh(pairs);
        }
    }

    /// Merges the best pair, asks for what [`Self::refresh`] will look at, and says the rank; none if
    /// no pair may be merged.
    #[inline(always)]
    pub fn step<T: PairTable>(&mut self, pairs: &Pairs<T>, lanes: impl Lanes) -> Option<u32> {
        let (rank, at) = self.row.lowest(lanes);
        if rank == NONE {
            return None;
        }
        let [_, left, right] = self.row.around(at);
        self.row.merge(at, pairs.product(rank, left, right));
        // A symbol without a neighbour has one that merges with nothing: what is last or first in a
        // short piece is no guess that a processor often gets right.
        let [before, id, behind] = self.row.around(at);
        self.at = at;
        self.places = [pairs.place(before, id), pairs.place(id, behind)];
        pairs.prefetch(self.places[0]);
        pairs.prefetch(self.places[1]);
        Some(rank)
    }

    /// Looks up the two pairs that the last merge has made.
    #[inline(always)]
    pub fn refresh<T: PairTable>(&mut self, pairs: &Pairs<T>) {
        let [before, id, behind] = self.row.around(self.at);
        let ranks = [
            pairs.rank_at(self.places[0], before, id),
            pairs.rank_at(self.places[1], id, behind),
        ];
        self.row.set_ranks(self.at, ranks);
    }

    /// The tokens of a piece that was merged.
    #[inline(always)]
    pub fn tokens(&self) -> &[u32] {
        self.row.tokens()
    }

    /// The tokens of a piece that was merged, to be changed in place.
    #[inline(always)]
    pub fn tokens_mut(&mut self) -> &mut [u32] {
        self.row.tokens_mut()
    }

    /// The first tokens; where there are fewer, anything follows them.
    #[inline(always)]
    pub fn first_tokens<const N: usize>(&self) -> &[u32; N] {
        self.row.first_tokens()
    }

    /// Says that the piece is these tokens, without merging it.
    #[inline(always)]
    pub fn become_tokens(&mut self, ids: &[u32]) {
        self.row.become_tokens(ids);
    }
}
