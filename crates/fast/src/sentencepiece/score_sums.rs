//! The sum of scores that SentencePiece's Unigram keeps through a text, rounded as the model rounds
//! it, and what can be remembered of a chunk although its tokens depend on the sum before it.
//!
//! Look here for [`Summing`], which counts all tokens of a text, and for [`Scores::binade`].

use super::unknown::UNKNOWN;
use crate::cache::group::GROUP;
use crate::cache::word_cache::{LONG_IDS, SOME};
use crate::sink::Sink;
use jeton_models::model::SentencePiece;
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_stages::tables::double_array::DoubleArray;
use jeton_text::mem::lazy::Lazy;

/// Score past which the model begins its sums again at zero.
const REBASED: f64 = 100_000.0;
/// The most by which the sum may change within a part that is cached for any place, and by the tokens of a
/// chunk that is cached as a whole.
pub const MAX_CHANGE: f64 = 300.0;
/// The same for the tokens of a chunk that is cached as a whole, outside of the entries: each of its many
/// characters may be unknown.
pub const MAX_LONG_CHANGE: f64 = 4_000.0;
/// The most that one rounding changes a sum by before the sum is reset to zero: half the distance of two
/// 32-bit floats between 2^16 and 2^17.
pub const ROUNDING: f64 = 1.0 / 256.0;
/// Score that is more than all roundings within something remembered.
const ROUNDED: f64 = 10.0;
/// The most tokens that wait before they are passed on together.
pub const WAITING_TOKENS: usize = 2048;
/// Tokens for which there is room once [`Summing::ready`] says so: those of a group in entries.
const AT_ONCE: usize = GROUP * LONG_IDS;

/// The scores of a Unigram model's pieces.
#[derive(Debug)]
pub struct Scores {
    /// What each id adds to the sum of a path.
    by_id: Vec<f32>,
    /// What an unknown character adds.
    unknown: f32,
    /// Whether one is above zero.
    rises: bool,
    /// Cached results hold while the magnitude of the sum before them is at most this.
    max_sum: f64,
    /// The same for results outside of the entries.
    max_long_sum: f64,
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
        let all = || by_id.iter().copied().chain([unknown]);
        let greatest = all()
            .map(|score| f64::from(score.abs()))
            .fold(0.0, f64::max);
        // Before the last part of a chunk that is remembered as a whole stand its other tokens.
        let limit = |change: f64| REBASED - change - MAX_CHANGE - ROUNDED;
        Self {
            rises: all().any(|score| score > 0.0),
            max_sum: limit(MAX_CHANGE),
            max_long_sum: limit(MAX_LONG_CHANGE),
            step: greatest + ROUNDING,
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

    /// What an unknown character adds to the sum of a path.
    pub fn unknown(&self) -> f32 {
        self.unknown
    }

    /// The number of the binade of a sum, which goes from 2^n up to twice that.
    ///
    /// The floats of a binade are the multiples of one unit. Adding a score to a multiple of it adds
    /// the score rounded to such a multiple, wherever in the binade that is, unless the score lies in
    /// the middle of two of them (see [`in_the_middle`]). So where all sums of the paths through a
    /// text stay in one binade, as [`Scores::stay`] says, the text has the same best path.
    #[inline]
    pub fn binade(sum: f32) -> Option<u8> {
        let sum = -f64::from(sum);
        (1.0..REBASED).contains(&sum).then(|| exponent(sum) as u8)
    }

    /// Whether sums stay in one binade if they change by at most `change` after the sum `before`.
    pub fn stay(&self, before: f32, change: f64) -> bool {
        let before = -f64::from(before);
        let least = if self.rises { before - change } else { before };
        let greatest = before + change;
        least >= 1.0 && greatest < REBASED && exponent(least) == exponent(greatest)
    }

    /// By how much these tokens change the sum at most on the way to their end.
    pub fn change(&self, ids: &[u32]) -> f64 {
        ids.iter()
            .map(|id| f64::from(self.of(*id).abs()) + ROUNDING)
            .sum()
    }

    fn of(&self, id: u32) -> f32 {
        self.by_id.get(id as usize).copied().unwrap_or(self.unknown)
    }
}

/// The exponent of a number of at least one.
pub fn exponent(number: f64) -> i32 {
    (number.to_bits() >> 52) as i32 - 1023
}

/// Whether a score lies in the middle of two multiples of a binade's unit, so that it depends on the
/// sum which of them it is rounded to.
pub fn in_the_middle(score: f32, binade: u8) -> bool {
    let units = f64::from(score) * f64::powi(2.0, 23 - i32::from(binade));
    units.fract().abs() == 0.5
}

/// A sink that keeps the sum of the scores so far. Tokens wait until there are many. Their scores are added
/// when the exact sum is needed, or when tokens are passed on and more may follow; a bound of the sum is
/// always known.
pub struct Summing<'s, S: Sink> {
    scores: &'s Scores,
    unk_id: Option<u32>,
    tokens: &'s mut [u32; WAITING_TOKENS],
    count: usize,
    /// How many of the tokens are in the sum.
    summed: usize,
    sum: f32,
    /// How often tokens were given away.
    gone: usize,
    after_unknown: bool,
    sink: &'s mut S,
}

/// A place among the tokens.
pub struct Mark {
    gone: usize,
    count: usize,
}

impl<'s, S: Sink> Summing<'s, S> {
    /// Gives what it is given to `sink`, and `unk_id` for unknown characters. When this is dropped,
    /// all that waits is given.
    pub fn new(
        scores: &'s Scores,
        unk_id: Option<u32>,
        room: &'s mut [u32; WAITING_TOKENS],
        sink: &'s mut S,
    ) -> Self {
        Self {
            scores,
            unk_id,
            tokens: room,
            count: 0,
            summed: 0,
            sum: 0.0,
            gone: 0,
            after_unknown: false,
            sink,
        }
    }

    /// The sum of the scores so far.
    pub fn sum(&mut self) -> f32 {
        let waiting = &self.tokens[self.summed..self.count];
        let scores = self.scores;
        let sum = waiting
            .iter()
            .fold(self.sum, |sum, &id| sum + scores.of(id));
        self.set(sum);
        sum
    }

    /// Sets the sum of the scores so far, where that of the tokens is not it.
    pub fn set(&mut self, sum: f32) {
        self.sum = sum;
        self.summed = self.count;
    }

    /// A bound of the magnitude of the sum after this many more tokens.
    #[inline(always)]
    fn bound_after(&self, tokens: usize) -> f64 {
        let unknown = self.count - self.summed + tokens;
        f64::from(self.sum.abs()) + unknown as f64 * self.scores.step
    }

    /// Whether the magnitude of the sum is at most `limit`.
    pub fn is_within(&mut self, limit: u32) -> bool {
        let limit = f64::from(limit);
        self.bound_after(0) <= limit || f64::from(self.sum().abs()) <= limit
    }

    /// Whether results that are remembered for any position are known to be true here.
    #[inline(always)]
    pub fn may_recall(&self) -> bool {
        self.bound_after(0) <= self.scores.max_sum
    }

    /// As [`Self::may_recall`], of what no entry holds.
    pub fn may_recall_long(&mut self) -> bool {
        let limit = self.scores.max_long_sum;
        self.bound_after(0) <= limit || f64::from(self.sum().abs()) <= limit
    }

    /// Makes room for the tokens of a group that lie in entries, and of one piece elsewhere; says
    /// whether what is remembered of its chunks wherever they are is true after any of them. If
    /// not, the sum is up to date.
    #[inline(always)]
    pub fn ready(&mut self) -> bool {
        if self.count + AT_ONCE + SOME > WAITING_TOKENS {
            self.sum();
            self.give();
        }
        self.bound_after(AT_ONCE) <= self.scores.max_sum || {
            self.sum();
            self.bound_after(AT_ONCE) <= self.scores.max_sum
        }
    }

    /// Index of the next token.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.count
    }

    /// Sets the index of the next token.
    #[inline(always)]
    pub fn set_end(&mut self, end: usize) {
        self.count = end;
    }

    /// Appends the first `count` of `ids` at `end`, where there is room, and returns the index after them.
    /// Copying all of `ids` is faster than copying some.
    #[inline(always)]
    pub fn few<const N: usize>(&mut self, end: usize, ids: &[u32; N], count: usize) -> usize {
        self.tokens[end..end + N].copy_from_slice(ids);
        end + count
    }

    /// The place that is reached.
    pub fn mark(&self) -> Mark {
        Mark {
            gone: self.gone,
            count: self.count,
        }
    }

    /// The tokens after a place, if none of them was given away.
    pub fn behind(&self, mark: &Mark) -> Option<&[u32]> {
        (mark.gone == self.gone).then(|| &self.tokens[mark.count..self.count])
    }

    fn give(&mut self) {
        let tokens = &mut self.tokens[..self.count];
        let mut given = tokens.len();
        if tokens.contains(&UNKNOWN) {
            given = 0;
            for i in 0..tokens.len() {
                let id = match tokens[i] {
                    UNKNOWN if self.after_unknown => None,
                    UNKNOWN => self.unk_id,
                    id => Some(id),
                };
                self.after_unknown = tokens[i] == UNKNOWN;
                if let Some(id) = id {
                    tokens[given] = id;
                    given += 1;
                }
            }
        } else if given > 0 {
            self.after_unknown = false;
        }
        self.sink.push_all(&tokens[..given]);
        (self.count, self.summed) = (0, 0);
        self.gone += 1;
    }
}

impl<S: Sink> Sink for Summing<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        for ids in ids.chunks(WAITING_TOKENS) {
            if self.count + ids.len() > WAITING_TOKENS {
                self.sum();
                self.give();
            }
            self.tokens[self.count..self.count + ids.len()].copy_from_slice(ids);
            self.count += ids.len();
        }
    }
}

impl<S: Sink> Drop for Summing<'_, S> {
    fn drop(&mut self) {
        self.give();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, TrainerSpec,
    };

    fn scores(a: f32) -> Scores {
        let pieces = vec![
            Piece::new("<unk>", 0.0, PieceKind::Unknown),
            Piece::new("a", a, PieceKind::Normal),
        ];
        let trainer = TrainerSpec {
            algorithm: Algorithm::Unigram,
            ..TrainerSpec::default()
        };
        let proto = ModelProto::new(pieces, trainer, NormalizerSpec::default());
        Scores::new(&SentencePiece::new(proto).unwrap())
    }

    #[test]
    fn worked_example() {
        // Between 65,536 and 131,072 floats are multiples of 1/128.
        assert_eq!(-70_000.0_f32 - 1.3 / 128.0, -70_000.0 - 1.0 / 128.0);
        assert!(!in_the_middle(-1.3 / 128.0, 16));
        // In the middle of two, the even multiple is taken, which one that is depends on the sum.
        assert_eq!(-70_000.0_f32 - 1.5 / 128.0, -70_000.0 - 2.0 / 128.0);
        let odd = -70_000.0_f32 - 1.0 / 128.0;
        assert_eq!(odd - 1.5 / 128.0, odd - 1.0 / 128.0);
        assert!(in_the_middle(-1.5 / 128.0, 16) && !in_the_middle(-1.5 / 128.0, 15));
    }

    #[test]
    fn binades_that_sums_stay_in() {
        assert_eq!(Scores::binade(-64.0), Some(6));
        assert_eq!(Scores::binade(-127.99), Some(6));
        assert_eq!(Scores::binade(-99_999.0), Some(16));
        for sum in [-100_000.0, -0.99, 0.0, 64.0] {
            assert_eq!(Scores::binade(sum), None);
        }
        let falling = scores(-1.0);
        assert!(falling.stay(-64.0, 63.9) && !falling.stay(-64.0, 64.0));
        assert!(falling.stay(-99_000.0, 999.0) && !falling.stay(-99_000.0, 1_000.0));
        let rising = scores(1.0);
        assert!(rising.stay(-80.0, 16.0) && !rising.stay(-80.0, 16.1));
    }

    #[test]
    fn long_chunks_are_recalled_while_none_of_their_sums_begins_anew() {
        let scores = scores(-1_000.0);
        let (mut room, mut ids) = ([0; WAITING_TOKENS], Vec::new());
        let mut summing = Summing::new(&scores, Some(0), &mut room, &mut ids);
        summing.push_all(&[1; 95]);
        assert!(summing.may_recall_long());
        summing.push_all(&[1]);
        assert!(!summing.may_recall_long() && summing.may_recall());
    }

    #[test]
    fn sums_are_those_of_the_tokens_one_by_one() {
        let scores = scores(-0.1);
        let (mut room, mut ids) = ([0; WAITING_TOKENS], Vec::new());
        let mut summing = Summing::new(&scores, Some(0), &mut room, &mut ids);
        let mut sum = 0.0_f32;
        for round in 0..700 {
            let more = [1, UNKNOWN, UNKNOWN, 1];
            assert!(summing.ready());
            let end = summing.few(summing.end(), &more, round % 5);
            summing.set_end(end);
            let mark = summing.mark();
            summing.push_all(&more[..round % 3]);
            for id in more[..round % 5].iter().chain(&more[..round % 3]) {
                sum += if *id == 1 { -0.1 } else { scores.unknown };
            }
            if let Some(behind) = summing.behind(&mark) {
                assert_eq!(*behind, more[..round % 3]);
            }
            assert!(f64::from(sum.abs()) <= summing.bound_after(0));
            if round % 7 == 0 {
                assert_eq!(summing.sum(), sum);
            }
        }
        assert_eq!(summing.sum(), sum);
        drop(summing);
        let unknown = ids.windows(2).filter(|pair| *pair == [0, 0]).count();
        assert_eq!(unknown, 0);
    }
}
