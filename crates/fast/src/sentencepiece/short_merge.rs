//! SentencePiece's BPE on new text: the same merges as the model's, without a heap, for many stretches of
//! text side by side.
//!
//! Look here for text of up to [`SCANNED`] bytes; longer text is merged in `long_merge`. `batch_merge`
//! collects new text.
//!
//! `jeton_models::merge` cannot do this. It looks up the rank of a pair of ids, and a SentencePiece model has
//! no list of pairs: any two neighbours merge whose joined spelling is a piece, which has to be looked up by
//! its bytes, and an unused piece merges and is split again. A list would have to be computed first: Llama 2's
//! 31,742 pieces can be split in two in 128,736 ways, of which 61,249 are pairs of pieces; today its first text
//! waits only 2 ms.

use super::chunks::Solver;
use super::long_merge;
use super::pieces::{MARK, NO_PIECE, PieceIndex, PrefetchedPair, SPACE};
use super::unknown::UNKNOWN;
use crate::sink::Sink;
use jeton_models::model::{Sampler, Sampling, SentencePiece};
use jeton_stages::tables::tag_table::NONE;
#[cfg(target_arch = "x86_64")]
use jeton_text::simd::Avx2;
use jeton_text::simd::{LANES, Lanes, Portable};
use jeton_text::text::replaced;

/// Bytes of the longest text that is scanned for the best pair.
const SCANNED: usize = 64;
/// A stretch of text while it is merged. A symbol's place is its first byte.
#[repr(align(64))]
pub struct MergeState {
    /// The rank of each symbol's merge with the next one, and what it makes.
    ranks: [u32; SCANNED],
    made: [u32; SCANNED],
    /// The piece that each symbol is.
    ids: [u32; SCANNED],
    /// The text, with spaces for `▁`, and room after it, so that it can be read in rows.
    text: [u8; SCANNED + 16],
    length: usize,
    /// The places of symbols that are not part of another one yet.
    alive: u64,
    /// Where the last merge was and where its left neighbour stands; both with what follows them.
    at: usize,
    left_at: usize,
    right: PrefetchedPair,
    left: PrefetchedPair,
}

impl Default for MergeState {
    fn default() -> Self {
        Self {
            text: [0; SCANNED + 16],
            length: 0,
            alive: 0,
            ranks: [NONE; SCANNED],
            made: [NO_PIECE; SCANNED],
            ids: [NO_PIECE; SCANNED],
            at: 0,
            left_at: 0,
            right: PrefetchedPair::default(),
            left: PrefetchedPair::default(),
        }
    }
}

impl MergeState {
    /// The lowest rank, and the first place where it is.
    #[inline(always)]
    fn lowest(&self, lanes: impl Lanes) -> (u32, usize) {
        let (chunks, _) = self.ranks.as_chunks();
        let (mut lowest, mut at) = lanes.lowest(&chunks[0]);
        let more = self.length.div_ceil(LANES).clamp(1, SCANNED / LANES);
        for (chunk, start) in chunks[1..more].iter().zip((LANES..).step_by(LANES)) {
            let (rank, place) = lanes.lowest(chunk);
            if rank < lowest {
                (lowest, at) = (rank, start + place);
            }
        }
        (lowest, at)
    }

    /// Where the first of these symbols begins; the end of the text if there is none.
    #[inline(always)]
    fn first(&self, symbols: u64) -> usize {
        (symbols.trailing_zeros() as usize).min(self.length)
    }

    /// Where the symbol of this place ends.
    #[inline(always)]
    fn end(&self, at: usize) -> usize {
        self.first(self.alive & (!1 << at))
    }
}

/// A SentencePiece BPE that has no unused pieces.
#[derive(Clone, Copy)]
pub struct Merging<'m> {
    pub model: &'m SentencePiece,
    /// None if the model has too many pieces.
    pub index: Option<&'m PieceIndex>,
}

impl Merging<'_> {
    /// Whether [`Self::merge_together`] takes such text.
    pub fn takes(&self, text: &str) -> bool {
        (1..=SCANNED).contains(&text.len())
            && self.index.is_some()
            && !self.model.holds_user_defined(text)
    }

    /// Merges stretches of text, in which spaces are written for `▁`, side by side, so that their memory is
    /// fetched at the same time.
    pub fn merge_together(&self, texts: &[&[u8]], works: &mut [MergeState]) {
        let Some(index) = self.index else { return };
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = Avx2::detected() {
            // SAFETY: the processor has the features that the function is compiled for.
            unsafe { index.merge_together_avx2(lanes, texts, works) };
            return;
        }
        index.merge_together_by(Portable, texts, works);
    }

    /// Appends the tokens of a stretch of text that was merged.
    pub fn tokens(&self, work: &MergeState, ids: &mut Vec<u32>) {
        let mut alive = work.alive;
        while alive != 0 {
            let at = alive.trailing_zeros() as usize;
            alive &= alive - 1;
            match work.ids[at] {
                NO_PIECE => self.unknown(&work.text[at..work.end(at)], ids),
                id => ids.push(id),
            }
        }
    }

    #[cold]
    fn unknown(&self, text: &[u8], ids: &mut Vec<u32>) {
        let text = if text == SPACE.as_bytes() {
            MARK.as_bytes()
        } else {
            text
        };
        match self.model.byte_ids() {
            None => ids.push(UNKNOWN),
            Some(bytes) => ids.extend(text.iter().map(|&byte| bytes[usize::from(byte)])),
        }
    }

    /// Appends the tokens of text of any length, in which spaces are written for `▁`.
    fn merge_all(&self, index: &PieceIndex, text: &str, ids: &mut Vec<u32>) {
        let mut start = 0;
        if self.model.holds_user_defined(text) {
            // They merge with nothing, so what lies between them is merged separately.
            for (piece, _) in self.model.symbols(text).filter(|&(_, it)| it) {
                self.merge_between(index, &text[start..piece.start], ids);
                start = piece.end;
                ids.extend(self.model.piece_id(&text[piece]));
            }
        }
        self.merge_between(index, &text[start..], ids);
    }

    /// As [`Self::merge_all`], of text without user-defined pieces.
    fn merge_between(&self, index: &PieceIndex, text: &str, ids: &mut Vec<u32>) {
        if text.len() > SCANNED {
            return long_merge::merge(index, text.as_bytes(), |range, id| match id {
                NO_PIECE => self.unknown(&text.as_bytes()[range], ids),
                id => ids.push(id),
            });
        }
        if !text.is_empty() {
            let mut work = [MergeState::default()];
            self.merge_together(&[text.as_bytes()], &mut work);
            self.tokens(&work[0], ids);
        }
    }

    /// Appends the tokens of normalized text, as the model merges it.
    fn merge_by_model(&self, text: &str, ids: &mut Vec<u32>) {
        let mut sampler = Sampler::new(Sampling::default());
        for (range, id) in self.model.merge(text, &mut sampler, &mut ()) {
            match id {
                None => self.unknown(text[range].as_bytes(), ids),
                Some(id) => ids.push(id),
            }
        }
    }
}

impl<S: Sink> Solver<S> for Merging<'_> {
    #[inline(always)]
    fn may_recall(&self, _: &S) -> bool {
        true
    }

    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut S) -> bool {
        let first = ids.len();
        match self.index {
            // Places take 32 bits.
            Some(index) if text.len() <= u32::MAX as usize => {
                self.merge_all(index, &replaced(text, MARK, SPACE, text.len()), ids);
            }
            _ => self.merge_by_model(text, ids),
        }
        sink.push_all(&ids[first..]);
        true
    }
}

impl PieceIndex {
    /// The same code, for processors that compare eight ranks at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_together_avx2(&self, lanes: Avx2, texts: &[&[u8]], works: &mut [MergeState]) {
        self.merge_together_by(lanes, texts, works);
    }

    #[inline(always)]
    fn merge_together_by(&self, lanes: impl Lanes, texts: &[&[u8]], works: &mut [MergeState]) {
        let mut active = 0u64;
        for (i, (text, work)) in texts.iter().zip(works.iter_mut()).enumerate() {
            self.begin(text, work);
            active |= 1 << i;
        }
        while active != 0 {
            let mut rest = active;
            while rest != 0 {
                let i = rest.trailing_zeros() as usize;
                if !self.step(lanes, &mut works[i]) {
                    active &= !(1 << i);
                }
                rest &= rest - 1;
            }
            let mut rest = active;
            while rest != 0 {
                self.refresh(&mut works[rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
    }

    /// Sets out the characters of a stretch of text and the ranks of their pairs.
    #[inline(always)]
    fn begin(&self, text: &[u8], work: &mut MergeState) {
        let length = text.len();
        work.text[..length].copy_from_slice(text);
        work.length = length;
        for ranks in work
            .ranks
            .as_chunks_mut::<LANES>()
            .0
            .iter_mut()
            .take(length.div_ceil(LANES))
        {
            *ranks = [NONE; LANES];
        }
        let mut pair = |at: usize, (id, rank): (u32, u32)| {
            (work.made[at], work.ranks[at]) = (id, rank);
        };
        if text.is_ascii() {
            for (id, &byte) in work.ids.iter_mut().zip(text) {
                *id = self.ascii(byte);
            }
            for (at, both) in text.windows(2).enumerate() {
                pair(at, self.ascii_pair(both[0], both[1]));
            }
            work.alive = !0 >> (SCANNED - length);
            return;
        }
        let (mut alive, mut before, mut at) = (0, 0, 0);
        while at < length {
            let (id, bytes) = self.character(&work.text, at);
            work.ids[at] = id;
            alive |= 1 << at;
            let end = at + bytes;
            match end - before {
                2 if at > 0 => pair(before, self.ascii_pair(text[before], text[at])),
                _ if at > 0 => {
                    let asked = self.ask(&work.text, before, end);
                    pair(before, self.answer(&work.text, &asked));
                }
                _ => {}
            }
            (before, at) = (at, end);
        }
        work.alive = alive;
    }

    /// Merges the best pair, and asks for what [`Self::refresh`] will look at; or says that no pair
    /// makes a piece.
    #[inline(always)]
    fn step(&self, lanes: impl Lanes, work: &mut MergeState) -> bool {
        let (rank, at) = work.lowest(lanes);
        if rank == NONE {
            return false;
        }
        let at = at % SCANNED;
        work.at = at;
        work.ids[at] = work.made[at];
        let right = work.end(at) % SCANNED;
        work.alive &= !(1 << right);
        work.ranks[right] = NONE;
        // A symbol without a neighbour asks for nothing at all: what is last or first in a short
        // word is no guess that a processor often gets right.
        let after = work.alive & (!1 << at);
        let end = work.first(after);
        let end_after = work.first(after & after.wrapping_sub(1));
        work.right = self.ask(&work.text, at, if after == 0 { at } else { end_after });
        let before = work.alive & !(!0 << at);
        // The last place's rank is always NONE.
        let left_at = (SCANNED - 1).wrapping_sub(before.leading_zeros() as usize) % SCANNED;
        work.left_at = left_at;
        work.left = self.ask(&work.text, left_at, if before == 0 { left_at } else { end });
        true
    }

    /// Looks up the two pieces that the last merge may go on to.
    #[inline(always)]
    fn refresh(&self, work: &mut MergeState) {
        let (at, left_at) = (work.at % SCANNED, work.left_at % SCANNED);
        let (id, rank) = self.answer(&work.text, &work.right);
        let (left_id, left_rank) = self.answer(&work.text, &work.left);
        (work.made[at], work.ranks[at]) = (id, rank);
        (work.made[left_at], work.ranks[left_at]) = (left_id, left_rank);
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::cache::pending::MAX_NEW;
    use jeton_models::merge::queue::HEAPED;
    use jeton_models::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
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

    /// The tokens of texts merged together, each held equal to those that the model makes.
    fn check(model: &SentencePiece, texts: &[&str]) -> Vec<Vec<u32>> {
        let index = PieceIndex::new(model);
        let merging = Merging {
            model,
            index: index.as_ref(),
        };
        let mut works: Vec<MergeState> = (0..MAX_NEW).map(|_| MergeState::default()).collect();
        let mut all = Vec::new();
        for texts in texts.chunks(MAX_NEW) {
            assert!(texts.iter().all(|text| merging.takes(text)));
            let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
            merging.merge_together(&bytes, &mut works);
            for (text, work) in texts.iter().zip(&works) {
                let (mut ids, mut expected) = (Vec::new(), Vec::new());
                merging.tokens(work, &mut ids);
                merging.merge_by_model(&text.replace(SPACE, MARK), &mut expected);
                assert_eq!(ids, expected, "{text:?}");
                all.push(ids);
            }
        }
        all
    }

    #[test]
    fn worked_example() {
        let letters = [("a", -9.0), ("b", -9.0), ("c", -9.0)];
        let made = [("bc", -1.0), ("ab", -2.0), ("abc", -3.0), ("▁ab", -4.0)];
        let pieces = (letters.into_iter().chain(made))
            .map(|(text, score)| Piece::new(text, score, PieceKind::Normal));
        let model = model(pieces.collect());
        let tokens = check(&model, &["abc", "abbc", " abc", "é", " "]);
        assert_eq!(tokens[0], [6]);
        assert_eq!(tokens[1], [5, 4]);
        assert_eq!(tokens[2], [UNKNOWN, 6]);
        assert_eq!(tokens[3..], [[UNKNOWN], [UNKNOWN]]);
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
                let kind = if user_defined && !text.contains(MARK) && numbers.random_bool(0.1) {
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
            let part = part.replace(MARK, SPACE);
            if text.len() + part.len() > most {
                break;
            }
            text.push_str(&part);
        }
        if text.is_empty() {
            text.push('x');
        }
        text
    }

    #[test]
    fn merging_together_makes_what_the_model_makes() {
        let mut numbers = ChaCha8Rng::seed_from_u64(31);
        let mut longest = 0;
        for round in 0..60 {
            let (spellings, model) = random_model(&mut numbers, round, false);
            let texts: Vec<String> = (0..200)
                .map(|_| {
                    let most = numbers.random_range(1..=SCANNED);
                    random_text(&mut numbers, &spellings, most)
                })
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let ids = check(&model, &texts).concat();
            let made = ids.into_iter().filter(|&id| id != UNKNOWN);
            longest = made.fold(longest, |longest, id| {
                longest.max(model.vocab().token(id).unwrap().len())
            });
        }
        assert!(longest > 30, "{longest}");
    }

    #[test]
    fn text_of_any_length_becomes_what_the_model_makes() {
        let mut numbers = ChaCha8Rng::seed_from_u64(37);
        for round in 0..120 {
            let (spellings, model) = random_model(&mut numbers, round, round % 4 == 1);
            let index = PieceIndex::new(&model).unwrap();
            let merging = Merging {
                model: &model,
                index: Some(&index),
            };
            for length in [SCANNED + 40, HEAPED, HEAPED + 5_000] {
                let few = numbers.random_range(1..=spellings.len());
                let mut text = random_text(&mut numbers, &spellings[..few], length);
                if round % 5 == 0 {
                    text = LETTERS[round % LETTERS.len()]
                        .replace(MARK, SPACE)
                        .repeat(length);
                }
                let (mut ids, mut expected) = (Vec::new(), Vec::new());
                merging.merge_all(&index, &text, &mut ids);
                merging.merge_by_model(&text.replace(SPACE, MARK), &mut expected);
                assert_eq!(ids, expected, "{text:?}");
            }
        }
    }
}
