//! Word counts: the distinct pieces of a corpus and how often each occurs.
//!
//! Look here for what every trainer starts from. [`WordCounter`] makes word counts from texts;
//! they can be saved, loaded, merged and filtered, and trained from many times.

use std::path::Path;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

mod budget;
mod counter;
mod spill;
mod stages;
mod table;

pub use budget::{MemoryBudget, WordMemory};
pub use counter::{Counted, CountingOptions, WordCounter};
pub use stages::FirstStages;

use budget::Fit;
use table::Entry;

use crate::error::{Error, ErrorKind, Result};
use crate::format::file;

/// What a file of word counts begins with.
const MAGIC: &[u8] = b"jeton word counts 1\n";

/// The distinct pieces of a corpus with their counts, in the order in which each was first met.
///
/// ```
/// use jeton_core::word_counts::WordCounts;
///
/// let counts = WordCounts::from_words("to be or not to be".split(' ').map(|word| (word, 1)));
/// let rows: Vec<_> = counts.iter().collect();
/// assert_eq!(rows, [("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
/// assert_eq!(counts.total(), 6);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordCounts {
    text: String,
    /// Where each word ends in `text`.
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl WordCounts {
    /// The counts of these words; a word that comes again adds to its count, and one that is empty
    /// or comes zero times is no word.
    pub fn from_words<'a>(words: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut counts = Self::default();
        let mut index: HashMap<&str, usize, FixedState> = HashMap::default();
        for (word, count) in words {
            if word.is_empty() || count == 0 {
                continue;
            }
            match index.get(word) {
                Some(&at) => counts.counts[at] = counts.counts[at].saturating_add(count),
                None => {
                    index.insert(word, counts.len());
                    counts.push(word, count);
                }
            }
        }
        counts
    }

    /// Adds a word that is not there yet.
    fn push(&mut self, word: &str, count: u64) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
        self.counts.push(count);
    }

    /// How many distinct words there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How many words the corpus has, each occurrence counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().copied().fold(0, u64::saturating_add)
    }

    /// Words and their counts, in the order in which they were first met.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges
            .zip(&self.counts)
            .map(|((start, &end), &count)| (&self.text[start..end], count))
    }

    /// The counts of both corpora, those of `other` met later.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        Self::from_words(self.iter().chain(other.iter()))
    }

    /// The words that `keep` accepts.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&str, u64) -> bool) -> Self {
        let mut counts = Self::default();
        for (word, count) in self.iter().filter(|(word, count)| keep(word, *count)) {
            counts.push(word, count);
        }
        counts
    }

    /// Checks that there is memory for what `budget` says the words need.
    ///
    /// # Errors
    /// There is not, with what could be done.
    pub fn check_memory(&self, budget: &MemoryBudget) -> Result<()> {
        let mut fit = Fit::new(Some(budget));
        for (word, count) in self.iter() {
            fit.add(word.len(), count);
        }
        fit.check()
    }

    /// Writes the counts to a file, whole or not at all.
    ///
    /// # Errors
    /// A folder that is not there, or that cannot be written to.
    pub fn save(&self, path: &Path) -> Result<()> {
        let image = postcard::to_extend(self, MAGIC.to_vec())
            .map_err(|error| Error::new(ErrorKind::File, format!("cannot be stored: {error}")))?;
        file::write(path, &image)
    }

    /// Reads counts that [`WordCounts::save`] wrote.
    ///
    /// # Errors
    /// A file that is not there, that cannot be read, or that holds something else.
    pub fn load(path: &Path) -> Result<Self> {
        let data = file::read(path)?;
        let broken =
            |message: &str| Error::new(ErrorKind::Format, message).at(path.display().to_string());
        let Some(image) = data.strip_prefix(MAGIC) else {
            return Err(broken("not a file of word counts")
                .hint("word counts are written by WordCounts.save"));
        };
        let counts: Self =
            postcard::from_bytes(image).map_err(|_| broken("the word counts are cut short"))?;
        let mut start = 0;
        let sound = counts.ends.iter().all(|&end| {
            let word = counts.text.get(std::mem::replace(&mut start, end)..end);
            word.is_some_and(|word| !word.is_empty())
        });
        if !sound || start != counts.text.len() || counts.ends.len() != counts.counts.len() {
            return Err(broken("the word counts contradict themselves"));
        }
        Ok(counts)
    }
}

/// Words on their way into the order in which they were first met.
#[derive(Default)]
struct Gathered {
    text: Vec<u8>,
    /// Where each word was met first, where it begins in `text` and how long it is, and its count.
    words: Vec<(u64, usize, usize, u64)>,
}

impl Gathered {
    fn push(&mut self, word: &[u8], Entry { count, place }: Entry) {
        self.words.push((place, self.text.len(), word.len(), count));
        self.text.extend_from_slice(word);
    }

    /// The counts. Words come here in the order of their bytes, which settles equal places.
    fn in_order(mut self) -> WordCounts {
        self.words.sort_unstable();
        let mut counts = WordCounts {
            text: String::with_capacity(self.text.len()),
            ends: Vec::with_capacity(self.words.len()),
            counts: Vec::with_capacity(self.words.len()),
        };
        for (_, start, length, count) in self.words {
            let word = String::from_utf8_lossy(&self.text[start..start + length]);
            counts.push(&word, count);
        }
        counts
    }
}

#[cfg(test)]
mod counting_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_merge_in_the_order_of_meeting() {
        let a = WordCounts::from_words([("b", 1), ("", 5), ("a", 2), ("b", 3)]);
        let b = WordCounts::from_words([("c", 1), ("a", u64::MAX), ("d", 0)]);
        let rows = |counts: &WordCounts| -> Vec<(String, u64)> {
            counts.iter().map(|(w, n)| (w.to_owned(), n)).collect()
        };
        let merged = a.merged(&b);
        let expected = [("b", 4), ("a", u64::MAX), ("c", 1)].map(|(w, n)| (w.to_owned(), n));
        assert_eq!(rows(&merged), expected);
        assert_eq!(rows(&merged.filtered(|_, count| count < 10)).len(), 2);
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = std::env::temp_dir().join(format!("jeton-counts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.counts");
        let counts = WordCounts::from_words([("héllo", 3), ("world", u64::MAX)]);
        counts.save(&path).unwrap();
        assert_eq!(WordCounts::load(&path).unwrap(), counts);

        let mut image = file::read(&path).unwrap();
        image.pop();
        file::write(&path, &image).unwrap();
        let error = WordCounts::load(&path).unwrap_err().to_string();
        assert!(error.ends_with("the word counts are cut short"), "{error}");
        file::write(&path, b"{}").unwrap();
        assert!(WordCounts::load(&path).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
