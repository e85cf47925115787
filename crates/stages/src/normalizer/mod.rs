//! Normalizers: what happens to text before it is split into pieces.
//!
//! One variant per kind, and one file per kind that takes more than a line. Each rewrites an
//! [`AlignedText`], so spans survive.

mod bert;
mod compile;
mod facts;
mod nmt;
mod precompiled;
mod rules;
mod sentencepiece;
mod unicode;

pub use facts::{NormalizerFacts, SPACE_MARK, SPACE_RUNS};
pub use precompiled::Charsmap;
pub use rules::Normalization;
pub use sentencepiece::{SentencePieceNormalizer, WhiteSpace};
pub use unicode::Form;

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use unicode_normalization_alignments::char::is_combining_mark;

use jeton_text::error::{Error, Result};
use jeton_text::function::Function;
use jeton_text::interrupt::paced;
use jeton_text::length_limit::LengthLimit;
use jeton_text::pattern::{self, SearchPattern};
use jeton_text::printable;
use jeton_text::text::{self, AlignedText, replaced, white_space};

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
        /// The replacement.
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
    Sequence(#[serde(deserialize_with = "crate::nesting_limit::nested")] Vec<Normalizer>),
    /// A function of the caller. Images leave it out, so it comes last: the others keep their numbers.
    #[serde(skip)]
    Function(Function),
}

impl Normalizer {
    /// Whether one of its steps is a function of the caller.
    pub fn holds_functions(&self) -> bool {
        match self {
            Self::Function(_) => true,
            Self::Sequence(steps) => steps.iter().any(Self::holds_functions),
            _ => false,
        }
    }

    /// Whether every text stays as it is: a sequence of nothing.
    pub fn changes_nothing(&self) -> bool {
        match self {
            Self::Sequence(stages) => stages.iter().all(Self::changes_nothing),
            _ => false,
        }
    }

    /// Whether a backtracking engine runs one of its patterns.
    pub fn backtracks(&self) -> bool {
        match self {
            Self::Replace { pattern, .. } => pattern.backtracks(),
            Self::Sequence(stages) => stages.iter().any(Self::backtracks),
            _ => false,
        }
    }

    /// Normalizes `text` in place.
    ///
    /// # Errors
    /// A pattern that gave up on this text; text that has become many times as long as it was.
    ///
    /// ```
    /// use jeton_stages::normalizer::Normalizer;
    /// use jeton_text::text::{AlignedText, Span};
    ///
    /// let mut text = AlignedText::original("Éa");
    /// Normalizer::Sequence(vec![Normalizer::Nfd, Normalizer::StripAccents, Normalizer::Lowercase])
    ///     .normalize(&mut text)?;
    /// assert_eq!(text.as_str(), "ea");
    /// assert_eq!(text.span_of(0..1), Span::new(0, 2));
    /// # Ok::<(), jeton_text::Error>(())
    /// ```
    pub fn normalize(&self, text: &mut AlignedText) -> Result<()> {
        let done = match self {
            Self::Nfc => Form::Nfc.normalize(text),
            Self::Nfd => Form::Nfd.normalize(text),
            Self::Nfkc => Form::Nfkc.normalize(text),
            Self::Nfkd => Form::Nfkd.normalize(text),
            Self::Lowercase => lowercase(text),
            Self::StripAccents => text.retain(|c| !is_combining_mark(c)),
            Self::Strip { left, right } => {
                text.keep(stripped(text.as_str(), *left, *right));
                Ok(())
            }
            Self::Nmt => nmt::normalize(text),
            Self::Replace { pattern, content } => {
                let matches = matches(text.as_str(), pattern)?;
                text.replace_ranges(matches, content)
            }
            Self::Prepend { prefix } => text.prepend(prefix),
            Self::Precompiled(charsmap) => charsmap.normalize(text),
            Self::SentencePiece(normalizer) => normalizer.normalize(text),
            Self::Function(function) => return function.normalize(text),
            Self::Bert {
                clean_text,
                handle_chinese_chars,
                strip_accents,
                lowercase: lower,
            } => {
                let strip_accents = strip_accents.unwrap_or(*lower);
                self::bert(
                    text,
                    *clean_text,
                    *handle_chinese_chars,
                    strip_accents,
                    *lower,
                )
            }
            Self::ByteLevel => text.flat_map(printable::of_character),
            Self::Sequence(normalizers) => {
                return normalizers
                    .iter()
                    .try_for_each(|normalizer| normalizer.normalize(text));
            }
        };
        done.map_err(|error| self.named(error))
    }

    /// What a `tokenizer.json` calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nfc => "NFC",
            Self::Nfd => "NFD",
            Self::Nfkc => "NFKC",
            Self::Nfkd => "NFKD",
            Self::Lowercase => "Lowercase",
            Self::StripAccents => "StripAccents",
            Self::Strip { .. } => "Strip",
            Self::Nmt => "Nmt",
            Self::Replace { .. } => "Replace",
            Self::Prepend { .. } => "Prepend",
            Self::Precompiled(_) => "Precompiled",
            Self::SentencePiece(_) => "SentencePiece",
            Self::Function(_) => "Function",
            Self::Bert { .. } => "BertNormalizer",
            Self::ByteLevel => "ByteLevel",
            Self::Sequence(_) => "Sequence",
        }
    }

    /// The error, with the name of this normalizer.
    fn named(&self, error: Error) -> Error {
        match self {
            Self::Replace { pattern, content } => {
                let name = pattern::replacing(pattern, content);
                error.at(format!("normalizer {name}"))
            }
            _ => error.at(format!("normalizer {}", self.kind())),
        }
    }

    /// `text` normalized, without where each byte came from.
    ///
    /// # Errors
    /// As [`Self::normalize`].
    pub fn normalized<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        self.normalized_within(text, &Rc::new(LengthLimit::of(text.len())))
    }

    /// As [`Self::normalized`], of a piece of a text whose length is counted.
    pub fn normalized_within<'t>(
        &self,
        text: &'t str,
        limit: &Rc<LengthLimit>,
    ) -> Result<Cow<'t, str>> {
        if let Some(form) = Form::of(self) {
            let new = form.normalized(text);
            (limit.change(text.len(), new.len())).map_err(|error| self.named(error))?;
            return Ok(new);
        }
        let new: Cow<'t, str> = match self {
            Self::Lowercase => lowercased(text).into(),
            Self::StripAccents if text.is_ascii() => text.into(),
            Self::StripAccents => {
                let is_kept = |c: &char| c.is_ascii() || !is_combining_mark(*c);
                paced(text.chars())
                    .filter(is_kept)
                    .collect::<String>()
                    .into()
            }
            Self::Replace {
                pattern: SearchPattern::Literal(literal),
                content,
            } if !literal.is_empty() => match text::count(text, literal) {
                0 => text.into(),
                count => {
                    let kept = text.len() - count * literal.len();
                    let length = kept.saturating_add(count.saturating_mul(content.len()));
                    if length > limit.room(text.len()) {
                        return Err(self.named(limit.error("bytes")));
                    }
                    replaced(text, literal, content, length).into()
                }
            },
            Self::Strip { left, right } => text[stripped(text, *left, *right)].into(),
            Self::Sequence(normalizers) => {
                return normalizers
                    .iter()
                    .try_fold(Cow::Borrowed(text), |text, normalizer| match text {
                        Cow::Borrowed(text) => normalizer.normalized_within(text, limit),
                        Cow::Owned(text) => {
                            let new = normalizer.normalized_within(&text, limit)?;
                            Ok(Cow::Owned(new.into_owned()))
                        }
                    });
            }
            _ => {
                let mut text = AlignedText::within(text, limit);
                self.normalize(&mut text)?;
                return Ok(text.as_str().to_owned().into());
            }
        };
        (limit.change(text.len(), new.len())).map_err(|error| self.named(error))?;
        Ok(new)
    }
}

/// BERT's clean-up; the last four say which of its steps.
fn bert(
    text: &mut AlignedText,
    clean: bool,
    space_chinese: bool,
    strip_accents: bool,
    lower: bool,
) -> Result<()> {
    if clean {
        bert::clean(text)?;
    }
    if space_chinese {
        bert::space_chinese_characters(text)?;
    }
    if strip_accents {
        bert::strip_accents(text)?;
    }
    if lower {
        lowercase(text)?;
    }
    Ok(())
}

/// The lower case of a character, if that is one character of the same length.
fn lowered(character: char) -> Option<char> {
    let mut lower = character.to_lowercase();
    let first = lower
        .next()
        .filter(|it| it.len_utf8() == character.len_utf8());
    first.filter(|_| lower.next().is_none())
}

/// Character by character, so a final sigma is lowered like any other.
fn lowercase(text: &mut AlignedText) -> Result<()> {
    let changes = paced(text.as_str().chars()).any(|c| !c.to_lowercase().eq([c]));
    if changes {
        text.flat_map(char::to_lowercase)
    } else {
        Ok(())
    }
}

/// As [`lowercase`]: letters of ASCII many at a time.
fn lowercased(text: &str) -> String {
    let mut lower = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let start = lower.len();
        let ascii = rest.bytes().position(|byte| !byte.is_ascii());
        let (plain, other) = rest.split_at(ascii.unwrap_or(rest.len()));
        lower.push_str(plain);
        lower[start..].make_ascii_lowercase();
        let ascii = other.bytes().position(|byte| byte.is_ascii());
        let (other, after) = other.split_at(ascii.unwrap_or(other.len()));
        lower.extend(paced(other.chars()).flat_map(char::to_lowercase));
        rest = after;
    }
    lower
}

/// What is left of `text` without white space at the ends.
fn stripped(text: &str, left: bool, right: bool) -> Range<usize> {
    let end = if right {
        text.len() - white_space(text.chars().rev())
    } else {
        text.len()
    };
    let start = if left {
        white_space(text[..end].chars())
    } else {
        0
    };
    start..end
}

/// Empty text has no matches, not even empty ones.
fn matches(text: &str, pattern: &SearchPattern) -> Result<Vec<Range<usize>>> {
    if text.is_empty() {
        Ok(Vec::new())
    } else {
        pattern.matches(text).collect()
    }
}
