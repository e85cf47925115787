//! A text file as it is read, in parts: UTF-8, decompressed.
//!
//! Look here for what becomes of a character that two reads share, and of bytes that are not UTF-8.

use std::path::{Path, PathBuf};

use super::text_parts::TextParts;
use crate::error::{Error, ErrorKind, Result};
use crate::train::corpus::{Contents, InvalidUtf8};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text file that is read part by part.
pub struct TextFile {
    path: PathBuf,
    contents: Contents,
    errors: InvalidUtf8,
    /// Bytes that were read before the next ones.
    before: usize,
    /// The begin of a character whose end was not read yet.
    begun: Vec<u8>,
    /// Text that is no whole part yet.
    rest: String,
    /// Whether no text was read yet.
    is_first: bool,
    /// Whether it has given a part.
    has_given: bool,
}

/// What was read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Bytes of the file, decompressed; 0 at its end.
    pub bytes: usize,
    /// Bytes of text.
    pub text: usize,
    /// Whether the first part of the file was given.
    pub begins: bool,
}

impl TextFile {
    /// Opens a file; the path `-` is the standard input.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: &Path, errors: InvalidUtf8) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            contents: Contents::open(path)?,
            errors,
            before: 0,
            begun: Vec::new(),
            rest: String::new(),
            is_first: true,
            has_given: false,
        })
    }

    /// Reads about so many bytes, and adds the parts that they end. Parts are cut as those of a text.
    ///
    /// # Errors
    /// The file cannot be read, is damaged or not UTF-8.
    pub fn read(&mut self, size: usize, parts: &mut TextParts) -> Result<Read> {
        let mut bytes = std::mem::take(&mut self.begun);
        let begun = bytes.len();
        bytes.append(&mut self.contents.read(size)?);
        let read = bytes.len() - begun;
        let is_end = read == 0;
        if !is_end {
            self.begun = bytes.split_off(bytes.len() - unfinished(&bytes));
        }
        let mut text = self.text(bytes, self.before - begun)?;
        self.before += read;
        if self.is_first && !text.is_empty() {
            self.is_first = false;
            if text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len_utf8());
            }
        }
        let before = parts.bytes();
        parts.text.push_str(&std::mem::take(&mut self.rest));
        parts.text.push_str(&text);
        let left = parts.add_tail(is_end);
        self.rest = parts.split_off(left);
        let begins = !self.has_given && parts.bytes() > before;
        self.has_given |= begins;
        Ok(Read {
            bytes: read,
            text: text.len(),
            begins,
        })
    }

    /// The text of bytes that stand behind so many others.
    fn text(&self, bytes: Vec<u8>, before: usize) -> Result<String> {
        let error = match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        };
        match self.errors {
            InvalidUtf8::Strict => {
                let at = before + error.utf8_error().valid_up_to();
                let error = Error::new(ErrorKind::Format, format!("not UTF-8 at byte {at}"))
                    .hint("set errors=\"replace\" or errors=\"ignore\"");
                Err(error.at(self.path.display().to_string()))
            }
            errors => Ok(errors.text(error.as_bytes())?.into_owned()),
        }
    }

    /// How many bytes of the file on the disk were read, and their SHA-256.
    pub fn digest(&self) -> (u64, [u8; 32]) {
        self.contents.digest()
    }
}

/// How many bytes at the end begin a character that goes on.
fn unfinished(bytes: &[u8]) -> usize {
    let begins = |&length: &usize| {
        let last = bytes.len().checked_sub(length).map(|start| &bytes[start..]);
        let error = last.and_then(|last| str::from_utf8(last).err());
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..4).find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However it is read, a file gives the parts of its text.
        #[test]
        fn parts_are_those_of_the_text(
            text in prop::collection::vec(prop_oneof![
                "[ab \n]{0,9}|é|東|🙂|\u{feff}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..3),
            ], 0..30),
            size in 1..20_usize,
            ignore in any::<bool>(),
        ) {
            let text = text.concat();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.txt");
            std::fs::write(&path, &text).unwrap();
            let errors = if ignore { InvalidUtf8::Ignore } else { InvalidUtf8::Replace };
            let whole = errors.text(&text).unwrap();
            let mut expected = TextParts::new(12);
            expected.add(whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&whole));
            let mut found = TextParts::new(12);
            let mut file = TextFile::open(&path, errors).unwrap();
            let (mut sum, mut begins) = (0, 0);
            loop {
                let read = file.read(size, &mut found).unwrap();
                sum += read.text;
                begins += usize::from(read.begins);
                if read.bytes == 0 {
                    break;
                }
            }
            prop_assert_eq!(found.rows(), expected.rows());
            prop_assert_eq!(sum, found.bytes());
            prop_assert_eq!(begins, usize::from(sum > 0));
            prop_assert_eq!(found.characters(), expected.characters());
            if str::from_utf8(&text).is_err() {
                let mut file = TextFile::open(&path, InvalidUtf8::Strict).unwrap();
                let mut parts = TextParts::new(12);
                let error = (0..=text.len() + 1).find_map(|_| file.read(size, &mut parts).err());
                let at = str::from_utf8(&text).unwrap_err().valid_up_to();
                let told = error.unwrap().to_string();
                prop_assert!(told.contains(&format!("not UTF-8 at byte {at} (")), "{}", told);
            }
        }
    }
}
