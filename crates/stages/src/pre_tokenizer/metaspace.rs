//! Metaspace of Hugging Face `tokenizers`: writes spaces as `▁`, may put one in front, and splits before
//! each.

use serde::{Deserialize, Serialize};

use super::split::{SplitBehavior, split_at_characters};
use jeton_text::error::Result;
use jeton_text::text::Pieces;

/// When `▁` is put in front of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrependScheme {
    /// On every piece.
    Always,
    /// Never.
    Never,
    /// Only at the very start of the text.
    First,
}

pub(super) fn cut(
    pieces: &mut Pieces,
    replacement: char,
    prepend_scheme: PrependScheme,
    cut_before_each: bool,
) -> Result<()> {
    let mut buffer = [0; 4];
    let written: &str = replacement.encode_utf8(&mut buffer);
    let mut ranges = Vec::new();
    pieces.cut(|mut piece, out| {
        let spaces: Vec<_> = piece
            .as_str()
            .match_indices(' ')
            .map(|(at, _)| at..at + 1)
            .collect();
        piece
            .replace_ranges(spaces, written)
            .map_err(|error| error.at("pre-tokenizer Metaspace"))?;
        let wanted = match prepend_scheme {
            PrependScheme::Always => true,
            PrependScheme::First => piece.is_first(),
            PrependScheme::Never => false,
        };
        if wanted && !piece.as_str().starts_with(replacement) {
            piece
                .prepend(written)
                .map_err(|error| error.at("pre-tokenizer Metaspace"))?;
        }
        if !cut_before_each {
            out.push(piece);
            return Ok(());
        }
        let is_space = |character| character == replacement;
        let behavior = SplitBehavior::MergedWithNext;
        split_at_characters(piece.as_str(), is_space, behavior, &mut ranges)?;
        out.extend(ranges.drain(..).map(|range| piece.slice(range)));
        Ok(())
    })
}
