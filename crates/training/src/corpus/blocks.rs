//! Reads a file in blocks of a few megabytes of text, split between lines or at safe split points.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::BadRecords;
use crate::word_counts::{FirstStages, amount};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;
use jeton_text::text::InvalidUtf8;

/// How a file is read in blocks.
#[derive(Clone, Debug)]
pub(super) struct BlockOptions {
    /// About how many bytes a block has.
    pub block: usize,
    /// How many bytes a line may have that cannot be split.
    pub longest_line: usize,
    /// Whether one that has more is an error, and not split at a space.
    pub is_strict: bool,
    /// What makes words of the lines, and knows where a line can be split.
    pub stages: Option<Arc<FirstStages>>,
    /// Whether the end of a line is a place to split.
    pub between_lines: bool,
    /// What its lines are in the file, for errors.
    pub unit: &'static str,
    pub errors: InvalidUtf8,
    /// What becomes of lines that are not UTF-8, if that is an error.
    pub bad_records: BadRecords,
}

/// Bytes at the end of a line that are searched for a place to split.
const SEARCHED_FOR_CUT: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// Whole lines of a file, or what was split there.
pub(super) struct Block {
    pub text: String,
    /// The number of the first of them, from 1.
    pub first_line: u64,
    /// How many bytes of the file, decompressed, come up to its end.
    pub end: u64,
    /// Whether the file surely ends with it. No block says so of a file of whole blocks.
    pub is_last: bool,
    /// The numbers of the lines that were left out because they are not UTF-8.
    pub bad: Vec<u64>,
}

impl Block {
    /// The number of a line in the file, by how many lines of the text come before it.
    pub(super) fn line_number(&self, before: u64) -> u64 {
        let mut number = self.first_line + before;
        for &bad in &self.bad {
            number += u64::from(bad <= number);
        }
        number
    }

    /// The number of the line that begins at a byte of the text.
    pub(super) fn line_at(&self, at: usize) -> u64 {
        self.line_number(newlines(&self.text.as_bytes()[..at]))
    }
}

/// The blocks of a file.
pub(super) struct Blocks<R> {
    stream: R,
    path: PathBuf,
    options: BlockOptions,
    /// What was read of the line that the next block begins with.
    rest: Vec<u8>,
    /// At which byte of the file the next block begins, and how many lines were read before it.
    offset: u64,
    lines: u64,
    ended: bool,
    /// Of the bytes before the next block, if that is requested.
    consumed: Option<Sha256>,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(stream: R, path: &Path, start: u64, options: BlockOptions) -> Self {
        Self {
            stream,
            path: path.to_owned(),
            options,
            rest: Vec::new(),
            offset: start,
            lines: 0,
            ended: false,
            consumed: None,
        }
    }

    /// The same, with the SHA-256 of what was read.
    pub(super) fn with_digest(self) -> Self {
        Self {
            consumed: Some(Sha256::new()),
            ..self
        }
    }

    /// The SHA-256 of the bytes before the next block, decompressed.
    pub(super) fn digest(&self) -> [u8; 32] {
        let consumed = self.consumed.clone().unwrap_or_default();
        consumed.finalize().into()
    }

    /// How many lines came before the next block.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Passes over what an earlier reading of the file gave: up to the end of a block, with this
    /// beginning of its SHA-256.
    pub(super) fn pass_over(&mut self, bytes: u64, lines: u64, digest: u64) -> Result<()> {
        let mut stream = io::BufReader::with_capacity(1 << 16, self.stream.by_ref().take(bytes));
        let consumed = self.consumed.get_or_insert_default();
        let mut passed = 0;
        loop {
            let read = io::BufRead::fill_buf(&mut stream);
            let some = read.map_err(|error| files::file_error(&self.path, "read", &error))?;
            let length = some.len();
            if length == 0 {
                break;
            }
            consumed.update(some);
            passed += length as u64;
            io::BufRead::consume(&mut stream, length);
        }
        let changed = |message: String| {
            let error = Error::new(ErrorKind::File, message);
            let error = error.at(self.path.display().to_string());
            Err(error.hint("restore it, or begin anew"))
        };
        if passed < bytes {
            return changed("is shorter than it was when it was read".to_owned());
        }
        if beginning_of(self.digest()) != digest {
            return changed(format!(
                "has changed in its first {bytes} bytes, which were read already"
            ));
        }
        (self.offset, self.lines) = (bytes, lines);
        Ok(())
    }

    /// The first line that is not blank, if there is one, and its number.
    pub(super) fn first_line(self) -> Result<Option<(u64, String)>> {
        for block in self {
            let block = block?;
            let mut lines = (block.first_line..).zip(block.text.lines());
            if let Some((number, line)) = lines.find(|(_, line)| !line.trim().is_empty()) {
                return Ok(Some((number, line.to_owned())));
            }
        }
        Ok(None)
    }

    /// The bytes of the next block; none at the end.
    fn read(&mut self) -> Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let BlockOptions {
            block,
            longest_line,
            is_strict,
            between_lines,
            ..
        } = self.options;
        while !self.ended {
            let before = bytes.len();
            let reserved = if between_lines {
                bytes.try_reserve_exact(block)
            } else {
                // All of a file may come together.
                bytes.try_reserve(block)
            };
            let limited = self.stream.by_ref().take(block as u64);
            let read = reserved.map_err(io::Error::from);
            let read = read.and_then(|()| { limited }.read_to_end(&mut bytes));
            let read = read.map_err(|error| self.failed(&error))?;
            self.ended = read < block;
            if self.ended {
                break;
            }
            let newline = if between_lines {
                bytes[before..].iter().rposition(|&byte| byte == b'\n')
            } else {
                None
            };
            let end = match newline {
                Some(at) => before + at + 1,
                None => match self.split_point(&bytes) {
                    Some(end) => end,
                    None if bytes.len() < longest_line => continue,
                    None if is_strict => return Err(self.too_long()),
                    None => cut_of_line(&bytes),
                },
            };
            self.rest = bytes.split_off(end);
            break;
        }
        Ok(bytes)
    }

    /// A safe split point near the end of a line: words part there whatever follows.
    fn split_point(&self, line: &[u8]) -> Option<usize> {
        let stages = self.options.stages.as_ref()?;
        let mut near = line.len().saturating_sub(SEARCHED_FOR_CUT);
        while near < line.len() && line[near] & 0xC0 == 0x80 {
            near += 1;
        }
        let valid = match std::str::from_utf8(&line[near..]) {
            Ok(text) => text,
            // The last character may not be whole yet.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&line[near..near + error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        stages.split_point(valid).map(|at| near + at)
    }

    fn failed(&self, error: &io::Error) -> Error {
        files::file_error(&self.path, "read", error)
    }

    fn too_long(&self) -> Error {
        let most = amount(self.options.longest_line as u64);
        if !self.options.between_lines {
            let message = format!(
                "the document has more than {most} without a place where it can be split safely"
            );
            let error = Error::new(ErrorKind::Unsupported, message);
            return error
                .at(self.path.display().to_string())
                .hint("make its lines the documents, or split the file");
        }
        let error = Error::new(
            ErrorKind::Training,
            format!("the line has more than {most} without a place where it can be split safely"),
        );
        let place = format!("{}: line {}", self.path.display(), self.lines + 1);
        error
            .at(place)
            .hint("allow more memory, or split the line in the file")
    }

    /// The bytes as text, and the numbers of the lines that were left out.
    fn decode(&self, bytes: Vec<u8>, first_line: u64) -> Result<(String, Vec<u64>)> {
        let error = match String::from_utf8(bytes) {
            Ok(text) => return Ok((text, Vec::new())),
            Err(error) => error,
        };
        let place = self.offset + error.utf8_error().valid_up_to() as u64;
        match self.options.errors {
            InvalidUtf8::Strict
                if self.options.between_lines && self.options.bad_records == BadRecords::Drop =>
            {
                let lines = error.as_bytes().split_inclusive(|&byte| byte == b'\n');
                let (mut text, mut bad) = (String::new(), Vec::new());
                for (number, line) in (first_line..).zip(lines) {
                    match std::str::from_utf8(line) {
                        Ok(line) => text.push_str(line),
                        Err(_) => bad.push(number),
                    }
                }
                Ok((text, bad))
            }
            InvalidUtf8::Strict => {
                let hint = "convert the file, or set errors=\"replace\" or errors=\"ignore\"";
                let (message, place) = if self.options.unit != "line" {
                    let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                    let record = first_line + newlines(before);
                    let file = self.path.display();
                    (
                        "not UTF-8".to_owned(),
                        format!("{file}: {} {record}", self.options.unit),
                    )
                } else {
                    (
                        format!("not UTF-8 at byte {place}"),
                        self.path.display().to_string(),
                    )
                };
                let error = Error::new(ErrorKind::Format, message);
                Err(error.at(place).hint(hint).parameter("errors"))
            }
            mending => Ok((mending.text(error.as_bytes())?.into_owned(), Vec::new())),
        }
    }
}

impl<R: Read> Iterator for Blocks<R> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let mut bytes = match self.read() {
            Ok(bytes) if bytes.is_empty() => return None,
            Ok(bytes) => bytes,
            Err(error) => {
                self.ended = true;
                self.rest.clear();
                return Some(Err(error));
            }
        };
        if let Some(consumed) = &mut self.consumed {
            consumed.update(&bytes);
        }
        if self.offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
            self.offset = BYTE_ORDER_MARK.len() as u64;
        }
        let first_line = self.lines + 1;
        let length = bytes.len() as u64;
        self.lines += newlines(&bytes);
        let text = self.decode(bytes, first_line);
        self.offset += length;
        Some(text.map(|(text, bad)| Block {
            text,
            first_line,
            end: self.offset,
            is_last: self.ended,
            bad,
        }))
    }
}

/// The first eight bytes of a SHA-256, as a big-endian number.
pub(super) fn beginning_of(sha256: [u8; 32]) -> u64 {
    u64::from_be_bytes(std::array::from_fn(|at| sha256[at]))
}

fn newlines(bytes: &[u8]) -> u64 {
    // A count in a byte, for as many bytes as it holds, is a few instructions a vector.
    let counts = bytes.chunks(192).map(|some| {
        let count = |sum: u8, &byte: &u8| sum + u8::from(byte == b'\n');
        u64::from(some.iter().fold(0, count))
    });
    counts.sum()
}

/// Where a line that is too long is split: before a space, else before a character.
fn cut_of_line(line: &[u8]) -> usize {
    let near = line.len().saturating_sub(SEARCHED_FOR_CUT).max(1);
    let last = |wanted: &dyn Fn(u8) -> bool| {
        let at = line[near..].iter().rposition(|&byte| wanted(byte));
        at.map(|at| near + at)
    };
    let space = last(&|byte| byte == b' ');
    let character = || last(&|byte| byte & 0xC0 != 0x80);
    space.or_else(character).unwrap_or(line.len())
}
