//! WordPiece: repeatedly the longest token that the rest of the piece begins with.
//!
//! Source: Wu et al., "Google's Neural Machine Translation System", 2016; as released with BERT.

use serde::{Deserialize, Serialize};

use super::steps::Observer;
use super::token::{Token, missing_unk};
use jeton_stages::tables::trie::{Trie, TrieNode};
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;

/// WordPiece: the longest token that the rest of the piece begins with, again and again.
///
/// ```
/// use jeton_models::model::{Model, Sampler, Sampling, WordPiece};
/// use jeton_stages::vocab::Vocab;
///
/// let vocab = Vocab::new([("[UNK]", 0), ("un", 1), ("##aff", 2), ("##able", 3)])?;
/// let model = Model::WordPiece(WordPiece::new(vocab, "[UNK]", "##", 100));
/// let mut sampler = Sampler::new(Sampling::default());
/// let mut tokens = Vec::new();
/// model.tokenize("unaffable", &mut sampler, &mut tokens)?;
/// model.tokenize("unaffected", &mut sampler, &mut tokens)?;
/// assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [1, 2, 3, 0]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct WordPiece {
    pub(super) parts: Parts,
    pub(super) trie: Trie,
    /// Where tokens that continue a word begin in the trie.
    continuing: Option<TrieNode>,
}

/// What a WordPiece model is stored as.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Parts {
    pub(super) vocab: Vocab,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
}

impl WordPiece {
    /// The model of these tokens. That `unk_token` is among them is checked only when an unknown
    /// word occurs.
    pub fn new(
        vocab: Vocab,
        unk_token: impl Into<String>,
        continuing_subword_prefix: impl Into<String>,
        max_input_chars_per_word: usize,
    ) -> Self {
        Self::from(Parts {
            vocab,
            unk_token: unk_token.into(),
            continuing_subword_prefix: continuing_subword_prefix.into(),
            max_input_chars_per_word,
        })
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.parts.vocab
    }

    /// The token of words that no other tokens make up.
    pub fn unk_token(&self) -> &str {
        &self.parts.unk_token
    }

    /// What marks a token that continues a word.
    pub fn continuing_subword_prefix(&self) -> &str {
        &self.parts.continuing_subword_prefix
    }

    /// A word of more characters is unknown as a whole.
    pub fn max_input_chars_per_word(&self) -> usize {
        self.parts.max_input_chars_per_word
    }

    /// The tokens by their bytes.
    pub fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let before = tokens.len();
        if piece.chars().count() <= self.parts.max_input_chars_per_word
            && self.match_all(piece, tokens, observer)
        {
            return Ok(());
        }
        tokens.truncate(before);
        let unk_token = &self.parts.unk_token;
        let id = self.parts.vocab.id(unk_token.as_bytes());
        let id = id.ok_or_else(|| missing_unk(piece, unk_token))?;
        let range = 0..piece.len();
        tokens.push(Token { id, range });
        Ok(())
    }

    /// Appends the longest match at each place; false where there is none.
    fn match_all(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> bool {
        let mut start = 0;
        while start < piece.len() {
            let place = match start {
                0 => Some(self.trie.root()),
                _ => self.continuing,
            };
            let longest = place.and_then(|place| {
                self.trie
                    .prefixes(place, &piece.as_bytes()[start..])
                    .filter(|(_, length)| piece.is_char_boundary(start + length))
                    .last()
            });
            observer.longest(start, longest);
            let Some((id, length)) = longest else {
                return false;
            };
            let range = start..start + length;
            start = range.end;
            tokens.push(Token { id, range });
        }
        true
    }
}

impl From<Parts> for WordPiece {
    fn from(parts: Parts) -> Self {
        let trie = Trie::new(parts.vocab.iter());
        let prefix = parts.continuing_subword_prefix.bytes();
        let continuing = prefix
            .into_iter()
            .try_fold(trie.root(), |place, byte| trie.step(place, byte));
        Self {
            parts,
            trie,
            continuing,
        }
    }
}

impl From<WordPiece> for Parts {
    fn from(model: WordPiece) -> Self {
        model.parts
    }
}

impl PartialEq for WordPiece {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl std::fmt::Debug for WordPiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WordPiece").field(&self.parts).finish()
    }
}
