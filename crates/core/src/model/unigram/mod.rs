//! Unigram: the segmentation with the greatest sum of scores.

use serde::{Deserialize, Serialize};

use super::{Token, Vocab};
use crate::error::Result;

/// Unigram: the segmentation with the greatest sum of scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unigram {
    vocab: Vocab,
    scores: Vec<f64>,
    unk_id: Option<u32>,
    byte_fallback: bool,
}

impl Unigram {
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
