//! Sinks: where tokens go. A sink is a list of ids, or only a count.

use jeton_text::mem::room;

/// Tokens that are copied at once where there are few.
pub const FEW: usize = 8;

/// A receiver of tokens.
pub trait Sink {
    /// Takes tokens.
    fn push_all(&mut self, ids: &[u32]);

    /// Takes the first `count` of a few ids.
    fn push_few(&mut self, ids: &[u32; FEW], count: usize) {
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
    fn push_few(&mut self, ids: &[u32; FEW], count: usize) {
        let end = self.len() + count;
        room::reserve(self, FEW);
        self.extend_from_slice(ids);
        self.truncate(end);
    }
}
