//! Normalizers: what happens to text before it is cut into pieces.
//!
//! One variant a kind, one file a kind that is more than a line. Each rewrites an
//! [`AlignedText`], so spans survive.

mod bert;
mod compile;
mod nmt;
mod precompiled;
mod rules;
mod sentencepiece;
mod unicode;

pub use precompiled::Charsmap;
pub use rules::Normalization;
pub use sentencepiece::{SentencePieceNormalizer, WhiteSpace};
pub(crate) use unicode::Form;

use serde::{Deserialize, Serialize};
use unicode_normalization_alignments::char::is_combining_mark;

use crate::error::Result;
use crate::pattern::SearchPattern;
use crate::printable;
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
    Precompiled(Charsmap),
    /// What a SentencePiece `.model` file says, as SentencePiece does it.
    SentencePiece(SentencePieceNormalizer),
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

impl Normalizer {
    /// Whether every text stays as it is: a sequence of nothing.
    pub(crate) fn changes_nothing(&self) -> bool {
        match self {
            Self::Sequence(stages) => stages.iter().all(Self::changes_nothing),
            _ => false,
        }
    }

    /// Normalizes `text` in place.
    ///
    /// # Errors
    /// A pattern that gave up on this text.
    ///
    /// ```
    /// use jeton_core::normalizer::Normalizer;
    /// use jeton_core::text::{AlignedText, Span};
    ///
    /// let mut text = AlignedText::original("Éa");
    /// Normalizer::Sequence(vec![Normalizer::Nfd, Normalizer::StripAccents, Normalizer::Lowercase])
    ///     .normalize(&mut text)?;
    /// assert_eq!(text.as_str(), "ea");
    /// assert_eq!(text.span_of(0..1), Span::new(0, 2));
    /// # Ok::<(), jeton_core::Error>(())
    /// ```
    pub fn normalize(&self, text: &mut AlignedText) -> Result<()> {
        match self {
            Self::Nfc => Form::Nfc.normalize(text),
            Self::Nfd => Form::Nfd.normalize(text),
            Self::Nfkc => Form::Nfkc.normalize(text),
            Self::Nfkd => Form::Nfkd.normalize(text),
            Self::Lowercase => lowercase(text),
            Self::StripAccents => text.retain(|c| !is_combining_mark(c)),
            Self::Strip { left, right } => strip(text, *left, *right),
            Self::Nmt => nmt::normalize(text),
            Self::Replace { pattern, content } => replace(text, pattern, content)?,
            Self::Prepend { prefix } => text.prepend(prefix),
            Self::Precompiled(charsmap) => charsmap.normalize(text),
            Self::SentencePiece(normalizer) => normalizer.normalize(text),
            Self::Bert {
                clean_text,
                handle_chinese_chars,
                strip_accents,
                lowercase: lower,
            } => {
                if *clean_text {
                    bert::clean(text);
                }
                if *handle_chinese_chars {
                    bert::space_chinese_characters(text);
                }
                if strip_accents.unwrap_or(*lower) {
                    bert::strip_accents(text);
                }
                if *lower {
                    lowercase(text);
                }
            }
            Self::ByteLevel => text.flat_map(printable::of_character),
            Self::Sequence(normalizers) => {
                for normalizer in normalizers {
                    normalizer.normalize(text)?;
                }
            }
        }
        Ok(())
    }
}

/// Character by character, so a final sigma is lowered like any other.
fn lowercase(text: &mut AlignedText) {
    if text.as_str().chars().any(|c| !c.to_lowercase().eq([c])) {
        text.flat_map(char::to_lowercase);
    }
}

fn strip(text: &mut AlignedText, left: bool, right: bool) {
    let old = text.as_str();
    let end = match right {
        true => old.trim_end().len(),
        false => old.len(),
    };
    let start = match left {
        true => end - old[..end].trim_start().len(),
        false => 0,
    };
    text.keep(start..end);
}

/// Empty text has no matches, not even empty ones.
fn replace(text: &mut AlignedText, pattern: &SearchPattern, content: &str) -> Result<()> {
    if !text.is_empty() {
        let matches: Vec<_> = pattern.matches(text.as_str()).collect::<Result<_>>()?;
        text.replace_ranges(matches, content);
    }
    Ok(())
}
