//! Counting: texts in, word counts out, on all threads, with the same result for any number.
//!
//! Each thread has a table of its own, in which a word has its count and where it was first
//! seen; the tables are joined at the end and sorted by that place. If only a known pattern splits
//! the text, the scanner of the fast path splits it, and long texts are divided among all threads. A
//! table that outgrows the memory budget goes to disk.

mod finishing;
mod worker;

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::budget::{MemoryBudget, amount};
use super::counts::WordCounts;
use super::neighbours::Neighbours;
use super::spill::Spill;
use super::stages::{FirstStages, Shortcut, is_white_space};
use super::table::{CountTable, Entry};
use jeton_stages::split::scanner::Scanner;
use jeton_stages::split::splitter::Splitter;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::boundary_before;
use worker::{PLACES_PER_BYTE, Worker};

/// What is counted, and within which bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountingOptions {
    /// A word of more characters than this is split, between characters, into words of this many and
    /// a rest.
    pub max_word_length: Option<usize>,
    /// Words that occur less often are left out.
    pub min_word_count: u64,
    /// How much memory there is.
    pub memory: Option<MemoryBudget>,
}

/// The outcome of counting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountingOutcome {
    /// The words.
    pub counts: WordCounts,
    /// How often a word was split because it was too long.
    pub cut: u64,
    /// How many distinct words were left out because they are rare.
    pub rare: u64,
    /// How often those occur together.
    pub rare_total: u64,
    /// How many bytes of counts went to disk on the way.
    pub spilled: u64,
}

/// Counts the words of texts, batch after batch.
///
/// ```
/// use jeton_training::word_counts::{CountingOptions, FirstStages, WordCounter};
///
/// let mut counter = WordCounter::new(FirstStages::default(), CountingOptions::default());
/// counter.count(&["one", "two"])?;
/// counter.count(&["one"])?;
/// let counts = counter.finish()?.counts;
/// assert_eq!(counts.iter().collect::<Vec<_>>(), [("one", 2), ("two", 1)]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
pub struct WordCounter {
    stages: FirstStages,
    options: CountingOptions,
    /// One a thread.
    workers: Vec<Mutex<Worker>>,
    /// The place of the next text.
    place: u64,
    spill: Option<Spill>,
    /// How many bytes the table of a thread may have.
    table_limit: usize,
    /// What a thread holds that runs all stages on a long text, where memory is limited.
    staging: Mutex<()>,
    /// What to count instead of words.
    neighbours: Option<Arc<Neighbours>>,
}

/// Bytes that a thread takes at a time, about.
const PART: usize = if cfg!(test) { 64 } else { 1 << 19 };

/// What share of the memory budget the tables of all threads may note as theirs. They may have
/// three times that, since they grow by doubling; and joined, they are there three times.
const TABLES_SHARE: u64 = 8;

/// Bytes of memory that a byte of text takes at most while all stages run on it.
const STAGED_PER_BYTE: u64 = 32;
/// One in this many bytes of the memory budget may be taken so.
const STAGING_SHARE: u64 = 4;

impl WordCounter {
    /// A counter of the words that these stages make.
    pub fn new(stages: FirstStages, options: CountingOptions) -> Self {
        let threads = rayon::current_num_threads().max(1);
        let seed = RandomState::default().hash_one(0);
        // Stretches between white space are no words yet: those are split later.
        let longest = match stages.shortcut {
            Shortcut::WhiteSpace => usize::MAX,
            _ => options.max_word_length.unwrap_or(usize::MAX).max(1),
        };
        let worker = || Worker {
            scanner: Scanner::default(),
            table: CountTable::new(seed, longest),
        };
        let memory = options.memory.as_ref();
        let table_limit = memory.map_or(u64::MAX, |memory| {
            memory.bytes / TABLES_SHARE / threads as u64
        });
        Self {
            workers: (0..threads).map(|_| Mutex::new(worker())).collect(),
            place: 0,
            spill: memory.map(Spill::new),
            table_limit: usize::try_from(table_limit).unwrap_or(usize::MAX),
            staging: Mutex::new(()),
            neighbours: None,
            stages,
            options,
        }
    }

    /// A counter of stretches of neighbouring words; or of pairs of neighbours, and then of no stretch.
    pub fn of_neighbours(
        stages: &FirstStages,
        options: CountingOptions,
        neighbours: Arc<Neighbours>,
    ) -> Self {
        let options = CountingOptions {
            max_word_length: None,
            ..options
        };
        Self {
            neighbours: Some(neighbours),
            ..Self::new(stages.for_stretches(), options)
        }
    }

    /// What makes words of texts.
    pub fn stages(&self) -> &FirstStages {
        &self.stages
    }

    /// How many bytes of memory may be used, if that is limited.
    pub fn memory(&self) -> Option<u64> {
        self.options.memory.as_ref().map(|memory| memory.bytes)
    }

    /// Counts the words of `texts`.
    ///
    /// # Errors
    /// A pattern that gave up on a text; a disk that does not take what memory does not hold.
    pub fn count<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<()> {
        // Short texts go to a thread together, long ones in parts.
        let mut together = Vec::new();
        let mut first = 0;
        let mut bytes = 0;
        let mut place = self.place;
        for (at, text) in texts.iter().enumerate() {
            bytes += text.as_ref().len();
            if bytes >= PART || at + 1 == texts.len() {
                let texts = &texts[first..=at];
                together.push((texts, place));
                place += texts.iter().map(places).sum::<u64>();
                (first, bytes) = (at + 1, 0);
            }
        }
        self.place = place;
        together.into_par_iter().try_for_each(|(texts, mut place)| {
            for text in texts {
                self.count_one(text.as_ref(), place)?;
                place += places(text);
            }
            Ok(())
        })
    }

    /// Counts the words of a document, or of a part of one that ends where it may be split safely: in
    /// parts, so that all threads take some of a long one.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn count_document(&mut self, text: &str) -> Result<()> {
        let (mut rest, mut parts) = (text, Vec::new());
        while rest.len() > 2 * PART
            && let Some(at) = self
                .stages
                .split_point(&rest[..boundary_before(rest, PART)])
        {
            let (part, behind) = rest.split_at(at);
            parts.push(part);
            rest = behind;
        }
        parts.push(rest);
        self.count(&parts)
    }

    /// Counts the words of the lines of `block`, each of which is a text with its newline.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn count_text_lines(&mut self, block: &str) -> Result<()> {
        let rules = match &self.stages.shortcut {
            _ if self.neighbours.is_some() => None,
            _ if !self.stages.added_tokens_stay_in_lines() => None,
            Shortcut::Splitter(Splitter::Scanner(rules)) => Some(Some(*rules)),
            Shortcut::WhiteSpace => Some(None),
            _ => None,
        };
        let Some(rules) = rules else {
            return self.count_lines(block, |line, _| Ok(line.into()));
        };
        let place = self.place;
        self.place += places(&block);
        parts_of_lines(block).into_par_iter().try_for_each(|part| {
            let (offset, text) = (part.start, &block[part]);
            for between in self.stages.parts(text)? {
                let place = place + PLACES_PER_BYTE * (offset + between.start) as u64;
                let text = &text[between];
                self.with_worker(|worker| {
                    match rules {
                        Some(rules) => worker.split_lines(rules, text, place),
                        None => worker.count_between(text, place, is_white_space),
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    /// Counts the words of the texts that `text_of` finds in the lines of `block`; it gets, too,
    /// the place where the line begins in the block. A line has its newline.
    ///
    /// A text must have no more bytes than its line.
    ///
    /// # Errors
    /// What `text_of` says, and as [`count`](Self::count).
    pub fn count_lines<'b>(
        &mut self,
        block: &'b str,
        text_of: impl Fn(&'b str, usize) -> Result<Cow<'b, str>> + Sync,
    ) -> Result<()> {
        let place = self.place;
        self.place += places(&block);
        parts_of_lines(block).into_par_iter().try_for_each(|part| {
            let mut at = part.start;
            for line in block[part].split_inclusive('\n') {
                let text = text_of(line, at)?;
                self.count_one(&text, place + PLACES_PER_BYTE * at as u64)?;
                at += line.len();
            }
            Ok(())
        })
    }

    fn count_one(&self, text: &str, place: u64) -> Result<()> {
        let count_part: &(dyn Fn(Range<usize>) -> Result<()> + Sync) = match &self.stages.shortcut {
            Shortcut::None | Shortcut::InForm(..) => {
                let entry = Entry { count: 1, place };
                let alone = self.room_for(text.len())?;
                self.with_worker(|worker| match &self.neighbours {
                    None => worker.stage(&self.stages, text, entry),
                    Some(neighbours) => {
                        worker.stage_stretches(&self.stages, text, place, neighbours)
                    }
                })?;
                drop(alone);
                return Ok(());
            }
            Shortcut::Splitter(splitter) => &|part| {
                let place = place + part.start as u64;
                let text = &text[part];
                self.with_worker(|worker| match &self.neighbours {
                    None => worker.split(splitter, text, place),
                    Some(neighbours) => worker.split_stretches(splitter, text, place, neighbours),
                })
            },
            Shortcut::Characters => &|part| {
                let place = place + part.start as u64;
                let text = &text[part];
                self.with_worker(|worker| {
                    worker.count_characters(text, place);
                    Ok(())
                })
            },
            Shortcut::WhiteSpace => &|part| self.count_between(text, part, place, is_white_space),
            Shortcut::Between(separators) => {
                &|part| self.count_between(text, part, place, |byte| separators.contains(&byte))
            }
        };
        if text.len() <= PART && self.stages.no_added_tokens() {
            return count_part(0..text.len());
        }
        for part in self.stages.parts(text)? {
            let (mut start, mut parts) = (part.start, Vec::new());
            while part.end - start > 2 * PART {
                let end = start + self.safe_split_point(&text[start..part.end]);
                parts.push(std::mem::replace(&mut start, end)..end);
            }
            parts.push(start..part.end);
            match parts.len() {
                1 => count_part(start..part.end)?,
                _ => parts.into_par_iter().try_for_each(count_part)?,
            }
        }
        Ok(())
    }

    /// Sees that there is memory for all stages to run on a text of this many bytes: on one at a time,
    /// if it is long.
    fn room_for(&self, length: usize) -> Result<Option<MutexGuard<'_, ()>>> {
        let Some(memory) = self.memory() else {
            return Ok(None);
        };
        let (needed, share) = (STAGED_PER_BYTE * length as u64, memory / STAGING_SHARE);
        if needed > share {
            let (length, least) = (amount(length as u64), amount(needed * STAGING_SHARE));
            let message = format!("a text of {length} needs more memory than the budget allows");
            return Err(Error::new(ErrorKind::Training, message)
                .hint(format!("allow {least}, or split the text in two")));
        }
        let is_long = needed > share / (2 * self.workers.len() as u64);
        Ok(is_long.then(|| match self.staging.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }))
    }

    /// Counts what lies between separators in a part of a text.
    fn count_between(
        &self,
        text: &str,
        part: Range<usize>,
        place: u64,
        is_separator: impl Fn(u8) -> bool,
    ) -> Result<()> {
        let place = place + PLACES_PER_BYTE * part.start as u64;
        self.with_worker(|worker| {
            worker.count_between(&text[part], place, is_separator);
            Ok(())
        })
    }

    /// Where to split `text`, about [`PART`] bytes from its start, so that no word is split.
    fn safe_split_point(&self, text: &str) -> usize {
        match &self.stages.shortcut {
            Shortcut::Splitter(splitter) => self.stages.part_end(splitter, text, PART, |_| true),
            Shortcut::WhiteSpace => end_between(text, is_white_space),
            Shortcut::Between(separators) => end_between(text, |byte| separators.contains(&byte)),
            Shortcut::Characters => boundary_before(text, PART),
            Shortcut::None | Shortcut::InForm(..) => text.len(),
        }
    }

    /// Calls `work` with the worker of this thread, and moves its table to disk if it is full.
    fn with_worker(&self, work: impl FnOnce(&mut Worker) -> Result<()>) -> Result<()> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut worker = match self.workers[thread % self.workers.len()].lock() {
            Ok(worker) => worker,
            Err(poisoned) => poisoned.into_inner(),
        };
        work(&mut worker)?;
        match &self.spill {
            Some(spill) if worker.table.size() > self.table_limit => spill.write(&mut worker.table),
            _ => Ok(()),
        }
    }
}

/// Where a part of `text` ends after a separator, about [`PART`] bytes long.
fn end_between(text: &str, is_separator: impl Fn(u8) -> bool) -> usize {
    let mut rest = text.as_bytes()[PART..].iter();
    let separator = rest.position(|&byte| is_separator(byte));
    separator.map_or(text.len(), |at| PART + at + 1)
}

/// Whole lines, about [`PART`] bytes of them at a time.
fn parts_of_lines(block: &str) -> Vec<Range<usize>> {
    // Where memory is scarce, blocks are small.
    let threads = rayon::current_num_threads().max(1);
    let part = (block.len() / threads).clamp(PART / 8, PART);
    let mut parts = Vec::new();
    let mut start = 0;
    while start < block.len() {
        let near = block.as_bytes().get(start + part..).unwrap_or(&[]);
        let newline = near.iter().position(|&byte| byte == b'\n');
        let end = newline.map_or(block.len(), |at| start + part + at + 1);
        parts.push(std::mem::replace(&mut start, end)..end);
    }
    parts
}

/// How many places a text has.
fn places<T: AsRef<str>>(text: &T) -> u64 {
    PLACES_PER_BYTE * (text.as_ref().len() as u64 + 1)
}
