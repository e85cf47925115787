//! Training WordPiece as published: the merged pair is the most frequent relative to the
//! frequency of its parts.
//!
//! By definition the pair with the greatest freq(ab) / (freq(a)·freq(b)) becomes a token; [`TieBreak`]
//! decides between equal ones. Ratios are compared as fractions, so nothing is rounded.
//! A merge makes its two parts rarer, so every pair with one of them gets a better score, and goes
//! into the queue again; a score that got worse is noticed at the top of the queue.
//!
//! Source: Schuster and Nakajima, "Japanese and Korean Voice Search", 2012, whose likelihood gain
//! is this ratio.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::rc::Rc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::bpe::{BpeTrainer, InitialSymbols, Limits, TieBreak, Tokens, Words, merge_in_word};
use crate::word_counts::WordCounts;
use crate::{Phase, Watch};
use jeton_text::error::{Error, ErrorKind, Result};

/// Merges between two calls of the caller's `watch`.
const WATCH_EVERY: usize = 16;

/// The frequency of a pair, and the frequencies of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    both: u64,
    left: u64,
    right: u64,
}

impl Score {
    /// Compares the ratios exactly, in 192 bits.
    fn compare(self, other: Self) -> Ordering {
        let times = |both: u64, parts: u128| {
            let low = u128::from(both) * u128::from(parts as u64);
            let high = u128::from(both) * (parts >> 64) + (low >> 64);
            (high, low as u64)
        };
        let parts = |score: Self| u128::from(score.left) * u128::from(score.right);
        times(self.both, parts(other)).cmp(&times(other.both, parts(self)))
    }
}

/// The bytes of both parts of a pair.
type Spelled = (Rc<[u8]>, Rc<[u8]>);

/// What decides between equally good pairs: the smallest comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Ids((u32, u32)),
    /// The first word that holds the pair, and how many units lie before it there.
    Place(u32, usize),
    Alphabetic(Rc<[u8]>, Rc<[u8]>),
    Lexicographic(Reverse<Spelled>),
    /// How long the token is, and its bytes.
    Shortest(usize, Rc<[u8]>),
}

/// A pair as good as it was when it was put in the queue.
#[derive(PartialEq, Eq)]
struct Candidate {
    score: Score,
    key: Key,
    pair: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.compare(other.score);
        scores.then_with(|| other.key.cmp(&self.key))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Pair {
    ids: (u32, u32),
    count: i64,
    /// Words in which it is or was.
    words: Vec<u32>,
    /// The best score it has in the queue, and the key with it.
    queued: Option<(Score, Key)>,
}

/// The pairs of a corpus.
struct Pairs {
    numbers: HashMap<(u32, u32), u32, FixedState>,
    all: Vec<Pair>,
    /// The pairs that a symbol is a part of.
    of_symbol: Vec<Vec<u32>>,
    /// How frequent each symbol is.
    frequency: Vec<u64>,
    queue: BinaryHeap<Candidate>,
    min_frequency: u64,
    tie_break: TieBreak,
    /// The bytes of each symbol, where these decide.
    spellings: Vec<Rc<[u8]>>,
}

impl Pairs {
    fn add(&mut self, ids: (u32, u32), word: u32, count: i64) -> u32 {
        let number = *self.numbers.entry(ids).or_insert_with(|| {
            self.all.push(Pair {
                ids,
                count: 0,
                words: Vec::new(),
                queued: None,
            });
            self.all.len() as u32 - 1
        });
        let pair = &mut self.all[number as usize];
        if pair.count <= 0 {
            self.of_symbol[ids.0 as usize].push(number);
            if ids.0 != ids.1 {
                self.of_symbol[ids.1 as usize].push(number);
            }
        }
        pair.count += count;
        if pair.words.last() != Some(&word) {
            pair.words.push(word);
        }
        number
    }

    fn score(&self, pair: u32) -> Score {
        let Pair { ids, count, .. } = &self.all[pair as usize];
        Score {
            both: u64::try_from(*count).unwrap_or(0),
            left: self.frequency[ids.0 as usize],
            right: self.frequency[ids.1 as usize],
        }
    }

    /// What decides between this pair and an equally good one.
    fn key(&mut self, pair: u32, words: &Words, tokens: &Tokens) -> Key {
        let (left, right) = self.all[pair as usize].ids;
        let mut spelling = |id: u32| {
            for known in self.spellings.len()..tokens.ids() {
                self.spellings.push(tokens.bytes[known].as_slice().into());
            }
            self.spellings[id as usize].clone()
        };
        match self.tie_break {
            TieBreak::HuggingFace => Key::Ids((left, right)),
            TieBreak::Alphabetic => Key::Alphabetic(spelling(left), spelling(right)),
            // The alphabet is characters, which are spelled as they are.
            TieBreak::Lexicographic | TieBreak::Spelling => {
                Key::Lexicographic(Reverse((spelling(left), spelling(right))))
            }
            TieBreak::SentencePiece => {
                let joined = [spelling(left), spelling(right)].concat();
                Key::Shortest(tokens.length(left, right), joined.into())
            }
            TieBreak::First => {
                let places = &mut self.all[pair as usize].words;
                if !places.is_sorted() {
                    places.sort_unstable();
                    places.dedup();
                }
                let found = places.iter().enumerate().find_map(|(number, &word)| {
                    let (symbols, _) = words.word(word);
                    let at = symbols.windows(2).position(|two| two == [left, right])?;
                    let before = symbols[..at].iter().map(|&id| tokens.lengths[id as usize]);
                    Some((number, Key::Place(word, before.sum())))
                });
                // Words at the front that have lost the pair are never looked at again.
                let (lost, key) = found.unwrap_or((places.len(), Key::Place(u32::MAX, 0)));
                places.drain(..lost);
                key
            }
        }
    }

    /// Puts a pair into the queue, unless it is there with as good a score and as early a key.
    fn offer(&mut self, pair: u32, words: &Words, tokens: &Tokens) {
        let score = self.score(pair);
        if score.both < self.min_frequency.max(1) {
            return;
        }
        let queued = self.all[pair as usize].queued.as_ref();
        let better = queued.map(|(queued, _)| score.compare(*queued));
        // Keys of ids and of bytes never change.
        let may_come_earlier = better == Some(Ordering::Equal) && self.tie_break == TieBreak::First;
        if better.is_none_or(|better| better == Ordering::Greater) || may_come_earlier {
            let key = self.key(pair, words, tokens);
            let queued = &mut self.all[pair as usize].queued;
            if may_come_earlier && queued.as_ref().is_some_and(|(_, queued)| *queued <= key) {
                return;
            }
            *queued = Some((score, key.clone()));
            self.queue.push(Candidate { score, key, pair });
        }
    }

    /// Takes the best pair out of the queue.
    fn best(&mut self, words: &Words, tokens: &Tokens) -> Option<u32> {
        while let Some(Candidate { score, key, pair }) = self.queue.pop() {
            let queued = self.all[pair as usize].queued.as_ref();
            if queued.is_none_or(|queued| *queued != (score, key.clone())) {
                continue;
            }
            self.all[pair as usize].queued = None;
            let now = self.score(pair);
            if now == score && self.key(pair, words, tokens) == key {
                return Some(pair);
            }
            if now.both > 0 {
                self.offer(pair, words, tokens);
            }
        }
        None
    }
}

/// Merges the pair with the best score until there are enough tokens, which it returns.
pub(super) fn learn(
    counts: &WordCounts,
    training: &BpeTrainer,
    watch: &mut Watch<'_>,
) -> Result<Tokens> {
    let mut tokens = Tokens::of_specials(&training.special_tokens);
    let symbols = InitialSymbols::new(&[counts], training, &mut tokens);
    training.check_room(tokens.count())?;
    let mut words = symbols.words(counts, training.alphabet, |_| {});
    if words.row.len() >= u32::MAX as usize || i64::try_from(words.sum).is_err() {
        return Err(Error::new(
            ErrorKind::Training,
            "the distinct words have 4 Gi symbols or more, or more occurrences than can be counted",
        )
        .hint("filter out the rarest words"));
    }
    let limits = training.limits();
    let prefix = training.continuing_subword_prefix.as_deref().unwrap_or("");
    let mut pairs = Pairs {
        numbers: HashMap::default(),
        all: Vec::new(),
        of_symbol: vec![Vec::new(); tokens.ids()],
        frequency: symbols.frequencies(counts, training.alphabet, tokens.ids()),
        queue: BinaryHeap::new(),
        min_frequency: training.min_frequency,
        tie_break: training.tie_break,
        spellings: Vec::new(),
    };
    let starts: Vec<u32> = words.starts().collect();
    for word in starts {
        let (symbols, count) = words.word(word);
        for neighbours in symbols.windows(2) {
            pairs.add((neighbours[0], neighbours[1]), word, count);
        }
    }
    for pair in 0..pairs.all.len() as u32 {
        let (left, right) = pairs.all[pair as usize].ids;
        if limits.allow(&tokens, left, right) {
            pairs.offer(pair, &words, &tokens);
        }
    }
    for merges in 0.. {
        if tokens.ids() >= training.vocab_size {
            break;
        }
        let Some(best) = pairs.best(&words, &tokens) else {
            break;
        };
        if merges % WATCH_EVERY == 0 {
            watch.tell(Phase::Merging, tokens.ids(), training.vocab_size)?;
        }
        let (left, right) = pairs.all[best as usize].ids;
        let id = tokens.merge(left, right, prefix);
        pairs.of_symbol.resize_with(tokens.ids(), Vec::new);
        pairs.frequency.resize(tokens.ids(), 0);
        merge(&mut words, &mut pairs, &tokens, best, id, &limits);
    }
    watch.tell(Phase::Merging, tokens.ids(), tokens.ids())?;
    Ok(tokens)
}

/// Merges a pair into the token `id` in all words, and brings pairs and queue up to date.
fn merge(
    words: &mut Words,
    pairs: &mut Pairs,
    tokens: &Tokens,
    best: u32,
    id: u32,
    limits: &Limits,
) {
    let (a, b) = pairs.all[best as usize].ids;
    let mut visited = std::mem::take(&mut pairs.all[best as usize].words);
    visited.sort_unstable();
    visited.dedup();
    // Neighbours, as they are at that moment: one may be the same token, made just before.
    let mut to_the_left: Vec<(u32, i64)> = Vec::new();
    let mut to_the_right: Vec<(u32, i64)> = Vec::new();
    let mut changed = Vec::new();
    for word in visited {
        let before = words.word(word).0.len();
        merge_in_word(
            &mut words.row[word as usize..],
            (a, b),
            id,
            |symbol, count| to_the_left.push((symbol, count)),
            |symbol, count| to_the_right.push((symbol, count)),
        );
        let (symbols, count) = words.word(word);
        let merged = (before - symbols.len()) as u64 * count as u64;
        for (symbol, sign) in [(a, -1), (b, -1), (id, 1)] {
            let frequency = &mut pairs.frequency[symbol as usize];
            *frequency = frequency.wrapping_add_signed(sign * merged as i64);
        }
        let to_the_left = to_the_left
            .drain(..)
            .map(|(symbol, count)| ((symbol, a), (symbol, id), count));
        let to_the_right = to_the_right
            .drain(..)
            .map(|(symbol, count)| ((b, symbol), (id, symbol), count));
        // A merge just before has won on the right what is lost here on the left.
        for (lost, won, count) in to_the_right.chain(to_the_left) {
            if limits.allow(tokens, won.0, won.1) {
                changed.push(pairs.add(won, word, count));
            }
            if let Some(&pair) = pairs.numbers.get(&lost) {
                pairs.all[pair as usize].count -= count;
            }
        }
    }
    pairs.all[best as usize].count = 0;
    for symbol in [a, b] {
        let mut with = std::mem::take(&mut pairs.of_symbol[symbol as usize]);
        with.retain(|&pair| pairs.all[pair as usize].count > 0);
        (with.iter()).for_each(|&pair| pairs.offer(pair, words, tokens));
        pairs.of_symbol[symbol as usize] = with;
    }
    changed.sort_unstable();
    changed.dedup();
    (changed.into_iter()).for_each(|pair| pairs.offer(pair, words, tokens));
}
