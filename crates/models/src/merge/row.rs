//! The symbols of a word while it is merged, without gaps, and for each the rank of its merge with the
//! next.

use super::pairs::NO_ID;
use jeton_stages::tables::perfect_hash::NONE;
use jeton_text::simd::{LANES, Lanes};

/// The most symbols that a row holds.
pub const MAX_SYMBOLS: usize = 64;
/// Symbols that there is memory for: a row, and what is read after it.
const ROOM: usize = MAX_SYMBOLS + 2 * LANES;

/// Symbols in a row without gaps; the first is at place 1.
#[derive(Clone)]
pub struct Row {
    count: usize,
    /// One symbol after another, and [`NO_ID`] on both sides of them.
    ids: [u32; ROOM],
    /// The rank of each symbol's merge with the next; from the last symbol on, [`NONE`] for as long
    /// as anything is read.
    ranks: [u32; ROOM],
}

impl Row {
    /// A row without symbols.
    pub const EMPTY: Self = Self {
        count: 0,
        ids: [NO_ID; ROOM],
        ranks: [NONE; ROOM],
    };

    /// Room for symbols, from the first place on.
    #[inline(always)]
    pub fn room(&mut self) -> &mut [u32; MAX_SYMBOLS] {
        (&mut self.ids[1..=MAX_SYMBOLS])
            .try_into()
            .expect("so many")
    }

    /// Makes the first `count` of the symbols that were written to [`Self::room`] the row; `rank`
    /// says the rank of the merge of the symbol of a number, from 0 on, with the next.
    #[inline(always)]
    pub fn begin(&mut self, count: usize, rank: impl Fn(&[u32], usize) -> u32) {
        let count = count.min(MAX_SYMBOLS);
        self.count = count;
        self.ids[count + 1] = NO_ID;
        for number in 0..count - 1 {
            self.ranks[number + 1] = rank(&self.ids[1..], number);
        }
        self.ranks[count..count + 2 * LANES].fill(NONE);
    }

    /// Makes these tokens the row, of which no two are merged.
    #[inline(always)]
    pub fn become_tokens(&mut self, ids: &[u32]) {
        self.ids[1..=ids.len()].copy_from_slice(ids);
        self.count = ids.len();
    }

    /// The symbols, which are tokens once all is merged.
    #[inline(always)]
    pub fn tokens(&self) -> &[u32] {
        &self.ids[1..=self.count]
    }

    /// The tokens, to be changed in place.
    #[inline(always)]
    pub fn tokens_mut(&mut self) -> &mut [u32] {
        &mut self.ids[1..=self.count]
    }

    /// The first symbols; where there are fewer, anything follows them.
    #[inline(always)]
    pub fn first_tokens<const N: usize>(&self) -> &[u32; N] {
        self.ids[1..]
            .first_chunk()
            .expect("there is room for so many")
    }

    /// The lowest rank, and the first place where it is.
    #[inline(always)]
    pub fn lowest(&self, lanes: impl Lanes) -> (u32, usize) {
        let (chunks, _) = self.ranks.as_chunks();
        let (mut lowest, mut at) = lanes.lowest(&chunks[0]);
        let more = self.count.min(MAX_SYMBOLS) / LANES;
        for (chunk, start) in chunks[1..=more].iter().zip((LANES..).step_by(LANES)) {
            let (rank, place) = lanes.lowest(chunk);
            if rank < lowest {
                (lowest, at) = (rank, start + place);
            }
        }
        (lowest, at)
    }

    /// The symbols before `at`, at it, and after it; [`NO_ID`] where there is none.
    #[inline(always)]
    pub fn around(&self, at: usize) -> [u32; 3] {
        [self.ids[at - 1], self.ids[at], self.ids[at + 1]]
    }

    /// Replaces two symbols, the first at `at`, with `id`. The ranks beside it
    /// are those of before until [`Self::set_ranks`].
    #[inline(always)]
    pub fn merge(&mut self, at: usize, id: u32) {
        let count = self.count.min(MAX_SYMBOLS);
        self.ids[at] = id;
        let mut place = at + 1;
        while place <= count {
            for row in [&mut self.ids, &mut self.ranks] {
                let next: [u32; LANES] = row[place + 1..][..LANES].try_into().expect("so many");
                row[place..][..LANES].copy_from_slice(&next);
            }
            place += LANES;
        }
        self.count = count - 1;
    }

    /// Sets the ranks of the merges of the symbol at `at` with the one before it and the next.
    #[inline(always)]
    pub fn set_ranks(&mut self, at: usize, [before, behind]: [u32; 2]) {
        self.ranks[at - 1] = before;
        self.ranks[at] = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use jeton_text::simd::Avx2;
    use jeton_text::simd::Portable;

    fn row(ranks: &[u32]) -> Row {
        let mut row = Row::EMPTY;
        for (number, id) in row.room()[..=ranks.len()].iter_mut().enumerate() {
            *id = 100 + number as u32;
        }
        row.begin(ranks.len() + 1, |ids, number| {
            assert_eq!(ids[number], 100 + number as u32);
            ranks[number]
        });
        row
    }

    #[test]
    fn the_first_lowest_rank_is_merged() {
        let mut row = row(&[7, 5, 5, NONE]);
        assert_eq!(row.lowest(Portable), (5, 2));
        row.merge(2, 900);
        row.set_ranks(2, [8, 9]);
        assert_eq!(row.tokens(), [100, 900, 103, 104]);
        assert_eq!(row.around(1), [NO_ID, 100, 900]);
        assert_eq!(row.around(4), [103, 104, NO_ID]);
        assert_eq!(row.lowest(Portable), (8, 1));
        row.become_tokens(&[1, 2]);
        assert_eq!(row.tokens(), [1, 2]);
    }

    #[test]
    fn rows_of_any_length() {
        for count in 1..=MAX_SYMBOLS {
            let mut ranks: Vec<u32> = (1..count).map(|at| (at * 37 % 101) as u32).collect();
            let mut row = row(&ranks);
            while let Some(&lowest) = ranks.iter().min() {
                let at = 1 + ranks.iter().position(|&rank| rank == lowest).unwrap();
                assert_eq!(row.lowest(Portable), (lowest, at));
                #[cfg(target_arch = "x86_64")]
                if let Some(lanes) = Avx2::detected() {
                    assert_eq!(row.lowest(lanes), (lowest, at));
                }
                row.merge(at, 7);
                ranks.remove(at - 1);
                let beside = [at.wrapping_sub(2), at - 1].map(|at| match ranks.get_mut(at) {
                    Some(rank) => {
                        *rank += 300;
                        *rank
                    }
                    None => NONE,
                });
                row.set_ranks(at, beside);
                assert_eq!(row.tokens().len(), ranks.len() + 1);
            }
            assert_eq!(row.lowest(Portable).0, NONE);
            assert_eq!(row.around(1)[2], NO_ID);
        }
    }
}
