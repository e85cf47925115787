//! Text as bit masks: for each block of 64 bytes, which bytes begin a character of which class.
//!
//! All masks but `lead` are subsets of `lead`, so that "the next character" and "the character
//! before" are shifts by the length of a character.
//!
//! Characters of two and three bytes are few rows of a table (see [`Classes`]): vector code takes the
//! first that is left, looks up all that share its row with it, and goes on until none is left.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(neon)]
mod neon;
#[cfg(any(test, not(neon)))]
mod portable;

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
    /// Combining marks; where words end by case, not those of punctuation, once runs were found.
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

    /// Letters that have no case, and marks.
    #[inline(always)]
    pub fn caseless(&self) -> u64 {
        (self.letter | self.mark) & !(self.upper | self.lower)
    }

    /// The same block, which is known to have no characters of two bytes or more.
    #[inline(always)]
    pub fn narrow(&self) -> Self {
        Self {
            lead2: 0,
            lead3: 0,
            lead4: 0,
            ..*self
        }
    }

    /// Fills in the characters of each class; `having` says which characters have a class bit.
    #[inline(always)]
    fn fill(&mut self, having: impl Fn(u8) -> u64) {
        self.letter = having(LETTER);
        self.number = having(NUMBER);
        self.space = having(SPACE);
        self.newline = having(NEWLINE);
        self.blank = having(BLANK);
        self.upper = having(UPPER);
        self.lower = having(LOWER);
        self.mark = having(MARK);
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

/// The bytes of `block` that the characters of `mask` have.
#[inline(always)]
pub fn bytes_of(block: &Block, mask: u64) -> u64 {
    mask | (mask & block.lead2) << 1 | (mask & block.lead3) << 2 | (mask & block.lead4) << 3
}

/// Classifies `text`, which begins and ends between characters, into `blocks`.
pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Vec<Block>) {
    blocks.clear();
    blocks.reserve(text.len().div_ceil(BLOCK));
    #[cfg(target_arch = "x86_64")]
    let counts_bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt");
    #[cfg(target_arch = "x86_64")]
    if counts_bits
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        unsafe { avx512::classify(classes, text, blocks) };
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if counts_bits && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the features that the function is compiled for.
        unsafe { avx2::classify(classes, text, blocks) };
        return;
    }
    #[cfg(neon)]
    {
        // SAFETY: the processor has the feature that all is compiled for.
        unsafe { neon::classify(classes, text, blocks) };
    }
    #[cfg(not(neon))]
    portable::classify(classes, text, blocks);
}

/// The bytes of the block at `at` and the two behind it; zeros, in `room`, if the text ends there.
#[inline(always)]
fn padded<'t>(text: &'t [u8], at: usize, room: &'t mut [u8; BLOCK + 2]) -> &'t [u8; BLOCK + 2] {
    let rest = &text[at..];
    rest.first_chunk().unwrap_or_else(|| {
        room[..rest.len()].copy_from_slice(rest);
        room
    })
}

/// The classes of the non-ASCII characters that begin at `leads` of the block at `at`.
#[inline(always)]
fn one_by_one(classes: &Classes, text: &[u8], at: usize, leads: u64) -> [u8; BLOCK] {
    let mut class = [0; BLOCK];
    let mut rest = leads;
    while rest != 0 {
        let i = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        class[i] = classes.of(decode(text, at + i).0);
    }
    class
}

#[cfg(test)]
mod tests {
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::classes::{CLASSES, DEEPSEEK, MARKED, NUMERIC};
    use super::*;

    /// Asserts that all forms that this processor runs see the same in `text`.
    fn same_on_every_processor(classes: &Classes, text: &str) {
        let text = text.as_bytes();
        let mut portable = Vec::new();
        portable::classify(classes, text, &mut portable);
        let same = |other: &[Block]| {
            let differs = portable.iter().zip(other).find(|(a, b)| a != b);
            assert_eq!(differs, None);
            assert_eq!(portable.len(), other.len());
        };
        let mut other = Vec::new();
        classify(classes, text, &mut other);
        same(&other);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            other.clear();
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

    /// Every character of Unicode, in its order, and behind one byte, two and three.
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
