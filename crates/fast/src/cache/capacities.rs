//! The sizes of a word cache: its bytes in all, and the share of each table.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::entries::Line;

/// Cache lines that a table begins with.
pub const FEWEST: usize = 1 << 9;
/// Tokens outside entries for which there is room in any case.
const FEWEST_SPILLED: usize = 1 << 12;
/// Tokens outside entries, at most: their rows are numbers of 32 bits.
const MAX_SPILLED: usize = u32::MAX as usize;

/// The most bytes of a cache, unless another limit is set.
const DEFAULT_LIMIT: usize = 160 << 20;

/// What [`limit`] says.
static LIMIT: AtomicUsize = AtomicUsize::new(DEFAULT_LIMIT);

/// How many bytes a cache has at most; every tokenizer has as many caches as threads use it at once.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Sets how many bytes a cache has at most, beside some 100 kB that each has. Caches that were made
/// before are given up when they are used next.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The capacities of the parts of a cache.
pub struct Capacities {
    /// Cache lines of two short entries: up to half of the bytes.
    pub short: usize,
    /// Long entries: up to a quarter.
    pub long: usize,
    /// Bytes of the pieces that no entry holds, with their tokens: an eighth.
    pub overflow: usize,
    /// Tokens that lie outside their entries: what is left.
    pub spilled: usize,
}

impl Capacities {
    pub fn of(limit: usize) -> Self {
        let lines = |bytes: usize| {
            let lines = bytes / size_of::<Line>();
            FEWEST.max(lines.checked_ilog2().map_or(0, |bits| 1 << bits))
        };
        let (short, long, overflow) = (lines(limit / 2), lines(limit / 4), limit / 8);
        let left = limit.saturating_sub((short + long) * size_of::<Line>() + overflow);
        Self {
            short,
            long,
            overflow,
            spilled: (left / size_of::<u32>()).clamp(FEWEST_SPILLED, MAX_SPILLED),
        }
    }
}
