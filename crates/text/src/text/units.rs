//! The units that spans count: characters, bytes or the code units of UTF-16.

use super::Span;

/// The unit that spans count in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Characters (Unicode scalar values).
    #[default]
    Characters,
    /// Bytes of UTF-8.
    Bytes,
    /// Code units of UTF-16, as JavaScript, Java and C# count.
    Utf16,
}

impl Unit {
    /// How many of them are in text of which these are the UTF-8 bytes: characters count where they
    /// begin.
    pub fn count(self, text: &[u8]) -> usize {
        let begins = |byte: u8| byte as i8 >= -0x40;
        match self {
            Self::Bytes => text.len(),
            Self::Characters => count_bytes(text, begins),
            Self::Utf16 => count_bytes(text, begins) + count_bytes(text, |byte| byte >= 0xF0),
        }
    }

    /// How many units a character of this many bytes has.
    #[inline(always)]
    pub fn of_length(self, bytes: usize) -> usize {
        match self {
            Self::Characters => 1,
            Self::Bytes => bytes,
            Self::Utf16 => 1 + bytes / 4,
        }
    }
}

/// How many bytes of `text` are accepted.
#[inline]
fn count_bytes(text: &[u8], accepts: impl Fn(u8) -> bool) -> usize {
    // Vectors add the most numbers at once where the sum fits into a byte.
    let of_part = |part: &[u8]| part.iter().map(|&byte| u8::from(accepts(byte))).sum::<u8>();
    let parts = text.chunks(u8::MAX as usize / 32 * 32);
    parts.map(|part| usize::from(of_part(part))).sum()
}

/// Turns spans in bytes of `text` into spans in another unit.
///
/// Built in one pass, queried in any order.
pub struct UnitIndex {
    /// The number of units that begin before each byte; empty where that is the byte's own.
    before: Vec<u32>,
    length: usize,
}

impl UnitIndex {
    /// The index of `text`.
    pub fn new(text: &str, unit: Unit) -> Self {
        let length = text.len();
        let mut before = Vec::new();
        if unit == Unit::Bytes || text.is_ascii() {
            return Self { before, length };
        }
        before.reserve_exact(length + 1);
        let mut units = 0;
        for character in text.chars() {
            before.extend(std::iter::repeat_n(units, character.len_utf8()));
            units += unit.of_length(character.len_utf8()) as u32;
        }
        before.push(units);
        Self { before, length }
    }

    /// The span in units of the characters that the bytes of `span` belong to.
    pub fn of(&self, span: Span) -> Span {
        if self.before.is_empty() {
            span
        } else {
            Span::new(self.at(span.start), self.at(span.end))
        }
    }

    fn at(&self, byte: usize) -> usize {
        self.before[byte.min(self.length)] as usize
    }
}

/// Turns spans in characters of `text` into spans in another unit.
pub struct CharacterIndex {
    /// The number of units before each character, and before the end; empty where that is the number of
    /// characters.
    before: Vec<u32>,
}

impl CharacterIndex {
    /// The index of `text`.
    pub fn new(text: &str, unit: Unit) -> Self {
        let mut before = Vec::new();
        if unit != Unit::Characters && !text.is_ascii() {
            before.push(0);
            let lengths = text.chars().map(char::len_utf8);
            let mut units = 0;
            before.extend(lengths.map(|length| {
                units += unit.of_length(length) as u32;
                units
            }));
        }
        Self { before }
    }

    /// The span in units.
    pub fn of(&self, span: Span) -> Span {
        let at = |character: usize| match self.before.last() {
            Some(&length) => *self.before.get(character).unwrap_or(&length) as usize,
            None => character,
        };
        Span::new(at(span.start), at(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_from_the_front() {
        let text = "aé€🙂b";
        for (unit, spans) in [
            (Unit::Characters, [(1, 3), (3, 4), (4, 5)]),
            (Unit::Bytes, [(1, 6), (6, 10), (10, 11)]),
            (Unit::Utf16, [(1, 3), (3, 5), (5, 6)]),
        ] {
            let index = UnitIndex::new(text, unit);
            for ((start, end), bytes) in spans.into_iter().zip([(1, 6), (6, 10), (10, 11)]) {
                assert_eq!(index.of(Span::new(bytes.0, bytes.1)), Span::new(start, end));
                let characters =
                    UnitIndex::new(text, Unit::Characters).of(Span::new(bytes.0, bytes.1));
                assert_eq!(
                    CharacterIndex::new(text, unit).of(characters),
                    Span::new(start, end)
                );
                assert_eq!(unit.count(&text.as_bytes()[..bytes.1]), end);
            }
        }
    }
}
