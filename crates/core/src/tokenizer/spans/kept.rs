//! Which characters keep their length through the stages, so that token lengths add up to places.

use jeton_stages::normalizer::{Normalizer, SPACE_MARK};
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::ByteSet;

/// Characters per row: the normalizer is asked about a whole row at once.
const ROW: usize = 64;
const ROWS: usize = 0x11_0000 / ROW;

/// The characters that keep their length wherever they follow others that do. The normalizer is asked about
/// a row of them when the first one occurs.
#[derive(Debug)]
pub struct KeptText {
    /// White space and controls are among them if the normalizer keeps them.
    with_white_space: bool,
    /// Characters that tokens may hold without spelling them.
    marks: Vec<char>,
    rows: Box<[Lazy<u64>]>,
    /// The first bytes of characters that may not be kept.
    suspects: Lazy<ByteSet>,
}

impl KeptText {
    /// For a normalizer that later calls pass. White space is kept only if tokens write it as it is, and
    /// `marks` never are.
    pub fn new(with_white_space: bool, marks: Vec<char>) -> Self {
        Self {
            with_white_space,
            marks,
            rows: (0..ROWS).map(|_| Lazy::new()).collect(),
            suspects: Lazy::new(),
        }
    }

    /// Whether a character other than a space is kept.
    pub fn has(&self, normalizer: Option<&Normalizer>, character: char) -> bool {
        let row = self.row(normalizer, character as usize / ROW);
        row >> (character as usize % ROW) & 1 == 1
    }

    /// A bit for each character of a row, set if it is kept.
    fn row(&self, normalizer: Option<&Normalizer>, row: usize) -> u64 {
        let keeps = |character: char| {
            let is_blank = character.is_whitespace() || character.is_ascii_control();
            character != SPACE_MARK
                && !self.marks.contains(&character)
                && (self.with_white_space || !is_blank)
                && normalizer.is_none_or(|it| it.keeps(character).is_some())
        };
        *self.rows[row].get(|| {
            let characters = (0..ROW).map(|at| char::from_u32((row * ROW + at) as u32));
            let bits = characters.map(|it| u64::from(it.is_some_and(keeps)));
            bits.rev().fold(0, |row, bit| row << 1 | bit)
        })
    }

    /// Place of the first character from `from` on that is not kept, or a place far behind `from`, or the end.
    pub fn end(
        &self,
        normalizer: Option<&Normalizer>,
        text: &str,
        from: usize,
        is_space: impl Fn(u8) -> bool,
    ) -> usize {
        let suspects = self.suspects.get(|| {
            let only_spaces =
                self.with_white_space && normalizer.is_none_or(|it| it.facts().changes_only_spaces);
            let mark = SPACE_MARK.encode_utf8(&mut [0; 4]).as_bytes()[0];
            ByteSet::new(|byte| match byte {
                0x80.. if only_spaces => byte == mark,
                // The characters of two bytes that begin with this one are a row.
                0xC0..0xE0 => self.row(normalizer, usize::from(byte & 0x1F)) != u64::MAX,
                0x80.. => byte >= 0xE0,
                _ => !is_space(byte) && !self.has(normalizer, byte.into()),
            })
        });
        suspects.find_near(text, from, |at| {
            let character = text[at..].chars().next();
            character.is_none_or(|it| !self.has(normalizer, it))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let kept = KeptText::new(false, Vec::new());
        let lower = Normalizer::Sequence(vec![Normalizer::Nfc, Normalizer::Lowercase]);
        let end = |text: &str| kept.end(Some(&lower), text, 0, |byte| byte == b' ');
        assert_eq!(end("To be жÉ"), "To be жÉ".len());
        assert_eq!(end("To\nbe"), 2);
        assert_eq!(end("aİ"), 1);
        assert_eq!(end("e\u{301}"), 1);
        assert_eq!(end("a▁"), 1);
    }
}
