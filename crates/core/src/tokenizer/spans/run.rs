//! The walk along text of a byte-level model that no stage changes, by the lengths of tokens.
//!
//! Look here for how the spans of most tokens are found: along such text, they are
//! the sums of the lengths before them. `table` has the lengths. A token that holds part of a character
//! has the span of the whole character.

use std::mem::MaybeUninit;

use super::Row;
use super::ruler::At;
use super::table::{INSIDE, LengthTable, ODD, bytes_of, units_of};
use jeton_text::text::Unit;

impl LengthTable {
    /// Adds the spans of the first tokens, up to one that is odd or ends after the text; returns their number.
    /// With `TRIMS`, spans leave out the spaces at their ends.
    pub fn run<const TRIMS: bool>(
        &self,
        text: &[u8],
        ids: &[u32],
        at: &mut At,
        spans: &mut Vec<Row>,
    ) -> usize {
        let before = spans.len();
        spans.reserve(ids.len());
        let rows = &mut spans.spare_capacity_mut()[..ids.len()];
        let done = match self.unit {
            Unit::Characters => self.run_by::<TRIMS, true>(text, ids, at, rows),
            Unit::Bytes | Unit::Utf16 => self.run_by::<TRIMS, false>(text, ids, at, rows),
        };
        // SAFETY: the rows of the tokens that were passed are written one after another, in the vector's room.
        unsafe { spans.set_len(before + done) };
        done
    }

    /// As [`Self::run`], with spans written to `rows`. `ALIKE` says that each character is one unit. A function
    /// of its own, since its loop needs all registers.
    #[inline(never)]
    fn run_by<const TRIMS: bool, const ALIKE: bool>(
        &self,
        text: &[u8],
        ids: &[u32],
        at: &mut At,
        rows: &mut [MaybeUninit<Row>],
    ) -> usize {
        let mut now = *at;
        let mut done = 0;
        for (&id, row) in ids.iter().zip(rows) {
            let Some(&entry) = self.entries.get(id as usize) else {
                break;
            };
            let next = now.after(bytes_of(entry), units_of(entry));
            if (entry & ODD != 0) | (next.byte > text.len()) {
                break;
            }
            let is_inside = entry & INSIDE != 0;
            let (before, behind) = if ALIKE {
                (usize::from(is_inside), 0)
            } else {
                self.around(text, is_inside, now.byte, next.byte)
            };
            let mut span = [now.units.saturating_sub(before), next.units + behind];
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

    /// How many units of the character that a token begins inside of count before the token, if it does; and
    /// how many of the one that it ends inside of count after it. A character counts where it begins, but that
    /// each of its bytes is a unit.
    #[inline(always)]
    fn around(&self, text: &[u8], is_inside: bool, start: usize, end: usize) -> (usize, usize) {
        let begins = |at: &usize| text[*at] & 0xC0 != 0x80;
        let first = |start: usize| (0..start).rev().find(begins).unwrap_or(0);
        match self.unit {
            Unit::Bytes => {
                let before = if is_inside { start - first(start) } else { 0 };
                let after = (end..text.len()).find(begins).unwrap_or(text.len());
                (before, after - end)
            }
            // A character of four bytes has two.
            Unit::Utf16 if is_inside => (1 + usize::from(text[first(start)] >= 0xF0), 0),
            Unit::Characters | Unit::Utf16 => (usize::from(is_inside), 0),
        }
    }
}

/// The span of a token without the spaces at its ends.
#[inline(always)]
fn trimmed(entry: u32, [start, end]: [usize; 2]) -> [usize; 2] {
    let start = start + (entry >> 16 & 15) as usize;
    [start, start.max(end - (entry >> 20 & 15) as usize)]
}
