//! Jobs: the tasks of one batch, or of several batches of the same texts, done by all threads.
//!
//! Look here for which thread does which task, and for when no more tasks are started.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Failure, lock, task_size};
use jeton_text::interrupt::Listener;

/// The result of a task, or the error of its text.
type Outcome<R> = Result<R, Failure>;

/// Tasks, each known by its number.
pub(crate) struct Job<'j, R> {
    /// How many tasks went before: each thread continues with those that it would have had if all were
    /// one job.
    before: usize,
    /// The row that each task begins with.
    first_rows: Vec<usize>,
    work: Box<dyn Fn(usize) -> Outcome<R> + Sync + 'j>,
}

impl<'j, R> Job<'j, R> {
    pub(crate) fn new(
        before: usize,
        first_rows: Vec<usize>,
        work: impl Fn(usize) -> Outcome<R> + Sync + 'j,
    ) -> Self {
        Self {
            before,
            first_rows,
            work: Box::new(work),
        }
    }

    /// Whole texts, those of a task together.
    pub(crate) fn of_texts(
        texts: &'j [&'j str],
        threads: usize,
        work: impl Fn(&[&str]) -> R + Sync + 'j,
    ) -> Self {
        let rows = grouped(
            texts.iter().map(|text| text.len()),
            task_size(texts, threads),
        );
        let first_rows = rows.iter().map(|rows| rows.start).collect();
        Self::new(0, first_rows, move |task| {
            Ok(work(&texts[rows[task].clone()]))
        })
    }
}

/// Which of several things make up each task, by their sizes.
pub(super) fn grouped(sizes: impl Iterator<Item = usize>, size: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut first, mut filled, mut end) = (0, 0, 0);
    for bytes in sizes {
        filled += bytes;
        end += 1;
        if filled >= size {
            groups.push(first..end);
            (first, filled) = (end, 0);
        }
    }
    if first < end {
        groups.push(first..end);
    }
    groups
}

/// Does all tasks of one job, on all threads; the results are in the order of the tasks.
/// `first_rows` has the row that each begins with.
pub(super) fn run<R: Send>(
    first_rows: Vec<usize>,
    threads: usize,
    cancelled: &AtomicBool,
    work: impl Fn(usize) -> Outcome<R> + Sync,
) -> Outcome<Vec<R>> {
    let mut results = run_together(&[Job::new(0, first_rows, work)], threads, cancelled);
    results.pop().expect("a job has a result")
}

/// Does all tasks of all jobs, on all threads; the results are in the order of the jobs, and of the
/// tasks of each.
pub(crate) fn run_together<R: Send>(
    jobs: &[Job<'_, R>],
    threads: usize,
    cancelled: &AtomicBool,
) -> Vec<Outcome<Vec<R>>> {
    // Every thread begins with tasks of its own, of one job after another, the same ones for the same
    // texts, so that it meets words again that its cache has seen; then it helps the others.
    let most = jobs.iter().map(|job| job.first_rows.len()).max();
    let threads = threads.clamp(1, most.unwrap_or(0).max(1));
    let taken: Vec<AtomicUsize> = (0..jobs.len() * threads)
        .map(|_| AtomicUsize::new(0))
        .collect();
    // Rows of each job after this one need not be worked on: it failed.
    let failed: Vec<AtomicUsize> = jobs.iter().map(|_| AtomicUsize::new(usize::MAX)).collect();
    let results = Mutex::new(Vec::new());
    let worker = || {
        let mut done = Vec::new();
        let thread = rayon::current_thread_index().unwrap_or(0);
        let turns = (0..threads).flat_map(|turn| (0..jobs.len()).map(move |job| (turn, job)));
        for (turn, number) in turns {
            let Job {
                before,
                first_rows,
                work,
            } = &jobs[number];
            let row = (thread + turn + threads - before % threads) % threads;
            loop {
                let first = taken[number * threads + row].fetch_add(1, Ordering::Relaxed);
                let task = row + first * threads;
                if task >= first_rows.len() || cancelled.load(Ordering::Relaxed) {
                    break;
                }
                if first_rows[task] > failed[number].load(Ordering::Relaxed) {
                    continue;
                }
                let result = work(task);
                if let Err((row, _)) = &result {
                    failed[number].fetch_min(*row, Ordering::Relaxed);
                }
                done.push((number, task, result));
            }
        }
        lock(&results).append(&mut done);
    };
    match threads {
        1 => worker(),
        threads => Listener::lend(|listener| {
            rayon::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(|_| listener.during(worker));
                }
                listener.during(worker);
            });
        }),
    }
    let mut results = std::mem::take(&mut *lock(&results));
    results.sort_unstable_by_key(|&(job, task, _)| (job, task));
    let mut results = results.into_iter().peekable();
    let of_job = |number| {
        let of_job = std::iter::from_fn(|| results.next_if(|&(job, ..)| job == number));
        // To the end also after a failure, so that the next job finds its own.
        let of_job: Vec<_> = of_job.map(|(.., result)| result).collect();
        of_job.into_iter().collect()
    };
    (0..jobs.len()).map(of_job).collect()
}

/// Lists of ids that tasks reuse, so that their memory is already in the cache.
#[derive(Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u32>>>);

impl Buffers {
    /// Does `work` with an empty list.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Vec<u32>) -> R) -> R {
        let mut ids = lock(&self.0).pop().unwrap_or_default();
        ids.clear();
        let result = work(&mut ids);
        lock(&self.0).push(ids);
        result
    }
}
