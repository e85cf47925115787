//! The buffer between the word cache and a sink, which passes tokens on many at a time.

use super::word_cache::SHORT_IDS;
use crate::sink::Sink;

/// Tokens that the buffer holds.
pub const BUFFER_TOKENS: usize = 512;

/// Tokens that were found and not yet given away.
pub struct OutputBuffer<'w> {
    tokens: &'w mut [u32; BUFFER_TOKENS],
    count: usize,
}

impl<'w> OutputBuffer<'w> {
    /// No tokens, and room for some.
    pub fn new(tokens: &'w mut [u32; BUFFER_TOKENS]) -> Self {
        Self { tokens, count: 0 }
    }

    /// Takes the first `count` of `ids`; copying all of them is faster than copying some.
    #[inline(always)]
    pub fn few<const N: usize>(&mut self, ids: &[u32; N], count: usize, sink: &mut impl Sink) {
        if self.count + N > BUFFER_TOKENS {
            self.give(sink);
        }
        self.tokens[self.count..self.count + N].copy_from_slice(ids);
        self.count += count;
    }

    /// Takes all of `ids`.
    pub fn many(&mut self, ids: &[u32], sink: &mut impl Sink) {
        if self.count + ids.len() > BUFFER_TOKENS {
            self.give(sink);
            sink.push_all(ids);
        } else {
            self.tokens[self.count..self.count + ids.len()].copy_from_slice(ids);
            self.count += ids.len();
        }
    }

    /// Gives all tokens to `sink`.
    pub fn give(&mut self, sink: &mut impl Sink) {
        sink.push_all(&self.tokens[..self.count]);
        self.count = 0;
    }
}

/// A sink that takes a few tokens sooner than others do.
pub trait EntrySink: Sink {
    /// Takes the first `count` of `ids`.
    fn push_entry(&mut self, ids: &[u32; SHORT_IDS], count: usize);
}

/// A sink with a buffer in front of it, in which tokens wait.
pub struct BufferedSink<'s, S: Sink> {
    waiting: OutputBuffer<'s>,
    sink: &'s mut S,
}

impl<'s, S: Sink> BufferedSink<'s, S> {
    /// Nothing waits. When this is dropped, all that waits is given to `sink`.
    pub fn new(room: &'s mut [u32; BUFFER_TOKENS], sink: &'s mut S) -> Self {
        Self {
            waiting: OutputBuffer::new(room),
            sink,
        }
    }
}

impl<S: Sink> Sink for BufferedSink<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        self.waiting.many(ids, self.sink);
    }
}

impl<S: Sink> EntrySink for BufferedSink<'_, S> {
    #[inline(always)]
    fn push_entry(&mut self, ids: &[u32; SHORT_IDS], count: usize) {
        self.waiting.few(ids, count, self.sink);
    }
}

impl<S: Sink> Drop for BufferedSink<'_, S> {
    fn drop(&mut self) {
        self.waiting.give(self.sink);
    }
}
