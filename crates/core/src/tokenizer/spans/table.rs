//! How long the text of each token of a byte-level model is, and how much of a character a token holds that
//! begins or ends inside one.
//!
//! Look in `run` for the walk that adds these lengths up.

use jeton_stages::vocab::Vocab;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::Unit;

/// How long each token is: bytes of the text in bits 0 to 7, units in bits 8 to 15, spaces in front in
/// bits 16 to 19 and at the end in bits 20 to 23, then flags. Of a token that ends inside a character bits 20
/// to 23 say how, since no spaces are there.
#[derive(Debug)]
pub struct LengthTable {
    pub unit: Unit,
    /// Some tokens begin or end inside a character, and it matters how much of it is theirs.
    pub has_cuts: bool,
    pub entries: Box<[u32]>,
}

/// It has to be looked at.
pub const ODD: u32 = 1 << 24;
/// It begins inside a character.
pub const INSIDE: u32 = 1 << 30;
/// It ends inside a character whose begin it holds, and it matters how much of it.
pub const CUT: u32 = 1 << 31;

impl LengthTable {
    /// The lengths of all tokens.
    fn new(vocab: &Vocab, unit: Unit) -> Self {
        let mut entries = vec![ODD; ids(vocab)].into_boxed_slice();
        let mut has_cuts = false;
        for (token, id) in vocab.iter() {
            let entry = entry_of(token, unit);
            has_cuts |= unit != Unit::Characters && entry & (CUT | INSIDE) != 0;
            entries[id as usize] = entry;
        }
        Self {
            unit,
            has_cuts,
            entries,
        }
    }
}

/// One more than the highest id.
fn ids(vocab: &Vocab) -> usize {
    vocab.max_id().map_or(0, |max| max as usize + 1)
}

/// The entry of a token.
fn entry_of(token: &[u8], unit: Unit) -> u32 {
    let length = token.len();
    let blanks = |count: Option<usize>| count.unwrap_or(length) as u32;
    let front = blanks(token.iter().position(|it| *it != b' '));
    let back = blanks(token.iter().rev().position(|it| *it != b' '));
    if !(1..=0xFF).contains(&length) || front > 15 || back > 15 {
        return ODD;
    }
    let mut flags = 0;
    if matches!(token[0], 0x80..0xC0) {
        flags |= INSIDE;
    }
    let mut last = [0; 3];
    for (last, byte) in last.iter_mut().rev().zip(token.iter().rev()) {
        *last = *byte;
    }
    flags |= cut_end(unit, last);
    let units = unit.count(token) as u32;
    flags | length as u32 | units << 8 | front << 16 | back << 20
}

/// Bits 20 to 23 and `CUT` of a token with these last bytes, if it ends inside a character: how many
/// units before its end count for who begins there, and in the upper two bits how many after it.
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
    pub fn have_room(vocab: &Vocab) -> bool {
        ids(vocab) <= 4 * vocab.len() + (1 << 16)
    }

    /// The table of a unit, for a vocabulary for which tables have room.
    pub fn of(&self, vocab: &Vocab, unit: Unit) -> &LengthTable {
        self.0[unit as usize].get(|| LengthTable::new(vocab, unit))
    }
}
