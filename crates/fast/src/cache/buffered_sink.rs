//! `BufferedSink`: collects the tokens that the word cache finds, and passes them on to a sink many at a time.

use super::entries::SHORT_IDS;
use crate::sink::Sink;

/// Tokens that the buffer holds.
pub const BUFFER_TOKENS: usize = 512;

/// Collects tokens in a buffer, and passes them on to a sink when it is full.
pub struct BufferedSink<'s, S: Sink> {
    tokens: &'s mut [u32; BUFFER_TOKENS],
    count: usize,
    sink: &'s mut S,
}

impl<'s, S: Sink> BufferedSink<'s, S> {
    /// Nothing waits. When this is dropped, all that waits is given to `sink`.
    pub fn new(tokens: &'s mut [u32; BUFFER_TOKENS], sink: &'s mut S) -> Self {
        Self {
            tokens,
            count: 0,
            sink,
        }
    }

    /// Takes the first `count` of `ids`; copying all of them is faster than copying some.
    #[inline(always)]
    pub fn push_entry(&mut self, ids: &[u32; SHORT_IDS], count: usize) {
        if self.count + SHORT_IDS > BUFFER_TOKENS {
            self.give();
        }
        self.tokens[self.count..self.count + SHORT_IDS].copy_from_slice(ids);
        self.count += count;
    }

    /// How many tokens wait.
    #[inline(always)]
    pub fn waiting(&self) -> usize {
        self.count
    }

    /// The sink, without the tokens that wait.
    #[inline(always)]
    pub fn sink(&self) -> &S {
        self.sink
    }

    /// The sink, after it received all tokens.
    pub fn flushed(&mut self) -> &mut S {
        self.give();
        self.sink
    }

    fn give(&mut self) {
        self.sink.push_all(&self.tokens[..self.count]);
        self.count = 0;
    }
}

impl<S: Sink> Sink for BufferedSink<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        if self.count + ids.len() > BUFFER_TOKENS {
            self.give();
            self.sink.push_all(ids);
        } else {
            self.tokens[self.count..self.count + ids.len()].copy_from_slice(ids);
            self.count += ids.len();
        }
    }
}

impl<S: Sink> Drop for BufferedSink<'_, S> {
    fn drop(&mut self) {
        self.give();
    }
}
