//! SentencePiece's BPE on new text: the same merges as the model's, by the tables of pairs that any BPE has.
//!
//! A `.model` lists no pairs: any two neighbours merge whose joined spelling is a piece. [`PieceMerger`] lists
//! them once, by splitting each piece in two wherever both sides can be symbols, and ranks them by the score
//! of the piece. Pieces of one score share a rank, so that the leftmost of them is merged first.

use std::cmp::Reverse;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::chunks::Solver;
use super::unknown::UNKNOWN;
use crate::cache::buffered_sink::BufferedSink;
use crate::fallback::bpe_merger::merge_from;
use crate::fallback::initial_symbols::InitialSymbols;
use crate::sink::Sink;
use jeton_models::merge::pairs::NO_ID;
use jeton_models::merge::{Pairs, ShortWord};
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_models::model::{Sampler, Sampling, SentencePiece};

/// Bytes of the longest piece that is split in two at all its places.
const MAX_PIECE: usize = 512;
/// Pairs per piece, at most, besides those that any model may have. Those of Llama 2 have two.
const MAX_PAIRS: usize = 16;
const ANY_PAIRS: usize = 1 << 14;

/// The merges of a SentencePiece BPE that has no unused pieces.
pub struct PieceMerger {
    initial: InitialSymbols,
    pairs: Pairs,
}

impl PieceMerger {
    /// The merges of `model`, if there are not too many, and each character of a piece is one itself.
    pub fn new(model: &SentencePiece) -> Option<Self> {
        let pieces = &model.proto().pieces;
        let count = u32::try_from(pieces.len()).ok()?;
        let text = |id: u32| pieces.get(id).map_or("", |piece| piece.text);
        // Text that holds user-defined pieces is split at these.
        let is_normal = |id: &u32| model.kind(*id) == PieceKind::Normal;
        let mut by_score: Vec<u32> = (0..count).filter(is_normal).collect();
        by_score.sort_by_key(|&id| Reverse(Score(model.score(id))));
        let mut characters = HashMap::with_hasher(RandomState::default());
        for &id in &by_score {
            if let Some(only) = only_character(text(id)) {
                characters.insert(only, id);
            }
        }
        let symbol = |part: &str| match only_character(part) {
            Some(only) => characters.get(&only).copied(),
            None => model.piece_id(part).filter(is_normal),
        };
        let max_pairs = ANY_PAIRS + MAX_PAIRS * pieces.len();
        let (mut merges, mut rank, mut last) = (Vec::new(), 0, None);
        for &id in &by_score {
            let (piece, score) = (text(id), model.score(id));
            rank += u32::from(last.replace(score).is_some_and(|last| last != score));
            let is_spelled = piece.chars().all(|it| characters.contains_key(&it));
            if !is_spelled || piece.len() > MAX_PIECE || merges.len() > max_pairs {
                return None;
            }
            for (at, _) in piece.char_indices().skip(1) {
                let (left, right) = piece.split_at(at);
                // Fewer ends of pieces are pieces than beginnings.
                if let Some(right) = symbol(right)
                    && let Some(left) = symbol(left)
                {
                    merges.push(((left, right), rank, id));
                }
            }
        }
        Some(Self {
            initial: InitialSymbols::of_pieces(characters.into_iter(), model.byte_ids()),
            pairs: Pairs::new(&merges, count)?,
        })
    }

    /// Appends the tokens of text without user-defined pieces, of fewer than 2³² bytes.
    fn merge(&self, text: &str, work: &mut ShortWord, ids: &mut Vec<u32>) {
        let first = ids.len();
        self.initial.begin(text.as_bytes(), ids);
        merge_from(first, &self.pairs, work, ids);
        let unknown = ids[first..].iter_mut().filter(|id| **id == NO_ID);
        unknown.for_each(|id| *id = UNKNOWN);
    }
}

/// A score, which is finite: the reader refuses others.
#[derive(PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.partial_cmp(&other.0).expect("scores are finite")
    }
}

fn only_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Appends the tokens of text that is no piece.
pub fn push_unknown(model: &SentencePiece, text: &str, ids: &mut Vec<u32>) {
    match model.byte_ids() {
        None => ids.push(UNKNOWN),
        Some(bytes) => ids.extend(text.bytes().map(|byte| bytes[usize::from(byte)])),
    }
}

/// A SentencePiece BPE at work.
pub struct Merging<'m> {
    pub model: &'m SentencePiece,
    /// None if the model has too many pieces.
    pub merger: Option<&'m PieceMerger>,
    pub work: &'m mut ShortWord,
}

impl Merging<'_> {
    fn push(&mut self, text: &str, ids: &mut Vec<u32>) {
        let Some(merger) = self.merger.filter(|_| u32::try_from(text.len()).is_ok()) else {
            let mut sampler = Sampler::new(Sampling::default());
            for (range, id) in self.model.merge(text, &mut sampler, &mut ()) {
                match id {
                    None => push_unknown(self.model, &text[range], ids),
                    Some(id) => ids.push(id),
                }
            }
            return;
        };
        let mut start = 0;
        if self.model.holds_user_defined(text) {
            // They merge with nothing, so what lies between them is merged separately.
            for (piece, _) in self.model.symbols(text).filter(|&(_, it)| it) {
                merger.merge(&text[start..piece.start], self.work, ids);
                start = piece.end;
                ids.extend(self.model.piece_id(&text[piece]));
            }
        }
        merger.merge(&text[start..], self.work, ids);
    }
}

impl Solver for Merging<'_> {
    #[inline(always)]
    fn may_recall(&self, _: &mut BufferedSink<'_>) -> bool {
        true
    }

    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut BufferedSink<'_>) -> bool {
        let first = ids.len();
        self.push(text, ids);
        sink.push_all(&ids[first..]);
        true
    }

    fn may_remember(&self, _: &[u32]) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use jeton_models::merge::SCANNED;
    use jeton_models::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, TrainerSpec,
    };

    fn model(pieces: Vec<Piece>) -> SentencePiece {
        let trainer = TrainerSpec {
            algorithm: Algorithm::Bpe,
            ..TrainerSpec::default()
        };
        let unknown = Piece::new("<unk>", 0.0, PieceKind::Unknown);
        let pieces = std::iter::once(unknown).chain(pieces);
        let proto = ModelProto::new(pieces, trainer, NormalizerSpec::default());
        SentencePiece::new(proto).unwrap()
    }

    /// The tokens of a text, held equal to those that the model makes.
    fn check(model: &SentencePiece, merger: &PieceMerger, text: &str) -> Vec<u32> {
        let by = |merger| {
            let mut ids = Vec::new();
            let mut work = ShortWord::NEW;
            let mut merging = Merging {
                model,
                merger,
                work: &mut work,
            };
            merging.push(text, &mut ids);
            ids
        };
        let ids = by(Some(merger));
        assert_eq!(ids, by(None), "{text:?}");
        ids
    }

    #[test]
    fn pairs_of_any_score_merge_and_unknown_characters_stay() {
        let letters = [("a", -9.0), ("b", -9.0), ("c", -9.0), ("▁", -9.0)];
        let made = [("bc", -1.0), ("ab", -2.0), ("abc", -3.0), ("▁ab", -4.0)];
        let pieces = (letters.into_iter().chain(made))
            .map(|(text, score)| Piece::new(text, score, PieceKind::Normal));
        let model = model(pieces.collect());
        let merger = PieceMerger::new(&model).unwrap();
        for (text, expected) in [
            ("abc", &[7][..]),
            ("abbc", &[6, 5]),
            ("▁abc", &[4, 7]),
            ("▁ab", &[8]),
            ("é▁é", &[UNKNOWN, 4, UNKNOWN]),
        ] {
            assert_eq!(check(&model, &merger, text), expected, "{text:?}");
        }
    }

    #[test]
    fn models_with_very_many_pairs_are_left_to_the_model() {
        let mut pieces: Vec<String> = ["a", "b"].map(str::to_owned).into();
        for length in 2..=15 {
            for bits in 0..1 << length {
                let letter = |at| if bits >> at & 1 == 0 { 'a' } else { 'b' };
                pieces.push((0..length).map(letter).collect());
            }
        }
        pieces.push("ab".repeat(MAX_PIECE));
        let normal = |text: &String| Piece::new(text, -1.0, PieceKind::Normal);
        assert!(PieceMerger::new(&model(pieces.iter().map(normal).collect())).is_none());
        pieces.pop();
        let pieces: Vec<Piece> = pieces.iter().map(normal).collect();
        assert!(PieceMerger::new(&model(pieces)).is_some());
    }

    const LETTERS: [&str; 7] = ["▁", "a", "b", "c", "é", "中", "🙂"];

    /// Some of the letters and pieces made of earlier ones, of which some are long; and a model in
    /// which not each letter is a piece, and which has user-defined pieces if it shall.
    fn random_model(
        numbers: &mut ChaCha8Rng,
        round: usize,
        user_defined: bool,
    ) -> (Vec<String>, SentencePiece) {
        let few = numbers.random_range(2..=LETTERS.len());
        let mut spellings: Vec<String> = LETTERS[..few].iter().map(|&it| it.into()).collect();
        for _ in 0..numbers.random_range(5..60) {
            let mut part = || &spellings[numbers.random_range(0..spellings.len())];
            let whole = [part().as_str(), part()].concat();
            if whole.len() <= 60 && !spellings.contains(&whole) {
                spellings.push(whole);
            }
        }
        let coarse = round.is_multiple_of(3);
        let pieces = (spellings[usize::from(round.is_multiple_of(2))..].iter())
            .enumerate()
            .map(|(i, text)| {
                let score = if coarse {
                    -(numbers.random_range(0..4) as f32)
                } else {
                    -(i as f32) - 8.0 * numbers.random::<f32>()
                };
                let kind = if user_defined && !text.contains('▁') && numbers.random_bool(0.1) {
                    PieceKind::UserDefined
                } else {
                    PieceKind::Normal
                };
                Piece::new(text, score, kind)
            })
            .collect();
        let model = model(pieces);
        (spellings, model)
    }

    /// Text of up to `most` bytes, made of these spellings and of letters.
    fn random_text(numbers: &mut ChaCha8Rng, spellings: &[String], most: usize) -> String {
        let mut text = String::new();
        loop {
            let part = if numbers.random_bool(0.5) {
                LETTERS[numbers.random_range(0..LETTERS.len())]
            } else {
                &spellings[numbers.random_range(0..spellings.len())]
            };
            if text.len() + part.len() > most {
                break;
            }
            text.push_str(part);
        }
        if text.is_empty() {
            text.push('x');
        }
        text
    }

    #[test]
    fn text_of_any_length_becomes_what_the_model_makes() {
        let mut numbers = ChaCha8Rng::seed_from_u64(37);
        let (mut longest, mut left_out) = (0, 0);
        for round in 0..200 {
            let (spellings, model) = random_model(&mut numbers, round, round % 4 == 1);
            let Some(merger) = PieceMerger::new(&model) else {
                // Some character of a piece is none itself, or is user-defined.
                left_out += 1;
                continue;
            };
            for _ in 0..100 {
                let most = numbers.random_range(1..=SCANNED + 40);
                let text = random_text(&mut numbers, &spellings, most);
                let ids = check(&model, &merger, &text);
                for id in ids.into_iter().filter(|&id| id != UNKNOWN) {
                    longest = longest.max(model.vocab().token(id).unwrap().len());
                }
            }
            for length in [4_000, 9_000] {
                let few = numbers.random_range(1..=spellings.len());
                let text = match round % 5 {
                    0 => LETTERS[round % LETTERS.len()].repeat(length),
                    _ => random_text(&mut numbers, &spellings[..few], length),
                };
                check(&model, &merger, &text);
            }
        }
        assert!(longest > 30 && left_out < 140, "{longest} {left_out}");
    }
}
