//! How long the text is that each token spells, where text is left as it is.
//!
//! Look here for how the spans of most tokens are found: along text that no stage changes, they are
//! the sums of the lengths before them.

use std::borrow::Cow;

use super::Row;
use crate::interrupt::paced;
use crate::mem::lazy::Lazy;
use crate::model::sentencepiece::spec::PieceKind;
use crate::model::{Model, byte_token};
use crate::stages::Stages;
use crate::text::Unit;

/// What stands for a space.
pub const MARK: char = '▁';
/// The same in UTF-8.
pub const MARK_BYTES: [u8; 3] = [0xE2, 0x96, 0x81];
/// How many bytes are searched for it before any is found to be there.
const SEARCHED: usize = 1 << 12;

/// Whether a text holds a `▁`. Looked for at all places at once, since its last byte is common.
pub fn has_mark(text: &[u8]) -> bool {
    let [a, b, c] = MARK_BYTES;
    let starts = (0..text.len()).step_by(SEARCHED);
    paced(starts).any(|start| {
        let part = &text[start..text.len().min(start + SEARCHED + 2)];
        let [second, third] = [1, 2].map(|by| part.get(by..).unwrap_or_default());
        let places = part.iter().zip(second).zip(third);
        places.fold(false, |any, ((x, y), z)| {
            any | (*x == a) & (*y == b) & (*z == c)
        })
    })
}

/// How long each token is: bytes of the text in bits 0 to 7, units in bits 8 to 15, spaces in front in
/// bits 16 to 19 and at the end in bits 20 to 23 (of a token that stands for a byte, which), then flags.
#[derive(Debug)]
pub struct Table {
    unit: Unit,
    entries: Box<[u32]>,
    /// What has no room in an entry, by id.
    long: Vec<(u32, [usize; 2])>,
}

/// It has to be looked at.
pub const ODD: u32 = 1 << 24;
/// It is listed among the long ones.
const LONG: u32 = 1 << 25;
/// It holds a `▁`, which stands for a space or for itself.
pub const MARKED: u32 = 1 << 26;
/// It stands for a byte, and is spelled `<0x..>`.
pub const BYTE: u32 = 1 << 27;
/// What text it stands for is not known from what it is.
pub const UNKNOWN: u32 = 1 << 28;

/// It goes on with a word, and is spelled without the mark that says so.
pub const CONTINUES: u32 = 1 << 29;
/// It begins inside a character, which is one unit.
pub const INSIDE: u32 = 1 << 30;
/// It is odd only because characters and tokens may part at different places.
const PARTIAL: u32 = 1 << 31;
/// How many rows are made before they are copied.
const ROWS: usize = 16;

/// What a token is.
enum Spelling<'v> {
    Text(&'v [u8]),
    /// Behind other text of its word.
    Continues(&'v [u8]),
    Byte(u8),
    Unknown,
}

impl Table {
    /// The lengths of all tokens; `marks` says that `▁` is a space.
    fn new(stages: &Stages, unit: Unit, marks: bool) -> Option<Self> {
        if !Tables::have_room(stages) {
            return None;
        }
        let vocab = stages.model.vocab();
        let ids = vocab.max_id()? + 1;
        let mut long = Vec::new();
        let mut entry_of = |id: u32| {
            let mut flags = 0;
            let token = match spelling(stages, id) {
                Spelling::Unknown => return ODD | UNKNOWN,
                Spelling::Byte(value) => {
                    let units = unit.count(&[value]) as u32;
                    // `<` may also begin the spelling of such a token.
                    let partial = if value == b'<' { 0 } else { PARTIAL };
                    return ODD | BYTE | partial | 1 | units << 8 | u32::from(value) << 16;
                }
                Spelling::Text(token) => Cow::Borrowed(token),
                Spelling::Continues(token) => {
                    flags |= CONTINUES;
                    Cow::Borrowed(token)
                }
            };
            if token.is_empty() {
                flags |= ODD;
            }
            let plain = match std::str::from_utf8(&token) {
                Ok(text) if marks && text.contains(' ') => return ODD | UNKNOWN,
                Ok(text) if marks && text.contains(MARK) => {
                    flags |= MARKED;
                    Cow::Owned(text.replace(MARK, " ").into_bytes())
                }
                Ok(_) => token,
                // It matters where a token begins, and where spans are in bytes where it ends.
                Err(_) => {
                    let inside = token.first().is_some_and(|it| is_inside(*it));
                    flags |= match unit {
                        Unit::Characters if inside => INSIDE,
                        Unit::Utf16 if inside => ODD | PARTIAL,
                        Unit::Bytes => ODD | PARTIAL,
                        _ => 0,
                    };
                    token
                }
            };
            let (length, units) = (plain.len(), unit.count(&plain));
            let spaces = |count: Option<usize>| count.unwrap_or(length) as u32;
            let front = spaces(plain.iter().position(|it| *it != b' '));
            let back = spaces(plain.iter().rev().position(|it| *it != b' '));
            if length > 0xFF || front > 15 || back > 15 {
                long.push((id, [length, units]));
                return flags | ODD | LONG;
            }
            flags | length as u32 | (units as u32) << 8 | front << 16 | back << 20
        };
        let entries = (0..ids).map(&mut entry_of).collect();
        Some(Self {
            unit,
            entries,
            long,
        })
    }

    /// The length of a token, and whether there is something odd about it.
    #[inline(always)]
    pub fn entry(&self, id: u32) -> u32 {
        *self.entries.get(id as usize).unwrap_or(&(ODD | UNKNOWN))
    }

    /// How many bytes and units a token has.
    pub fn lengths(&self, id: u32, entry: u32) -> [usize; 2] {
        if entry & LONG != 0 {
            let at = self.long.binary_search_by_key(&id, |(id, _)| *id);
            return at.map_or([0, 0], |at| self.long[at].1);
        }
        [bytes_of(entry), units_of(entry)]
    }

    /// Adds the spans of the first of these tokens, as long as they lie along `text`, which is left as
    /// it is, and have no flag of `odd`; says how many they are. `TRIMS` says that spaces at their ends
    /// are left out.
    #[inline]
    pub fn run<const TRIMS: bool>(
        &self,
        text: &[u8],
        ids: &[u32],
        at: &mut At,
        odd: u32,
        spans: &mut Vec<Row>,
    ) -> usize {
        let At {
            mut byte,
            mut units,
        } = *at;
        let mut done = 0;
        for ids in ids.chunks(ROWS) {
            // Copying many is faster than asking for room for each.
            let mut rows = [Row::default(); ROWS];
            let mut count = 0;
            for (&id, row) in ids.iter().zip(&mut rows) {
                let entry = self.entry(id);
                let next = byte + bytes_of(entry);
                if entry & odd != 0 || next > text.len() {
                    let Some(span) = self.partial(text, entry, byte, units).filter(|_| !TRIMS)
                    else {
                        break;
                    };
                    *row = span;
                } else if TRIMS {
                    let start = units + (entry >> 16 & 15) as usize;
                    let end = units + units_of(entry) - (entry >> 20 & 15) as usize;
                    *row = [start as i64, end.max(start) as i64];
                } else {
                    let start = units.saturating_sub((entry & INSIDE) as usize / INSIDE as usize);
                    *row = [start as i64, (units + units_of(entry)) as i64];
                }
                (byte, units) = (next, units + units_of(entry));
                count += 1;
            }
            spans.extend_from_slice(&rows[..count]);
            done += count;
            if count < ids.len() {
                break;
            }
        }
        *at = At { byte, units };
        done
    }

    /// The span of a token that is odd only because it begins or ends inside a character.
    #[inline]
    fn partial(&self, text: &[u8], entry: u32, byte: usize, units: usize) -> Option<Row> {
        let next = byte + bytes_of(entry);
        let is_other = || entry & BYTE != 0 && text[byte] != (entry >> 16) as u8;
        if entry & PARTIAL == 0 || next > text.len() || is_other() {
            return None;
        }
        let begin = (0..=byte).rev().find(|at| !is_inside(text[*at]))?;
        let mut end = units + units_of(entry);
        if self.unit == Unit::Bytes {
            end += text[next..].iter().take_while(|it| is_inside(**it)).count();
        }
        let start = units.checked_sub(self.unit.count(&text[begin..byte]))?;
        Some([start as i64, end as i64])
    }
}

/// Whether a byte of UTF-8 is not the first one of its character.
pub fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes a token has that is not among the long ones.
#[inline(always)]
pub fn bytes_of(entry: u32) -> usize {
    (entry & 0xFF) as usize
}

/// The same in units.
#[inline(always)]
pub fn units_of(entry: u32) -> usize {
    (entry >> 8 & 0xFF) as usize
}

/// A place in a text: how many bytes and how many units stand before it.
#[derive(Clone, Copy)]
pub struct At {
    /// Bytes.
    pub byte: usize,
    /// Units.
    pub units: usize,
}

/// The tables of a tokenizer, by unit; each is made when it is first asked for.
#[derive(Debug)]
pub struct Tables([Lazy<Option<Table>>; 3]);

impl Tables {
    pub fn new() -> Self {
        Self([const { Lazy::new() }; 3])
    }

    /// Whether the ids have few gaps: with large ones, a table would be large and hold nothing.
    pub fn have_room(stages: &Stages) -> bool {
        let vocab = stages.model.vocab();
        let ids = vocab.max_id().map_or(0, |max| max as usize + 1);
        ids <= 4 * vocab.len() + (1 << 16)
    }

    /// The table of a unit, if there is room for one; `marks` says that `▁` is a space.
    pub fn of(&self, stages: &Stages, unit: Unit, marks: bool) -> Option<&Table> {
        let table = self.0[unit as usize].get(|| Table::new(stages, unit, marks));
        table.as_ref()
    }
}

/// What a token of the model spells, if text becomes it.
fn spelling(stages: &Stages, id: u32) -> Spelling<'_> {
    let model = &stages.model;
    let Some(token) = model.vocab().token(id) else {
        return Spelling::Unknown;
    };
    let may_be_byte = token.len() == byte_token(0).len() && token.starts_with(b"<0x");
    let byte = || match may_be_byte {
        true => (0..=u8::MAX).find(|byte| byte_token(*byte) == *token),
        false => None,
    };
    let (is_unknown, has_bytes) = match model {
        Model::Bpe(bpe) => {
            let unk_token = bpe.options().unk_token.as_deref();
            let is_unknown = unk_token.is_some_and(|it| it.as_bytes() == token);
            (is_unknown, bpe.options().byte_fallback)
        }
        Model::Characters(characters) => (characters.unk_id() == Some(id), false),
        // The tokens of the bytes of a character, or of several, all have the span of all of them.
        Model::Unigram(unigram) => {
            let is_byte = unigram.byte_fallback() && byte().is_some();
            (unigram.unk_id() == Some(id) || is_byte, false)
        }
        Model::SentencePiece(model) => match model.kind(id) {
            PieceKind::Byte => (false, true),
            PieceKind::Normal | PieceKind::UserDefined => (false, false),
            _ => (true, false),
        },
        Model::WordLevel(model) => (model.unk_token().as_bytes() == token, false),
        Model::WordPiece(model) => {
            let prefix = model.continuing_subword_prefix().as_bytes();
            if let Some(rest) = token.strip_prefix(prefix).filter(|_| !prefix.is_empty()) {
                return Spelling::Continues(rest);
            }
            (model.unk_token().as_bytes() == token, false)
        }
    };
    match (is_unknown, byte().filter(|_| has_bytes)) {
        (true, _) => Spelling::Unknown,
        (false, Some(byte)) => Spelling::Byte(byte),
        (false, None) => Spelling::Text(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_wherever_they_stand() {
        assert_eq!(MARK.to_string().as_bytes(), MARK_BYTES);
        for before in (0..8).chain(SEARCHED - 4..SEARCHED + 4) {
            let text = "a".repeat(before);
            assert!(!has_mark(text.as_bytes()));
            assert!(!has_mark(format!("{text}▂").as_bytes()));
            assert!(has_mark(format!("{text}▁").as_bytes()));
            assert!(has_mark(format!("{text}▁a").as_bytes()));
        }
    }
}
