//! Longest match over bytes: at each place, the longest token that the rest of the text begins with.
//!
//! Look here for RWKV's world vocabulary. Text is read from the front, and a match is never
//! undone, even if a shorter token would leave a rest that splits better.

use serde::{Deserialize, Serialize};

use super::steps::{Observer, UnitKind};
use super::token::{Token, only_withheld};
use jeton_stages::tables::trie::Trie;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// Longest match over bytes.
///
/// ```
/// use jeton_models::model::{LongestMatch, Model, Sampler, Sampling};
/// use jeton_stages::vocab::Vocab;
///
/// let vocab = Vocab::new([("a", 1), ("b", 2), ("ab", 3), ("bb", 4)])?;
/// let model = Model::LongestMatch(LongestMatch::new(vocab));
/// let mut tokens = Vec::new();
/// model.tokenize("abb", &mut Sampler::new(Sampling::default()), &mut tokens)?;
/// assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [3, 2]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Vocab", into = "Vocab")]
pub struct LongestMatch {
    pub(super) vocab: Vocab,
    pub(super) trie: Trie,
}

impl LongestMatch {
    /// The model of a vocabulary.
    pub fn new(vocab: Vocab) -> Self {
        let tokens = vocab.iter().filter(|(token, _)| !token.is_empty());
        Self {
            trie: Trie::new(tokens),
            vocab,
        }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let bytes = piece.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let found = self.trie.prefixes(self.trie.root(), &bytes[at..]).last();
            let Some((id, length)) = found else {
                let byte = &bytes[at..at + 1];
                if self.vocab.id(byte).is_some() {
                    return Err(only_withheld(byte));
                }
                return Err(Error::new(
                    ErrorKind::Encode,
                    format!("no token begins with the byte {} at byte {at}", show(byte)),
                )
                .hint("the vocabulary needs a token for each byte"));
            };
            let range = at..at + length;
            observer.unit(&bytes[range.clone()], &[id], UnitKind::Known);
            tokens.push(Token { id, range });
            at += length;
        }
        Ok(())
    }
}

impl PartialEq for LongestMatch {
    fn eq(&self, other: &Self) -> bool {
        self.vocab == other.vocab
    }
}

impl std::fmt::Debug for LongestMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LongestMatch").field(&self.vocab).finish()
    }
}

impl From<Vocab> for LongestMatch {
    fn from(vocab: Vocab) -> Self {
        Self::new(vocab)
    }
}

impl From<LongestMatch> for Vocab {
    fn from(model: LongestMatch) -> Self {
        model.vocab
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_token_at_each_place() {
        let words = ["a", "b", "c", "abc", "ab", "bcc", "\u{e9}"];
        let tokens = words.map(|word| word.as_bytes().to_vec());
        let vocab = Vocab::new(tokens.into_iter().chain([vec![0xC3]]).zip(1..)).unwrap();
        let mut model = LongestMatch::new(vocab);
        let ids = |model: &LongestMatch, text: &str| {
            let mut tokens = Vec::new();
            model.tokenize(text, &mut tokens, &mut ())?;
            Ok::<Vec<u32>, Error>(tokens.into_iter().map(|token| token.id).collect())
        };
        for (text, expected) in [
            ("", vec![]),
            ("abcc", vec![4, 3]),
            ("aabbcc", vec![1, 5, 6]),
            ("é", vec![7]),
        ] {
            assert_eq!(ids(&model, text).unwrap(), expected, "{text}");
        }
        assert!(ids(&model, "ad").is_err());
        model.trie.withhold(&mut model.vocab, &[4]);
        assert_eq!(ids(&model, "abc").unwrap(), [5, 3]);
        model.trie.withhold(&mut model.vocab, &[]);
        assert_eq!(ids(&model, "abc").unwrap(), [4]);
    }
}
