//! Memory and caches: values made on first use, large pages, prefetching, short texts as keys.

pub mod large_pages;
pub mod lazy;
pub mod prefetch;
pub mod short_keys;
