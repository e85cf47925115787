//! Superwords on the fast path: tokens of words that may join come marked out of the cache of words, and the
//! supermerges run over each stretch of them on the way to the sink.
//!
//! Either the model says which whole words may join, or a BPE has merges across spaces and a pattern that
//! leaves phrases whole, as SuperBPE's. There all tokens of a phrase may join: words are cut before spaces,
//! and merged by all that comes before the first merge across a space. No later merge makes a part of an
//! earlier one, so the earlier ones are done, and each by itself within a word, before a later one begins.

use crate::sink::Sink;
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::bpe::merge::{Merge, Pairs, Symbol, merge};
use jeton_models::model::{Bpe, Superwords};
use jeton_stages::vocab::MAX_ID;

/// Marks a token that may join, in the cache of words.
const MARK: u32 = MAX_ID + 1;
/// Comes after the tokens of a phrase.
pub(super) const PHRASE_END: u32 = u32::MAX;
/// Tokens that go to the sink together, about.
const BUFFER: usize = 1 << 10;
/// Words of a stretch up to which looking for the next merge is faster than a queue.
const SCANNED: usize = 32;

/// A merge: a pair of ids, its rank, and what it makes.
type Ranked = ((u32, u32), u32, u32);

/// Which tokens may join, and the supermerges.
pub(super) struct Joining {
    pairs: Pairs,
    /// By id, of a token that is a whole word; empty if all tokens of a phrase may join.
    may_join: Vec<bool>,
    /// By id, whether a supermerge has it on its left.
    is_left: Vec<bool>,
}

impl Joining {
    pub fn of(model: &Superwords) -> Self {
        let vocab = model.words().vocab();
        let ids = vocab.max_id().map_or(0, |last| last as usize + 1);
        let mut may_join = vec![false; ids];
        for (token, id) in vocab.texts() {
            may_join[id as usize] = model.joining().allows(token);
        }
        let mut is_left = vec![false; ids];
        for ((left, _), _) in model.merges() {
            is_left[*left as usize] = true;
        }
        Self {
            pairs: model.pairs().clone(),
            may_join,
            is_left,
        }
    }

    /// The merges of words, and what joins those of phrases; none if no merge crosses a space, or if one of
    /// words has a part that a later merge makes.
    pub fn of_phrases(bpe: &Bpe) -> Option<(Vec<Ranked>, Self)> {
        if !matches!(bpe.rule(), MergeRule::Merges(_)) || bpe.takes_whole_pieces() {
            return None;
        }
        let vocab = bpe.vocab();
        let crosses = |&(_, _, id): &Ranked| vocab.token(id).is_some_and(has_inner_space);
        let mut words = bpe.reachable_merges();
        let late = words.split_off(words.iter().position(crosses)?);
        let ids = vocab.max_id()? as usize + 1;
        let [mut is_late, mut is_left] = [vec![false; ids], vec![false; ids]];
        let mut pairs = Pairs::with_capacity(late.len());
        for ((left, right), rank, id) in late {
            is_late[id as usize] = true;
            is_left[left as usize] = true;
            pairs.insert(left, right, Merge { rank, id });
        }
        let is_early =
            |&((left, right), _, _): &Ranked| !is_late[left as usize] && !is_late[right as usize];
        let joining = Self {
            pairs,
            may_join: Vec::new(),
            is_left,
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

    fn merge(&self, left: u32, right: u32) -> Option<Merge> {
        let pairs = || self.pairs.merge_of(left, right);
        self.is_left[left as usize].then(pairs).flatten()
    }
}

/// A sink that joins marked words.
pub(super) struct Joiner<'j, S: Sink> {
    joining: &'j Joining,
    sink: &'j mut S,
    /// The words of the current stretch, or their tokens.
    words: Vec<u32>,
    /// The merge of each of them with the next one.
    merges: Vec<Option<Merge>>,
    joined: Vec<u32>,
}

impl<'j, S: Sink> Joiner<'j, S> {
    pub fn new(joining: &'j Joining, sink: &'j mut S) -> Self {
        Self {
            joining,
            sink,
            words: Vec::new(),
            merges: Vec::new(),
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
            merges,
            joined,
            ..
        } = self;
        merges.clear();
        merges.extend(words.windows(2).map(|pair| joining.merge(pair[0], pair[1])));
        if words.len() > SCANNED && merges.iter().any(Option::is_some) {
            let symbols = words.iter().map(|&id| Symbol { id, length: 1 });
            let mut symbols: Vec<Symbol> = symbols.collect();
            merge(&mut symbols, &joining.pairs, u32::MAX);
            words.clear();
            words.extend(symbols.iter().map(|symbol| symbol.id));
        } else {
            join(joining, words, merges);
        }
        joined.append(words);
        if joined.len() > BUFFER {
            self.sink.push_all(joined);
            joined.clear();
        }
    }
}

/// Merges the words of a short stretch.
fn join(joining: &Joining, words: &mut Vec<u32>, merges: &mut Vec<Option<Merge>>) {
    loop {
        let places = merges.iter().enumerate();
        let ranks = places.filter_map(|(at, merge)| merge.map(|merge| (merge.rank, at, merge.id)));
        let Some((_, at, id)) = ranks.min() else {
            return;
        };
        words[at] = id;
        words.remove(at + 1);
        merges.remove(at);
        if at < merges.len() {
            merges[at] = joining.merge(id, words[at + 1]);
        }
        if at > 0 {
            merges[at - 1] = joining.merge(words[at - 1], id);
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
