//! Pre-tokenizers: where text is cut into the pieces that the model sees.
//!
//! Look here for the kinds there are; those of more than a few lines have a file of their own, and
//! [`named`] has the well-known ones by name.

mod byte_level;
mod metaspace;
pub mod named;
mod split;
mod unicode_scripts;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use unicode_categories::UnicodeCategories;

use crate::error::{Error, ErrorKind, Result};
use crate::pattern::{Dialect, Regex, SearchPattern};
use crate::text::Pieces;
use split::{split, split_at_characters};

/// What becomes of the delimiters that a split finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SplitBehavior {
    /// `the-final--countdown` → `the` `final` `countdown`
    Removed,
    /// → `the` `-` `final` `-` `-` `countdown`
    Isolated,
    /// → `the-` `final-` `-` `countdown`
    MergedWithPrevious,
    /// → `the` `-final` `-` `-countdown`
    MergedWithNext,
    /// → `the` `-` `final` `--` `countdown`
    Contiguous,
}

/// When a meta space is put in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrependScheme {
    /// On every piece.
    Always,
    /// Never.
    Never,
    /// Only at the very start of the text.
    First,
}

/// One pre-tokenizer. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PreTokenizer {
    /// GPT-2's: words with the space before them; the model sees bytes.
    ByteLevel {
        /// A space in front of a piece that does not begin with one.
        add_prefix_space: bool,
        /// Without effect here; kept, so that a file is written as it was read.
        trim_offsets: bool,
        /// Cut by GPT-2's pattern.
        use_regex: bool,
        /// Write each byte as one of GPT-2's 256 printable characters. Unset where the model's
        /// vocabulary holds raw bytes, which is how readers set up the common case.
        printable: bool,
    },
    /// BERT's: at white space, and around each punctuation character.
    Bert,
    /// SentencePiece's: spaces written as a visible character.
    Metaspace {
        /// The visible character, `▁`.
        replacement: char,
        /// When to put one in front.
        prepend_scheme: PrependScheme,
        /// Cut before each.
        split: bool,
    },
    /// Words and runs of punctuation: `\w+|[^\w\s]+`.
    Whitespace,
    /// At white space, which is dropped.
    WhitespaceSplit,
    /// At one character, which is dropped.
    CharDelimiterSplit {
        /// The character.
        delimiter: char,
    },
    /// At what a pattern finds.
    Split {
        /// What to look for.
        pattern: SearchPattern,
        /// What becomes of a match.
        behavior: SplitBehavior,
        /// Matches are the pieces rather than the delimiters.
        invert: bool,
    },
    /// At punctuation.
    Punctuation {
        /// What becomes of it.
        behavior: SplitBehavior,
    },
    /// At numbers.
    Digits {
        /// Each digit alone, or a run together.
        individual_digits: bool,
    },
    /// Where the script changes.
    UnicodeScripts,
    /// Every so many characters.
    FixedLength {
        /// How many; at least 1.
        length: usize,
    },
    /// tiktoken's: the matches of a pattern are the pieces; what lies between is dropped.
    Matches {
        /// The pattern, in tiktoken's dialect.
        pattern: SearchPattern,
    },
    /// One after another.
    Sequence(#[serde(deserialize_with = "crate::format::snapshot::nested")] Vec<PreTokenizer>),
}

impl PreTokenizer {
    /// Cuts `pieces` finer.
    ///
    /// # Errors
    /// A pattern that gave up on this text.
    pub fn cut(&self, pieces: &mut Pieces) -> Result<()> {
        match self {
            Self::ByteLevel {
                add_prefix_space,
                trim_offsets: _,
                use_regex,
                printable,
            } => byte_level::cut(pieces, *add_prefix_space, *use_regex, *printable),
            Self::Bert => {
                cut_at(pieces, char::is_whitespace, SplitBehavior::Removed)?;
                cut_at(pieces, is_punctuation, SplitBehavior::Isolated)
            }
            Self::Metaspace {
                replacement,
                prepend_scheme,
                split,
            } => metaspace::cut(pieces, *replacement, *prepend_scheme, *split),
            Self::Whitespace => {
                let words = WORDS.as_ref().map_err(Clone::clone)?;
                pieces.cut(|piece, out| {
                    let found = words.matches(piece.as_str());
                    split(&piece, found, SplitBehavior::Removed, true, out)
                })
            }
            Self::WhitespaceSplit => cut_at(pieces, char::is_whitespace, SplitBehavior::Removed),
            Self::CharDelimiterSplit { delimiter } => {
                cut_at(pieces, |c| c == *delimiter, SplitBehavior::Removed)
            }
            Self::Split {
                pattern,
                behavior,
                invert,
            } => pieces.cut(|piece, out| {
                let found = pattern.matches(piece.as_str());
                split(&piece, found, *behavior, *invert, out)
            }),
            Self::Punctuation { behavior } => cut_at(pieces, is_punctuation, *behavior),
            Self::Digits { individual_digits } => {
                let behavior = match individual_digits {
                    true => SplitBehavior::Isolated,
                    false => SplitBehavior::Contiguous,
                };
                cut_at(pieces, char::is_numeric, behavior)
            }
            Self::UnicodeScripts => unicode_scripts::cut(pieces),
            Self::FixedLength { length } => cut_every(pieces, *length),
            Self::Matches { pattern } => pieces.cut(|piece, out| {
                let found = pattern.matches(piece.as_str());
                split(&piece, found, SplitBehavior::Removed, true, out)
            }),
            Self::Sequence(stages) => stages.iter().try_for_each(|stage| stage.cut(pieces)),
        }
    }
}

/// What [`PreTokenizer::Whitespace`] keeps.
static WORDS: LazyLock<Result<Regex>> =
    LazyLock::new(|| Regex::new(r"\w+|[^\w\s]+", Dialect::Tiktoken));

fn cut_at(
    pieces: &mut Pieces,
    is_delimiter: impl Fn(char) -> bool,
    behavior: SplitBehavior,
) -> Result<()> {
    pieces.cut(|piece, out| split_at_characters(&piece, &is_delimiter, behavior, out))
}

fn cut_every(pieces: &mut Pieces, length: usize) -> Result<()> {
    if length == 0 {
        let message = "FixedLength cuts every `length` characters, and `length` is 0";
        return Err(Error::new(ErrorKind::Argument, message).hint("give at least 1"));
    }
    pieces.cut(|piece, out| {
        let text = piece.as_str();
        let mut starts = text
            .char_indices()
            .map(|(at, _)| at)
            .step_by(length)
            .peekable();
        while let Some(start) = starts.next() {
            out.push(piece.slice(start..starts.peek().copied().unwrap_or(text.len())));
        }
        Ok(())
    })
}

/// Punctuation as BERT has it: every ASCII character that is no letter, digit or space, and what
/// Unicode calls punctuation.
fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() || character.is_punctuation()
}
