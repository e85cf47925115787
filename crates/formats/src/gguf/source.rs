//! Reading the header of a file that may be hostile: a length counts only if the file still has that many bytes.

use std::io::Read;

use super::value::{ARRAY, Kind, TEXT, Texts, Value};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;

/// The most bytes of a key, as in llama.cpp.
const LONGEST_KEY: u64 = 65_535;

/// A file that is read from the front.
pub struct Source<R> {
    file: R,
    /// Bytes of the file that are left.
    pub left: u64,
    /// Bytes that may still be read: all that is in front of the tensors is kept in memory.
    budget: u64,
}

impl<R: Read> Source<R> {
    /// A file of `length` bytes.
    pub fn new(file: R, length: u64) -> Self {
        Self {
            file,
            left: length,
            budget: files::LARGEST,
        }
    }

    pub fn bytes(&mut self, count: u64) -> Result<Vec<u8>> {
        if count > self.left {
            return broken(format!(
                "the file ends too early: {count} bytes should follow, but only {} do",
                self.left
            ));
        }
        if count > self.budget {
            let message = format!(
                "the part in front of the tensors has more than {} bytes, the most that is read",
                files::LARGEST
            );
            return Err(Error::new(ErrorKind::File, message));
        }
        self.left -= count;
        self.budget -= count;
        let mut bytes = Vec::new();
        let read = |error: std::io::Error| Error::new(ErrorKind::File, error.to_string());
        let size = usize::try_from(count).unwrap_or(usize::MAX);
        let room = bytes.try_reserve_exact(size);
        room.map_err(|_| read(std::io::ErrorKind::OutOfMemory.into()))?;
        let taken = (&mut self.file).take(count).read_to_end(&mut bytes);
        if taken.map_err(read)? == size {
            Ok(bytes)
        } else {
            broken("the file ends too early")
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes(N as u64)?);
        Ok(bytes)
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number of things, each of which takes at least `size` bytes.
    pub fn count(&mut self, size: u64, what: &str) -> Result<u64> {
        let count = self.u64()?;
        if count <= self.left / size {
            Ok(count)
        } else {
            broken(format!(
                "it says that {count} {what} follow, but only {} bytes do",
                self.left
            ))
        }
    }

    pub fn text(&mut self) -> Result<Vec<u8>> {
        let length = self.count(1, "bytes of a text")?;
        self.bytes(length)
    }

    pub fn key(&mut self) -> Result<String> {
        let length = self.count(1, "bytes of a key")?;
        if length > LONGEST_KEY {
            return broken(format!("a key of {length} bytes"));
        }
        let key = self.bytes(length)?;
        match String::from_utf8(key) {
            Ok(key) => Ok(key),
            Err(error) => broken(format!("a key is not UTF-8: {error}")),
        }
    }

    pub fn value(&mut self) -> Result<Value> {
        let number = self.u32()?;
        Ok(match (number, Kind::of(number)) {
            (_, Some(kind)) => Value::Number(kind, self.bytes(kind.size() as u64)?),
            (TEXT, _) => Value::Text(self.text()?),
            (ARRAY, _) => self.values()?,
            _ => return broken(format!("{number} is not a kind of value")),
        })
    }

    fn values(&mut self) -> Result<Value> {
        let number = self.u32()?;
        Ok(match (number, Kind::of(number)) {
            (_, Some(kind)) => {
                let count = self.count(kind.size() as u64, "numbers")?;
                Value::Numbers(kind, self.bytes(count * kind.size() as u64)?)
            }
            (TEXT, _) => {
                let count = self.count(8, "texts")?;
                let mut texts = Texts::default();
                for _ in 0..count {
                    texts.push(&self.text()?);
                }
                Value::Texts(texts)
            }
            (ARRAY, _) => return broken("an array of arrays, which llama.cpp does not read"),
            _ => return broken(format!("{number} is not a kind of value")),
        })
    }
}

/// A file that is not what its header says.
pub fn broken<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Format, message))
}
