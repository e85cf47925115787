//! The walk along text that no stage changes, by the lengths of tokens.
//!
//! Look here for how the spans of most tokens are found: along such text, they are
//! the sums of the lengths before them. `table` has the lengths. A token that holds part of a character
//! has the span of the whole character.

use std::mem::MaybeUninit;

use super::Row;
use super::ruler::At;
use super::table::{BYTE, CUT, INSIDE, LengthTable, MARKED, ODD, UNKNOWN, bytes_of, units_of};
use jeton_text::interrupt::position;
use jeton_text::text::Unit;

/// Of the character that is not at its end at some place, in units: how many count before the place, and
/// how many after it.
#[derive(Clone, Copy, Default)]
struct CutCharacter {
    before: usize,
    behind: usize,
}

impl LengthTable {
    /// Adds the spans of the first tokens, as long as the stages change nothing but spaces and each place is
    /// certain; returns their number. With `TRIMS`, spans leave out the spaces at their ends. With
    /// `COLLAPSES`, a `▁` covers a whole run of spaces, and no token splits a character.
    #[inline]
    pub fn run<const TRIMS: bool, const COLLAPSES: bool>(
        &self,
        text: &[u8],
        ids: &[u32],
        at: &mut At,
        spans: &mut Vec<Row>,
    ) -> usize {
        let before = spans.len();
        spans.reserve(ids.len());
        let rows = &mut spans.spare_capacity_mut()[..ids.len()];
        let mut done = 0;
        loop {
            let (ids, rows) = (&ids[done..], &mut rows[done..]);
            let plain = if self.has_cuts && !COLLAPSES {
                self.plain::<TRIMS, COLLAPSES, true>(text, ids, at, rows)
            } else {
                self.plain::<TRIMS, COLLAPSES, false>(text, ids, at, rows)
            };
            done += plain;
            let (ids, rows) = (&ids[plain..], &mut rows[plain..]);
            if TRIMS || ids.is_empty() {
                break;
            }
            match self.odd::<COLLAPSES>(text, ids, *at, rows) {
                Some((odd, next)) => {
                    done += odd;
                    *at = next;
                }
                None => break,
            }
        }
        // SAFETY: `plain` and `odd` write the rows of the tokens that they say they passed, one after
        // another, and these lie in the vector's room.
        unsafe { spans.set_len(before + done) };
        done
    }

    /// As [`Self::run`], for tokens of words: the spaces between words belong to no token.
    pub fn run_of_words(
        &self,
        text: &[u8],
        ids: &[u32],
        at: &mut At,
        spans: &mut Vec<Row>,
    ) -> usize {
        let before = spans.len();
        for &id in ids {
            let mut start = *at;
            while text.get(start.byte).is_some_and(|byte| *byte <= b' ') {
                start = start.after(1, 1);
            }
            let entry = self.entry(id);
            // The `▁` that a word begins with stands for no character.
            let mark = usize::from(entry & MARKED != 0);
            let next = start.after(bytes_of(entry) - mark, units_of(entry) - mark);
            if entry & (ODD | INSIDE | CUT) != 0 || next.byte > text.len() {
                break;
            }
            spans.push([start.units as i64, next.units as i64]);
            *at = next;
        }
        spans.len() - before
    }

    /// The same up to the first token that is odd or ends after the text; its span is written to
    /// `rows`, and so are those of the others. `CUTS` says whether it matters how much of a character a
    /// token holds. A function of its own, since its loop needs all registers.
    #[inline(never)]
    fn plain<const TRIMS: bool, const COLLAPSES: bool, const CUTS: bool>(
        &self,
        text: &[u8],
        ids: &[u32],
        at: &mut At,
        rows: &mut [MaybeUninit<Row>],
    ) -> usize {
        let mut now = *at;
        let mut cut = CutCharacter::default();
        if CUTS {
            cut = self.cut_at(text, now.byte);
        }
        let mut done = 0;
        for (&id, row) in ids.iter().zip(rows) {
            let Some(&entry) = self.entries.get(id as usize) else {
                break;
            };
            let next = now.after(bytes_of(entry), units_of(entry));
            let mut odd = ODD;
            if COLLAPSES && let Some(&second) = text.get(now.byte + 1) {
                // No branch, since half of all tokens begin with a space: all bits but the lower ones are
                // set where a space follows.
                odd |= MARKED & u32::from(second).wrapping_sub(u32::from(b' ') + 1);
            }
            if (entry & odd != 0) | (next.byte > text.len()) {
                break;
            }
            let inside = (entry & INSIDE) as usize / INSIDE as usize;
            let mut span = match (COLLAPSES, CUTS) {
                (true, _) => [now.units, next.units],
                (false, false) => [now.units.saturating_sub(inside), next.units],
                (false, true) => {
                    let start = now.units.saturating_sub(inside * cut.before);
                    cut = self.cut_behind(entry, cut);
                    [start, next.units + cut.behind]
                }
            };
            if TRIMS {
                span = trimmed(entry, span);
            }
            row.write(span.map(|it| it as i64));
            now = next;
            done += 1;
        }
        *at = now;
        done
    }

    /// What a token leaves unfinished, after what those before it left. No branches: in text that is not
    /// ASCII there is no telling which token splits.
    #[inline(always)]
    fn cut_behind(&self, entry: u32, cut: CutCharacter) -> CutCharacter {
        let is_cut = entry & CUT != 0;
        let length = match self.unit {
            Unit::Bytes => bytes_of(entry),
            _ => 0,
        };
        let [before, behind] = [entry >> 20 & 3, entry >> 22 & 3].map(|it| it as usize);
        // Nobody asks for `before` where the next token begins a character.
        CutCharacter {
            before: if is_cut { before } else { cut.before + length },
            behind: if is_cut {
                behind
            } else {
                cut.behind.saturating_sub(length)
            },
        }
    }

    /// The spans of the first of these tokens, which are odd or the text's last; says how many they
    /// are, each of them written to `rows`, and where the next one begins.
    #[inline]
    fn odd<const COLLAPSES: bool>(
        &self,
        text: &[u8],
        ids: &[u32],
        at: At,
        rows: &mut [MaybeUninit<Row>],
    ) -> Option<(usize, At)> {
        let entry = self.entry(ids[0]);
        let next = at.after(bytes_of(entry), units_of(entry));
        if entry & UNKNOWN != 0 || next.byte > text.len() {
            return None;
        }
        if !COLLAPSES || entry & (ODD | MARKED) != MARKED {
            return self.byte_tokens(text, ids, at, rows);
        }
        let spaces = &text[at.byte + 1..];
        let removed = position(spaces, |byte| byte > b' ').unwrap_or(spaces.len());
        let next = next.after(removed, removed);
        if next.byte > text.len() {
            return None;
        }
        rows[0].write([at.units as i64, next.units as i64]);
        Some((1, next))
    }

    /// The spans of the first of these tokens if they represent bytes, as in [`Self::odd`]: those of the
    /// characters that the bytes belong to.
    #[inline(never)]
    fn byte_tokens(
        &self,
        text: &[u8],
        ids: &[u32],
        at: At,
        rows: &mut [MaybeUninit<Row>],
    ) -> Option<(usize, At)> {
        let whole = self.whole_characters(text, ids, at, rows);
        if whole.0 > 0 {
            return Some(whole);
        }
        let entry = self.entry(ids[0]);
        let value = (entry >> 16) as u8;
        // `<` may also begin the spelling of such a token.
        if entry & BYTE == 0 || value == b'<' || text[at.byte] != value {
            return None;
        }
        let next = at.after(1, units_of(entry));
        let start = at.units.checked_sub(self.cut_at(text, at.byte).before)?;
        let end = next.units + self.cut_at(text, next.byte).behind;
        rows[0].write([start as i64, end as i64]);
        Some((1, next))
    }

    /// What stands unfinished at a place of a text.
    #[inline(always)]
    fn cut_at(&self, text: &[u8], at: usize) -> CutCharacter {
        let mut window = [0; 8];
        match at.checked_sub(4).and_then(|start| text.get(start..at + 4)) {
            Some(around) => window.copy_from_slice(around),
            None => {
                for (byte, place) in window.iter_mut().zip(at + 4..) {
                    let place = place.checked_sub(8);
                    *byte = place.and_then(|it| text.get(it)).copied().unwrap_or(0);
                }
            }
        }
        let window = u64::from_le_bytes(window);
        // The highest bit of each byte that is not the first one of its character.
        let inside = window & !(window << 1) & 0x8080_8080_8080_8080;
        let others = inside ^ 0x8080_8080_8080_8080;
        let is_cut = (inside >> 39 & 1) as usize;
        let (before, behind) = match self.unit {
            Unit::Characters => (1, 0),
            Unit::Bytes => {
                let before = 1 + (others as u32).leading_zeros() as usize / 8;
                (
                    before,
                    (others >> 32 | 1 << 32).trailing_zeros() as usize / 8,
                )
            }
            // A character of four bytes has two.
            Unit::Utf16 => {
                let highest = window as u32;
                let longest = highest & highest << 1 & highest << 2 & highest << 3 & 0x8080_8080;
                (1 + usize::from(longest != 0), 0)
            }
        };
        CutCharacter {
            before: is_cut * before,
            behind,
        }
    }

    /// The spans of characters whose bytes are the first of these tokens; says how many these are,
    /// each written to `rows`, and where the next one begins.
    fn whole_characters(
        &self,
        text: &[u8],
        ids: &[u32],
        at: At,
        rows: &mut [MaybeUninit<Row>],
    ) -> (usize, At) {
        let mut now = at;
        let mut done = 0;
        while let Some(first) = text.get(now.byte) {
            let length = match first {
                // `<` may also begin the spelling of such a token.
                0..0x80 if *first != b'<' => 1,
                0xC0..0xE0 => 2,
                0xE0..0xF0 => 3,
                0xF0.. => 4,
                _ => break,
            };
            let tokens = ids[done..].get(..length);
            let bytes = text.get(now.byte..now.byte + length);
            let (Some(tokens), Some(bytes)) = (tokens, bytes) else {
                break;
            };
            let is_byte = |(byte, id): (&u8, &u32)| {
                let entry = self.entry(*id);
                entry & BYTE != 0 && (entry >> 16) as u8 == *byte
            };
            if !bytes.iter().zip(tokens).all(is_byte) {
                break;
            }
            let next = now.after(length, self.unit.of_length(length));
            for row in &mut rows[done..done + length] {
                row.write([now.units as i64, next.units as i64]);
            }
            now = next;
            done += length;
        }
        (done, now)
    }
}

/// The span of a token without the spaces at its ends.
#[inline(always)]
fn trimmed(entry: u32, [start, end]: [usize; 2]) -> [usize; 2] {
    let back = match entry & CUT {
        0 => entry >> 20 & 15,
        _ => 0,
    };
    let start = start + (entry >> 16 & 15) as usize;
    [start, start.max(end - back as usize)]
}
