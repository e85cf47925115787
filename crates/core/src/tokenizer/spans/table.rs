//! How long the text is that each token spells, where text is left as it is.
//!
//! Look here for how the spans of most tokens are found: along text that no stage changes, they are
//! the sums of the lengths before them.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use super::Row;
use super::known::UnknownRun;
use super::mark::MARK;
use super::ruler::At;
use crate::interrupt::Pace;
use crate::mem::lazy::Lazy;
use crate::model::sentencepiece::spec::PieceKind;
use crate::model::{Model, byte_token};
use crate::stages::Stages;
use crate::text::Unit;

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

/// How tokens write the spaces of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spaces {
    /// As they are.
    Plain,
    /// `▁`, one for each.
    Marked,
    /// `▁`, one for each run of them.
    Collapsed,
}

/// A stretch of a text that is left as it is, but for its spaces: from a place on, up to `end`.
pub struct Stretch<'s> {
    pub text: &'s [u8],
    pub end: usize,
    /// The flags of tokens that have to be looked at more closely.
    pub odd: u32,
    /// Whether what stands at the end ends a run of characters that are no tokens.
    pub ends_unknown: bool,
    /// What stands for characters that are no tokens, if it is certain where these end.
    pub unknown: Option<UnknownRun<'s>>,
}

/// What a token is.
enum Spelling<'v> {
    Text(&'v [u8]),
    /// Behind other text of its word.
    Continues(&'v [u8]),
    Byte(u8),
    Unknown,
}

impl Table {
    /// The lengths of all tokens.
    fn new(stages: &Stages, unit: Unit, spaces: Spaces) -> Option<Self> {
        let marks = spaces != Spaces::Plain;
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
                    // `<` may also begin the spelling of such a token, which a SentencePiece model does
                    // not take from text.
                    let odd = match &stages.model {
                        Model::SentencePiece(_) if value.is_ascii() && value != b' ' => 0,
                        _ if value == b'<' => ODD,
                        _ => ODD | PARTIAL,
                    };
                    return odd | BYTE | 1 | units << 8 | u32::from(value) << 16;
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
                    // Other spaces than one in front stand for runs of any length.
                    if spaces == Spaces::Collapsed && text.rfind(MARK) != Some(0) {
                        flags |= ODD;
                    }
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
            let blanks = |count: Option<usize>| count.unwrap_or(length) as u32;
            let front = blanks(plain.iter().position(|it| *it != b' '));
            let back = blanks(plain.iter().rev().position(|it| *it != b' '));
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

    /// Adds the spans of the first of these tokens, as long as they lie along the stretch and it is
    /// certain where; says how many they are. `TRIMS` says that spaces at their ends are left out,
    /// `COLLAPSES` that a `▁` stands for a run of spaces.
    #[inline]
    pub fn run<const TRIMS: bool, const COLLAPSES: bool>(
        &self,
        stretch: &Stretch<'_>,
        ids: &[u32],
        at: &mut At,
        spans: &mut Vec<Row>,
    ) -> usize {
        let Stretch { text, end, odd, .. } = *stretch;
        let before = spans.len();
        spans.reserve(ids.len());
        let rows = &mut spans.spare_capacity_mut()[..ids.len()];
        let mut now = *at;
        let mut done = 0;
        while done < ids.len() {
            let entry = self.entry(ids[done]);
            let next = At {
                byte: now.byte + bytes_of(entry),
                units: now.units + units_of(entry),
            };
            // One branch, since half of all tokens begin with a space.
            let is_run = match text.get(now.byte + 1) {
                Some(byte) if COLLAPSES => entry & MARKED & if *byte <= b' ' { MARKED } else { 0 },
                _ => 0,
            };
            if (entry & odd | is_run != 0) | (next.byte > end) {
                if TRIMS {
                    break;
                }
                match self.rare::<COLLAPSES>(stretch, &ids[done..], now, &mut rows[done..]) {
                    Some((tokens, next)) => {
                        done += tokens;
                        now = next;
                        continue;
                    }
                    None => break,
                }
            }
            let [start, end] = match TRIMS {
                true => {
                    let start = now.units + (entry >> 16 & 15) as usize;
                    let end = next.units - (entry >> 20 & 15) as usize;
                    [start, end.max(start)]
                }
                false => {
                    let inside = (entry & INSIDE) as usize / INSIDE as usize;
                    [now.units.saturating_sub(inside), next.units]
                }
            };
            rows[done].write([start as i64, end as i64]);
            now = next;
            done += 1;
        }
        // SAFETY: each round writes the rows that it adds to `done`, and they lie in the vector's room.
        unsafe { spans.set_len(before + done) };
        *at = now;
        done
    }

    /// The spans of the first of these tokens, which are odd or the stretch's last; says how many they
    /// are, each of them written to `rows`, and where the next one begins.
    #[inline(never)]
    fn rare<const COLLAPSES: bool>(
        &self,
        stretch: &Stretch<'_>,
        ids: &[u32],
        at: At,
        rows: &mut [MaybeUninit<Row>],
    ) -> Option<(usize, At)> {
        let Stretch { text, end, .. } = *stretch;
        let entry = self.entry(ids[0]);
        let mut next = At {
            byte: at.byte + bytes_of(entry),
            units: at.units + units_of(entry),
        };
        if entry & UNKNOWN != 0 {
            let unknown = stretch.unknown.filter(|it| it.id == ids[0])?;
            next = unknown.end(text, at, end, self.unit)?;
            if next.byte == end && !stretch.ends_unknown {
                return None;
            }
        } else if next.byte > end {
            return None;
        } else if COLLAPSES && entry & (ODD | MARKED) == MARKED {
            let mut removed = 0;
            let mut pace = Pace::default();
            while at.byte + 1 + removed < end && text[at.byte + 1 + removed] <= b' ' {
                pace.step();
                removed += 1;
            }
            (next.byte, next.units) = (next.byte + removed, next.units + removed);
            if next.byte > end {
                return None;
            }
        } else {
            if entry & BYTE != 0 {
                let (tokens, next) = self.whole_characters(stretch, ids, at, rows);
                if tokens > 0 {
                    return Some((tokens, next));
                }
            }
            rows[0].write(self.partial(&text[..end], entry, at)?);
            return Some((1, next));
        }
        rows[0].write([at.units as i64, next.units as i64]);
        Some((1, next))
    }

    /// The spans of characters whose bytes are the first of these tokens; says how many these are,
    /// each written to `rows`, and where the next one begins.
    fn whole_characters(
        &self,
        stretch: &Stretch<'_>,
        ids: &[u32],
        at: At,
        rows: &mut [MaybeUninit<Row>],
    ) -> (usize, At) {
        let text = &stretch.text[..stretch.end];
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
            let units = now.units + self.unit.of_length(length);
            for row in &mut rows[done..done + length] {
                row.write([now.units as i64, units as i64]);
            }
            now = At {
                byte: now.byte + length,
                units,
            };
            done += length;
        }
        (done, now)
    }

    /// The span of a token that is odd only because it begins or ends inside a character.
    #[inline]
    fn partial(&self, text: &[u8], entry: u32, at: At) -> Option<Row> {
        let At { byte, units } = at;
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

    /// The table of a unit, if there is room for one.
    pub fn of(&self, stages: &Stages, unit: Unit, spaces: Spaces) -> Option<&Table> {
        let table = self.0[unit as usize].get(|| Table::new(stages, unit, spaces));
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
