//! Pre-tokenizers: where text is cut into the pieces that the model sees.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pattern::SearchPattern;
use crate::text::Pieces;

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
        /// Read by nothing here: the file format stores it beside the two others.
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
        let _ = pieces;
        unimplemented!()
    }
}
