//! Merging new words: the model's algorithm over flat tables.
//!
//! A word of n bytes begins as fewer than n symbols: a character whose bytes always become one
//! token before anything outside it can touch them begins as that token (`Merges::symbols`).

use std::borrow::Cow;

use super::long_words;
use super::pair_table::{GrowingPairs, PairTable};
use super::pairs::{Merge, Pairs};
use super::row::MAX_SYMBOLS;
use super::short_word::ShortWord;
use crate::merge::token_reachability;
use crate::merge::token_reachability::without_idle;
use jeton_stages::split::scanner::decode;
use jeton_stages::tables::perfect_hash::{NONE, PerfectHash};
use jeton_stages::vocab::Vocab;
#[cfg(target_arch = "x86_64")]
use jeton_text::simd::Avx2;
use jeton_text::simd::{Lanes, Portable};

/// Bytes of the longest word that is scanned for the best pair; longer ones are merged with a queue.
pub const SCANNED: usize = MAX_SYMBOLS;
/// Code points from which on characters always begin as bytes.
const CHARACTERS_BELOW: usize = 0x1_0000;

/// The merges of a byte-level BPE.
pub struct Merges<T = PerfectHash> {
    /// The id of each byte.
    bytes: [u32; 256],
    /// The rank of each pair of bytes.
    byte_pairs: Vec<u32>,
    pairs: Pairs<T>,
    /// The token of each character that may begin as one; empty where no character may.
    characters: Vec<u32>,
    /// Last byte and first byte of neighbours of which some token holds one only in part.
    partial: Vec<u64>,
    /// Which tokens are known to be made, if that was found out while the merges were looked through.
    made: Option<Vec<bool>>,
}

impl Merges {
    /// These merges between tokens of `vocab`, if every byte is a token and all ids fit.
    pub fn new(vocab: &Vocab, merges: Vec<Merge>) -> Option<Self> {
        let max_id = vocab.max_id()?;
        let bytes = Self::byte_ids(vocab)?;
        let (list, made) = without_idle(merges, &bytes, max_id);
        let mut this = Self::of_pairs(bytes, Pairs::new(&list, max_id)?);
        for &(pair, rank, id) in &list {
            this.note_bytes(vocab.token(id).unwrap_or_default(), pair, rank);
        }
        this.made = made;
        Some(this)
    }
}

impl Merges<GrowingPairs> {
    /// No merges yet, for ranks that are these tokens.
    pub fn of_ranks(vocab: &Vocab) -> Option<Self> {
        let pairs = Pairs::of_ranks(vocab.len(), vocab.max_id()?)?;
        Some(Self::of_pairs(Self::byte_ids(vocab)?, pairs))
    }

    /// The two parts that a token of two or three bytes is merged to by shorter ones: what is left of
    /// three bytes when the pair of the lower rank is merged, the first one on ties.
    pub fn parts_of_few(&self, token: &[u8]) -> Option<(u32, u32)> {
        let byte = |byte: u8| self.bytes[usize::from(byte)];
        let pair = |left, right| self.byte_pairs[ends(left, right)];
        match *token {
            [left, right] => Some((byte(left), byte(right))),
            [first, second, third] => match (pair(first, second), pair(second, third)) {
                (NONE, NONE) => None,
                (front, back) if front <= back => Some((front, byte(third))),
                (_, back) => Some((byte(first), back)),
            },
            _ => None,
        }
    }

    /// Takes in the merge that makes a token of ranks.
    #[inline]
    pub fn insert(&mut self, token: &[u8], pair: (u32, u32), rank: u32) {
        self.pairs.insert((pair, rank, rank));
        self.note_bytes(token, pair, rank);
    }

    /// Takes in the merges that make some tokens of ranks.
    pub fn insert_all(&mut self, vocab: &Vocab, made: &[(u32, (u32, u32))]) {
        for &(rank, pair) in made {
            self.insert(vocab.token(rank).unwrap_or_default(), pair, rank);
        }
    }

    /// The same merges, when all are found, in the table that [`Pairs::completed`] gives.
    pub fn complete(self, table: PerfectHash) -> Merges {
        Merges {
            bytes: self.bytes,
            byte_pairs: self.byte_pairs,
            pairs: self.pairs.complete(table),
            characters: self.characters,
            partial: self.partial,
            made: self.made,
        }
    }
}

impl<T: PairTable> Merges<T> {
    /// The id of each byte, if all are tokens that text may become.
    fn byte_ids(vocab: &Vocab) -> Option<[u32; 256]> {
        let mut bytes = [0; 256];
        for (byte, id) in bytes.iter_mut().enumerate() {
            *id = vocab.text_id(&[byte as u8])?;
        }
        Some(bytes)
    }

    fn of_pairs(bytes: [u32; 256], pairs: Pairs<T>) -> Self {
        Self {
            bytes,
            byte_pairs: vec![NONE; 1 << 16],
            pairs,
            characters: Vec::new(),
            partial: Vec::new(),
            made: None,
        }
    }

    /// Which tokens of up to `max_id` merging is known to make; if `all_meet`, the two sides of each merge
    /// are what its token's bytes come to.
    pub fn reachable(&self, max_id: u32, all_meet: bool) -> Cow<'_, [bool]> {
        match &self.made {
            Some(made) => made.into(),
            None => {
                token_reachability::reachable(&self.pairs, &self.bytes, max_id, all_meet).into()
            }
        }
    }

    #[inline]
    fn note_bytes(&mut self, token: &[u8], pair: (u32, u32), rank: u32) {
        if let &[left, right] = token
            && pair == (self.bytes[left as usize], self.bytes[right as usize])
        {
            self.byte_pairs[ends(left, right)] = rank;
        }
    }

    /// The tokens of the characters that may begin as one: all merges inside come before the first
    /// merge that takes the token itself, so nothing says whether they happened early.
    pub fn characters(&self, vocab: &Vocab) -> Vec<u32> {
        let mut first_use = vec![NONE; vocab.max_id().map_or(0, |id| id as usize + 1)];
        for ((left, right), rank, _) in self.pairs.iter() {
            for side in [left, right] {
                let first = &mut first_use[side as usize];
                *first = rank.min(*first);
            }
        }
        let mut characters = vec![NONE; CHARACTERS_BELOW];
        let mut work = ShortWord::NEW;
        for (token, id) in vocab.iter() {
            if let Some(code_point) = only_character(token)
                && code_point < CHARACTERS_BELOW as u32
            {
                let highest = self.merge(token, &mut work);
                let made_it = *work.tokens() == [id];
                if made_it && highest.is_none_or(|rank| rank < first_use[id as usize]) {
                    characters[code_point as usize] = id;
                }
            }
        }
        characters
    }

    /// Lets these characters begin as tokens; `partial` are the last byte and first byte of
    /// neighbours of which some token holds one only in part.
    pub fn begin_as(&mut self, characters: Vec<u32>, partial: &[u64]) {
        self.characters = characters;
        self.partial = partial.to_vec();
    }

    /// The merges by their pair.
    pub fn pairs(&self) -> &Pairs<T> {
        &self.pairs
    }

    /// Merges a piece of 1 to [`SCANNED`] bytes, and says the highest rank of a merge.
    pub fn merge(&self, piece: &[u8], work: &mut ShortWord) -> Option<u32> {
        let mut highest = None;
        self.begin(piece, work);
        while let Some(rank) = work.step(&self.pairs, Portable) {
            work.refresh(&self.pairs);
            highest = highest.max(Some(rank));
        }
        highest
    }

    /// Merges up to 64 pieces at a time, so that their memory is fetched at the same time. The tokens are
    /// then those that [`ShortWord::tokens`] gives.
    #[inline]
    pub fn merge_together(&self, pieces: &[&[u8]], works: &mut [ShortWord]) {
        self.merge_until::<1>(pieces, works);
    }

    /// As [`Self::merge_together`], but a piece is merged no more once a merge has left only this many
    /// symbols of it.
    pub fn merge_until<const LEFT: usize>(&self, pieces: &[&[u8]], works: &mut [ShortWord]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = Avx2::detected() {
            // SAFETY: the processor has the features that the function is compiled for.
            unsafe { self.merge_until_avx2::<LEFT>(lanes, pieces, works) };
            return;
        }
        self.merge_until_by::<LEFT>(Portable, pieces, works);
    }

    /// The same code, for processors that compare eight ranks at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_until_avx2<const LEFT: usize>(
        &self,
        lanes: Avx2,
        pieces: &[&[u8]],
        works: &mut [ShortWord],
    ) {
        self.merge_until_by::<LEFT>(lanes, pieces, works);
    }

    #[inline(always)]
    fn merge_until_by<const LEFT: usize>(
        &self,
        lanes: impl Lanes,
        pieces: &[&[u8]],
        works: &mut [ShortWord],
    ) {
        for (piece, work) in pieces.iter().zip(&mut *works) {
            self.begin(piece, work);
        }
        let mut active = u64::MAX.checked_shr(64 - pieces.len() as u32).unwrap_or(0);
        while active != 0 {
            let mut rest = active;
            while rest != 0 {
                let i = rest.trailing_zeros() as usize;
                let work = &mut works[i];
                // A piece of one symbol has no merge, and needs no branch to find that out.
                if work.step(&self.pairs, lanes).is_none()
                    || LEFT > 1 && work.tokens().len() <= LEFT
                {
                    active &= !(1 << i);
                }
                rest &= rest - 1;
            }
            let mut rest = active;
            while rest != 0 {
                works[rest.trailing_zeros() as usize].refresh(&self.pairs);
                rest &= rest - 1;
            }
        }
    }

    /// The tokens of a piece of any length.
    pub fn merge_long(&self, piece: &[u8]) -> Vec<u32> {
        let ids = piece.iter().map(|&byte| self.bytes[usize::from(byte)]);
        long_words::merge(&self.pairs, ids, |at| {
            self.byte_pairs[ends(piece[at], piece[at + 1])]
        })
    }

    /// The symbols that a piece begins as.
    ///
    /// A character begins as its token if no token spans one of its ends while holding it, or what
    /// stands there, only in part: then its bytes can merge with nothing but each other.
    #[inline(always)]
    fn symbols(&self, piece: &[u8], ids: &mut [u32; SCANNED]) -> usize {
        if self.characters.is_empty() || piece.is_ascii() {
            for (id, &byte) in ids.iter_mut().zip(piece) {
                *id = self.bytes[byte as usize];
            }
            return piece.len();
        }
        let (mut at, mut count) = (0, 0);
        let mut clean = true;
        while at < piece.len() {
            let first = piece[at];
            if first < 0x80 {
                ids[count] = self.bytes[first as usize];
                (at, count) = (at + 1, count + 1);
                clean = at < piece.len() && self.is_clean(piece, at);
                continue;
            }
            let (code_point, length) = match first {
                0xC0.. => decode(piece, at),
                _ => (NONE, 1),
            };
            let end = at + length;
            let clean_after = end == piece.len() || self.is_clean(piece, end);
            let id = match self.characters.get(code_point as usize) {
                Some(&id) if clean && clean_after => id,
                _ => NONE,
            };
            if id != NONE {
                ids[count] = id;
                count += 1;
            } else {
                for &byte in &piece[at..end] {
                    ids[count] = self.bytes[byte as usize];
                    count += 1;
                }
            }
            (at, clean) = (end, clean_after);
        }
        count
    }

    /// Whether no token spans the place `at` while holding one of its two characters in part.
    #[inline(always)]
    fn is_clean(&self, piece: &[u8], at: usize) -> bool {
        let bit = ends(piece[at - 1], piece[at]);
        self.partial[bit / 64] >> (bit % 64) & 1 == 0
    }

    /// Sets out the symbols of a piece and the ranks of their pairs.
    #[inline(always)]
    fn begin(&self, piece: &[u8], work: &mut ShortWord) {
        let count = self.symbols(piece, work.room());
        if count == piece.len() {
            work.begin(count, |_, at| {
                self.byte_pairs[ends(piece[at], piece[at + 1])]
            });
        } else {
            work.begin(count, |ids, at| self.pairs.rank(ids[at], ids[at + 1]));
        }
    }
}

#[inline(always)]
fn ends(left: u8, right: u8) -> usize {
    usize::from(left) << 8 | usize::from(right)
}

/// The code point of a token that is one character outside ASCII.
fn only_character(token: &[u8]) -> Option<u32> {
    let length = match token.first()? {
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => return None,
    };
    if token.len() != length {
        return None;
    }
    let text = std::str::from_utf8(token).ok()?;
    text.chars().next().map(u32::from)
}
