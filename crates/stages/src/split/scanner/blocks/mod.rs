//! Text as bit masks: for each block of 64 bytes, which bytes begin a character of which class.
//!
//! All masks but `lead` are subsets of `lead`, so that "the next character" and "the character
//! before" are shifts by the length of a character.
//!
//! Characters of two and three bytes are in few rows of a table (see [`Classes`]): vector code takes the
//! first that is left, looks up all that share its row, and repeats until none is left.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(neon)]
mod neon;
#[cfg(any(test, not(neon)))]
mod portable;

use super::bits::{Bits, STRIP};
use super::classes::{BLANK, Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, SPACE, UPPER, decode};
use crate::split::BLOCK;
use jeton_text::mem::prefetch::prefetch;

/// Bytes by which text is prefetched ahead.
const AHEAD: usize = 16 * BLOCK;

/// The masks of one block, or of several side by side; bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block<B = u64> {
    /// First bytes of characters.
    pub lead: B,
    /// First bytes of characters of two bytes or more.
    pub lead2: B,
    /// First bytes of characters of three bytes or more.
    pub lead3: B,
    /// First bytes of characters of four bytes.
    pub lead4: B,
    /// Letters.
    pub letter: B,
    /// Numbers.
    pub number: B,
    /// White space.
    pub space: B,
    /// Carriage returns and line feeds.
    pub newline: B,
    /// The space U+0020.
    pub blank: B,
    /// Capitals, title case included.
    pub upper: B,
    /// Small letters.
    pub lower: B,
    /// Combining marks; where words end by case, not those of punctuation, once these are taken from them.
    pub mark: B,
    /// Apostrophes.
    pub apostrophe: B,
}

impl<B: Copy> Block<B> {
    /// All masks alike.
    const fn alike(bits: B) -> Self {
        Self {
            lead: bits,
            lead2: bits,
            lead3: bits,
            lead4: bits,
            letter: bits,
            number: bits,
            space: bits,
            newline: bits,
            blank: bits,
            upper: bits,
            lower: bits,
            mark: bits,
            apostrophe: bits,
        }
    }
}

impl<B: Bits> Block<B> {
    /// Characters that are no letter, number or white space.
    #[inline(always)]
    pub fn other(&self) -> B {
        self.lead & !(self.letter | self.number | self.space)
    }

    /// Letters that have no case, and marks.
    #[inline(always)]
    pub fn caseless(&self) -> B {
        (self.letter | self.mark) & !(self.upper | self.lower)
    }

    /// No characters, in as many blocks.
    #[inline(always)]
    pub fn none(&self) -> Self {
        Self::alike(self.lead.none())
    }

    /// The same blocks, which are known to have no characters of two bytes or more.
    #[inline(always)]
    pub fn narrow(&self) -> Self {
        let none = self.lead.none();
        Self {
            lead2: none,
            lead3: none,
            lead4: none,
            ..*self
        }
    }

    /// Chinese characters and kana, where the classes are DeepSeek's.
    #[inline(always)]
    pub fn han(&self) -> B {
        self.upper
    }

    /// What is not printed, where the classes are DeepSeek's.
    #[inline(always)]
    pub fn unprinted(&self) -> B {
        self.lower
    }
}

impl Block {
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
}

/// One mask of eight blocks: a line of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [u64; STRIP]);

/// Eight blocks side by side.
pub type Strip = Block<Line>;

impl Strip {
    const EMPTY: Self = Self::alike(Line([0; STRIP]));

    /// Some of the blocks, from one of a number on.
    #[inline(always)]
    fn some<B: Bits>(&self, processor: B::Processor, number: usize) -> Block<B> {
        Block {
            lead: B::of(processor, &self.lead.0, number),
            lead2: B::of(processor, &self.lead2.0, number),
            lead3: B::of(processor, &self.lead3.0, number),
            lead4: B::of(processor, &self.lead4.0, number),
            letter: B::of(processor, &self.letter.0, number),
            number: B::of(processor, &self.number.0, number),
            space: B::of(processor, &self.space.0, number),
            newline: B::of(processor, &self.newline.0, number),
            blank: B::of(processor, &self.blank.0, number),
            upper: B::of(processor, &self.upper.0, number),
            lower: B::of(processor, &self.lower.0, number),
            mark: B::of(processor, &self.mark.0, number),
            apostrophe: B::of(processor, &self.apostrophe.0, number),
        }
    }

    #[inline(always)]
    fn set(&mut self, number: usize, block: &Block) {
        self.lead.0[number] = block.lead;
        self.lead2.0[number] = block.lead2;
        self.lead3.0[number] = block.lead3;
        self.lead4.0[number] = block.lead4;
        self.letter.0[number] = block.letter;
        self.number.0[number] = block.number;
        self.space.0[number] = block.space;
        self.newline.0[number] = block.newline;
        self.blank.0[number] = block.blank;
        self.upper.0[number] = block.upper;
        self.lower.0[number] = block.lower;
        self.mark.0[number] = block.mark;
        self.apostrophe.0[number] = block.apostrophe;
    }
}

/// The blocks of a text, in strips; after the last one there are blocks without characters.
#[derive(Default)]
pub struct Blocks {
    strips: Vec<Strip>,
    count: usize,
}

impl Blocks {
    /// How many blocks the text has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The block of a number; one without characters after the last.
    #[inline(always)]
    pub fn get(&self, number: usize) -> Block {
        self.some((), number)
    }

    /// The block before that of a number; one without characters before the first.
    #[inline(always)]
    pub fn before(&self, number: usize) -> Block {
        number
            .checked_sub(1)
            .map_or_else(Block::default, |number| self.get(number))
    }

    /// The blocks from a number on, which is a multiple of how many they are.
    #[inline(always)]
    pub fn some<B: Bits>(&self, processor: B::Processor, number: usize) -> Block<B> {
        let strip = self.strips.get(number / STRIP).unwrap_or(&Strip::EMPTY);
        strip.some(processor, number % STRIP)
    }

    /// The first block from a number on of which this mask is not empty.
    #[inline]
    pub fn next_with(&self, from: usize, mask: impl Fn(&Strip) -> &Line) -> Option<usize> {
        let mut from = from;
        for strip in self.strips.get(from / STRIP..)? {
            let rest = &mask(strip).0[from % STRIP..];
            match rest.iter().position(|&bits| bits != 0) {
                Some(at) => return Some(from + at),
                None => from += rest.len(),
            }
        }
        None
    }

    /// Says which marks the block of a number has.
    pub fn set_marks(&mut self, number: usize, mark: u64) {
        self.strips[number / STRIP].mark.0[number % STRIP] = mark;
    }

    /// No blocks, and room for those of this many bytes.
    fn clear(&mut self, bytes: usize) {
        self.strips.clear();
        self.strips.reserve(bytes.div_ceil(BLOCK * STRIP));
        self.count = 0;
    }

    #[inline(always)]
    fn push(&mut self, block: &Block) {
        let number = self.count % STRIP;
        if number == 0 {
            self.strips.push(Strip::EMPTY);
        }
        if let Some(strip) = self.strips.last_mut() {
            strip.set(number, block);
        }
        self.count += 1;
    }
}

/// The characters of `mask` of one byte, of two, three and four.
#[inline(always)]
fn by_length<B: Bits>(block: &Block<B>, mask: B) -> [B; 4] {
    [
        mask & block.lead & !block.lead2,
        mask & block.lead2 & !block.lead3,
        mask & block.lead3 & !block.lead4,
        mask & block.lead4,
    ]
}

/// For each character of `block`, whether `mask` holds the character after it.
#[inline(always)]
pub fn next<B: Bits>(block: &Block<B>, mask: B, mask_after: B) -> B {
    let one = mask.earlier::<1>(mask_after);
    // A branch for a narrow block pays when blocks come one by one; several are narrowed by the caller.
    if B::BLOCKS == 1 && block.lead2.is_none() {
        return one & block.lead;
    }
    let [one, ..] = by_length(block, one);
    let [_, two, ..] = by_length(block, mask.earlier::<2>(mask_after));
    let [_, _, three, _] = by_length(block, mask.earlier::<3>(mask_after));
    let [.., four] = by_length(block, mask.earlier::<4>(mask_after));
    one | two | three | four
}

/// For each character of `block`, whether `mask` holds the character before it.
#[inline(always)]
pub fn previous<B: Bits>(block: &Block<B>, mask: B, before: &Block<B>, mask_before: B) -> B {
    if B::BLOCKS == 1 && (block.lead2 | before.lead2).is_none() {
        return mask.later::<1>(mask_before);
    }
    let [one, two, three, four] = by_length(block, mask);
    let [one_before, two_before, three_before, four_before] = by_length(before, mask_before);
    one.later::<1>(one_before)
        | two.later::<2>(two_before)
        | three.later::<3>(three_before)
        | four.later::<4>(four_before)
}

/// The characters of `mask` with none of it before them.
#[inline(always)]
pub fn first<B: Bits>(block: &Block<B>, mask: B, before: &Block<B>, mask_before: B) -> B {
    mask & !previous(block, mask, before, mask_before)
}

/// The bytes of `block` that the characters of `mask` have.
#[inline(always)]
pub fn bytes_of(block: &Block, mask: u64) -> u64 {
    mask | (mask & block.lead2) << 1 | (mask & block.lead3) << 2 | (mask & block.lead4) << 3
}

/// Classifies `text`, which begins and ends between characters, into `blocks`.
pub fn classify(classes: &Classes, text: &[u8], blocks: &mut Blocks) {
    blocks.clear(text.len());
    for at in (0..text.len().min(AHEAD)).step_by(BLOCK) {
        prefetch(text, at);
    }
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

/// The bytes of the block at `at` and the two after it; zeros, in `room`, if the text ends there. Asks
/// for text farther on.
#[cfg_attr(
    not(any(neon, target_arch = "x86_64")),
    allow(dead_code, reason = "only vectors are loaded by whole blocks")
)]
#[inline(always)]
fn padded<'t>(text: &'t [u8], at: usize, room: &'t mut [u8; BLOCK + 2]) -> &'t [u8; BLOCK + 2] {
    prefetch(text, at + AHEAD);
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
mod tests;
