//! Bytes as text: bytes that are not UTF-8, and characters whose bytes arrive one by
//! one.

use std::borrow::Cow;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result, by_name};
use crate::mem::room;

/// Whether some text holds this byte.
pub fn is_in_utf8(byte: u8) -> bool {
    !matches!(byte, 0xC0 | 0xC1 | 0xF5..)
}

/// What becomes of bytes that are not UTF-8, as in Python's `bytes.decode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidUtf8 {
    /// An error, with the place.
    #[default]
    Strict,
    /// U+FFFD for each longest run that could have begun a character.
    Replace,
    /// Left out.
    Ignore,
}

impl FromStr for InvalidUtf8 {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [
            ("strict", Self::Strict),
            ("replace", Self::Replace),
            ("ignore", Self::Ignore),
        ];
        by_name("errors", name, &names)
    }
}

impl InvalidUtf8 {
    /// The text of bytes.
    ///
    /// ```
    /// use jeton_text::text::InvalidUtf8;
    ///
    /// assert_eq!(InvalidUtf8::Replace.text(b"caf\xE9")?, "caf\u{FFFD}");
    /// assert!(InvalidUtf8::Strict.text(b"caf\xE9").is_err());
    /// # Ok::<(), jeton_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is strict, bytes that are not UTF-8.
    pub fn text(self, bytes: &[u8]) -> Result<Cow<'_, str>> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return Ok(Cow::Borrowed(text)),
            Err(error) => error,
        };
        match self {
            Self::Strict => {
                let position = error.valid_up_to();
                Err(NotUtf8 {
                    byte: bytes[position],
                    position,
                }
                .in_file())
            }
            Self::Replace => Ok(String::from_utf8_lossy(bytes)),
            Self::Ignore => Ok(bytes.utf8_chunks().map(|chunk| chunk.valid()).collect()),
        }
    }
}

/// The first byte that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8 {
    /// The byte.
    pub byte: u8,
    /// How many bytes come before it.
    pub position: usize,
}

impl NotUtf8 {
    /// The error of a file that has such a byte.
    pub fn in_file(self) -> Error {
        let message = format!("not UTF-8 at byte {}", self.position);
        Error::new(ErrorKind::Format, message)
            .hint("set errors=\"replace\" or errors=\"ignore\"")
            .parameter("errors")
    }

    /// The error of ids whose tokens have such a byte.
    pub fn in_ids(self) -> Error {
        let Self { byte, position } = self;
        Error::new(
            ErrorKind::Decode,
            format!("the bytes of these ids are not UTF-8: byte {byte} at position {position}"),
        )
        .hint("decode with errors=\"replace\", or decode to bytes")
    }
}

/// Decodes UTF-8 that arrives in pieces, and holds back the bytes of a character that is not complete.
#[derive(Clone, Debug, Default)]
pub struct WholeCharacters {
    incomplete: Vec<u8>,
    /// How many bytes came before those.
    before: usize,
}

impl WholeCharacters {
    /// The held-back bytes at the end, which are no complete character.
    pub fn incomplete(&self) -> &[u8] {
        &self.incomplete
    }

    /// Adds bytes, and appends the characters that are now complete to `text`; at the end, all of them.
    ///
    /// # Errors
    /// The first byte that is not UTF-8, if `invalid` is strict.
    pub fn push(
        &mut self,
        bytes: &[u8],
        invalid: InvalidUtf8,
        is_end: bool,
        text: &mut String,
    ) -> std::result::Result<(), NotUtf8> {
        let incomplete = std::mem::take(&mut self.incomplete);
        let joined = if incomplete.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            Cow::Owned([&incomplete, bytes].concat())
        };
        let mut rest = &*joined;
        room::reserve_text(text, rest.len());
        // Nearly all bytes are text up to the last character, and are gone through once.
        let (whole, tail) = rest.split_at(rest.len() - unfinished(rest));
        if let (false, Ok(whole)) = (is_end, std::str::from_utf8(whole)) {
            text.push_str(whole);
            self.before += whole.len();
            rest = tail;
        }
        while !rest.is_empty() {
            let (valid, broken) = match std::str::from_utf8(rest) {
                Ok(_) => (rest.len(), 0),
                Err(error) => match error.error_len() {
                    None if !is_end => (error.valid_up_to(), 0),
                    None => (error.valid_up_to(), rest.len() - error.valid_up_to()),
                    Some(length) => (error.valid_up_to(), length),
                },
            };
            text.push_str(std::str::from_utf8(&rest[..valid]).unwrap_or_default());
            match invalid {
                _ if broken == 0 => {}
                InvalidUtf8::Replace => text.push(char::REPLACEMENT_CHARACTER),
                InvalidUtf8::Ignore => {}
                InvalidUtf8::Strict => {
                    self.incomplete = rest.to_vec();
                    return Err(NotUtf8 {
                        byte: rest[valid],
                        position: self.before + valid,
                    });
                }
            }
            self.before += valid + broken;
            rest = &rest[valid + broken..];
            if broken == 0 {
                break;
            }
        }
        self.incomplete = rest.to_vec();
        Ok(())
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let place = bytes
        .iter()
        .rev()
        .take(3)
        .position(|byte| byte & 0xC0 != 0x80);
    let tail = &bytes[bytes.len() - place.map_or(0, |place| place + 1)..];
    match std::str::from_utf8(tail) {
        Err(error) if error.error_len().is_none() => tail.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn characters_are_whole(bytes in prop::collection::vec(
            prop::sample::select(b"a\xC3\xA9\xE2\x96\x81\xF0\x9F\x98\x80\xFF".to_vec()), 0..12,
        ), cuts in prop::collection::vec(0usize..12, 0..4)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            for invalid in [InvalidUtf8::Replace, InvalidUtf8::Ignore, InvalidUtf8::Strict] {
                let (mut characters, mut text) = (WholeCharacters::default(), String::new());
                let mut made = Ok(());
                for cut in cuts.windows(2) {
                    let part = &bytes[cut[0]..cut[1]];
                    made = made.and_then(|()| characters.push(part, invalid, false, &mut text));
                }
                made = made.and_then(|()| characters.push(b"", invalid, true, &mut text));
                match (invalid, std::str::from_utf8(&bytes)) {
                    (_, Ok(whole)) => prop_assert_eq!(&text, whole),
                    (InvalidUtf8::Replace, _) => {
                        prop_assert_eq!(&text, &String::from_utf8_lossy(&bytes));
                    }
                    (InvalidUtf8::Ignore, _) => {
                        let valid: String = bytes.utf8_chunks().map(|chunk| chunk.valid()).collect();
                        prop_assert_eq!(&text, &valid);
                    }
                    (InvalidUtf8::Strict, Err(error)) => {
                        let position = error.valid_up_to();
                        let byte = bytes[position];
                        prop_assert_eq!(made, Err(NotUtf8 { byte, position }));
                    }
                }
            }
        }
    }
}
