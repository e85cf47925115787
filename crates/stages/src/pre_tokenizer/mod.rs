//! Pre-tokenizers: where text is split into the pieces that the model sees.
//!
//! Look here for the kinds; those of more than a few lines have a file of their own, and
//! [`named`] has the well-known ones by name.

mod byte_level;
mod facts;
mod metaspace;
pub mod named;
mod split;
mod split_rules;
mod unicode_scripts;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use unicode_categories::UnicodeCategories;

pub use facts::{PreTokenizerFacts, SpaceMarking};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::function::Function;
use jeton_text::mem::lazy::LazyStatic;
use jeton_text::pattern::{Dialect, Regex, SearchPattern};
use jeton_text::text::Pieces;
pub use metaspace::PrependScheme;
pub use split::SplitBehavior;
use split::{split, split_at_characters};
pub(crate) use split_rules::SplitRule;

/// One pre-tokenizer. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PreTokenizer {
    /// GPT-2's: words with the space before them; the model sees bytes.
    ByteLevel {
        /// A space in front of a piece that does not begin with one.
        add_prefix_space: bool,
        /// Without effect here; kept, so that a file is written as it was read.
        trim_offsets: bool,
        /// Split by GPT-2's pattern.
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
        /// Split before each.
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
        /// What a match becomes.
        behavior: SplitBehavior,
        /// Matches are the pieces rather than the delimiters.
        invert: bool,
    },
    /// At punctuation.
    Punctuation {
        /// What it becomes.
        behavior: SplitBehavior,
    },
    /// At numbers.
    Digits {
        /// Each digit alone, or a run together.
        individual_digits: bool,
    },
    /// Where the script changes.
    UnicodeScripts,
    /// Every this many characters.
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
    Sequence(#[serde(deserialize_with = "crate::nesting_limit::nested")] Vec<PreTokenizer>),
    /// A function of the caller. Images leave it out, so it comes last: the others keep their numbers.
    #[serde(skip)]
    Function(Function),
}

impl From<SearchPattern> for PreTokenizer {
    /// tiktoken's: the matches are the pieces.
    fn from(pattern: SearchPattern) -> Self {
        Self::Matches { pattern }
    }
}

impl PreTokenizer {
    /// Whether one of its steps is a function of the caller.
    pub fn holds_functions(&self) -> bool {
        match self {
            Self::Function(_) => true,
            Self::Sequence(steps) => steps.iter().any(Self::holds_functions),
            _ => false,
        }
    }

    /// What puts a `▁` in front of a text, also of one that begins with a `▁`, and nowhere after: a
    /// SentencePiece model's dummy prefix. A space in front is taken for it, so spaces that count are
    /// written as `▁` before; others are here.
    pub fn dummy_prefix() -> Self {
        let metaspace = |replacement, prepend_scheme| Self::Metaspace {
            replacement,
            prepend_scheme,
            split: false,
        };
        Self::Sequence(vec![
            metaspace(' ', PrependScheme::First),
            metaspace('▁', PrependScheme::Never),
        ])
    }

    /// What a `tokenizer.json` calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ByteLevel { .. } => "ByteLevel",
            Self::Bert => "BertPreTokenizer",
            Self::Metaspace { .. } => "Metaspace",
            Self::Whitespace => "Whitespace",
            Self::WhitespaceSplit => "WhitespaceSplit",
            Self::CharDelimiterSplit { .. } => "CharDelimiterSplit",
            Self::Split { .. } => "Split",
            Self::Punctuation { .. } => "Punctuation",
            Self::Digits { .. } => "Digits",
            Self::UnicodeScripts => "UnicodeScripts",
            Self::Function(_) => "Function",
            Self::FixedLength { .. } => "FixedLength",
            Self::Matches { .. } => "Matches",
            Self::Sequence(_) => "Sequence",
        }
    }

    /// Whether a backtracking engine runs one of its patterns.
    pub fn backtracks(&self) -> bool {
        match self {
            Self::Split { pattern, .. } | Self::Matches { pattern } => pattern.backtracks(),
            Self::Sequence(stages) => stages.iter().any(Self::backtracks),
            _ => false,
        }
    }

    /// Splits `pieces` finer.
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
            Self::Metaspace {
                replacement,
                prepend_scheme,
                split,
            } => metaspace::cut(pieces, *replacement, *prepend_scheme, *split),
            Self::Sequence(stages) => stages.iter().try_for_each(|stage| stage.cut(pieces)),
            _ => {
                let mut ranges = Vec::new();
                pieces.cut(|piece, out| {
                    self.ranges(piece.as_str(), &mut ranges)?;
                    out.extend(ranges.drain(..).map(|range| piece.slice(range)));
                    Ok(())
                })
            }
        }
    }

    /// Appends where the pieces of `text` lie, which are its parts as they are there: what
    /// [`Self::ByteLevel`] writes is not in it. For a single stage, and not for [`Self::Metaspace`],
    /// which splits what it has written.
    ///
    /// # Errors
    /// As [`Self::cut`].
    pub(crate) fn ranges(&self, text: &str, pieces: &mut Vec<Range<usize>>) -> Result<()> {
        match self {
            Self::ByteLevel {
                use_regex: true, ..
            } => byte_level::words(text, pieces),
            Self::ByteLevel { .. } => {
                pieces.push(0..text.len());
                Ok(())
            }
            Self::Metaspace { .. } | Self::Sequence(_) => unreachable!("no stage that only splits"),
            Self::Bert => {
                let mut words = Vec::new();
                split_at_characters(
                    text,
                    char::is_whitespace,
                    SplitBehavior::Removed,
                    &mut words,
                )?;
                refine(text, words, pieces, |word, pieces| {
                    split_at_characters(word, is_punctuation, SplitBehavior::Isolated, pieces)
                })
            }
            Self::Whitespace => {
                let words = WORDS.as_ref().map_err(Clone::clone)?;
                let found = words.matches(text);
                split(text, found, SplitBehavior::Removed, true, pieces)
            }
            Self::WhitespaceSplit => {
                split_at_characters(text, char::is_whitespace, SplitBehavior::Removed, pieces)
            }
            Self::CharDelimiterSplit { delimiter } => {
                let is_delimiter = |c| c == *delimiter;
                split_at_characters(text, is_delimiter, SplitBehavior::Removed, pieces)
            }
            Self::Split {
                pattern,
                behavior,
                invert,
            } => split(text, pattern.matches(text), *behavior, *invert, pieces),
            Self::Punctuation { behavior } => {
                split_at_characters(text, is_punctuation, *behavior, pieces)
            }
            Self::Digits { individual_digits } => {
                let behavior = if *individual_digits {
                    SplitBehavior::Isolated
                } else {
                    SplitBehavior::Contiguous
                };
                split_at_characters(text, char::is_numeric, behavior, pieces)
            }
            Self::UnicodeScripts => {
                unicode_scripts::cut(text, pieces);
                Ok(())
            }
            Self::FixedLength { length } => cut_every(text, *length, pieces),
            Self::Function(function) => {
                pieces.extend(function.cut(text)?);
                Ok(())
            }
            Self::Matches { pattern } => {
                let found = pattern.matches(text);
                split(text, found, SplitBehavior::Removed, true, pieces)
            }
        }
    }
}

/// Splits each of the pieces of `text` that lie at `coarse` with `cut`, and appends where those lie that
/// it makes of them; a piece without text is dropped.
pub(crate) fn refine(
    text: &str,
    coarse: Vec<Range<usize>>,
    pieces: &mut Vec<Range<usize>>,
    mut cut: impl FnMut(&str, &mut Vec<Range<usize>>) -> Result<()>,
) -> Result<()> {
    let mut finer = Vec::new();
    for piece in coarse {
        let start = piece.start;
        cut(&text[piece], &mut finer)?;
        let moved = finer.drain(..).filter(|piece| !piece.is_empty());
        pieces.extend(moved.map(|piece| start + piece.start..start + piece.end));
    }
    Ok(())
}

/// What [`PreTokenizer::Whitespace`] keeps.
static WORDS: LazyStatic<Result<Regex>> =
    LazyStatic::new(|| Regex::new(r"\w+|[^\w\s]+", Dialect::Tiktoken));

fn cut_every(text: &str, length: usize, pieces: &mut Vec<Range<usize>>) -> Result<()> {
    if length == 0 {
        let message = "FixedLength splits every `length` characters, and `length` is 0";
        return Err(Error::new(ErrorKind::Argument, message).hint("give at least 1"));
    }
    let starts = text.char_indices().map(|(at, _)| at).step_by(length);
    let mut starts = starts.peekable();
    while let Some(start) = starts.next() {
        pieces.push(start..starts.peek().copied().unwrap_or(text.len()));
    }
    Ok(())
}

/// Punctuation as BERT has it: every ASCII character that is no letter, digit or space, and what
/// Unicode calls punctuation.
fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_punctuation()
    } else {
        character.is_punctuation()
    }
}
