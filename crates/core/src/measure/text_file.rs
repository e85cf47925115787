//! A text file, read in parts: UTF-8, decompressed.
//!
//! Look here for a character that is split between two reads, and for bytes that are not UTF-8.

use std::path::{Path, PathBuf};

use super::text_parts::TextParts;
use jeton_text::error::Result;
use jeton_text::mem::room;
use jeton_text::text::{InvalidUtf8, WholeCharacters};
use jeton_training::corpus::Contents;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text file that is read part by part.
pub struct TextFile {
    path: PathBuf,
    contents: Contents,
    errors: InvalidUtf8,
    characters: WholeCharacters,
    /// Text that is no whole part yet.
    rest: String,
    /// Whether no text was read yet.
    is_first: bool,
    /// Whether it has given a part.
    has_given: bool,
}

/// The result of one read from a file.
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
            characters: WholeCharacters::default(),
            rest: String::new(),
            is_first: true,
            has_given: false,
        })
    }

    /// Reads about this many bytes, and adds the parts that they end. Parts are split as those of a text.
    ///
    /// # Errors
    /// The file cannot be read, is damaged or not UTF-8.
    pub fn read(&mut self, size: usize, parts: &mut TextParts) -> Result<Read> {
        let bytes = self.contents.read(size)?;
        let is_end = bytes.is_empty();
        let before = parts.bytes();
        room::reserve_text(&mut parts.text, self.rest.len() + bytes.len());
        parts.text.push_str(&std::mem::take(&mut self.rest));
        let start = parts.bytes();
        let pushed = self
            .characters
            .push(&bytes, self.errors, is_end, &mut parts.text);
        pushed.map_err(|byte| byte.in_file().at(self.path.display().to_string()))?;
        if self.is_first && parts.bytes() > start {
            self.is_first = false;
            if parts.text[start..].starts_with(BYTE_ORDER_MARK) {
                parts.text.drain(start..start + BYTE_ORDER_MARK.len_utf8());
            }
        }
        let text = parts.bytes() - start;
        let left = parts.add_tail(is_end);
        room::ask(left);
        self.rest = parts.split_off(left);
        let begins = !self.has_given && parts.bytes() > before;
        self.has_given |= begins;
        Ok(Read {
            bytes: bytes.len(),
            text,
            begins,
        })
    }

    /// How many bytes of the file on the disk were read, and their SHA-256.
    pub fn digest(&self) -> (u64, [u8; 32]) {
        self.contents.digest()
    }
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
                // NUL is in no text.
                prop::collection::vec(1_u8.., 0..3),
            ], 0..30),
            size in 1..20_usize,
            ignore in any::<bool>(),
        ) {
            let text = text.concat();
            prop_assume!(!matches!(text[..], [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])); // no UTF-16
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
