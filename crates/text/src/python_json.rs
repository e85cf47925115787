//! The JSON that Python writes: a number may be `NaN`, `Infinity` or `-Infinity`.

use std::borrow::Cow;

const CONSTANTS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// The text with a number of JSON, of the same length, in place of each of Python's constants. Which
/// number it is does not matter: whoever needs it cannot use a constant either.
///
/// ```
/// use jeton_text::python_json::with_plain_numbers;
///
/// let text = with_plain_numbers(br#"{"NaN": [NaN, -Infinity]}"#);
/// assert_eq!(*text, *br#"{"NaN": [0.0, -0.000000]}"#);
/// ```
pub fn with_plain_numbers(text: &[u8]) -> Cow<'_, [u8]> {
    // Both begin with a capital letter, which nothing else of JSON does outside of strings.
    if !text.contains(&b'N') && !text.contains(&b'I') {
        return Cow::Borrowed(text);
    }
    let mut plain = Cow::Borrowed(text);
    let mut at = 0;
    while at < text.len() {
        let length = match text[at] {
            b'"' => length_of_string(&text[at..]),
            byte if is_of_word(byte) => {
                let word = &text[at..];
                let end = word.iter().position(|byte| !is_of_word(*byte));
                let word = &word[..end.unwrap_or(word.len())];
                if CONSTANTS.contains(&word) {
                    let sign = usize::from(word[0] == b'-');
                    let number = &mut plain.to_mut()[at..][..word.len()][sign..];
                    number.fill(b'0');
                    number[1] = b'.';
                }
                word.len()
            }
            _ => 1,
        };
        at += length;
    }
    plain
}

/// Whether a byte is part of a number or a name.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}

/// The length of the string that a text begins with, with its quotes.
fn length_of_string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_constants_outside_of_strings_are_replaced() {
        let cases: [(&str, &str); 8] = [
            ("NaN", "0.0"),
            ("[Infinity,-Infinity , NaN]", "[0.000000,-0.000000 , 0.0]"),
            (
                r#"{"a\\": NaN, "\"NaN": "Infinity"}"#,
                r#"{"a\\": 0.0, "\"NaN": "Infinity"}"#,
            ),
            // None of these is JSON, nor Python's.
            ("-NaN", "-NaN"),
            ("1NaN", "1NaN"),
            ("NaN5", "NaN5"),
            ("--Infinity", "--Infinity"),
            (r#""NaN"#, r#""NaN"#),
        ];
        for (text, expected) in cases {
            let found = with_plain_numbers(text.as_bytes());
            assert_eq!(std::str::from_utf8(&found), Ok(expected), "{text}");
        }
    }
}
