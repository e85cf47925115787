//! A tag table: numbers by a few bits of their hash, sixteen to a cache line, small enough to stay in the
//! processor's cache.
//!
//! An entry is a number of 20 bits and 12 bits of the hash. So an entry with the right tag is only
//! probably the right one, and the caller compares the key that the number refers to.

use jeton_text::mem::prefetch::prefetch;

/// Entries that a line has room for.
const LINE: usize = 16;
/// Entries for each line, on the average: few lines are full.
const FILLED: usize = 10;
/// Bits of an entry that hold the number, below those of the tag.
const NUMBER: u32 = (1 << 20) - 1;
/// All numbers are below this.
pub const MAX_NUMBERS: u32 = NUMBER;
/// What a look-up returns if there is no number.
pub const NONE: u32 = u32::MAX;
/// Entries by which memory is prefetched ahead while a table is built.
pub const AHEAD: usize = 16;
const EMPTY: u32 = u32::MAX;

/// Entries that one look at memory brings, the empty ones last.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; LINE]);

impl Line {
    /// Which entries have a tag, as bits.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn tagged(&self, tag: u32) -> u32 {
        use std::arch::x86_64::*;
        // SAFETY: every such processor has SSE2, and the four parts lie inside the line.
        unsafe {
            let (tag, tags) = (_mm_set1_epi32(tag as i32), _mm_set1_epi32(!NUMBER as i32));
            let quarters: *const __m128i = self.0.as_ptr().cast();
            let alike = |quarter| {
                let entries = _mm_load_si128(quarters.add(quarter));
                _mm_cmpeq_epi32(_mm_and_si128(entries, tags), tag)
            };
            let first = _mm_packs_epi32(alike(0), alike(1));
            let second = _mm_packs_epi32(alike(2), alike(3));
            _mm_movemask_epi8(_mm_packs_epi16(first, second)) as u32
        }
    }

    /// Which entries have a tag, as bits.
    #[inline(always)]
    #[cfg(neon)]
    fn tagged(&self, tag: u32) -> u32 {
        use std::arch::aarch64::*;
        const WEIGHTS: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
        // SAFETY: all is compiled for processors with NEON; the four parts lie inside the line, and
        // there are eight weights.
        unsafe {
            let (tag, tags) = (vdupq_n_u32(tag), vdupq_n_u32(!NUMBER));
            let weights = vld1_u8(WEIGHTS.as_ptr());
            let alike = |quarter: usize| {
                let entries = vld1q_u32(self.0.as_ptr().add(4 * quarter));
                vmovn_u32(vceqq_u32(vandq_u32(entries, tags), tag))
            };
            let bits = |first, second| {
                let half = vmovn_u16(vcombine_u16(first, second));
                u32::from(vaddv_u8(vand_u8(half, weights)))
            };
            bits(alike(0), alike(1)) | bits(alike(2), alike(3)) << 8
        }
    }

    /// Which entries have a tag, as bits.
    #[inline(always)]
    #[cfg(not(any(target_arch = "x86_64", neon)))]
    fn tagged(&self, tag: u32) -> u32 {
        let alike = self.0.iter().map(|entry| u32::from(entry & !NUMBER == tag));
        alike.rev().fold(0, |bits, bit| bits << 1 | bit)
    }
}

/// The line in which a number is looked for, and its tag.
#[derive(Clone, Copy, Default)]
pub struct Address {
    line: u32,
    tag: u32,
}

impl From<Address> for u64 {
    #[inline(always)]
    fn from(Address { line, tag }: Address) -> Self {
        Self::from(line) << 32 | Self::from(tag)
    }
}

impl From<u64> for Address {
    #[inline(always)]
    fn from(address: u64) -> Self {
        Self {
            line: (address >> 32) as u32,
            tag: address as u32,
        }
    }
}

/// The entries of a line that have the same tag.
#[derive(Clone, Copy)]
pub struct Alike<'t> {
    line: &'t Line,
    bits: u32,
}

/// A table of numbers below [`MAX_NUMBERS`].
pub struct TagTable {
    lines: Vec<Line>,
}

impl TagTable {
    /// Room for this many numbers.
    pub fn new(count: usize) -> Self {
        Self {
            lines: vec![Line([EMPTY; LINE]); count.div_ceil(FILLED).max(1)],
        }
    }

    /// Where what has this hash belongs.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> Address {
        let line = ((hash >> 32) * self.lines.len() as u64) >> 32;
        // No tag is that of an empty entry.
        let tag = (hash as u32 & !NUMBER).min(EMPTY << 21);
        Address {
            line: line as u32,
            tag,
        }
    }

    /// Prefetches the memory of a place.
    #[inline(always)]
    pub fn prefetch(&self, place: Address) {
        prefetch(&self.lines, place.line as usize);
    }

    /// Puts a number there; says whether its line had room.
    pub fn insert(&mut self, place: Address, number: u32) -> bool {
        debug_assert!(number < MAX_NUMBERS);
        let Line(entries) = &mut self.lines[place.line as usize];
        let free = entries.iter_mut().find(|entry| **entry == EMPTY);
        free.map(|entry| *entry = place.tag | number).is_some()
    }

    /// The numbers whose tag is the place's.
    #[inline(always)]
    pub fn alike(&self, place: Address) -> Alike<'_> {
        let line = &self.lines[place.line as usize];
        Alike {
            line,
            bits: line.tagged(place.tag),
        }
    }

    /// The same place in the next line.
    #[inline]
    pub fn behind(&self, place: Address) -> Address {
        let line = match place.line as usize + 1 {
            line if line < self.lines.len() => line as u32,
            _ => 0,
        };
        Address { line, ..place }
    }
}

impl Alike<'_> {
    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Whether there is more than one.
    #[inline(always)]
    pub fn are_many(self) -> bool {
        self.bits & self.bits.wrapping_sub(1) != 0
    }

    /// Whether the line is full, so that more may lie after it.
    #[inline(always)]
    pub fn is_full(self) -> bool {
        self.line.0[LINE - 1] != EMPTY
    }

    /// The first one; 0 if there is none.
    #[inline(always)]
    pub fn first(self) -> u32 {
        let first = self.line.0[self.bits.trailing_zeros() as usize % LINE] & NUMBER;
        if self.bits == 0 { 0 } else { first }
    }

    /// All of them.
    pub fn all(self) -> impl Iterator<Item = u32> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let first = Self { bits, ..self };
            bits &= bits.wrapping_sub(1);
            (!first.is_empty()).then(|| first.first())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_tag_are_alike() {
        let mut table = TagTable::new(20);
        let (here, there) = (table.place(1 << 63 | 7 << 20), table.place(7 << 20));
        assert!(table.insert(here, 3) && table.insert(here, 5) && table.insert(there, 4));
        assert!(table.alike(here).all().eq([3, 5]));
        assert_eq!(table.alike(there).first(), 4);
        assert!(table.alike(table.place(8 << 20)).is_empty());
        assert_eq!(table.alike(table.place(u64::MAX)).first(), 0);
    }

    #[test]
    fn a_line_fills_up() {
        let mut table = TagTable::new(1);
        let place = table.place(0);
        assert!((0..LINE as u32).all(|number| table.insert(place, number)));
        assert!(!table.insert(place, 16) && table.alike(place).is_full());
        assert_eq!(table.alike(place).all().count(), LINE);
    }
}
