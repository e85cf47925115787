//! The bytes of a file of a corpus, decompressed if they begin as gzip or Zstandard does.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::is_standard_input;

/// The contents of a file.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut raw: Box<dyn Read + Send> = match is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(path)?),
    };
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
