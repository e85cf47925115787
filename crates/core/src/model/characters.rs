//! One token a character, over a closed or an open alphabet.

use serde::{Deserialize, Serialize};

use super::{Token, Vocab};
use crate::error::Result;

/// One token a character, over a closed or an open alphabet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Characters {
    vocab: Vocab,
    unk_id: Option<u32>,
}

impl Characters {
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
