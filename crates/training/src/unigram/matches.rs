//! Which pieces begin at each place of the fragments, without a trie and without a search.
//!
//! Each place stores the longest piece that begins there, and each piece the longest shorter one
//! that it begins with: following these links from a place gives all pieces there. When pieces are
//! dropped, both are redirected to the nearest one that is left.

use rayon::prelude::*;

use crate::pieces::{END, Fragments};

/// No piece.
pub(super) const NONE: u32 = u32::MAX;

/// Pieces, in the order of their texts, and the places where they occur.
pub(super) struct Matches {
    pub(super) fragments: Fragments,
    /// The longest piece at each place.
    pub(super) longest: Vec<u32>,
    /// Where each piece occurs.
    pub(super) places: Vec<u32>,
    pub(super) lengths: Vec<u16>,
    /// The longest shorter piece that each begins with.
    pub(super) parents: Vec<u32>,
    pub(super) scores: Vec<f64>,
}

/// A piece at a place, and the link to the next shorter one.
#[derive(Clone, Copy)]
pub(super) struct MatchedPiece {
    /// Its probability, or the logarithm of it.
    pub(super) weight: f64,
    pub(super) length: u32,
    /// The next shorter piece, or [`NONE`].
    pub(super) next: u32,
}

/// Adjacent fragments.
#[derive(Clone, Copy)]
pub(super) struct FragmentRange {
    first: usize,
    end: usize,
}

/// Symbols that a thread takes at a time.
const SYMBOLS_AT_ONCE: u32 = if cfg!(test) { 20 } else { 1 << 14 };

impl Matches {
    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// The symbols of a piece.
    pub(super) fn symbols(&self, piece: usize) -> &[u32] {
        let place = self.places[piece] as usize;
        &self.fragments.symbols[place..place + self.length(piece)]
    }

    pub(super) fn length(&self, piece: usize) -> usize {
        usize::from(self.lengths[piece])
    }

    /// The longest piece at each place of a piece's own text; it may be longer than what is left.
    pub(super) fn longest_within(&self, piece: usize) -> &[u32] {
        let place = self.places[piece] as usize;
        &self.longest[place..place + self.length(piece)]
    }

    pub(super) fn score(&self, piece: usize) -> f64 {
        self.scores[piece]
    }

    /// The scores of all pieces.
    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Has more pieces stay until `least` of those longer than a character do: those of the greatest
    /// merit, and of equals the first by text.
    pub(super) fn fill_up(&self, stays: &mut [bool], least: usize, merits: &[f64]) {
        let is_long = |piece: &usize| self.length(*piece) > 1;
        let (staying, mut going): (Vec<usize>, Vec<usize>) = (0..self.len())
            .filter(is_long)
            .partition(|&piece| stays[piece]);
        let missing = least.saturating_sub(staying.len());
        if missing == 0 {
            return;
        }
        going.par_sort_unstable_by(|&a, &b| merits[b].total_cmp(&merits[a]).then(a.cmp(&b)));
        for piece in going.into_iter().take(missing) {
            stays[piece] = true;
        }
    }

    /// How many symbols the fragments have, each occurrence counted.
    pub(super) fn total(&self) -> u64 {
        let starts = self.fragments.starts.windows(2);
        let lengths = starts.map(|bounds| u64::from(bounds[1] - bounds[0] - 1));
        lengths
            .zip(&self.fragments.weights)
            .map(|(length, weight)| length * weight)
            .sum()
    }

    /// The pieces with some weight of each.
    pub(super) fn steps(&self, weight: impl Fn(f64) -> f64 + Sync) -> Vec<MatchedPiece> {
        (0..self.len())
            .into_par_iter()
            .map(|piece| MatchedPiece {
                weight: weight(self.scores[piece]),
                length: u32::from(self.lengths[piece]),
                next: self.parents[piece],
            })
            .collect()
    }

    /// All fragments, split into parts for the threads. The split does not depend on how many there are.
    pub(super) fn parts(&self) -> Vec<FragmentRange> {
        let mut parts = Vec::new();
        let (mut first, mut begin) = (0, 0);
        for (fragment, bounds) in self.fragments.starts.windows(2).enumerate() {
            if bounds[1] - begin >= SYMBOLS_AT_ONCE {
                parts.push(FragmentRange {
                    first,
                    end: fragment + 1,
                });
                (first, begin) = (fragment + 1, bounds[1]);
            }
        }
        let end = self.fragments.weights.len();
        if first < end {
            parts.push(FragmentRange { first, end });
        }
        parts
    }

    /// The fragments of a part: the longest piece at each place, and the weight.
    pub(super) fn units_of(&self, part: FragmentRange) -> impl Iterator<Item = (&[u32], u64)> {
        (part.first..part.end).map(|fragment| {
            let [start, end] =
                [fragment, fragment + 1].map(|at| self.fragments.starts[at] as usize);
            (
                &self.longest[start..end - 1],
                self.fragments.weights[fragment],
            )
        })
    }

    /// Keeps the pieces that have a new score; single characters must.
    pub(super) fn keep(&mut self, scores: &[Option<f64>]) {
        let mut heirs = vec![NONE; self.len()];
        let mut kept = 0;
        for (piece, score) in scores.iter().enumerate() {
            // What a piece begins with comes before it.
            let parent = match self.parents[piece] {
                NONE => NONE,
                parent => heirs[parent as usize],
            };
            let Some(score) = *score else {
                heirs[piece] = parent;
                continue;
            };
            heirs[piece] = kept as u32;
            self.places[kept] = self.places[piece];
            self.lengths[kept] = self.lengths[piece];
            self.parents[kept] = parent;
            self.scores[kept] = score;
            kept += 1;
        }
        self.places.truncate(kept);
        self.lengths.truncate(kept);
        self.parents.truncate(kept);
        self.scores.truncate(kept);
        if kept < heirs.len() {
            let places = self
                .longest
                .par_iter_mut()
                .with_min_len(SYMBOLS_AT_ONCE as usize);
            places.for_each(|longest| {
                if *longest != NONE {
                    *longest = heirs[*longest as usize];
                }
            });
        }
        debug_assert!(
            (self.longest.iter().zip(&self.fragments.symbols))
                .all(|(longest, symbol)| (*longest == NONE) == (*symbol == END))
        );
    }
}
