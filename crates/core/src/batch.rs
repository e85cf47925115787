//! Many texts at once, and long ones in parts, on all threads of the current pool.
//!
//! Texts are grouped into tasks of about equal size; a long text is split first, at places that no
//! token crosses. Each thread encodes one task after another into a buffer that stays in
//! its cache, and copies it to its place in the result as soon as all earlier tasks are
//! counted. Look in `flat` for how the result becomes one list without a list per text, in `jobs` for
//! which thread does which task, and in `entries` for pairs and for texts that come as words.

mod entries;
mod flat;
mod jobs;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::tokenizer::spans::{Row, SpannedPart, rows};
use crate::tokenizer::{EncodeOptions, Tokenizer};
pub use entries::SpannedEntries;
use flat::Flat;
use jeton_fast::Place;
use jeton_text::error::Error;
use jeton_text::interrupt::tick;
use jeton_text::text::Unit;
pub(crate) use jobs::{Buffers, Job, run_together};
use jobs::{grouped, run};

/// Bytes of a task, at most and about, unless a text cannot be split.
const LARGEST_TASK: usize = 128 << 10;
/// Bytes below which texts are no task of their own.
const SMALLEST_TASK: usize = 4 << 10;
/// Tasks for each thread, if the texts allow.
const TASKS_PER_THREAD: usize = 16;

/// The ids of many texts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The ids of all texts, one after another.
    pub ids: Vec<u32>,
    /// Text `i` has the ids from `offsets[i]` up to `offsets[i + 1]`.
    pub offsets: Vec<i64>,
}

/// The ids of many texts, with where each came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SpannedBatch {
    /// The ids of all texts, and where each text's begin and end.
    pub batch: Batch,
    /// Where each token came from in its text, one per id.
    pub spans: Vec<Row>,
}

/// The number of the first text that failed, and its error.
pub type Failure = (usize, Error);

/// A text, or a part of one.
struct Part<'t> {
    row: usize,
    text: &'t str,
    place: Place,
    /// Whether it is not the whole text, and whether the text ends with it.
    cut: bool,
    is_last: bool,
}

impl Tokenizer {
    /// The ids of many texts: those that [`Tokenizer::encode_ids`] gives for each. `threads` of the
    /// pool that this runs in encode them; one is the calling thread, and needs no pool. Once
    /// `cancelled` is set, what is left is passed over, and the result means nothing.
    ///
    /// ```
    /// # use jeton_core::{EncodeOptions, Tokenizer};
    /// # use std::sync::atomic::AtomicBool;
    /// # fn example(tokenizer: &Tokenizer) {
    /// let options = EncodeOptions::default();
    /// let batch = tokenizer.encode_batch(&["to be", "or not"], &options, 2, &AtomicBool::new(false));
    /// let batch = batch.map_err(|(text, error)| error.at(format!("text {text}"))).unwrap();
    /// let second = &batch.ids[batch.offsets[1] as usize..batch.offsets[2] as usize];
    /// assert_eq!(second, tokenizer.encode_ids("or not", &options).unwrap());
    /// # }
    /// ```
    ///
    /// # Errors
    /// That of the first text that fails, with its number.
    pub fn encode_batch(
        &self,
        texts: &[&str],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> std::result::Result<Batch, Failure> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        if threads < 2 {
            let mut ids = Vec::with_capacity(bytes / 4);
            let mut offsets = Vec::with_capacity(texts.len() + 1);
            offsets.push(0);
            for (row, text) in texts.iter().enumerate() {
                if cancelled.load(Ordering::Relaxed) {
                    break;
                }
                self.encode_into(text, options, &mut ids)
                    .map_err(|error| (row, error))?;
                offsets.push(ids.len() as i64);
            }
            return Ok(Batch { ids, offsets });
        }
        let (parts, tasks) = self.parts_and_tasks(texts, options, threads, true);
        let flat = Flat::with_capacity(bytes / 2 + texts.len());
        let work = |task: usize| {
            let mut ids = flat.buffer();
            let mut counts = Vec::with_capacity(tasks[task].len());
            for part in &parts[tasks[task].clone()] {
                let before = ids.len();
                self.encode_part(part.text, part.place, part.is_last, options, &mut ids)
                    .map_err(|error| (part.row, error))?;
                counts.push(ids.len() - before);
            }
            flat.take(task, ids);
            Ok(counts)
        };
        let first_rows = first_rows(&parts, &tasks);
        let counts = run(first_rows, threads, cancelled, work)?;
        Ok(Batch {
            offsets: offsets(&parts, counts, texts.len()),
            ids: flat.into_list(),
        })
    }

    /// The work of encoding a piece of a batch that is too long to be held, and how many full tasks it
    /// has. The ids of each task are shown to `see` with its number, on the thread that found them; the
    /// result is how many there are. Tasks are those of the whole batch, of which this many full ones went
    /// `before`, so that threads meet words again that their caches have seen. The job fails as
    /// [`Tokenizer::encode_batch`] does, and as `see`, with the first text of the task.
    pub(crate) fn encoding_job<'j>(
        &'j self,
        texts: &[&'j str],
        before: usize,
        options: &'j EncodeOptions,
        threads: usize,
        buffers: &'j Buffers,
        see: impl Fn(usize, &[u32]) -> jeton_text::error::Result<()> + Sync + 'j,
    ) -> (Job<'j, usize>, usize) {
        let size = match before {
            0 => task_size(texts, threads),
            _ => LARGEST_TASK,
        };
        let (parts, tasks) = self.parts_and_tasks_of(size, texts, options, threads, true);
        let last = tasks.last().map_or(&[][..], |task| &parts[task.clone()]);
        let is_full = last.iter().map(|part| part.text.len()).sum::<usize>() >= size;
        let full = tasks.len() - usize::from(!is_full && !tasks.is_empty());
        let first_rows = first_rows(&parts, &tasks);
        let job = Job::new(before, first_rows, move |task| {
            let parts = &parts[tasks[task].clone()];
            buffers.with(|ids| {
                for part in parts {
                    self.encode_part(part.text, part.place, part.is_last, options, ids)
                        .map_err(|error| (part.row, error))?;
                }
                see(task, ids).map_err(|error| (parts[0].row, error))?;
                Ok(ids.len())
            })
        });
        (job, full)
    }

    /// The ids and spans of many texts: those that [`Tokenizer::encode_with_spans`] gives for each;
    /// `threads` and `cancelled` are those of [`Tokenizer::encode_batch`].
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn encode_batch_with_spans(
        &self,
        texts: &[&str],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> std::result::Result<SpannedBatch, Failure> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let may_cut = self.has_spanned_parts();
        let (parts, tasks) = self.parts_and_tasks(texts, options, threads, may_cut);
        let room = if threads < 2 { bytes / 4 } else { bytes / 2 };
        let flat = Flat::with_capacity(room + texts.len());
        let flat_spans = Flat::with_capacity(room + texts.len());
        // The texts of which a part did not fit.
        let refused = Mutex::new(BTreeSet::new());
        let before = units_before(&parts, options.unit);
        let work = |task: usize| {
            let (mut ids, mut spans) = (flat.buffer(), flat_spans.buffer());
            let mut counts = Vec::with_capacity(tasks[task].len());
            for number in tasks[task].clone() {
                let part = &parts[number];
                let first = ids.len();
                let done = if part.cut {
                    let part = SpannedPart {
                        text: part.text,
                        place: part.place,
                        is_last: part.is_last,
                        before: before[number],
                    };
                    self.encode_part_with_spans(part, options, &mut ids, &mut spans)
                } else {
                    self.encode_with_spans(part.text, options, &mut ids, &mut spans)
                        .map(|()| true)
                };
                if !done.map_err(|error| (part.row, error))? {
                    lock(&refused).insert(part.row);
                    ids.truncate(first);
                    spans.truncate(first);
                    self.encode_part(part.text, part.place, part.is_last, options, &mut ids)
                        .map_err(|error| (part.row, error))?;
                    // The spans of the whole text are found below.
                    spans.resize(ids.len(), Row::default());
                }
                counts.push(ids.len() - first);
            }
            flat.take(task, ids);
            flat_spans.take(task, spans);
            Ok(counts)
        };
        let first_rows = first_rows(&parts, &tasks);
        let counts = run(first_rows, threads, cancelled, work)?;
        let batch = Batch {
            offsets: offsets(&parts, counts, texts.len()),
            ids: flat.into_list(),
        };
        let mut encoded = SpannedBatch {
            batch,
            spans: flat_spans.into_list(),
        };
        let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        for row in refused {
            if cancelled.load(Ordering::Relaxed) {
                break;
            }
            let encoding = self.encode(texts[row], None, options);
            let encoding = encoding.map_err(|error| (row, error))?;
            let Batch { offsets, .. } = &encoded.batch;
            let places = offsets[row] as usize..offsets[row + 1] as usize;
            encoded.spans.splice(places, rows(&encoding.spans));
        }
        Ok(encoded)
    }

    /// How many tokens each text has; `threads` and `cancelled` are those of
    /// [`Tokenizer::encode_batch`].
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn count_batch(
        &self,
        texts: &[&str],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> std::result::Result<Vec<usize>, Failure> {
        let (parts, tasks) = self.parts_and_tasks(texts, options, threads, true);
        let work = |task: usize| -> std::result::Result<Vec<usize>, Failure> {
            parts[tasks[task].clone()]
                .iter()
                .map(|part| {
                    let count = self.count_part(part.text, part.place, part.is_last, options);
                    count.map_err(|error| (part.row, error))
                })
                .collect()
        };
        let first_rows = first_rows(&parts, &tasks);
        let counts = run(first_rows, threads, cancelled, work)?;
        let mut rows = vec![0; texts.len()];
        for (part, count) in parts.iter().zip(counts.into_iter().flatten()) {
            rows[part.row] += count;
        }
        Ok(rows)
    }

    /// The parts of all texts, in order, and which of them make up each task; whole texts unless they
    /// may be split.
    fn parts_and_tasks<'t>(
        &self,
        texts: &[&'t str],
        options: &EncodeOptions,
        threads: usize,
        may_cut: bool,
    ) -> (Vec<Part<'t>>, Vec<Range<usize>>) {
        let size = task_size(texts, threads);
        self.parts_and_tasks_of(size, texts, options, threads, may_cut)
    }

    /// The same with tasks of about this many bytes.
    fn parts_and_tasks_of<'t>(
        &self,
        size: usize,
        texts: &[&'t str],
        options: &EncodeOptions,
        threads: usize,
        may_cut: bool,
    ) -> (Vec<Part<'t>>, Vec<Range<usize>>) {
        let mut parts = Vec::with_capacity(texts.len());
        for (row, &text) in texts.iter().enumerate() {
            let mut start = 0;
            loop {
                tick();
                let is_whole = threads < 2 || !may_cut;
                let end = if is_whole || text.len() - start <= 2 * size {
                    text.len()
                } else {
                    self.split_point(text, start, size, options)
                };
                let cut = end - start < text.len();
                let is_last = end == text.len();
                let text = &text[start..end];
                let place = match start {
                    0 => Place::First,
                    _ => Place::Inner,
                };
                parts.push(Part {
                    row,
                    text,
                    place,
                    cut,
                    is_last,
                });
                start = end;
                if start == texts[row].len() {
                    break;
                }
            }
        }
        let tasks = grouped(parts.iter().map(|part| part.text.len()), size);
        (parts, tasks)
    }
}

/// Bytes of a task, about, if texts are a whole batch.
fn task_size(texts: &[&str], threads: usize) -> usize {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let size = bytes / (TASKS_PER_THREAD * threads.max(1));
    size.clamp(SMALLEST_TASK, LARGEST_TASK)
}

/// The row of the first part of each task.
fn first_rows(parts: &[Part<'_>], tasks: &[Range<usize>]) -> Vec<usize> {
    tasks.iter().map(|task| parts[task.start].row).collect()
}

/// Where each text's tokens begin and end, by how many each part has.
fn offsets(parts: &[Part<'_>], counts: Vec<Vec<usize>>, texts: usize) -> Vec<i64> {
    let mut offsets = vec![0; texts + 1];
    for (part, count) in parts.iter().zip(counts.into_iter().flatten()) {
        offsets[part.row + 1] += count as i64;
    }
    for row in 0..texts {
        offsets[row + 1] += offsets[row];
    }
    offsets
}

/// How many units come before each part in its text.
fn units_before(parts: &[Part<'_>], unit: Unit) -> Vec<usize> {
    let mut units = 0;
    let before = parts.iter().map(|part| {
        if part.place == Place::First {
            units = 0;
        }
        let before = units;
        if !part.is_last {
            units += unit.count(part.text.as_bytes());
        }
        before
    });
    before.collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
