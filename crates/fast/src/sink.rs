//! Sinks: where tokens go. A sink is a list of ids, or only a count.

use jeton_text::mem::room;

/// A receiver of tokens.
pub trait Sink {
    /// Takes tokens.
    fn push_all(&mut self, ids: &[u32]);

    /// Takes the first `count` of `ids`.
    fn push_first<const N: usize>(&mut self, ids: &[u32; N], count: usize) {
        self.push_all(&ids[..count]);
    }
}

/// A sink that only counts the tokens.
#[derive(Default)]
pub struct Count(pub usize);

impl Sink for Count {
    fn push_all(&mut self, ids: &[u32]) {
        self.0 += ids.len();
    }
}

impl Sink for Vec<u32> {
    #[inline]
    fn push_all(&mut self, ids: &[u32]) {
        room::reserve(self, ids.len());
        self.extend_from_slice(ids);
    }

    /// Copying all of a few is faster than copying some.
    #[inline(always)]
    fn push_first<const N: usize>(&mut self, ids: &[u32; N], count: usize) {
        let end = self.len() + count;
        room::reserve(self, N);
        self.extend_from_slice(ids);
        self.truncate(end);
    }
}
