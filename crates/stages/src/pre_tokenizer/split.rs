//! Splitting at delimiters, and the five things that can become of a delimiter.
//!
//! Look here for the one loop behind every pre-tokenizer that searches for something in the text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use jeton_text::error::Result;
use jeton_text::interrupt::paced;

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

/// Splits `text` at `delimiters`, ranges of bytes from left to right, and appends where the pieces lie.
///
/// With `invert`, what lies between them takes their part and they take its.
pub(super) fn split(
    text: &str,
    delimiters: impl Iterator<Item = Result<Range<usize>>>,
    behavior: SplitBehavior,
    invert: bool,
    pieces: &mut Vec<Range<usize>>,
) -> Result<()> {
    let mut segments = Segments {
        behavior,
        open: None,
        pieces,
    };
    let mut done = 0;
    for delimiter in paced(delimiters) {
        let delimiter = delimiter?;
        if done != delimiter.start {
            segments.push(done..delimiter.start, invert);
        }
        done = delimiter.end;
        segments.push(delimiter, !invert);
    }
    if done != text.len() {
        segments.push(done..text.len(), invert);
    }
    segments.finish();
    Ok(())
}

/// Splits `text` at the characters that `is_delimiter` accepts, as [`split`] does.
pub(super) fn split_at_characters(
    text: &str,
    is_delimiter: impl Fn(char) -> bool,
    behavior: SplitBehavior,
    pieces: &mut Vec<Range<usize>>,
) -> Result<()> {
    let delimiters = text
        .char_indices()
        .filter(|(_, character)| is_delimiter(*character))
        .map(|(at, character)| Ok(at..at + character.len_utf8()));
    split(text, delimiters, behavior, false, pieces)
}

/// Joins delimiters and the text between them as the behavior says.
struct Segments<'a> {
    behavior: SplitBehavior,
    /// The segments joined so far, and whether the last of them is a delimiter.
    open: Option<(Range<usize>, bool)>,
    pieces: &'a mut Vec<Range<usize>>,
}

impl Segments<'_> {
    fn push(&mut self, segment: Range<usize>, is_delimiter: bool) {
        if let Some((open, after_delimiter)) = &mut self.open {
            let joined = match self.behavior {
                SplitBehavior::Removed | SplitBehavior::Isolated => false,
                SplitBehavior::MergedWithPrevious => is_delimiter && !*after_delimiter,
                SplitBehavior::MergedWithNext => !is_delimiter && *after_delimiter,
                SplitBehavior::Contiguous => is_delimiter == *after_delimiter,
            };
            if joined {
                open.end = segment.end;
                *after_delimiter = is_delimiter;
                return;
            }
        }
        self.finish();
        self.open = Some((segment, is_delimiter));
    }

    fn finish(&mut self) {
        if let Some((range, is_delimiter)) = self.open.take()
            && !(is_delimiter && self.behavior == SplitBehavior::Removed)
        {
            self.pieces.push(range);
        }
    }
}
