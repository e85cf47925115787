//! A corpus: files of text, of JSON lines and of separated values, compressed or not.
//!
//! Look here for which files can be trained from. Files are read a few megabytes at a time, some of them
//! ahead, so memory does not grow with their size; and they are used in the given order, so the
//! result does not depend on the number of threads.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

mod binary;
mod blocks;
mod compression;
mod contents;
mod delimited;
mod documents;
mod file_kind;
mod find_files;
mod json_lines;
mod split_text;
mod stream;

pub use binary::check_text;
pub use contents::Contents;
pub use documents::{CorpusPosition, DocumentOptions};
pub use file_kind::FileKind;
pub use find_files::{FoundFiles, find_files};

pub use documents::{DocumentPart, Documents, Part};

use blocks::{Block, BlockOptions, Blocks};
use compression::Stream;
use delimited::Delimited;
use split_text::SplitText;
use stream::Source;

use crate::word_counts;
use crate::word_counts::WordCounter;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;
use jeton_text::mem::room;
use jeton_text::text::InvalidUtf8;

/// How files are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusOptions {
    /// The field of records that holds the text, `text` if unset; set, files of text are taken to be
    /// JSON lines.
    pub field: Option<String>,
    /// What becomes of bytes that are not UTF-8.
    pub errors: InvalidUtf8,
    /// What a document of a text file is.
    pub unit: DocumentUnit,
    /// The separator between documents of a text file; `None` if a document is the file or a line.
    pub split_on: Option<String>,
    /// What becomes of records and lines that cannot be read or encoded.
    pub bad_records: BadRecords,
    /// Whether a JSON document, by its name and its beginning, is read as text.
    pub json_documents: bool,
}

/// What a document of a text file is. A record is one always.
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
    /// They are left out, and named.
    Drop,
}

/// A record or line that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The file.
    pub path: PathBuf,
    /// What it is: a `line`, a `record` of separated values, or a `document` of a text.
    pub unit: &'static str,
    /// Its number, from 1.
    pub number: u64,
    /// Why.
    pub reason: String,
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
    kind: FileKind,
    /// The separator between its documents, if it is text.
    split_on: Option<String>,
    /// The field of its records that holds the text.
    field: String,
    /// Which bytes of it are read, if not all; whole lines.
    part: Option<Range<u64>>,
}

/// How far counting has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountProgress {
    /// How many bytes of text were counted.
    pub text: u64,
    /// How many bytes of the files on disk were read; none of a pipe, which has no size.
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
        if cfg!(target_family = "wasm") {
            let message = "corpora are read by threads, and this build for WebAssembly has none";
            let error = Error::new(ErrorKind::Unsupported, message);
            return Err(error.hint("read the texts yourself, and pass them"));
        }
        let files = find_files(paths)?.files.into_iter().map(|path| {
            let (size, is_file) = if stream::is_standard_input(&path) {
                (0, false)
            } else {
                fs::metadata(&path)
                    .map(|metadata| (metadata.len(), metadata.is_file()))
                    .map_err(|error| files::file_error(&path, "read", &error))?
            };
            let kind = FileKind::of(&path, options.field.is_some());
            let file = CorpusFile {
                split_on: options.split_on.clone().filter(|_| kind == FileKind::Text),
                kind,
                path,
                size,
                field: options.field.clone().unwrap_or_else(|| "text".to_owned()),
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
            let part = lines.map_err(|error| file.failed(&error))?;
            let part = part.filter(|_| file.has_own_lines()).ok_or_else(|| {
                let message = "a file that is compressed or has separated values has no parts";
                Error::new(ErrorKind::Unsupported, message).at(file.path.display().to_string())
            })?;
            Ok(Arc::new(CorpusFile {
                path: file.path.clone(),
                size: part.end - part.start,
                kind: file.kind,
                split_on: None,
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
            unit: "line",
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
            ended_bytes: 0,
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

/// What a thread reads, and the thread.
type Opened<T> = (Receiver<Result<T>>, JoinHandle<()>);

/// What threads read of some files each, in the order of the files.
struct ReadAhead<F, T> {
    waiting: VecDeque<F>,
    open: VecDeque<Opened<T>>,
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
    fn step(&mut self, patience: Duration, read: impl Fn(F) -> Opened<T>) -> Result<Next<T>> {
        loop {
            while self.open.len() < self.threads
                && let Some(files) = self.waiting.pop_front()
            {
                self.open.push_back(read(files));
            }
            let Some((first, _)) = self.open.front() else {
                return Ok(Next::End);
            };
            match first.recv_timeout(patience) {
                Ok(item) => return item.map(Next::Item),
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Waiting),
                Err(RecvTimeoutError::Disconnected) => {
                    let thread = self.open.pop_front().map(|(_, thread)| thread.join());
                    // A thread that found no memory has not read everything.
                    if let Some(Err(panic)) = thread {
                        resume_unwind(panic);
                    }
                }
            }
        }
    }
}

/// A block of a file.
struct CountedBlock {
    /// The number of the file.
    file: usize,
    block: Block,
    /// How many bytes of the file on disk were read for it and those before.
    read: u64,
}

/// A corpus while it is read: its blocks of whole lines, in order.
pub struct Reading {
    files: Vec<Arc<CorpusFile>>,
    /// By the number of a file.
    ahead: ReadAhead<usize, CountedBlock>,
    options: BlockOptions,
    unit: DocumentUnit,
    progress: CountProgress,
    /// How many files were read to the end, and how many bytes they have on disk.
    ended: usize,
    ended_bytes: u64,
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
            Next::Item(counted) => counted.file,
            Next::Waiting => self.ended,
            Next::End => self.files.len(),
        };
        let ended = &self.files[self.ended..here];
        self.ended_bytes += ended.iter().map(|file| file.size).sum::<u64>();
        self.ended = here;
        Ok(match next {
            Next::Item(CountedBlock { file, block, read }) => {
                self.progress.text += block.text.len() as u64;
                // A file may grow while it is read.
                self.progress.read = self.ended_bytes + read.min(self.files[file].size);
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
            Next::End => {
                self.progress.read = self.ended_bytes;
                Next::End
            }
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
) -> Opened<CountedBlock> {
    let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
    let options = options.clone();
    let on_disk = Arc::<AtomicU64>::default();
    let read = move || match file.blocks(options, &on_disk) {
        // A receiver that is gone wants no more.
        Ok(blocks) => {
            let mut blocks = blocks.map(|block| {
                block.map(|block| CountedBlock {
                    file: number,
                    block,
                    read: on_disk.load(Ordering::Relaxed),
                })
            });
            while blocks
                .next()
                .is_some_and(|block| sender.send(block).is_ok())
            {}
        }
        Err(error) => drop(sender.send(Err(error))),
    };
    let Ok(thread) = thread::Builder::new().spawn(read) else {
        room::no_thread()
    };
    (receiver, thread)
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
    /// Counts the words of the texts in the lines, on all threads. Returns the records and lines that
    /// were left out.
    ///
    /// # Errors
    /// A record without the field, if it is not left out; a pattern that gave up.
    pub fn count(&self, counter: &mut WordCounter) -> Result<Vec<Dropped>> {
        let Self { block, file, .. } = self;
        let dropped = Mutex::new(file.not_utf8(block));
        match (file.has_records(), self.unit) {
            (false, DocumentUnit::File) => counter.count_document(&block.text)?,
            (false, DocumentUnit::Line) => counter.count_text_lines(&block.text)?,
            (true, _) => counter.count_lines(&block.text, |line, at| {
                file.text(line, self.errors).or_else(|error| {
                    let line = block.line_at(at);
                    match self.bad_records {
                        BadRecords::Drop => {
                            let mut dropped =
                                dropped.lock().unwrap_or_else(PoisonError::into_inner);
                            dropped.push(file.dropped(line, error.to_string()));
                            Ok(Cow::Borrowed(""))
                        }
                        BadRecords::Error => Err(file.at_line(error, line)),
                    }
                })
            })?,
        }
        let mut dropped = dropped.into_inner().unwrap_or_else(PoisonError::into_inner);
        dropped.sort_by_key(|dropped| dropped.number);
        Ok(dropped)
    }
}

impl CorpusFile {
    /// Reads the beginning of the file, and the first of its records.
    fn check(&self, options: &CorpusOptions) -> Result<()> {
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
    fn has_records(&self) -> bool {
        self.kind != FileKind::Text || self.split_on.is_some()
    }

    /// Whether its lines are read as they are, and not made from records of another form.
    fn has_own_lines(&self) -> bool {
        self.delimiter().is_none() && self.split_on.is_none()
    }

    /// What its records are called.
    fn unit(&self) -> &'static str {
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
    fn text<'l>(&self, line: &'l str, errors: InvalidUtf8) -> Result<Cow<'l, str>> {
        if self.has_own_lines() {
            json_lines::text(line, &self.field, errors)
        } else {
            delimited::text(line)
        }
    }

    fn dropped(&self, line: u64, reason: String) -> Dropped {
        Dropped {
            path: self.path.clone(),
            unit: self.unit(),
            number: line,
            reason,
        }
    }

    /// The lines of a block that were left out because they are not UTF-8.
    fn not_utf8(&self, block: &Block) -> Vec<Dropped> {
        let lines = block.bad.iter();
        lines
            .map(|&line| self.dropped(line, "it is not UTF-8".to_owned()))
            .collect()
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        files::file_error(&self.path, "read", error)
    }

    fn at_line(&self, error: Error, line: u64) -> Error {
        let from = match &self.part {
            Some(part) if part.start > 0 => format!(" from byte {} on", part.start),
            _ => String::new(),
        };
        let unit = self.unit();
        error.at(format!("{}: {unit} {line}{from}", self.path.display()))
    }

    /// The blocks of the file, or of its part; counts the bytes on disk as they are read.
    fn blocks(&self, options: BlockOptions, on_disk: &Arc<AtomicU64>) -> Result<Blocks<Stream>> {
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
    fn blocks_of(&self, stream: Stream, mut options: BlockOptions) -> Result<Blocks<Stream>> {
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

/// Bytes at the front of a file that say whether it holds JSON.
const BEGINNING: u64 = 64;

#[cfg(test)]
mod tests;
