//! Where tokens go: into a list of ids, or only into a count.

/// Takes tokens as they are found.
pub trait Sink {
    /// Takes the first `count` of up to four tokens.
    fn push_few(&mut self, ids: [u32; 4], count: usize);
    /// Takes tokens.
    fn push_all(&mut self, ids: &[u32]);
}

/// Only how many tokens there were.
#[derive(Default)]
pub struct Count(pub usize);

impl Sink for Count {
    #[inline(always)]
    fn push_few(&mut self, _: [u32; 4], count: usize) {
        self.0 += count;
    }

    fn push_all(&mut self, ids: &[u32]) {
        self.0 += ids.len();
    }
}

impl Sink for Vec<u32> {
    #[inline(always)]
    fn push_few(&mut self, ids: [u32; 4], count: usize) {
        debug_assert!(count <= 4);
        if self.capacity() - self.len() < 4 {
            self.reserve(self.capacity().max(64));
        }
        let length = self.len();
        // SAFETY: there is room for four more, of which `count`, at most four, are kept.
        unsafe {
            self.as_mut_ptr()
                .add(length)
                .cast::<[u32; 4]>()
                .write_unaligned(ids);
            self.set_len(length + count.min(4));
        }
    }

    fn push_all(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }
}
