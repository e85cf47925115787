//! 64 bytes in NEON's vectors, and the bit mask of a comparison, for which NEON needs several instructions.

use std::arch::aarch64::*;

/// 64 bytes, in their order.
pub type Bytes = [uint8x16_t; 4];

/// Reads 64 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub fn load(bytes: &[u8; 64]) -> Bytes {
    // SAFETY: 16 bytes from a multiple of 16 below 64 on are inside.
    [0, 16, 32, 48].map(|from| unsafe { vld1q_u8(bytes.as_ptr().add(from)) })
}

/// Which of 64 bytes have all bits set, where the others have none.
#[inline]
#[target_feature(enable = "neon")]
pub fn bits(of: Bytes) -> u64 {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: there are 16 weights.
    let weights = unsafe { vld1q_u8(WEIGHTS.as_ptr()) };
    // Eight bytes of different weights add up to a byte of bits, in three sums of neighbours.
    let [a, b, c, d] = of.map(|part| vandq_u8(part, weights));
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_in_the_order_of_the_bytes() {
        for mask in [
            0,
            !0,
            1,
            1 << 63,
            0x8000_0001_8000_0001,
            0x0123_4567_89AB_CDEF,
        ] {
            let bytes = std::array::from_fn(|i| if mask >> i & 1 == 1 { !0 } else { 0 });
            // SAFETY: every aarch64 processor of a target with NEON has it.
            assert_eq!(unsafe { bits(load(&bytes)) }, mask);
        }
    }
}
