//! How long the text of each token of a byte-level model is.
//!
//! Look in `run` for the walk that adds these lengths up.

use jeton_stages::vocab::Vocab;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::Unit;

/// How long each token is: bytes of the text in bits 0 to 7, units in bits 8 to 15, spaces in front in
/// bits 16 to 19 and at the end in bits 20 to 23, then flags.
#[derive(Debug)]
pub struct LengthTable {
    pub unit: Unit,
    pub entries: Box<[u32]>,
}

/// It has to be looked at.
pub const ODD: u32 = 1 << 24;
/// It begins inside a character.
pub const INSIDE: u32 = 1 << 30;

impl LengthTable {
    /// The lengths of all tokens.
    fn new(vocab: &Vocab, unit: Unit) -> Self {
        let mut entries = vec![ODD; ids(vocab)].into_boxed_slice();
        for (token, id) in vocab.iter() {
            entries[id as usize] = entry_of(token, unit);
        }
        Self { unit, entries }
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
    let flags = match token[0] {
        0x80..0xC0 => INSIDE,
        _ => 0,
    };
    let units = unit.count(token) as u32;
    flags | length as u32 | units << 8 | front << 16 | back << 20
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
