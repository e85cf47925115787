//! The bytes of one file of a corpus, decompressed if they begin as gzip or Zstandard does.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// The contents of a file.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let (raw, compression) = recognised(raw(path)?)?;
    decompressed(raw, compression)
}

/// As [`open`], and what is known of the bytes on the disk once all were read.
pub(super) fn open_digested(path: &Path) -> io::Result<(Box<dyn Read + Send>, Arc<Digested>)> {
    let (raw, compression) = recognised(raw(path)?)?;
    let (raw, digested) = digesting(raw);
    Ok((decompressed(raw, compression)?, digested))
}

/// The bytes of a file.
type Stream = Box<dyn Read + Send>;

/// As [`open_digested`], but of a file that is not compressed, whose bytes are those of the stream,
/// nothing is noted.
pub(super) fn open_digested_if_compressed(
    path: &Path,
) -> io::Result<(Stream, Option<Arc<Digested>>)> {
    let (raw, compression) = recognised(raw(path)?)?;
    if compression.is_none() {
        return Ok((raw, None));
    }
    let (raw, digested) = digesting(raw);
    Ok((decompressed(raw, compression)?, Some(digested)))
}

fn digesting(inner: Box<dyn Read + Send>) -> (Box<dyn Read + Send>, Arc<Digested>) {
    let digested = Arc::<Digested>::default();
    let raw = Digesting {
        inner,
        digested: Arc::clone(&digested),
    };
    (Box::new(raw), digested)
}

fn raw(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(if is_standard_input(path) {
        Box::new(io::stdin())
    } else {
        Box::new(fs::File::open(path)?)
    })
}

/// The same bytes, and how they are compressed.
fn recognised(
    mut raw: Box<dyn Read + Send>,
) -> io::Result<(Box<dyn Read + Send>, Option<Compression>)> {
    let mut magic = Vec::new();
    raw.by_ref().take(4).read_to_end(&mut magic)?;
    let compression = Compression::of(&magic);
    Ok((Box::new(io::Cursor::new(magic).chain(raw)), compression))
}

fn decompressed(
    raw: Box<dyn Read + Send>,
    compression: Option<Compression>,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Some(Compression::Gzip) => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(raw)))
        }
        Some(Compression::Zstandard) => Box::new(Frames {
            raw: Some(BufReader::new(raw)),
            frame: None,
        }),
        None => raw,
    })
}

enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    /// That of a file with these first four bytes.
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD] => Some(Self::Zstandard),
            _ => None,
        }
    }
}

/// Some bytes of a file, as they are.
pub(super) fn open_part(path: &Path, bytes: &Range<u64>) -> io::Result<Box<dyn Read + Send>> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(bytes.start))?;
    Ok(Box::new(file.take(bytes.end - bytes.start)))
}

/// The bytes of the lines that begin within a range of bytes; none if the file is compressed.
pub(super) fn lines_within(path: &Path, bytes: &Range<u64>) -> io::Result<Option<Range<u64>>> {
    let mut file = fs::File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic)?;
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

/// The frames of a Zstandard file, one after another.
struct Frames<R: Read> {
    /// What comes after the frames read so far; none while one is read.
    raw: Option<BufReader<R>>,
    frame: Option<Frame<R>>,
}

type Frame<R> = ruzstd::decoding::StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>;

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The decoder's message about its own state does not help users.
        let broken = || io::Error::other("its Zstandard data is damaged or cut short");
        loop {
            if let Some(frame) = &mut self.frame {
                let length = frame.read(buffer).map_err(|_| broken())?;
                if length > 0 || buffer.is_empty() {
                    return Ok(length);
                }
                self.raw = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut raw) = self.raw.take() else {
                return Ok(0);
            };
            if io::BufRead::fill_buf(&mut raw)?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(Frame::new(raw).map_err(|_| broken())?);
        }
    }
}

/// Whether a path names the standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}
