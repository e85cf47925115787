//! Bytes to bits and bits to places: the steps of a scan that each family of processors has instructions for.

use crate::split::BLOCK;
use std::ops::RangeInclusive;

/// Blocks that are scanned before their chunks are handed on.
pub const BLOCKS_AT_ONCE: usize = 16;
/// Places that are written at a time.
const ROW: usize = 8;
/// Chunks, at most, that begin in this many blocks, and one that began before; and a row of room, since
/// whole rows are written.
pub const MAX_CHUNKS: usize = BLOCK * BLOCKS_AT_ONCE + 1 + ROW;

/// Sets of ASCII characters, each as ranges.
pub type Set = Vec<RangeInclusive<u8>>;

/// Writes `base + i` after the first `count` of `places` for each bit `i` of `mask`; returns how many there
/// are then. Whole rows are written, since how many bits are set is no guess that a processor often gets
/// right.
#[inline(always)]
pub fn write(mask: u64, base: usize, places: &mut [usize; MAX_CHUNKS], count: usize) -> usize {
    let mut rest = mask;
    let mut next = count;
    while rest != 0 {
        let row = places[next..].first_chunk_mut::<ROW>();
        for place in row.into_iter().flatten() {
            *place = base + rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
        }
        next += ROW;
    }
    count + mask.count_ones() as usize
}

/// Which bytes of a block are in `set`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn mask(block: &[u8; BLOCK], set: &Set) -> u64 {
    use std::arch::x86_64::*;

    // SAFETY: 16 bytes of the block's 64 are read, four times. The instructions are SSE2, which every
    // x86-64 processor has.
    unsafe {
        let parts = [0, 16, 32, 48].map(|at| _mm_loadu_si128(block.as_ptr().add(at).cast()));
        let mut inside = [_mm_setzero_si128(); 4];
        for range in set {
            let first = _mm_set1_epi8(*range.start() as i8);
            let span = _mm_set1_epi8((range.end() - range.start()) as i8);
            for (inside, bytes) in inside.iter_mut().zip(parts) {
                let above = _mm_sub_epi8(bytes, first);
                let within = _mm_cmpeq_epi8(_mm_min_epu8(above, span), above);
                *inside = _mm_or_si128(*inside, within);
            }
        }
        let bits = inside.map(|inside| u64::from(_mm_movemask_epi8(inside) as u16));
        bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
    }
}

/// Which bytes of a block are in `set`.
#[cfg(neon)]
#[inline(always)]
pub fn mask(block: &[u8; BLOCK], set: &Set) -> u64 {
    use std::arch::aarch64::*;

    use crate::split::neon::{bits, load};

    // SAFETY: all is compiled for processors with NEON.
    unsafe {
        bits(load(block).map(|bytes| {
            let mut inside = vdupq_n_u8(0);
            for range in set {
                let above = vsubq_u8(bytes, vdupq_n_u8(*range.start()));
                let span = vdupq_n_u8(range.end() - range.start());
                inside = vorrq_u8(inside, vcleq_u8(above, span));
            }
            inside
        }))
    }
}

/// Which bytes of a block are in `set`.
#[cfg(not(any(target_arch = "x86_64", neon)))]
pub fn mask(block: &[u8; BLOCK], set: &Set) -> u64 {
    let inside = |byte: &u8| set.iter().any(|range| range.contains(byte));
    let bits = block.iter().map(|byte| u64::from(inside(byte)));
    bits.enumerate().fold(0, |found, (i, bit)| found | bit << i)
}
