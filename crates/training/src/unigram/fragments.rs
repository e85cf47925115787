//! Fragments: the words cut where no piece can cross, each distinct one once, with its count.
//!
//! Every cut of a word into pieces is a cut of each of its fragments, so training on fragments is training
//! on words. There are far fewer of them: `▁word,` and `▁word.` share one.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::alphabet::Alphabet;
use super::parameters::PieceTrainer;
use crate::word_counts::WordCounts;
use jeton_stages::tables::trie::Trie;
use jeton_text::error::{Error, ErrorKind, Result};

/// What stands after each fragment.
pub(super) const END: u32 = 0;

/// The fragments in the order of their texts.
pub(super) struct Fragments {
    /// Their symbols, each fragment followed by [`END`].
    pub(super) symbols: Vec<u32>,
    /// Where each fragment begins, and where the last one and its end are over.
    pub(super) starts: Vec<u32>,
    /// How often each occurs.
    pub(super) weights: Vec<u64>,
    /// What the rules know of each symbol but [`END`].
    pub(super) classes: Vec<super::rules::Class>,
}

/// Words that a thread takes at a time.
const WORDS_AT_ONCE: usize = if cfg!(test) { 3 } else { 1 << 14 };

type Counts<'w> = HashMap<&'w str, u64, FixedState>;

impl Fragments {
    /// The fragments of words.
    pub(super) fn new(
        words: &WordCounts,
        alphabet: &Alphabet,
        training: &PieceTrainer,
    ) -> Result<Self> {
        let meta = training.meta_pieces.iter().map(String::as_bytes);
        let cutter = Cutter {
            alphabet,
            training,
            meta: Trie::new(meta.zip(0..)),
        };
        let rows: Vec<(&str, u64)> = words
            .iter()
            .filter(|(_, count)| *count >= training.min_word_count)
            .collect();
        // Which words share a table depends on the threads; the sum over all tables does not.
        let tables: Vec<Counts<'_>> = rows
            .par_chunks(WORDS_AT_ONCE)
            .fold(Counts::default, |mut counts, part| {
                for &(word, count) in part {
                    cutter.cut(word, |fragment| {
                        *counts.entry(fragment).or_default() += count
                    });
                }
                counts
            })
            .collect();
        let mut found: Vec<(&str, u64)> = tables.into_iter().flatten().collect();
        found.par_sort_unstable();
        let mut fragments = Self {
            symbols: Vec::new(),
            starts: vec![0],
            weights: Vec::new(),
            classes: (1..=alphabet.required().len() as u32)
                .map(|symbol| alphabet.class(symbol))
                .collect(),
        };
        for same in found.chunk_by(|(a, _), (b, _)| a == b) {
            let text = same[0]
                .0
                .chars()
                .map(|character| alphabet.symbol(character));
            fragments.symbols.extend(text);
            fragments.symbols.push(END);
            fragments
                .weights
                .push(same.iter().map(|(_, count)| count).sum());
            let Ok(start) = u32::try_from(fragments.symbols.len()) else {
                return Err(Error::new(
                    ErrorKind::Training,
                    "the distinct words have more than 4,294,967,295 characters",
                )
                .hint("raise min_word_count, or train on a part of the corpus"));
            };
            fragments.starts.push(start);
        }
        Ok(fragments)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

struct Cutter<'a> {
    alphabet: &'a Alphabet,
    training: &'a PieceTrainer,
    meta: Trie,
}

impl Cutter<'_> {
    /// Calls `fragment` with each fragment of a word.
    fn cut<'w>(&self, word: &'w str, mut fragment: impl FnMut(&'w str)) {
        let rules = &self.training.rules;
        let has_meta = !self.training.meta_pieces.is_empty();
        let mut emit = |start: usize, end: usize| {
            if start < end {
                fragment(&word[start..end]);
            }
        };
        let (mut start, mut at) = (0, 0);
        let mut before = None;
        while let Some(character) = word[at..].chars().next() {
            if has_meta {
                let rest = &word.as_bytes()[at..];
                if let Some((_, length)) = self.meta.prefixes(self.meta.root(), rest).last() {
                    emit(start, at);
                    at += length;
                    (start, before) = (at, None);
                    continue;
                }
            }
            let end = at + character.len_utf8();
            let symbol = self.alphabet.symbol(character);
            if symbol == END {
                emit(start, at);
                (start, before) = (end, None);
            } else {
                let class = self.alphabet.class(symbol);
                if before.is_some_and(|before| rules.part(before, class)) {
                    emit(start, at);
                    start = at;
                }
                before = Some(class);
            }
            at = end;
        }
        emit(start, at);
    }
}
