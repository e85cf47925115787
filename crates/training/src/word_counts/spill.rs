//! Counts on disk: tables that grew too large, written as sorted runs, and the merging of these.
//!
//! A run is a file of words in the order of their bytes, each with its count and its first place.
//! The files have no names, so they vanish with the process however it ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use super::budget::MemoryBudget;
use super::table::{CountTable, Entry};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files::file_error;

/// Runs that are merged at a time; as many files are open on each level.
const RUNS_MERGED: usize = if cfg!(test) { 3 } else { 32 };
/// One in this many bytes of the memory budget may be taken by the buffers of all open runs.
const BUFFERS_SHARE: u64 = 16;
/// Bytes of each of them, at least and at most.
const BUFFER: std::ops::RangeInclusive<u64> = 1 << 12..=1 << 16;

/// Sorted runs in a folder.
pub(super) struct Spill {
    folder: PathBuf,
    /// The memory budget.
    memory: u64,
    levels: Mutex<Levels>,
}

#[derive(Default)]
struct Levels {
    /// Runs that were merged from this many levels of runs.
    runs: Vec<Vec<File>>,
    /// How many bytes were written as first runs.
    bytes: u64,
}

impl Spill {
    pub(super) fn new(budget: &MemoryBudget) -> Self {
        Self {
            folder: budget.folder.clone(),
            memory: budget.bytes,
            levels: Mutex::default(),
        }
    }

    /// How large the buffer of each of this many runs is.
    fn buffer(&self, runs: usize) -> usize {
        let share = self.memory / BUFFERS_SHARE / runs.max(1) as u64;
        share.clamp(*BUFFER.start(), *BUFFER.end()) as usize
    }

    /// Moves the words of a table to disk.
    ///
    /// # Errors
    /// A folder that cannot be written to; a full disk.
    pub(super) fn write(&self, table: &mut CountTable) -> Result<()> {
        if table.words() == 0 {
            return Ok(());
        }
        let mut run = self.run()?;
        table
            .drain_sorted(|word, entry| put(&mut run, word, entry))
            .map_err(|error| self.failed(&error))?;
        let (run, size) = self.finished(run)?;
        let mut levels = match self.levels.lock() {
            Ok(levels) => levels,
            Err(poisoned) => poisoned.into_inner(),
        };
        levels.bytes += size;
        let mut run = Some(run);
        for level in 0.. {
            if levels.runs.len() == level {
                levels.runs.push(Vec::new());
            }
            levels.runs[level].extend(run.take());
            if levels.runs[level].len() < RUNS_MERGED {
                break;
            }
            let full = std::mem::take(&mut levels.runs[level]);
            let mut merged = self.run()?;
            self.merge(full, |word, entry| {
                put(&mut merged, word, entry).map_err(|error| self.failed(&error))
            })?;
            run = Some(self.finished(merged)?.0);
        }
        Ok(())
    }

    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// How many bytes went to disk, not counting what was merged there.
    pub(super) fn bytes(&self) -> u64 {
        self.levels.lock().map_or(0, |levels| levels.bytes)
    }

    /// Calls `visit` with each word, in the order of bytes.
    ///
    /// # Errors
    /// What `visit` says; a file that cannot be read.
    pub(super) fn visit(&self, visit: impl FnMut(&[u8], Entry) -> Result<()>) -> Result<()> {
        let runs = match self.levels.lock() {
            Ok(mut levels) => std::mem::take(&mut levels.runs),
            Err(_) => Vec::new(),
        };
        self.merge(runs.into_iter().flatten().collect(), visit)
    }

    fn merge(
        &self,
        runs: Vec<File>,
        mut visit: impl FnMut(&[u8], Entry) -> Result<()>,
    ) -> Result<()> {
        let failed = |error| self.failed(&error);
        let buffer = self.buffer(runs.len());
        let mut readers: Vec<_> = runs
            .into_iter()
            .map(|run| BufReader::with_capacity(buffer, run))
            .collect();
        let mut first = BinaryHeap::with_capacity(readers.len());
        for (number, reader) in readers.iter_mut().enumerate() {
            let mut word = Vec::new();
            if let Some(entry) = take(reader, &mut word).map_err(failed)? {
                first.push(Reverse((word, number, entry)));
            }
        }
        let mut current = Vec::new();
        while let Some(Reverse((mut word, number, mut sum))) = first.pop() {
            current.clone_from(&word);
            if let Some(entry) = take(&mut readers[number], &mut word).map_err(failed)? {
                first.push(Reverse((word, number, entry)));
            }
            while first.peek().is_some_and(|next| next.0.0 == current) {
                let Some(Reverse((mut word, number, entry))) = first.pop() else {
                    break;
                };
                sum.join(entry);
                if let Some(entry) = take(&mut readers[number], &mut word).map_err(failed)? {
                    first.push(Reverse((word, number, entry)));
                }
            }
            visit(&current, sum)?;
        }
        Ok(())
    }

    fn run(&self) -> Result<BufWriter<File>> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|error| self.failed(&error))?;
        Ok(BufWriter::with_capacity(self.buffer(RUNS_MERGED), file))
    }

    fn finished(&self, run: BufWriter<File>) -> Result<(File, u64)> {
        let rewound = run.into_inner().map_err(io::IntoInnerError::into_error);
        let mut file = rewound.map_err(|error| self.failed(&error))?;
        let size = file
            .stream_position()
            .map_err(|error| self.failed(&error))?;
        file.rewind().map_err(|error| self.failed(&error))?;
        Ok((file, size))
    }

    fn failed(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::StorageFull => Error::new(
                ErrorKind::File,
                "the disk is full: it has no room for the word counts that do not fit in memory",
            )
            .at(self.folder.display().to_string())
            .hint("name another folder with temp_dir, or allow more memory"),
            _ => file_error(&self.folder, "used for temporary files", error),
        }
    }
}

fn put(run: &mut impl Write, word: &[u8], entry: Entry) -> io::Result<()> {
    put_number(run, word.len() as u64)?;
    run.write_all(word)?;
    put_number(run, entry.count)?;
    put_number(run, entry.place)
}

/// Seven bits a byte, the lowest first.
fn put_number(run: &mut impl Write, mut number: u64) -> io::Result<()> {
    while number >= 0x80 {
        run.write_all(&[number as u8 | 0x80])?;
        number >>= 7;
    }
    run.write_all(&[number as u8])
}

/// The next word of a run; none at the end.
fn take(run: &mut impl Read, word: &mut Vec<u8>) -> io::Result<Option<Entry>> {
    let Some(length) = take_number(run)? else {
        return Ok(None);
    };
    word.clear();
    run.take(length).read_to_end(word)?;
    match (take_number(run)?, take_number(run)?) {
        (Some(count), Some(place)) if word.len() as u64 == length => {
            Ok(Some(Entry { count, place }))
        }
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn take_number(run: &mut impl Read) -> io::Result<Option<u64>> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let mut byte = [0];
        if run.read(&mut byte)? == 0 {
            return match shift {
                0 => Ok(None),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        number |= u64::from(byte[0] & 0x7F) << shift;
        if byte[0] < 0x80 {
            break;
        }
    }
    Ok(Some(number))
}
