//! Pruning: dropping the pieces that cost the least.
//!
//! The cost of dropping a piece is how much less probable the best segmentations of all fragments become if each
//! use of it is replaced by the best split of its own text into other pieces.

use rayon::prelude::*;

use super::expectation::sum_by_thread;
use super::matches::{MatchedPiece, Matches, NONE};
use jeton_text::interrupt::{Listener, tick};

/// Drops pieces until about this many are left: those that no best segmentation uses, those whose own text is
/// better split into others, and then those that cost the least; but no single characters. Of longer
/// ones, `least` stay: where too many go for free, the most probable of these do not.
pub(super) fn prune(matches: &mut Matches, kept: usize, least: usize) {
    let steps = matches.steps(|score| score);
    let uses = sum_by_thread(matches, |part, uses| {
        let mut path = BestPath::default();
        for (longest, weight) in matches.units_of(part) {
            path.find(longest, &steps, usize::MAX);
            path.pieces()
                .for_each(|piece| uses[piece as usize] += weight);
        }
    });
    let sum = uses.iter().map(|&uses| uses as f64).sum();
    let costs: Vec<Option<f64>> = Listener::lend(|listener| {
        let pieces = (0..matches.len()).into_par_iter();
        let cost = |path: &mut BestPath, piece| {
            listener.during(tick);
            cost(matches, &steps, &uses, sum, piece, path)
        };
        pieces.map_init(BestPath::default, cost).collect()
    });
    let mut ranking: Vec<(f64, usize)> = (costs.iter().enumerate())
        .filter_map(|(piece, cost)| Some((cost.as_ref().copied()?, piece)))
        .collect();
    ranking.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranking.truncate(kept);
    let mut stays = vec![false; matches.len()];
    for (_, piece) in ranking {
        stays[piece] = true;
    }
    matches.fill_up(&mut stays, least, matches.scores());
    let scores: Vec<Option<f64>> = (matches.scores().iter().zip(&stays))
        .map(|(&score, stays)| stays.then_some(score))
        .collect();
    matches.keep(&scores);
}

/// What dropping a piece costs; nothing if it goes anyway, and infinitely much if it must stay.
fn cost(
    matches: &Matches,
    steps: &[MatchedPiece],
    uses: &[u64],
    sum: f64,
    piece: usize,
    path: &mut BestPath,
) -> Option<f64> {
    let length = matches.length(piece);
    if length == 1 {
        return Some(f64::INFINITY);
    }
    if uses[piece] == 0 {
        return None;
    }
    let other = path.find(matches.longest_within(piece), steps, length);
    if other > matches.score(piece) {
        return None;
    }
    let freed = uses[piece] as f64;
    let parts = path.pieces().count() as f64;
    // The uses of the piece become uses of each of the parts.
    let new_sum = (sum + freed * (parts - 1.0)).ln();
    let without: f64 = path
        .pieces()
        .map(|part| (uses[part as usize] as f64 + freed).ln() - new_sum)
        .sum();
    Some(freed * (freed.ln() - sum.ln() - without))
}

/// The most probable way to split a text into pieces.
#[derive(Default)]
pub(super) struct BestPath {
    /// At each place: the score of the best way from there on, and the piece and length it begins
    /// with.
    places: Vec<(f64, u32, u32)>,
}

impl BestPath {
    /// Finds the best path whose pieces are all shorter than `limit`; says its score. Of equally
    /// good ones it takes the one with the longest first piece.
    pub(super) fn find(&mut self, longest: &[u32], steps: &[MatchedPiece], limit: usize) -> f64 {
        let length = longest.len();
        self.places.clear();
        self.places.resize(length + 1, (0.0, NONE, 0));
        for start in (0..length).rev() {
            let mut best = (f64::NEG_INFINITY, NONE, 0);
            let mut piece = longest[start];
            while piece != NONE {
                let step = steps[piece as usize];
                let end = start + step.length as usize;
                if end <= length && (step.length as usize) < limit {
                    let score = step.weight + self.places[end].0;
                    if score > best.0 {
                        best = (score, piece, step.length);
                    }
                }
                piece = step.next;
            }
            self.places[start] = best;
        }
        self.places[0].0
    }

    /// The pieces of the path.
    pub(super) fn pieces(&self) -> impl Iterator<Item = u32> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (_, piece, length) = self.places[at];
            at += length as usize;
            (piece != NONE).then_some(piece)
        })
    }
}
