//! WordPiece: the longest token that the rest of the piece begins with, again and again.

use serde::{Deserialize, Serialize};

use super::{Token, Vocab};
use crate::error::Result;

/// WordPiece: the longest token that the rest of the piece begins with, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordPiece {
    vocab: Vocab,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
}

impl WordPiece {
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
