//! A text whose documents have a separator between them, as lines: a JSON string for each document.

use std::io::{self, Read};

use super::LONGEST_LINE;
use super::compression::Stream;
use super::delimited::write_string;

/// Bytes that are read, and lines that are made, at a time.
const CHUNK: usize = 64 << 10;
const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The lines of a text, split as by `str::split`.
pub(super) struct SplitText {
    stream: Stream,
    separator: Vec<u8>,
    /// Text that was read, from the beginning of a document on.
    text: Vec<u8>,
    /// Bytes at its start in which no separator begins.
    searched: usize,
    is_begun: bool,
    ended: bool,
    lines: Vec<u8>,
    given: usize,
}

impl SplitText {
    pub(super) fn new(stream: Stream, separator: &str) -> Self {
        Self {
            stream,
            separator: separator.as_bytes().to_vec(),
            text: Vec::new(),
            searched: 0,
            is_begun: false,
            ended: false,
            lines: Vec::new(),
            given: 0,
        }
    }

    /// Makes lines of what was read.
    fn take_documents(&mut self) {
        let mut start = 0;
        while let Some(at) = find(&self.text, &self.separator, self.searched.max(start)) {
            write_string(&self.text[start..at], &mut self.lines);
            self.lines.push(b'\n');
            start = at + self.separator.len();
            self.searched = start;
        }
        self.text.drain(..start);
        self.searched = (self.text.len() + 1).saturating_sub(self.separator.len());
        if self.ended {
            write_string(&self.text, &mut self.lines);
            self.lines.push(b'\n');
        }
    }
}

/// Offset of the first `separator` in a text, from a byte on.
fn find(text: &[u8], separator: &[u8], mut from: usize) -> Option<usize> {
    let (&first, rest) = separator.split_first()?;
    loop {
        let at = from + text.get(from..)?.iter().position(|&byte| byte == first)?;
        if text[at + 1..].starts_with(rest) {
            return Some(at);
        }
        from = at + 1;
    }
}

impl Read for SplitText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.lines.len() {
            self.lines.clear();
            self.given = 0;
            while !self.ended && self.lines.is_empty() {
                let mut chunk = { self.stream.by_ref() }.take(CHUNK as u64);
                self.ended = chunk.read_to_end(&mut self.text)? == 0;
                if !self.is_begun {
                    self.is_begun = true;
                    if self.text.is_empty() {
                        return Ok(0);
                    }
                    if self.text.starts_with(BYTE_ORDER_MARK) {
                        self.text.drain(..BYTE_ORDER_MARK.len());
                    }
                }
                self.take_documents();
                if self.text.len() > LONGEST_LINE {
                    let most = LONGEST_LINE >> 20;
                    return Err(io::Error::other(format!(
                        "a document has more than {most} MB without the separator"
                    )));
                }
            }
        }
        let length = buffer.len().min(self.lines.len() - self.given);
        buffer[..length].copy_from_slice(&self.lines[self.given..][..length]);
        self.given += length;
        Ok(length)
    }
}
