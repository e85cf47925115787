//! GPT-2's pre-tokenizer: words with the space before them, as bytes.

use std::sync::LazyLock;

use super::SplitBehavior;
use super::named::GPT2_ORIGINAL;
use super::split::split;
use crate::error::Result;
use crate::pattern::{Dialect, Regex};
use crate::printable;
use crate::text::{AlignedText, Pieces};

static WORDS: LazyLock<Result<Regex>> =
    LazyLock::new(|| Regex::new(GPT2_ORIGINAL, Dialect::Oniguruma));

pub(super) fn cut(
    pieces: &mut Pieces,
    add_prefix_space: bool,
    use_regex: bool,
    printable: bool,
) -> Result<()> {
    pieces.cut(|mut piece, out| {
        if add_prefix_space && !piece.as_str().starts_with(' ') {
            piece.prepend(" ");
        }
        let first = out.len();
        if use_regex {
            let words = WORDS.as_ref().map_err(Clone::clone)?;
            let delimiters = words.matches(piece.as_str());
            split(&piece, delimiters, SplitBehavior::Isolated, false, out)?;
        } else {
            out.push(piece);
        }
        if printable {
            out[first..].iter_mut().for_each(write_printable);
        }
        Ok(())
    })
}

/// Writes each byte as its printable character; all those of a character have its span.
fn write_printable(piece: &mut AlignedText) {
    piece.flat_map(|character| {
        let mut buffer = [0; 4];
        let length = character.encode_utf8(&mut buffer).len();
        buffer.into_iter().take(length).map(printable::to_char)
    });
}
