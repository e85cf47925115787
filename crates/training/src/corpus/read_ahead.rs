//! What other threads read of some files, in the order of the files.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use jeton_text::error::Result;

/// Time for which a pipe that brings nothing is waited for, before the caller is asked whether to go
/// on.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// The next item of a corpus that other threads read.
pub enum Next<T> {
    /// The item.
    Item(T),
    /// It has not arrived in time.
    Waiting,
    /// The corpus has ended.
    End,
}

/// What a thread reads, and the thread.
pub type Opened<T> = (Receiver<Result<T>>, JoinHandle<()>);

/// What threads read of some files each, in the order of the files.
pub struct ReadAhead<F, T> {
    waiting: VecDeque<F>,
    open: VecDeque<Opened<T>>,
    threads: usize,
}

impl<F, T> ReadAhead<F, T> {
    pub fn new(files: impl IntoIterator<Item = F>, threads: usize) -> Self {
        Self {
            waiting: files.into_iter().collect(),
            open: VecDeque::new(),
            threads: threads.max(1),
        }
    }

    /// What comes next, if it does so within `patience`. `read` starts the thread of some files.
    pub fn step(&mut self, patience: Duration, read: impl Fn(F) -> Opened<T>) -> Result<Next<T>> {
        loop {
            while self.open.len() < self.threads
                && let Some(files) = self.waiting.pop_front()
            {
                self.open.push_back(read(files));
            }
            let Some((first, _)) = self.open.front() else {
                return Ok(Next::End);
            };
            match first.recv_timeout(patience) {
                Ok(item) => return item.map(Next::Item),
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Waiting),
                Err(RecvTimeoutError::Disconnected) => {
                    let thread = self.open.pop_front().map(|(_, thread)| thread.join());
                    // A thread that found no memory has not read everything.
                    if let Some(Err(panic)) = thread {
                        resume_unwind(panic);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn a_panic_of_a_thread_that_reads_is_no_end_of_its_file() {
        let patience = Duration::from_secs(60);
        let read = |_| {
            let (sender, receiver) = sync_channel(1);
            let thread = std::thread::spawn(move || {
                sender.send(Ok("a block")).unwrap();
                resume_unwind(Box::new("no room for the next one"));
            });
            (receiver, thread)
        };
        let mut ahead = ReadAhead::new([0], 1);
        assert!(matches!(
            ahead.step(patience, read),
            Ok(Next::Item("a block"))
        ));
        let step = AssertUnwindSafe(|| ahead.step(patience, read));
        let next = catch_unwind(step);
        assert!(next.is_err());
    }
}
