//! The contents of one file of a corpus, decompressed, as bytes; the caller decodes them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compression::Stream;
use super::stream::{Digested, Source};
use jeton_text::error::Result;
use jeton_text::files::file_error;

/// Most bytes that are allocated before they are read, since the file may turn out shorter.
const MAX_AHEAD: usize = 8 << 20;

/// The contents of a file, decompressed if it begins as gzip, Zstandard or xz do.
///
/// ```no_run
/// use jeton_training::corpus::Contents;
///
/// let mut contents = Contents::open("web.txt.zst".as_ref())?;
/// let first = contents.read(1 << 20)?;
/// # Ok::<(), jeton_text::Error>(())
/// ```
pub struct Contents {
    path: PathBuf,
    stream: Stream,
    digested: Arc<Digested>,
}

impl Contents {
    /// Opens a file; the path `-` is the standard input.
    ///
    /// # Errors
    /// It cannot be read, or is not text.
    pub fn open(path: &Path) -> Result<Self> {
        let mut source = Source::open(path)?;
        let digested = source.digested();
        Ok(Self {
            path: path.to_owned(),
            stream: source.text()?,
            digested,
        })
    }

    /// The next bytes: as many as asked for, but at the end.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(&mut self, size: usize) -> Result<Vec<u8>> {
        // Room that is not filled takes no memory; grown, the list would be copied.
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(size.min(MAX_AHEAD));
        let limited = self.stream.by_ref().take(size as u64);
        let read = reserved.map_err(io::Error::from);
        let read = read.and_then(|()| { limited }.read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(bytes),
            Err(error) => Err(file_error(&self.path, "read", &error)),
        }
    }

    /// How many bytes of the file on the disk were read, and their SHA-256.
    pub fn digest(&self) -> (u64, [u8; 32]) {
        self.digested.bytes_and_sha256()
    }
}
