//! Asking for memory before it is needed.

/// Asks for the memory of `table[at]`.
#[inline(always)]
pub fn prefetch<T>(table: &[T], at: usize) {
    debug_assert!(at < table.len());
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing, so any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(table.as_ptr().wrapping_add(at).cast(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, at);
}
