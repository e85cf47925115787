//! SentencePiece's Unigram on a chunk, so that the result is that of the whole text to the last bit.
//!
//! Sums of scores are rounded to 32 bits from the front of the text, so which of two nearly equal
//! segmentations of a chunk wins depends on the sum before it. What is remembered of a chunk is
//! what wins whatever the sum, which [`Viterbi::clear_winner`] proves by its lead. What wins only
//! where the sum has some magnitude is remembered together with that (see [`Scores::binade`]).

use super::sentencepiece::Solver;
use super::sink::Sink;
use super::sums::{MOST_CHANGE, ROUNDING, Scores, Summing, in_the_middle};
use super::unknown::UNKNOWN;
use super::words::WordCache;
use crate::model::SentencePiece;

/// More than 64-bit sums of chunks can be wrong by.
const SLACK: f64 = 1e-6;
/// No byte that UTF-8 begins with: before the key of text whose sum has some magnitude.
const BINADES: u8 = 0x80;

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
    /// Room for keys.
    key: Vec<u8>,
}

impl<'m> Viterbi<'m> {
    /// Segments as `model` does.
    pub fn new(model: &'m SentencePiece, scores: &'m Scores) -> Self {
        Self {
            model,
            scores,
            key: Vec::new(),
        }
    }

    /// Appends the tokens of the best segmentation, if it is the best whatever the sum before it,
    /// as long as sums are not made zero.
    ///
    /// A path has at most one piece a character, so each of its sums is off by at most that many
    /// roundings, and so is the best sum of each place. On the best path, a last piece whose lead
    /// over all others is more than twice that wins in rounded sums as well.
    fn clear_winner(&self, text: &str, ids: &mut Vec<u32>) -> bool {
        let characters = text.chars().count();
        if self.scores.change(characters) > MOST_CHANGE {
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
                offer(character.len_utf8(), self.scores.unknown(), UNKNOWN);
            }
        }
        let needed = 2.0 * characters as f64 * ROUNDING + SLACK;
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

    /// Whether `text` has the same best path wherever in a binade its sums are.
    fn same_in(&self, binade: u8, text: &str) -> bool {
        let pieces = text
            .char_indices()
            .flat_map(|(start, _)| self.model.pieces_at(&text[start..]));
        let mut scores = pieces
            .map(|(_, _, score)| score)
            .chain([self.scores.unknown()]);
        !scores.any(|score| in_the_middle(score, binade))
    }

    fn push(&self, text: &str, id: Option<u32>, ids: &mut Vec<u32>) {
        match (id, self.model.byte_ids()) {
            (Some(id), _) => ids.push(id),
            (None, None) => ids.push(UNKNOWN),
            (None, Some(bytes)) => {
                ids.extend(text.bytes().map(|byte| bytes[usize::from(byte)]));
            }
        }
    }
}

impl<S: Sink> Solver<Summing<'_, S>> for Viterbi<'_> {
    #[inline(always)]
    fn may_recall(&self, sink: &Summing<'_, S>) -> bool {
        sink.may_recall()
    }

    fn solve(
        &mut self,
        text: &str,
        words: &mut WordCache,
        ids: &mut Vec<u32>,
        sink: &mut Summing<'_, S>,
    ) -> bool {
        let first = ids.len();
        let before = sink.sum();
        let binade = self.scores.binade(before, text.chars().count());
        if let Some(binade) = binade {
            self.key.clear();
            self.key.push(BINADES + binade);
            self.key.extend_from_slice(text.as_bytes());
            if words.emit(&self.key, ids) {
                sink.push_all(&ids[first..]);
                return false;
            }
        }
        if sink.may_recall() && self.clear_winner(text, ids) {
            sink.push_all(&ids[first..]);
            return true;
        }
        let (path, sum) = self.model.best_path_after(before, text);
        for (range, id) in path {
            self.push(&text[range], id, ids);
        }
        sink.push_all(&ids[first..]);
        sink.set(sum);
        if binade.is_some_and(|binade| self.same_in(binade, text)) {
            words.insert(&self.key, &ids[first..]);
        }
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
