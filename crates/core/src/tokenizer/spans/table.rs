//! How long the text of each token is if no stage changes it, and how much of a character a token holds that
//! begins or ends inside one.
//!
//! Look in `run` for the walk that adds these lengths up.

use std::ops::Range;

use jeton_fast::Spaces;
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_models::model::{Model, byte_of_token};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::SPACE_MARK;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::Unit;

/// How long each token is: bytes of the text in bits 0 to 7, units in bits 8 to 15, spaces in front in
/// bits 16 to 19 and at the end in bits 20 to 23 (of a token that stands for a byte, which), then flags.
/// Of a token that ends inside a character bits 20 to 23 say how, since no spaces are there.
#[derive(Debug)]
pub struct LengthTable {
    pub unit: Unit,
    /// Some tokens begin or end inside a character, and it matters how much of it is theirs.
    pub has_cuts: bool,
    pub entries: Box<[u32]>,
}

/// It has to be looked at.
pub const ODD: u32 = 1 << 24;
/// It holds a `▁`, which stands for a space or for itself.
pub const MARKED: u32 = 1 << 26;
/// It stands for a byte, and is spelled `<0x..>`.
pub const BYTE: u32 = 1 << 27;
/// Its text cannot be known from the token alone.
pub const UNKNOWN: u32 = 1 << 28;
/// It begins inside a character.
pub const INSIDE: u32 = 1 << 30;
/// It ends inside a character whose begin it holds, and it matters how much of it.
pub const CUT: u32 = 1 << 31;

/// What a token is.
pub enum Spelling<'v> {
    /// Text. `prefix` marks a token that continues a piece, `suffix` one that ends it.
    Text {
        token: &'v [u8],
        prefix: &'v [u8],
        suffix: &'v [u8],
    },
    Byte(u8),
    Unknown,
}

impl LengthTable {
    /// The lengths of all tokens.
    fn new(stages: &Stages, unit: Unit, spaces: Spaces) -> Self {
        let vocab = stages.model.vocab();
        let ids = vocab.max_id().map_or(0, |max| max as usize + 1);
        let mut table = Self {
            unit,
            has_cuts: false,
            entries: vec![ODD | UNKNOWN; ids].into(),
        };
        // Whether each token is spelled as the text that becomes it.
        let is_plain = match &stages.model {
            Model::Bpe(bpe) if spaces == Spaces::Plain => {
                let options = bpe.options();
                options.unk_token.is_none() && !options.byte_fallback && !options.has_affixes()
            }
            _ => false,
        };
        let (bytes, places) = vocab.places();
        for (place, id) in places {
            let short = is_plain.then(|| table.short_entry(bytes, place)).flatten();
            let entry = short.unwrap_or_else(|| table.entry_of(stages, spaces, id));
            table.has_cuts |= unit != Unit::Characters && entry & (CUT | INSIDE) != 0;
            table.entries[id as usize] = entry;
        }
        table
    }

    /// The entry of a token of at most 16 of these bytes, which it spells; none where more of them are
    /// asked for.
    #[inline(always)]
    fn short_entry(&self, bytes: &[u8], place: Range<usize>) -> Option<u32> {
        const HIGHEST: u128 = u128::MAX / 0xFF * 0x80;
        const BLANKS: u128 = u128::MAX / 0xFF * b' ' as u128;
        let length = place.len();
        let window = bytes.get(place.start..place.start + 16)?;
        if !(1..=16).contains(&length) {
            return None;
        }
        let behind = 128 - 8 * length;
        // Its last byte is the highest one, and then its first byte is the lowest one.
        let last = u128::from_le_bytes(window.try_into().ok()?) << behind;
        let first = last >> behind;
        let inside = first & !(first << 1) & HIGHEST;
        let number = |highest: u128| {
            let halves = (highest >> 7) as u64 + (highest >> 71) as u64;
            (halves.wrapping_mul(u64::MAX / 0xFF) >> 56) as u32
        };
        let begun = length as u32 - number(inside);
        let begins_inside = u32::from(inside & 0x80 != 0) * INSIDE;
        let [.., third, second, last_byte] = last.to_le_bytes();
        let cut = cut_end(self.unit, [third, second, last_byte]);
        let units = match self.unit {
            Unit::Characters => begun,
            Unit::Bytes => length as u32,
            Unit::Utf16 => {
                let longest = first & first << 1 & first << 2 & first << 3 & HIGHEST;
                begun + number(longest)
            }
        };
        let front = (first ^ BLANKS).trailing_zeros() / 8;
        let back = (last ^ BLANKS).leading_zeros() / 8;
        let flags = begins_inside | cut;
        let entry = flags | length as u32 | units << 8 | front << 16 | back << 20;
        (front < 16).then_some(entry)
    }

    /// The entry of any token.
    fn entry_of(&self, stages: &Stages, spaces: Spaces, id: u32) -> u32 {
        let unit = self.unit;
        let marks = spaces != Spaces::Plain;
        let token = match spelling(stages, id) {
            Spelling::Unknown => return ODD | UNKNOWN,
            Spelling::Byte(value) => {
                let units = unit.count(&[value]) as u32;
                // `<` may also begin the spelling of such a token, which a SentencePiece model does
                // not take from text.
                let odd = match &stages.model {
                    Model::SentencePiece(_) if value.is_ascii() && value != b' ' => 0,
                    _ => ODD,
                };
                return odd | BYTE | 1 | units << 8 | u32::from(value) << 16;
            }
            Spelling::Text {
                token,
                prefix,
                suffix,
            } => {
                let token = without_prefix(token, prefix).unwrap_or(token);
                without_suffix(token, suffix).unwrap_or(token)
            }
        };
        let mut flags = if token.is_empty() { ODD } else { 0 };
        let (mut length, mut units) = (token.len(), unit.count(token));
        match std::str::from_utf8(token) {
            Ok(_) if marks && token.contains(&b' ') => return ODD | UNKNOWN,
            Ok(text) if marks => {
                let count = text.chars().filter(|it| *it == SPACE_MARK).count();
                if count > 0 {
                    flags |= MARKED;
                    // A `▁` inside the text replaces a run of spaces of any length, or of none.
                    let is_inside = count > 1 || !text.starts_with(SPACE_MARK);
                    let is_alone = text.len() == SPACE_MARK.len_utf8();
                    if spaces != Spaces::Marked && is_inside
                        || spaces == Spaces::Dropped && is_alone
                    {
                        flags |= ODD;
                    }
                    // Each is a single space.
                    length -= count * (SPACE_MARK.len_utf8() - 1);
                    units -= count * (unit.of_length(SPACE_MARK.len_utf8()) - 1);
                }
            }
            Ok(_) => {}
            Err(_) => {
                if matches!(token.first(), Some(0x80..0xC0)) {
                    flags |= INSIDE;
                }
                let mut last = [0; 3];
                for (last, byte) in last.iter_mut().rev().zip(token.iter().rev()) {
                    *last = *byte;
                }
                flags |= cut_end(unit, last);
            }
        }
        let blanks = |count: Option<usize>| count.unwrap_or(length) as u32;
        let front = blanks(token.iter().position(|it| *it != b' '));
        let back = blanks(token.iter().rev().position(|it| *it != b' '));
        if length > 0xFF || front > 15 || back > 15 {
            return ODD | UNKNOWN;
        }
        flags | length as u32 | (units as u32) << 8 | front << 16 | back << 20
    }

    /// The length of a token, and whether there is something odd about it.
    #[inline(always)]
    pub fn entry(&self, id: u32) -> u32 {
        *self.entries.get(id as usize).unwrap_or(&(ODD | UNKNOWN))
    }
}

/// Bits 20 to 23 and `CUT` of a token with these last bytes, if it ends inside a character: how many
/// units before its end count for who begins there, and in the upper two bits how many after it.
#[inline(always)]
fn cut_end(unit: Unit, [third, second, last]: [u8; 3]) -> u32 {
    let (begun, first) = match (third, second, last) {
        (.., 0xC0..) => (1, last),
        (_, 0xE0.., _) => (2, second),
        (0xF0.., ..) => (3, third),
        _ => return 0,
    };
    let length = 2 + u32::from(first >= 0xE0) + u32::from(first >= 0xF0);
    match unit {
        Unit::Characters => 0,
        Unit::Bytes => CUT | begun << 20 | (length - begun) << 22,
        // A character of four bytes has two.
        Unit::Utf16 => CUT | (1 + length / 4) << 20,
    }
}

/// A token without the mark of one that continues a piece. Most models have none, and to compare a token
/// with an empty slice is slow on a processor with AVX-512 (`docs/experiments.md`): the pointer of such a
/// slice leads nowhere, and a masked load from there is left to microcode.
#[inline(always)]
pub fn without_prefix<'v>(token: &'v [u8], prefix: &[u8]) -> Option<&'v [u8]> {
    if prefix.is_empty() {
        return Some(token);
    }
    token.strip_prefix(prefix)
}

/// A token without the mark of one that ends a piece, as [`without_prefix`].
#[inline(always)]
pub fn without_suffix<'v>(token: &'v [u8], suffix: &[u8]) -> Option<&'v [u8]> {
    if suffix.is_empty() {
        return Some(token);
    }
    token.strip_suffix(suffix)
}

/// The bytes of a token.
#[inline(always)]
pub fn bytes_of(entry: u32) -> usize {
    (entry & 0xFF) as usize
}

/// The units of a token.
#[inline(always)]
pub fn units_of(entry: u32) -> usize {
    (entry >> 8 & 0xFF) as usize
}

/// The tables of a tokenizer, by unit; each is made when it is first asked for.
#[derive(Debug)]
pub struct LengthTables([Lazy<LengthTable>; 3]);

impl LengthTables {
    pub fn new() -> Self {
        Self([const { Lazy::new() }; 3])
    }

    /// Whether the ids have few gaps: with large ones, a table would be large and hold nothing.
    pub fn have_room(stages: &Stages) -> bool {
        let vocab = stages.model.vocab();
        let ids = vocab.max_id().map_or(0, |max| max as usize + 1);
        ids <= 4 * vocab.len() + (1 << 16)
    }

    /// The table of a unit, for stages with which tables have room.
    pub fn of(&self, stages: &Stages, unit: Unit, spaces: Spaces) -> &LengthTable {
        self.0[unit as usize].get(|| LengthTable::new(stages, unit, spaces))
    }
}

/// What a token of the model spells, if text becomes it.
pub fn spelling(stages: &Stages, id: u32) -> Spelling<'_> {
    let model = &stages.model;
    let Some(token) = model.vocab().token(id) else {
        return Spelling::Unknown;
    };
    let (mut prefix, mut suffix) = ("", "");
    let (is_unknown, has_bytes) = match model {
        Model::Bpe(bpe) => {
            let options = bpe.options();
            prefix = options
                .continuing_subword_prefix
                .as_deref()
                .unwrap_or_default();
            suffix = options.end_of_word_suffix.as_deref().unwrap_or_default();
            let unk_token = options.unk_token.as_deref();
            let is_unknown = unk_token.is_some_and(|it| it.as_bytes() == token);
            (is_unknown || options.separate_suffix, options.byte_fallback)
        }
        Model::Characters(characters) => (characters.unk_id() == Some(id), false),
        // The tokens of the bytes of a character, or of several, all have the span of all of them.
        Model::Unigram(unigram) => {
            let is_byte = unigram.byte_fallback() && byte_of_token(token).is_some();
            (unigram.unk_id() == Some(id) || is_byte, false)
        }
        Model::SentencePiece(model) => match model.kind(id) {
            PieceKind::Byte => (false, true),
            PieceKind::Normal | PieceKind::UserDefined => (false, false),
            _ => (true, false),
        },
        Model::LongestMatch(_) => (false, false),
        Model::WordLevel(model) => (model.unk_token().as_bytes() == token, false),
        Model::WordPiece(model) => {
            prefix = model.continuing_subword_prefix();
            (model.unk_token().as_bytes() == token, false)
        }
    };
    if is_unknown {
        return Spelling::Unknown;
    }
    if has_bytes && let Some(byte) = byte_of_token(token) {
        return Spelling::Byte(byte);
    }
    Spelling::Text {
        token,
        prefix: prefix.as_bytes(),
        suffix: suffix.as_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::word_level::WordLevel;
    use jeton_stages::vocab::Vocab;

    /// Every stretch of text of every kind, split inside characters too.
    #[test]
    fn entries_of_short_tokens_are_those_of_any() {
        let text = format!("{0}ab  é1 Жц ߿中a　𐍈🙂🙂 x\u{7f}y{0}", " ".repeat(17)).into_bytes();
        let tokens = (0..text.len())
            .flat_map(|start| (start + 1..=text.len().min(start + 18)).map(move |end| start..end))
            .map(|place| text[place].to_vec());
        let tokens: std::collections::BTreeSet<Vec<u8>> = tokens.collect();
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "")));
        for unit in [Unit::Characters, Unit::Bytes, Unit::Utf16] {
            let table = LengthTable::new(&stages, unit, Spaces::Plain);
            let (bytes, places) = stages.model.vocab().places();
            let mut short = 0;
            for (place, id) in places {
                let token = &bytes[place.clone()];
                if let Some(entry) = table.short_entry(bytes, place) {
                    let any = table.entry_of(&stages, Spaces::Plain, id);
                    assert_eq!(entry, any, "{unit:?} {token:?}");
                    short += 1;
                }
            }
            assert!(short > 500, "{short}");
        }
    }
}
