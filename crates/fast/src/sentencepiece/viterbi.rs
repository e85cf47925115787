//! SentencePiece's Unigram on a chunk, so that the result is that of the whole text to the last bit.
//!
//! Sums of scores are rounded to 32 bits from the front of the text, so which of two nearly equal
//! segmentations of a chunk wins depends on the sum before it. A chunk is remembered with the
//! result that wins for every sum, if its lead proves that (see [`Viterbi::least_lead`]). A result that wins
//! only up to some sum is remembered with that sum. If even this is not enough, the result is remembered for
//! sums of one magnitude (see [`Scores::binade`]), with how much sums change within the chunk.

use super::chunks::Solver;
use super::score_sums::{
    MAX_CHANGE, MAX_LONG_CHANGE, ROUNDING, Scores, Summing, exponent, in_the_middle,
};
use super::unknown::UNKNOWN;
use crate::cache::word_cache::{LONGEST, WordCache};
use crate::sink::Sink;
use jeton_models::model::SentencePiece;
use jeton_text::interrupt::Pace;
use jeton_text::mem::short_keys::LONG;

/// Score that is more than 64-bit sums of chunks can be wrong by.
const SLACK: f64 = 1e-6;
/// Byte that no UTF-8 begins with, before the key of text where the sum before it has some magnitude.
const BINADES: u8 = 0x80;
/// Exponent of the power of two that all sums of scores are below.
const MAX_EXPONENT: i32 = 17;

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
    /// What is remembered of text that has no clear winner: up to which sum which path wins, and after
    /// [`BINADES`] what wins where the sum has some magnitude.
    unclear: &'m mut WordCache,
    /// Room for keys, for what is found under them, for the best ways to all places, and for the
    /// ends of a path's pieces.
    key: Vec<u8>,
    found: Vec<u32>,
    best: Vec<Best>,
    ends: Vec<usize>,
}

impl<'m> Viterbi<'m> {
    /// Segments as `model` does.
    pub fn new(model: &'m SentencePiece, scores: &'m Scores, unclear: &'m mut WordCache) -> Self {
        Self {
            model,
            scores,
            unclear,
            key: Vec::new(),
            found: Vec::new(),
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

    /// Appends the tokens of the best path.
    fn push_path(&self, text: &str, ids: &mut Vec<u32>) {
        let mut pace = Pace::default();
        for &end in self.ends.iter().rev() {
            let Best { start, id, .. } = self.best[end];
            pace.step();
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
        let mut pace = Pace::default();
        while start < text.len() {
            pace.step();
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

    /// Whether these tokens, of a chunk of this many bytes, change the sum so little that they may be
    /// remembered together.
    pub fn changes_little(&self, ids: &[u32], length: usize) -> bool {
        let most = match length {
            ..=LONG => MAX_CHANGE,
            _ => MAX_LONG_CHANGE,
        };
        self.scores.change(ids) <= most
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

    /// Looks up the remembered tokens of `text`, which are the same at every place. Returns whether
    /// there are any.
    fn recall(&mut self, text: &str) -> bool {
        self.found.clear();
        self.unclear.emit(text.as_bytes(), &mut self.found)
    }

    /// The same where the sum before it has this magnitude.
    fn recall_in(&mut self, binade: u8, text: &str) -> bool {
        self.set_key(binade, text);
        self.found.clear();
        self.unclear.emit(&self.key, &mut self.found)
    }

    fn set_key(&mut self, binade: u8, text: &str) {
        self.key.clear();
        self.key.push(BINADES + binade);
        self.key.extend_from_slice(text.as_bytes());
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

    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut Summing<'_, S>) -> bool {
        let first = ids.len();
        // What is too long to be remembered is computed once.
        let short = text.len() < LONGEST;
        let mut known = false;
        if short {
            known = self.recall(text);
            if let [limit, found @ ..] = self.found.as_slice()
                && *limit > 0
                && sink.is_within(*limit)
            {
                ids.extend_from_slice(found);
                sink.push_all(found);
                return false;
            }
        }
        let mut binade = None;
        if known {
            binade = Scores::binade(sink.sum());
            if let Some(binade) = binade
                && self.recall_in(binade, text)
                && let [change, found @ ..] = self.found.as_slice()
                && self.scores.stay(sink.sum(), f64::from(*change))
            {
                ids.extend_from_slice(found);
                sink.push_all(found);
                return false;
            }
        }
        let mut change = f64::INFINITY;
        if short {
            change = self.find_best(text.as_bytes()).ceil();
            let lead = self.least_lead(text);
            let exponent = same_below(lead, text);
            let clear = exponent.is_some_and(|exponent| exponent >= MAX_EXPONENT);
            if clear && change <= MAX_CHANGE && sink.may_recall() {
                self.push_path(text, ids);
                sink.push_all(&ids[first..]);
                return true;
            }
            let limit = exponent.map_or(0.0, |exponent| {
                f64::powi(2.0, exponent.min(MAX_EXPONENT - 1)) - change
            });
            let limit = limit.max(0.0) as u32;
            let within = limit > 0 && sink.is_within(limit);
            if within || !known {
                self.found.clear();
                self.found.push(limit);
                if limit > 0 {
                    let mut path = std::mem::take(&mut self.found);
                    self.push_path(text, &mut path);
                    self.found = path;
                }
                self.unclear.insert(text.as_bytes(), &self.found);
            }
            if within {
                ids.extend_from_slice(&self.found[1..]);
                sink.push_all(&ids[first..]);
                return false;
            }
        }
        let before = sink.sum();
        if !known && short {
            binade = Scores::binade(before);
        }
        let (path, sum) = self.model.best_path_after(before, text, &mut ());
        for (range, id) in path {
            self.push(&text[range], id, ids);
        }
        sink.push_all(&ids[first..]);
        sink.set(sum);
        if let Some(binade) = binade
            && self.same_in(binade, text)
            && self.scores.stay(before, change)
        {
            self.found.clear();
            self.found.push(change as u32);
            self.found.extend_from_slice(&ids[first..]);
            self.set_key(binade, text);
            self.unclear.insert(&self.key, &self.found);
        }
        false
    }

    fn may_remember(&self, ids: &[u32]) -> bool {
        self.scores.change(ids) <= MAX_CHANGE
    }
}

/// The power of two below which all sums have to stay for a text with this least lead to have the
/// same best path whatever the sum before it.
///
/// Where sums are less than 2^n, rounding changes one by at most 2^(n - 25). A path has at most one
/// piece a character, so each of its sums is off by at most that many roundings, and so is the best
/// sum of each place. On the best path, a last piece whose lead over all others is more than twice
/// that wins in rounded sums as well.
fn same_below(lead: f64, text: &str) -> Option<i32> {
    let roundings = 2.0 * text.chars().count() as f64;
    let most = (lead - SLACK) / roundings * f64::powi(2.0, 25);
    (most >= 1.0).then(|| exponent(most).min(MAX_EXPONENT))
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
        let mut unclear = WordCache::new(1);
        let mut viterbi = Viterbi::new(&model, &scores, &mut unclear);
        let change = viterbi.find_best(text.as_bytes());
        let lead = viterbi.least_lead(text);
        (same_below(lead, text) == Some(MAX_EXPONENT), change)
    }

    fn wins_clearly(ab: f32, text: &str) -> bool {
        solved(ab, text).0
    }

    #[test]
    fn worked_example() {
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
