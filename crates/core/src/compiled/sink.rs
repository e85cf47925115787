//! Where tokens go: into a list of ids, or only into a count.

/// Takes tokens as they are found.
pub trait Sink {
    /// Takes tokens.
    fn push_all(&mut self, ids: &[u32]);
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
}
