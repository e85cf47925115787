//! Models: from a piece of text to tokens.
//!
//! A model knows nothing of spans in the original or of special tokens. It sees one piece and returns
//! its tokens, with the bytes of the piece that each token holds.

use serde::{Deserialize, Serialize};

pub mod bpe;
pub mod characters;
#[cfg(test)]
mod golden_tests;
mod longest_match;
pub mod picky_bpe;
mod sampling;
pub mod sentencepiece;
pub mod steps;
mod token;
pub mod unigram;
pub mod word_level;
pub mod wordpiece;

pub use bpe::Bpe;
pub use characters::Characters;
pub use longest_match::LongestMatch;
pub use picky_bpe::PickyBpe;
pub use sampling::{Sampler, Sampling};
pub use sentencepiece::SentencePiece;
pub use steps::{Observer, Steps};
pub use token::Token;
pub use token::{byte_of_token, byte_token};
pub use unigram::Unigram;
pub use word_level::WordLevel;
pub use wordpiece::WordPiece;

use jeton_stages::vocab::Vocab;
use jeton_text::error::{Error, ErrorKind, Result};

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
    /// The longest token of bytes at each place.
    LongestMatch(LongestMatch),
    /// Byte pair encoding by merges and deletions.
    PickyBpe(PickyBpe),
}

/// Options whose text marks a part of a word.
const MARKS: [&str; 2] = ["continuing_subword_prefix", "end_of_word_suffix"];
/// Bytes that such a text may have.
const LONGEST_MARK: usize = 128;

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
        self.tokenize_observed(piece, sampling, tokens, &mut ())
    }

    /// The tokens of `piece`, and the steps that lead to them.
    ///
    /// # Errors
    /// As [`Model::tokenize`].
    pub fn explain(&self, piece: &str) -> Result<(Vec<Token>, Steps)> {
        let (mut tokens, mut steps) = (Vec::new(), Steps::default());
        let mut sampler = Sampler::new(Sampling::default());
        self.tokenize_observed(piece, &mut sampler, &mut tokens, &mut steps)?;
        Ok((tokens, steps))
    }

    fn tokenize_observed(
        &self,
        piece: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        match self {
            Self::Bpe(model) => model.tokenize_observed(piece, sampler, tokens, observer),
            Self::WordLevel(model) => model.tokenize(piece, tokens, observer),
            Self::WordPiece(model) => model.tokenize(piece, tokens, observer),
            Self::Unigram(model) => model.tokenize(piece, tokens, observer),
            Self::Characters(model) => model.tokenize(piece, tokens, observer),
            Self::SentencePiece(model) => model.tokenize(piece, sampler, tokens, observer),
            Self::LongestMatch(model) => model.tokenize(piece, tokens, observer),
            Self::PickyBpe(model) => model.tokenize(piece, tokens, observer),
        }
    }

    /// Checks that a word does not cost as much as a file has bytes: what marks its parts is looked up
    /// with each of them.
    ///
    /// # Errors
    /// A prefix or suffix of more than `LONGEST_MARK` bytes.
    pub fn check_marks(&self) -> Result<()> {
        for (name, mark) in MARKS.into_iter().zip(self.marks()) {
            let length = mark.map_or(0, str::len);
            if length > LONGEST_MARK {
                let message =
                    format!("{name} has {length} bytes, and may have {LONGEST_MARK} at most");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        }
        Ok(())
    }

    /// The prefix of each part of a word but the first, and the suffix of the last.
    pub fn marks(&self) -> [Option<&str>; 2] {
        match self {
            Self::Bpe(model) => [
                model.options().continuing_subword_prefix.as_deref(),
                model.options().end_of_word_suffix.as_deref(),
            ],
            Self::WordPiece(model) => [Some(model.continuing_subword_prefix()), None],
            _ => [None, None],
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
            Self::LongestMatch(model) => model.vocab(),
            Self::PickyBpe(model) => model.vocab(),
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

    /// From now on text becomes none of these tokens, as if the vocabulary did not have them; but text that
    /// no token spells still becomes the unknown token or the tokens of bytes. Ids that were withheld
    /// before are found again, unless they are among these.
    pub fn withhold(&mut self, ids: &[u32]) {
        match self {
            Self::Bpe(model) => model.withhold(ids),
            Self::WordLevel(model) => model.vocab.withhold(ids),
            Self::WordPiece(model) => model.trie.withhold(&mut model.parts.vocab, ids),
            Self::Unigram(model) => model.trie.withhold(&mut model.parts.vocab, ids),
            Self::Characters(model) => model.vocab.withhold(ids),
            Self::SentencePiece(model) => model.withhold(ids),
            Self::LongestMatch(model) => model.trie.withhold(&mut model.vocab, ids),
            Self::PickyBpe(model) => model.withhold(ids),
        }
    }

    /// Whether its tokens are bytes as they are: those of a BPE whose alphabet is bytes, of one with
    /// deletions, and of longest match.
    pub fn has_raw_tokens(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.options().alphabet == bpe::Alphabet::Bytes,
            Self::LongestMatch(_) | Self::PickyBpe(_) => true,
            _ => false,
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
            Self::LongestMatch(_) => "LongestMatch",
            Self::PickyBpe(_) => "PickyBPE",
        }
    }
}
