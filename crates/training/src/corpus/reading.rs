//! A corpus while its words are counted: blocks of whole lines, in order, read ahead by other threads.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::blocks::{Block, BlockOptions};
use super::corpus_file::CorpusFile;
use super::read_ahead::{Next, Opened, PATIENCE, ReadAhead};
use super::{BadRecords, DocumentUnit, Dropped};
use crate::word_counts::{self, WordCounter};
use jeton_text::error::Result;
use jeton_text::mem::room;
use jeton_text::text::InvalidUtf8;

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
pub const MAX_BLOCKS: u64 = BLOCKS_AHEAD as u64 + 4;

/// Bytes of text after which freed memory is given back, where there is a budget.
const GIVE_BACK_EVERY: u64 = 8 << 20;

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
    /// Reads these files, so many at a time.
    pub(super) fn new(
        files: Vec<Arc<CorpusFile>>,
        threads: usize,
        options: BlockOptions,
        unit: DocumentUnit,
    ) -> Self {
        Self {
            ahead: ReadAhead::new(0..files.len(), threads),
            files,
            options,
            unit,
            progress: CountProgress { text: 0, read: 0 },
            ended: 0,
            ended_bytes: 0,
            given_back: 0,
        }
    }

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
