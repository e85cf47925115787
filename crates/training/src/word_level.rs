//! Training word-level models: the most frequent words are the vocabulary.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::word_counts::WordCounts;
use crate::{Trainer, Watch, checks};
use jeton_models::model::word_level::WordLevel;
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;

/// Trains a word-level model, with these parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordLevelTrainer {
    /// How many tokens there are at most, special ones included.
    pub vocab_size: usize,
    /// A word less frequent than this is left out.
    pub min_frequency: u64,
    /// The first ids, in this order.
    pub special_tokens: Vec<String>,
    /// The token of any other word, one of the special tokens; without it, any other word is an error.
    pub unk_token: Option<String>,
}

impl Default for WordLevelTrainer {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            min_frequency: 0,
            special_tokens: Vec::new(),
            unk_token: None,
        }
    }
}

/// Learns the most frequent words; of equally frequent ones, those that come first in the order of
/// their bytes.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_training::Trainer;
/// use jeton_training::word_counts::WordCounts;
/// use jeton_training::word_level::WordLevelTrainer;
///
/// let words = WordCounts::from_words([("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
/// let trainer = WordLevelTrainer { vocab_size: 3, ..WordLevelTrainer::default() };
/// let model = trainer.train(&words, |_| ControlFlow::Continue(()))?;
/// let tokens: Vec<_> = model.vocab().iter().map(|(token, _)| token).collect();
/// assert_eq!(tokens, [b"be".as_slice(), b"to", b"not"]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
impl Trainer for WordLevelTrainer {
    type Trained = WordLevel;

    fn check(&self) -> Result<()> {
        checks::check_vocab_size(self.vocab_size)?;
        let specials = self.special_tokens.len();
        if self.vocab_size < specials {
            return checks::wrong(
                format!(
                    "vocab_size {} does not hold the {specials} special tokens",
                    self.vocab_size
                ),
                "ask for more",
            );
        }
        checks::check_special_tokens(&self.special_tokens)?;
        match &self.unk_token {
            Some(unk) => checks::check_unk(unk, &self.special_tokens),
            None => Ok(()),
        }
    }

    /// This is quick, so it reports no progress.
    fn fit(&self, words: &WordCounts, _watch: &mut Watch<'_>) -> Result<WordLevel> {
        let known: BTreeSet<&str> = self.special_tokens.iter().map(String::as_str).collect();
        let mut learnt: Vec<(&str, u64)> = words
            .iter()
            .filter(|(word, count)| *count >= self.min_frequency && !known.contains(word))
            .collect();
        learnt.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        let specials = self.special_tokens.iter().map(String::as_str);
        let tokens = specials.chain(learnt.into_iter().map(|(word, _)| word));
        let vocab = Vocab::new(tokens.take(self.vocab_size).zip(0..))?;
        let unk_token = self.unk_token.as_deref().unwrap_or_default();
        Ok(WordLevel::new(vocab, unk_token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    fn tokens(training: &WordLevelTrainer) -> Result<Vec<String>> {
        let words = [
            ("b", 2),
            ("a", 2),
            ("c", 3),
            ("<unk>", 9),
            ("d", 1),
            ("", 1),
        ];
        let model = training.train(
            &WordCounts::from_words(words),
            |_| ControlFlow::Continue(()),
        )?;
        let text = |(token, _): (&[u8], u32)| String::from_utf8_lossy(token).into_owned();
        Ok(model.vocab().iter().map(text).collect())
    }

    #[test]
    fn the_most_frequent_words_come_behind_the_special_tokens() {
        let training = WordLevelTrainer {
            vocab_size: 4,
            special_tokens: vec!["<unk>".to_owned()],
            unk_token: Some("<unk>".to_owned()),
            ..WordLevelTrainer::default()
        };
        assert_eq!(tokens(&training).unwrap(), ["<unk>", "c", "a", "b"]);
        let rare = WordLevelTrainer {
            vocab_size: 30,
            min_frequency: 2,
            ..training.clone()
        };
        assert_eq!(tokens(&rare).unwrap(), ["<unk>", "c", "a", "b"]);
        let refused = |change: &dyn Fn(&mut WordLevelTrainer)| {
            let mut training = training.clone();
            change(&mut training);
            tokens(&training).unwrap_err().to_string()
        };
        let rows = [
            (
                refused(&|t| t.vocab_size = 0),
                "vocab_size 0 does not hold the 1 special tokens",
            ),
            (
                refused(&|t| t.vocab_size = usize::MAX),
                "is larger than the largest id",
            ),
            (
                refused(&|t| t.special_tokens.clear()),
                "is not one of special_tokens (add \"<unk>\" to",
            ),
            (
                refused(&|t| t.special_tokens.push(String::new())),
                "holds an empty string",
            ),
        ];
        for (error, expected) in rows {
            assert!(error.contains(expected), "{error}");
        }
    }
}
