//! Training WordPiece: as released, which is byte pair encoding over characters whose tokens are kept and
//! whose merges are not; or as published.

pub(crate) mod published;

use std::str::FromStr;

use crate::bpe::BpeTrainer;
use crate::word_counts::WordCounts;
use crate::{Trainer, Watch, checks};
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::wordpiece::WordPiece;
use jeton_stages::vocab::Vocab;
use jeton_text::error::{Error, Result, by_name};

/// Characters above which a word is unknown as a whole, as released with BERT.
const MAX_INPUT_CHARS_PER_WORD: usize = 100;

/// Which pair is merged next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordPieceRule {
    /// The most frequent one.
    #[default]
    Released,
    /// The one that is most frequent for the frequency of its parts: with the greatest
    /// freq(ab) / (freq(a)·freq(b)).
    Published,
}

impl FromStr for WordPieceRule {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [("released", Self::Released), ("published", Self::Published)];
        by_name("rule", name, &names)
    }
}

/// Trains WordPiece by one of two rules.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_models::model::bpe::Alphabet;
/// use jeton_training::Trainer;
/// use jeton_training::bpe::BpeTrainer;
/// use jeton_training::word_counts::WordCounts;
/// use jeton_training::wordpiece::{WordPieceRule, WordPieceTrainer};
///
/// let counts = WordCounts::from_words([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4)]);
/// let merging = BpeTrainer {
///     vocab_size: 11,
///     alphabet: Alphabet::Characters,
///     special_tokens: vec!["[UNK]".to_owned()],
///     unk_token: Some("[UNK]".to_owned()),
///     continuing_subword_prefix: Some("##".to_owned()),
///     ..BpeTrainer::default()
/// };
/// let trainer = WordPieceTrainer { rule: WordPieceRule::Released, merging };
/// let model = trainer.train(&counts, |_| ControlFlow::Continue(()))?;
/// // `p` `##u` stand together 17 times, `##u` `##n` only 16 times.
/// assert_eq!(model.vocab().id(b"pu"), Some(10));
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WordPieceTrainer {
    /// Which pair is merged next.
    pub rule: WordPieceRule,
    /// Everything else. The alphabet is characters, with an `unk_token` and a
    /// `continuing_subword_prefix`.
    pub merging: BpeTrainer,
}

impl WordPieceTrainer {
    /// The unknown token and the prefix.
    fn marks(&self) -> Result<(&str, &str)> {
        let Some(unk_token) = &self.merging.unk_token else {
            return checks::wrong(
                "WordPiece needs an unk_token, for words that no tokens make up",
                "set unk_token=\"[UNK]\"",
            );
        };
        let Some(prefix) = &self.merging.continuing_subword_prefix else {
            return checks::wrong(
                "WordPiece needs a continuing_subword_prefix",
                "set continuing_subword_prefix=\"##\"",
            );
        };
        Ok((unk_token, prefix))
    }
}

impl Trainer for WordPieceTrainer {
    type Trained = WordPiece;

    fn check(&self) -> Result<()> {
        if self.merging.alphabet != Alphabet::Characters {
            return checks::wrong(
                "WordPiece needs an alphabet of characters, and this one is bytes",
                "set alphabet=\"characters\"",
            );
        }
        self.marks()?;
        self.merging.check()
    }

    fn fit(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<WordPiece> {
        let vocab = match self.rule {
            WordPieceRule::Released => self.merging.fit(words, watch)?.vocab().clone(),
            WordPieceRule::Published => {
                let tokens = published::learn(words, &self.merging, watch)?;
                Vocab::new(tokens.bytes.iter().zip(0..))?
            }
        };
        let (unk_token, prefix) = self.marks()?;
        Ok(WordPiece::new(
            vocab,
            unk_token,
            prefix,
            MAX_INPUT_CHARS_PER_WORD,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::{InitialSymbols, TieBreak, Tokens};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::cmp::Reverse;
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    fn training(vocab_size: usize) -> BpeTrainer {
        BpeTrainer {
            vocab_size,
            alphabet: Alphabet::Characters,
            special_tokens: vec!["[UNK]".to_owned()],
            unk_token: Some("[UNK]".to_owned()),
            continuing_subword_prefix: Some("##".to_owned()),
            ..BpeTrainer::default()
        }
    }

    fn learnt(counts: &WordCounts, training: &BpeTrainer) -> Vec<String> {
        let rule = WordPieceRule::Published;
        let merging = training.clone();
        let trainer = WordPieceTrainer { rule, merging };
        let model = trainer.train(counts, |_| ControlFlow::Continue(()));
        let model = model.unwrap();
        let token = |(token, _): (&[u8], u32)| String::from_utf8_lossy(token).into_owned();
        model.vocab().iter().map(token).collect()
    }

    #[test]
    fn the_published_rule_merges_what_is_rare_apart() {
        let words = [
            ("hug", 10),
            ("pug", 5),
            ("pun", 12),
            ("bun", 4),
            ("hugs", 5),
        ];
        let counts = WordCounts::from_words(words);
        // Alphabet: b g h n p s u ##g ##n ##s ##u. `##g##s`: 5 / (20·5). All others: 1/36, of
        // which `b` `##u` has the smallest ids; then `bu` `##n`: 4 / (4·16).
        let tokens = learnt(&counts, &training(15));
        assert_eq!(tokens[12..], ["##gs", "bu", "bun"]);
        // Met first in the corpus is `h` `##u`, with which courses go on.
        let first = BpeTrainer {
            tie_break: TieBreak::First,
            ..training(15)
        };
        assert_eq!(learnt(&counts, &first)[12..], ["##gs", "hu", "hugs"]);
    }

    /// The rule as it is written down, counted again for each merge.
    fn naive(counts: &WordCounts, training: &BpeTrainer) -> Vec<String> {
        let mut tokens = Tokens::of_specials(&training.special_tokens);
        let symbols = InitialSymbols::new(&[counts], training, &mut tokens);
        let alphabet: Vec<String> = (tokens.bytes.iter())
            .map(|token| String::from_utf8(token.clone()).unwrap())
            .collect();
        drop(symbols);
        let mut tokens = alphabet;
        let id = |tokens: &[String], token: &str| tokens.iter().position(|t| t == token).unwrap();
        let mut words: Vec<(Vec<usize>, u128)> = counts
            .iter()
            .map(|(word, count)| {
                let symbols = word.chars().enumerate().map(|(at, c)| match at {
                    0 => id(&tokens, &c.to_string()),
                    _ => id(&tokens, &format!("##{c}")),
                });
                (symbols.collect(), u128::from(count))
            })
            .collect();
        while tokens.len() < training.vocab_size {
            let mut single: BTreeMap<usize, u128> = BTreeMap::new();
            let mut pairs: BTreeMap<(usize, usize), u128> = BTreeMap::new();
            for (word, count) in &words {
                for &symbol in word {
                    *single.entry(symbol).or_default() += count;
                }
                for pair in word.windows(2) {
                    *pairs.entry((pair[0], pair[1])).or_default() += count;
                }
            }
            pairs.retain(|_, count| *count >= u128::from(training.min_frequency));
            let mut best: Option<((usize, usize), u128, u128)> = None;
            let mut pairs: Vec<_> = pairs.into_iter().collect();
            let bytes = |(a, b): (usize, usize)| (tokens[a].clone(), tokens[b].clone());
            let first = |pair: (usize, usize)| {
                let holds = |(word, _): &(Vec<usize>, u128)| {
                    word.windows(2).position(|two| (two[0], two[1]) == pair)
                };
                let found = (0..)
                    .zip(&words)
                    .find_map(|(at, word)| Some((at, holds(word)?)));
                found.unwrap_or((usize::MAX, 0))
            };
            match training.tie_break {
                TieBreak::HuggingFace => {}
                TieBreak::Alphabetic => pairs.sort_by_key(|(pair, _)| bytes(*pair)),
                TieBreak::Lexicographic | TieBreak::Spelling => {
                    pairs.sort_by_key(|(pair, _)| Reverse(bytes(*pair)))
                }
                TieBreak::First => pairs.sort_by_key(|(pair, _)| first(*pair)),
                TieBreak::SentencePiece => pairs.sort_by_key(|(pair, _)| {
                    let (left, right) = bytes(*pair);
                    let length = |token: &str| token.trim_start_matches("##").chars().count();
                    (length(&left) + length(&right), left + &right)
                }),
            }
            for (pair, both) in pairs {
                let parts = single[&pair.0] * single[&pair.1];
                if best.is_none_or(|(_, most, of)| both * of > most * parts) {
                    best = Some((pair, both, parts));
                }
            }
            let Some(((left, right), ..)) = best else {
                break;
            };
            let token = format!("{}{}", tokens[left], tokens[right].trim_start_matches("##"));
            let new = match tokens.iter().position(|known| *known == token) {
                Some(known) => known,
                None => {
                    tokens.push(token);
                    tokens.len() - 1
                }
            };
            for (word, _) in &mut words {
                let mut at = 0;
                while at + 1 < word.len() {
                    if (word[at], word[at + 1]) == (left, right) {
                        word.splice(at..at + 2, [new]);
                    }
                    at += 1;
                }
            }
        }
        tokens
    }

    #[test]
    fn the_published_rule_is_what_it_says() {
        let mut numbers = ChaCha8Rng::seed_from_u64(3);
        for round in 0..300 {
            let letters = 2 + round % 4;
            let words: Vec<(String, u64)> = (0..numbers.random_range(1..30))
                .map(|_| {
                    let length = numbers.random_range(1..9);
                    let letter = |_| char::from(b'a' + numbers.random_range(0..letters) as u8);
                    let word = (0..length).map(letter).collect();
                    (word, numbers.random_range(1..6))
                })
                .collect();
            let counts = WordCounts::from_words(words.iter().map(|(w, n)| (w.as_str(), *n)));
            let training = BpeTrainer {
                min_frequency: round as u64 % 3,
                tie_break: [
                    TieBreak::HuggingFace,
                    TieBreak::First,
                    TieBreak::Alphabetic,
                    TieBreak::Lexicographic,
                ][round / 2 % 4],
                ..training(60)
            };
            assert_eq!(
                learnt(&counts, &training),
                naive(&counts, &training),
                "{words:?}"
            );
        }
    }
}
