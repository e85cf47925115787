//! A corpus: files of text, of JSON lines and of separated values, compressed or not.
//!
//! Look here for which files can be trained from. Files are read a few megabytes at a time, some of them
//! ahead, so memory does not grow with their size; and they are used in the given order, so the
//! result does not depend on the number of threads.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod binary;
mod blocks;
mod compression;
mod contents;
mod corpus_file;
mod delimited;
mod documents;
mod file_kind;
mod find_files;
mod json_lines;
mod missing_names;
mod read_ahead;
mod reading;
mod split_text;
mod stream;

pub use binary::check_text;
pub use contents::Contents;
pub use documents::{CorpusPosition, DocumentOptions, DocumentPart, Documents, Part};
pub use file_kind::FileKind;
pub use find_files::{FoundFiles, find_files};
pub use read_ahead::{Next, PATIENCE};
pub use reading::{CountProgress, Lines, Reading};

use blocks::BlockOptions;
use corpus_file::CorpusFile;
use reading::MAX_BLOCKS;

use crate::word_counts::WordCounter;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;
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

/// Bytes of a block, about, where there is memory enough, and at least.
const BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 4 << 20 };
const MIN_BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 1 << 16 };
/// Bytes above which a line is split, at a space if there is one near: memory has to be bounded.
const LONGEST_LINE: usize = if cfg!(test) { 1 << 10 } else { 64 << 20 };

/// Bytes of the longest document that is read whole: a small compressed file may hold any number.
const LONGEST_DOCUMENT: usize = if cfg!(test) { 1 << 16 } else { 512 << 20 };
/// One in this many bytes of the memory budget may be taken by reading.
const READING_SHARE: u64 = 6;

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
        Reading::new(self.files.clone(), threads, options, self.unit)
    }
}

#[cfg(test)]
mod tests;
