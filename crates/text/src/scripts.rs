//! The script of a character, by the name that Unicode gives it.

use unicode_script::UnicodeScript;

/// The script of a character: `"Latin"`, `"Han"`, …; `"Common"` for digits, punctuation and
/// symbols, `"Inherited"` for marks, `"Unknown"` for what is not assigned.
///
/// ```
/// use jeton_text::scripts::script;
///
/// assert_eq!(["é", "я", "字", "7"].map(|it| script(it.chars().next().unwrap())),
///     ["Latin", "Cyrillic", "Han", "Common"]);
/// ```
pub fn script(character: char) -> &'static str {
    character.script().full_name()
}
