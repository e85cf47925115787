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

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_normalization_alignments::char::is_combining_mark;

use crate::error::Result;
use crate::interrupt::{Pace, paced};
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
            Self::Strip { left, right } => text.keep(stripped(text.as_str(), *left, *right)),
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

    /// `text` normalized, without where each byte came from.
    ///
    /// # Errors
    /// As [`Self::normalize`].
    pub fn normalized<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        if let Some(form) = Form::of(self) {
            return Ok(form.normalized(text));
        }
        match self {
            Self::Lowercase => Ok(lowercased(text).into()),
            Self::StripAccents if text.is_ascii() => Ok(text.into()),
            Self::StripAccents => {
                let is_kept = |c: &char| c.is_ascii() || !is_combining_mark(*c);
                Ok(paced(text.chars())
                    .filter(is_kept)
                    .collect::<String>()
                    .into())
            }
            Self::Replace {
                pattern: SearchPattern::Literal(literal),
                content,
            } if !literal.is_empty() => Ok(match text.contains(literal) {
                true => text.replace(literal, content).into(),
                false => text.into(),
            }),
            Self::Strip { left, right } => Ok(text[stripped(text, *left, *right)].into()),
            Self::Sequence(normalizers) => {
                normalizers
                    .iter()
                    .try_fold(Cow::Borrowed(text), |text, normalizer| match text {
                        Cow::Borrowed(text) => normalizer.normalized(text),
                        Cow::Owned(text) => {
                            Ok(Cow::Owned(normalizer.normalized(&text)?.into_owned()))
                        }
                    })
            }
            _ => {
                let mut text = AlignedText::original(text);
                self.normalize(&mut text)?;
                Ok(text.as_str().to_owned().into())
            }
        }
    }
}

/// Character by character, so a final sigma is lowered like any other.
fn lowercase(text: &mut AlignedText) {
    if text.as_str().chars().any(|c| !c.to_lowercase().eq([c])) {
        text.flat_map(char::to_lowercase);
    }
}

/// As [`lowercase`]: letters of ASCII many at a time.
fn lowercased(text: &str) -> String {
    let mut lower = String::with_capacity(text.len());
    let mut rest = text;
    let mut pace = Pace::default();
    while !rest.is_empty() {
        pace.step();
        let start = lower.len();
        let ascii = rest.bytes().position(|byte| !byte.is_ascii());
        let (plain, other) = rest.split_at(ascii.unwrap_or(rest.len()));
        lower.push_str(plain);
        lower[start..].make_ascii_lowercase();
        let ascii = other.bytes().position(|byte| byte.is_ascii());
        let (other, after) = other.split_at(ascii.unwrap_or(other.len()));
        lower.extend(other.chars().flat_map(char::to_lowercase));
        rest = after;
    }
    lower
}

/// What is left of `text` without white space at the ends.
fn stripped(text: &str, left: bool, right: bool) -> Range<usize> {
    let end = match right {
        true => text.trim_end().len(),
        false => text.len(),
    };
    let start = match left {
        true => end - text[..end].trim_start().len(),
        false => 0,
    };
    start..end
}

/// Empty text has no matches, not even empty ones.
fn replace(text: &mut AlignedText, pattern: &SearchPattern, content: &str) -> Result<()> {
    if !text.is_empty() {
        let matches: Vec<_> = pattern.matches(text.as_str()).collect::<Result<_>>()?;
        text.replace_ranges(matches, content);
    }
    Ok(())
}
