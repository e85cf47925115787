//! A corpus: files of text and of JSON lines, compressed or not, as the input of word counting.
//!
//! Look here for which files can be trained from. Files are read a few megabytes at a time, some of them
//! ahead, so memory does not grow with their size; and they are used in the given order, so the
//! result does not depend on the number of threads.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

mod blocks;
mod contents;
mod documents;
mod find_files;
mod json_lines;
mod stream;

pub use contents::Contents;
pub use documents::{CorpusPosition, DocumentOptions};
pub use find_files::{FoundFiles, find_files};

pub use documents::{DocumentPart, Documents, Part};

use blocks::{Block, BlockOptions, Blocks};

use crate::word_counts;
use crate::word_counts::WordCounter;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;
use jeton_text::mem::room;
use jeton_text::text::InvalidUtf8;

/// How files are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusOptions {
    /// The field of JSON lines that holds the text; set, every file is taken to be JSON lines.
    /// Unset, files named `.jsonl` or `.ndjson` are, and the field is `text`.
    pub field: Option<String>,
    /// What becomes of bytes that are not UTF-8.
    pub errors: InvalidUtf8,
    /// What a document of a text file is.
    pub unit: DocumentUnit,
    /// What becomes of records and lines that cannot be read or encoded.
    pub bad_records: BadRecords,
}

/// What a document of a text file is. A record of JSON lines is one always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentUnit {
    /// The whole file.
    #[default]
    File,
    /// A line. Its newline counts when words are counted, and is left out when it is encoded.
    Line,
}

/// What becomes of records and lines that cannot be read or encoded. A file that is one document is
/// never left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRecords {
    /// They are an error.
    #[default]
    Error,
    /// They are left out, and counted.
    Drop,
}

/// Files to count the words of. A byte order mark that a file begins with belongs to no text.
///
/// ```no_run
/// use jeton_training::corpus::{Corpus, CorpusOptions};
/// use jeton_training::word_counts::{CountingOptions, FirstStages, WordCounter};
///
/// let corpus = Corpus::open(&["news/".into(), "web.jsonl.zst".into()], CorpusOptions::default())?;
/// let mut counter = WordCounter::new(FirstStages::default(), CountingOptions::default());
/// for lines in corpus.read(2, &counter) {
///     lines?.count(&mut counter)?;
/// }
/// let counts = counter.finish()?.counts;
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Debug)]
pub struct Corpus {
    files: Vec<Arc<CorpusFile>>,
    errors: InvalidUtf8,
    unit: DocumentUnit,
    bad_records: BadRecords,
}

#[derive(Debug)]
struct CorpusFile {
    path: PathBuf,
    /// How many bytes it has on disk.
    size: u64,
    /// The field that holds the text, if it holds JSON lines.
    field: Option<String>,
    /// Which bytes of it are read, if not all; whole lines.
    part: Option<Range<u64>>,
}

/// How far counting has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountProgress {
    /// How many bytes of text were counted.
    pub text: u64,
    /// How many bytes of the files on disk were read to the end.
    pub read: u64,
}

/// Blocks that are read ahead of each file.
const BLOCKS_AHEAD: usize = 2;
/// Blocks that there are at most: those ahead, one that waits to join them, one that is being read
/// with what it leaves to the next, and one that is being counted.
const MAX_BLOCKS: u64 = BLOCKS_AHEAD as u64 + 4;

/// Bytes of a block, about, where there is memory enough, and at least.
const BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 4 << 20 };
const MIN_BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 1 << 16 };
/// Bytes above which a line is split, at a space if there is one near: memory has to be bounded.
const LONGEST_LINE: usize = if cfg!(test) { 1 << 10 } else { 64 << 20 };

/// Bytes of the longest document that is read whole: a small compressed file may hold any number.
const LONGEST_DOCUMENT: usize = if cfg!(test) { 1 << 16 } else { 512 << 20 };
/// Bytes of text after which freed memory is given back, where there is a budget.
const GIVE_BACK_EVERY: u64 = 8 << 20;
/// One in this many bytes of the memory budget may be taken by reading.
const READING_SHARE: u64 = 6;

/// Time for which a pipe that brings nothing is waited for, before the caller is asked whether to go
/// on.
pub const PATIENCE: Duration = Duration::from_millis(100);

impl Corpus {
    /// The files at `paths`, as [`find_files`] finds them. The path `-` is the standard input.
    ///
    /// # Errors
    /// A path where nothing is, a folder without files, a file that cannot be read or is surely no
    /// text, a file of JSON lines whose first line lacks the field: all before any work is done.
    pub fn open(paths: &[PathBuf], options: CorpusOptions) -> Result<Self> {
        let files = find_files(paths)?.files.into_iter().map(|path| {
            let (size, is_file) = if stream::is_standard_input(&path) {
                (0, false)
            } else {
                fs::metadata(&path)
                    .map(|metadata| (metadata.len(), metadata.is_file()))
                    .map_err(|error| files::file_error(&path, "read", &error))?
            };
            let field = match &options.field {
                None if is_json_lines(&path) => Some("text".to_owned()),
                field => field.clone(),
            };
            let file = CorpusFile {
                path,
                size,
                field,
                part: None,
            };
            // What is read from a pipe is gone, and opening one waits for who writes to it.
            if is_file {
                file.check(&options)?;
            }
            Ok(Arc::new(file))
        });
        Ok(Self {
            files: files.collect::<Result<_>>()?,
            errors: options.errors,
            unit: options.unit,
            bad_records: options.bad_records,
        })
    }

    /// A part of one file: the lines that begin within a range of its bytes. Ranges that lie side by
    /// side have all lines, each once.
    ///
    /// # Errors
    /// As for [`Corpus::open`]; a file that is compressed, and cannot be read from its middle.
    pub fn open_part(path: &Path, bytes: &Range<u64>, options: CorpusOptions) -> Result<Self> {
        let mut corpus = Self::open(&[path.to_owned()], options)?;
        let files = std::mem::take(&mut corpus.files);
        let files = files.into_iter().map(|file| {
            let lines = stream::lines_within(&file.path, bytes);
            let part = lines.map_err(|error| file.failed(&error))?.ok_or_else(|| {
                let message = "parts of a file that is compressed cannot be read";
                Error::new(ErrorKind::Unsupported, message).at(file.path.display().to_string())
            })?;
            Ok(Arc::new(CorpusFile {
                path: file.path.clone(),
                size: part.end - part.start,
                field: file.field.clone(),
                part: Some(part),
            }))
        });
        Ok(Self {
            files: files.collect::<Result<_>>()?,
            unit: DocumentUnit::Line,
            ..corpus
        })
    }

    /// Reads all files for a counter, this many at a time, each on a thread of its own; fewer at a
    /// time, and less of each, where the counter has little memory.
    pub fn read(&self, mut threads: usize, counter: &WordCounter) -> Reading {
        let mut options = BlockOptions {
            block: BLOCK_BYTES,
            longest_line: LONGEST_LINE,
            is_strict: false,
            stages: Some(Arc::new(counter.stages().clone())),
            between_lines: self.unit == DocumentUnit::Line,
            errors: self.errors,
            bad_records: self.bad_records,
        };
        if let Some(memory) = counter.memory() {
            let share = usize::try_from(memory / READING_SHARE / MAX_BLOCKS).unwrap_or(usize::MAX);
            if share / threads < BLOCK_BYTES / 4 {
                threads = 1;
            }
            options.is_strict = true;
            options.longest_line = (share / threads).clamp(MIN_BLOCK_BYTES, LONGEST_LINE);
            options.block = options.longest_line.min(BLOCK_BYTES);
        }
        Reading {
            ahead: ReadAhead::new(0..self.files.len(), threads),
            files: self.files.clone(),
            options,
            unit: self.unit,
            progress: CountProgress { text: 0, read: 0 },
            ended: 0,
            given_back: 0,
        }
    }
}

/// The next item of a corpus that other threads read.
pub enum Next<T> {
    /// The item.
    Item(T),
    /// It has not arrived in time.
    Waiting,
    /// The corpus has ended.
    End,
}

/// What threads read of some files each, in the order of the files.
struct ReadAhead<F, T> {
    waiting: VecDeque<F>,
    open: VecDeque<Receiver<Result<T>>>,
    threads: usize,
}

impl<F, T> ReadAhead<F, T> {
    fn new(files: impl IntoIterator<Item = F>, threads: usize) -> Self {
        Self {
            waiting: files.into_iter().collect(),
            open: VecDeque::new(),
            threads: threads.max(1),
        }
    }

    /// What comes next, if it does so within `patience`. `read` starts the thread of some files.
    fn step(
        &mut self,
        patience: Duration,
        read: impl Fn(F) -> Receiver<Result<T>>,
    ) -> Result<Next<T>> {
        loop {
            while self.open.len() < self.threads
                && let Some(files) = self.waiting.pop_front()
            {
                self.open.push_back(read(files));
            }
            let Some(first) = self.open.front() else {
                return Ok(Next::End);
            };
            match first.recv_timeout(patience) {
                Ok(item) => return item.map(Next::Item),
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Waiting),
                Err(RecvTimeoutError::Disconnected) => drop(self.open.pop_front()),
            }
        }
    }
}

/// A corpus while it is read: its blocks of whole lines, in order.
pub struct Reading {
    files: Vec<Arc<CorpusFile>>,
    /// By the number of a file.
    ahead: ReadAhead<usize, (usize, Block)>,
    options: BlockOptions,
    unit: DocumentUnit,
    progress: CountProgress,
    /// How many files were read to the end.
    ended: usize,
    /// How much text had been read when memory was last given back.
    given_back: u64,
}

impl Reading {
    /// How much has been read.
    pub fn progress(&self) -> CountProgress {
        self.progress
    }

    /// The next block, if it comes within `patience`: a pipe may bring nothing for long.
    ///
    /// # Errors
    /// A file that cannot be read, is cut short or is not UTF-8.
    pub fn step(&mut self, patience: Duration) -> Result<Next<Lines>> {
        let read = |file: usize| read_ahead(file, Arc::clone(&self.files[file]), &self.options);
        let next = self.ahead.step(patience, read)?;
        let here = match &next {
            Next::Item((file, _)) => *file,
            Next::Waiting => self.ended,
            Next::End => self.files.len(),
        };
        let ended = &self.files[self.ended..here];
        self.progress.read += ended.iter().map(|file| file.size).sum::<u64>();
        self.ended = here;
        Ok(match next {
            Next::Item((file, block)) => {
                self.progress.text += block.text.len() as u64;
                let is_limited = self.options.is_strict;
                if is_limited && self.progress.text - self.given_back >= GIVE_BACK_EVERY {
                    self.given_back = self.progress.text;
                    word_counts::give_back();
                }
                Next::Item(Lines {
                    block,
                    file: Arc::clone(&self.files[file]),
                    errors: self.options.errors,
                    unit: self.unit,
                    bad_records: self.options.bad_records,
                })
            }
            Next::Waiting => Next::Waiting,
            Next::End => Next::End,
        })
    }
}

impl Iterator for Reading {
    type Item = Result<Lines>;

    fn next(&mut self) -> Option<Result<Lines>> {
        loop {
            match self.step(PATIENCE) {
                Ok(Next::Item(lines)) => return Some(Ok(lines)),
                Ok(Next::Waiting) => {}
                Ok(Next::End) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Reads a file, which has this number, on a thread of its own, some blocks ahead.
fn read_ahead(
    number: usize,
    file: Arc<CorpusFile>,
    options: &BlockOptions,
) -> Receiver<Result<(usize, Block)>> {
    let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
    let options = options.clone();
    let read = move || match file.blocks(options) {
        // A receiver that is gone wants no more.
        Ok(blocks) => {
            let mut blocks = blocks.map(|block| block.map(|block| (number, block)));
            while blocks
                .next()
                .is_some_and(|block| sender.send(block).is_ok())
            {}
        }
        Err(error) => drop(sender.send(Err(error))),
    };
    if thread::Builder::new().spawn(read).is_err() {
        room::no_thread();
    }
    receiver
}

/// Some lines of a file, or a part of it where it is one document.
pub struct Lines {
    block: Block,
    file: Arc<CorpusFile>,
    errors: InvalidUtf8,
    unit: DocumentUnit,
    bad_records: BadRecords,
}

impl Lines {
    /// Counts the words of the texts in the lines, on all threads. Returns how many records and lines
    /// were left out.
    ///
    /// # Errors
    /// A line that is no JSON object or lacks the field, if it is not left out; a pattern that gave
    /// up.
    pub fn count(&self, counter: &mut WordCounter) -> Result<u64> {
        let Self { block, file, .. } = self;
        let bad = AtomicU64::new(block.bad);
        match (&file.field, self.unit) {
            (None, DocumentUnit::File) => counter.count_document(&block.text)?,
            (None, DocumentUnit::Line) => counter.count_text_lines(&block.text)?,
            (Some(field), _) => counter.count_lines(&block.text, |line, at| {
                let text = json_lines::text(line, field, self.errors);
                text.or_else(|error| match self.bad_records {
                    BadRecords::Drop => {
                        bad.fetch_add(1, Ordering::Relaxed);
                        Ok(Cow::Borrowed(""))
                    }
                    BadRecords::Error => {
                        let before = block.text[..at].matches('\n').count() as u64;
                        Err(file.at_line(error, block.first_line + before))
                    }
                })
            })?,
        }
        Ok(bad.into_inner())
    }
}

impl CorpusFile {
    /// Reads the first line of JSON lines, and of any other file so much as to know that it can be
    /// opened and is nothing else than text.
    fn check(&self, options: &CorpusOptions) -> Result<()> {
        let place = |error: Error| error.at(self.path.display().to_string());
        let mut begin = Vec::new();
        let stream = stream::open(&self.path).map_err(|error| self.failed(&error))?;
        let read = stream.take(BEGINNING).read_to_end(&mut begin);
        read.map_err(|error| self.failed(&error))?;
        if begin.starts_with(word_counts::MARK) {
            return Err(place(
                Error::new(ErrorKind::Format, "this is a file of word counts, not text")
                    .hint("train from WordCounts.load of this file"),
            ));
        }
        let Some(field) = &self.field else {
            let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
            if is_named(&self.path, &[".json"]) && matches!(first, Some(b'{' | b'[')) {
                let message = "this is a JSON document, not text";
                return Err(place(Error::new(ErrorKind::Format, message).hint(
                    "write it as JSON lines, one object each, in a file named .jsonl; if it holds \
                     such lines, set field=",
                )));
            }
            return Ok(());
        };
        if options.bad_records == BadRecords::Drop {
            return Ok(());
        }
        let reading = BlockOptions {
            block: BLOCK_BYTES,
            longest_line: LONGEST_LINE,
            is_strict: true,
            stages: None,
            between_lines: true,
            errors: options.errors,
            bad_records: options.bad_records,
        };
        if let Some((number, first)) = self.blocks(reading)?.first_line()? {
            let checked = json_lines::text(&first, field, options.errors);
            checked.map_err(|error| self.at_line(error, number))?;
        }
        Ok(())
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        files::file_error(&self.path, "read", error)
    }

    fn at_line(&self, error: Error, line: u64) -> Error {
        let from = match &self.part {
            Some(part) if part.start > 0 => format!(" from byte {} on", part.start),
            _ => String::new(),
        };
        error.at(format!("{}: line {line}{from}", self.path.display()))
    }

    fn blocks(&self, options: BlockOptions) -> Result<Blocks<Box<dyn Read + Send>>> {
        let stream = match &self.part {
            Some(part) => stream::open_part(&self.path, part),
            None => stream::open(&self.path),
        };
        let stream = stream.map_err(|error| self.failed(&error))?;
        Ok(self.blocks_of(stream, options))
    }

    fn blocks_of<R: Read>(&self, stream: R, mut options: BlockOptions) -> Blocks<R> {
        if self.field.is_some() {
            // A part of a line is no JSON.
            (options.stages, options.is_strict) = (None, true);
            (options.between_lines, options.longest_line) =
                (true, options.longest_line.min(LONGEST_LINE));
        }
        let start = self.part.as_ref().map_or(0, |part| part.start);
        Blocks::new(stream, &self.path, start, options)
    }
}

/// Whether a file holds JSON lines, by its name.
fn is_json_lines(path: &Path) -> bool {
    is_named(path, &[".jsonl", ".ndjson"])
}

/// Whether the name of a file ends in one of these, without `.gz` or `.zst`.
fn is_named(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Bytes at the front of a file that say whether it is text.
const BEGINNING: u64 = 64;

#[cfg(test)]
mod tests;
