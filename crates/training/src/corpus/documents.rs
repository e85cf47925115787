//! The documents of a corpus: files, lines or records, in order, to be encoded.
//!
//! Look here for what a document is, where reading resumes after a stop, and how
//! much is read ahead.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::blocks::{Block, BlockOptions, beginning_of};
use super::corpus_file::CorpusFile;
use super::read_ahead::{Next, ReadAhead};
use super::stream::Source;
use super::{BadRecords, Corpus, DocumentUnit, Dropped, LONGEST_DOCUMENT, LONGEST_LINE};
use crate::word_counts::FirstStages;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::mem::room;
use jeton_text::text::InvalidUtf8;

/// How the documents of a corpus are read.
#[derive(Clone, Debug)]
pub struct DocumentOptions {
    /// Where reading begins.
    pub start: CorpusPosition,
    /// How many files are read at a time.
    pub threads: usize,
    /// Bytes that are given at a time, about.
    pub block: usize,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        Self {
            start: CorpusPosition::default(),
            threads: 1,
            block: 1 << 20,
        }
    }
}

/// A place between two blocks of a corpus, to continue from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusPosition {
    /// The number of the file, from 0.
    pub file: usize,
    /// How many bytes of it come before, decompressed.
    pub byte: u64,
    /// How many lines.
    pub line: u64,
    /// The first eight bytes of the SHA-256 of those bytes, as a big-endian number: they must be the
    /// same when reading goes on.
    pub digest: u64,
}

/// Blocks that are read ahead of each file.
const AHEAD: usize = 3;

/// A corpus while its documents are read.
pub struct Documents {
    ahead: ReadAhead<Run, Vec<DocumentPart>>,
    start: CorpusPosition,
    options: BlockOptions,
    unit: DocumentUnit,
}

/// Files that are read by one thread, with the number of the first.
struct Run {
    first: usize,
    files: Vec<Arc<CorpusFile>>,
}

/// A piece of a file: many documents, or a part of one.
pub struct DocumentPart {
    block: Block,
    file: Arc<CorpusFile>,
    errors: InvalidUtf8,
    unit: DocumentUnit,
    bad_records: BadRecords,
    /// Whether the file begins, and ends, with it.
    is_first: bool,
    is_last: bool,
    /// Where reading continues after it.
    pub after: CorpusPosition,
    /// How many bytes of the file had been read from the disk.
    pub read: u64,
    /// Of a file that ends with it: how many bytes it has on the disk, and their SHA-256.
    pub digest: Option<(u64, [u8; 32])>,
}

/// What a [`DocumentPart`] holds.
pub enum Part<'p> {
    /// A whole document.
    Whole(&'p str),
    /// A part of one, and whether it is the first and the last.
    Of(&'p str, bool, bool),
}

impl Corpus {
    /// Reads the documents of all files. `stages` say where the parts of a document may be encoded by
    /// themselves; without it, each is read whole.
    pub fn documents(
        &self,
        options: &DocumentOptions,
        stages: Option<Arc<FirstStages>>,
    ) -> Documents {
        let mut runs: Vec<Run> = Vec::new();
        let mut size = u64::MAX;
        let files = self.files.iter().enumerate().skip(options.start.file);
        for (number, file) in files {
            // A thread for each of many small files would take longer than reading them.
            match runs.last_mut() {
                Some(run) if size + file.size <= options.block as u64 && file.size > 0 => {
                    run.files.push(Arc::clone(file));
                    size += file.size;
                }
                _ => {
                    runs.push(Run {
                        first: number,
                        files: vec![Arc::clone(file)],
                    });
                    size = file.size;
                }
            }
        }
        let longest_line = match self.unit {
            DocumentUnit::Line => LONGEST_LINE,
            DocumentUnit::File => LONGEST_DOCUMENT,
        };
        Documents {
            ahead: ReadAhead::new(runs, options.threads),
            start: options.start,
            unit: self.unit,
            options: BlockOptions {
                block: options.block,
                longest_line,
                is_strict: true,
                stages: stages.filter(|_| self.unit == DocumentUnit::File),
                between_lines: self.unit == DocumentUnit::Line,
                unit: "line",
                errors: self.errors,
                bad_records: self.bad_records,
            },
        }
    }
}

impl Documents {
    /// About a block of text, if it comes within `patience`: a pipe may bring nothing for long.
    ///
    /// # Errors
    /// A file that cannot be read, is cut short or is not UTF-8.
    pub fn step(&mut self, patience: Duration) -> Result<Next<Vec<DocumentPart>>> {
        self.ahead.step(patience, |run| {
            let (sender, receiver) = sync_channel(AHEAD);
            let start = (run.first == self.start.file).then_some(self.start);
            let (options, unit) = (self.options.clone(), self.unit);
            let read = move || {
                let mut reader = Reader {
                    sender,
                    parts: Vec::new(),
                    size: 0,
                };
                if let Err(error) = reader.read(run, start, &options, unit) {
                    reader.give();
                    // A receiver that is gone wants no more.
                    let _ = reader.sender.send(Err(error));
                }
            };
            let Ok(thread) = thread::Builder::new().spawn(read) else {
                room::no_thread()
            };
            (receiver, thread)
        })
    }
}

/// What reads a run.
struct Reader {
    sender: SyncSender<Result<Vec<DocumentPart>>>,
    parts: Vec<DocumentPart>,
    size: usize,
}

impl Reader {
    fn read(
        &mut self,
        run: Run,
        start: Option<CorpusPosition>,
        options: &BlockOptions,
        unit: DocumentUnit,
    ) -> Result<()> {
        for (number, file) in (run.first..).zip(run.files) {
            let mut source = Source::open(&file.path)?;
            // The bytes of a plain file of text are hashed as they are split into blocks.
            let is_plain = !source.is_compressed() && file.has_own_lines();
            let on_disk = (!is_plain).then(|| source.digested());
            let mut blocks = file
                .blocks_of(source.text()?, options.clone())?
                .with_digest();
            let start = start.filter(|start| start.file == number && start.byte > 0);
            if let Some(start) = start {
                blocks.pass_over(start.byte, start.line, start.digest)?;
            }
            let mut is_first = start.is_none();
            let mut at = start.unwrap_or(CorpusPosition {
                file: number,
                ..CorpusPosition::default()
            });
            loop {
                let block = blocks.next().transpose()?.unwrap_or(Block {
                    text: String::new(),
                    first_line: at.line + 1,
                    end: at.byte,
                    is_last: true,
                    bad: Vec::new(),
                });
                let is_last = block.is_last;
                at.byte = block.end;
                at.line = blocks.lines();
                let consumed = blocks.digest();
                at.digest = beginning_of(consumed);
                let after = if is_last {
                    CorpusPosition {
                        file: number + 1,
                        ..CorpusPosition::default()
                    }
                } else {
                    at
                };
                self.size += block.text.len();
                self.parts.push(DocumentPart {
                    block,
                    file: Arc::clone(&file),
                    errors: options.errors,
                    unit,
                    bad_records: options.bad_records,
                    is_first: std::mem::take(&mut is_first),
                    is_last,
                    after,
                    read: on_disk.as_ref().map_or(at.byte, |it| it.bytes()),
                    digest: is_last.then(|| match &on_disk {
                        Some(on_disk) => on_disk.bytes_and_sha256(),
                        None => (at.byte, consumed),
                    }),
                });
                if self.size >= options.block && !self.give() {
                    return Ok(());
                }
                if is_last {
                    break;
                }
            }
        }
        self.give();
        Ok(())
    }

    /// Gives what was read to whoever encodes it; nothing more is wanted if that fails.
    fn give(&mut self) -> bool {
        self.size = 0;
        let parts = std::mem::take(&mut self.parts);
        parts.is_empty() || self.sender.send(Ok(parts)).is_ok()
    }
}

impl DocumentPart {
    /// Calls `take` with each document, or with what this is of one, and the number of its line or
    /// record. Returns the records and lines that were left out.
    ///
    /// # Errors
    /// What goes wrong with a document, with its place, if it is not left out.
    pub fn for_each(
        &self,
        mut take: impl FnMut(Part<'_>, Option<u64>) -> Result<()>,
    ) -> Result<Vec<Dropped>> {
        let mut dropped = self.file.not_utf8(&self.block);
        let has_records = self.file.has_records();
        if !has_records && self.unit == DocumentUnit::File {
            let part = Part::Of(&self.block.text, self.is_first, self.is_last);
            take(part, None).map_err(|error| error.at(self.file.path.display().to_string()))?;
            return Ok(dropped);
        }
        for (before, line) in (0..).zip(self.block.text.split_inclusive('\n')) {
            let line = line.strip_suffix('\n').unwrap_or(line);
            // A blank line is no record.
            if has_records && line.trim_ascii_start().is_empty() {
                continue;
            }
            let number = self.block.line_number(before);
            let taken = if has_records {
                let text = self.file.text(line, self.errors);
                text.and_then(|text| take(Part::Whole(&text), Some(number)))
            } else {
                take(Part::Whole(line), Some(number))
            };
            match taken {
                Err(error) if self.bad_records == BadRecords::Drop && is_of_record(&error) => {
                    dropped.push(self.file.dropped(number, error.to_string()));
                }
                taken => taken.map_err(|error| self.file.at_line(error, number))?,
            }
        }
        dropped.sort_by_key(|dropped| dropped.number);
        Ok(dropped)
    }

    /// The number of its file in the corpus.
    pub fn file(&self) -> usize {
        self.after.file - usize::from(self.is_last)
    }
}

/// Whether an error is of a record alone: what it holds is none, or cannot be encoded.
fn is_of_record(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Format | ErrorKind::Encode)
}
