//! Which characters stay as they are through the normalizer, so that a chunk may end behind one.

use jeton_stages::normalizer::{Normalizer, SPACE_MARK};
use jeton_text::mem::lazy::Lazy;

/// Characters per row: the normalizer is asked about a whole row at once.
const ROW: usize = 64;
const ROWS: usize = 0x11_0000 / ROW;

/// The characters that stay as they are wherever they follow others that do. The normalizer is asked about
/// a row of them when the first one occurs.
#[derive(Debug)]
pub struct KeptCharacters {
    /// Characters that tokens may hold without spelling them.
    marks: Vec<char>,
    rows: Box<[Lazy<u64>]>,
}

impl KeptCharacters {
    /// For a normalizer that later calls pass. White space is not kept, and neither are `marks`.
    pub fn new(marks: Vec<char>) -> Self {
        Self {
            marks,
            rows: (0..ROWS).map(|_| Lazy::new()).collect(),
        }
    }

    /// Whether a character is kept.
    pub fn has(&self, normalizer: Option<&Normalizer>, character: char) -> bool {
        let keeps = |character: char| {
            let is_blank = character.is_whitespace() || character.is_ascii_control();
            character != SPACE_MARK
                && !self.marks.contains(&character)
                && !is_blank
                && normalizer.is_none_or(|it| it.keeps(character).is_some())
        };
        let row = character as usize / ROW;
        let bits = *self.rows[row].get(|| {
            let characters = (0..ROW).map(|at| char::from_u32((row * ROW + at) as u32));
            let bits = characters.map(|it| u64::from(it.is_some_and(keeps)));
            bits.rev().fold(0, |row, bit| row << 1 | bit)
        });
        bits >> (character as usize % ROW) & 1 == 1
    }
}
