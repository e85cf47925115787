//! Superwords on the fast path: whole words that may join come marked out of the cache of words, and the
//! supermerges run over each stretch of them on the way to the sink.

use crate::sink::Sink;
use jeton_models::model::Superwords;
use jeton_models::model::bpe::merge::{Merge, Pairs, Symbol, merge};
use jeton_stages::vocab::MAX_ID;

/// Marks the token of a whole word that may join, in the cache of words.
const MARK: u32 = MAX_ID + 1;
/// Tokens that go to the sink together, about.
const BUFFER: usize = 1 << 10;
/// Words of a stretch up to which looking for the next merge is faster than a queue.
const SCANNED: usize = 32;

/// Which words may join, and the supermerges.
pub(super) struct Joining {
    pairs: Pairs,
    /// By id, of a token that is a whole word.
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

    /// The token of a whole word as the cache has it.
    pub fn marked(&self, id: u32) -> u32 {
        id | if self.may_join[id as usize] { MARK } else { 0 }
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
    /// The words of the current stretch.
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

impl<S: Sink> Sink for Joiner<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        for &id in ids {
            if id >= MARK {
                self.words.push(id & MAX_ID);
                continue;
            }
            if !self.words.is_empty() {
                self.end_stretch();
            }
            self.joined.push(id);
        }
        if self.joined.len() > BUFFER {
            self.sink.push_all(&self.joined);
            self.joined.clear();
        }
    }
}
