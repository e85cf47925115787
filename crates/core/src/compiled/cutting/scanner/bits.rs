//! Bits of the bytes of one block, or of four or eight blocks side by side: what the patterns compute
//! with.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// How many blocks lie side by side.
pub const STRIP: usize = 8;

/// The bits of so many blocks, one after another in the text.
pub trait Bits:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Proof that the processor can do this.
    type Processor: Copy;
    /// How many blocks.
    const BLOCKS: usize;

    /// The bits of some of the blocks of a strip, from block `first` on.
    fn of(processor: Self::Processor, strip: &[u64; STRIP], first: usize) -> Self;

    /// Puts the bits there.
    fn put(self, strip: &mut [u64; STRIP], first: usize);

    /// No bits, as many as these are.
    #[inline(always)]
    fn none(self) -> Self {
        self & !self
    }

    /// Whether no bit is set.
    fn is_none(self) -> bool;

    /// Each bit `N` bytes later in the text; `before` is what the blocks before have.
    fn later<const N: i32>(self, before: Self) -> Self;

    /// Each bit `N` bytes earlier in the text; `after` is what the blocks behind have.
    fn earlier<const N: i32>(self, after: Self) -> Self;

    /// The sums, block by block, which carry nothing into the next block.
    fn plus(self, other: Self) -> Self;
}

impl Bits for u64 {
    type Processor = ();
    const BLOCKS: usize = 1;

    #[inline(always)]
    fn of((): (), strip: &[u64; STRIP], first: usize) -> Self {
        strip[first]
    }

    #[inline(always)]
    fn put(self, strip: &mut [u64; STRIP], first: usize) {
        strip[first] = self;
    }

    #[inline(always)]
    fn is_none(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn later<const N: i32>(self, before: Self) -> Self {
        self << N | before >> (64 - N)
    }

    #[inline(always)]
    fn earlier<const N: i32>(self, after: Self) -> Self {
        self >> N | after << (64 - N)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

#[cfg(target_arch = "x86_64")]
pub use avx2::Four;
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512, Eight};

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::compiled::lanes::Avx2;

    /// The bits of four blocks. There are some only where there was an [`Avx2`].
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
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::*;

    /// Proof that this processor has AVX-512 with shifts from one number into another.
    #[derive(Clone, Copy)]
    pub struct Avx512(());

    impl Avx512 {
        /// If it has.
        pub fn detected() -> Option<Self> {
            let has_all = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("bmi1");
            has_all.then_some(Self(()))
        }
    }

    /// The bits of eight blocks. There are some only where there was an [`Avx512`].
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
        fn of(Avx512(()): Avx512, strip: &[u64; STRIP], _: usize) -> Self {
            // SAFETY: there is AVX-512, as the first argument says; a strip is 64 bytes.
            Self(unsafe { _mm512_loadu_si512(strip.as_ptr().cast()) })
        }

        #[inline(always)]
        fn put(self, strip: &mut [u64; STRIP], _: usize) {
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
}

/// The bits of `run` that bits of `from`, which belong to it, reach: each to the end of its run.
/// `before` is what was reached in the blocks before: a run that goes on from there is reached too.
#[inline(always)]
pub fn through<B: Bits>(run: B, from: B, before: B) -> B {
    // Adding a bit to a run of ones carries through it.
    let mut reached = run & !run.plus(from) | from;
    loop {
        let more = run & !reached & reached.later::<1>(before);
        if more.is_none() {
            return reached;
        }
        reached = reached | run & !run.plus(more) | more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        assert_eq!(0b1001u64.later::<3>(1 << 61), 0b100_1001);
        assert_eq!(0b1001u64.earlier::<3>(1), 1 | 1 << 61);
        // Of three runs the second and, from the block before, the first.
        assert_eq!(through(0b1110_0110_0011u64, 0b0010_0000, 0), 0b0110_0000);
        assert_eq!(through(0b0110_0011u64, 0, 1 << 63), 0b0011);
    }

    /// Blocks side by side are what one block after another is.
    fn are_as_one_by_one<B: Bits>(processor: B::Processor) {
        use rand::{Rng, SeedableRng};

        let mut numbers = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        for round in 0..2_000 {
            let mut random = || {
                let dense = numbers.random_bool(0.3);
                [(); 3 * STRIP].map(|()| match numbers.random_range(0..4) {
                    0 => 0,
                    1 => !0,
                    _ if dense => numbers.random::<u64>() | numbers.random::<u64>(),
                    _ => numbers.random(),
                })
            };
            let [a, b] = [random(), random()];
            let first = STRIP + round % 2 * B::BLOCKS % STRIP;
            let some = |bits: &[u64; 3 * STRIP], first: usize| {
                let strip = bits[first / STRIP * STRIP..][..STRIP].try_into();
                B::of(processor, strip.expect("a strip"), first % STRIP)
            };
            let same = |which: &str, got: B, expected: &dyn Fn(usize) -> u64| {
                let mut strip = [0; STRIP];
                got.put(&mut strip, first % STRIP);
                let blocks = &strip[first % STRIP..][..B::BLOCKS];
                let expected: Vec<u64> = (first..first + B::BLOCKS).map(expected).collect();
                assert_eq!(blocks, expected, "{which}");
                assert_eq!(got.is_none(), expected.iter().all(|&bits| bits == 0));
            };
            let before = some(&a, first - B::BLOCKS);
            let here = some(&a, first);
            let after = some(&a, first + B::BLOCKS);
            let other = some(&b, first);
            same("none", here.none(), &|_| 0);
            same("and", here & other, &|i| a[i] & b[i]);
            same("or", here | other, &|i| a[i] | b[i]);
            same("xor", here ^ other, &|i| a[i] ^ b[i]);
            same("not", !here, &|i| !a[i]);
            same("plus", here.plus(other), &|i| a[i].wrapping_add(b[i]));
            same("later", here.later::<3>(before), &|i| {
                a[i].later::<3>(a[i - 1])
            });
            same("earlier", here.earlier::<2>(after), &|i| {
                a[i].earlier::<2>(a[i + 1])
            });
            let mut reached = vec![a[first - 1]];
            for i in first..first + B::BLOCKS {
                reached.push(through(a[i], a[i] & b[i], reached[i - first]));
            }
            same("through", through(here, here & other, before), &|i| {
                reached[i - first + 1]
            });
        }
    }

    #[test]
    fn one_block_is_as_one() {
        are_as_one_by_one::<u64>(());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn four_and_eight_are_as_one_by_one() {
        if let Some(avx2) = crate::compiled::lanes::Avx2::detected() {
            are_as_one_by_one::<Four>(avx2);
        }
        if let Some(avx512) = Avx512::detected() {
            are_as_one_by_one::<Eight>(avx512);
        }
    }
}
