//! Counting: texts in, word counts out, on all threads, with the same result for any number.
//!
//! Each thread has a table of its own, in which a word carries its count and where it was first
//! met; the tables are joined at the end and sorted by that place.

use std::sync::Mutex;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::hash::BuildHasher;

use super::WordCounts;
use crate::added_tokens::{AddedToken, AddedTokens, Cut, SpecialPolicy};
use crate::error::Result;
use crate::normalizer::Normalizer;
use crate::pre_tokenizer::PreTokenizer;
use crate::text::{AlignedText, Pieces};

/// The stages that training shares with encoding: everything before the model.
#[derive(Clone, Debug, Default)]
pub struct FirstStages {
    added_tokens: AddedTokens,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
}

impl FirstStages {
    /// These stages. Added tokens, special ones too, are boundaries and belong to no word.
    ///
    /// # Errors
    /// Added tokens that contradict each other.
    pub fn new(
        added_tokens: Vec<AddedToken>,
        normalizer: Option<Normalizer>,
        pre_tokenizer: Option<PreTokenizer>,
    ) -> Result<Self> {
        Ok(Self {
            added_tokens: AddedTokens::new(added_tokens, normalizer.as_ref())?,
            normalizer,
            pre_tokenizer,
        })
    }

    /// Calls `word` with each piece that the model would see of `text`.
    fn for_each_word(&self, text: &str, mut word: impl FnMut(&str)) -> Result<()> {
        let cuts = self.added_tokens.cut(
            AlignedText::original(text),
            self.normalizer.as_ref(),
            &SpecialPolicy::Allow,
        )?;
        for cut in cuts {
            let Cut::Text(text) = cut else { continue };
            let mut pieces = Pieces::new(text);
            if let Some(pre_tokenizer) = &self.pre_tokenizer {
                pre_tokenizer.cut(&mut pieces)?;
            }
            pieces.iter().for_each(|piece| word(piece.as_str()));
        }
        Ok(())
    }
}

/// Counts the words of texts, batch after batch.
///
/// ```
/// use jeton_core::word_counts::{FirstStages, WordCounter};
///
/// let mut counter = WordCounter::new(FirstStages::default());
/// counter.count(&["one", "two"])?;
/// counter.count(&["one"])?;
/// assert_eq!(counter.finish().iter().collect::<Vec<_>>(), [("one", 2), ("two", 1)]);
/// # Ok::<(), jeton_core::Error>(())
/// ```
pub struct WordCounter {
    stages: FirstStages,
    /// One table a thread.
    tables: Vec<Mutex<Table>>,
    /// The place of the next text.
    place: u64,
}

/// Places of texts lie this far apart for each byte of text, to leave room for the words within.
/// Normalization that makes more words than this of one byte makes the order of first meeting
/// uncertain, but not the counts, and not the same from run to run.
const PLACES_PER_BYTE: u64 = 64;

impl WordCounter {
    /// A counter of the words that these stages make.
    pub fn new(stages: FirstStages) -> Self {
        let threads = rayon::current_num_threads().max(1);
        Self {
            stages,
            tables: (0..threads).map(|_| Mutex::default()).collect(),
            place: 0,
        }
    }

    /// Counts the words of `texts`.
    ///
    /// # Errors
    /// A pattern that gave up on a text.
    pub fn count<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<()> {
        let mut next = self.place;
        let mut places = Vec::with_capacity(texts.len());
        for text in texts {
            places.push(next);
            next += PLACES_PER_BYTE * (text.as_ref().len() as u64 + 1);
        }
        self.place = next;
        texts.par_iter().zip(places).try_for_each(|(text, place)| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut table = match self.tables[thread % self.tables.len()].lock() {
                Ok(table) => table,
                Err(poisoned) => poisoned.into_inner(),
            };
            let mut place = place;
            self.stages.for_each_word(text.as_ref(), |word| {
                table.add(word, Entry { count: 1, place });
                place += 1;
            })
        })
    }

    /// How many distinct words there are so far, each counted once for every thread that met it.
    pub fn distinct(&self) -> usize {
        let length = |table: &Mutex<Table>| table.lock().map_or(0, |table| table.len());
        self.tables.iter().map(length).sum()
    }

    /// The counts of all words, in the order in which they were first met.
    pub fn finish(self) -> WordCounts {
        let mut tables = self
            .tables
            .into_iter()
            .map(|table| match table.into_inner() {
                Ok(table) => table,
                Err(poisoned) => poisoned.into_inner(),
            });
        let mut all = tables.next().unwrap_or_default();
        tables.for_each(|table| table.for_each(|word, entry| all.add(word, entry)));
        let mut words: Vec<(Entry, String)> = Vec::with_capacity(all.len());
        all.for_each(|word, entry| words.push((entry, word.to_owned())));
        words.par_sort_unstable_by(|(a, word_a), (b, word_b)| {
            (a.place, word_a).cmp(&(b.place, word_b))
        });
        let mut counts = WordCounts::default();
        for (entry, word) in words {
            counts.push(&word, entry.count);
        }
        counts
    }
}

/// How often a word occurs, and where it was first met.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    count: u64,
    place: u64,
}

impl Entry {
    fn join(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.place = self.place.min(other.place);
    }
}

/// A hash table from words to entries. Words of up to 15 bytes, nearly all, are kept as one
/// number in a flat table with open addressing; longer ones in an ordinary map.
#[derive(Default)]
struct Table {
    slots: Vec<(u128, Entry)>,
    used: usize,
    hasher: RandomState,
    long: HashMap<String, Entry, RandomState>,
}

impl Table {
    fn len(&self) -> usize {
        self.used + self.long.len()
    }

    fn add(&mut self, word: &str, entry: Entry) {
        match pack(word.as_bytes()) {
            Some(0) => {}
            Some(key) => self.add_short(key, entry),
            None => match self.long.get_mut(word) {
                Some(known) => known.join(entry),
                None => {
                    self.long.insert(word.to_owned(), entry);
                }
            },
        }
    }

    fn add_short(&mut self, key: u128, entry: Entry) {
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = self.hasher.hash_one(key) as usize & mask;
        loop {
            let (known, value) = &mut self.slots[at];
            if *known == key {
                return value.join(entry);
            }
            if *known == 0 {
                self.slots[at] = (key, entry);
                self.used += 1;
                return;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let larger = vec![(0, Entry::default()); (2 * self.slots.len()).max(1 << 12)];
        let old = std::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for (key, entry) in old.into_iter().filter(|(key, _)| *key != 0) {
            self.add_short(key, entry);
        }
    }

    /// Calls `word` with each word, in no order.
    fn for_each(self, mut word: impl FnMut(&str, Entry)) {
        for (key, entry) in self.slots.into_iter().filter(|(key, _)| *key != 0) {
            let bytes = key.to_le_bytes();
            if let Ok(text) = std::str::from_utf8(&bytes[..usize::from(bytes[15])]) {
                word(text, entry);
            }
        }
        for (long, entry) in self.long {
            word(&long, entry);
        }
    }
}

/// A word of up to 15 bytes as one number: its bytes, and its length in the top byte.
fn pack(word: &[u8]) -> Option<u128> {
    if word.len() > 15 {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[..word.len()].copy_from_slice(word);
    bytes[15] = word.len() as u8;
    Some(u128::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_count_short_and_long_words() {
        let mut table = Table::default();
        let words: Vec<String> = (0..10_000)
            .map(|n| format!("{}{}", "x".repeat(n % 20), n / 3))
            .collect();
        for (word, place) in words.iter().chain(&words).zip(0..) {
            table.add(word, Entry { count: 1, place });
        }
        let mut found = std::collections::BTreeMap::new();
        table.for_each(|word, entry| {
            assert!(found.insert(word.to_owned(), entry.count).is_none());
        });
        let mut expected = std::collections::BTreeMap::new();
        for word in words.iter().chain(&words) {
            *expected.entry(word.clone()).or_insert(0) += 1;
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let texts: Vec<String> = (0..500)
            .map(|n| format!("w{} the w{} {}", n * 7 % 91, n % 13, "long".repeat(n % 9)))
            .collect();
        let words = texts.iter().flat_map(|text| text.split(' '));
        let expected = WordCounts::from_words(words.map(|word| (word, 1)));
        let split = Some(PreTokenizer::WhitespaceSplit);
        let stages = FirstStages::new(vec![], None, split).unwrap();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let counts = pool.build().unwrap().install(|| {
                let mut counter = WordCounter::new(stages.clone());
                let (first, second) = texts.split_at(threads * 30);
                counter.count(first).unwrap();
                counter.count(second).unwrap();
                counter.finish()
            });
            assert_eq!(counts, expected);
        }
    }

    #[test]
    fn special_tokens_are_boundaries() {
        let special = AddedToken {
            id: 0,
            content: "<s>".to_owned(),
            special: true,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
        };
        let mut counter = WordCounter::new(FirstStages::new(vec![special], None, None).unwrap());
        counter.count(&["one<s>two<s>"]).unwrap();
        assert_eq!(
            counter.finish(),
            WordCounts::from_words([("one", 1), ("two", 1)])
        );
    }
}
