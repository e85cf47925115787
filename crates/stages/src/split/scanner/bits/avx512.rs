//! The bit masks of eight blocks side by side, with AVX-512.

use std::arch::x86_64::*;

use super::*;

/// Proof that this processor has AVX-512 with shifts from one number into another.
#[derive(Clone, Copy)]
pub struct Avx512(());

impl Avx512 {
    /// If it has.
    pub fn detected() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("bmi1");
        has_all.then_some(Self(()))
    }
}

/// The bits of eight blocks. It exists only where an [`Avx512`] was found.
#[derive(Clone, Copy)]
pub struct Eight(__m512i);

impl BitAnd for Eight {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX-512 where there is a `self`.
        Self(unsafe { _mm512_and_si512(self.0, other) })
    }
}

impl BitOr for Eight {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX-512 where there is a `self`.
        Self(unsafe { _mm512_or_si512(self.0, other) })
    }
}

impl BitXor for Eight {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX-512 where there is a `self`.
        Self(unsafe { _mm512_xor_si512(self.0, other) })
    }
}

impl Not for Eight {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: there is AVX-512 where there is a `self`.
        Self(unsafe { _mm512_xor_si512(self.0, _mm512_set1_epi64(-1)) })
    }
}

impl Bits for Eight {
    type Processor = Avx512;
    const BLOCKS: usize = STRIP;

    #[inline(always)]
    fn of(Avx512(()): Avx512, strip: &[u64; STRIP], first: usize) -> Self {
        debug_assert_eq!(first, 0);
        // SAFETY: there is AVX-512, as the first argument says; a strip is 64 bytes.
        Self(unsafe { _mm512_loadu_si512(strip.as_ptr().cast()) })
    }

    #[inline(always)]
    fn put(self, strip: &mut [u64; STRIP], first: usize) {
        debug_assert_eq!(first, 0);
        // SAFETY: there is AVX-512 where there is a `self`; a strip is 64 bytes.
        unsafe { _mm512_storeu_si512(strip.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn is_none(self) -> bool {
        // SAFETY: there is AVX-512 where there is a `self`.
        unsafe { _mm512_test_epi64_mask(self.0, self.0) == 0 }
    }

    #[inline(always)]
    fn later<const N: i32>(self, Self(before): Self) -> Self {
        // SAFETY: there is AVX-512 with shifts from one number into another where there is a
        // `self`.
        Self(unsafe {
            let before = _mm512_alignr_epi64::<7>(self.0, before);
            _mm512_shldi_epi64::<N>(self.0, before)
        })
    }

    #[inline(always)]
    fn earlier<const N: i32>(self, Self(after): Self) -> Self {
        // SAFETY: there is AVX-512 with shifts from one number into another where there is a
        // `self`.
        Self(unsafe {
            let after = _mm512_alignr_epi64::<1>(after, self.0);
            _mm512_shrdi_epi64::<N>(self.0, after)
        })
    }

    #[inline(always)]
    fn plus(self, Self(other): Self) -> Self {
        // SAFETY: there is AVX-512 where there is a `self`.
        Self(unsafe { _mm512_add_epi64(self.0, other) })
    }
}
