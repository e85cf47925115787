//! Whole words: a piece is one token, or unknown.

use serde::{Deserialize, Serialize};

use super::{Token, Vocab};
use crate::error::Result;

/// Whole words: a piece is one token, or unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordLevel {
    vocab: Vocab,
    unk_token: String,
}

impl WordLevel {
    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(&self, piece: &str, tokens: &mut Vec<Token>) -> Result<()> {
        let _ = (piece, tokens);
        unimplemented!()
    }
}
