//! Text as bit masks: for each block of 64 bytes, which bytes begin a character of which class.
//!
//! All masks but `lead` are subsets of `lead`, so that "the next character" and "the character
//! before" are shifts by the length of a character.

use super::classes::{BLANK, Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, SPACE, UPPER, decode};

/// The bytes of a block.
pub const BLOCK: usize = 64;

/// The masks of one block; bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First bytes of characters.
    pub lead: u64,
    /// First bytes of characters of two bytes or more.
    pub lead2: u64,
    /// First bytes of characters of three bytes or more.
    pub lead3: u64,
    /// First bytes of characters of four bytes.
    pub lead4: u64,
    /// Letters.
    pub letter: u64,
    /// Numbers.
    pub number: u64,
    /// White space.
    pub space: u64,
    /// Carriage returns and line feeds.
    pub newline: u64,
    /// The space U+0020.
    pub blank: u64,
    /// Capitals, title case included.
    pub upper: u64,
    /// Small letters.
    pub lower: u64,
    /// Combining marks.
    pub mark: u64,
    /// Apostrophes.
    pub apostrophe: u64,
}

impl Block {
    /// Characters that are no letter, number or white space.
    #[inline(always)]
    pub fn other(&self) -> u64 {
        self.lead & !(self.letter | self.number | self.space)
    }

    /// Chinese characters and kana, where the classes are DeepSeek's.
    #[inline(always)]
    pub fn han(&self) -> u64 {
        self.upper
    }

    /// What is not printed, where the classes are DeepSeek's.
    #[inline(always)]
    pub fn unprinted(&self) -> u64 {
        self.lower
    }
}

/// For each character of `block`, whether `mask` holds the character after it.
#[inline(always)]
pub fn next(block: &Block, mask: u64, mask_after: u64) -> u64 {
    let one = mask >> 1 | mask_after << 63;
    if block.lead2 == 0 {
        return one & block.lead;
    }
    let two = mask >> 2 | mask_after << 62;
    let three = mask >> 3 | mask_after << 61;
    let four = mask >> 4 | mask_after << 60;
    (one & block.lead & !block.lead2)
        | (two & block.lead2 & !block.lead3)
        | (three & block.lead3 & !block.lead4)
        | (four & block.lead4)
}

/// For each character of `block`, whether `mask` holds the character before it.
#[inline(always)]
pub fn previous(block: &Block, mask: u64, before: &Block, mask_before: u64) -> u64 {
    let wide = block.lead2 | before.lead2 >> 60;
    if wide == 0 {
        return mask << 1 | mask_before >> 63;
    }
    let pick = |length_mask: fn(&Block) -> u64, shift: u32| {
        (mask & length_mask(block)) << shift | (mask_before & length_mask(before)) >> (64 - shift)
    };
    pick(|b| b.lead & !b.lead2, 1)
        | pick(|b| b.lead2 & !b.lead3, 2)
        | pick(|b| b.lead3 & !b.lead4, 3)
        | pick(|b| b.lead4, 4)
}

/// Classifies `text`, which begins and ends between characters, into `blocks`.
pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Vec<Block>) {
    blocks.clear();
    blocks.reserve(text.len().div_ceil(BLOCK));
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has the features that the function is compiled for.
        unsafe { avx512::classify(classes, text, blocks) };
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature that the function is compiled for.
        unsafe { avx2::classify(classes, text, blocks) };
        return;
    }
    classify_with(classes, text, blocks, masks_portable);
}

/// Calls `masks` on the class bytes of each block.
#[inline(always)]
fn classify_with(
    classes: &Classes,
    text: &[u8],
    blocks: &mut Vec<Block>,
    masks: impl Fn(&[u8; BLOCK], &[u8; BLOCK]) -> Block,
) {
    let ascii = classes.ascii();
    let mut at = 0;
    while at < text.len() {
        let mut bytes = [0u8; BLOCK];
        let length = (text.len() - at).min(BLOCK);
        bytes[..length].copy_from_slice(&text[at..at + length]);
        let mut class = [0u8; BLOCK];
        let mut lead = 0u64;
        for (i, &byte) in bytes[..length].iter().enumerate() {
            class[i] = if byte < 0x80 { ascii[byte as usize] } else { 0 };
            lead |= u64::from(byte & 0xC0 != 0x80) << i;
        }
        let wide = wide_characters(classes, text, at, lead, &bytes, &mut class);
        let mut block = masks(&class, &bytes);
        block.lead = lead;
        (block.lead2, block.lead3, block.lead4) = wide;
        blocks.push(block);
        at += BLOCK;
    }
}

/// Fills in the classes of the non-ASCII characters of a block; returns the masks of their lengths.
#[inline(always)]
fn wide_characters(
    classes: &Classes,
    text: &[u8],
    at: usize,
    lead: u64,
    bytes: &[u8; BLOCK],
    class: &mut [u8; BLOCK],
) -> (u64, u64, u64) {
    let (mut lead2, mut lead3, mut lead4) = (0u64, 0u64, 0u64);
    let mut rest = lead;
    while rest != 0 {
        let i = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        if bytes[i] < 0x80 {
            continue;
        }
        let (code_point, length) = decode(text, at + i);
        class[i] = classes.of(code_point);
        lead2 |= 1 << i;
        lead3 |= u64::from(length >= 3) << i;
        lead4 |= u64::from(length >= 4) << i;
    }
    (lead2, lead3, lead4)
}

fn masks_portable(class: &[u8; BLOCK], bytes: &[u8; BLOCK]) -> Block {
    let mut block = Block::default();
    for (i, (&class, &byte)) in class.iter().zip(bytes).enumerate() {
        let bit = |condition: bool| u64::from(condition) << i;
        block.letter |= bit(class & LETTER != 0);
        block.number |= bit(class & NUMBER != 0);
        block.space |= bit(class & SPACE != 0);
        block.newline |= bit(class & NEWLINE != 0);
        block.blank |= bit(class & BLANK != 0);
        block.upper |= bit(class & UPPER != 0);
        block.lower |= bit(class & LOWER != 0);
        block.mark |= bit(class & MARK != 0);
        block.apostrophe |= bit(byte == b'\'');
    }
    block
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! The same with AVX-512: one permutation looks up 64 classes.

    use std::arch::x86_64::*;

    use super::*;

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Vec<Block>) {
        let ascii = classes.ascii();
        // SAFETY: the table is 128 bytes long.
        let (table_low, table_high) = unsafe {
            (
                _mm512_loadu_si512(ascii.as_ptr().cast()),
                _mm512_loadu_si512(ascii.as_ptr().add(64).cast()),
            )
        };
        let mut at = 0;
        while at < text.len() {
            let left = text.len() - at;
            let valid = if left >= BLOCK {
                !0
            } else {
                (1u64 << left) - 1
            };
            // SAFETY: the mask keeps the load inside `text`.
            let bytes = unsafe { _mm512_maskz_loadu_epi8(valid, text.as_ptr().add(at).cast()) };
            let high = _mm512_movepi8_mask(bytes);
            let mut class =
                _mm512_maskz_permutex2var_epi8(valid & !high, table_low, bytes, table_high);
            let mut block = Block {
                lead: valid,
                ..Block::default()
            };
            if high != 0 {
                let top = |bits: u8, of: u8| {
                    _mm512_mask_cmpeq_epi8_mask(
                        high,
                        _mm512_and_si512(bytes, _mm512_set1_epi8(bits as i8)),
                        _mm512_set1_epi8(of as i8),
                    )
                };
                let continuation = top(0xC0, 0x80);
                block.lead = valid & !continuation;
                block.lead2 = high & !continuation;
                block.lead3 = top(0xE0, 0xE0);
                block.lead4 = top(0xF0, 0xF0);
                let mut wide = [0u8; BLOCK];
                let mut rest = block.lead2;
                while rest != 0 {
                    let i = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    wide[i] = classes.of(decode(text, at + i).0);
                }
                // SAFETY: `wide` is 64 bytes long.
                let wide = unsafe { _mm512_loadu_si512(wide.as_ptr().cast()) };
                class = _mm512_or_si512(class, wide);
            }
            let having = |bits: u8| _mm512_test_epi8_mask(class, _mm512_set1_epi8(bits as i8));
            block.letter = having(LETTER);
            block.number = having(NUMBER);
            block.space = having(SPACE);
            block.newline = having(NEWLINE);
            block.blank = having(BLANK);
            block.upper = having(UPPER);
            block.lower = having(LOWER);
            block.mark = having(MARK);
            block.apostrophe = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\'' as i8));
            blocks.push(block);
            at += BLOCK;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! The same with AVX2: each half of a block is looked up in eight tables of sixteen classes, of
    //! which the upper four bits of a byte choose one.

    use std::arch::x86_64::*;

    use super::*;

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Vec<Block>) {
        let ascii = classes.ascii();
        let mut tables = [_mm256_setzero_si256(); 8];
        for (table, row) in tables.iter_mut().zip(ascii.chunks_exact(16)) {
            // SAFETY: a row is 16 bytes long.
            *table = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(row.as_ptr().cast()) });
        }
        let mut at = 0;
        while at < text.len() {
            let length = (text.len() - at).min(BLOCK);
            let valid = !0u64 >> (BLOCK - length);
            let mut bytes = [0u8; BLOCK];
            bytes[..length].copy_from_slice(&text[at..at + length]);
            let halves = [0, 32].map(|half| {
                // SAFETY: 32 bytes from either half on lie inside the block.
                unsafe { _mm256_loadu_si256(bytes.as_ptr().add(half).cast()) }
            });
            let mask = |of: [__m256i; 2]| {
                let [low, high] = of.map(|half| u64::from(_mm256_movemask_epi8(half) as u32));
                low | high << 32
            };
            let high = mask(halves);
            let mut class = halves.map(|half| {
                let mut class = _mm256_setzero_si256();
                for (i, &table) in tables.iter().enumerate() {
                    // Bytes of other rows come out with their top bit set, which looks up nothing.
                    let row = _mm256_set1_epi8((i as i8) << 4);
                    let index =
                        _mm256_adds_epu8(_mm256_xor_si256(half, row), _mm256_set1_epi8(0x70));
                    class = _mm256_or_si256(class, _mm256_shuffle_epi8(table, index));
                }
                class
            });
            let mut block = Block {
                lead: valid,
                ..Block::default()
            };
            if high != 0 {
                let top = |bits: u8, of: u8| {
                    mask(halves.map(|half| {
                        let kept = _mm256_and_si256(half, _mm256_set1_epi8(bits as i8));
                        _mm256_cmpeq_epi8(kept, _mm256_set1_epi8(of as i8))
                    }))
                };
                block.lead = valid & !top(0xC0, 0x80);
                block.lead2 = high & block.lead;
                block.lead3 = top(0xE0, 0xE0);
                block.lead4 = top(0xF0, 0xF0);
                let mut wide = [0u8; BLOCK];
                let mut rest = block.lead2;
                while rest != 0 {
                    let i = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    wide[i] = classes.of(decode(text, at + i).0);
                }
                for (class, half) in class.iter_mut().zip([0, 32]) {
                    // SAFETY: 32 bytes from either half on lie inside the block.
                    let wide = unsafe { _mm256_loadu_si256(wide.as_ptr().add(half).cast()) };
                    *class = _mm256_or_si256(*class, wide);
                }
            }
            let having = |bits: u8| {
                let bits = _mm256_set1_epi8(bits as i8);
                mask(class.map(|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, bits), bits)))
            };
            // What was padded is a zero byte, which has no class.
            block.letter = having(LETTER);
            block.number = having(NUMBER);
            block.space = having(SPACE);
            block.newline = having(NEWLINE);
            block.blank = having(BLANK);
            block.upper = having(UPPER);
            block.lower = having(LOWER);
            block.mark = having(MARK);
            let apostrophe = _mm256_set1_epi8(b'\'' as i8);
            block.apostrophe = mask(halves.map(|half| _mm256_cmpeq_epi8(half, apostrophe)));
            blocks.push(block);
            at += BLOCK;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::classes::CLASSES;
    use super::*;

    #[test]
    fn every_processor_sees_the_same() {
        let mut numbers = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..500 {
            let length = numbers.random_range(0..300);
            let ascii = numbers.random_bool(0.5);
            let text: String = (0..length)
                .map(|_| match numbers.random_range(0..8) {
                    0..4 => char::from(numbers.random_range(0..128u8)),
                    _ if ascii => *[' ', 'a', 'Z', '9', '\n', '\'']
                        .choose(&mut numbers)
                        .unwrap(),
                    4 => numbers.random_range('\u{80}'..'\u{800}'),
                    5 | 6 => numbers.random_range('\u{800}'..='\u{ffff}'),
                    _ => numbers.random(),
                })
                .collect();
            let text = text.as_bytes();
            let (mut portable, mut other) = (Vec::new(), Vec::new());
            classify_with(&CLASSES, text, &mut portable, masks_portable);
            classify(&CLASSES, text, &mut other);
            assert_eq!(portable, other);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                other.clear();
                // SAFETY: the processor has the feature that the function is compiled for.
                unsafe { avx2::classify(&CLASSES, text, &mut other) };
                assert_eq!(portable, other);
            }
        }
    }

    #[test]
    fn neighbours_are_characters_not_bytes() {
        let text = "aé€🙂b";
        let mut blocks = Vec::new();
        classify(&CLASSES, text.as_bytes(), &mut blocks);
        let block = blocks[0];
        assert_eq!(block.lead, 0b100_0100_1011);
        let none = Block::default();
        for (at, _) in text.char_indices() {
            let bit = 1u64 << at;
            let after = text[at..].chars().next().map_or(0, |c| at + c.len_utf8());
            let expected = if after < text.len() { 1u64 << after } else { 0 };
            let got = previous(&block, bit, &none, 0) & block.lead;
            assert_eq!(got, expected);
            if expected != 0 {
                assert_eq!(next(&block, expected, 0), bit);
            }
        }
    }
}
