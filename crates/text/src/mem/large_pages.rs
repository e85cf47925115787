//! Memory in large pages, for tables that are read at random.
//!
//! Before a small page of a large table can be read, the processor must find it, and it remembers
//! few of them. If the system has no large pages to offer, these are ordinary vectors.

use super::room;

/// An empty vector with room for `length`.
pub fn with_capacity<T>(length: usize) -> Vec<T> {
    let vector = room::with_capacity(length);
    #[cfg(target_os = "linux")]
    ask(vector.as_ptr() as usize, length * size_of::<T>());
    vector
}

/// The same, or nothing where no memory is left but the reserve.
pub fn try_with_capacity<T>(length: usize) -> Option<Vec<T>> {
    if room::is_scarce() {
        return None;
    }
    let mut vector = Vec::new();
    vector.try_reserve_exact(length).ok()?;
    #[cfg(target_os = "linux")]
    ask(vector.as_ptr() as usize, length * size_of::<T>());
    Some(vector)
}

/// `length` times the same.
pub fn filled<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut vector = with_capacity(length);
    vector.resize(length, value);
    vector
}

/// The same numbers, where they are read faster.
pub fn moved<T: Copy>(vector: &[T]) -> Vec<T> {
    let mut copy = with_capacity(vector.len());
    copy.extend_from_slice(vector);
    copy
}

#[cfg(target_os = "linux")]
fn ask(start: usize, bytes: usize) {
    /// Bytes of a large page.
    const PAGE: usize = 2 << 20;
    let first = start.next_multiple_of(PAGE);
    let last = (start + bytes) / PAGE * PAGE;
    if first < last {
        // SAFETY: the pages lie inside memory that the caller owns, and advice does not change them.
        unsafe { libc::madvise(first as *mut _, last - first, libc::MADV_HUGEPAGE) };
    }
}
