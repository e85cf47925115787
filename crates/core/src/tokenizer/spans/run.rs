//! The walk along text of a byte-level model that no stage changes, by the lengths of tokens.
//!
//! Look here for how the spans of most tokens are found: along such text, they are
//! the sums of the lengths before them. `table` has the lengths. A token that holds part of a character
//! has the span of the whole character.

use std::mem::MaybeUninit;

use super::Row;
use super::ruler::At;
use super::table::{CUT, INSIDE, LengthTable, ODD, bytes_of, units_of};
use jeton_text::text::Unit;

/// Of the character that is not at its end at some place, in units: how many count before the place, and
/// how many after it.
#[derive(Clone, Copy, Default)]
struct CutCharacter {
    before: usize,
    behind: usize,
}

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
        let done = if self.has_cuts {
            self.run_by::<TRIMS, true>(text, ids, at, rows)
        } else {
            self.run_by::<TRIMS, false>(text, ids, at, rows)
        };
        // SAFETY: the rows of the tokens that were passed are written one after another, in the vector's room.
        unsafe { spans.set_len(before + done) };
        done
    }

    /// As [`Self::run`], with spans written to `rows`. `CUTS` says whether it matters how much of a character
    /// a token holds. A function of its own, since its loop needs all registers.
    #[inline(never)]
    fn run_by<const TRIMS: bool, const CUTS: bool>(
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
            if (entry & ODD != 0) | (next.byte > text.len()) {
                break;
            }
            let inside = (entry & INSIDE) as usize / INSIDE as usize;
            let mut span = [now.units.saturating_sub(inside), next.units];
            if CUTS {
                let start = now.units.saturating_sub(inside * cut.before);
                cut = self.cut_behind(entry, cut);
                span = [start, next.units + cut.behind];
            }
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
