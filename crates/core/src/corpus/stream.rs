//! The bytes of a file of a corpus, decompressed if they begin as gzip or Zstandard does.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::is_standard_input;

/// The contents of a file.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    decompressed(raw(path)?)
}

/// As [`open`], and what is known of the bytes on the disk once all were read.
pub(super) fn open_digested(path: &Path) -> io::Result<(Box<dyn Read + Send>, Arc<Digested>)> {
    let digested = Arc::new(Digested::default());
    let raw = Box::new(Digesting {
        inner: raw(path)?,
        digested: Arc::clone(&digested),
    });
    Ok((decompressed(raw)?, digested))
}

fn raw(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(match is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(path)?),
    })
}

fn decompressed(mut raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    raw.by_ref().take(4).read_to_end(&mut magic)?;
    let whole = io::Cursor::new(magic.clone()).chain(raw);
    Ok(match magic[..] {
        [0x1F, 0x8B, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole))),
        [0x28, 0xB5, 0x2F, 0xFD] => Box::new(Frames {
            raw: Some(BufReader::new(whole)),
            frame: None,
        }),
        _ => Box::new(whole),
    })
}

/// How many bytes were read, and their SHA-256 so far.
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
        // What the decoder says of its own state helps nobody.
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
