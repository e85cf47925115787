//! Blocks: every processor sees the same in them.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::classes::{CLASSES, DEEPSEEK, MARKED, NUMERIC};
use super::*;

/// Asserts that all forms that this processor runs see the same in `text`.
fn same_on_every_processor(classes: &Classes, text: &str) {
    let text = text.as_bytes();
    let mut portable = Blocks::default();
    portable::classify(classes, text, &mut portable);
    let same = |other: &Blocks| {
        assert_eq!(portable.len(), other.len());
        let differs = (0..portable.len()).find(|&i| portable.get(i) != other.get(i));
        assert_eq!(differs, None);
    };
    let mut other = Blocks::default();
    classify(classes, text, &mut other);
    same(&other);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        other.clear(0);
        // SAFETY: the processor has the feature that the function is compiled for.
        unsafe { avx2::classify(classes, text, &mut other) };
        same(&other);
    }
}

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
        same_on_every_processor(&CLASSES, &text);
    }
}

#[test]
fn every_processor_sees_the_same_in_every_script() {
    const SCRIPTS: [(&str, char, char); 16] = [
        ("Latin", '\u{c0}', '\u{24f}'),
        ("Greek", '\u{370}', '\u{3ff}'),
        ("Cyrillic", '\u{400}', '\u{4ff}'),
        ("Hebrew", '\u{590}', '\u{5ff}'),
        ("Arabic", '\u{600}', '\u{6ff}'),
        ("Devanagari", '\u{900}', '\u{97f}'),
        ("Thai", '\u{e00}', '\u{e7f}'),
        ("punctuation", '\u{2000}', '\u{206f}'),
        ("kana", '\u{3000}', '\u{30ff}'),
        ("hexagrams and their neighbours", '\u{4d80}', '\u{4e3f}'),
        ("Han", '\u{4e00}', '\u{9fff}'),
        ("Hangul", '\u{ac00}', '\u{d7ff}'),
        ("full width", '\u{ff00}', '\u{ffff}'),
        ("Gothic to cuneiform", '\u{10330}', '\u{123ff}'),
        ("emoji", '\u{1f000}', '\u{1faff}'),
        ("the last", '\u{10ff00}', '\u{10ffff}'),
    ];
    let mut numbers = ChaCha8Rng::seed_from_u64(6);
    for (i, &(_, first, last)) in SCRIPTS.iter().enumerate() {
        for foreign in [0.0, 0.05, 0.3] {
            let mut text = String::new();
            // Characters begin at every place before the end of a block, and texts end at all.
            for lead_in in 0..BLOCK {
                text.clear();
                text.extend(std::iter::repeat_n('x', lead_in));
                for _ in 0..numbers.random_range(1..2 * BLOCK) {
                    let (first, last) = if numbers.random_bool(foreign) {
                        let &(_, first, last) = [("ASCII", ' ', '~'), SCRIPTS[i ^ 1]]
                            .choose(&mut numbers)
                            .unwrap();
                        (first, last)
                    } else {
                        (first, last)
                    };
                    text.push(numbers.random_range(first..=last));
                }
                same_on_every_processor(&CLASSES, &text);
            }
        }
    }
}

/// Every character of Unicode, in its order, and after one byte, two and three.
#[test]
fn every_processor_knows_every_character() {
    for lead_in in ["", "x", "xx", "xxx"] {
        let mut text = String::from(lead_in);
        text.extend('\0'..=char::MAX);
        for classes in [&CLASSES, &NUMERIC, &MARKED, &DEEPSEEK] {
            same_on_every_processor(classes, &text);
        }
    }
}

#[test]
fn neighbours_are_characters_not_bytes() {
    let text = "aé€🙂b";
    let mut blocks = Blocks::default();
    classify(&CLASSES, text.as_bytes(), &mut blocks);
    let block = blocks.get(0);
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
