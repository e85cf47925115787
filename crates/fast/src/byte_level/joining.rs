//! Superwords on the fast path: tokens of words that may join come marked out of the cache of words, and the
//! supermerges run over each stretch of them on the way to the sink.
//!
//! Either the model says which whole words may join, or a BPE has merges across spaces and a pattern that
//! leaves phrases whole, as SuperBPE's. There all tokens of a phrase may join: words are cut before spaces,
//! and merged by all that comes before the first merge across a space. No later merge makes a part of an
//! earlier one, so the earlier ones are done, and each by itself within a word, before a later one begins.

use std::collections::BTreeMap;

use super::links::Links;
use crate::sink::Sink;
use jeton_models::merge::pairs::{Merge, Pairs};
use jeton_models::merge::{SCANNED, ShortWord, long_words};
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::{Bpe, Superwords};
use jeton_stages::tables::perfect_hash::NONE;
use jeton_stages::vocab::MAX_ID;

/// Marks a token that may join, in the cache of words.
const MARK: u32 = MAX_ID + 1;
/// Comes after the tokens of a phrase.
pub(super) const PHRASE_END: u32 = 2 * MARK;
/// Tokens whose links are found together.
const CHUNK: usize = u64::BITS as usize;
/// Tokens that go to the sink together, about.
const BUFFER: usize = 1 << 8;

/// Which tokens may join, and the supermerges.
pub(super) struct Joining {
    pairs: Pairs,
    links: Links,
    /// By id, of a token that is a whole word; empty if all tokens of a phrase may join.
    may_join: Vec<bool>,
}

impl Joining {
    /// Of a model of superwords with these words; none if there are too many merges, or tokens.
    pub fn of(words: &Bpe, model: &Superwords) -> Option<Self> {
        let vocab = words.vocab();
        let last = vocab.max_id()?;
        let mut may_join = vec![false; last as usize + 1];
        for (token, id) in vocab.texts() {
            may_join[id as usize] = model.joining().allows(token);
        }
        let merges = (0..).zip(model.merges());
        let merges = merges.filter(|(_, (_, id))| !vocab.withheld().contains(*id));
        // Of a pair that is listed twice, the last counts.
        let merges: BTreeMap<_, _> = merges
            .map(|(rank, &(pair, id))| (pair, (rank, id)))
            .collect();
        let merges = merges.into_iter();
        let merges: Vec<Merge> = merges.map(|(pair, (rank, id))| (pair, rank, id)).collect();
        Some(Self {
            pairs: Pairs::new(&merges, last)?,
            links: Links::new(&words.reachable_merges(), &merges),
            may_join,
        })
    }

    /// The merges of words, and what joins those of phrases; none if few merges cross a space, or if one of
    /// words has a part that a later merge makes.
    pub fn of_phrases(bpe: &Bpe) -> Option<(Vec<Merge>, Self)> {
        if !matches!(bpe.rule(), MergeRule::Merges(_)) || bpe.takes_whole_pieces() {
            return None;
        }
        let vocab = bpe.vocab();
        let crosses = |&(_, _, id): &Merge| vocab.token(id).is_some_and(has_inner_space);
        let mut words = bpe.reachable_merges();
        let late = words.split_off(words.iter().position(crosses)?);
        // Vocabularies of words have some, too, as of a no-break space and a space.
        if 4 * late.iter().filter(|it| crosses(it)).count() < late.len() {
            return None;
        }
        let last = vocab.max_id()?;
        let mut is_late = vec![false; last as usize + 1];
        for &(_, _, id) in &late {
            is_late[id as usize] = true;
        }
        let is_early =
            |&((left, right), _, _): &Merge| !is_late[left as usize] && !is_late[right as usize];
        let joining = Self {
            pairs: Pairs::new(&late, last)?,
            links: Links::new(&words, &late),
            may_join: Vec::new(),
        };
        words.iter().all(is_early).then_some((words, joining))
    }

    /// Whether whole words join, and not all tokens of a phrase.
    pub fn joins_words(&self) -> bool {
        !self.may_join.is_empty()
    }

    /// Marks those tokens of a word that may join, for the cache.
    pub fn mark(&self, word: &mut [u32]) {
        let is_whole = word.len() == 1;
        for id in word {
            if !self.joins_words() || is_whole && self.may_join[*id as usize] {
                *id |= MARK;
            }
        }
    }
}

/// A sink that joins marked tokens.
pub(super) struct Joiner<'j> {
    joining: &'j Joining,
    sink: &'j mut dyn Sink,
    /// The tokens at the end of what came, with their marks, that what comes next may link to.
    open: Vec<u32>,
    work: ShortWord,
    /// Tokens that wait for the sink, and how many they are.
    joined: [u32; BUFFER + 2 * CHUNK],
    count: usize,
}

impl<'j> Joiner<'j> {
    pub fn new(joining: &'j Joining, sink: &'j mut dyn Sink) -> Self {
        Self {
            joining,
            sink,
            open: Vec::new(),
            work: ShortWord::NEW,
            joined: [0; BUFFER + 2 * CHUNK],
            count: 0,
        }
    }

    /// Gives all tokens to the sink.
    pub fn finish(mut self) {
        self.end_open();
        self.give();
    }

    fn give(&mut self) {
        self.sink.push_all(&self.joined[..self.count]);
        self.count = 0;
    }

    /// Takes up to [`CHUNK`] tokens. What is linked is merged; the rest is copied.
    fn chunk(&mut self, tokens: &[u32]) {
        if self.count > BUFFER {
            self.give();
        }
        let links = &self.joining.links;
        let mut before = self.open.last().copied().unwrap_or(PHRASE_END);
        // A bit per token, which enters at the top.
        let mut linked: u64 = 0;
        for &token in tokens {
            let both = u64::from((before & token) / MARK);
            let bit = both & links.links(before & MAX_ID, token & MAX_ID);
            linked = (linked >> 1) | (bit << 63);
            before = token;
        }
        linked >>= CHUNK - tokens.len();
        let mut at = linked.trailing_ones() as usize;
        self.open.extend_from_slice(&tokens[..at]);
        if at == tokens.len() {
            return;
        }
        self.end_open();
        loop {
            // At `at` a token begins that is not linked to the one before.
            let rest = linked.unbounded_shr(at as u32);
            let first = match rest {
                0 => tokens.len() - 1,
                rest => at + rest.trailing_zeros() as usize - 1,
            };
            self.copy(&tokens[at..first]);
            let links = (!linked).unbounded_shr(first as u32 + 1).trailing_zeros() as usize;
            at = first + 1 + links;
            if at >= tokens.len() {
                self.open.extend_from_slice(&tokens[first..]);
                return;
            }
            self.join(&tokens[first..at]);
        }
    }

    #[inline(always)]
    fn copy(&mut self, tokens: &[u32]) {
        let mut count = self.count;
        for &token in tokens {
            self.joined[count] = token & MAX_ID;
            count += usize::from(token != PHRASE_END);
        }
        self.count = count;
    }

    /// Merges tokens that are linked.
    #[inline(always)]
    fn join(&mut self, tokens: &[u32]) {
        let Self {
            joining,
            work,
            joined,
            count,
            ..
        } = self;
        let pairs = &joining.pairs;
        if let &[left, right] = tokens {
            let [left, right] = [left & MAX_ID, right & MAX_ID];
            let rank = pairs.rank(left, right);
            (joined[*count], joined[*count + 1]) = (left, right);
            *count += 2;
            if rank != NONE {
                joined[*count - 2] = pairs.product(rank, left, right);
                *count -= 1;
            }
            return;
        }
        for (id, token) in work.room().iter_mut().zip(tokens) {
            *id = token & MAX_ID;
        }
        work.begin(tokens.len(), |ids, at| pairs.rank(ids[at], ids[at + 1]));
        work.merge(pairs);
        let tokens = work.tokens();
        joined[*count..][..tokens.len()].copy_from_slice(tokens);
        *count += tokens.len();
    }

    /// Merges what is open, to which nothing links any more.
    #[inline(never)]
    fn end_open(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        match open.len() {
            ..2 => self.copy(&open),
            2..=SCANNED => self.join(&open),
            _ => {
                self.give();
                let pairs = &self.joining.pairs;
                let ids = open.iter().map(|token| token & MAX_ID);
                let rank = |at: usize| pairs.rank(open[at] & MAX_ID, open[at + 1] & MAX_ID);
                self.sink.push_all(&long_words::merge(pairs, ids, rank));
            }
        }
        open.clear();
        self.open = open;
    }
}

/// Whether a token crosses a boundary of words.
fn has_inner_space(token: &[u8]) -> bool {
    let mut masks = Vec::new();
    word_starts(token, &mut masks);
    masks.iter().any(|&mask| mask != 0)
}

/// Sets a bit per byte of a text where a word of a phrase begins: at each space after what is neither white
/// space nor a control character. Eight bytes are looked at together.
pub(super) fn word_starts(text: &[u8], masks: &mut Vec<u64>) {
    const ONES: u64 = u64::MAX / 0xFF;
    const TOPS: u64 = 0x80 * ONES;
    const SPACES: u64 = 0x20 * ONES;
    masks.clear();
    let (blocks, rest) = text.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(&last);
    // The top bit of each byte says what the byte is; `before` is that of the byte before.
    let mut before = 0;
    for block in blocks.iter().chain(last) {
        let mut mask = 0;
        let (eights, _) = block.as_chunks::<8>();
        for (number, &eight) in eights.iter().enumerate() {
            let bytes = u64::from_le_bytes(eight);
            let other = bytes ^ SPACES;
            let spaces = !(((other & !TOPS) + !TOPS) | other) & TOPS;
            let printed = (((bytes & !TOPS) + (0x7F * ONES - SPACES)) | bytes) & TOPS;
            let starts = spaces & (printed << 8 | before);
            before = printed >> 56;
            // The product brings the eight bits together.
            mask |= (starts >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * number);
        }
        masks.push(mask);
    }
}

impl Sink for Joiner<'_> {
    fn push_all(&mut self, ids: &[u32]) {
        for tokens in ids.chunks(CHUNK) {
            self.chunk(tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_phrases_begin_at_spaces_behind_what_is_printed() {
        let texts = [
            "",
            " ",
            "a",
            "of the  tree\n of\u{1f} é ü ",
            &" x  y".repeat(40),
        ];
        for text in texts {
            let mut masks = Vec::new();
            word_starts(text.as_bytes(), &mut masks);
            let bytes = text.as_bytes();
            let starts = (0..bytes.len()).filter(|&at| masks[at / 64] >> (at % 64) & 1 == 1);
            let begins = |&at: &usize| at > 0 && bytes[at] == b' ' && bytes[at - 1] > b' ';
            assert!(starts.eq((0..bytes.len()).filter(begins)), "{text:?}");
            assert_eq!(masks.len(), bytes.len().div_ceil(64));
        }
    }
}
