//! With AVX-512: one instruction compares all bytes of a block, and one gathers the numbers of the
//! bits that are set.

use std::arch::x86_64::*;

use super::masks::{MAX_CHUNKS, ROW, Set, Way};
use crate::split::BLOCK;

const NUMBERS: [u8; BLOCK] = {
    let mut numbers = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        numbers[i] = i as u8;
        i += 1;
    }
    numbers
};

/// Proof that this processor has AVX-512 with its instructions for bytes and for packing them, and
/// what came long before it, and that a place has 64 bits.
#[derive(Clone, Copy)]
pub struct Avx512(());

impl Avx512 {
    pub fn detected() -> Option<Self> {
        let has_all = usize::BITS == 64
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Self(()))
    }
}

impl Way for Avx512 {
    #[inline(always)]
    fn mask(self, block: &[u8; BLOCK], set: &Set) -> u64 {
        // SAFETY: there is AVX-512 where there is a `self`; a block has 64 bytes.
        unsafe {
            let bytes = _mm512_loadu_si512(block.as_ptr().cast());
            set.iter().fold(0, |inside, range| {
                let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(*range.start() as i8));
                let span = _mm512_set1_epi8((range.end() - range.start()) as i8);
                inside | _mm512_cmple_epu8_mask(above, span)
            })
        }
    }

    #[inline(always)]
    fn write(
        self,
        mask: u64,
        base: usize,
        places: &mut [usize; MAX_CHUNKS],
        count: usize,
    ) -> usize {
        let behind = count + mask.count_ones() as usize;
        let room = places[count..].first_chunk_mut::<BLOCK>();
        let room = room.expect("no block has more places than bytes");
        // SAFETY: there is AVX-512 where there is a `self`; a row is eight numbers of 64 bits, and all
        // eight rows lie inside the room.
        unsafe {
            let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
            let base = _mm512_set1_epi64(base as i64);
            let packed = _mm512_maskz_compress_epi8(mask, numbers);
            let room = room.as_mut_ptr();
            let put = |two: __m128i, at: usize| {
                let first = _mm512_cvtepu8_epi64(two);
                let second = _mm512_cvtepu8_epi64(_mm_srli_si128::<{ ROW as i32 }>(two));
                let (low, high) = (room.add(at), room.add(at + ROW));
                _mm512_storeu_si512(low.cast(), _mm512_add_epi64(first, base));
                _mm512_storeu_si512(high.cast(), _mm512_add_epi64(second, base));
            };
            put(_mm512_castsi512_si128(packed), 0);
            if behind > count + 2 * ROW {
                put(_mm512_extracti32x4_epi32::<1>(packed), 2 * ROW);
                put(_mm512_extracti32x4_epi32::<2>(packed), 4 * ROW);
                put(_mm512_extracti32x4_epi32::<3>(packed), 6 * ROW);
            }
        }
        behind
    }
}
