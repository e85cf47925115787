//! The threads that run batches, and what happens to them when a process forks.
//!
//! Look here for forks: before Python forks, the threads end (they
//! start again when next needed), so neither process inherits half a thread pool, and Python has no
//! second thread to warn about. A pool that was inherited all the same, through a fork that Python
//! does not know of, is recognized by its process id and left alone.

use jeton_core::interrupt::{Listener, listening};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::errors::{Outcome, no_thread};
use crate::signals::{SIGNAL_CHECK, Work, detached, wait};

struct Pool {
    process: u32,
    threads: rayon::ThreadPool,
    handles: Vec<JoinHandle<()>>,
}

/// The pool of this process, if it has one.
///
/// Locked only by a thread that is attached to Python, and that neither detaches nor runs Python
/// meanwhile. While one thread forks, no other is attached: it holds the GIL, or, without a GIL, it has
/// stopped them all at places where they may be. So no child inherits a locked lock.
static POOL: Mutex<Option<Arc<Pool>>> = Mutex::new(None);

/// Bytes of work below which the GIL is kept: the exchange would take a good part of the time, and other
/// threads wait no longer than for any other short call.
pub const WITHOUT_GIL: usize = 1 << 10;

/// Bytes of work below which the calling thread does it: waking others would take longer.
const THREADS_FROM: usize = 16 << 10;

fn pool(py: Python<'_>) -> PyResult<Arc<Pool>> {
    end_before_fork(py)?;
    let process = std::process::id();
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match slot.take() {
        Some(pool) if pool.process == process => return Ok(Arc::clone(slot.insert(pool))),
        // Its threads did not survive the fork, so there is nothing to end.
        Some(inherited) => mem::forget(inherited),
        None => {}
    }
    let (threads, handles) = start_threads()?;
    // What the threads make once behind a lock of the process is made before the GIL is let go of.
    threads.broadcast(|_| ());
    let pool = Pool {
        process,
        threads,
        handles,
    };
    Ok(Arc::clone(slot.insert(Arc::new(pool))))
}

/// Starts a thread for each core; where a limit allows fewer, as many as it allows.
fn start_threads() -> PyResult<(rayon::ThreadPool, Vec<JoinHandle<()>>)> {
    let mut wanted = 0; // as many as rayon thinks fit
    loop {
        let mut handles = Vec::new();
        let built = rayon::ThreadPoolBuilder::new()
            .num_threads(wanted)
            .spawn_handler(|thread| {
                let name = format!("jeton-{}", thread.index());
                let handle = std::thread::Builder::new()
                    .name(name)
                    .spawn(|| thread.run())?;
                handles.push(handle);
                Ok(())
            })
            .build();
        match built {
            Ok(threads) => return Ok((threads, handles)),
            Err(error) if handles.is_empty() => return Err(no_thread(&format!(": {error}"))),
            Err(_) => wanted = handles.len(),
        }
        for handle in handles {
            handle.join().ok();
        }
    }
}

/// Has Python end the threads before each fork. It lets go of the GIL now and then, so it is no work to
/// do under a lock.
fn end_before_fork(py: Python<'_>) -> PyResult<()> {
    static ASKED: AtomicBool = AtomicBool::new(false);
    if ASKED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let os = py.import("os")?;
    if os.hasattr("register_at_fork")? {
        let arguments = pyo3::types::PyDict::new(py);
        arguments.set_item("before", pyo3::wrap_pyfunction!(end_threads, py)?)?;
        os.call_method("register_at_fork", (), Some(&arguments))?;
    }
    ASKED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Ends the threads of the pool, unless a batch is running on them.
#[pyfunction]
fn end_threads() {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(pool) = slot.take() else { return };
    if pool.process != std::process::id() {
        mem::forget(pool);
        return;
    }
    match Arc::try_unwrap(pool) {
        Err(busy) => *slot = Some(busy),
        Ok(Pool {
            threads, handles, ..
        }) => {
            drop(threads);
            for handle in handles {
                // A thread that panicked has ended too.
                let _ = handle.join();
            }
        }
    }
}

/// Runs `work` without the GIL, with as many threads of the pool as it is given, and with a flag that
/// is set when Ctrl-C is pressed. Work on fewer than [`THREADS_FROM`] bytes gets the calling thread.
pub fn run<R: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce(usize, &AtomicBool) -> R + Send,
) -> Outcome<R> {
    let cancelled = AtomicBool::new(false);
    if bytes < WITHOUT_GIL {
        return Ok(work(1, &cancelled));
    }
    if bytes < THREADS_FROM {
        return detached(py, || work(1, &cancelled));
    }
    // Without room for threads, this one does the work.
    let Ok(pool) = pool(py) else {
        return detached(py, || work(1, &cancelled));
    };
    let threads = pool.threads.current_num_threads();
    let mut result = None;
    let work = || result = Some(work(threads, &cancelled));
    on_the_pool(py, &pool, &cancelled, Box::new(work))?;
    Ok(result.expect("work that is not ended is done"))
}

fn on_the_pool<'w>(
    py: Python<'_>,
    pool: &Pool,
    cancelled: &'w AtomicBool,
    work: Work<'w>,
) -> Outcome<()> {
    let waited = py.detach(|| {
        let (at_end, end) = channel();
        // Where the work panics, leaving the scope passes the panic on.
        pool.threads.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let _dropped_at_end = at_end;
                // Nobody waits for work that was ended.
                let _ = listening(&|| cancelled.load(Ordering::Relaxed), work);
            });
            let waited = wait(&end);
            cancelled.store(waited.is_err(), Ordering::Relaxed);
            waited
        })
    });
    Ok(waited?)
}

/// Runs `work` on every item, on all cores, without the GIL; the results are in the items' order.
///
/// `size` is the bytes of work in an item. The error is that of the first item that failed, whichever
/// thread was the first to fail.
pub fn map<T: Sync, R: Send>(
    py: Python<'_>,
    items: &[T],
    size: impl Fn(&T) -> usize,
    work: impl Fn(usize, &T) -> jeton_core::Result<R> + Sync,
) -> Outcome<Vec<R>> {
    let bytes = items.iter().map(size).sum();
    let results = run(py, bytes, |threads, cancelled| {
        let work = |(i, item)| (!cancelled.load(Ordering::Relaxed)).then(|| work(i, item));
        match threads {
            1 => items.iter().enumerate().map_while(work).collect(),
            _ => Listener::lend(|listener| {
                let work = |item| listener.during(|| work(item));
                let results: Vec<_> = items.par_iter().enumerate().map(work).collect();
                results.into_iter().flatten().collect::<Vec<_>>()
            }),
        }
    })?;
    Ok(results.into_iter().collect::<jeton_core::Result<_>>()?)
}

/// Runs `work` without the GIL, with the threads of the pool for whatever it does in parallel.
pub fn install<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> Outcome<R> {
    let pool = pool(py)?;
    Ok(py.detach(|| pool.threads.install(work)))
}

/// Runs `work` as [`install`] does, while the calling thread hears what `work` tells and looks for
/// Ctrl-C. An error from `hear` is the answer to what `work` tells next, and ends work that polls.
pub fn install_hearing<M: Send, R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut(M) -> ControlFlow<()>) -> R + Send,
    mut hear: impl FnMut(Python<'_>, M) -> PyResult<()> + Send,
) -> Outcome<R> {
    let pool = pool(py)?;
    let mut result = None;
    let heard: PyResult<()> = py.detach(|| {
        let cancelled = AtomicBool::new(false);
        let (sender, receiver) = channel();
        // Where the work panics, leaving the scope passes the panic on.
        pool.threads.in_place_scope(|scope| {
            let (cancelled, result) = (&cancelled, &mut result);
            scope.spawn(move |_| {
                let mut tell = |progress| {
                    // Nobody listens only where this thread is waited for no more.
                    let _ = sender.send(progress);
                    if cancelled.load(Ordering::Relaxed) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                let is_to_end = || cancelled.load(Ordering::Relaxed);
                *result = listening(&is_to_end, || work(&mut tell)).ok();
            });
            let mut failure = None;
            loop {
                let progress = match receiver.recv_timeout(SIGNAL_CHECK) {
                    Ok(progress) => Some(progress),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break failure.map_or(Ok(()), Err),
                };
                // One exception is enough, and is not dropped outside Python, which takes a lock.
                if failure.is_none() {
                    failure = Python::attach(|py| {
                        py.check_signals()?;
                        progress.map_or(Ok(()), |progress| hear(py, progress))
                    })
                    .err();
                    cancelled.store(failure.is_some(), Ordering::Relaxed);
                }
            }
        })
    });
    heard?;
    Ok(result.expect("work that is not ended is done"))
}
