//! Prefetching: asking for memory before it is needed.

/// Prefetches the memory of `table[at]`, or for memory beyond the table.
#[inline(always)]
pub fn prefetch<T>(table: &[T], at: usize) {
    let place = table.as_ptr().wrapping_add(at);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing, so any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(place.cast(), _MM_HINT_T0);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch reads nothing, so any address will do.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{place}]",
            place = in(reg) place,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}
