//! How long the text is that each token spells, where text is left as it is.
//!
//! Look here for how the spans of most tokens are found: along text that no stage changes, they are
//! the sums of the lengths before them.

use std::borrow::Cow;

use super::Row;
use crate::mem::lazy::Lazy;
use crate::model::sentencepiece::spec::PieceKind;
use crate::model::{Model, byte_token};
use crate::stages::Stages;
use crate::text::Unit;

/// What stands for a space.
pub const MARK: char = '▁';

/// How long each token is: bytes of the text in bits 0 to 7, units in bits 8 to 15, spaces in front in
/// bits 16 to 19 and at the end in bits 20 to 23, then flags.
#[derive(Debug)]
pub struct Table {
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
                    flags |= ODD | BYTE;
                    Cow::Owned(vec![value])
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
                    if unit == Unit::Bytes || token.first().is_some_and(|it| it & 0xC0 == 0x80) {
                        flags |= ODD;
                    }
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
        Some(Self { entries, long })
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

    /// Adds the spans of the first of these tokens, as long as they lie along text that is left as it
    /// is, up to `end`; says how many they are.
    #[inline]
    pub fn run(&self, ids: &[u32], at: &mut At, end: usize, spans: &mut Vec<Row>) -> usize {
        let At { byte, units } = at;
        let mut done = 0;
        for &id in ids {
            let entry = self.entry(id);
            let next = *byte + bytes_of(entry);
            if entry & ODD != 0 || next > end {
                break;
            }
            let start = *units;
            *units += units_of(entry);
            *byte = next;
            spans.push([start as i64, *units as i64]);
            done += 1;
        }
        done
    }
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
