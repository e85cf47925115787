//! Models: from a piece of text to tokens.
//!
//! A model knows nothing of spans in the original or of special tokens. It sees one piece and says
//! which tokens it consists of, and which bytes of the piece each holds.

use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

pub mod bpe;
pub mod characters;
#[cfg(test)]
mod golden;
pub(crate) mod queue;
mod sampling;
pub mod sentencepiece;
mod special_tokens;
pub(crate) mod trie;
pub mod unigram;
mod vocab;
pub mod word_level;
pub mod wordpiece;

pub use bpe::Bpe;
pub use characters::Characters;
pub use sampling::{Sampler, Sampling};
pub use sentencepiece::SentencePiece;
pub use unigram::Unigram;
pub(crate) use vocab::{ABSENT, show};
pub use vocab::{MAX_ID, Vocab};
pub use word_level::WordLevel;
pub use wordpiece::WordPiece;

use crate::error::{Error, ErrorKind, Result};

/// A token of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: u32,
    /// The bytes of the piece that it holds.
    pub range: Range<usize>,
}

/// One model. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Model {
    /// Byte pair encoding, by merges or by ranks.
    Bpe(Bpe),
    /// Whole words.
    WordLevel(WordLevel),
    /// Longest match first.
    WordPiece(WordPiece),
    /// The most probable segmentation.
    Unigram(Unigram),
    /// One token a character.
    Characters(Characters),
    /// What a SentencePiece `.model` file says, as SentencePiece does it.
    SentencePiece(SentencePiece),
}

impl Model {
    /// The tokens of `piece`.
    ///
    /// # Errors
    /// When the piece holds something that the model has no token for.
    pub fn tokenize(
        &self,
        piece: &str,
        sampling: &mut Sampler,
        tokens: &mut Vec<Token>,
    ) -> Result<()> {
        match self {
            Self::Bpe(model) => model.tokenize(piece, sampling, tokens),
            Self::WordLevel(model) => model.tokenize(piece, tokens),
            Self::WordPiece(model) => model.tokenize(piece, tokens),
            Self::Unigram(model) => model.tokenize(piece, tokens),
            Self::Characters(model) => model.tokenize(piece, tokens),
            Self::SentencePiece(model) => model.tokenize(piece, sampling, tokens),
        }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        match self {
            Self::Bpe(model) => model.vocab(),
            Self::WordLevel(model) => model.vocab(),
            Self::WordPiece(model) => model.vocab(),
            Self::Unigram(model) => model.vocab(),
            Self::Characters(model) => model.vocab(),
            Self::SentencePiece(model) => model.vocab(),
        }
    }

    /// The score of each token, by id, of a model that goes by scores.
    pub fn scores(&self) -> Option<Vec<f64>> {
        match self {
            Self::Unigram(model) => Some(model.scores().to_vec()),
            Self::SentencePiece(model) => {
                let scores = model.proto().pieces.scores();
                Some(scores.iter().copied().map(f64::from).collect())
            }
            _ => None,
        }
    }

    /// The name of the algorithm.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bpe(_) => "BPE",
            Self::WordLevel(_) => "WordLevel",
            Self::WordPiece(_) => "WordPiece",
            Self::Unigram(_) => "Unigram",
            Self::Characters(_) => "Characters",
            Self::SentencePiece(_) => "SentencePiece",
        }
    }
}

/// Training goes on, unless the caller's `watch` has said `Break`.
fn unless_interrupted(told: ControlFlow<()>) -> Result<()> {
    match told {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::new(ErrorKind::Training, "training was interrupted")
            .hint("the word counts can be trained from again")),
    }
}

/// The token that stands for one byte where a vocabulary of text must hold any byte: `<0xE2>`.
pub(crate) fn byte_token(byte: u8) -> [u8; 6] {
    let digit = |half: u8| b"0123456789ABCDEF"[usize::from(half)];
    [b'<', b'0', b'x', digit(byte >> 4), digit(byte & 15), b'>']
}

/// The error of an unknown piece where the vocabulary lacks the unknown token, too.
fn missing_unk(piece: &str, unk_token: &str) -> Error {
    let start: String = piece.chars().take(40).collect();
    if unk_token.is_empty() {
        let message = format!("{start:?} is unknown, and there is no unknown token");
        return Error::new(ErrorKind::Encode, message)
            .hint("train with an unk_token, or encode known words only");
    }
    Error::new(
        ErrorKind::Encode,
        format!("{start:?} is unknown, and so is the unknown token {unk_token:?}"),
    )
    .hint("add the unknown token to the vocabulary")
}
