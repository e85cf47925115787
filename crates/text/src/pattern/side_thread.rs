//! A search on a side thread, so that a try that takes seconds can be interrupted.
//!
//! Neither a backtracking engine nor the automata of a library can be stopped from outside, so the caller
//! waits for their matches and meanwhile polls for an interrupt. After an interrupt the caller no longer
//! waits, and the thread ends with its try. It reads only data of its own.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use std::vec;

use crate::error::{Error, Result};
use crate::interrupt::{listening, poll};

/// Matches sent together, at most.
const PARCEL_MATCHES: usize = 1 << 12;
/// Time for which a match may be kept before it is sent.
const PARCEL_TIME: Duration = Duration::from_millis(5);
/// Matches after which the clock is read.
const CLOCK_MATCHES: usize = 1 << 6;
/// Parcels that may wait to be taken.
const PARCELS: usize = 4;
/// Time between two polls of the waiting thread.
const POLL_TIME: Duration = Duration::from_millis(20);

/// Some matches, and whether they are the last.
struct Parcel {
    found: Vec<Range<usize>>,
    failed: Option<Error>,
    is_last: bool,
}

/// Matches that come from another thread.
pub(super) struct SideSearch {
    receiver: Receiver<Parcel>,
    thread: Option<JoinHandle<()>>,
    is_to_end: Arc<AtomicBool>,
    found: vec::IntoIter<Range<usize>>,
    failed: Option<Error>,
}

impl SideSearch {
    /// Searches on a thread of its own, which `search` sends its matches from; nothing if there can be
    /// no thread.
    pub(super) fn start(search: impl FnOnce(Outlet) + Send + 'static) -> Option<Self> {
        let (sender, receiver) = sync_channel(PARCELS);
        let is_to_end = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_to_end);
        let work = move || {
            // An interrupt ends the thread without a message.
            let _ = listening(&|| told.load(Ordering::Relaxed), || search(Outlet(sender)));
        };
        let thread = Builder::new().name("jeton-pattern".to_owned()).spawn(work);
        Some(Self {
            receiver,
            thread: Some(thread.ok()?),
            is_to_end,
            found: Vec::new().into_iter(),
            failed: None,
        })
    }

    /// The next match, or the error that ends them.
    pub(super) fn next(&mut self) -> Option<Result<Range<usize>>> {
        loop {
            if let Some(found) = self.found.next() {
                return Some(Ok(found));
            }
            if let Some(failed) = self.failed.take() {
                return Some(Err(failed));
            }
            self.thread.as_ref()?;
            let received = self.receiver.recv_timeout(POLL_TIME);
            poll();
            match received {
                Ok(parcel) => {
                    self.found = parcel.found.into_iter();
                    self.failed = parcel.failed;
                    if parcel.is_last {
                        self.join();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // It panicked.
                Err(RecvTimeoutError::Disconnected) => self.join(),
            }
        }
    }

    /// Waits for the thread, which has nothing left to do; its panic continues here.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for SideSearch {
    fn drop(&mut self) {
        self.is_to_end.store(true, Ordering::Relaxed);
    }
}

/// Where a side thread leaves its matches.
pub(super) struct Outlet(SyncSender<Parcel>);

impl Outlet {
    /// Sends the matches, those of a short time together, until the receiver is gone.
    pub(super) fn send_all(&self, mut matches: impl Iterator<Item = Result<Range<usize>>>) {
        let mut found = Vec::new();
        let mut sent = Instant::now();
        loop {
            let (failed, is_last) = match matches.next() {
                Some(Ok(range)) => {
                    found.push(range);
                    let is_due = found.len() >= PARCEL_MATCHES
                        || found.len().is_multiple_of(CLOCK_MATCHES)
                            && sent.elapsed() > PARCEL_TIME;
                    if !is_due {
                        continue;
                    }
                    (None, false)
                }
                Some(Err(error)) => (Some(error), true),
                None => (None, true),
            };
            let parcel = Parcel {
                found: std::mem::take(&mut found),
                failed,
                is_last,
            };
            if self.0.send(parcel).is_err() || is_last {
                return;
            }
            sent = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupted;
    use crate::pattern::{Dialect, Regex};

    #[test]
    fn matches_are_those_of_the_library_wherever_they_are_found() {
        let source = r"(\w)\1|\w|(?<=é) ";
        let text = "aabé cc d\n".repeat(200_000);
        let regex = Regex::new(source, Dialect::Tiktoken).unwrap();
        assert!(regex.backtracks());
        let found = regex.matches(&text).map(|found| found.unwrap());
        let theirs = fancy_regex::Regex::new(source).unwrap();
        let expected = theirs.find_iter(&text).map(|found| found.unwrap().range());
        assert!(found.eq(expected));
    }

    #[test]
    fn an_interrupt_is_heard_in_the_midst_of_a_try() {
        for dialect in [Dialect::Oniguruma, Dialect::Tiktoken] {
            let regex = Regex::new(r"(?:(a|a|a)+)+(?=b)\1", dialect).unwrap();
            let text = "a".repeat(1 << 20);
            let start = Instant::now();
            let is_to_end = || start.elapsed() > Duration::from_millis(1);
            let mut matches = regex.matches(&text);
            let heard = listening(&is_to_end, || matches.next());
            assert!(matches!(heard, Err(Interrupted)));
            assert!(matches.is_on_side_thread());
        }
    }
}
