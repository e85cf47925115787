//! Memory and caches: values made on first use, large pages, prefetching, short texts as keys.

pub(crate) mod large_pages;
pub(crate) mod lazy;
pub(crate) mod prefetch;
pub mod short_keys;
