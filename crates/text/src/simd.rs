//! The lowest of sixteen numbers, by vector instructions where the processor has them.
//!
//! Look here for how short pieces find the pair to merge next.

/// Numbers that are compared at once; most pieces have no more symbols.
pub const LANES: usize = 16;

/// A way to find the lowest of sixteen numbers.
pub trait Lanes: Copy {
    /// The lowest number, and the first place where it is.
    fn lowest(self, ranks: &[u32; LANES]) -> (u32, usize);
}

/// Without vector instructions, for any processor.
#[derive(Clone, Copy)]
pub struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn lowest(self, ranks: &[u32; LANES]) -> (u32, usize) {
        let numbered = (0..)
            .zip(ranks)
            .map(|(at, &rank)| u64::from(rank) << 32 | at);
        let lowest = numbered.min().unwrap_or(0);
        ((lowest >> 32) as u32, lowest as u32 as usize)
    }
}

/// By AVX2, eight numbers at a time.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Proof that this processor has AVX2 and what came with it: BMI, BMI2 and LZCNT.
    pub fn detected() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt");
        has_all.then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    fn lowest(self, ranks: &[u32; LANES]) -> (u32, usize) {
        use std::arch::x86_64::*;
        // SAFETY: there is AVX2 where there is a `self`; both halves lie inside the numbers.
        unsafe {
            let first = _mm256_loadu_si256(ranks.as_ptr().cast());
            let second = _mm256_loadu_si256(ranks.as_ptr().add(8).cast());
            let eight = _mm256_min_epu32(first, second);
            let (low, high) = (
                _mm256_castsi256_si128(eight),
                _mm256_extracti128_si256::<1>(eight),
            );
            let four = _mm_min_epu32(low, high);
            let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            let all = _mm256_broadcastd_epi32(one);
            let is = |half| _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(half, all)));
            let places = is(first) | is(second) << 8;
            (
                _mm_cvtsi128_si32(one) as u32,
                places.trailing_zeros() as usize,
            )
        }
    }
}
