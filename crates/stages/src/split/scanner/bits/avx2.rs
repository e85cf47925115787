//! The bit masks of four blocks side by side, with AVX2.

use std::arch::x86_64::*;

use super::*;
use jeton_text::simd::Avx2;

/// The bits of four blocks. It exists only where an [`Avx2`] was found.
#[derive(Clone, Copy)]
pub struct Four(__m256i);

impl BitAnd for Four {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe { _mm256_and_si256(self.0, other) })
    }
}

impl BitOr for Four {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe { _mm256_or_si256(self.0, other) })
    }
}

impl BitXor for Four {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe { _mm256_xor_si256(self.0, other) })
    }
}

impl Not for Four {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi64x(-1)) })
    }
}

impl Bits for Four {
    type Processor = Avx2;
    const BLOCKS: usize = STRIP / 2;

    #[inline(always)]
    fn of(_: Avx2, strip: &[u64; STRIP], first: usize) -> Self {
        let half = &strip[first..][..Self::BLOCKS];
        // SAFETY: there is AVX2, as the first argument says; half a strip is 32 bytes.
        Self(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) })
    }

    #[inline(always)]
    fn put(self, strip: &mut [u64; STRIP], first: usize) {
        let half = &mut strip[first..][..Self::BLOCKS];
        // SAFETY: there is AVX2 where there is a `self`; half a strip is 32 bytes.
        unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn is_none(self) -> bool {
        // SAFETY: there is AVX2 where there is a `self`.
        unsafe { _mm256_testz_si256(self.0, self.0) != 0 }
    }

    #[inline(always)]
    fn later<const N: i32>(self, Self(before): Self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe {
            let two_before = _mm256_permute2x128_si256::<0x21>(before, self.0);
            let before = _mm256_alignr_epi8::<8>(self.0, two_before);
            let rest = _mm_cvtsi32_si128(64 - N);
            _mm256_or_si256(
                _mm256_slli_epi64::<N>(self.0),
                _mm256_srl_epi64(before, rest),
            )
        })
    }

    #[inline(always)]
    fn earlier<const N: i32>(self, Self(after): Self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe {
            let two_after = _mm256_permute2x128_si256::<0x21>(self.0, after);
            let after = _mm256_alignr_epi8::<8>(two_after, self.0);
            let rest = _mm_cvtsi32_si128(64 - N);
            _mm256_or_si256(
                _mm256_srli_epi64::<N>(self.0),
                _mm256_sll_epi64(after, rest),
            )
        })
    }

    #[inline(always)]
    fn plus(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX2 where there is a `self`.
        Self(unsafe { _mm256_add_epi64(self.0, other) })
    }
}
