//! A file of a corpus: what its records are, and its text as blocks of whole lines.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::blocks::{Block, BlockOptions, Blocks};
use super::compression::Stream;
use super::delimited::{self, Delimited};
use super::file_kind::{self, FileKind};
use super::split_text::SplitText;
use super::stream::{self, Source};
use super::{BLOCK_BYTES, BadRecords, CorpusOptions, Dropped, LONGEST_LINE, json_lines};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;
use jeton_text::text::InvalidUtf8;

/// Bytes at the front of a file that say whether it holds JSON.
const BEGINNING: u64 = 64;

#[derive(Debug)]
pub(super) struct CorpusFile {
    pub(super) path: PathBuf,
    /// How many bytes it has on disk.
    pub(super) size: u64,
    pub(super) kind: FileKind,
    /// The separator between its documents, if it is text.
    pub(super) split_on: Option<String>,
    /// The field of its records that holds the text.
    pub(super) field: String,
    /// Which bytes of it are read, if not all; whole lines.
    pub(super) part: Option<Range<u64>>,
}

impl CorpusFile {
    /// Reads the beginning of the file, and the first of its records.
    pub(super) fn check(&self, options: &CorpusOptions) -> Result<()> {
        let place = |error: Error| error.at(self.path.display().to_string());
        let mut begin = Vec::new();
        let text = Source::open(&self.path)?.text()?;
        let read = text.take(BEGINNING).read_to_end(&mut begin);
        read.map_err(|error| self.failed(&error))?;
        if !self.has_records() {
            let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
            let is_json =
                file_kind::is_named(&self.path, &[".json"]) && matches!(first, Some(b'{' | b'['));
            if is_json && !options.json_documents {
                let message = "this is a JSON document, not text";
                return Err(place(Error::new(ErrorKind::Format, message).hint(
                    "write it as JSON lines, one object each, in a file named .jsonl; if it holds \
                     such lines, set field=",
                )));
            }
            return Ok(());
        }
        let reading = BlockOptions {
            block: BLOCK_BYTES,
            longest_line: LONGEST_LINE,
            is_strict: true,
            stages: None,
            between_lines: true,
            unit: "line",
            errors: options.errors,
            bad_records: options.bad_records,
        };
        // The header of separated values must be right even if bad records are left out.
        let blocks = self.blocks(reading, &Arc::default())?;
        if options.bad_records == BadRecords::Drop {
            return Ok(());
        }
        if let Some((number, first)) = blocks.first_line()? {
            let checked = self.text(&first, options.errors);
            checked.map_err(|error| self.at_line(error, number))?;
        }
        Ok(())
    }

    /// Whether its documents are records, and not all of it or its lines.
    pub(super) fn has_records(&self) -> bool {
        self.kind != FileKind::Text || self.split_on.is_some()
    }

    /// Whether its lines are read as they are, and not made from records of another form.
    pub(super) fn has_own_lines(&self) -> bool {
        self.delimiter().is_none() && self.split_on.is_none()
    }

    /// What its records are called.
    pub(super) fn unit(&self) -> &'static str {
        if self.delimiter().is_some() {
            "record"
        } else if self.split_on.is_some() {
            "document"
        } else {
            "line"
        }
    }

    fn delimiter(&self) -> Option<u8> {
        match self.kind {
            FileKind::Delimited(delimiter) => Some(delimiter),
            FileKind::Text | FileKind::JsonLines | FileKind::Parquet => None,
        }
    }

    /// The text of a record in a line.
    pub(super) fn text<'l>(&self, line: &'l str, errors: InvalidUtf8) -> Result<Cow<'l, str>> {
        if self.has_own_lines() {
            json_lines::text(line, &self.field, errors)
        } else {
            delimited::text(line)
        }
    }

    pub(super) fn dropped(&self, line: u64, reason: String) -> Dropped {
        Dropped {
            path: self.path.clone(),
            unit: self.unit(),
            number: line,
            reason,
        }
    }

    /// The lines of a block that were left out because they are not UTF-8.
    pub(super) fn not_utf8(&self, block: &Block) -> Vec<Dropped> {
        let lines = block.bad.iter();
        lines
            .map(|&line| self.dropped(line, "it is not UTF-8".to_owned()))
            .collect()
    }

    pub(super) fn failed(&self, error: &std::io::Error) -> Error {
        files::file_error(&self.path, "read", error)
    }

    pub(super) fn at_line(&self, error: Error, line: u64) -> Error {
        let from = match &self.part {
            Some(part) if part.start > 0 => format!(" from byte {} on", part.start),
            _ => String::new(),
        };
        let unit = self.unit();
        error.at(format!("{}: {unit} {line}{from}", self.path.display()))
    }

    /// The blocks of the file, or of its part; counts the bytes on disk as they are read.
    pub(super) fn blocks(
        &self,
        options: BlockOptions,
        on_disk: &Arc<AtomicU64>,
    ) -> Result<Blocks<Stream>> {
        let stream = match &self.part {
            Some(part) => {
                let part = stream::open_part(&self.path, part);
                stream::counted(part.map_err(|error| self.failed(&error))?, on_disk)
            }
            None => {
                let mut source = Source::open(&self.path)?;
                source.counted(on_disk);
                source.text()?
            }
        };
        self.blocks_of(stream, options)
    }

    /// The blocks of its text, decompressed: of separated values, of a line for each record.
    pub(super) fn blocks_of(
        &self,
        stream: Stream,
        mut options: BlockOptions,
    ) -> Result<Blocks<Stream>> {
        let stream: Stream = match self.delimiter() {
            Some(delimiter) => {
                Box::new(Delimited::new(stream, &self.path, delimiter, &self.field)?)
            }
            None => match &self.split_on {
                Some(separator) => Box::new(SplitText::new(stream, separator)),
                None => stream,
            },
        };
        options.unit = self.unit();
        if self.has_records() {
            // A part of a line is no JSON.
            (options.stages, options.is_strict) = (None, true);
            (options.between_lines, options.longest_line) =
                (true, options.longest_line.min(LONGEST_LINE));
        }
        let start = self.part.as_ref().map_or(0, |part| part.start);
        Ok(Blocks::new(stream, &self.path, start, options))
    }
}
