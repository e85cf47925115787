//! `BufferedSink`: collects the tokens that the word cache finds, and passes them on to a sink many at a time.

use super::entries::SHORT_IDS;
use crate::sink::Sink;

/// Tokens that the buffer holds.
pub const BUFFER_TOKENS: usize = 512;

/// Collects tokens in a buffer, and passes them on to a sink when it is full.
pub struct BufferedSink<'s> {
    tokens: &'s mut [u32; BUFFER_TOKENS],
    count: usize,
    sink: &'s mut dyn Sink,
}

impl<'s> BufferedSink<'s> {
    /// Nothing waits. When this is dropped, all that waits is given to `sink`.
    pub fn new(tokens: &'s mut [u32; BUFFER_TOKENS], sink: &'s mut dyn Sink) -> Self {
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

    /// Passes all tokens on.
    pub fn give(&mut self) {
        self.sink.push_all(&self.tokens[..self.count]);
        self.count = 0;
    }
}

impl Sink for BufferedSink<'_> {
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

impl Drop for BufferedSink<'_> {
    fn drop(&mut self) {
        self.give();
    }
}
