//! A set of bytes, and where they occur in a text: 64 bytes are checked together.
//!
//! Look here for how text is skipped quickly if only few of its characters matter: the search is for
//! the bytes that begin these.

/// Bytes that are read together.
const BYTES_AT_ONCE: usize = 64;

/// A set of bytes. One whose 16 rows of 16 bytes are of more than eight kinds contains some other bytes
/// too.
#[derive(Debug, Default)]
pub struct ByteSet {
    /// By the lower half of a byte: the bits of the upper halves with which it is a member.
    lower: [u8; 16],
    /// By the upper half of a byte: its bit. Halves that go with the same lower ones share one.
    upper: [u8; 16],
}

impl ByteSet {
    /// The bytes for which `is_member` holds, and perhaps others.
    pub fn new(is_member: impl Fn(u8) -> bool) -> Self {
        let mut set = Self::default();
        let mut kinds: Vec<u16> = Vec::new();
        for upper in 0..16 {
            let lowers = (0..16).filter(|lower| is_member(upper << 4 | lower));
            let kind = lowers.fold(0_u16, |kind, lower| kind | 1 << lower);
            if kind == 0 {
                continue;
            }
            let number = match kinds.iter().position(|it| *it == kind) {
                Some(number) => number,
                None => {
                    kinds.push(kind);
                    kinds.len() - 1
                }
            };
            let bit = 1 << number.min(7);
            set.upper[usize::from(upper)] = bit;
            for lower in (0..16).filter(|lower| kind >> lower & 1 == 1) {
                set.lower[lower] |= bit;
            }
        }
        set
    }

    /// The first place in `text` at `from` or later where a byte of the set stands and `is_it` holds.
    #[inline]
    pub fn find(
        &self,
        text: &[u8],
        from: usize,
        is_it: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature that the function is compiled for.
            return unsafe { avx2::find(self, text, from, is_it) };
        }
        self.find_by(text, from, |block| self.portable(block), is_it)
    }

    /// As [`Self::find`], with what says which bytes of a block are members.
    #[inline(always)]
    fn find_by(
        &self,
        text: &[u8],
        from: usize,
        members: impl Fn(&[u8; BYTES_AT_ONCE]) -> u64,
        mut is_it: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut first = |mut members: u64, start: usize| {
            while members != 0 {
                let at = start + members.trailing_zeros() as usize;
                members &= members - 1;
                if is_it(at) {
                    return Some(at);
                }
            }
            None
        };
        let (blocks, rest) = text[from..].as_chunks();
        let mut at = from;
        for block in blocks {
            if let Some(found) = first(members(block), at) {
                return Some(found);
            }
            at += BYTES_AT_ONCE;
        }
        let mut last = [0; BYTES_AT_ONCE];
        last[..rest.len()].copy_from_slice(rest);
        first(members(&last) & ((1 << rest.len()) - 1), at)
    }

    fn portable(&self, block: &[u8; BYTES_AT_ONCE]) -> u64 {
        let is_member =
            |byte: u8| self.lower[usize::from(byte & 15)] & self.upper[usize::from(byte >> 4)] != 0;
        let bits = block.iter().zip(0..);
        bits.fold(0, |bits, (&byte, i)| bits | u64::from(is_member(byte)) << i)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! The same with AVX2: both halves of a byte are looked up, 32 bytes at a time.

    use std::arch::x86_64::*;

    use super::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn find(
        set: &ByteSet,
        text: &[u8],
        from: usize,
        is_it: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let table_of = |bytes: &[u8; 16]| {
            // SAFETY: the array is 16 bytes long.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
        };
        let (lower, upper) = (table_of(&set.lower), table_of(&set.upper));
        let halves = _mm256_set1_epi8(15);
        let members_of = |bytes: __m256i| {
            let low_halves = _mm256_and_si256(bytes, halves);
            let high_halves = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), halves);
            let found = _mm256_and_si256(
                _mm256_shuffle_epi8(lower, low_halves),
                _mm256_shuffle_epi8(upper, high_halves),
            );
            let none = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
            !_mm256_movemask_epi8(none) as u32
        };
        let members = |block: &[u8; BYTES_AT_ONCE]| {
            let start = block.as_ptr();
            // SAFETY: 32 bytes from either half on lie inside the block.
            let (first, second) = unsafe {
                let second = _mm256_loadu_si256(start.add(32).cast());
                (_mm256_loadu_si256(start.cast()), second)
            };
            u64::from(members_of(first)) | u64::from(members_of(second)) << 32
        };
        set.find_by(text, from, members, is_it)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_first_member_that_is_accepted_is_found() {
        let set = ByteSet::new(|byte| byte < b' ' || byte == 0xC3);
        let text = "a café\n".as_bytes();
        assert_eq!(set.find(text, 0, |_| true), Some(5));
        assert_eq!(set.find(text, 0, |at| text[at] == b'\n'), Some(7));
        assert_eq!(set.find(text, 0, |_| false), None);
    }

    #[test]
    fn every_processor_finds_all_members() {
        let mut numbers = ChaCha8Rng::seed_from_u64(4);
        for round in 0..5_000 {
            let kinds = numbers.random_range(0..12);
            let members: Vec<u8> = (0..kinds).map(|_| numbers.random()).collect();
            let set = ByteSet::new(|byte| members.contains(&byte));
            let length = numbers.random_range(0..200);
            let text: Vec<u8> = match round % 2 {
                0 => (0..length).map(|_| numbers.random()).collect(),
                _ => (0..length).map(|_| numbers.random_range(0..2)).collect(),
            };
            let from = numbers.random_range(0..=length);
            let is_it = |at: usize| members.contains(&text[at]);
            let expected = (from..length).find(|at| is_it(*at));
            assert_eq!(set.find(&text, from, is_it), expected);
            let portable = set.find_by(&text, from, |block| set.portable(block), is_it);
            assert_eq!(portable, expected);
            if members.len() <= 8 {
                assert_eq!(set.find(&text, from, |_| true), expected, "{members:?}");
            }
        }
    }
}
