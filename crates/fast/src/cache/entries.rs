//! Entries of the word cache: a word, and its tokens or where they are.

use jeton_text::mem::short_keys::{LongKey, SHORT, ShortKey};

/// The most tokens in the entry of a short word.
pub const SHORT_IDS: usize = 4;
/// The most tokens in the entry of a long word.
pub const LONG_IDS: usize = 8;
/// Tokens outside the entries that can be copied at once: more than any short word has.
pub const SOME: usize = SHORT + 1;

/// Bits below the count of a short entry's tokens, which is above the length.
pub const SHORT_COUNT: u32 = 60;
/// Bits below the count of a long entry's tokens, which is above the length.
pub const LONG_COUNT: u32 = 56;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ShortEntry {
    pub low: u64,
    /// The rest of the bytes, the length, and the count of tokens; zero when empty.
    pub high: u64,
    /// The tokens; if they are too many, where their rows begin.
    pub ids: [u32; SHORT_IDS],
}

impl ShortEntry {
    pub const EMPTY: Self = Self {
        low: 0,
        high: 0,
        ids: [0; SHORT_IDS],
    };

    #[inline(always)]
    pub fn key(&self) -> ShortKey {
        ShortKey {
            low: self.low,
            high: self.high & ((1 << SHORT_COUNT) - 1),
        }
    }

    /// Zero if the key is the entry's.
    #[inline(always)]
    #[cfg(not(target_arch = "x86_64"))]
    fn differs(&self, key: ShortKey) -> u64 {
        (self.low ^ key.low) | (self.high ^ key.high) << (64 - SHORT_COUNT)
    }
}

/// Two entries that one look at memory brings.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [ShortEntry; 2]);

impl Line {
    pub const EMPTY: Self = Self([ShortEntry::EMPTY; 2]);

    /// The entry that has a key; which of the two it is cannot be guessed, but that it is one of them.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub fn find(&self, key: ShortKey) -> Option<&ShortEntry> {
        use std::arch::x86_64::*;
        let Self(entries) = self;
        // SAFETY: every such processor has SSE2; a key and the front of an entry are 16 bytes.
        let which = unsafe {
            let key = _mm_loadu_si128((&raw const key).cast());
            let differs = |entry: &ShortEntry| {
                let front = _mm_load_si128((&raw const *entry).cast());
                _mm_xor_si128(front, key)
            };
            let [first, second] = [differs(&entries[0]), differs(&entries[1])];
            let low = _mm_unpacklo_epi64(first, second);
            let high = _mm_unpackhi_epi64(first, second);
            let differ = _mm_or_si128(low, _mm_slli_epi64::<{ 64 - SHORT_COUNT as i32 }>(high));
            let halves = _mm_cmpeq_epi32(differ, _mm_setzero_si128());
            let alike = _mm_and_si128(halves, _mm_shuffle_epi32::<0b10_11_00_01>(halves));
            _mm_movemask_pd(_mm_castsi128_pd(alike))
        };
        (which != 0).then(|| &entries[which as usize >> 1 & 1])
    }

    /// The entry that has a key; which of the two it is cannot be guessed, but that it is one of them.
    #[inline(always)]
    #[cfg(not(target_arch = "x86_64"))]
    pub fn find(&self, key: ShortKey) -> Option<&ShortEntry> {
        let Self(entries) = self;
        let [first, second] = [entries[0].differs(key), entries[1].differs(key)];
        (first.min(second) == 0).then(|| &entries[usize::from(second == 0)])
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct LongEntry {
    /// The key, and the count of tokens; zeros when empty.
    pub words: [u64; 4],
    /// The tokens; if they are too many, where their rows begin.
    pub ids: [u32; LONG_IDS],
}

impl LongEntry {
    pub const EMPTY: Self = Self {
        words: [0; 4],
        ids: [0; LONG_IDS],
    };

    #[inline(always)]
    pub fn key(&self) -> LongKey {
        let [a, b, c, d] = self.words;
        LongKey([a, b, c, d & ((1 << LONG_COUNT) - 1)])
    }

    pub fn is_empty(&self) -> bool {
        self.words[3] == 0
    }
}

/// The tokens of a cached piece, and where they are.
#[derive(Clone, Copy)]
pub enum Found<'c> {
    /// A short entry's.
    Short(&'c [u32; SHORT_IDS], usize),
    /// A long entry's.
    Long(&'c [u32; LONG_IDS], usize),
    /// Outside, since no entry has room for them.
    Spilled(&'c [u32; SOME], usize),
    /// Outside, and more than these.
    Many(&'c [u32]),
}

impl<'c> Found<'c> {
    /// The tokens.
    pub fn as_slice(self) -> &'c [u32] {
        match self {
            Self::Short(ids, count) => &ids[..count],
            Self::Long(ids, count) => &ids[..count],
            Self::Spilled(ids, count) => &ids[..count],
            Self::Many(ids) => ids,
        }
    }
}
