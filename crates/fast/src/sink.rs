//! Sinks: where tokens go, a list of ids or only a count.

/// Takes tokens as they are found.
pub trait Sink {
    /// Takes tokens.
    fn push_all(&mut self, ids: &[u32]);

    /// Takes the first `count` of `ids`.
    fn push_first<const N: usize>(&mut self, ids: &[u32; N], count: usize) {
        self.push_all(&ids[..count]);
    }
}

/// Only how many tokens there were.
#[derive(Default)]
pub struct Count(pub usize);

impl Sink for Count {
    fn push_all(&mut self, ids: &[u32]) {
        self.0 += ids.len();
    }
}

impl Sink for Vec<u32> {
    fn push_all(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }

    /// Copying all of a few is faster than copying some.
    #[inline(always)]
    fn push_first<const N: usize>(&mut self, ids: &[u32; N], count: usize) {
        let end = self.len() + count;
        self.extend_from_slice(ids);
        self.truncate(end);
    }
}
