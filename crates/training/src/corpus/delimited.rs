//! Comma- and tab-separated values as lines: one field of each record, so that they are read, split
//! and resumed as JSON lines are.
//!
//! A line is the field as a JSON string; or, behind `!`, why the record has no such field. Quotes are
//! read as pandas and Python's `csv` read them: a field in double quotes may hold delimiters, ends of
//! lines and, doubled, quotes.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::LONGEST_LINE;
use super::compression::Stream;
use super::missing_names::{no_such, with_hint};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files::file_error;

/// Bytes that are read, and lines that are made, at a time.
const CHUNK: usize = 64 << 10;

/// The lines of a stream of separated values.
pub(super) struct Delimited {
    fields: Fields,
    /// The number of the column that is read, and of all.
    column: usize,
    columns: usize,
    lines: Vec<u8>,
    given: usize,
    ended: bool,
}

impl Delimited {
    /// Reads the header.
    ///
    /// # Errors
    /// The file cannot be read, or has no column `name`.
    pub(super) fn new(stream: Stream, path: &Path, delimiter: u8, name: &str) -> Result<Self> {
        let mut fields = Fields {
            stream,
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            chunk: Vec::new(),
            start: 0,
            is_end: false,
            field: vec![0; 1 << 10],
        };
        let failed = |error: io::Error| file_error(path, "read", &error);
        let mut names = Vec::new();
        while let Some(field) = fields.next(true).map_err(failed)? {
            names.push(String::from_utf8_lossy(&fields.field[..field.length]).into_owned());
            if field.ends_record {
                break;
            }
        }
        let column = match names.iter().position(|found| found == name) {
            Some(column) if names[column + 1..].iter().any(|found| found == name) => {
                let message = format!("there is more than one column {name:?}");
                return Err(Error::new(ErrorKind::Format, message)
                    .at(path.display().to_string())
                    .hint("rename all but one"));
            }
            Some(column) => column,
            None if names.is_empty() => 0,
            None => {
                let error = no_such("column", name, &names).at(path.display().to_string());
                let is_one = names.len() == 1 && names[0].contains([';', '|', '\t']);
                return Err(if is_one {
                    error.hint("separate values by commas, or by tabs in a file named .tsv")
                } else {
                    with_hint(error, name, &names)
                });
            }
        };
        Ok(Self {
            fields,
            column,
            columns: names.len(),
            lines: Vec::new(),
            given: 0,
            ended: names.is_empty(),
        })
    }

    /// Appends the line of the next record.
    fn read_record(&mut self) -> io::Result<()> {
        let before = self.lines.len();
        let mut number = 0;
        loop {
            let is_read = number == self.column;
            let Some(field) = self.fields.next(is_read)? else {
                self.ended = true;
                return Ok(());
            };
            if is_read {
                write_string(&self.fields.field[..field.length], &mut self.lines);
            }
            number += 1;
            if field.is_open || field.ends_record {
                let wrong = if field.is_open {
                    Some("a quote is opened and not closed".to_owned())
                } else if number != self.columns {
                    let columns = self.columns;
                    Some(format!(
                        "the record has {number} fields, and the header {columns}"
                    ))
                } else {
                    None
                };
                if let Some(wrong) = wrong {
                    self.lines.truncate(before);
                    self.lines.push(b'!');
                    self.lines.extend_from_slice(wrong.as_bytes());
                }
                self.lines.push(b'\n');
                self.ended |= field.is_open;
                return Ok(());
            }
        }
    }
}

impl Read for Delimited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.lines.len() {
            self.lines.clear();
            self.given = 0;
            while !self.ended && self.lines.len() < CHUNK {
                self.read_record()?;
            }
        }
        let length = buffer.len().min(self.lines.len() - self.given);
        buffer[..length].copy_from_slice(&self.lines[self.given..][..length]);
        self.given += length;
        Ok(length)
    }
}

/// The fields of a stream, one after another.
struct Fields {
    stream: Stream,
    reader: Reader,
    /// What was read, used up to `start`.
    chunk: Vec<u8>,
    start: usize,
    is_end: bool,
    /// The field that was read last, at its beginning.
    field: Vec<u8>,
}

struct Field {
    length: usize,
    ends_record: bool,
    /// The file ends within its quotes.
    is_open: bool,
}

impl Fields {
    /// The next field; its bytes are kept if they are wanted.
    fn next(&mut self, is_wanted: bool) -> io::Result<Option<Field>> {
        let mut length = 0;
        loop {
            if self.start == self.chunk.len() && !self.is_end {
                self.chunk.clear();
                self.start = 0;
                self.stream
                    .by_ref()
                    .take(CHUNK as u64)
                    .read_to_end(&mut self.chunk)?;
                if self.chunk.is_empty() {
                    // A newline ends the last record, and shows whether a quote is open.
                    self.is_end = true;
                    let room = &mut self.field[length..];
                    let (result, _, written) = self.reader.read_field(b"\n", room);
                    match result {
                        ReadFieldResult::Field { record_end } => {
                            return Ok(Some(Field {
                                length: length + written,
                                ends_record: record_end,
                                is_open: false,
                            }));
                        }
                        ReadFieldResult::InputEmpty if written > 0 => {
                            return Ok(Some(Field {
                                length,
                                ends_record: true,
                                is_open: true,
                            }));
                        }
                        _ => return Ok(None),
                    }
                }
            }
            let input = &self.chunk[self.start..];
            let (result, read, written) = self.reader.read_field(input, &mut self.field[length..]);
            self.start += read;
            length += written;
            match result {
                ReadFieldResult::Field { record_end } => {
                    return Ok(Some(Field {
                        length,
                        ends_record: record_end,
                        is_open: false,
                    }));
                }
                ReadFieldResult::End => return Ok(None),
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull if !is_wanted => {
                    length = 0;
                }
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            }
            if length == self.field.len() {
                if length >= LONGEST_LINE {
                    let most = LONGEST_LINE >> 20;
                    return Err(io::Error::other(format!(
                        "a field has more than {most} MB: is a quote not closed?"
                    )));
                }
                self.field.resize(2 * length, 0);
            }
        }
    }
}

/// Appends a JSON string without ends of lines in it; bytes that are not UTF-8 stay as they are.
pub(super) fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// The text in a line.
///
/// # Errors
/// The record has no such field.
pub(super) fn text(line: &str) -> Result<Cow<'_, str>> {
    let line = line.trim_end_matches('\n');
    if line.is_empty() {
        return Ok(Cow::Borrowed(""));
    }
    match line.strip_prefix('!') {
        Some(wrong) => Err(Error::new(ErrorKind::Format, wrong.to_owned())),
        None => serde_json::from_str(line).map_err(|error| {
            Error::new(
                ErrorKind::Format,
                format!("the field cannot be read: {error}"),
            )
        }),
    }
}
