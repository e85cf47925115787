//! Bytes that are not UTF-8, in files whose text is wanted.

use std::borrow::Cow;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result, by_name};

/// What becomes of bytes that are not UTF-8.
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
    /// use jeton_core::train::corpus::InvalidUtf8;
    ///
    /// assert_eq!(InvalidUtf8::Replace.text(b"caf\xE9")?, "caf\u{FFFD}");
    /// assert!(InvalidUtf8::Strict.text(b"caf\xE9").is_err());
    /// # Ok::<(), jeton_core::Error>(())
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
                let message = format!("not UTF-8 at byte {}", error.valid_up_to());
                Err(Error::new(ErrorKind::Format, message).hint(MEND))
            }
            Self::Replace => Ok(String::from_utf8_lossy(bytes)),
            Self::Ignore => Ok(bytes.utf8_chunks().map(|chunk| chunk.valid()).collect()),
        }
    }
}

/// What to do about bytes that are not UTF-8.
pub(super) const MEND: &str = "set errors=\"replace\" or errors=\"ignore\"";
