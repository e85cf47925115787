//! Character classes of a block of 64 bytes with AVX-512: one permutation looks up 64 classes, of ASCII or
//! of characters that share all bytes but the last.

use std::arch::x86_64::*;

use super::super::classes::{MIXED, Row};
use super::*;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Blocks) {
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
        prefetch(text, at + AHEAD);
        let left = text.len() - at;
        let valid = if left >= BLOCK {
            !0
        } else {
            (1u64 << left) - 1
        };
        // SAFETY: the mask keeps the load inside `text`.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(valid, text.as_ptr().add(at).cast()) };
        let high = _mm512_movepi8_mask(bytes);
        let mut class = _mm512_maskz_permutex2var_epi8(valid & !high, table_low, bytes, table_high);
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
            class = wide(classes, text, at, bytes, &block, class);
        }
        let having = |bits: u8| _mm512_test_epi8_mask(class, _mm512_set1_epi8(bits as i8));
        block.fill(having);
        block.apostrophe = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\'' as i8));
        blocks.push(&block);
        at += BLOCK;
    }
}

/// Fills in the classes of the characters of two bytes or more of the block at `at`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn wide(
    classes: &Classes,
    text: &[u8],
    at: usize,
    bytes: __m512i,
    block: &Block,
    class: __m512i,
) -> __m512i {
    // SAFETY: a row is 64 bytes long, and aligned to as many.
    let load = |row: &Row| unsafe { _mm512_load_si512(row.0.as_ptr().cast()) };
    let equal =
        |bytes: __m512i, byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let after = |count: usize| {
        let left = text.len().saturating_sub(at + count).min(BLOCK) as u32;
        let valid = 1u64.checked_shl(left).unwrap_or(0).wrapping_sub(1);
        // SAFETY: the mask keeps the load inside `text`.
        unsafe { _mm512_maskz_loadu_epi8(valid, text.as_ptr().wrapping_add(at + count).cast()) }
    };
    let short = block.lead2 & !block.lead4;
    let found = _mm512_permutexvar_epi8(bytes, load(classes.by_first()));
    let mixed = _mm512_mask_cmpeq_epi8_mask(short, found, _mm512_set1_epi8(MIXED as i8));
    let mut class = _mm512_mask_mov_epi8(class, short & !mixed, found);

    // A byte that begins a character is nothing else, so places that hold it need no mask.
    let second = after(1);
    let mut rest = mixed & !block.lead3;
    while rest != 0 {
        let first = text[at + rest.trailing_zeros() as usize];
        let same = equal(bytes, first);
        let row = load(classes.by_second(first));
        class = _mm512_mask_permutexvar_epi8(class, same, second, row);
        rest &= !same;
    }

    let mut rest = mixed & block.lead3;
    if rest != 0 {
        let third = after(2);
        while rest != 0 {
            let first = text[at + rest.trailing_zeros() as usize];
            let same = equal(bytes, first);
            rest &= !same;
            let row = load(classes.by_second_of_three(first));
            let found = _mm512_permutexvar_epi8(second, row);
            let mut mixed = same & equal(found, MIXED);
            class = _mm512_mask_mov_epi8(class, same, found);
            while mixed != 0 {
                let middle = text[at + mixed.trailing_zeros() as usize + 1];
                let same = same & equal(second, middle);
                let row = load(classes.by_third(first, middle));
                class = _mm512_mask_permutexvar_epi8(class, same, third, row);
                mixed &= !same;
            }
        }
    }

    if block.lead4 != 0 {
        let long = one_by_one(classes, text, at, block.lead4);
        // SAFETY: `long` is 64 bytes long.
        let long = unsafe { _mm512_loadu_si512(long.as_ptr().cast()) };
        class = _mm512_mask_mov_epi8(class, block.lead4, long);
    }
    class
}
