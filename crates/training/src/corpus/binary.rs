//! Refuses files that are not text, whatever their names are: by how they begin, and by NUL bytes anywhere.

use std::io::{self, Read};
use std::path::Path;

use super::compression::Compression;
use crate::word_counts;
use jeton_text::error::{Error, ErrorKind, Result};

/// Decompressed bytes that are examined before a file is read.
pub(super) const HEAD: u64 = 64 << 10;

const UNPACK: &str = "unpack it, and name the files of text in it";
const DECOMPRESS: &str = "decompress it; gzip, Zstandard and xz are read as they are";
const EXTRACT: &str = "extract its text first";

/// How formats begin that are often found beside text: the offset, the bytes, what it is, and what
/// to do. Others have NUL bytes.
const MAGIC: [(usize, &[u8], &str, &str); 16] = [
    (
        0,
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS to a file that was not fetched",
        "fetch the file: git lfs pull",
    ),
    (
        257,
        b"ustar",
        "a tar archive",
        "unpack it (tar -xf), and name the files of text in it",
    ),
    (0, b"PK\x03\x04", "a ZIP archive", UNPACK),
    (0, b"PK\x05\x06", "a ZIP archive", UNPACK),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive", UNPACK),
    (0, b"Rar!\x1A\x07", "a RAR archive", UNPACK),
    (4, b"1AY&SY", "compressed by bzip2", DECOMPRESS),
    (0, b"\x04\x22\x4D\x18", "compressed by LZ4", DECOMPRESS),
    (0, b"LZIP\x01", "compressed by lzip", DECOMPRESS),
    (
        0,
        b"PAR1\x15",
        "a Parquet table",
        "give it a name that ends in .parquet",
    ),
    (
        0,
        b"ARROW1\0\0",
        "an Arrow file",
        "write it as Parquet, or pass the table",
    ),
    (
        0,
        b"Obj\x01",
        "an Avro file",
        "write it as JSON lines or Parquet",
    ),
    (0, b"ORC\x08", "an ORC file", "write it as Parquet"),
    (0, b"%PDF-", "a PDF", EXTRACT),
    (0, b"\xD0\xCF\x11\xE0", "an Office document", EXTRACT),
    (0, b"SQLite format 3\0", "an SQLite database", EXTRACT),
];

/// Fails if a file that begins with these decompressed bytes is not text.
pub(super) fn check(path: &Path, head: &[u8]) -> Result<()> {
    let refused = |message: String, hint: &str| {
        let error = Error::new(ErrorKind::Format, message);
        Err(error.at(path.display().to_string()).hint(hint.to_owned()))
    };
    if head.starts_with(word_counts::MARK) {
        return refused(
            "this is a file of word counts, not text".to_owned(),
            "train from WordCounts.load of this file",
        );
    }
    let magic = MAGIC.iter().find(|(at, magic, ..)| {
        let found = head.get(*at..);
        found.is_some_and(|found| found.starts_with(magic))
    });
    if let Some((_, _, what, remedy)) = magic {
        return refused(format!("this is {what}, not text"), remedy);
    }
    if Compression::of(head).is_some() {
        return refused(
            "this is compressed, not text".to_owned(),
            "decompress it first: gzip -dc, zstd -dc or xz -dc",
        );
    }
    let encoding = match head {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        _ => None,
    };
    if let Some(encoding) = encoding {
        return refused(
            format!("this is text in {encoding}, not in UTF-8"),
            "convert the file to UTF-8",
        );
    }
    match nul_in(head) {
        Some(place) => Err(has_nul(place as u64).at(path.display().to_string())),
        None => Ok(()),
    }
}

/// Fails if these bytes, which begin a stream, are not text.
///
/// # Errors
/// As for a file with this content; `name` is the stream's.
pub fn check_text(name: &str, bytes: &[u8]) -> Result<()> {
    check(Path::new(name), bytes)
}

fn nul_in(bytes: &[u8]) -> Option<usize> {
    // `contains` reads whole words, and a NUL is rare.
    let has_one = bytes.contains(&0);
    has_one.then(|| bytes.iter().position(|&byte| byte == 0))?
}

fn has_nul(place: u64) -> Error {
    let message = format!("this is not text: byte {place} is NUL");
    let hint = "leave the file out, or write the text in it as UTF-8";
    Error::new(ErrorKind::Format, message).hint(hint)
}

/// A stream that fails at a NUL byte, with an [`Error`] inside.
pub(super) struct Text<R> {
    inner: R,
    /// Which byte of the file, decompressed, comes next.
    place: u64,
}

impl<R: Read> Text<R> {
    pub(super) fn new(inner: R, place: u64) -> Self {
        Self { inner, place }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        if let Some(at) = nul_in(&buffer[..length]) {
            return Err(io::Error::other(has_nul(self.place + at as u64)));
        }
        self.place += length as u64;
        Ok(length)
    }
}
