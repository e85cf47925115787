//! SentencePiece's Unigram on a chunk, so that the result is that of the whole text to the last bit.
//!
//! Sums of scores are rounded to 32 bits from the front of the text, so which of two nearly equal
//! segmentations of a chunk wins depends on the sum before it. What is remembered of a chunk is
//! what wins whatever the sum, which [`Viterbi::clear_winner`] proves by its lead; any other chunk is
//! computed again from the sum at its front, which [`Summing`] keeps.

use super::sentencepiece::Solver;
use super::sink::Sink;
use super::unknown::UNKNOWN;
use super::waiting::Few;
use super::words::SHORT_IDS;
use crate::model::SentencePiece;

/// Sums below this in magnitude are rounded by at most [`ROUNDING`], and never made zero again as
/// the model does with sums past 100,000.
const MOST_SUM: f32 = 91_000.0;
/// By how much the sum may change within a part of which something is remembered. A chunk that is
/// remembered as a whole has at most eight parts.
const MOST_CHANGE: f64 = 1_000.0;
/// Half the distance of two 32-bit floats between 2^16 and 2^17.
const ROUNDING: f64 = 1.0 / 256.0;
/// More than 64-bit sums of chunks can be wrong by.
const SLACK: f64 = 1e-6;

/// The scores of a Unigram model's pieces.
#[derive(Debug)]
pub struct Scores {
    /// What each id adds to the sum of a path.
    by_id: Vec<f32>,
    /// What an unknown character adds.
    unknown: f32,
    /// The greatest magnitude of all.
    greatest: f64,
    /// Whether the bytes of an unknown character are tokens.
    bytes: bool,
}

impl Scores {
    /// The scores of `model`.
    pub fn new(model: &SentencePiece) -> Self {
        let by_id = model.path_scores();
        let unknown = model.unk_score();
        let magnitudes = by_id
            .iter()
            .chain([&unknown])
            .map(|score| f64::from(score.abs()));
        Self {
            greatest: magnitudes.fold(0.0, f64::max),
            bytes: model.byte_ids().is_some(),
            by_id,
            unknown,
        }
    }
}

/// A sink that keeps the sum of the scores so far, rounded as the model rounds it.
pub struct Summing<'s, S> {
    scores: &'s Scores,
    unk_id: Option<u32>,
    sum: f32,
    after_unknown: bool,
    sink: &'s mut S,
}

impl<'s, S: Few> Summing<'s, S> {
    /// Gives what it is given to `sink`, and `unk_id` for unknown characters.
    pub fn new(scores: &'s Scores, unk_id: Option<u32>, sink: &'s mut S) -> Self {
        Self {
            scores,
            unk_id,
            sum: 0.0,
            after_unknown: false,
            sink,
        }
    }

    fn push(&mut self, id: u32) {
        if id != UNKNOWN {
            self.sum += self.scores.by_id[id as usize];
            self.sink.push_all(&[id]);
        } else {
            self.sum += self.scores.unknown;
            if !self.scores.bytes && !self.after_unknown {
                self.sink.push_all(self.unk_id.as_slice());
            }
        }
        self.after_unknown = id == UNKNOWN;
    }
}

impl<S: Few> Sink for Summing<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        if ids.contains(&UNKNOWN) {
            for &id in ids {
                self.push(id);
            }
            return;
        }
        for &id in ids {
            self.sum += self.scores.by_id[id as usize];
        }
        self.after_unknown = false;
        self.sink.push_all(ids);
    }
}

impl<S: Few> Few for Summing<'_, S> {
    #[inline(always)]
    fn push_few(&mut self, ids: &[u32; SHORT_IDS], count: usize) {
        if ids.contains(&UNKNOWN) {
            self.push_all(&ids[..count]);
            return;
        }
        for &id in &ids[..count] {
            self.sum += self.scores.by_id[id as usize];
        }
        self.after_unknown = false;
        self.sink.push_few(ids, count);
    }
}

/// The best way to reach a place in the text.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    /// By how much any other last piece is worse.
    lead: f64,
    start: usize,
    id: u32,
}

/// A Unigram model and its scores.
pub struct Viterbi<'m> {
    model: &'m SentencePiece,
    scores: &'m Scores,
}

impl<'m> Viterbi<'m> {
    /// Segments as `model` does.
    pub fn new(model: &'m SentencePiece, scores: &'m Scores) -> Self {
        Self { model, scores }
    }

    /// Appends the tokens of the best segmentation, if it is the best whatever the sum before it,
    /// as long as that is at most [`MOST_SUM`].
    ///
    /// A path has at most one piece a character, so each of its sums is off by at most that many
    /// roundings, and so is the best sum of each place. On the best path, a last piece whose lead
    /// over all others is more than twice that wins in rounded sums as well.
    fn clear_winner(&self, text: &str, ids: &mut Vec<u32>) -> bool {
        let characters = text.chars().count() as f64;
        if characters * self.scores.greatest > MOST_CHANGE {
            return false;
        }
        let unreached = Best {
            score: f64::NEG_INFINITY,
            lead: f64::INFINITY,
            start: 0,
            id: UNKNOWN,
        };
        let mut best = vec![unreached; text.len() + 1];
        best[0].score = 0.0;
        for (start, character) in text.char_indices() {
            let before = best[start].score;
            let mut covered = false;
            let mut offer = |length: usize, score: f32, id: u32| {
                let place = &mut best[start + length];
                let score = before + f64::from(score);
                if score > place.score {
                    let lead = score - place.score;
                    *place = Best {
                        score,
                        lead,
                        start,
                        id,
                    };
                } else {
                    place.lead = place.lead.min(place.score - score);
                }
            };
            for (id, length, score) in self.model.pieces_at(&text[start..]) {
                covered |= length == character.len_utf8();
                offer(length, score, id);
            }
            if !covered {
                offer(character.len_utf8(), self.scores.unknown, UNKNOWN);
            }
        }
        let needed = 2.0 * characters * ROUNDING + SLACK;
        let mut end = text.len();
        let mut path = Vec::new();
        while end > 0 {
            let Best {
                lead, start, id, ..
            } = best[end];
            if lead <= needed {
                return false;
            }
            path.push((start..end, (id != UNKNOWN).then_some(id)));
            end = start;
        }
        for (range, id) in path.into_iter().rev() {
            self.push(&text[range], id, ids);
        }
        true
    }

    fn push(&self, text: &str, id: Option<u32>, ids: &mut Vec<u32>) {
        ids.push(id.unwrap_or(UNKNOWN));
        if let (None, Some(bytes)) = (id, self.model.byte_ids()) {
            ids.extend(text.bytes().map(|byte| bytes[usize::from(byte)]));
        }
    }
}

impl<S: Few> Solver<Summing<'_, S>> for Viterbi<'_> {
    #[inline(always)]
    fn may_recall(&self, sink: &Summing<'_, S>) -> bool {
        sink.sum.abs() <= MOST_SUM
    }

    fn solve(&self, text: &str, ids: &mut Vec<u32>, sink: &mut Summing<'_, S>) -> bool {
        let first = ids.len();
        if sink.sum.abs() <= MOST_SUM && self.clear_winner(text, ids) {
            sink.push_all(&ids[first..]);
            return true;
        }
        let (path, sum) = self.model.best_path_after(sink.sum, text);
        for (range, id) in path {
            self.push(&text[range], id, ids);
        }
        sink.push_all(&ids[first..]);
        sink.sum = sum;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::sentencepiece::{
        Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
    };

    fn wins_clearly(ab: f32, text: &str) -> bool {
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
        Viterbi::new(&model, &scores).clear_winner(text, &mut Vec::new())
    }

    #[test]
    fn worked_example() {
        assert!(!wins_clearly(-2.0, "ab"));
        assert!(wins_clearly(-2.0, "ba"));
        // Two characters: four times 1/256.
        assert!(!wins_clearly(-2.0 + 3.9 / 256.0, "ab"));
        assert!(wins_clearly(-2.0 + 4.1 / 256.0, "ab"));
        assert!(wins_clearly(-2.0 - 4.1 / 256.0, "ab"));
        // Text of which the sum may change by too much.
        assert!(!wins_clearly(-1.5, &"ab".repeat(200)));
    }
}
