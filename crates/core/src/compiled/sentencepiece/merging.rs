//! SentencePiece's BPE on text that is new: the same merges as the model's, without a heap, for many
//! stretches of text side by side.
//!
//! Look here for how pieces are found by their spelling. What gathers new text is `gathering`.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::Solver;
use super::unknown::UNKNOWN;
use crate::compiled::cache::words::{SHORT, ShortKey, WordCache};
use crate::compiled::cutting::cuts::decode;
use crate::compiled::sink::Sink;
use crate::compiled::tagged::{AHEAD, Address, MOST_NUMBERS, NONE, Tagged};
use crate::format::sentencepiece::PieceKind;
use crate::model::{Sampler, Sampling, SentencePiece};

/// Text of more bytes than this goes to the model itself, which has a heap for it.
const SCANNED: usize = 64;
/// The bits of a key that hold a place; the rank stands above them.
const PLACE: u32 = SCANNED.ilog2();
/// How many keys are compared side by side.
const KEYS_AT_ONCE: usize = 8;
/// What stands for a space in the model's pieces.
const MARK: &str = "▁";
/// What stands for it here: one byte, which no piece holds.
const SPACE: &str = " ";
/// The id of what is no piece.
const NO_PIECE: u32 = u32::MAX;
/// Characters from here on are looked up as other pieces are.
const WIDE: usize = 0x1_0000;
/// The table of pieces has room for so many times as many: hardly a line is full.
const ROOM: usize = 2;
/// The size of a table by two characters of ASCII.
const ASCII_PAIRS: usize = 1 << 14;

/// The pieces that merging makes, by their spelling with spaces for `▁`.
///
/// Merging asks for the spelling of two neighbours together, and mostly there is no such piece: one
/// look at memory says so.
pub struct PieceIndex {
    ids: Tagged,
    /// The short piece of each id; for others that of no piece.
    keys: Vec<ShortKey>,
    /// The id of each character below [`WIDE`].
    characters: Vec<u32>,
    /// The id and the rank of each two characters of ASCII.
    pairs: Vec<(u32, u32)>,
    /// The pieces of more than [`SHORT`] bytes.
    long: HashMap<Box<[u8]>, u32, RandomState>,
    /// The most bytes of a piece.
    longest: usize,
    /// How many pieces have a better score than the piece of this id.
    ranks: Vec<u32>,
    /// Moves the hashes, so that no file can aim pieces at one place.
    seed: u64,
}

impl PieceIndex {
    /// The pieces of a model, if they are not too many.
    pub fn new(model: &SentencePiece) -> Option<Self> {
        let pieces = &model.proto().pieces;
        let count = u32::try_from(pieces.len()).ok()?;
        if count >= MOST_NUMBERS {
            return None;
        }
        // Text that holds user-defined pieces is left to the model.
        let mut by_score: Vec<u32> = (0..count)
            .filter(|&id| pieces[id as usize].kind == PieceKind::Normal)
            .collect();
        let mut this = Self {
            ids: Tagged::new(by_score.len() * ROOM),
            keys: vec![ShortKey::NONE; pieces.len()],
            characters: vec![NO_PIECE; WIDE],
            pairs: vec![(NO_PIECE, NONE); ASCII_PAIRS],
            long: HashMap::default(),
            longest: 0,
            ranks: vec![NONE; pieces.len()],
            seed: RandomState::default().hash_one(0),
        };
        let mut spelling = String::new();
        for &id in &by_score {
            spelling.clear();
            for (i, part) in pieces[id as usize].text.split(MARK).enumerate() {
                spelling.push_str(if i > 0 { SPACE } else { "" });
                spelling.push_str(part);
            }
            let bytes = spelling.as_bytes();
            this.longest = this.longest.max(bytes.len());
            let (code_point, length) = decode(bytes, 0);
            if length == bytes.len() {
                if let Some(character) = this.characters.get_mut(code_point as usize) {
                    *character = id;
                }
            } else if let [left, right] = *bytes {
                this.pairs[ascii_pair(left, right)].0 = id;
            }
            if bytes.len() > SHORT {
                this.long.insert(bytes.into(), id);
            } else {
                this.keys[id as usize] = ShortKey::new(bytes, 0, bytes.len());
            }
        }
        for (i, &id) in by_score.iter().enumerate() {
            let key = |id: u32| this.keys[id as usize];
            if let Some(&later) = by_score.get(i + AHEAD) {
                this.ids
                    .prefetch(this.ids.place(key(later).hash(this.seed)));
            }
            if key(id) != ShortKey::NONE {
                let mut place = this.ids.place(key(id).hash(this.seed));
                while !this.ids.insert(place, id) {
                    place = this.ids.behind(place);
                }
            }
        }
        // Scores are finite: the reader refuses others.
        let score = |id: u32| pieces[id as usize].score;
        by_score.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        let mut rank = 0;
        for (i, &id) in by_score.iter().enumerate() {
            if i == 0 || score(by_score[i - 1]) != score(id) {
                rank = i as u32;
            }
            this.ranks[id as usize] = rank;
        }
        for (id, rank) in this.pairs.iter_mut().filter(|(id, _)| *id != NO_PIECE) {
            *rank = this.ranks[*id as usize];
        }
        Some(this)
    }

    /// Asks for the memory in which the piece that `text[start..end]` is would be found.
    #[inline(always)]
    fn ask(&self, text: &[u8], start: usize, end: usize) -> Asked {
        let mut asked = Asked {
            start,
            end,
            ..Asked::default()
        };
        if end - start <= SHORT {
            asked.key = ShortKey::new(text, start, end - start);
            asked.address = self.ids.place(asked.key.hash(self.seed));
            self.ids.prefetch(asked.address);
        }
        asked
    }

    /// The piece that was asked for and its rank, which is [`NONE`] if there is none. Whether there
    /// is one is nothing that a processor could guess, so the answer is chosen, not branched to.
    #[inline(always)]
    fn answer(&self, text: &[u8], asked: &Asked) -> (u32, u32) {
        if asked.end - asked.start > SHORT {
            return match asked.end - asked.start > self.longest {
                true => (NO_PIECE, NONE),
                false => self.long_piece(&text[asked.start..asked.end]),
            };
        }
        let alike = self.ids.alike(asked.address);
        let id = alike.first();
        let found = self.keys[id as usize] == asked.key;
        let rank = self.ranks[id as usize];
        if !found & (alike.are_many() | alike.is_full()) {
            return self.behind(asked);
        }
        (id, rank | u32::from(found).wrapping_sub(1))
    }

    #[inline(never)]
    fn long_piece(&self, spelling: &[u8]) -> (u32, u32) {
        let id = self.long.get(spelling);
        id.map_or((NO_PIECE, NONE), |&id| (id, self.ranks[id as usize]))
    }

    /// The same as [`Self::answer`], where several look alike, or the line is full.
    #[cold]
    fn behind(&self, asked: &Asked) -> (u32, u32) {
        let mut address = asked.address;
        loop {
            let alike = self.ids.alike(address);
            let found = alike.all().find(|&id| self.keys[id as usize] == asked.key);
            if let Some(id) = found {
                return (id, self.ranks[id as usize]);
            }
            if !alike.is_full() {
                return (NO_PIECE, NONE);
            }
            address = self.ids.behind(address);
        }
    }

    /// The piece that the character at `at` is, if it is one, and how many bytes the character has.
    #[inline(always)]
    fn character(&self, text: &[u8], at: usize) -> (u32, usize) {
        let (code_point, length) = decode(text, at);
        let id = match self.characters.get(code_point as usize) {
            Some(&id) => id,
            None => match self.answer(text, &self.ask(text, at, at + length)) {
                (_, NONE) => NO_PIECE,
                (id, _) => id,
            },
        };
        (id, length)
    }
}

/// A spelling on its way to its piece. The empty one is no piece.
#[derive(Clone, Copy, Default)]
struct Asked {
    key: ShortKey,
    address: Address,
    start: usize,
    end: usize,
}

/// A stretch of text while it is merged. A symbol's place is its first byte.
#[repr(align(64))]
pub struct Work {
    /// Each symbol's merge with the next one, the rank and the place; what it makes.
    keys: [u32; SCANNED],
    made: [u32; SCANNED],
    /// The piece that each symbol is.
    ids: [u32; SCANNED],
    /// The text, with spaces for `▁`, and room behind it, so that it can be read in rows.
    text: [u8; SCANNED + 16],
    length: usize,
    /// The places of symbols that are not part of another one yet.
    alive: u64,
    /// Where the last merge was and where its left neighbour stands; both with what follows them.
    at: usize,
    left_at: usize,
    right: Asked,
    left: Asked,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            text: [0; SCANNED + 16],
            length: 0,
            alive: 0,
            keys: [NONE; SCANNED],
            made: [NO_PIECE; SCANNED],
            ids: [NO_PIECE; SCANNED],
            at: 0,
            left_at: 0,
            right: Asked::default(),
            left: Asked::default(),
        }
    }
}

impl Work {
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

    /// Merges stretches of text, in which spaces stand for `▁`, side by side, so that their memory is
    /// fetched at the same time.
    pub fn merge_together(&self, texts: &[&[u8]], works: &mut [Work]) {
        let Some(index) = self.index else { return };
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
        {
            // SAFETY: the processor has the features that the function is compiled for.
            unsafe { index.merge_together_avx2(texts, works) };
            return;
        }
        index.merge_together_portable(texts, works);
    }

    /// Appends the tokens of a stretch of text that was merged.
    pub fn tokens(&self, work: &Work, ids: &mut Vec<u32>) {
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

    /// Appends the tokens of normalized text, as the model merges it.
    fn merge(&self, text: &str, ids: &mut Vec<u32>) {
        let mut sampler = Sampler::new(Sampling::default());
        for (range, id) in self.model.merge(text, &mut sampler) {
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

    fn solve(&mut self, text: &str, _: &mut WordCache, ids: &mut Vec<u32>, sink: &mut S) -> bool {
        let first = ids.len();
        let spelled = text.replace(MARK, SPACE);
        if self.takes(&spelled) {
            let mut work = [Work::default()];
            self.merge_together(&[spelled.as_bytes()], &mut work);
            self.tokens(&work[0], ids);
        } else {
            self.merge(text, ids);
        }
        sink.push_all(&ids[first..]);
        true
    }
}

impl PieceIndex {
    /// The same code, for processors that compare eight keys at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_together_avx2(&self, texts: &[&[u8]], works: &mut [Work]) {
        self.merge_together_portable(texts, works);
    }

    #[inline(always)]
    fn merge_together_portable(&self, texts: &[&[u8]], works: &mut [Work]) {
        let mut active = 0u64;
        for (i, (text, work)) in texts.iter().zip(works.iter_mut()).enumerate() {
            self.begin(text, work);
            active |= 1 << i;
        }
        while active != 0 {
            let mut rest = active;
            while rest != 0 {
                let i = rest.trailing_zeros() as usize;
                if !self.step(&mut works[i]) {
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
    fn begin(&self, text: &[u8], work: &mut Work) {
        let length = text.len();
        work.text[..length].copy_from_slice(text);
        work.length = length;
        work.keys[..length.next_multiple_of(KEYS_AT_ONCE).min(SCANNED)].fill(NONE);
        let mut pair = |at: usize, (id, rank): (u32, u32)| {
            work.made[at] = id;
            work.keys[at] = key(rank, at);
        };
        if text.is_ascii() {
            for (id, &byte) in work.ids.iter_mut().zip(text) {
                *id = self.characters[usize::from(byte)];
            }
            for (at, both) in text.windows(2).enumerate() {
                pair(at, self.pairs[ascii_pair(both[0], both[1])]);
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
                2 if at > 0 => pair(before, self.pairs[ascii_pair(text[before], text[at])]),
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
    fn step(&self, work: &mut Work) -> bool {
        let best = lowest(&work.keys, work.length);
        if best == NONE {
            return false;
        }
        let at = best as usize % SCANNED;
        work.at = at;
        work.ids[at] = work.made[at];
        let right = work.end(at) % SCANNED;
        work.alive &= !(1 << right);
        work.keys[right] = NONE;
        // A symbol without a neighbour asks for nothing at all: what is last or first in a short
        // word is no guess that a processor often gets right.
        let after = work.alive & (!1 << at);
        let end = work.first(after);
        let end_after = work.first(after & after.wrapping_sub(1));
        work.right = self.ask(&work.text, at, if after == 0 { at } else { end_after });
        let before = work.alive & !(!0 << at);
        // The last place's key is always NONE.
        let left_at = (SCANNED - 1).wrapping_sub(before.leading_zeros() as usize) % SCANNED;
        work.left_at = left_at;
        work.left = self.ask(&work.text, left_at, if before == 0 { left_at } else { end });
        true
    }

    /// Looks up the two pieces that the last merge may go on to.
    #[inline(always)]
    fn refresh(&self, work: &mut Work) {
        let (at, left_at) = (work.at % SCANNED, work.left_at % SCANNED);
        let (id, rank) = self.answer(&work.text, &work.right);
        let (left_id, left_rank) = self.answer(&work.text, &work.left);
        (work.made[at], work.keys[at]) = (id, key(rank, at));
        (work.made[left_at], work.keys[left_at]) = (left_id, key(left_rank, left_at));
    }
}

/// A merge of this rank, or of [`NONE`], at a place.
#[inline(always)]
fn key(rank: u32, at: usize) -> u32 {
    match rank {
        NONE => NONE,
        rank => rank << PLACE | at as u32,
    }
}

/// The lowest of the first `count` keys.
#[inline(always)]
fn lowest(keys: &[u32; SCANNED], count: usize) -> u32 {
    let mut best = [NONE; KEYS_AT_ONCE];
    for chunk in keys[..count.next_multiple_of(KEYS_AT_ONCE)].chunks_exact(KEYS_AT_ONCE) {
        for (best, &key) in best.iter_mut().zip(chunk) {
            *best = key.min(*best);
        }
    }
    best.into_iter().fold(NONE, u32::min)
}

#[inline(always)]
fn ascii_pair(left: u8, right: u8) -> usize {
    (usize::from(left) << 7 | usize::from(right)) % ASCII_PAIRS
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::compiled::cache::pending::MOST_NEW;
    use crate::format::sentencepiece::{Algorithm, ModelProto, NormalizerSpec, Piece, TrainerSpec};

    fn model(pieces: &[(&str, f32)]) -> SentencePiece {
        let unknown = Piece::new("<unk>", 0.0, PieceKind::Unknown);
        let normal =
            (pieces.iter()).map(|&(text, score)| Piece::new(text, score, PieceKind::Normal));
        let trainer = TrainerSpec {
            algorithm: Algorithm::Bpe,
            ..TrainerSpec::default()
        };
        let pieces = std::iter::once(unknown).chain(normal).collect();
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
        let mut works: Vec<Work> = (0..MOST_NEW).map(|_| Work::default()).collect();
        let mut all = Vec::new();
        for texts in texts.chunks(MOST_NEW) {
            assert!(texts.iter().all(|text| merging.takes(text)));
            let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
            merging.merge_together(&bytes, &mut works);
            for (text, work) in texts.iter().zip(&works) {
                let (mut ids, mut expected) = (Vec::new(), Vec::new());
                merging.tokens(work, &mut ids);
                merging.merge(&text.replace(SPACE, MARK), &mut expected);
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
        let model = model(&[&letters[..], &made].concat());
        let tokens = check(&model, &["abc", "abbc", " abc", "é", " "]);
        assert_eq!(tokens[0], [6]);
        assert_eq!(tokens[1], [5, 4]);
        assert_eq!(tokens[2], [UNKNOWN, 6]);
        assert_eq!(tokens[3..], [[UNKNOWN], [UNKNOWN]]);
    }

    #[test]
    fn merging_together_makes_what_the_model_makes() {
        let mut numbers = ChaCha8Rng::seed_from_u64(31);
        let letters = ["▁", "a", "b", "c", "é", "中", "🙂"];
        let mut longest = 0;
        for round in 0..60 {
            let few = numbers.random_range(2..=letters.len());
            // Not each letter is a piece; pieces are made of earlier ones, of which some are long.
            let mut spellings: Vec<String> = letters[..few].iter().map(|&it| it.into()).collect();
            for _ in 0..numbers.random_range(5..60) {
                let mut part = || &spellings[numbers.random_range(0..spellings.len())];
                let whole = [part().as_str(), part()].concat();
                if whole.len() <= 60 && !spellings.contains(&whole) {
                    spellings.push(whole);
                }
            }
            let coarse = round % 3 == 0;
            let pieces: Vec<(&str, f32)> = (spellings[usize::from(round % 2 == 0)..].iter())
                .enumerate()
                .map(|(i, text)| {
                    let score = match coarse {
                        true => -(numbers.random_range(0..4) as f32),
                        false => -(i as f32) - 8.0 * numbers.random::<f32>(),
                    };
                    (text.as_str(), score)
                })
                .collect();
            let model = model(&pieces);
            let texts: Vec<String> = (0..200)
                .map(|_| {
                    let mut text = String::new();
                    let most = numbers.random_range(1..=SCANNED);
                    loop {
                        let part = match numbers.random_bool(0.5) {
                            true => letters[numbers.random_range(0..letters.len())],
                            false => &spellings[numbers.random_range(0..spellings.len())],
                        };
                        let part = part.replace(MARK, SPACE);
                        if text.len() + part.len() > most {
                            break;
                        }
                        text.push_str(&part);
                    }
                    if text.is_empty() {
                        "x".to_owned()
                    } else {
                        text
                    }
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
}
