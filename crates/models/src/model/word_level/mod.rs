//! Whole words: a piece is one token, or unknown.

use serde::{Deserialize, Serialize};

use super::steps::{Observer, UnitKind};
use super::token::{Token, missing_unk};
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;

/// Whole words: a piece is one token, or unknown.
///
/// ```
/// use jeton_models::model::{Model, Sampler, Sampling, WordLevel};
/// use jeton_stages::vocab::Vocab;
///
/// let vocab = Vocab::new([("<unk>", 0), ("hello", 1)])?;
/// let model = Model::WordLevel(WordLevel::new(vocab, "<unk>"));
/// let mut tokens = Vec::new();
/// model.tokenize("hello", &mut Sampler::new(Sampling::default()), &mut tokens)?;
/// assert_eq!(tokens[0].id, 1);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordLevel {
    pub(super) vocab: Vocab,
    unk_token: String,
}

impl WordLevel {
    /// The model of these words. That `unk_token` is among them is checked only when an unknown
    /// word occurs; an empty one means none.
    pub fn new(vocab: Vocab, unk_token: impl Into<String>) -> Self {
        let unk_token = unk_token.into();
        Self { vocab, unk_token }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The token of words that are not in the vocabulary.
    pub fn unk_token(&self) -> &str {
        &self.unk_token
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let known = self.vocab.text_id(piece.as_bytes());
        let id = known
            .or_else(|| self.vocab.id(self.unk_token.as_bytes()))
            .ok_or_else(|| missing_unk(piece, &self.unk_token))?;
        let kind = if known.is_some() {
            UnitKind::Known
        } else {
            UnitKind::Unknown
        };
        observer.unit(piece.as_bytes(), &[id], kind);
        let range = 0..piece.len();
        tokens.push(Token { id, range });
        Ok(())
    }
}
