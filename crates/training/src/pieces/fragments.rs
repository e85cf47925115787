//! Fragments: the words split where no piece can cross, each distinct one once, with its count.
//!
//! Every split of a word into pieces is a split of each of its fragments, so training on fragments is training
//! on words. There are far fewer of them: `▁word,` and `▁word.` share one.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::alphabet::Alphabet;
use super::boundaries::Boundaries;
use super::parameters::PieceOptions;
use super::rules::{Class, PieceRules};
use crate::sorting::sort;
use crate::word_counts::WordCounts;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{Listener, paced};

/// The symbol behind each fragment.
pub(crate) const END: u32 = 0;

/// The fragments in the order of their texts.
pub(crate) struct Fragments {
    /// Their symbols, each fragment followed by [`END`].
    pub(crate) symbols: Vec<u32>,
    /// Where each fragment begins, and where the last one and its end are over.
    pub(crate) starts: Vec<u32>,
    /// How often each occurs.
    pub(crate) weights: Vec<u64>,
    /// What the rules know of each symbol but [`END`].
    pub(crate) classes: Vec<Class>,
}

/// Words that a thread takes at a time.
const WORDS_AT_ONCE: usize = if cfg!(test) { 3 } else { 1 << 14 };

type Counts<'w> = HashMap<&'w str, u64, FixedState>;

impl Fragments {
    /// The fragments of words.
    pub(crate) fn new(
        words: &WordCounts,
        alphabet: &Alphabet,
        options: &PieceOptions,
    ) -> Result<Self> {
        let cutter = Cutter {
            alphabet,
            rules: &options.rules,
            boundaries: Boundaries::new(&options.meta_pieces),
        };
        let rows: Vec<(&str, u64)> = words
            .iter()
            .filter(|(_, count)| *count >= options.min_word_count)
            .collect();
        // Which words share a table depends on the threads; the sum over all tables does not.
        let found = Listener::lend(|listener| {
            let parts = rows.par_chunks(WORDS_AT_ONCE);
            let counts = parts.fold(Counts::default, |mut counts, part| {
                listener.during(|| {
                    for &(word, count) in paced(part.iter()) {
                        cutter.cut(word, |fragment| {
                            *counts.entry(fragment).or_default() += count
                        });
                    }
                });
                counts
            });
            let tables: Vec<Counts<'_>> = counts.collect();
            let fragments = tables.into_iter().flatten();
            let mut found: Vec<(&str, u64)> = fragments.collect();
            sort(listener, &mut found, &|fragment| *fragment);
            found
        });
        let mut fragments = Self {
            symbols: Vec::new(),
            starts: vec![0],
            weights: Vec::new(),
            classes: (1..=alphabet.required().len() as u32)
                .map(|symbol| alphabet.class(symbol))
                .collect(),
        };
        for same in paced(found.chunk_by(|(a, _), (b, _)| a == b)) {
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
    pub(crate) fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

struct Cutter<'a> {
    alphabet: &'a Alphabet,
    rules: &'a PieceRules,
    boundaries: Boundaries,
}

impl Cutter<'_> {
    /// Calls `fragment` with each fragment of a word.
    fn cut<'w>(&self, word: &'w str, mut fragment: impl FnMut(&'w str)) {
        self.boundaries.between(word, |text| {
            let mut emit = |start: usize, end: usize| {
                if start < end {
                    fragment(&text[start..end]);
                }
            };
            let mut start = 0;
            let mut before = None;
            for (at, character) in text.char_indices() {
                let symbol = self.alphabet.symbol(character);
                if symbol == END {
                    emit(start, at);
                    (start, before) = (at + character.len_utf8(), None);
                    continue;
                }
                let class = self.alphabet.class(symbol);
                if before.is_some_and(|before| self.rules.part(before, class)) {
                    emit(start, at);
                    start = at;
                }
                before = Some(class);
            }
            emit(start, text.len());
        });
    }
}
