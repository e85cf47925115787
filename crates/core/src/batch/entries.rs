//! Batches of pairs, and of texts that come as words.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use super::flat::Flat;
use super::jobs::{grouped, run};
use super::{Batch, Failure, LARGEST_TASK, SMALLEST_TASK, SpannedBatch, TASKS_PER_THREAD};
use crate::tokenizer::{EncodeOptions, Encoder, Entry, Tokenizer};

/// The ids of many entries, with where each came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SpannedEntries {
    /// The ids, and where each came from in its text or word.
    pub encoded: SpannedBatch,
    /// Which of its entry's texts or words that is, counted through the pair, one per id; none for ids
    /// that the post-processor added.
    pub origins: Vec<Option<u32>>,
}

impl Tokenizer {
    /// As [`Tokenizer::encode_batch`], of entries: the ids that [`Tokenizer::encode_entry`] gives for
    /// each.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn encode_entries(
        &self,
        entries: &[Entry<'_>],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> Result<Batch, Failure> {
        let tasks = Tasks::of(entries, threads);
        let encoder = Encoder::new(self, options);
        let flat = Flat::with_capacity(tasks.bytes / 2 + entries.len());
        let counts = tasks.run(threads, cancelled, |task, rows| {
            let mut ids = flat.buffer();
            let counts = counted(rows, |row| {
                let before = ids.len();
                let encoded = encoder.ids(&entries[row], &mut ids);
                encoded.map(|()| ids.len() - before)
            })?;
            flat.take(task, ids);
            Ok(counts)
        })?;
        Ok(Batch {
            offsets: offsets(counts),
            ids: flat.into_list(),
        })
    }

    /// As [`Tokenizer::encode_batch_with_spans`], of entries: the ids and spans that
    /// [`Tokenizer::encode_entry`] gives for each.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn encode_entries_with_spans(
        &self,
        entries: &[Entry<'_>],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> Result<SpannedEntries, Failure> {
        let tasks = Tasks::of(entries, threads);
        let encoder = Encoder::new(self, options);
        let room = tasks.bytes / 2 + entries.len();
        let flat = Flat::with_capacity(room);
        let flat_spans = Flat::with_capacity(room);
        let flat_origins = Flat::with_capacity(room);
        let counts = tasks.run(threads, cancelled, |task, rows| {
            let (mut ids, mut spans) = (flat.buffer(), flat_spans.buffer());
            let mut origins = flat_origins.buffer();
            let counts = counted(rows, |row| {
                let before = ids.len();
                let encoded = encoder.spans(&entries[row], &mut ids, &mut spans, &mut origins);
                encoded.map(|()| ids.len() - before)
            })?;
            flat.take(task, ids);
            flat_spans.take(task, spans);
            flat_origins.take(task, origins);
            Ok(counts)
        })?;
        let batch = Batch {
            offsets: offsets(counts),
            ids: flat.into_list(),
        };
        let encoded = SpannedBatch {
            batch,
            spans: flat_spans.into_list(),
        };
        Ok(SpannedEntries {
            encoded,
            origins: flat_origins.into_list(),
        })
    }

    /// As [`Tokenizer::count_batch`], of entries.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn count_entries(
        &self,
        entries: &[Entry<'_>],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> Result<Vec<usize>, Failure> {
        let tasks = Tasks::of(entries, threads);
        let encoder = Encoder::new(self, options);
        let counts = tasks.run(threads, cancelled, |_, rows| {
            let mut ids = Vec::new();
            counted(rows, |row| {
                ids.clear();
                let encoded = encoder.ids(&entries[row], &mut ids);
                encoded.map(|()| ids.len())
            })
        })?;
        Ok(counts.concat())
    }
}

/// Which entries are encoded together.
struct Tasks {
    rows: Vec<Range<usize>>,
    /// The bytes of all entries.
    bytes: usize,
}

impl Tasks {
    fn of(entries: &[Entry<'_>], threads: usize) -> Self {
        let sizes: Vec<usize> = entries.iter().map(Entry::size).collect();
        let bytes: usize = sizes.iter().sum();
        let size = bytes / (TASKS_PER_THREAD * threads.max(1));
        let size = size.clamp(SMALLEST_TASK, LARGEST_TASK);
        // An entry is some work even if it has no text.
        let rows = grouped(sizes.iter().map(|bytes| bytes + 1), size);
        Self { rows, bytes }
    }

    fn run<R: Send>(
        &self,
        threads: usize,
        cancelled: &AtomicBool,
        work: impl Fn(usize, Range<usize>) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let first_rows: Vec<usize> = self.rows.iter().map(|rows| rows.start).collect();
        let work = |task: usize| work(task, self.rows[task].clone());
        run(first_rows, threads, cancelled, work)
    }
}

/// How many tokens each row has, as `encode` says.
fn counted(
    rows: Range<usize>,
    mut encode: impl FnMut(usize) -> jeton_text::Result<usize>,
) -> Result<Vec<usize>, Failure> {
    let counts = rows.map(|row| encode(row).map_err(|error| (row, error)));
    counts.collect()
}

/// Where each entry's tokens begin and end.
fn offsets(counts: Vec<Vec<usize>>) -> Vec<i64> {
    let mut end = 0;
    let ends = counts.into_iter().flatten().map(|count| {
        end += count as i64;
        end
    });
    std::iter::once(0).chain(ends).collect()
}
