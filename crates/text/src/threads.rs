//! Runs two pieces of work at the same time, and says how many threads a process has for them.
//!
//! Look here for the threads that are started outside batches: they last only as long as a call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, available_parallelism};

use crate::interrupt::Listener;

/// Tokens from which on the work of loading is worth a thread.
pub const LARGE: usize = 1 << 13;

/// How many threads the process may run at the same time.
pub fn cores() -> usize {
    static CORES: AtomicUsize = AtomicUsize::new(0);
    match CORES.load(Ordering::Relaxed) {
        0 => {
            let cores = available_parallelism().map_or(1, usize::from);
            CORES.store(cores, Ordering::Relaxed);
            cores
        }
        cores => cores,
    }
}

/// The results of both; where it is `worth_it` and there are two cores, the second on a thread of
/// its own.
pub fn both<A, B: Send>(
    worth_it: bool,
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if !worth_it || cores() < 2 {
        return (first(), second());
    }
    // The thread that is first does it. So nothing is lost if no thread can be started, and the work
    // never waits for one that has not begun.
    let second = Mutex::new(Some(second));
    let take = || second.lock().unwrap_or_else(PoisonError::into_inner).take();
    Listener::lend(|listener| {
        std::thread::scope(|scope| {
            let other = || listener.during(|| take().map(|second| second()));
            let started = Builder::new().spawn_scoped(scope, other);
            let first = listener.during(first);
            let second = match (take(), started) {
                (Some(second), _) => Some(listener.during(second)),
                (None, Ok(thread)) => match thread.join() {
                    Ok(done) => done,
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                (None, Err(_)) => None,
            };
            (first, second.expect("one of the two has done it"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::both;

    #[test]
    fn both_are_done_once() {
        for worth_it in [false, true] {
            let mut counts = [0, 0];
            let [first, second] = &mut counts;
            let results = both(worth_it, || *first += 1, || *second += 1);
            assert_eq!((results, counts), (((), ()), [1, 1]));
        }
    }
}
