//! A corpus: files of text and of JSON lines, compressed or not, as what word counting reads.
//!
//! Look here for what may be trained from. Files are read a few megabytes at a time, some of them
//! ahead of others, so memory does not grow with their size; and taken in the order given, so the
//! result does not depend on the number of threads.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

mod blocks;
mod json_lines;

use blocks::{Block, Blocks};

use crate::error::{Error, ErrorKind, Result, by_name};
use crate::format::file;
use crate::word_counts::WordCounter;

/// What becomes of bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidUtf8 {
    /// An error, with the place.
    #[default]
    Strict,
    /// U+FFFD for each longest run that could have begun a character.
    Replace,
    /// Left out.
    Ignore,
}

impl FromStr for InvalidUtf8 {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [
            ("strict", Self::Strict),
            ("replace", Self::Replace),
            ("ignore", Self::Ignore),
        ];
        by_name("errors", name, &names)
    }
}

/// How files are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusOptions {
    /// The field of JSON lines that holds the text; set, every file is taken to be JSON lines.
    /// Unset, files named `.jsonl` or `.ndjson` are, and the field is `text`.
    pub field: Option<String>,
    /// What becomes of bytes that are not UTF-8.
    pub errors: InvalidUtf8,
}

/// Files to count the words of, each line a text of its own with its newline.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use jeton_core::corpus::{Corpus, CorpusOptions};
/// use jeton_core::word_counts::{CountingOptions, FirstStages, WordCounter};
///
/// let corpus = Corpus::open(&["news/".into(), "web.jsonl.zst".into()], CorpusOptions::default())?;
/// let mut counter = WordCounter::new(FirstStages::default(), CountingOptions::default());
/// corpus.count(&mut counter, |_| ControlFlow::Continue(()))?;
/// let counts = counter.finish()?.counts;
/// # Ok::<(), jeton_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Corpus {
    files: Vec<Arc<CorpusFile>>,
    errors: InvalidUtf8,
}

#[derive(Debug)]
struct CorpusFile {
    path: PathBuf,
    /// How many bytes it has on disk.
    size: u64,
    /// The field that holds the text, if it holds JSON lines.
    field: Option<String>,
}

/// How far counting has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountProgress {
    /// How many bytes of text were counted.
    pub text: u64,
    /// How many bytes of the files on disk were read to the end; `total` when all were.
    pub read: u64,
    /// How many there are.
    pub total: u64,
}

/// How many blocks are read ahead of each file.
const BLOCKS_AHEAD: usize = 2;

/// How long the reading of a pipe that brings nothing is waited for before the caller is asked
/// whether to go on.
pub const PATIENCE: Duration = Duration::from_millis(100);

impl Corpus {
    /// The files at `paths`; of a folder, all files in it, in the order of their names. The path
    /// `-` is the standard input.
    ///
    /// # Errors
    /// A path where nothing is, a folder without files, a file that cannot be read, a file of JSON
    /// lines whose first line lacks the field: all before any work is done.
    pub fn open(paths: &[PathBuf], options: CorpusOptions) -> Result<Self> {
        let mut found = Vec::new();
        for path in paths {
            let before = found.len();
            find(path, &mut found)?;
            if found.len() == before {
                return Err(
                    Error::new(ErrorKind::FileMissing, "the folder holds no files")
                        .at(path.display().to_string()),
                );
            }
        }
        let files = found.into_iter().map(|path| {
            let (size, is_file) = match is_standard_input(&path) {
                true => (0, false),
                false => fs::metadata(&path)
                    .map(|metadata| (metadata.len(), metadata.is_file()))
                    .map_err(|error| file::file_error(&path, "read", &error))?,
            };
            let field = match &options.field {
                None if is_json_lines(&path) => Some("text".to_owned()),
                field => field.clone(),
            };
            let file = CorpusFile { path, size, field };
            // What is read from a pipe is gone, and opening one waits for who writes to it.
            if is_file {
                file.check(options.errors)?;
            }
            Ok(Arc::new(file))
        });
        Ok(Self {
            files: files.collect::<Result<_>>()?,
            errors: options.errors,
        })
    }

    /// How many bytes the files have on disk.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Counts the words of all files. Calls `watch` every few megabytes, and while a pipe brings
    /// nothing.
    ///
    /// # Errors
    /// A file that cannot be read, is cut short or is not UTF-8; a line that is no JSON object or
    /// lacks the field; a pattern that gave up; a `Break` from `watch`.
    pub fn count(
        &self,
        counter: &mut WordCounter,
        mut watch: impl FnMut(CountProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut blocks = self.read(rayon::current_num_threads());
        loop {
            match blocks.step(PATIENCE)? {
                Step::Lines(lines) => lines.count(counter)?,
                Step::Waiting => {}
                Step::End => return Ok(()),
            }
            if watch(blocks.progress()).is_break() {
                return Err(Error::new(ErrorKind::Training, "counting was interrupted"));
            }
        }
    }

    /// Reads all files, so many at a time, each on a thread of its own.
    pub fn read(&self, threads: usize) -> Reading {
        Reading {
            waiting: self.files.clone().into(),
            open: VecDeque::new(),
            threads: threads.max(1),
            errors: self.errors,
            progress: CountProgress {
                text: 0,
                read: 0,
                total: self.size(),
            },
        }
    }
}

/// A corpus while it is read: its blocks of whole lines, in order.
pub struct Reading {
    waiting: VecDeque<Arc<CorpusFile>>,
    open: VecDeque<(Arc<CorpusFile>, Receiver<Result<Block>>)>,
    threads: usize,
    errors: InvalidUtf8,
    progress: CountProgress,
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
    pub fn step(&mut self, patience: Duration) -> Result<Step> {
        loop {
            while self.open.len() < self.threads
                && let Some(file) = self.waiting.pop_front()
            {
                let blocks = read_ahead(Arc::clone(&file), self.errors);
                self.open.push_back((file, blocks));
            }
            let Some((file, blocks)) = self.open.front() else {
                return Ok(Step::End);
            };
            match blocks.recv_timeout(patience) {
                Ok(block) => {
                    let block = block?;
                    self.progress.text += block.text.len() as u64;
                    let file = Arc::clone(file);
                    return Ok(Step::Lines(Lines { block, file }));
                }
                Err(RecvTimeoutError::Timeout) => return Ok(Step::Waiting),
                Err(RecvTimeoutError::Disconnected) => {
                    self.progress.read += file.size;
                    self.open.pop_front();
                }
            }
        }
    }
}

/// What reading a corpus has come to.
pub enum Step {
    /// The next block.
    Lines(Lines),
    /// Nothing yet.
    Waiting,
    /// All files were read.
    End,
}

impl Iterator for Reading {
    type Item = Result<Lines>;

    fn next(&mut self) -> Option<Result<Lines>> {
        loop {
            match self.step(PATIENCE) {
                Ok(Step::Lines(lines)) => return Some(Ok(lines)),
                Ok(Step::Waiting) => {}
                Ok(Step::End) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Reads a file on a thread of its own, some blocks ahead.
fn read_ahead(file: Arc<CorpusFile>, errors: InvalidUtf8) -> Receiver<Result<Block>> {
    let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
    thread::spawn(move || match file.blocks(errors) {
        // A receiver that is gone wants no more.
        Ok(mut blocks) => {
            while blocks
                .next()
                .is_some_and(|block| sender.send(block).is_ok())
            {}
        }
        Err(error) => drop(sender.send(Err(error))),
    });
    receiver
}

/// Some lines of a file.
pub struct Lines {
    block: Block,
    file: Arc<CorpusFile>,
}

impl Lines {
    /// Counts the words of the texts in the lines, on all threads.
    ///
    /// # Errors
    /// A line that is no JSON object or lacks the field; a pattern that gave up.
    pub fn count(&self, counter: &mut WordCounter) -> Result<()> {
        let Self { block, file } = self;
        let Some(field) = &file.field else {
            return counter.count_text_lines(&block.text);
        };
        counter.count_lines(&block.text, |line, at| {
            json_lines::text(line, field).map_err(|error| {
                let before = block.text[..at].matches('\n').count() as u64;
                file.at_line(error, block.first_line + before)
            })
        })
    }
}

impl CorpusFile {
    /// Reads the first line of JSON lines, and looks whether any other file can be opened.
    fn check(&self, errors: InvalidUtf8) -> Result<()> {
        let blocks = self.blocks(errors)?;
        if let Some(field) = &self.field
            && let Some(first) = blocks.first_line()?
        {
            json_lines::text(&first, field).map_err(|error| self.at_line(error, 1))?;
        }
        Ok(())
    }

    fn at_line(&self, error: Error, line: u64) -> Error {
        error.at(format!("{}: line {line}", self.path.display()))
    }

    fn blocks(&self, errors: InvalidUtf8) -> Result<Blocks<Box<dyn Read + Send>>> {
        let read_error = |error| file::file_error(&self.path, "read", &error);
        let stream = open(&self.path).map_err(read_error)?;
        Ok(Blocks::new(stream, &self.path, errors))
    }
}

fn find(path: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if is_standard_input(path) || !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let mut entries = file::list(path)?;
    entries.sort_unstable();
    entries.iter().try_for_each(|entry| find(entry, found))
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a file holds JSON lines, by its name without `.gz` or `.zst`.
fn is_json_lines(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    name.ends_with(".jsonl") || name.ends_with(".ndjson")
}

/// The contents of a file, decompressed if they begin as gzip or Zstandard does.
fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut raw: Box<dyn Read + Send> = match is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(path)?),
    };
    let mut magic = Vec::new();
    raw.by_ref().take(4).read_to_end(&mut magic)?;
    let whole = io::Cursor::new(magic.clone()).chain(raw);
    Ok(match magic[..] {
        [0x1F, 0x8B, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole))),
        [0x28, 0xB5, 0x2F, 0xFD] => Box::new(Frames {
            raw: Some(BufReader::new(whole)),
            frame: None,
        }),
        _ => Box::new(whole),
    })
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
            if io::BufRead::fill_buf(&mut raw)?.is_empty() {
                return Ok(0);
            }
            let frame = Frame::new(raw);
            self.frame = Some(frame.map_err(|error| io::Error::other(error.to_string()))?);
        }
    }
}

#[cfg(test)]
mod tests;
