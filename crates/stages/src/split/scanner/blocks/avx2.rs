//! Character classes of a block of 64 bytes with AVX2: each half of a block is looked up in tables of sixteen
//! classes, eight tables for ASCII and four for a row; the upper bits of a byte choose one.

use std::arch::x86_64::*;

use super::super::classes::{MIXED, Row};
use super::*;

#[target_feature(enable = "avx2,bmi1,popcnt")]
pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Blocks) {
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
        let mut room = [0u8; BLOCK + 2];
        let bytes = padded(text, at, &mut room);
        let halves = load::<0>(bytes);
        // What was padded is zero.
        let high = mask(halves);
        let mut class = halves.map(|half| {
            let mut class = _mm256_setzero_si256();
            for (i, &table) in tables.iter().enumerate() {
                // Bytes of other rows come out with their top bit set, which looks up nothing.
                let row = _mm256_set1_epi8((i as i8) << 4);
                let index = _mm256_adds_epu8(_mm256_xor_si256(half, row), _mm256_set1_epi8(0x70));
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
            class = wide(classes, text, at, bytes, &block, class);
        }
        // What was padded is a zero byte, which may have a class.
        let having = |bits: u8| {
            let bits = _mm256_set1_epi8(bits as i8);
            valid & mask(class.map(|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, bits), bits)))
        };
        block.fill(having);
        let apostrophe = _mm256_set1_epi8(b'\'' as i8);
        block.apostrophe = mask(halves.map(|half| _mm256_cmpeq_epi8(half, apostrophe)));
        blocks.push(&block);
        at += BLOCK;
    }
}

/// Fills in the classes of the characters of two bytes or more of the block at `at`.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn wide(
    classes: &Classes,
    text: &[u8],
    at: usize,
    bytes: &[u8; BLOCK + 2],
    block: &Block,
    mut class: [__m256i; 2],
) -> [__m256i; 2] {
    let [first, second, third] = [load::<0>(bytes), load::<1>(bytes), load::<2>(bytes)];
    let short = first.map(|half| {
        let leads = _mm256_cmpgt_epi8(half, _mm256_set1_epi8(0xBFu8 as i8));
        _mm256_and_si256(
            leads,
            _mm256_cmpgt_epi8(_mm256_set1_epi8(0xF0u8 as i8), half),
        )
    });
    choose(&mut class, short, look_up(classes.by_first(), first));
    let mixed = block.lead2 & mask(equal(class, MIXED));

    let mut rest = mixed & !block.lead3;
    while rest != 0 {
        let byte = bytes[rest.trailing_zeros() as usize];
        let same = equal(first, byte);
        choose(&mut class, same, look_up(classes.by_second(byte), second));
        rest &= !mask(same);
    }
    let mut rest = mixed & block.lead3;
    while rest != 0 {
        let byte = bytes[rest.trailing_zeros() as usize];
        let same = equal(first, byte);
        rest &= !mask(same);
        choose(
            &mut class,
            same,
            look_up(classes.by_second_of_three(byte), second),
        );
        let mut mixed = mask(same) & mask(equal(class, MIXED));
        while mixed != 0 {
            let middle = bytes[mixed.trailing_zeros() as usize + 1];
            let [low, high] = equal(second, middle);
            let same = [
                _mm256_and_si256(same[0], low),
                _mm256_and_si256(same[1], high),
            ];
            choose(
                &mut class,
                same,
                look_up(classes.by_third(byte, middle), third),
            );
            mixed &= !mask(same);
        }
    }
    if block.lead4 != 0 {
        let long = one_by_one(classes, text, at, block.lead4);
        for (class, half) in class.iter_mut().zip([0, 32]) {
            // SAFETY: 32 bytes from either half on lie inside the block.
            let long = unsafe { _mm256_loadu_si256(long.as_ptr().add(half).cast()) };
            *class = _mm256_or_si256(*class, long);
        }
    }
    class
}

/// The bytes of a block from its byte `FROM` on.
#[inline]
#[target_feature(enable = "avx2")]
fn load<const FROM: usize>(bytes: &[u8; BLOCK + 2]) -> [__m256i; 2] {
    const { assert!(FROM <= 2) };
    // SAFETY: there are 66 bytes.
    [0, 32].map(|half| unsafe { _mm256_loadu_si256(bytes.as_ptr().add(half + FROM).cast()) })
}

/// The upper bits of bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(of: [__m256i; 2]) -> u64 {
    let [low, high] = of.map(|half| u64::from(_mm256_movemask_epi8(half) as u32));
    low | high << 32
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: [__m256i; 2], byte: u8) -> [__m256i; 2] {
    bytes.map(|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8)))
}

/// The entries of `row` that the low six bits of bytes choose.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up(row: &Row, bytes: [__m256i; 2]) -> [__m256i; 2] {
    bytes.map(|half| {
        let sixth = _mm256_and_si256(half, _mm256_set1_epi8(0x3F));
        let mut found = _mm256_setzero_si256();
        for (i, table) in row.0.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: a table is 16 bytes long.
            let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
            let chosen = _mm256_xor_si256(sixth, _mm256_set1_epi8((i as i8) << 4));
            let index = _mm256_adds_epu8(chosen, _mm256_set1_epi8(0x70));
            let entries = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), index);
            found = _mm256_or_si256(found, entries);
        }
        found
    })
}

/// Puts `new` into `class` where `places` has all bits set.
#[inline]
#[target_feature(enable = "avx2")]
fn choose(class: &mut [__m256i; 2], places: [__m256i; 2], new: [__m256i; 2]) {
    for (i, class) in class.iter_mut().enumerate() {
        *class = _mm256_blendv_epi8(*class, new[i], places[i]);
    }
}
