//! Stretches of text along which each byte stays one byte, so that lengths of tokens are places.
//!
//! Look here for when the lengths of tokens say where they stand although the normalizer changes text
//! elsewhere: a *kept stretch* is one of which each character is left or, if it is a space, becomes one
//! `▁` or nothing, whatever stands around the stretch, and behind which a character stands that leaves
//! something.

use super::table::MARK;
use crate::normalizer::CharacterSet;
use crate::split::safe_cuts::decode;

/// How many bytes are looked at together.
const BLOCK: usize = 16;
/// How far a stretch goes at most: what was looked at is still near when tokens are put there.
const FARTHEST: usize = 1 << 12;

/// What becomes of a character of ASCII before another one that is kept and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ascii {
    /// It is left as it is.
    Kept,
    /// One space, whatever stands around it, unless spaces collapse.
    Space,
    /// Something else, or that is not known.
    Other,
}

/// Which characters a normalizer leaves as they are.
#[derive(Debug)]
pub struct Kept {
    ascii: Box<[Ascii; 256]>,
    /// Blocks may be looked at: all that is printed is kept, but for these.
    has_blocks: bool,
    excluded: [u8; 4],
    /// A line end that is a space, or a space.
    line: u8,
    /// Whether a space behind a space is removed.
    collapses: bool,
    /// The characters beyond ASCII that are not left, or may change what stands before them.
    others: CharacterSet,
}

impl Kept {
    /// With what becomes of characters of ASCII, of which a space is one, and with those beyond that
    /// are not left or that may change what stands before them.
    pub fn new(mut ascii: Box<[Ascii; 256]>, collapses: bool, mut others: CharacterSet) -> Self {
        others.add(MARK.into(), true);
        ascii[usize::from(b' ')] = Ascii::Space;
        let is_other = |byte: &u8| ascii[usize::from(*byte)] != Ascii::Kept;
        // No character that is printed is zero.
        let mut excluded = [0; 4];
        let printed: Vec<u8> = (b'!'..=b'~').filter(is_other).collect();
        let has_blocks = printed.len() <= excluded.len();
        for (place, other) in excluded.iter_mut().zip(printed) {
            *place = other;
        }
        let line = match ascii[usize::from(b'\n')] {
            Ascii::Space => b'\n',
            _ => b' ',
        };
        Self {
            has_blocks,
            excluded,
            line,
            ascii,
            collapses,
            others,
        }
    }

    /// Whether a character becomes a space.
    pub fn is_space(&self, character: char) -> bool {
        u8::try_from(character).is_ok_and(|byte| self.is_space_byte(byte))
    }

    /// The same of a byte of UTF-8.
    pub fn is_space_byte(&self, byte: u8) -> bool {
        self.ascii[usize::from(byte)] == Ascii::Space
    }

    /// Whether a space that follows this character of ASCII is removed.
    pub fn removes_next(&self, byte: u8) -> bool {
        self.collapses && self.ascii[usize::from(byte)] == Ascii::Space
    }

    /// Adds kept text as it becomes.
    pub fn write(&self, text: &str, new: &mut Vec<u8>) {
        // Among what is not printed, spaces alone are kept.
        new.extend(text.bytes().map(|byte| byte.max(b' ')));
    }

    /// Where the kept stretch of `text` ends that begins at `at`; `after_space` says that a space that
    /// stands there is removed.
    pub fn end(&self, text: &str, at: usize, mut after_space: bool) -> usize {
        let bytes = text.as_bytes();
        let most = text.len().min(at + FARTHEST);
        // The last character that is kept is seen to leave something, but not yet what follows it.
        let (mut end, mut next) = (at, at);
        let mut next_block = at;
        while next < most {
            if next >= next_block
                && let Some(block) = bytes[next..].first_chunk()
            {
                next_block = next + BLOCK;
                if self.is_plain(block, after_space) {
                    next = next_block;
                    end = next - 1;
                    after_space = self.removes_next(bytes[end]);
                    continue;
                }
            }
            let Some(length) = self.length(text, next, after_space) else {
                return end;
            };
            after_space = self.removes_next(bytes[next]);
            end = next;
            next += length;
        }
        match next == text.len() {
            true => next,
            false => end,
        }
    }

    /// How long the character at `at` is, if it is kept before one that is.
    #[inline]
    pub fn length(&self, text: &str, at: usize, after_space: bool) -> Option<usize> {
        let bytes = text.as_bytes();
        let (character, length) = decode(bytes, at);
        let is_kept = match self.ascii[usize::from(bytes[at])] {
            _ if length > 1 => !self.others.may_have(character),
            class => (class == Ascii::Kept) | (class == Ascii::Space) & !after_space,
        };
        is_kept.then_some(length)
    }

    /// Whether all of a block but its last byte is kept, which is one of ASCII.
    #[inline(always)]
    fn is_plain(&self, block: &[u8; BLOCK + 1], after_space: bool) -> bool {
        let (line, excluded) = (self.line, self.excluded);
        let is_space = |byte: u8| (byte == b' ') | (byte == line);
        let is_kept = |byte: u8| {
            let is_printed = byte.wrapping_sub(b' ') <= b'~' - b' ';
            let is_excluded = excluded.iter().fold(false, |any, it| any | (*it == byte));
            (is_printed | (byte == line)) & !is_excluded
        };
        let all_kept = block.iter().fold(true, |all, &byte| all & is_kept(byte));
        let pairs = block[..BLOCK].iter().zip(&block[1..]);
        let doubled =
            self.collapses && pairs.fold(false, |any, (&a, &b)| any | (is_space(a) & is_space(b)));
        self.has_blocks && all_kept && !doubled && !(after_space && is_space(block[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascii() -> Box<[Ascii; 256]> {
        let mut ascii = Box::new([Ascii::Other; 256]);
        ascii[usize::from(b'!')..=usize::from(b'~')].fill(Ascii::Kept);
        ascii[usize::from(b'\t')] = Ascii::Space;
        ascii
    }

    fn kept(collapses: bool) -> Kept {
        let mut others = CharacterSet::default();
        "é…".chars().for_each(|c| others.add(c.into(), true));
        Kept::new(ascii(), collapses, others)
    }

    #[test]
    fn worked_example() {
        let end = |text: &str, after_space| kept(true).end(text, 0, after_space);
        assert_eq!(end("to be", false), 5);
        // What follows the last letter may be removed, and is then a part of its span.
        assert_eq!(end("to be\n", false), 4);
        assert_eq!(end("to beé", false), 4);
        assert_eq!(end("to жж…", false), 5);
        assert_eq!(end("to ж▁", false), 3);
        assert_eq!(end("to  be", false), 2);
        assert_eq!(end("to\t be", false), 2);
        assert_eq!(end("to\tbe", false), 5);
        assert_eq!(end(" be", true), 0);
        assert_eq!(kept(false).end("to  be", 0, false), 6);
    }

    #[test]
    fn blocks_end_where_characters_do() {
        let mut ascii = ascii();
        for line in [Ascii::Other, Ascii::Space] {
            ascii[usize::from(b'\n')] = line;
            ascii[usize::from(b'>')] = Ascii::Other;
            let others = || kept(true).others;
            let blocks = Kept::new(ascii.clone(), true, others());
            let characters = Kept {
                has_blocks: false,
                ..Kept::new(ascii.clone(), true, others())
            };
            for length in 0..100 {
                for odd in ["\n", "\n ", "\t", "\t ", "é", "  ", "▁", "ж", ">"] {
                    let text = format!("{}{odd}{}", "a b".repeat(length / 3), "c".repeat(50));
                    let ends = [&blocks, &characters].map(|it| it.end(&text, 0, false));
                    assert_eq!(ends[0], ends[1], "{text:?}");
                }
            }
        }
    }
}
