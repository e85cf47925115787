//! How Ctrl-C interrupts the core: the calling thread goes back to Python now and then.
//!
//! Look here for how long work runs without the GIL: [`detached`] on the calling thread,
//! [`abandonable`] on a thread whose result is dropped after Ctrl-C. Work on the threads
//! of the pool is in `pool`.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use jeton_core::interrupt::{Interrupted, listening};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{Failure, Outcome};

/// Time after which a thread that waits or works looks for Ctrl-C again.
pub const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// Questions of the core of which one looks at the clock.
const QUESTIONS_PER_LOOK: u32 = 4;

/// The signals that the calling thread hears while it works.
struct Signals {
    caller: ThreadId,
    start: Instant,
    /// How often the caller asked, and when Python is asked next, in milliseconds from the start.
    asked: AtomicU32,
    next: AtomicU64,
    /// Set once the work is to end; then the caller has the exception.
    heard: AtomicBool,
    exception: Mutex<Option<PyErr>>,
}

impl Signals {
    fn new() -> Self {
        Self {
            caller: thread::current().id(),
            start: Instant::now(),
            asked: AtomicU32::new(1),
            next: AtomicU64::new(SIGNAL_CHECK.as_millis() as u64),
            heard: AtomicBool::new(false),
            exception: Mutex::new(None),
        }
    }

    /// Whether the work is to end. Only the caller asks Python, which handles signals on no thread but
    /// its first.
    fn is_to_end(&self) -> bool {
        if self.heard.load(Ordering::Relaxed) {
            return true;
        }
        // Only the caller writes these, so nothing is lost by writing what was read.
        let asked = self.asked.load(Ordering::Relaxed);
        if thread::current().id() != self.caller {
            return false;
        }
        self.asked.store(asked.wrapping_add(1), Ordering::Relaxed);
        if !asked.is_multiple_of(QUESTIONS_PER_LOOK) {
            return false;
        }
        let now = self.start.elapsed();
        if (now.as_millis() as u64) < self.next.load(Ordering::Relaxed) {
            return false;
        }
        let next = match Python::attach(look) {
            Ok(ControlFlow::Continue(())) => (now + SIGNAL_CHECK).as_millis() as u64,
            // This thread never hears of a signal.
            Ok(ControlFlow::Break(())) => u64::MAX,
            Err(exception) => {
                *lock(&self.exception) = Some(exception);
                self.heard.store(true, Ordering::Relaxed);
                return true;
            }
        };
        self.next.store(next, Ordering::Relaxed);
        false
    }

    /// The exception that ended the work.
    fn into_failure(self) -> Failure {
        let exception = lock(&self.exception).take();
        Failure::Python(exception.expect("work is ended by an exception only"))
    }
}

/// Handles the signals that came meanwhile; says whether this thread is one that can.
fn look(py: Python<'_>) -> PyResult<ControlFlow<()>> {
    py.check_signals()?;
    let threading = py.import("threading")?;
    let [first, this] = [
        threading.call_method0("main_thread")?.getattr("ident")?,
        threading.call_method0("get_ident")?,
    ];
    if first.eq(this)? {
        Ok(ControlFlow::Continue(()))
    } else {
        Ok(ControlFlow::Break(()))
    }
}

/// Items of a list after which Ctrl-C is heard.
const LISTED: usize = 1 << 14;

/// Hears Ctrl-C at the first item of very many, and now and then after it.
#[inline]
pub fn hear(py: Python<'_>, number: usize) -> PyResult<()> {
    if number.is_multiple_of(LISTED) {
        py.check_signals()
    } else {
        Ok(())
    }
}

/// A list of these items, which may be very many.
pub fn list<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    mut items: impl ExactSizeIterator<Item = T>,
) -> PyResult<Bound<'py, PyList>> {
    if items.len() <= LISTED {
        return PyList::new(py, items);
    }
    let list = PyList::empty(py);
    while items.len() > 0 {
        py.check_signals()?;
        items
            .by_ref()
            .take(LISTED)
            .try_for_each(|item| list.append(item))?;
    }
    Ok(list)
}

/// Work that puts its result where it was made, so that what runs it is compiled once, and not for each
/// type of result.
pub type Work<'w> = Box<dyn FnOnce() + Send + 'w>;

/// Does `work` without the GIL on the calling thread, which hears Ctrl-C wherever the core asks.
pub fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> Outcome<R> {
    let mut result = None;
    on_this_thread(py, Box::new(|| result = Some(work())))?;
    Ok(result.expect("work that is not ended is done"))
}

fn on_this_thread(py: Python<'_>, work: Work<'_>) -> Outcome<()> {
    let signals = Signals::new();
    match py.detach(|| listening(&|| signals.is_to_end(), work)) {
        Ok(()) => Ok(()),
        Err(Interrupted) => Err(signals.into_failure()),
    }
}

/// Waits without the GIL until a thread drops the other end of the channel. The exception of Ctrl-C, if
/// that is pressed first.
pub fn wait(end: &Receiver<()>) -> PyResult<()> {
    while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(SIGNAL_CHECK) {
        Python::attach(|py| py.check_signals())?;
    }
    Ok(())
}

/// Does `work` without the GIL on a thread of its own, for work that cannot be asked to end soon:
/// after Ctrl-C nobody waits for it. It must not touch Python, and its results must be no loss.
pub fn abandonable<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> Outcome<R> {
    let result = Arc::new(Mutex::new(None));
    let made = Arc::clone(&result);
    on_another_thread(py, Box::new(move || *lock(&made) = Some(work())))?;
    let result = lock(&result).take();
    Ok(result.expect("work that is not ended is done"))
}

fn on_another_thread(py: Python<'_>, work: Work<'static>) -> Outcome<()> {
    let ended = Arc::new(AtomicBool::new(false));
    let is_to_end = Arc::clone(&ended);
    let (at_end, end) = channel();
    let work = Arc::new(Mutex::new(Some(work)));
    let taken = {
        let work = Arc::clone(&work);
        move || {
            let _dropped_at_end = at_end;
            if let Some(work) = lock(&work).take() {
                // Nobody waits for work that was ended.
                let _ = listening(&|| is_to_end.load(Ordering::Relaxed), work);
            }
        }
    };
    let name = "jeton-file".to_owned();
    let Ok(thread) = thread::Builder::new().name(name).spawn(taken) else {
        let work = lock(&work).take();
        return on_this_thread(py, work.expect("no thread has taken it"));
    };
    if let Err(interrupt) = py.detach(move || wait(&end)) {
        ended.store(true, Ordering::Relaxed);
        return Err(Failure::Python(interrupt));
    }
    // It has nothing left to do; a process may fork as soon as this call is over. A panic goes on here.
    py.detach(|| thread.join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
