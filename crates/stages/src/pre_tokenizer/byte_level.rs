//! GPT-2's pre-tokenizer: words with the space before them, as bytes.

use std::ops::Range;

use super::named::GPT2_ORIGINAL;
use super::split::{SplitBehavior, split};
use jeton_text::error::{Error, Result};
use jeton_text::mem::lazy::LazyStatic;
use jeton_text::pattern::{Dialect, Regex};
use jeton_text::printable;
use jeton_text::text::Pieces;

/// The expression of GPT-2's words.
pub(super) static WORDS: LazyStatic<Result<Regex>> =
    LazyStatic::new(|| Regex::new(GPT2_ORIGINAL, Dialect::Oniguruma));

pub(super) fn cut(
    pieces: &mut Pieces,
    add_prefix_space: bool,
    use_regex: bool,
    printable: bool,
) -> Result<()> {
    let named = |error: Error| error.at("pre-tokenizer ByteLevel");
    let mut ranges = Vec::new();
    pieces.cut(|mut piece, out| {
        if add_prefix_space && !piece.as_str().starts_with(' ') {
            piece.prepend(" ").map_err(named)?;
        }
        let first = out.len();
        if use_regex {
            words(piece.as_str(), &mut ranges)?;
            out.extend(ranges.drain(..).map(|range| piece.slice(range)));
        } else {
            out.push(piece);
        }
        if printable {
            for piece in &mut out[first..] {
                piece.flat_map(printable::of_character).map_err(named)?;
            }
        }
        Ok(())
    })
}

/// Appends where the words of `text` lie.
pub(super) fn words(text: &str, pieces: &mut Vec<Range<usize>>) -> Result<()> {
    let words = WORDS.as_ref().map_err(Clone::clone)?;
    split(
        text,
        words.matches(text),
        SplitBehavior::Isolated,
        false,
        pieces,
    )
}
