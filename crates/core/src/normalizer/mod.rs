//! Normalizers: what happens to text before it is cut into pieces.
//!
//! One variant a kind, one file a kind that is more than a line. Each rewrites an
//! [`AlignedText`], so spans survive.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pattern::SearchPattern;
use crate::text::AlignedText;

/// One normalizer. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Normalizer {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
    /// Every character in lower case.
    Lowercase,
    /// Without combining marks; needs decomposed text to strip anything from.
    StripAccents,
    /// White space removed at the ends.
    Strip {
        /// At the front.
        left: bool,
        /// At the back.
        right: bool,
    },
    /// The clean-up of neural machine translation: controls removed, odd white space made a space.
    Nmt,
    /// Each match of a pattern replaced by a text.
    Replace {
        /// What to look for.
        pattern: SearchPattern,
        /// What stands there afterwards.
        content: String,
    },
    /// A text put in front, unless there is no text.
    Prepend {
        /// The text.
        prefix: String,
    },
    /// SentencePiece's precompiled character map.
    Precompiled(Precompiled),
    /// BERT's clean-up.
    Bert {
        /// Controls removed, white space made a space.
        clean_text: bool,
        /// A space on both sides of each CJK character.
        handle_chinese_chars: bool,
        /// Combining marks removed; unset means exactly when lower-casing.
        strip_accents: Option<bool>,
        /// Lower case.
        lowercase: bool,
    },
    /// Each byte written as one of GPT-2's 256 printable characters.
    ByteLevel,
    /// One after another.
    Sequence(#[serde(deserialize_with = "crate::format::snapshot::nested")] Vec<Normalizer>),
}

/// SentencePiece's precompiled character map, compiled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precompiled {
    charsmap: Vec<u8>,
}

impl Normalizer {
    /// Normalizes `text` in place.
    ///
    /// # Errors
    /// A pattern that gave up on this text.
    pub fn normalize(&self, text: &mut AlignedText) -> Result<()> {
        let _ = text;
        unimplemented!()
    }
}
