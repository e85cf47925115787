//! Memory and caches: values made on first use, large pages, room for large results, prefetching, short
//! texts as keys.

pub(crate) mod large_pages;
pub(crate) mod lazy;
pub(crate) mod prefetch;
pub mod room;
pub mod short_keys;
