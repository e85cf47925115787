//! SentencePiece's NMT clean-up: removes control characters and turns unusual white space into spaces.

use jeton_text::error::Result;
use jeton_text::text::AlignedText;

pub(super) fn normalize(text: &mut AlignedText) -> Result<()> {
    text.retain(|c| !is_removed(c))?;
    if text.as_str().chars().any(is_space) {
        text.flat_map(|c| [if is_space(c) { ' ' } else { c }])
    } else {
        Ok(())
    }
}

/// Whether a character is left as it is.
pub(super) fn keeps(character: char) -> bool {
    !is_removed(character) && !is_space(character)
}

fn is_removed(character: char) -> bool {
    matches!(
        character,
        '\u{1}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}'
    )
}

/// What becomes a space.
fn is_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{c}' | '\r' | '\u{1680}' | '\u{200b}'
            ..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{2581}' | '\u{feff}' | '\u{fffd}'
    )
}
