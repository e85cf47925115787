//! Character classes of a block of 64 bytes with NEON: one instruction looks up sixteen bytes in a row of
//! 64 classes.

use std::arch::aarch64::*;

use super::super::super::neon::{Bytes, bits, load};
use super::super::classes::{MIXED, Row};
use super::*;

#[target_feature(enable = "neon")]
pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Blocks) {
    let (ascii_low, ascii_high) = classes.ascii().split_at(BLOCK);
    let [low, high] =
        [ascii_low, ascii_high].map(|half| table(half.first_chunk().expect("a half")));
    let mut at = 0;
    while at < text.len() {
        let length = (text.len() - at).min(BLOCK);
        let valid = !0u64 >> (BLOCK - length);
        let mut room = [0u8; BLOCK + 2];
        let bytes = padded(text, at, &mut room);
        let first = from::<0>(bytes);
        let mut class = first.map(|part| {
            // What is past the end of a table looks up nothing.
            let flipped = veorq_u8(part, vdupq_n_u8(0x40));
            vorrq_u8(vqtbl4q_u8(low, part), vqtbl4q_u8(high, flipped))
        });
        let mut block = Block {
            lead: valid,
            ..Block::default()
        };
        let least = |least: u8| bits(first.map(|part| vcgeq_u8(part, vdupq_n_u8(least))));
        let wide_bytes = least(0x80);
        if wide_bytes != 0 {
            block.lead2 = least(0xC0);
            block.lead = valid & !(wide_bytes & !block.lead2);
            block.lead3 = least(0xE0);
            block.lead4 = least(0xF0);
            class = wide(classes, text, at, bytes, &block, class);
        }
        // What was padded is a zero byte, which may have a class.
        let having = |bit: u8| valid & bits(class.map(|part| vtstq_u8(part, vdupq_n_u8(bit))));
        block.fill(having);
        block.apostrophe = bits(equal(first, b'\''));
        blocks.push(&block);
        at += BLOCK;
    }
}

/// Fills in the classes of the characters of two bytes or more of the block at `at`.
#[inline]
#[target_feature(enable = "neon")]
fn wide(
    classes: &Classes,
    text: &[u8],
    at: usize,
    bytes: &[u8; BLOCK + 2],
    block: &Block,
    mut class: Bytes,
) -> Bytes {
    let [first, second, third] = [from::<0>(bytes), from::<1>(bytes), from::<2>(bytes)];
    let short = first.map(|part| {
        let leads = vcgeq_u8(part, vdupq_n_u8(0xC0));
        vandq_u8(leads, vcltq_u8(part, vdupq_n_u8(0xF0)))
    });
    choose(&mut class, short, look_up(classes.by_first(), first));
    let mixed = block.lead2 & bits(equal(class, MIXED));

    // A byte that begins a character is nothing else, so places that hold it need no mask.
    let mut rest = mixed & !block.lead3;
    while rest != 0 {
        let byte = bytes[rest.trailing_zeros() as usize];
        let same = equal(first, byte);
        choose(&mut class, same, look_up(classes.by_second(byte), second));
        rest &= !bits(same);
    }

    let mut rest = mixed & block.lead3;
    while rest != 0 {
        let byte = bytes[rest.trailing_zeros() as usize];
        let same = equal(first, byte);
        let places = bits(same);
        rest &= !places;
        choose(
            &mut class,
            same,
            look_up(classes.by_second_of_three(byte), second),
        );
        let mut mixed = places & bits(equal(class, MIXED));
        while mixed != 0 {
            let middle = bytes[mixed.trailing_zeros() as usize + 1];
            let agree = equal(second, middle);
            let same = std::array::from_fn(|i| vandq_u8(same[i], agree[i]));
            choose(
                &mut class,
                same,
                look_up(classes.by_third(byte, middle), third),
            );
            mixed &= !bits(same);
        }
    }

    if block.lead4 != 0 {
        let long = load(&one_by_one(classes, text, at, block.lead4));
        class = std::array::from_fn(|i| vorrq_u8(class[i], long[i]));
    }
    class
}

/// The bytes of a block from its byte `FROM` on.
#[inline]
#[target_feature(enable = "neon")]
fn from<const FROM: usize>(bytes: &[u8; BLOCK + 2]) -> Bytes {
    load(bytes[FROM..].first_chunk().expect("at most two bytes on"))
}

/// 64 bytes to look up in.
#[inline]
#[target_feature(enable = "neon")]
fn table(row: &[u8; 64]) -> uint8x16x4_t {
    let [a, b, c, d] = load(row);
    uint8x16x4_t(a, b, c, d)
}

/// The entries of `row` that the low six bits of bytes choose.
#[inline]
#[target_feature(enable = "neon")]
fn look_up(row: &Row, bytes: Bytes) -> Bytes {
    let table = table(&row.0);
    bytes.map(|part| vqtbl4q_u8(table, vandq_u8(part, vdupq_n_u8(0x3F))))
}

#[inline]
#[target_feature(enable = "neon")]
fn equal(bytes: Bytes, byte: u8) -> Bytes {
    bytes.map(|part| vceqq_u8(part, vdupq_n_u8(byte)))
}

/// Puts `new` into `class` where `places` has all bits set.
#[inline]
#[target_feature(enable = "neon")]
fn choose(class: &mut Bytes, places: Bytes, new: Bytes) {
    *class = std::array::from_fn(|i| vbslq_u8(places[i], new[i], class[i]));
}
