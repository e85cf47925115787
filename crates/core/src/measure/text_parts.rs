//! The texts of a corpus in parts of limited length, the same for each tokenizer that is measured.
//!
//! Look here for where long texts are split, and for the hash by which parts become a sample.

use jeton_text::text::Unit;

/// Newlines that are looked at before a split point.
const MAX_NEWLINES: usize = 64;

/// Bytes that are counted at once in search of a character.
const COUNTED_AT_ONCE: usize = 1 << 10;

/// Texts, divided into parts.
///
/// ```
/// use jeton_core::measure::text_parts::TextParts;
///
/// let mut parts = TextParts::new(10);
/// parts.add("low low\nlower\nnew");
/// parts.add("er");
/// assert_eq!(parts.rows(), ["low low\n", "lower\nnew", "er"]);
/// assert_eq!((parts.bytes(), parts.characters(), parts.spaced_words()), (19, 19, 5));
/// ```
#[derive(Clone, Debug)]
pub struct TextParts {
    /// How many characters a part has at most.
    longest: usize,
    pub(super) text: String,
    /// Where each part ends in the text.
    ends: Vec<usize>,
    characters: usize,
    spaced_words: usize,
}

/// A part with its hash, by which a sample is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed<'t> {
    /// The CRC-32 of its bytes.
    pub hash: u32,
    /// The part itself.
    pub text: &'t str,
}

impl TextParts {
    /// No texts, of which parts have at most this many characters.
    pub fn new(longest: usize) -> Self {
        Self {
            longest: longest.max(1),
            text: String::new(),
            ends: Vec::new(),
            characters: 0,
            spaced_words: 0,
        }
    }

    /// Adds a text, if it is not empty.
    pub fn add(&mut self, text: &str) {
        self.text.push_str(text);
        self.add_tail(true);
    }

    /// Adds parts of what was written after the last one. Where more may follow, what may go on is
    /// left there: its bytes are given.
    pub(super) fn add_tail(&mut self, is_whole: bool) -> usize {
        let mut start = self.ends.last().copied().unwrap_or(0);
        while let Some(end) = first_split_point(&self.text, start, self.longest) {
            self.end_part(start, end);
            start = end;
        }
        if is_whole && start < self.text.len() {
            self.end_part(start, self.text.len());
            start = self.text.len();
        }
        self.text.len() - start
    }

    fn end_part(&mut self, start: usize, end: usize) {
        let part = &self.text[start..end];
        self.characters += Unit::Characters.count(part.as_bytes());
        self.spaced_words += part.split(is_space).filter(|word| !word.is_empty()).count();
        self.ends.push(end);
    }

    /// Takes away this many bytes at the end, which are no part yet.
    pub(super) fn split_off(&mut self, bytes: usize) -> String {
        self.text.split_off(self.text.len() - bytes)
    }

    /// The parts.
    pub fn rows(&self) -> Vec<&str> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let parts = starts.zip(&self.ends);
        parts.map(|(&start, &end)| &self.text[start..end]).collect()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// How many characters.
    pub fn characters(&self) -> usize {
        self.characters
    }

    /// How many stretches without white space.
    pub fn spaced_words(&self) -> usize {
        self.spaced_words
    }

    /// Their parts of at most `longest` characters whose hash is at most `most`, in order.
    pub fn hashed(&self, longest: usize, most: u32) -> Vec<Hashed<'_>> {
        let rows = self.rows();
        let parts = rows.iter().flat_map(|row| cut(row, longest));
        let hashed = parts.map(|text| {
            let mut crc = flate2::Crc::new();
            crc.update(text.as_bytes());
            let hash = crc.sum();
            Hashed { hash, text }
        });
        hashed.filter(|part| part.hash <= most).collect()
    }
}

/// The parts of a text of at most `longest` characters, which joined are the text.
///
/// A part ends with its line where that is possible, else in front of a space, else anywhere.
pub fn cut(text: &str, longest: usize) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    while let Some(end) = first_split_point(text, start, longest.max(1)) {
        parts.push(&text[start..end]);
        start = end;
    }
    parts.push(&text[start..]);
    parts
}

/// Where the part ends that begins at `start`, if the text has more than `longest` characters there.
fn first_split_point(text: &str, start: usize, longest: usize) -> Option<usize> {
    if text.len() - start <= longest {
        return None;
    }
    let half = (longest / 2).max(1);
    let earliest = behind(text, start, half)?;
    let latest = behind(text, earliest, longest - half)?;
    if latest == text.len() {
        return None;
    }
    let bytes = text.as_bytes();
    let last = |byte: u8, end: usize| {
        let place = bytes[earliest..end].iter().rposition(|&it| it == byte);
        place.map(|place| earliest + place)
    };
    let mut end = latest;
    for _ in 0..MAX_NEWLINES {
        let Some(at) = last(b'\n', end) else { break };
        let before = text[..at].chars().next_back();
        let after = text[at + 1..].chars().next();
        if !before.is_some_and(is_space) && !after.is_some_and(is_space) {
            return Some(at + 1);
        }
        end = at;
    }
    Some(last(b' ', latest).unwrap_or(latest))
}

/// Where this many characters end that begin at a place; `None` if there are fewer.
fn behind(text: &str, start: usize, characters: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_first = |byte: u8| byte & 0xC0 != 0x80;
    let (mut at, mut left) = (start, characters);
    while let Some(step) = bytes.get(at..at + COUNTED_AT_ONCE) {
        let count = Unit::Characters.count(step);
        if count > left {
            break;
        }
        (at, left) = (at + COUNTED_AT_ONCE, left - count);
    }
    // What was counted may end in the midst of a character.
    for (place, &byte) in bytes[at..].iter().enumerate() {
        if is_first(byte) {
            if left == 0 {
                return Some(at + place);
            }
            left -= 1;
        }
    }
    (left == 0).then_some(bytes.len())
}

/// Whether a character is white space as Python has it: also the separators of ASCII.
fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As [`cut`], character by character.
    fn plainly_cut(text: &str, longest: usize) -> Vec<String> {
        let text: Vec<char> = text.chars().collect();
        let (mut parts, mut start) = (Vec::new(), 0);
        while text.len() - start > longest {
            let (earliest, latest) = (start + (longest / 2).max(1), start + longest);
            let newlines = (earliest..latest).rev().filter(|&at| text[at] == '\n');
            let line = newlines.take(MAX_NEWLINES).find(|&at| {
                let after = text.get(at + 1);
                !is_space(text[at - 1]) && !after.is_some_and(|&after| is_space(after))
            });
            let space = || (earliest..latest).rev().find(|&at| text[at] == ' ');
            let end = line.map(|at| at + 1).or_else(space).unwrap_or(latest);
            parts.push(text[start..end].iter().collect());
            start = end;
        }
        parts.push(text[start..].iter().collect());
        parts
    }

    proptest! {
        #[test]
        fn cuts_are_those_of_one_by_one(
            text in "([ab .\n\x1d]|é|東|🙂){0,90}",
            times in 1..60_usize,
            longest in 1..2500_usize,
        ) {
            let text = text.repeat(times);
            for longest in [longest, longest % 20 + 1] {
                prop_assert_eq!(cut(&text, longest), plainly_cut(&text, longest));
            }
        }
    }

    #[test]
    fn a_sample_has_the_parts_of_low_hash() {
        let mut parts = TextParts::new(100);
        for text in ["one two", "three", "", "four"] {
            parts.add(text);
        }
        let all = parts.hashed(4, u32::MAX);
        let texts: Vec<&str> = all.iter().map(|part| part.text).collect();
        assert_eq!(texts, ["one", " two", "thre", "e", "four"]);
        let most = all[2].hash;
        let low = parts.hashed(4, most);
        assert!(low.contains(&all[2]) && low.iter().all(|part| part.hash <= most));
    }
}
