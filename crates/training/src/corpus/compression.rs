//! gzip, Zstandard and xz: how they begin, and their decompressed bytes.

use std::io::{self, BufRead, BufReader, Read};

/// The bytes of a file.
pub(super) type Stream = Box<dyn Read + Send>;

/// Kilobytes that decompressing xz may take: the largest dictionary that its presets use, and some.
const XZ_MEMORY: u32 = 256 << 10;

/// The decompressed bytes.
pub(super) fn decompressed(raw: Stream, compression: Option<Compression>) -> Stream {
    let (inner, name): (Stream, _) = match compression {
        Some(Compression::Gzip) => (
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(raw))),
            "gzip",
        ),
        Some(Compression::Zstandard) => (
            Box::new(Frames {
                raw: Some(BufReader::new(raw)),
                frame: None,
            }),
            "Zstandard",
        ),
        Some(Compression::Xz) => {
            let raw = BufReader::new(raw);
            (
                Box::new(lzma_rust2::XzReader::new_mem_limit(raw, true, XZ_MEMORY)),
                "xz",
            )
        }
        None => return raw,
    };
    Box::new(Decompressing { inner, name })
}

/// Decompressed bytes. The messages of decoders are about their own state, which does not help users.
struct Decompressing {
    inner: Stream,
    name: &'static str,
}

impl Read for Decompressing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let is_damaged = error.raw_os_error().is_none()
                && !matches!(
                    error.kind(),
                    io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted
                );
            if is_damaged {
                let name = self.name;
                io::Error::other(format!("its {name} data is damaged or cut short"))
            } else {
                error
            }
        })
    }
}

#[derive(Clone, Copy)]
pub(super) enum Compression {
    Gzip,
    Zstandard,
    Xz,
}

/// Bytes at the beginning of a file that say how it is compressed.
pub(super) const MAGIC: u64 = 6;

impl Compression {
    /// That of a file with these first bytes.
    pub(super) fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstandard),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
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
        loop {
            if let Some(frame) = &mut self.frame {
                let length = frame.read(buffer)?;
                if length > 0 || buffer.is_empty() {
                    return Ok(length);
                }
                self.raw = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut raw) = self.raw.take() else {
                return Ok(0);
            };
            if raw.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(Frame::new(raw).map_err(io::Error::other)?);
        }
    }
}
