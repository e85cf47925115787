//! Hand-written scanners for the known patterns: text in, the first byte of each piece out.
//!
//! [`rules::Rules`] says what a pattern means, character by character. `block_scanner` computes the
//! same on blocks of 64 bytes with a few dozen bit operations each, or on several blocks at once. Places
//! that blocks cannot decide (long numbers with digits outside ASCII, white space that ends a text…) are
//! marked undecided and scanned again by the rules, from one safe split point to another.

mod bits;
mod block_scanner;
mod blocks;
#[cfg_attr(
    not(any(neon, target_arch = "x86_64")),
    allow(dead_code, reason = "rows of classes are for vectors")
)]
mod classes;
mod rules;
mod single_blocks;

use crate::split::BLOCK;
use bits::STRIP;
use blocks::{Blocks, classify, next, previous};
pub use classes::decode;
pub(super) use classes::{CLASSES, Classes, LETTER, NUMBER, SPACE};
use jeton_text::interrupt;
pub use rules::{Contraction, Numbers, Rules};

/// Bytes that are scanned at a time; their masks stay in the nearest cache.
const STRETCH: usize = 8 << 10;

/// The working memory of a scanner: cheap to create, and best kept for the next text.
///
/// Holds only working space, so it is cheap to make and best kept for the next text.
#[derive(Default)]
pub struct Scanner {
    blocks: Blocks,
    /// For each block, where pieces begin. There may be room for more blocks.
    starts: Vec<u64>,
    /// For each block, what it cannot decide; where there is anything, all is scanned again from the
    /// safe split point before the block to the one after it, and nothing else is wrong. As long as
    /// `starts`.
    undecided: Vec<u64>,
}

/// How far the text goes that a pattern sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// To the end of the line.
    Line,
}

impl Extent {
    /// Where it ends from `at`, if that is before `to`, where a piece begins whatever surrounds it.
    fn end(self, text: &[u8], at: usize, to: usize) -> usize {
        match self {
            Self::Whole => text.len(),
            Self::Line => {
                let feed = text[at..to].iter().position(|&byte| byte == b'\n');
                feed.map_or(text.len(), |feed| at + feed + 1)
            }
        }
    }
}

impl Scanner {
    /// Splits `text` under `rules`: calls `visit` with each stretch of it in order, as the stretch's
    /// offset, its length and the bits of the bytes that begin a piece. A stretch begins and ends
    /// between pieces.
    pub fn scan(&mut self, rules: Rules, text: &str, visit: impl FnMut(usize, usize, &[u64])) {
        self.scan_all(rules, Extent::Whole, text, visit);
    }

    /// Splits each line of `text`, its line feed included, as if it were a text of its own, and else as
    /// [`scan`](Self::scan) does.
    pub fn scan_lines(
        &mut self,
        rules: Rules,
        text: &str,
        visit: impl FnMut(usize, usize, &[u64]),
    ) {
        self.scan_all(rules, Extent::Line, text, visit);
    }

    fn scan_all(
        &mut self,
        rules: Rules,
        extent: Extent,
        text: &str,
        mut visit: impl FnMut(usize, usize, &[u64]),
    ) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            interrupt::poll();
            let end = stretch_end(bytes, start);
            self.scan_stretch(rules, extent, &bytes[start..end]);
            visit(start, end - start, &self.starts[..self.blocks.len()]);
            start = end;
        }
    }

    fn scan_stretch(&mut self, rules: Rules, extent: Extent, text: &[u8]) {
        self.scan_stretch_by(Self::mask_starts, rules, extent, text);
    }

    fn scan_stretch_by(
        &mut self,
        mask_starts: impl FnOnce(&mut Self, Rules, &[u8]),
        rules: Rules,
        extent: Extent,
        text: &[u8],
    ) {
        classify(rules.classes(), text, &mut self.blocks);
        let count = self.blocks.len();
        for bits in [&mut self.starts, &mut self.undecided] {
            let room = count.next_multiple_of(STRIP);
            if bits.len() < room {
                bits.resize(room, 0);
            }
        }
        mask_starts(self, rules, text);
        if rules.contraction != Contraction::None {
            self.cut_contractions(rules, text);
        }
        let ends_with_its_line = extent == Extent::Line && text.ends_with(b"\n");
        if !ends_with_its_line && ends_with_a_run_of_space(text) {
            self.undecided[count - 1] = !0;
        }
        if extent == Extent::Line {
            self.part_lines(text);
        }
        self.decide(rules, extent, text);
        // The first byte begins a piece whatever the masks say.
        self.starts[0] |= 1;
    }

    /// Splits `'s` and its like, where an apostrophe begins a piece or ends a word.
    fn cut_contractions(&mut self, rules: Rules, text: &[u8]) {
        let mut last_end = usize::MAX;
        let mut from = 0;
        while let Some(i) = self.blocks.next_with(from, |strip| &strip.apostrophe) {
            from = i + 1;
            let block = self.blocks.get(i);
            let mut rest = match rules.contraction {
                Contraction::Suffix => {
                    let before = self.blocks.before(i);
                    block.apostrophe
                        & previous(
                            &block,
                            block.letter | block.mark,
                            &before,
                            before.letter | before.mark,
                        )
                }
                _ => block.apostrophe & self.starts[i],
            };
            while rest != 0 {
                let at = i * BLOCK + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let Some(end) = rules.contraction_end(text, at) else {
                    continue;
                };
                if rules.contraction == Contraction::Suffix {
                    // Only a word takes one, and what ended in one before is no word.
                    if at == last_end {
                        continue;
                    }
                    self.clear(at);
                }
                last_end = end;
                self.clear(at + 1);
                if rules.classes().at(text, end).0 & (LETTER | classes::MARK) != 0 {
                    if rules.cased {
                        self.undecided[end / BLOCK] = !0;
                    }
                    self.set(end);
                }
            }
        }
    }

    /// Splits after each line feed, and no white space before one from it: under every one of the rules
    /// white space is one piece where it ends the text with a line feed.
    fn part_lines(&mut self, text: &[u8]) {
        let mut feeds_before = 0;
        for i in 0..self.blocks.len() {
            let [before, block] = [self.blocks.before(i), self.blocks.get(i)];
            let mut feeds = 0;
            let mut rest = block.newline;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                feeds |= u64::from(text[i * BLOCK + bit as usize] == b'\n') << bit;
            }
            let first = feeds << 1 | feeds_before >> 63;
            let after_space = previous(&block, block.space, &before, before.space);
            self.starts[i] = self.starts[i] & !(feeds & after_space) | first & block.lead;
            feeds_before = feeds;
        }
    }

    fn set(&mut self, at: usize) {
        self.starts[at / BLOCK] |= 1 << (at % BLOCK);
    }

    fn clear(&mut self, at: usize) {
        self.starts[at / BLOCK] &= !(1 << (at % BLOCK));
    }

    /// Scans undecided blocks again, character by character, between safe split points. For o200k's
    /// rules, which are the most involved, this is compiled with nothing left to decide.
    fn decide(&mut self, rules: Rules, extent: Extent, text: &[u8]) {
        match rules {
            Rules::O200K => self.decide_by(Rules::O200K, extent, text),
            rules => self.decide_by(rules, extent, text),
        }
    }

    #[inline(always)]
    fn decide_by(&mut self, rules: Rules, extent: Extent, text: &[u8]) {
        let mut decided = 0;
        for i in 0..self.blocks.len() {
            if self.undecided[i] == 0 || i * BLOCK + BLOCK <= decided {
                continue;
            }
            let from = (0..i)
                .rev()
                .map(|j| (j, self.safe_split_points(j)))
                .take_while(|(j, _)| (j + 1) * BLOCK > decided)
                .find(|(_, bits)| *bits != 0)
                .map_or(decided, |(j, bits)| {
                    (j * BLOCK + 63 - bits.leading_zeros() as usize).max(decided)
                });
            let mut end_block = i + 1;
            while end_block < self.blocks.len()
                && (self.undecided[end_block] != 0 || self.safe_split_points(end_block) == 0)
            {
                end_block += 1;
            }
            let to = if end_block < self.blocks.len() {
                end_block * BLOCK + self.safe_split_points(end_block).trailing_zeros() as usize
            } else {
                text.len()
            };
            self.clear_range(from, to);
            let mut at = from;
            while at < to {
                let end = extent.end(text, at, to);
                while at < to.min(end) {
                    self.set(at);
                    at = rules.piece_end(&text[..end], at);
                }
            }
            debug_assert_eq!(at, to);
            decided = to;
        }
    }

    fn clear_range(&mut self, from: usize, to: usize) {
        for (i, starts) in self
            .starts
            .iter_mut()
            .enumerate()
            .take(to.div_ceil(BLOCK))
            .skip(from / BLOCK)
        {
            let low = from.saturating_sub(i * BLOCK).min(BLOCK);
            let high = (to - i * BLOCK).min(BLOCK);
            let below = |n: usize| if n == BLOCK { !0 } else { (1u64 << n) - 1 };
            *starts &= !(below(high) & !below(low));
        }
    }

    /// Blanks between letters, letters after numbers and numbers after letters: under every one of the
    /// rules a piece begins there.
    fn safe_split_points(&self, i: usize) -> u64 {
        let blocks = &self.blocks;
        let [before, block, after] = [blocks.before(i), blocks.get(i), blocks.get(i + 1)];
        let after_letter = previous(&block, block.letter, &before, before.letter);
        let after_number = previous(&block, block.number, &before, before.number);
        block.blank & after_letter & next(&block, block.letter, after.letter)
            | block.number & after_letter
            | block.letter & after_number
    }
}

/// Of the bits of all blocks those of the strip that has block `number`.
#[inline(always)]
fn bits_of(bits: &mut [u64], number: usize) -> &mut [u64; STRIP] {
    let strip = &mut bits[number / STRIP * STRIP..][..STRIP];
    strip.try_into().expect("all strips are whole")
}

/// Whether the last two characters of `text` are white space.
fn ends_with_a_run_of_space(text: &[u8]) -> bool {
    let mut end = text.len();
    (0..2).all(|_| {
        let last = (0..end).rev().find(|&at| text[at] & 0xC0 != 0x80);
        end = last.unwrap_or(0);
        last.is_some_and(|last| CLASSES.at(text, last).0 & classes::SPACE != 0)
    })
}

/// Whether a text holds a letter, `\p{L}`.
pub fn has_letter(text: &str) -> bool {
    let mut places = text.char_indices();
    places.any(|(at, _)| CLASSES.at(text.as_bytes(), at).0 & LETTER != 0)
}

/// The end of the stretch that begins at `start`: a safe split point.
fn stretch_end(text: &[u8], start: usize) -> usize {
    safe_end(text, start, STRETCH, |_, _| true)
}

/// Where the part of `text` that begins at `start` and has about `reach` bytes ends, so that a
/// piece begins there whatever surrounds it. No such place near by: a longer part.
///
/// Only places that `accepts` count; its arguments are where the characters before and after the white
/// space begin that makes a place safe.
pub fn safe_end(
    text: &[u8],
    start: usize,
    mut reach: usize,
    accepts: impl Fn(usize, usize) -> bool,
) -> usize {
    loop {
        let limit = start.saturating_add(reach);
        if limit >= text.len() {
            return text.len();
        }
        if let Some(end) = last_safe(text, start, limit, &accepts) {
            return end;
        }
        reach *= 2;
    }
}

/// The last place in `start + 1..limit` where a piece begins whatever surrounds it: at a blank
/// between two letters, or at a letter after a newline after something that is no white space.
fn last_safe(
    text: &[u8],
    start: usize,
    limit: usize,
    accepts: impl Fn(usize, usize) -> bool,
) -> Option<usize> {
    let floor = (start + 2).max(limit.saturating_sub(STRETCH));
    let letter = |at: usize| CLASSES.at(text, at).0 & LETTER != 0;
    let before = |at: usize| {
        let mut first = at - 1;
        while first > 0 && text[first] & 0xC0 == 0x80 {
            first -= 1;
        }
        first
    };
    let is_space = |at: usize| CLASSES.at(text, at).0 & classes::SPACE != 0;
    (floor..limit).rev().find_map(|at| {
        let end = match text[at] {
            b' ' if letter(at + 1) && letter(before(at)) => at,
            b'\n' if letter(at + 1) && !is_space(before(at)) => at + 1,
            _ => return None,
        };
        accepts(before(at), at + 1).then_some(end)
    })
}

#[cfg(test)]
mod tests;
