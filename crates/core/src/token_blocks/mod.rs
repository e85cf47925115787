//! Documents become blocks of tokens, on all threads and in order: what a token set is written from.
//!
//! Reading, decompressing, encoding and whatever the caller does with a block happen at the same
//! time, with a few blocks in memory. Look here for the threads, and in `building` for how one document
//! is encoded. Blocks hold the same tokens for any number of threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

mod building;
#[cfg(test)]
mod tests;

pub use building::{TokenBlock, TokenOptions, Tokens, reordered};

use crate::tokenizer::Tokenizer;
use jeton_text::error::Result;
use jeton_text::interrupt::listening;
use jeton_text::mem::room;
use jeton_training::corpus::{Corpus, DocumentOptions, DocumentPart, Documents, Next, PATIENCE};

/// Blocks that nobody has taken yet, at most, for each thread.
const BLOCKS_PER_THREAD: u64 = 3;

/// The blocks of a corpus, while threads make them.
///
/// ```no_run
/// use std::sync::Arc;
/// use std::time::Duration;
/// use jeton_core::train::corpus::{Corpus, CorpusOptions, DocumentOptions, Next};
/// use jeton_core::token_blocks::{TokenBlocks, TokenOptions};
/// # use jeton_core::Tokenizer;
/// # fn example(tokenizer: Arc<Tokenizer>) -> jeton_core::Result<()> {
///
/// let corpus = Corpus::open(&["news/".into()], CorpusOptions::default())?;
/// let options = TokenOptions::of(&tokenizer, Some(50_256));
/// let mut blocks = TokenBlocks::new(tokenizer, &corpus, &DocumentOptions::default(), options, 2);
/// loop {
///     match blocks.step(Duration::from_millis(50))? {
///         Next::Item(block) => println!("{} documents", block.lengths.len()),
///         Next::Waiting => {}
///         Next::End => return Ok(()),
///     }
/// }
/// # }
/// ```
pub struct TokenBlocks {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    tokenizer: Arc<Tokenizer>,
    options: TokenOptions,
    documents: Mutex<Source>,
    state: Mutex<State>,
    /// Told of every change of `state`.
    changed: Condvar,
    window: u64,
}

struct Source {
    documents: Documents,
    /// The number of the next block.
    next: u64,
    /// No more is to be read.
    ended: bool,
}

#[derive(Default)]
struct State {
    done: BTreeMap<u64, thread::Result<Result<TokenBlock>>>,
    /// The next that is given to the caller.
    next: u64,
    /// How many threads still work.
    working: usize,
    cancelled: bool,
}

impl TokenBlocks {
    /// Begins to make the blocks of a corpus, on this many threads.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        corpus: &Corpus,
        reading: &DocumentOptions,
        options: TokenOptions,
        threads: usize,
    ) -> Self {
        let threads = threads.max(1);
        let stages = tokenizer.split_point_stages();
        let documents = corpus.documents(reading, stages);
        let shared = Arc::new(Shared {
            tokenizer,
            options,
            documents: Mutex::new(Source {
                documents,
                next: 0,
                ended: false,
            }),
            state: Mutex::new(State {
                working: threads,
                ..State::default()
            }),
            changed: Condvar::new(),
            window: BLOCKS_PER_THREAD * threads as u64,
        });
        let workers = (0..threads).map_while(|_| {
            let shared = Arc::clone(&shared);
            // Without room for more threads, fewer do the work.
            thread::Builder::new().spawn(move || shared.work()).ok()
        });
        let workers: Vec<_> = workers.collect();
        if workers.is_empty() {
            room::no_thread();
        }
        lock(&shared.state).working -= threads - workers.len();
        Self { workers, shared }
    }

    /// The next block, if it is made within `patience`. After an error there are no more.
    ///
    /// # Errors
    /// A file that cannot be read, is cut short or is not UTF-8; a line that is no JSON object or
    /// lacks the field; a text that the model has no token for.
    ///
    /// # Panics
    /// If a thread did.
    pub fn step(&mut self, patience: Duration) -> Result<Next<TokenBlock>> {
        let mut state = lock(&self.shared.state);
        let next = state.next;
        if !state.done.contains_key(&next) && state.working > 0 {
            let changed = self.shared.changed.wait_timeout(state, patience);
            state = changed.unwrap_or_else(PoisonError::into_inner).0;
        }
        match state.done.remove(&next) {
            Some(done) => {
                state.next += 1;
                drop(state);
                self.shared.changed.notify_all();
                let block = done.unwrap_or_else(|panic| resume_unwind(panic));
                if block.is_err() {
                    self.cancel();
                }
                block.map(Next::Item)
            }
            None if state.working == 0 => Ok(Next::End),
            None => Ok(Next::Waiting),
        }
    }

    fn cancel(&self) {
        let mut state = lock(&self.shared.state);
        state.cancelled = true;
        state.done.clear();
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Drop for TokenBlocks {
    fn drop(&mut self) {
        self.cancel();
        for worker in self.workers.drain(..) {
            // What it panicked with was raised already, or is of no use any more.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn work(&self) {
        let mut ids = Vec::new();
        while let Some((number, parts)) = self.take() {
            // Only work that listens to somebody ends where memory is scarce; nobody interrupts this one.
            let made = parts.and_then(|parts| {
                catch_unwind(AssertUnwindSafe(|| {
                    let make =
                        || TokenBlock::new(&self.tokenizer, &self.options, &parts?, &mut ids);
                    listening(&|| false, make).expect("nobody interrupts it")
                }))
            });
            let mut state = lock(&self.state);
            if !state.cancelled {
                state.done.insert(number, made);
            }
            drop(state);
            self.changed.notify_all();
        }
        lock(&self.state).working -= 1;
        self.changed.notify_all();
    }

    /// The parts of the next block and its number; nothing when there are no more.
    fn take(&self) -> Option<(u64, thread::Result<Result<Vec<DocumentPart>>>)> {
        let mut source = lock(&self.documents);
        let mut state = lock(&self.state);
        while !state.cancelled && source.next >= state.next + self.window {
            let changed = self.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        while !source.ended && !lock(&self.state).cancelled {
            // A panic while reading is the result of this block, for which the caller waits.
            let parts = catch_unwind(AssertUnwindSafe(|| source.documents.step(PATIENCE)));
            let parts = match parts {
                Ok(Ok(Next::Waiting)) => continue,
                Ok(Ok(Next::Item(parts))) => Ok(Ok(parts)),
                Ok(Ok(Next::End)) => {
                    source.ended = true;
                    break;
                }
                Ok(Err(error)) => {
                    source.ended = true;
                    Ok(Err(error))
                }
                Err(panic) => {
                    source.ended = true;
                    Err(panic)
                }
            };
            let number = source.next;
            source.next += 1;
            return Some((number, parts));
        }
        None
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
