//! From bit masks to numbers: the positions of the set bits, many at a time.

/// Appends `base + i` to `places` for each bit `i` of `masks` that is set, bit 0 of the first mask
/// being 0.
pub fn set_bits(masks: &[u64], base: u32, places: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        unsafe { avx512::set_bits(masks, base, places) };
        return;
    }
    portable(masks, base, places);
}

fn portable(masks: &[u64], base: u32, places: &mut Vec<u32>) {
    for (&mask, base) in masks.iter().zip((base..).step_by(64)) {
        let mut rest = mask;
        places.reserve(64);
        while rest != 0 {
            places.push(base + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! The same with AVX-512: one instruction gathers the numbers of the bits that are set.

    use std::arch::x86_64::*;

    const NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut i = 0;
        while i < 64 {
            numbers[i] = i as u8;
            i += 1;
        }
        numbers
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub fn set_bits(masks: &[u64], base: u32, places: &mut Vec<u32>) {
        // SAFETY: the array is 64 bytes long.
        let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
        let mut base = _mm512_set1_epi32(base as i32);
        for &mask in masks {
            places.reserve(64);
            let count = mask.count_ones() as usize;
            let packed = _mm512_maskz_compress_epi8(mask, numbers);
            let quarters = [
                _mm512_castsi512_si128(packed),
                _mm512_extracti32x4_epi32::<1>(packed),
                _mm512_extracti32x4_epi32::<2>(packed),
                _mm512_extracti32x4_epi32::<3>(packed),
            ];
            for (i, quarter) in quarters.into_iter().enumerate() {
                if i > 0 && count <= 16 * i {
                    break;
                }
                let wide = _mm512_add_epi32(_mm512_cvtepu8_epi32(quarter), base);
                // SAFETY: room for 64 was reserved, and `i < 4`.
                unsafe {
                    let end = places.as_mut_ptr().add(places.len() + 16 * i);
                    _mm512_storeu_si512(end.cast(), wide);
                }
            }
            // SAFETY: `count` places, at most 64, were written.
            unsafe { places.set_len(places.len() + count) };
            base = _mm512_add_epi32(base, _mm512_set1_epi32(64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree() {
        let mut masks = vec![0, !0, 1, 1 << 63, 0x8000_0001_8000_0001];
        masks.extend((0..200u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (n % 60)));
        let (mut fast, mut slow) = (vec![7], vec![7]);
        set_bits(&masks, 5, &mut fast);
        portable(&masks, 5, &mut slow);
        assert_eq!(fast, slow);
        let mut few = Vec::new();
        set_bits(&[0b1001], 64, &mut few);
        assert_eq!(few, [64, 67]);
    }
}
