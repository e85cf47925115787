//! Training that leaves no residues: a token that occurs almost only inside a longer one is removed again.
//!
//! By definition: the most frequent pair is merged, of equally frequent ones the smallest pair of byte
//! strings. Then each of its two tokens, the left one first, is deleted if it is longer than a byte and at
//! least the share `threshold` of its occurrences was in this pair: the others become the two tokens that it
//! was last merged from, or its bytes. So it goes on until there are enough tokens. In a run of equal tokens
//! pairs do not overlap: `aaa` has one `aa`.
//!
//! Later merges may make a deleted token again. It may also come back as part of another deleted token; words
//! then hold a token that is not in the vocabulary. `PickyBpe` says how these are encoded.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::parameters::{BpeTrainer, TieBreak, too_small};
use super::queue::{Candidate, Queue};
use super::tokens::Tokens;
use super::words::Words;
use super::{Learnt, begin};
use crate::checks::wrong;
use crate::word_counts::WordCounts;
use crate::{Phase, Progress, Trainer, Watch};
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::picky_bpe::{Event, PickyBpe, Residue};
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;
use jeton_text::interrupt::Pace;

/// When a token is taken out again, and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residues {
    /// The share of a token's occurrences in a merged pair from which on it is deleted; above 0, at most 1.
    pub threshold: f64,
    /// What the other occurrences become.
    pub become_what: Residue,
}

/// A merge or a deletion.
#[derive(Clone, Copy)]
enum Step {
    Merge(u32, u32),
    Deletion(u32),
}

impl BpeTrainer {
    /// Checks that the parameters make sense for training without residues.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub fn check_residues(&self, residues: &Residues) -> Result<()> {
        self.check()?;
        let threshold = residues.threshold;
        if !(threshold > 0.0 && threshold <= 1.0) {
            return wrong(
                format!("drop_residues cannot be {threshold}"),
                "it is a share above 0, at most 1; 0.9 is usual",
            );
        }
        let marks = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
        if self.alphabet != Alphabet::Bytes || marks.iter().any(|mark| mark.is_some()) {
            return wrong(
                "drop_residues is for words of bytes, without prefix or suffix",
                "leave out alphabet, continuing_subword_prefix and end_of_word_suffix",
            );
        }
        if self.start.is_some() {
            return wrong(
                "drop_residues and start_from do not go together: it would delete given tokens",
                "leave out one of them",
            );
        }
        if self.tie_break != TieBreak::Alphabetic {
            return wrong(
                "drop_residues has an order of its own for equally frequent pairs",
                "leave out tie_break, or set tie_break=\"alphabetic\"",
            );
        }
        Ok(())
    }

    /// The models of several sizes, from one run that leaves no residues: each is what training for that
    /// size gives.
    ///
    /// # Errors
    /// As [`BpeTrainer::check_residues`] and [`Trainer::train`], of each size.
    pub fn train_without_residues(
        &self,
        residues: &Residues,
        counts: &WordCounts,
        sizes: &[usize],
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<PickyBpe>> {
        self.check_residues(residues)?;
        let (learnt, symbols) = begin(&[counts], self)?;
        let words = symbols.words(counts, self.alphabet, |_| ());
        let mut run = Run {
            corpus: Corpus::new(words, &learnt.tokens),
            is_live: vec![true; learnt.first_id],
            live: learnt.first,
            pairs_of: HashMap::default(),
            steps: Vec::new(),
            ends: Vec::new(),
            residue: residues.become_what,
            learnt,
        };
        run.learn(residues.threshold, &mut Watch(&mut watch))?;
        sizes.iter().map(|&size| run.model(size)).collect()
    }
}

/// What there is while training goes on.
struct Run<'t> {
    learnt: Learnt<'t>,
    corpus: Corpus,
    /// Whether a token is in the vocabulary, by its number here; and how many are.
    is_live: Vec<bool>,
    live: usize,
    /// The two tokens that a token was last merged from.
    pairs_of: HashMap<u32, (u32, u32), FixedState>,
    steps: Vec<Step>,
    /// How many tokens there are after the steps so far, whenever a merge and its deletions are done.
    ends: Vec<(usize, usize)>,
    residue: Residue,
}

impl Run<'_> {
    fn learn(&mut self, threshold: f64, watch: &mut Watch<'_>) -> Result<()> {
        let training = self.learnt.training;
        let size = self.learnt.size();
        self.ends.push((self.live, 0));
        while self.live < size {
            let limit = training.max_token_length.unwrap_or(usize::MAX);
            let best = self.corpus.most_frequent(&self.learnt.tokens, limit);
            let Some((pair, count)) = best.filter(|best| best.1 >= training.min_frequency) else {
                break;
            };
            if self.ends.len().is_multiple_of(super::WATCH_EVERY) {
                let done = self.live + training.last_tokens();
                watch.tell(Phase::Merging, done, training.vocab_size)?;
            }
            let (left, right) = pair;
            let parts = if left == right {
                vec![left]
            } else {
                vec![left, right]
            };
            let is_residue = |&part: &u32| {
                let all = self.corpus.frequencies[part as usize];
                self.learnt.tokens.bytes[part as usize].len() > 1
                    && count as f64 / all as f64 >= threshold
            };
            let residues: Vec<u32> = parts.into_iter().filter(is_residue).collect();
            let made = self.learnt.tokens.merge(left, right, "");
            self.set_live(made, true);
            self.pairs_of.insert(made, pair);
            self.steps.push(Step::Merge(left, right));
            self.corpus.merge(pair, made, &self.learnt.tokens);
            for residue in residues {
                self.set_live(residue, false);
                self.steps.push(Step::Deletion(residue));
                let become_what = self.parts(residue);
                self.corpus
                    .split(residue, &become_what, &self.learnt.tokens);
            }
            self.ends.push((self.live, self.steps.len()));
        }
        let count = self.live + training.last_tokens();
        watch.tell(Phase::Merging, count, count)
    }

    /// Notes whether a token is in the vocabulary, which special tokens always are.
    fn set_live(&mut self, token: u32, is_live: bool) {
        let first = self.learnt.first_id;
        let at = token as usize;
        if at >= first {
            self.is_live.resize(self.is_live.len().max(at + 1), false);
            self.live -= usize::from(self.is_live[at]);
            self.live += usize::from(is_live);
            self.is_live[at] = is_live;
        }
    }

    /// What a deleted token becomes.
    fn parts(&self, token: u32) -> Vec<u32> {
        match (self.residue, self.pairs_of.get(&token)) {
            (Residue::Pair, Some(&(left, right))) => vec![left, right],
            _ => {
                let bytes = self.learnt.tokens.bytes[token as usize].iter();
                bytes
                    .filter_map(|&byte| self.learnt.tokens.id(&[byte]))
                    .collect()
            }
        }
    }

    /// The model with `vocab_size` tokens, or as many as there are.
    fn model(&self, vocab_size: usize) -> Result<PickyBpe> {
        let training = self.learnt.training;
        let needed = self.learnt.first + training.last_tokens();
        if vocab_size < needed {
            return Err(too_small(training, vocab_size, needed));
        }
        let size = vocab_size - training.last_tokens();
        let end = self.ends.iter().find(|(live, _)| *live >= size);
        let steps = &self.steps[..end.map_or(self.steps.len(), |end| end.1)];
        let tokens = &self.learnt.tokens;
        let bytes = |token: u32| tokens.bytes[token as usize].clone();
        // Tokens have their ids in the order in which they were last made.
        let mut last_made: HashMap<u32, usize, FixedState> = HashMap::default();
        for (number, step) in steps.iter().enumerate() {
            match *step {
                Step::Merge(left, right) => {
                    let made = tokens.id(&[bytes(left), bytes(right)].concat());
                    if let Some(made) = made {
                        last_made.entry(made).or_insert(number);
                    }
                }
                Step::Deletion(token) => {
                    last_made.remove(&token);
                }
            }
        }
        let first = self.learnt.first_id as u32;
        // A special token is no bytes of text, unless merges make the same.
        let is_text =
            |token: u32| tokens.bytes[token as usize].len() == 1 || last_made.contains_key(&token);
        let mut entries: Vec<(Vec<u8>, u32)> = (0..first)
            .filter(|&token| is_text(token) || !self.learnt.specials.contains(&token))
            .map(|token| (bytes(token), token))
            .collect();
        let new = last_made.iter().filter(|(token, _)| **token >= first);
        let mut new: Vec<(usize, u32)> = new.map(|(token, number)| (*number, *token)).collect();
        new.sort_unstable();
        let ids = first..;
        entries.extend(
            new.into_iter()
                .zip(ids)
                .map(|((_, token), id)| (bytes(token), id)),
        );
        let events = steps.iter().map(|step| match *step {
            Step::Merge(left, right) => Event::Merge(bytes(left), bytes(right)),
            Step::Deletion(token) => Event::Deletion(bytes(token)),
        });
        PickyBpe::new(Vocab::new(entries)?, events, self.residue)
    }
}

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
struct Corpus {
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
    fn new(words: Words, tokens: &Tokens) -> Self {
        let mut corpus = Self {
            pairs: Vec::new(),
            numbers: HashMap::default(),
            queue: Queue::new(),
            frequencies: vec![0; tokens.ids()],
            words_of: vec![Vec::new(); tokens.ids()],
            changes: HashMap::default(),
            words: Words::default(),
        };
        let mut pace = Pace::default();
        for start in words.starts() {
            pace.step();
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
    fn most_frequent(&mut self, tokens: &Tokens, limit: usize) -> Option<((u32, u32), u64)> {
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
    fn merge(&mut self, pair: (u32, u32), made: u32, tokens: &Tokens) {
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
    fn split(&mut self, token: u32, parts: &[u32], tokens: &Tokens) {
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
        let mut pace = Pace::default();
        for word in words {
            pace.step();
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeMap;

    type Text = Vec<(Vec<Vec<u8>>, u64)>;

    fn pairs(text: &Text) -> BTreeMap<(Vec<u8>, Vec<u8>), u64> {
        let mut pairs = BTreeMap::new();
        for (word, count) in text {
            let mut at = 0;
            while at + 1 < word.len() {
                *pairs
                    .entry((word[at].clone(), word[at + 1].clone()))
                    .or_default() += count;
                let run = word[at] == word[at + 1] && word.get(at + 2) == Some(&word[at]);
                at += if run { 2 } else { 1 };
            }
        }
        pairs
    }

    fn frequency(text: &Text, token: &[u8]) -> u64 {
        let of_word = |(word, n): &(Vec<Vec<u8>>, u64)| {
            word.iter().filter(|it| *it == token).count() as u64 * n
        };
        text.iter().map(of_word).sum()
    }

    /// The definition, counted again for each merge.
    fn plain(residues: &Residues, mut text: Text, tokens: usize) -> Vec<Event> {
        let mut events = Vec::new();
        let mut live = std::collections::BTreeSet::new();
        let mut made_of = BTreeMap::new();
        while live.len() < tokens {
            let all = pairs(&text).into_iter();
            let best = all.max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)));
            let Some(((left, right), count)) = best else {
                break;
            };
            let is_residue = |part: &Vec<u8>| {
                let share = count as f64 / frequency(&text, part) as f64;
                part.len() > 1 && share >= residues.threshold
            };
            let mut parts = vec![left.clone(), right.clone()];
            parts.dedup();
            parts.retain(is_residue);
            let token = [left.clone(), right.clone()].concat();
            for (word, _) in &mut text {
                let mut at = 0;
                while at + 1 < word.len() {
                    if word[at] == left && word[at + 1] == right {
                        word[at] = token.clone();
                        word.remove(at + 1);
                    }
                    at += 1;
                }
            }
            live.insert(token.clone());
            made_of.insert(token, (left.clone(), right.clone()));
            events.push(Event::Merge(left, right));
            for part in parts {
                live.remove(&part);
                let by = match residues.become_what {
                    Residue::Bytes => part.iter().map(|&byte| vec![byte]).collect(),
                    Residue::Pair => {
                        let (left, right) = made_of[&part].clone();
                        vec![left, right]
                    }
                };
                for (word, _) in &mut text {
                    let each = std::mem::take(word).into_iter();
                    *word = each
                        .flat_map(|it| if it == part { by.clone() } else { vec![it] })
                        .collect();
                }
                events.push(Event::Deletion(part));
            }
        }
        events
    }

    #[test]
    fn events_are_those_of_the_definition() {
        let mut numbers = ChaCha8Rng::seed_from_u64(11);
        let mut deletions = 0;
        for round in 0..300 {
            let letters = 2 + round as u32 % 3;
            let mut word = || -> (String, u64) {
                let length = numbers.random_range(1..14);
                let letter = |n: u32| char::from(b"abcd"[n as usize]);
                let word = (0..length).map(|_| letter(numbers.random_range(0..letters)));
                (word.collect(), numbers.random_range(1..9))
            };
            let words: Vec<(String, u64)> = (0..12).map(|_| word()).collect();
            let counts = WordCounts::from_words(words.iter().map(|(w, n)| (w.as_str(), *n)));
            let residues = Residues {
                threshold: [0.5, 0.6, 0.9][round % 3],
                become_what: [Residue::Pair, Residue::Bytes][round % 2],
            };
            let text = counts
                .iter()
                .map(|(word, n)| (word.bytes().map(|b| vec![b]).collect(), n));
            let text: Text = text.collect();
            let training = BpeTrainer {
                vocab_size: 276,
                tie_break: TieBreak::Alphabetic,
                ..BpeTrainer::default()
            };
            let go_on = |_| ControlFlow::Continue(());
            let models = training
                .train_without_residues(&residues, &counts, &[262, 276], go_on)
                .unwrap();
            for (model, tokens) in models.iter().zip([6, 20]) {
                let expected = plain(&residues, text.clone(), tokens);
                let found: Vec<Event> = model.events().collect();
                assert_eq!(found, expected, "round {round}: {words:?}");
                deletions += found
                    .iter()
                    .filter(|it| matches!(it, Event::Deletion(_)))
                    .count();
            }
        }
        assert!(deletions > 100);
    }

    #[test]
    fn parameters_that_do_not_go_together_are_refused() {
        let fits = BpeTrainer {
            tie_break: TieBreak::Alphabetic,
            ..BpeTrainer::default()
        };
        let residues = Residues {
            threshold: 0.9,
            become_what: Residue::Pair,
        };
        assert!(fits.check_residues(&residues).is_ok());
        for threshold in [0.0, 1.1, f64::NAN] {
            let residues = Residues {
                threshold,
                ..residues
            };
            assert!(fits.check_residues(&residues).is_err());
        }
        let characters = BpeTrainer {
            alphabet: Alphabet::Characters,
            ..fits.clone()
        };
        let other_ties = BpeTrainer {
            tie_break: TieBreak::First,
            ..fits.clone()
        };
        for other in [characters, other_ties] {
            let error = other.check_residues(&residues).unwrap_err();
            assert!(error.to_string().contains("drop_residues"), "{error}");
        }
    }
}
