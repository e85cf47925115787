//! BERT's clean-up, in its four steps. The order and the switches are in [`Normalizer`].
//!
//! [`Normalizer`]: super::Normalizer

use unicode_categories::UnicodeCategories;

use super::unicode::Form;
use jeton_text::error::Result;
use jeton_text::text::AlignedText;

/// Removes controls and replacement characters; makes any white space a space.
pub(super) fn clean(text: &mut AlignedText) -> Result<()> {
    text.retain(|c| !matches!(c, '\0' | '\u{fffd}') && !is_control(c))?;
    if text.as_str().chars().any(|c| c != ' ' && c.is_whitespace()) {
        text.flat_map(|c| [if c.is_whitespace() { ' ' } else { c }])
    } else {
        Ok(())
    }
}

/// Whether all steps but lower-casing leave a character as it is.
pub(super) fn keeps(character: char, strips_accents: bool) -> bool {
    let is_cleaned = character == '\u{fffd}' || is_control(character) || character.is_whitespace();
    !is_cleaned
        && (!strips_accents || Form::Nfd.fixes(character) && !character.is_mark_nonspacing())
}

/// Tabs and line ends are white space here, not controls.
fn is_control(character: char) -> bool {
    !matches!(character, '\t' | '\n' | '\r') && character.is_other()
}

/// Puts a space on both sides of each CJK ideograph, so that each is a word.
pub(super) fn space_chinese_characters(text: &mut AlignedText) -> Result<()> {
    if text.as_str().chars().any(is_chinese) {
        text.flat_map(|character| {
            let space = is_chinese(character).then_some(' ');
            space.into_iter().chain([character]).chain(space)
        })
    } else {
        Ok(())
    }
}

/// The blocks of BERT's own list. It leaves out 2B820–2B91F.
fn is_chinese(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}

/// Decomposes and drops the non-spacing marks.
pub(super) fn strip_accents(text: &mut AlignedText) -> Result<()> {
    Form::Nfd.normalize(text)?;
    text.retain(|c| !c.is_mark_nonspacing())
}
