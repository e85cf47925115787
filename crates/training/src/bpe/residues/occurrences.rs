//! Words while tokens are merged and deleted: their pairs, and how often each token occurs.

use std::cmp::Ordering;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::bpe::queue::{Candidate, Queue};
use crate::bpe::tokens::Tokens;
use crate::bpe::words::Words;
use jeton_text::interrupt::tick;

/// A pair of neighbours.
struct Pair {
    ids: (u32, u32),
    count: u64,
    /// The count with which it is in the queue; 0 if it is not.
    queued: u64,
    /// The words that it may occur in.
    words: Vec<u32>,
}

/// The words, their pairs and how often each token occurs.
pub(super) struct Corpus {
    words: Words,
    pairs: Vec<Pair>,
    numbers: HashMap<(u32, u32), u32, FixedState>,
    queue: Queue,
    /// How often each token occurs, and the words that one of several bytes may occur in.
    frequencies: Vec<u64>,
    words_of: Vec<Vec<u32>>,
    /// How pairs change by one step.
    changes: HashMap<(u32, u32), i64, FixedState>,
}

/// Calls `each` with the place of each pair that counts.
fn for_each_pair(symbols: &[u32], mut each: impl FnMut(usize)) {
    let mut at = 0;
    while at + 1 < symbols.len() {
        each(at);
        // In a run of three, the middle one is in one pair only.
        let overlaps = symbols[at] == symbols[at + 1] && symbols.get(at + 2) == Some(&symbols[at]);
        at += if overlaps { 2 } else { 1 };
    }
}

impl Corpus {
    pub fn new(words: Words, tokens: &Tokens) -> Self {
        let mut corpus = Self {
            pairs: Vec::new(),
            numbers: HashMap::default(),
            queue: Queue::new(),
            frequencies: vec![0; tokens.ids()],
            words_of: vec![Vec::new(); tokens.ids()],
            changes: HashMap::default(),
            words: Words::default(),
        };
        for start in words.starts() {
            tick();
            let (symbols, count) = words.word(start);
            for &symbol in symbols {
                corpus.frequencies[symbol as usize] += count.unsigned_abs();
            }
            for_each_pair(symbols, |at| {
                let pair = (symbols[at], symbols[at + 1]);
                *corpus.changes.entry(pair).or_default() += count;
                corpus.note_word(pair, start);
            });
        }
        corpus.words = words;
        corpus.count_changes(tokens);
        corpus
    }

    /// How often a token occurs.
    pub fn frequency(&self, token: u32) -> u64 {
        self.frequencies[token as usize]
    }

    fn number(&mut self, ids: (u32, u32)) -> usize {
        let new = self.pairs.len() as u32;
        let number = *self.numbers.entry(ids).or_insert(new);
        if number == new {
            self.pairs.push(Pair {
                ids,
                count: 0,
                queued: 0,
                words: Vec::new(),
            });
        }
        number as usize
    }

    fn note_word(&mut self, pair: (u32, u32), word: u32) {
        let number = self.number(pair);
        let words = &mut self.pairs[number].words;
        if words.last() != Some(&word) {
            words.push(word);
        }
    }

    /// Brings counts up to date, and queues the pairs that are more frequent than before.
    fn count_changes(&mut self, tokens: &Tokens) {
        let mut changes = std::mem::take(&mut self.changes);
        for (ids, change) in changes.drain() {
            let number = self.number(ids);
            let pair = &mut self.pairs[number];
            pair.count = pair.count.saturating_add_signed(change);
            if pair.count > pair.queued {
                self.push(number, tokens);
            }
        }
        self.changes = changes;
    }

    fn push(&mut self, number: usize, tokens: &Tokens) {
        let Self { pairs, queue, .. } = self;
        pairs[number].queued = pairs[number].count;
        let candidate = Candidate {
            count: pairs[number].count,
            key: 0,
            segment: number as u32,
        };
        queue.push(candidate, |a, b| order(pairs, tokens, a, b));
    }

    /// Takes the pair to merge next out of the queue, and its count; tokens have at most `limit` bytes.
    pub fn most_frequent(&mut self, tokens: &Tokens, limit: usize) -> Option<((u32, u32), u64)> {
        loop {
            let Self { pairs, queue, .. } = self;
            let candidate = queue.pop(|a, b| order(pairs, tokens, a, b))?;
            let number = candidate.segment as usize;
            let pair = &mut pairs[number];
            if candidate.count != pair.queued {
                // It is in the queue once more, with a higher count.
                continue;
            }
            pair.queued = 0;
            let (left, right) = pair.ids;
            if pair.count == 0 || tokens.length(left, right) > limit {
                continue;
            }
            if pair.count == candidate.count {
                return Some((pair.ids, pair.count));
            }
            self.push(number, tokens);
        }
    }

    /// Merges a pair everywhere.
    pub fn merge(&mut self, pair: (u32, u32), made: u32, tokens: &Tokens) {
        let number = self.number(pair);
        let words = std::mem::take(&mut self.pairs[number].words);
        self.rewrite(words, tokens, |symbols, written| {
            let mut read = 0;
            while read < symbols.len() {
                let is_pair = symbols[read] == pair.0 && symbols.get(read + 1) == Some(&pair.1);
                if is_pair {
                    written.put(&[made], read..read + 2);
                    read += 2;
                } else {
                    written.keep(symbols[read]);
                    read += 1;
                }
            }
        });
    }

    /// Replaces a token everywhere.
    pub fn split(&mut self, token: u32, parts: &[u32], tokens: &Tokens) {
        let words = std::mem::take(&mut self.words_of[token as usize]);
        self.rewrite(words, tokens, |symbols, written| {
            for (read, &symbol) in symbols.iter().enumerate() {
                if symbol == token {
                    written.put(parts, read..read + 1);
                } else {
                    written.keep(symbol);
                }
            }
        });
    }

    /// Rewrites words, and counts what changes.
    fn rewrite(
        &mut self,
        mut words: Vec<u32>,
        tokens: &Tokens,
        write: impl Fn(&[u32], &mut Written),
    ) {
        words.sort_unstable();
        words.dedup();
        self.frequencies.resize(tokens.ids(), 0);
        self.words_of.resize(tokens.ids(), Vec::new());
        let mut written = Written::default();
        for word in words {
            tick();
            let (symbols, count) = self.words.word(word);
            written.clear(symbols.len());
            write(symbols, &mut written);
            if !written.is_new.contains(&true) {
                continue;
            }
            for_each_pair(symbols, |at| {
                let is_run = symbols[at] == symbols[at + 1];
                if is_run || written.is_gone[at] || written.is_gone[at + 1] {
                    let pair = (symbols[at], symbols[at + 1]);
                    *self.changes.entry(pair).or_default() -= count;
                }
            });
            for (symbol, is_gone) in symbols.iter().zip(&written.is_gone) {
                if *is_gone {
                    self.frequencies[*symbol as usize] -= count.unsigned_abs();
                }
            }
            let new = &written.symbols;
            for_each_pair(new, |at| {
                let is_run = new[at] == new[at + 1];
                if is_run || written.is_new[at] || written.is_new[at + 1] {
                    let pair = (new[at], new[at + 1]);
                    *self.changes.entry(pair).or_default() += count;
                    self.note_word(pair, word);
                }
            });
            for (&symbol, is_new) in new.iter().zip(&written.is_new) {
                if *is_new {
                    self.frequencies[symbol as usize] += count.unsigned_abs();
                    let words = &mut self.words_of[symbol as usize];
                    let is_long = tokens.bytes[symbol as usize].len() > 1;
                    if is_long && words.last() != Some(&word) {
                        words.push(word);
                    }
                }
            }
            self.words.set(word, &written.symbols);
        }
        self.count_changes(tokens);
    }
}

/// A word as a step leaves it.
#[derive(Default)]
struct Written {
    symbols: Vec<u32>,
    /// Whether each symbol is new, and whether each one before the step is gone.
    is_new: Vec<bool>,
    is_gone: Vec<bool>,
}

impl Written {
    fn clear(&mut self, before: usize) {
        self.symbols.clear();
        self.is_new.clear();
        self.is_gone.clear();
        self.is_gone.resize(before, false);
    }

    fn keep(&mut self, symbol: u32) {
        self.symbols.push(symbol);
        self.is_new.push(false);
    }

    fn put(&mut self, symbols: &[u32], instead_of: std::ops::Range<usize>) {
        self.symbols.extend_from_slice(symbols);
        self.is_new.resize(self.symbols.len(), true);
        self.is_gone[instead_of].fill(true);
    }
}

/// The order of the queue: the most frequent first, then the smallest pair of byte strings.
fn order(pairs: &[Pair], tokens: &Tokens, a: &Candidate, b: &Candidate) -> Ordering {
    let strings = |candidate: &Candidate| {
        let (left, right) = pairs[candidate.segment as usize].ids;
        (&tokens.bytes[left as usize], &tokens.bytes[right as usize])
    };
    a.count
        .cmp(&b.count)
        .then_with(|| strings(b).cmp(&strings(a)))
}
