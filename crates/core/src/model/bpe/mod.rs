//! Byte pair encoding: pairs of neighbouring tokens are merged, the best pair first.
//!
//! Two meanings share one algorithm, because both say of a pair of tokens how early it is merged
//! and what it becomes:
//!
//! - [`MergeRule::Ranks`] (tiktoken): any pair whose concatenation is a token may be merged, the
//!   one with the lowest id first; a piece that is a token as a whole is that token at once.
//! - [`MergeRule::Merges`] (GPT-2, Hugging Face): only the listed pairs, in the order of the list.
//!
//! Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword
//! Units", 2016.

use serde::{Deserialize, Serialize};

use super::{Sampler, Token, Vocab};
use crate::error::Result;

/// Which pairs may be merged, and in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MergeRule {
    /// Every pair whose concatenation is in the vocabulary; the lowest id first.
    Ranks,
    /// These pairs of ids, first to last.
    Merges(Vec<(u32, u32)>),
}

/// What a piece is before the first merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Alphabet {
    /// Its bytes.
    Bytes,
    /// Its characters.
    Characters,
}

/// What a vocabulary and merges leave open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BpeOptions {
    /// What a piece is before the first merge.
    pub alphabet: Alphabet,
    /// What stands for a character that is not in the vocabulary; without one it is dropped.
    pub unk_token: Option<String>,
    /// Neighbouring unknown characters are one token.
    pub fuse_unk: bool,
    /// A character that is not in the vocabulary is written as `<0xNN>` tokens, if all are there.
    pub byte_fallback: bool,
    /// A piece that is in the vocabulary as a whole is that token at once.
    pub ignore_merges: bool,
    /// Put before each character but the first of a piece.
    pub continuing_subword_prefix: Option<String>,
    /// Put after the last character of a piece.
    pub end_of_word_suffix: Option<String>,
    /// The probability of leaving a merge out.
    pub dropout: Option<f32>,
}

impl Default for BpeOptions {
    fn default() -> Self {
        Self {
            alphabet: Alphabet::Bytes,
            unk_token: None,
            fuse_unk: false,
            byte_fallback: false,
            ignore_merges: false,
            continuing_subword_prefix: None,
            end_of_word_suffix: None,
            dropout: None,
        }
    }
}

/// A byte pair encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bpe {
    vocab: Vocab,
    rule: MergeRule,
    options: BpeOptions,
}

impl Bpe {
    /// The encoding of a tiktoken file: ids are ranks, the alphabet is bytes.
    ///
    /// # Errors
    /// A vocabulary that lacks one of the 256 bytes.
    pub fn by_ranks(vocab: Vocab) -> Result<Self> {
        let _ = vocab;
        unimplemented!()
    }

    /// The encoding of a merge list, first merge first.
    ///
    /// # Errors
    /// A merge of tokens, or into a token, that the vocabulary lacks; a dropout outside 0 to 1.
    pub fn by_merges(
        vocab: Vocab,
        merges: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
        options: BpeOptions,
    ) -> Result<Self> {
        let _ = (vocab, merges, options);
        unimplemented!()
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Which pairs may be merged, and in which order.
    pub fn rule(&self) -> &MergeRule {
        &self.rule
    }

    /// What vocabulary and merges leave open.
    pub fn options(&self) -> &BpeOptions {
        &self.options
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
    ) -> Result<()> {
        let _ = (piece, sampler, tokens);
        unimplemented!()
    }
}
