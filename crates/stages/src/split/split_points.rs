//! Split points: the pairs of characters between which a long word may be split without changing its
//! tokens, because they are adjacent in no token.
//!
//! No merge can cross such a place, so its two sides are merged independently. Text
//! without spaces falls apart into runs of a few characters, most of which the cache holds.

use crate::vocab::Vocab;
use jeton_text::mem::prefetch::prefetch;

/// Characters for which the table is prefetched ahead.
const PREFETCHED: usize = 32;
/// Bits of a hash of a pair of characters; two pairs with one hash only mean a split point fewer.
const BITS: u32 = 21;

/// The pairs of characters that are adjacent in some token. Between any other two a word may be split.
#[derive(Debug)]
pub struct SplitPoints {
    /// Pairs of whole characters, hashed.
    pairs: Vec<u64>,
    /// Last byte and first byte of pairs of which a token holds one only in part.
    partial: Vec<u64>,
}

impl SplitPoints {
    /// The pairs inside the tokens of `vocab`.
    pub fn new(vocab: &Vocab) -> Self {
        let mut split_points = Self {
            pairs: vec![0; 1 << (BITS - 6)],
            partial: vec![0; 1 << 10],
        };
        // Most neighbours are both ASCII, and come again and again.
        let mut ascii = vec![false; 1 << 14];
        for (token, _) in vocab.iter() {
            if token.is_ascii() {
                for pair in token.windows(2) {
                    ascii[usize::from(pair[0]) << 7 | usize::from(pair[1])] = true;
                }
            } else if let Ok(text) = std::str::from_utf8(token) {
                let mut left = None;
                for right in text.chars().map(u32::from) {
                    if let Some(left) = left.replace(right) {
                        split_points.join(left, right);
                    }
                }
            } else {
                split_points.join_inside(token);
            }
        }
        for (pair, _) in (0..).zip(&ascii).filter(|(_, inside)| **inside) {
            split_points.join(pair >> 7, pair & 0x7F);
        }
        split_points
    }

    /// Joins the neighbours inside a token that is not text.
    fn join_inside(&mut self, token: &[u8]) {
        for at in (1..token.len()).filter(|&at| token[at] & 0xC0 != 0x80) {
            let (left, right) = token.split_at(at);
            match (last_character(left), first_character(right)) {
                (Some(left), Some(right)) => self.join(left, right),
                _ => {
                    let bit = Self::ends(token[at - 1], token[at]);
                    self.partial[bit / 64] |= 1 << (bit % 64);
                }
            }
        }
    }

    /// Last byte and first byte of pairs of which a token holds one only in part, as bits.
    pub fn partial(&self) -> &[u64] {
        &self.partial
    }

    /// Notes that a token holds these two characters side by side.
    fn join(&mut self, left: u32, right: u32) {
        let bit = Self::hash(left, right);
        self.pairs[bit / 64] |= 1 << (bit % 64);
    }

    #[inline(always)]
    fn hash(left: u32, right: u32) -> usize {
        let key = u64::from(left) << 32 | u64::from(right);
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize
    }

    #[inline(always)]
    fn ends(left: u8, right: u8) -> usize {
        usize::from(left) << 8 | usize::from(right)
    }

    /// The end of the first part of `text[start..end]` that may be merged separately.
    #[inline]
    pub fn first_split_point(&self, text: &[u8], start: usize, end: usize) -> usize {
        let (mut left, length) = decode(text, start);
        let mut at = start + length;
        while at < end {
            let (right, length) = decode(text, at);
            if !self.may_hold_together(text, at, left, right) {
                return at;
            }
            left = right;
            at += length;
        }
        end
    }

    /// Writes the ends of the first parts of `text[start..end]` that may be merged separately to
    /// `ends`; returns how many they are. The table is prefetched for some characters before the first of
    /// them is looked up. A processor cannot guess whether a part ends, so each place is written, and
    /// counted or not.
    pub fn first_split_points<const N: usize>(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        ends: &mut [usize; N],
    ) -> usize {
        let (mut left, length) = decode(text, start);
        let mut at = start + length;
        let mut count = 0;
        let mut places = [(0, 0); PREFETCHED];
        while at < end {
            let mut asked = 0;
            while at < end && asked < PREFETCHED {
                let (right, length) = decode(text, at);
                let pair = Self::hash(left, right);
                prefetch(&self.pairs, pair / 64);
                places[asked] = (at, pair);
                asked += 1;
                left = right;
                at += length;
            }
            for &(at, pair) in &places[..asked] {
                ends[count] = at;
                count += usize::from(!self.holds_together(text, at, pair));
                if count == N {
                    return count;
                }
            }
        }
        ends[count] = end;
        count + 1
    }

    /// Whether some token may hold both characters that are next to the place `at`.
    #[inline(always)]
    fn may_hold_together(&self, text: &[u8], at: usize, left: u32, right: u32) -> bool {
        self.holds_together(text, at, Self::hash(left, right))
    }

    /// The same, for the pair of both characters.
    #[inline(always)]
    fn holds_together(&self, text: &[u8], at: usize, pair: usize) -> bool {
        let ends = Self::ends(text[at - 1], text[at]);
        let inside = self.pairs[pair / 64] >> (pair % 64) | self.partial[ends / 64] >> (ends % 64);
        inside & 1 != 0
    }
}

/// The code point and length of the character at `at` of valid UTF-8.
#[inline(always)]
pub fn decode(text: &[u8], at: usize) -> (u32, usize) {
    match text[at] {
        byte if byte < 0x80 => (u32::from(byte), 1),
        _ => super::scanner::decode(text, at),
    }
}

/// The character that `bytes` begin with, if all of it is there.
fn first_character(bytes: &[u8]) -> Option<u32> {
    let length = match bytes.first()? {
        ..0x80 => 1,
        0x80..0xC0 => return None,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    only_character(bytes.get(..length)?)
}

/// The character that `bytes` end in, if all of it is there.
fn last_character(bytes: &[u8]) -> Option<u32> {
    let first = bytes.iter().rposition(|&byte| byte & 0xC0 != 0x80)?;
    only_character(&bytes[first..])
}

/// The one character that `bytes` are.
fn only_character(bytes: &[u8]) -> Option<u32> {
    let mut characters = std::str::from_utf8(bytes).ok()?.chars();
    let only = characters.next()?;
    characters.next().is_none().then_some(only.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_where_no_token_spans() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = bytes.chain([b"ab".to_vec(), b"bc".to_vec()]);
        let split_points = SplitPoints::new(&Vocab::new(tokens.zip(0..)).unwrap());
        assert_eq!(split_points.first_split_point(b"abcab", 0, 5), 3);
        assert_eq!(split_points.first_split_point(b"abcab", 3, 5), 5);
        let mut ends = [0; 3];
        assert_eq!(
            split_points.first_split_points(b"abcabcab", 0, 8, &mut ends),
            3
        );
        assert_eq!(ends, [3, 6, 8]);
        assert_eq!(
            split_points.first_split_points("éabca".as_bytes(), 0, 6, &mut ends),
            3
        );
        assert_eq!(ends, [2, 5, 6]);
        assert_eq!(
            split_points.first_split_points(b"abcabcabca", 0, 10, &mut ends),
            3
        );
        assert_eq!(ends, [3, 6, 9]);
    }
}
