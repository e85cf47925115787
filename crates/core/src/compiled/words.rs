//! The word cache: the tokens of pieces that were met before, found with one look at memory.
//!
//! Text repeats itself: nearly all pieces of a text are among the few thousand commonest. A cache
//! belongs to one call at a time, so it needs no locks, and it is bounded: its tables grow to
//! [`MOST_SHORT`] and [`MOST_LONG`] entries and [`MOST_REST`] bytes, about 28 MB together, after
//! which new words take the place of old ones.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::sink::Sink;

/// Pieces of up to this many bytes are kept in entries of half a cache line.
pub const SHORT: usize = 15;
/// Pieces of up to this many bytes are kept in entries of a whole cache line.
pub const LONG: usize = 30;
/// The most tokens that an entry for a short piece holds.
const SHORT_IDS: usize = 4;
/// The most tokens that an entry for a long piece holds.
const LONG_IDS: usize = 8;
/// The most short entries: 8 MB.
const MOST_SHORT: usize = 1 << 18;
/// The most long entries: 16 MB.
const MOST_LONG: usize = 1 << 18;
/// Pieces longer than this are not kept.
pub const LONGEST: usize = 512;
/// The most bytes, keys and tokens together, of the pieces that no entry holds.
const MOST_REST: usize = 4 << 20;
const FEWEST: usize = 1 << 10;
/// How many entries a piece may lie from where its hash points.
const REACH: usize = 4;

/// A short piece as two words: its bytes, and its length in the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortKey {
    low: u64,
    high: u64,
}

impl ShortKey {
    /// The key of no piece.
    pub const EMPTY: Self = Self { low: 0, high: 0 };

    /// The key of `text[start..start + length]`, where `length <= SHORT`.
    #[inline(always)]
    pub fn new(text: &[u8], start: usize, length: usize) -> Self {
        debug_assert!(length <= SHORT && start + length <= text.len());
        let mut bytes = [0u8; 16];
        let value = match text.get(start..start + 16) {
            Some(window) => {
                bytes.copy_from_slice(window);
                let kept = (1u128 << (8 * length)) - 1;
                u128::from_le_bytes(bytes) & kept
            }
            None => {
                bytes[..length].copy_from_slice(&text[start..start + length]);
                u128::from_le_bytes(bytes)
            }
        };
        Self {
            low: value as u64,
            high: (value >> 64) as u64 | (length as u64) << 56,
        }
    }

    /// The piece, and its length.
    pub fn bytes(self) -> ([u8; SHORT + 1], usize) {
        let value = u128::from(self.low) | u128::from(self.high) << 64;
        let bytes = value.to_le_bytes();
        (bytes, usize::from(bytes[SHORT]))
    }

    /// Where the key belongs in a hash table.
    #[inline(always)]
    pub fn hash(self, seed: u64) -> u64 {
        fold(self.low ^ seed, self.high ^ 0x9E37_79B9_7F4A_7C15)
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// The count of tokens lies in the top four bits, above the length.
const COUNT_SHIFT: u32 = 60;
const KEY_BITS: u64 = (1 << COUNT_SHIFT) - 1;

#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct ShortEntry {
    low: u64,
    /// The rest of the bytes, the length, and the count of tokens; zero when empty.
    high: u64,
    ids: [u32; SHORT_IDS],
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct LongEntry {
    bytes: [u8; LONG],
    /// Zero when empty.
    length: u8,
    count: u8,
    ids: [u32; LONG_IDS],
}

/// Where a lookup would begin; kept from the prefetch to the look.
#[derive(Clone, Copy)]
pub struct Slot(usize);

impl Slot {
    /// The slot of no piece.
    pub const NONE: Self = Self(0);
}

/// The tokens of pieces met before.
pub struct WordCache {
    seed: u64,
    short: Vec<ShortEntry>,
    short_count: usize,
    long: Vec<LongEntry>,
    long_count: usize,
    /// What fits into no entry, by length or by count of tokens.
    rest: HashMap<Box<[u8]>, Box<[u32]>, RandomState>,
    rest_bytes: usize,
}

impl WordCache {
    const EMPTY_SHORT: ShortEntry = ShortEntry {
        low: 0,
        high: 0,
        ids: [0; SHORT_IDS],
    };
    const EMPTY_LONG: LongEntry = LongEntry {
        bytes: [0; LONG],
        length: 0,
        count: 0,
        ids: [0; LONG_IDS],
    };

    /// An empty cache. `seed` moves the hashes, so that nobody can aim words at one place.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            short: vec![Self::EMPTY_SHORT; FEWEST],
            short_count: 0,
            long: vec![Self::EMPTY_LONG; FEWEST],
            long_count: 0,
            rest: HashMap::default(),
            rest_bytes: 0,
        }
    }

    /// Asks for the memory in which a short piece would be found.
    #[inline(always)]
    pub fn prefetch_short(&self, key: ShortKey) -> Slot {
        let slot = key.hash(self.seed) as usize & (self.short.len() - 1);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the slot is inside the table; prefetching has no other precondition.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch(self.short.as_ptr().add(slot).cast(), _MM_HINT_T0);
        }
        Slot(slot)
    }

    /// Gives the tokens of a short piece to `sink`, if they are known.
    #[inline(always)]
    pub fn emit_short(&self, key: ShortKey, slot: Slot, sink: &mut impl Sink) -> bool {
        let mask = self.short.len() - 1;
        for step in 0..REACH {
            let entry = &self.short[(slot.0 + step) & mask];
            if entry.low == key.low && entry.high & KEY_BITS == key.high {
                sink.push_few(entry.ids, (entry.high >> COUNT_SHIFT) as usize);
                return true;
            }
            if entry.high == 0 {
                return false;
            }
        }
        false
    }

    /// Remembers the tokens of a short piece; returns whether there was room in an entry.
    pub fn insert_short(&mut self, key: ShortKey, ids: &[u32]) -> bool {
        if ids.len() > SHORT_IDS {
            return false;
        }
        if self.short_count * 2 > self.short.len() && self.short.len() < MOST_SHORT {
            self.grow_short();
        }
        let mut entry = ShortEntry {
            low: key.low,
            high: key.high | (ids.len() as u64) << COUNT_SHIFT,
            ids: [0; SHORT_IDS],
        };
        entry.ids[..ids.len()].copy_from_slice(ids);
        self.put_short(entry);
        true
    }

    fn put_short(&mut self, entry: ShortEntry) {
        let mask = self.short.len() - 1;
        let key = ShortKey {
            low: entry.low,
            high: entry.high & KEY_BITS,
        };
        let hash = key.hash(self.seed);
        let first = hash as usize & mask;
        let free = (0..REACH)
            .map(|step| (first + step) & mask)
            .find(|&slot| self.short[slot].high == 0);
        match free {
            Some(slot) => {
                self.short_count += 1;
                self.short[slot] = entry;
            }
            // Full: the newcomer takes a place that its hash chooses.
            None => self.short[(first + (hash >> 62) as usize % REACH) & mask] = entry,
        }
    }

    #[cold]
    fn grow_short(&mut self) {
        let larger = vec![Self::EMPTY_SHORT; self.short.len() * 2];
        let old = std::mem::replace(&mut self.short, larger);
        self.short_count = 0;
        for entry in old.into_iter().filter(|entry| entry.high != 0) {
            self.put_short(entry);
        }
    }

    fn long_hash(&self, piece: &[u8]) -> u64 {
        let mut padded = [0u8; 32];
        padded[..piece.len()].copy_from_slice(piece);
        let word = |n: usize| {
            u64::from_le_bytes(padded[8 * n..8 * n + 8].try_into().expect("eight bytes"))
        };
        let half = fold(word(0) ^ self.seed, word(1) ^ 0x9E37_79B9_7F4A_7C15);
        fold(
            half ^ word(2),
            word(3) ^ 0xD6E8_FEB8_6659_FD93 ^ piece.len() as u64,
        )
    }

    /// Gives the tokens of any piece to `sink`, if they are known.
    pub fn emit(&self, piece: &[u8], sink: &mut impl Sink) -> bool {
        if piece.len() <= LONG {
            let mask = self.long.len() - 1;
            let first = self.long_hash(piece) as usize;
            for step in 0..REACH {
                let entry = &self.long[(first + step) & mask];
                if entry.length as usize == piece.len() && entry.bytes[..piece.len()] == *piece {
                    sink.push_all(&entry.ids[..entry.count as usize]);
                    return true;
                }
                if entry.length == 0 {
                    break;
                }
            }
        }
        match self.rest.get(piece) {
            Some(ids) => {
                sink.push_all(ids);
                true
            }
            None => false,
        }
    }

    /// Remembers the tokens of any piece.
    pub fn insert(&mut self, piece: &[u8], ids: &[u32]) {
        if piece.len() > LONG || ids.len() > LONG_IDS {
            self.insert_rest(piece, ids);
            return;
        }
        if self.long_count * 2 > self.long.len() && self.long.len() < MOST_LONG {
            self.grow_long();
        }
        let mut entry = Self::EMPTY_LONG;
        entry.bytes[..piece.len()].copy_from_slice(piece);
        entry.length = piece.len() as u8;
        entry.count = ids.len() as u8;
        entry.ids[..ids.len()].copy_from_slice(ids);
        self.put_long(entry);
    }

    fn insert_rest(&mut self, piece: &[u8], ids: &[u32]) {
        if piece.len() > LONGEST {
            return;
        }
        let bytes = piece.len() + 4 * ids.len() + size_of::<(Box<[u8]>, Box<[u32]>)>();
        if self.rest_bytes + bytes > MOST_REST {
            self.rest.clear();
            self.rest_bytes = 0;
        }
        self.rest_bytes += bytes;
        self.rest.insert(piece.into(), ids.into());
    }

    fn put_long(&mut self, entry: LongEntry) {
        let mask = self.long.len() - 1;
        let hash = self.long_hash(&entry.bytes[..entry.length as usize]);
        let first = hash as usize & mask;
        let free = (0..REACH)
            .map(|step| (first + step) & mask)
            .find(|&slot| self.long[slot].length == 0);
        match free {
            Some(slot) => {
                self.long_count += 1;
                self.long[slot] = entry;
            }
            None => self.long[(first + (hash >> 62) as usize % REACH) & mask] = entry,
        }
    }

    #[cold]
    fn grow_long(&mut self) {
        let larger = vec![Self::EMPTY_LONG; self.long.len() * 2];
        let old = std::mem::replace(&mut self.long, larger);
        self.long_count = 0;
        for entry in old.into_iter().filter(|entry| entry.length != 0) {
            self.put_long(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let mut words = WordCache::new(7);
        let key = ShortKey::new(b" the", 0, 4);
        assert_eq!(key.bytes(), (*b" the\0\0\0\0\0\0\0\0\0\0\0\x04", 4));
        assert!(words.insert_short(key, &[262]));
        let entry = words.short.iter().find(|entry| entry.high != 0).unwrap();
        assert_eq!(entry.high >> 56, 0x14);
        let mut ids = Vec::new();
        assert!(words.emit_short(key, words.prefetch_short(key), &mut ids));
        assert_eq!(ids, [262]);
    }
}
