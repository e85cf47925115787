//! SentencePiece's Unigram on a chunk, so that the result is that of the whole text to the last bit.
//!
//! Sums of scores are rounded to 32 bits from the front of the text, so which of two nearly equal
//! segmentations of a chunk wins depends on the sum before it. A chunk is remembered if its result wins for
//! every sum, which its lead proves (see [`Viterbi::finds_winner`]). Other chunks go through the model each
//! time.

use std::cell::Cell;

use super::chunks::Solver;
use super::merging::push_unknown;
use super::score_sums::{MAX_CHANGE, ROUNDING, Scores};
use super::unknown::UNKNOWN;
use crate::cache::buffered_sink::BufferedSink;
use crate::cache::word_cache::LONGEST;
use crate::sink::Sink;
use jeton_models::model::SentencePiece;

/// Score that is more than 64-bit sums of chunks can be wrong by.
const SLACK: f64 = 1e-6;
/// The best way to reach a place in the text.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    /// By how much any other last piece is worse.
    lead: f64,
    start: usize,
    id: u32,
}

impl Best {
    const UNREACHED: Self = Self {
        score: f64::NEG_INFINITY,
        lead: f64::INFINITY,
        start: 0,
        id: UNKNOWN,
    };

    /// Keeps the better; no branch depends on which one that is.
    #[inline(always)]
    fn offer(&mut self, score: f64, start: usize, id: u32) {
        let better = score > self.score;
        let ahead = score - self.score;
        let behind = self.lead.min(-ahead);
        self.lead = if better { ahead } else { behind };
        self.score = if better { score } else { self.score };
        self.start = if better { start } else { self.start };
        self.id = if better { id } else { self.id };
    }
}

/// A Unigram model and its scores.
pub struct Viterbi<'m> {
    model: &'m SentencePiece,
    scores: &'m Scores,
    /// The sum of the scores of all tokens that the sink has; [`Summing`](super::score_sums::Summing) adds to it.
    sum: &'m Cell<f32>,
    /// Buffers for the best path to each position, and for the ends of a path's pieces.
    best: Vec<Best>,
    ends: Vec<usize>,
}

impl<'m> Viterbi<'m> {
    /// Segments as `model` does.
    pub fn new(model: &'m SentencePiece, scores: &'m Scores, sum: &'m Cell<f32>) -> Self {
        Self {
            model,
            scores,
            sum,
            best: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// By how much the best path is better than any that takes another last piece to one of its places,
    /// at least; [`Viterbi::find_best`] has seen the text. Leaves the ends of its pieces, last first.
    fn least_lead(&mut self, text: &str) -> f64 {
        self.ends.clear();
        let mut least = f64::INFINITY;
        let mut end = text.len();
        while end > 0 {
            let Best { lead, start, .. } = self.best[end];
            least = least.min(lead);
            self.ends.push(end);
            end = start;
        }
        least
    }

    /// Finds the best path through a text; returns whether it is the best for every earlier sum.
    ///
    /// Before the sum is reset, a rounding changes it by at most [`ROUNDING`]. A path has at most one piece a
    /// character, so each of its sums is off by at most that many roundings, and so is the best sum of each
    /// place. On the best path, a last piece whose lead over all others is more than twice that wins in
    /// rounded sums as well.
    fn finds_winner(&mut self, text: &str) -> bool {
        let change = self.find_best(text.as_bytes());
        let roundings = 2.0 * text.chars().count() as f64 * ROUNDING;
        change <= MAX_CHANGE && self.least_lead(text) >= roundings + SLACK
    }

    /// Appends the tokens of the best path.
    fn push_path(&self, text: &str, ids: &mut Vec<u32>) {
        for &end in self.ends.iter().rev() {
            let Best { start, id, .. } = self.best[end];
            self.push(&text[start..end], (id != UNKNOWN).then_some(id), ids);
        }
    }

    /// Finds the best way to each place; says by how much sums change at most, rounded or not, on any
    /// way to any, the last piece of which starts where another way was the best.
    fn find_best(&mut self, text: &[u8]) -> f64 {
        let pieces = self.scores.pieces(self.model);
        let unknown = f64::from(self.scores.unknown());
        let best = &mut self.best;
        best.clear();
        best.resize(text.len() + 1, Best::UNREACHED);
        best[0].score = 0.0;
        let mut farthest = 0.0_f64;
        let mut start = 0;
        while start < text.len() {
            let character = text[start].leading_ones().max(1) as usize;
            let before = best[start].score;
            farthest = farthest.max(before.abs());
            let mut covered = false;
            pieces.prefixes(&text[start..], |length, id, score| {
                covered |= length == character;
                best[start + length].offer(before + f64::from(score), start, id);
            });
            if !covered {
                best[start + character].offer(before + unknown, start, UNKNOWN);
            }
            start += character;
        }
        farthest + self.scores.step() + text.len() as f64 * ROUNDING
    }

    fn push(&self, text: &str, id: Option<u32>, ids: &mut Vec<u32>) {
        match id {
            Some(id) => ids.push(id),
            None => push_unknown(self.model, text, ids),
        }
    }
}

impl Solver for Viterbi<'_> {
    #[inline(always)]
    fn may_recall(&self, sink: &mut BufferedSink<'_>) -> bool {
        self.scores.may_recall(self.sum.get(), sink.waiting()) || {
            sink.give();
            self.scores.may_recall(self.sum.get(), 0)
        }
    }

    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut BufferedSink<'_>) -> bool {
        let first = ids.len();
        // What is too long to be remembered is computed once.
        if text.len() < LONGEST && self.may_recall(sink) && self.finds_winner(text) {
            self.push_path(text, ids);
            sink.push_all(&ids[first..]);
            return true;
        }
        sink.give();
        let (path, sum) = (self.model).best_path_after(self.sum.get(), text, &mut ());
        for (range, id) in path {
            self.push(&text[range], id, ids);
        }
        sink.push_all(&ids[first..]);
        sink.give();
        self.sum.set(sum);
        false
    }

    fn may_remember(&self, ids: &[u32]) -> bool {
        self.scores.change_little(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
    };

    /// Whether the best segmentation of `text` is that from any sum, and by how much sums change.
    fn solved(ab: f32, text: &str) -> (bool, f64) {
        let pieces = vec![
            Piece::new("<unk>", 0.0, PieceKind::Unknown),
            Piece::new("a", -1.0, PieceKind::Normal),
            Piece::new("b", -1.0, PieceKind::Normal),
            Piece::new("ab", ab, PieceKind::Normal),
        ];
        let trainer = TrainerSpec {
            algorithm: Algorithm::Unigram,
            ..TrainerSpec::default()
        };
        let proto = ModelProto::new(pieces, trainer, NormalizerSpec::default());
        let model = SentencePiece::new(proto).unwrap();
        let scores = Scores::new(&model);
        let sum = Cell::new(0.0);
        let mut viterbi = Viterbi::new(&model, &scores, &sum);
        let change = viterbi.find_best(text.as_bytes());
        (viterbi.finds_winner(text), change)
    }

    fn wins_clearly(ab: f32, text: &str) -> bool {
        solved(ab, text).0
    }

    #[test]
    fn a_lead_of_all_roundings_wins_clearly() {
        let (clearly, change) = solved(-2.0, "ab");
        // The best way and one more piece, or an unknown character, which is worse by ten.
        assert!(!clearly && (13.0..13.1).contains(&change));
        assert!(wins_clearly(-2.0, "ba"));
        // Two characters: four times 1/256.
        assert!(!wins_clearly(-2.0 + 3.9 / 256.0, "ab"));
        assert!(wins_clearly(-2.0 + 4.1 / 256.0, "ab"));
        assert!(wins_clearly(-2.0 - 4.1 / 256.0, "ab"));
    }
}
