//! Superwords on the fast path: tokens of words that may join come marked out of the cache of words, and the
//! supermerges run over each stretch of them on the way to the sink.
//!
//! Either the model says which whole words may join, or a BPE has merges across spaces and a pattern that
//! leaves phrases whole, as SuperBPE's. There all tokens of a phrase may join: words are cut before spaces,
//! and merged by all that comes before the first merge across a space. No later merge makes a part of an
//! earlier one, so the earlier ones are done, and each by itself within a word, before a later one begins.

use std::collections::BTreeMap;

use crate::sink::Sink;
use jeton_models::merge::pairs::{Merge, Pairs};
use jeton_models::merge::{SCANNED, ShortWord, long_words};
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::{Bpe, Superwords};
use jeton_stages::vocab::MAX_ID;

/// Marks a token that may join, in the cache of words.
const MARK: u32 = MAX_ID + 1;
/// Comes after the tokens of a phrase.
pub(super) const PHRASE_END: u32 = u32::MAX;
/// Tokens that go to the sink together, about.
const BUFFER: usize = 1 << 10;

/// Which tokens may join, and the supermerges.
pub(super) struct Joining {
    pairs: Pairs,
    /// By id, of a token that is a whole word; empty if all tokens of a phrase may join.
    may_join: Vec<bool>,
}

impl Joining {
    /// None if there are too many merges, or tokens.
    pub fn of(model: &Superwords) -> Option<Self> {
        let vocab = model.words().vocab();
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
        let merges = merges
            .into_iter()
            .map(|(pair, (rank, id))| (pair, rank, id));
        Some(Self {
            pairs: Pairs::new(&merges.collect::<Vec<_>>(), last)?,
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
pub(super) struct Joiner<'j, S: Sink> {
    joining: &'j Joining,
    sink: &'j mut S,
    /// The words of the current stretch, or their tokens.
    words: Vec<u32>,
    work: ShortWord,
    joined: Vec<u32>,
}

impl<'j, S: Sink> Joiner<'j, S> {
    pub fn new(joining: &'j Joining, sink: &'j mut S) -> Self {
        Self {
            joining,
            sink,
            words: Vec::new(),
            work: ShortWord::NEW,
            joined: Vec::with_capacity(2 * BUFFER),
        }
    }

    /// Gives all tokens to the sink.
    pub fn finish(mut self) {
        self.end_stretch();
        self.sink.push_all(&self.joined);
    }

    fn end_stretch(&mut self) {
        let Self {
            joining,
            words,
            work,
            joined,
            ..
        } = self;
        let pairs = &joining.pairs;
        if words.len() < 2 {
            joined.append(words);
        } else if words.len() <= SCANNED {
            work.room()[..words.len()].copy_from_slice(words);
            work.begin(words.len(), |ids, at| pairs.rank(ids[at], ids[at + 1]));
            work.merge(pairs);
            joined.extend_from_slice(work.tokens());
        } else {
            let rank = |at: usize| pairs.rank(words[at], words[at + 1]);
            joined.append(&mut long_words::merge(pairs, words.iter().copied(), rank));
        }
        words.clear();
        if joined.len() > BUFFER {
            self.sink.push_all(joined);
            joined.clear();
        }
    }
}

/// Whether a token crosses a boundary of words: see [`word_ends`].
fn has_inner_space(token: &[u8]) -> bool {
    word_ends(token).next().is_some()
}

/// Where the words of a phrase end: before each space after what is no white space.
pub(super) fn word_ends(phrase: &[u8]) -> impl Iterator<Item = usize> {
    let ends = |&at: &usize| phrase[at] == b' ' && !phrase[at - 1].is_ascii_whitespace();
    (1..phrase.len()).filter(ends)
}

impl<S: Sink> Sink for Joiner<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        for &id in ids {
            if id >= MARK && id != PHRASE_END {
                self.words.push(id & MAX_ID);
                continue;
            }
            if !self.words.is_empty() {
                self.end_stretch();
            }
            if id != PHRASE_END {
                self.joined.push(id);
            }
        }
        if self.joined.len() > BUFFER {
            self.sink.push_all(&self.joined);
            self.joined.clear();
        }
    }
}
