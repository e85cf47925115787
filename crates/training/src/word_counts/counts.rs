//! The distinct words of a corpus and how often each occurs, as one value.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::budget::{Fit, MemoryBudget};
use super::provenance::Provenance;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::paced;

/// The distinct pieces of a corpus with their counts, in the order in which each first occurred.
///
/// Counts are equal if they hold the same words in the same order, whatever these were counted by.
///
/// ```
/// use jeton_training::word_counts::WordCounts;
///
/// let counts = WordCounts::from_words("to be or not to be".split(' ').map(|word| (word, 1)));
/// let rows: Vec<_> = counts.iter().collect();
/// assert_eq!(rows, [("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
/// assert_eq!(counts.total(), 6);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WordCounts {
    pub(super) text: String,
    /// Where each word ends in `text`.
    pub(super) ends: Vec<usize>,
    pub(super) counts: Vec<u64>,
    pub(super) provenance: Option<Provenance>,
}

impl PartialEq for WordCounts {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.ends, &self.counts) == (&other.text, &other.ends, &other.counts)
    }
}

impl Eq for WordCounts {}

impl WordCounts {
    /// The counts of these words; a word that comes again adds to its count, and one that is empty
    /// or comes zero times is no word.
    pub fn from_words<'a>(words: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut counts = Self::default();
        let mut index: HashMap<&str, usize, FixedState> = HashMap::default();
        for (word, count) in paced(words.into_iter()) {
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

    /// As [`from_words`](Self::from_words), for counts that may be any numbers.
    ///
    /// # Errors
    /// Counts that add up to more than a number of 64 bits.
    pub fn try_from_words<'a>(words: impl IntoIterator<Item = (&'a str, u64)>) -> Result<Self> {
        let mut total = Some(0u64);
        let words = words.into_iter().inspect(|(_, count)| {
            total = total.and_then(|total| total.checked_add(*count));
        });
        let counts = Self::from_words(words);
        match total {
            Some(_) => Ok(counts),
            None => Err(Error::new(
                ErrorKind::Argument,
                "the counts of words add up to 2**64 or more, which cannot be counted",
            )
            .hint("divide them all by the same number")),
        }
    }

    /// Adds a word that is not there yet.
    pub(super) fn push(&mut self, word: &str, count: u64) {
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

    /// Words and their counts, in the order in which they first occurred.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges
            .zip(&self.counts)
            .map(|((start, &end), &count)| (&self.text[start..end], count))
    }

    /// The word of a number, and its count.
    pub fn get(&self, at: usize) -> Option<(&str, u64)> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((&self.text[start..end], self.counts[at]))
    }

    /// The numbers of the words in the order of their bytes, to [find](Self::find) them by.
    pub fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        let word = |&at: &u32| self.get(at as usize).map(|(word, _)| word);
        order.sort_unstable_by(|a, b| word(a).cmp(&word(b)));
        order
    }

    /// How often a word occurs, if it does; `sorted` is the order of these words.
    pub fn find(&self, sorted: &[u32], word: &str) -> Option<u64> {
        let known = |at: u32| self.get(at as usize);
        let found = sorted.binary_search_by(|&at| known(at).map(|(word, _)| word).cmp(&Some(word)));
        known(sorted[found.ok()?]).map(|(_, count)| count)
    }

    /// The words that `keep` accepts.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&str, u64) -> bool) -> Self {
        let mut counts = Self {
            provenance: self.provenance.clone(),
            ..Self::default()
        };
        for (word, count) in self.iter().filter(|(word, count)| keep(word, *count)) {
            counts.push(word, count);
        }
        counts
    }

    /// Every count times `numerator / denominator`, rounded, half up. A word whose count becomes 0
    /// is left out.
    ///
    /// `None` if the counts together would exceed 63 bits, or the denominator is 0.
    #[must_use]
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Option<Self> {
        let mut counts = Self {
            provenance: self.provenance.clone(),
            ..Self::default()
        };
        let mut total = 0_u128;
        for (word, count) in self.iter() {
            let product = u128::from(count) * u128::from(numerator);
            let whole = product.checked_div(u128::from(denominator))?;
            let rest = product % u128::from(denominator);
            let scaled = whole + u128::from(rest >= u128::from(denominator.div_ceil(2)));
            total = total.checked_add(scaled)?;
            if scaled > 0 {
                counts.push(word, u64::try_from(scaled).ok()?);
            }
        }
        i64::try_from(total).is_ok().then_some(counts)
    }

    /// The bytes of all words, each as often as it occurs.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.iter()
            .map(|(word, count)| count.saturating_mul(word.len() as u64))
            .fold(0, u64::saturating_add)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_merge_in_the_order_of_meeting() {
        let a = WordCounts::from_words([("b", 1), ("", 5), ("a", 2), ("b", 3)]);
        let b = WordCounts::from_words([("c", 1), ("a", u64::MAX - 7), ("d", 0)]);
        let rows = |counts: &WordCounts| -> Vec<(String, u64)> {
            counts.iter().map(|(w, n)| (w.to_owned(), n)).collect()
        };
        let merged = a.merged(&b).unwrap();
        let expected = [("b", 4), ("a", u64::MAX - 5), ("c", 1)].map(|(w, n)| (w.to_owned(), n));
        assert_eq!(rows(&merged), expected);
        assert_eq!(rows(&merged.filtered(|_, count| count < 10)).len(), 2);
        let sorted = merged.sorted();
        let found = ["a", "b", "c", "d", ""].map(|word| merged.find(&sorted, word));
        assert_eq!(found, [Some(u64::MAX - 5), Some(4), Some(1), None, None]);
        assert_eq!(merged.total(), u64::MAX);
        let one = WordCounts::from_words([("d", 1)]);
        assert!(merged.merged(&one).is_err());
    }

    #[test]
    fn scaled_counts_are_rounded_half_up() {
        let counts = WordCounts::from_words([("a", 1), ("bc", 5), ("d", 10)]);
        assert_eq!(counts.bytes(), 21);
        let scaled = |numerator, denominator| {
            let scaled = counts.scaled(numerator, denominator)?;
            Some(scaled.iter().map(|(_, count)| count).collect::<Vec<_>>())
        };
        assert_eq!(scaled(3, 10), Some(vec![2, 3]));
        assert_eq!(scaled(1, 2), Some(vec![1, 3, 5]));
        assert_eq!(scaled(1, 3), Some(vec![2, 3]));
        assert_eq!(scaled(7, 1), Some(vec![7, 35, 70]));
        assert_eq!(scaled(0, 1), Some(vec![]));
        assert_eq!(scaled(1, 0), None);
        assert_eq!(scaled(u64::MAX, 1), None);
    }
}
