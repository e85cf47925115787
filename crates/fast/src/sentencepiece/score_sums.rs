//! The sum of scores that SentencePiece's Unigram keeps through a text, rounded as the model rounds it.
//!
//! Look here for [`Summing`], which counts all tokens of a text, and for how far from the model's new
//! beginnings a chunk may be taken from the cache.

use std::cell::Cell;

use crate::sink::Sink;
use jeton_models::model::SentencePiece;
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_stages::tables::double_array::DoubleArray;
use jeton_text::mem::lazy::Lazy;

/// Score past which the model begins its sums again at zero.
const REBASED: f64 = 100_000.0;
/// The maximum by which the sum may change within a part that is cached, and by the tokens of a chunk that is
/// cached as a whole.
pub const MAX_CHANGE: f64 = 300.0;
/// The most that one rounding changes a sum by before the sum is reset to zero: half the distance of two
/// 32-bit floats between 2^16 and 2^17.
pub const ROUNDING: f64 = 1.0 / 256.0;
/// Score that is more than all roundings within something remembered.
const ROUNDED: f64 = 10.0;
/// Cached results hold while the magnitude of the sum before them is at most this: before the last part of a
/// chunk that is remembered as a whole are its other tokens.
const MAX_SUM: f64 = REBASED - 2.0 * MAX_CHANGE - ROUNDED;

/// The scores of a Unigram model's pieces.
#[derive(Debug)]
pub struct Scores {
    /// What each id adds to the sum of a path.
    by_id: Vec<f32>,
    /// What an unknown character adds.
    unknown: f32,
    /// The most by which a token changes the sum.
    step: f64,
    /// The pieces; made when the first word is new.
    pieces: Lazy<DoubleArray>,
}

impl Scores {
    /// The scores of `model`.
    pub fn new(model: &SentencePiece) -> Self {
        let mut by_id = model.path_scores();
        let unknown = model.unk_score();
        // The bytes of a character add what it adds, the first of them all of it.
        for (byte, &id) in (0..=u8::MAX).zip(model.byte_ids().unwrap_or_default()) {
            by_id[id as usize] = match byte {
                0x80..=0xBF => 0.0,
                _ => unknown,
            };
        }
        let all = by_id.iter().chain([&unknown]);
        let greatest = all.fold(0.0, |most: f32, score| most.max(score.abs()));
        Self {
            step: f64::from(greatest) + ROUNDING,
            pieces: Lazy::new(),
            by_id,
            unknown,
        }
    }

    /// The pieces of `model`, whose scores these are, with what each adds to the sum of a path.
    pub fn pieces(&self, model: &SentencePiece) -> &DoubleArray {
        self.pieces.get(|| {
            let used = |id: u32| model.kind(id) != PieceKind::Unused;
            DoubleArray::new(model.trie(), |id| used(id).then(|| self.by_id[id as usize]))
        })
    }

    /// The most by which a token changes the sum.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Whether what is remembered holds after the sum `sum` and `tokens` more tokens.
    #[inline(always)]
    pub fn may_recall(&self, sum: f32, tokens: usize) -> bool {
        f64::from(sum.abs()) + tokens as f64 * self.step <= MAX_SUM
    }

    /// What an unknown character adds to the sum of a path.
    pub fn unknown(&self) -> f32 {
        self.unknown
    }

    /// Whether these tokens change the sum so little that they may be remembered together.
    pub fn change_little(&self, ids: &[u32]) -> bool {
        let changes = ids
            .iter()
            .map(|id| f64::from(self.of(*id).abs()) + ROUNDING);
        changes.sum::<f64>() <= MAX_CHANGE
    }

    fn of(&self, id: u32) -> f32 {
        self.by_id.get(id as usize).copied().unwrap_or(self.unknown)
    }
}

/// A sink that keeps the sum of the scores of all tokens so far.
pub struct Summing<'s> {
    scores: &'s Scores,
    sum: &'s Cell<f32>,
    sink: &'s mut dyn Sink,
}

impl<'s> Summing<'s> {
    /// Adds to `sum`, and passes tokens on to `sink`.
    pub fn new(scores: &'s Scores, sum: &'s Cell<f32>, sink: &'s mut dyn Sink) -> Self {
        Self { scores, sum, sink }
    }
}

impl Sink for Summing<'_> {
    fn push_all(&mut self, ids: &[u32]) {
        let scores = self.scores;
        let sum = (ids.iter()).fold(self.sum.get(), |sum, &id| sum + scores.of(id));
        self.sum.set(sum);
        self.sink.push_all(ids);
    }
}
