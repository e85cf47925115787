//! A file a few megabytes at a time, cut between lines, as text.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::InvalidUtf8;
use crate::error::{Error, ErrorKind, Result};
use crate::format::file;

/// About how many bytes a block has.
const BLOCK: usize = if cfg!(test) { 64 } else { 4 << 20 };
/// A line that is longer is cut, at a blank if there is one near: memory has to be bounded.
const LONGEST_LINE: usize = if cfg!(test) { 1 << 10 } else { 64 << 20 };
/// How far before the place of a cut a blank is looked for.
const NEAR: usize = 1 << 16;

/// Whole lines of a file.
pub(super) struct Block {
    pub text: String,
    /// The number of the first of them, from 1.
    pub first_line: u64,
}

/// The blocks of a file.
pub(super) struct Blocks<R> {
    stream: R,
    path: PathBuf,
    errors: InvalidUtf8,
    /// What was read of the line that the next block begins with.
    rest: Vec<u8>,
    /// How many bytes and lines came before.
    offset: u64,
    lines: u64,
    ended: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(stream: R, path: &Path, errors: InvalidUtf8) -> Self {
        Self {
            stream,
            path: path.to_owned(),
            errors,
            rest: Vec::new(),
            offset: 0,
            lines: 0,
            ended: false,
        }
    }

    /// The first line that is not blank, if there is one.
    pub(super) fn first_line(self) -> Result<Option<String>> {
        for block in self {
            let block = block?;
            if let Some(line) = block.text.lines().find(|line| !line.trim().is_empty()) {
                return Ok(Some(line.to_owned()));
            }
        }
        Ok(None)
    }

    /// The bytes of the next block; none at the end.
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.rest);
        while !self.ended {
            let before = bytes.len();
            let limited = self.stream.by_ref().take(BLOCK as u64);
            self.ended = { limited }.read_to_end(&mut bytes)? < BLOCK;
            if self.ended {
                break;
            }
            let newline = bytes[before..].iter().rposition(|&byte| byte == b'\n');
            let end = match newline {
                Some(at) => before + at + 1,
                None if bytes.len() < LONGEST_LINE => continue,
                None => cut_of_line(&bytes),
            };
            self.rest = bytes.split_off(end);
            break;
        }
        Ok(bytes)
    }

    fn decode(&self, bytes: Vec<u8>) -> Result<String> {
        let error = match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        };
        let place = self.offset + error.utf8_error().valid_up_to() as u64;
        let chunks = error.as_bytes().utf8_chunks();
        match self.errors {
            InvalidUtf8::Strict => Err(Error::new(
                ErrorKind::Format,
                format!("not UTF-8 at byte {place}"),
            )
            .at(self.path.display().to_string())
            .hint("convert the file, or set errors=\"replace\" or errors=\"ignore\"")),
            InvalidUtf8::Replace => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            InvalidUtf8::Ignore => Ok(chunks.map(|chunk| chunk.valid()).collect()),
        }
    }
}

impl<R: Read> Iterator for Blocks<R> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let bytes = match self.read() {
            Ok(bytes) if bytes.is_empty() => return None,
            Ok(bytes) => bytes,
            Err(error) => {
                self.ended = true;
                return Some(Err(file::file_error(&self.path, "read", &error)));
            }
        };
        let first_line = self.lines + 1;
        let length = bytes.len() as u64;
        self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let text = self.decode(bytes);
        self.offset += length;
        Some(text.map(|text| Block { text, first_line }))
    }
}

/// Where a line that is too long is cut: before a blank, else before a character.
fn cut_of_line(line: &[u8]) -> usize {
    let near = line.len().saturating_sub(NEAR).max(1);
    let last = |wanted: &dyn Fn(u8) -> bool| {
        let at = line[near..].iter().rposition(|&byte| wanted(byte));
        at.map(|at| near + at)
    };
    let blank = last(&|byte| byte == b' ');
    let character = || last(&|byte| byte & 0xC0 != 0x80);
    blank.or_else(character).unwrap_or(line.len())
}
