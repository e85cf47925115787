//! Decoders: from the tokens of the model back to text.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pattern::SearchPattern;

/// One decoder. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Decoder {
    /// The bytes of the tokens joined.
    ByteLevel {
        /// Tokens are spelled in GPT-2's printable characters; unset where they are raw bytes.
        printable: bool,
    },
    /// A space before each token that does not begin with the prefix.
    WordPiece {
        /// What marks a continuation, `##`.
        prefix: String,
        /// Remove the space before punctuation and contractions.
        cleanup: bool,
    },
    /// Meta spaces made spaces.
    Metaspace {
        /// The visible character, `▁`.
        replacement: char,
        /// Whether the first was put there by the pre-tokenizer, and so is dropped.
        prepend_scheme: crate::pre_tokenizer::PrependScheme,
        /// Read by nothing here: the file format stores it beside the two others.
        split: bool,
    },
    /// A space for each end-of-word suffix.
    Bpe {
        /// The suffix, `</w>`.
        suffix: String,
    },
    /// `<0xE2>` tokens made bytes.
    ByteFallback,
    /// All tokens made one.
    Fuse,
    /// A character removed at the ends of each token.
    Strip {
        /// The character.
        content: char,
        /// How many at the front.
        start: usize,
        /// How many at the back.
        stop: usize,
    },
    /// Each match of a pattern replaced by a text.
    Replace {
        /// What to look for.
        pattern: SearchPattern,
        /// What stands there afterwards.
        content: String,
    },
    /// Connectionist temporal classification: repeated tokens made one, padding dropped.
    Ctc {
        /// The padding token.
        pad_token: String,
        /// What separates words.
        word_delimiter_token: String,
        /// Remove the space before punctuation and contractions.
        cleanup: bool,
    },
    /// One after another.
    Sequence(Vec<Decoder>),
}

impl Decoder {
    /// Rewrites the tokens; joined, they are the text.
    ///
    /// # Errors
    /// A pattern that gave up on this text.
    pub fn decode(&self, tokens: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let _ = tokens;
        unimplemented!()
    }
}
