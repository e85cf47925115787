//! Bits of the bytes of one block, or of four or eight blocks side by side: the numbers that the patterns
//! compute with.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::ops::{BitAnd, BitOr, BitXor, Not};

#[cfg(target_arch = "x86_64")]
pub use avx2::Four;
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512, Eight};

/// Blocks that lie side by side.
pub const STRIP: usize = 8;

/// The bits of this many blocks, one after another in the text.
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

    /// Each bit `N` bytes earlier in the text; `after` is what the blocks after have.
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
    fn shifts_and_runs_reach_into_the_next_block() {
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
        if let Some(avx2) = jeton_text::simd::Avx2::detected() {
            are_as_one_by_one::<Four>(avx2);
        }
        if let Some(avx512) = Avx512::detected() {
            are_as_one_by_one::<Eight>(avx512);
        }
    }
}
