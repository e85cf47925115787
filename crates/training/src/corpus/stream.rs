//! The bytes of one file of a corpus, decompressed and checked to be text.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::binary;
use super::compression::{Compression, MAGIC, Stream, decompressed};
use jeton_text::error::Result;
use jeton_text::files::file_error;

/// A file before it is decompressed.
pub(super) struct Source<'p> {
    path: &'p Path,
    raw: Stream,
    compression: Option<Compression>,
}

impl<'p> Source<'p> {
    /// Opens a file; the path `-` is the standard input.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn open(path: &'p Path) -> Result<Self> {
        let recognised = raw(path).and_then(recognised);
        let (raw, compression) = recognised.map_err(|error| file_error(path, "read", &error))?;
        Ok(Self {
            path,
            raw,
            compression,
        })
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// Counts the bytes on the disk as they are read from now on.
    pub(super) fn counted(&mut self, bytes: &Arc<AtomicU64>) {
        let inner = std::mem::replace(&mut self.raw, Box::new(io::empty()));
        self.raw = counted(inner, bytes);
    }

    /// Counts and hashes the bytes on the disk as they are read from now on.
    pub(super) fn digested(&mut self) -> Arc<Digested> {
        let digested = Arc::<Digested>::default();
        let inner = std::mem::replace(&mut self.raw, Box::new(io::empty()));
        self.raw = Box::new(Digesting {
            inner,
            digested: Arc::clone(&digested),
        });
        digested
    }

    /// The decompressed bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is not text.
    pub(super) fn text(self) -> Result<Stream> {
        let mut text = decompressed(self.raw, self.compression);
        let mut head = Vec::new();
        let read = text.by_ref().take(binary::HEAD).read_to_end(&mut head);
        read.map_err(|error| file_error(self.path, "read", &error))?;
        binary::check(self.path, &head)?;
        let rest = binary::Text::new(text, head.len() as u64);
        Ok(Box::new(io::Cursor::new(head).chain(rest)))
    }
}

fn raw(path: &Path) -> io::Result<Stream> {
    Ok(if is_standard_input(path) {
        Box::new(io::stdin())
    } else {
        Box::new(fs::File::open(path)?)
    })
}

/// The same bytes, and how they are compressed.
fn recognised(mut raw: Stream) -> io::Result<(Stream, Option<Compression>)> {
    let mut magic = Vec::new();
    raw.by_ref().take(MAGIC).read_to_end(&mut magic)?;
    let compression = Compression::of(&magic);
    Ok((Box::new(io::Cursor::new(magic).chain(raw)), compression))
}

/// Some bytes of a file, as they are.
pub(super) fn open_part(path: &Path, bytes: &Range<u64>) -> io::Result<Stream> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(bytes.start))?;
    let part = file.take(bytes.end - bytes.start);
    Ok(Box::new(binary::Text::new(part, bytes.start)))
}

/// The bytes of the lines that begin within a range of bytes; none if the file is compressed.
pub(super) fn lines_within(path: &Path, bytes: &Range<u64>) -> io::Result<Option<Range<u64>>> {
    let mut file = fs::File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(MAGIC).read_to_end(&mut magic)?;
    if Compression::of(&magic).is_some() {
        return Ok(None);
    }
    let start = start_of_line(&mut file, bytes.start)?;
    let end = start_of_line(&mut file, bytes.end)?;
    Ok(Some(start..end.max(start)))
}

/// Where the first line begins that does not begin before a place.
fn start_of_line(file: &mut fs::File, place: u64) -> io::Result<u64> {
    // The byte before may end a line.
    let Some(mut at) = place.checked_sub(1) else {
        return Ok(0);
    };
    file.seek(SeekFrom::Start(at))?;
    let mut near = BufReader::new(file);
    loop {
        let read = near.fill_buf()?;
        let newline = read.iter().position(|&byte| byte == b'\n');
        match newline {
            Some(newline) => return Ok(at + newline as u64 + 1),
            None if read.is_empty() => return Ok(at),
            None => at += read.len() as u64,
        }
        let read = read.len();
        near.consume(read);
    }
}

/// The same bytes, counted as they pass.
pub(super) fn counted(inner: Stream, bytes: &Arc<AtomicU64>) -> Stream {
    let bytes = Arc::clone(bytes);
    Box::new(Counting { inner, bytes })
}

struct Counting {
    inner: Stream,
    bytes: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// The number of bytes read so far, and their SHA-256.
#[derive(Default)]
pub(super) struct Digested(Mutex<(u64, Sha256)>);

impl Digested {
    pub(super) fn bytes(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn bytes_and_sha256(&self) -> (u64, [u8; 32]) {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.0, state.1.clone().finalize().into())
    }
}

/// A stream whose bytes are counted and hashed as they pass.
struct Digesting<R> {
    inner: R,
    digested: Arc<Digested>,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let state = self.digested.0.lock();
        let (bytes, sha256) = &mut *state.unwrap_or_else(PoisonError::into_inner);
        *bytes += length as u64;
        sha256.update(&buffer[..length]);
        Ok(length)
    }
}

/// Whether a path names the standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}
