//! The matches of a backtracking engine, found on a thread of their own.
//!
//! Look here for how an interrupt is heard in the midst of a try that takes seconds: an engine cannot be
//! asked to leave off, so whoever needs its matches waits for them and asks meanwhile whether the work
//! is to end. Then nobody waits any more, and the thread ends with the try. What it reads is its own.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use std::vec;

use super::budget::Budget;
use super::{Matches, Regex, Search, backtracking};
use crate::error::{Error, Result};
use crate::interrupt::{listening, poll};

/// How many matches are sent together, at most, and how long they may be kept.
const TOGETHER: usize = 1 << 12;
const KEPT: Duration = Duration::from_millis(5);
/// After so many matches the clock is looked at.
const UNSEEN: usize = 1 << 6;
/// How many such parcels wait to be taken.
const WAITING: usize = 4;
/// How often whoever waits asks whether the work is to end.
const ASKED: Duration = Duration::from_millis(20);

/// Some matches, and whether they are the last.
struct Parcel {
    found: Vec<Range<usize>>,
    failed: Option<Error>,
    is_last: bool,
}

/// Matches that come from another thread.
pub(super) struct Aside {
    receiver: Receiver<Parcel>,
    thread: Option<JoinHandle<()>>,
    is_to_end: Arc<AtomicBool>,
    found: vec::IntoIter<Range<usize>>,
    failed: Option<Error>,
}

impl Aside {
    /// Goes on from a state of the search, with what is left of its budget; nothing if there can be no
    /// thread.
    pub(super) fn start(
        regex: &Regex,
        text: &str,
        state: backtracking::State,
        budget: Budget,
    ) -> Option<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let is_to_end = Arc::new(AtomicBool::new(false));
        let (regex, text): (_, Arc<str>) = (regex.clone(), text.into());
        let told = Arc::clone(&is_to_end);
        let work = move || {
            // An interrupt ends the thread, and nobody hears of it.
            let _ = listening(&|| told.load(Ordering::Relaxed), || {
                let engine = regex.backtracking();
                let matches = backtracking::Matches::at_last(engine, regex.source(), &text, state);
                let matches = Matches {
                    search: Search::Backtracking(matches),
                    text: &text,
                    budget,
                    regex: Some(&regex),
                };
                send_all(matches, &sender);
            });
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
            let received = self.receiver.recv_timeout(ASKED);
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

    /// Waits for the thread, which has nothing left to do; a panic goes on here.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.is_to_end.store(true, Ordering::Relaxed);
    }
}

/// Sends the matches, as many together as come in a short time, until nobody takes them.
fn send_all(mut matches: Matches<'_>, sender: &SyncSender<Parcel>) {
    let mut found = Vec::new();
    let mut sent = Instant::now();
    loop {
        let (failed, is_last) = match matches.next() {
            Some(Ok(range)) => {
                found.push(range);
                let is_due = found.len() >= TOGETHER
                    || found.len().is_multiple_of(UNSEEN) && sent.elapsed() > KEPT;
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
        if sender.send(parcel).is_err() || is_last {
            return;
        }
        sent = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dialect;
    use super::*;
    use crate::interrupt::Interrupted;

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
            assert!(matches!(matches.search, Search::Aside(_)));
        }
    }
}
