//! SentencePiece's normalizer: its character map, and its treatment of white space.
//!
//! Look here for `▁`. The map replaces the longest match, not whole graphemes as `tokenizers` does
//! with the same map; user-defined pieces stay as they are.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Charsmap;
use crate::tables::trie::Trie;
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::mem::room;
use jeton_text::text::{AlignedText, Unit};

/// The mark that replaces a space.
const SPACE: &str = "▁";

/// What SentencePiece does to text before it is encoded, and to decoded text at the end.
///
/// ```
/// use jeton_stages::normalizer::{Normalizer, SentencePieceNormalizer, WhiteSpace};
/// use jeton_text::text::AlignedText;
///
/// let normalizer = SentencePieceNormalizer::new(None, WhiteSpace::default(), vec![]);
/// let mut text = AlignedText::original("  to  be ");
/// Normalizer::SentencePiece(normalizer).normalize(&mut text)?;
/// assert_eq!(text.as_str(), "▁to▁be");
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct SentencePieceNormalizer {
    parts: Parts,
    /// The pieces that are left as they are, ready to be found, and the bytes that they begin with.
    matcher: Trie,
    firsts: Box<[bool; 256]>,
}

/// What becomes of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhiteSpace {
    /// A space is put in front, or at the end if `suffix` is set.
    pub add_dummy_prefix: bool,
    /// Spaces at the ends are removed, and runs of them made one.
    pub remove_extra: bool,
    /// Spaces are written `▁`.
    pub escape: bool,
    /// Spaces end words instead of beginning them.
    pub suffix: bool,
    /// What is between added tokens has ends of its own, as if it were a text by itself:
    /// transformers' `legacy`. A `.model` does not hold it.
    pub legacy: bool,
}

impl Default for WhiteSpace {
    fn default() -> Self {
        Self {
            add_dummy_prefix: true,
            remove_extra: true,
            escape: true,
            suffix: false,
            legacy: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Parts {
    charsmap: Option<Charsmap>,
    white_space: WhiteSpace,
    user_defined: Vec<String>,
}

/// New text under way, with where it came from.
#[derive(Default)]
struct Output {
    text: String,
    /// Where each run of `text` begins, and the bytes of the old text that it replaces.
    runs: Vec<(usize, Range<usize>)>,
    /// Where the part of the old text ends that `text` replaces; unset where that is spaces alone.
    end: Option<usize>,
}

impl SentencePieceNormalizer {
    /// The normalizer of a character map, of rules for white space, and of the user-defined pieces
    /// that it leaves as they are.
    pub fn new(
        charsmap: Option<Charsmap>,
        white_space: WhiteSpace,
        user_defined: Vec<String>,
    ) -> Self {
        Self::from(Parts {
            charsmap,
            white_space,
            user_defined,
        })
    }

    /// The character map.
    pub fn charsmap(&self) -> Option<&Charsmap> {
        self.parts.charsmap.as_ref()
    }

    /// What becomes of white space.
    pub fn white_space(&self) -> WhiteSpace {
        self.parts.white_space
    }

    /// The same, to change it.
    pub fn white_space_mut(&mut self) -> &mut WhiteSpace {
        &mut self.parts.white_space
    }

    /// The pieces that are left as they are.
    pub fn user_defined(&self) -> &[String] {
        &self.parts.user_defined
    }

    /// Normalizes text that nobody asks spans of.
    pub fn normalize_str(&self, text: &str) -> String {
        self.run(text, true, true, usize::MAX).text
    }

    /// The normalized text, and where in `text` each byte of it comes from, and where it ends: for
    /// all bytes of what a character became, that is where the character begins. Of a text of spaces
    /// that are removed, nothing.
    ///
    /// ```
    /// use jeton_stages::normalizer::{SentencePieceNormalizer, WhiteSpace};
    ///
    /// let normalizer = SentencePieceNormalizer::new(None, WhiteSpace::default(), vec![]);
    /// let (text, origins) = normalizer.normalize_with_origins("a  b ");
    /// assert_eq!(text, "▁a▁b");
    /// assert_eq!(origins, [0, 0, 0, 0, 1, 1, 1, 3, 4]);
    /// ```
    pub fn normalize_with_origins(&self, text: &str) -> (String, Vec<usize>) {
        let Output { text, runs, end } = self.run(text, true, true, usize::MAX);
        let mut origins = Vec::with_capacity(text.len() + 1);
        let ends = runs.iter().skip(1).map(|(start, _)| *start);
        for ((_, origin), end) in runs.iter().zip(ends.chain([text.len()])) {
            origins.resize(end, origin.start);
        }
        origins.extend(end);
        (text, origins)
    }

    /// Normalizes a part of a text, without what happens at the ends of the text; `back` says that
    /// the part is the last. What comes before the part is taken not to end in a space.
    pub fn normalize_part(&self, text: &str, back: bool) -> String {
        self.run(text, false, back, usize::MAX).text
    }

    /// Normalizes a text, or a stretch of one between added tokens.
    pub(super) fn normalize(&self, text: &mut AlignedText) -> Result<()> {
        let legacy = self.parts.white_space.legacy;
        let front = legacy || text.original_start() == 0;
        let back = legacy || text.is_last();
        let Output {
            text: new, runs, ..
        } = self.run(text.as_str(), front, back, text.room());
        let ends = runs.iter().skip(1).map(|(start, _)| *start);
        let lengths: Vec<usize> = runs
            .iter()
            .zip(ends.chain([new.len()]))
            .map(|((start, _), end)| end - start)
            .collect();
        let origins = runs.into_iter().map(|(_, origin)| origin).zip(lengths);
        text.replace(new, origins)
    }

    /// Whether it changes only white space.
    pub(super) fn changes_only_spaces(&self) -> bool {
        self.charsmap().is_none() && self.parts.user_defined.is_empty()
    }

    /// Whether a character is left as it is wherever it follows others that are.
    pub(super) fn keeps(&self, character: char) -> bool {
        let first = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
        !self.begins_user_defined(first)
            && (self.charsmap()).is_none_or(|map| map.keeps_character(character))
    }

    /// How long the user-defined piece is that stands at this place, if one does.
    pub fn user_defined_at(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text.as_bytes()[at..];
        if !self.begins_user_defined(*rest.first()?) {
            return None;
        }
        let last = self.matcher.prefixes(self.matcher.root(), rest).last();
        last.map(|(_, length)| length)
    }

    /// Whether a user-defined piece begins with this byte.
    pub fn begins_user_defined(&self, byte: u8) -> bool {
        self.firsts[usize::from(byte)]
    }

    /// What the text begins with: how many bytes, and what they become.
    fn step<'a>(&'a self, text: &'a str, at: usize) -> (usize, &'a str) {
        tick();
        // Only a map with keys that end inside a character leads there.
        if !text.is_char_boundary(at) {
            let mapped = self.parts.charsmap.as_ref();
            return mapped
                .and_then(|map| map.longest_prefix(&text.as_bytes()[at..]))
                .unwrap_or((1, "\u{FFFD}"));
        }
        let rest = &text[at..];
        if let Some(length) = self.user_defined_at(text, at) {
            return (length, &rest[..length]);
        }
        if let Some(map) = &self.parts.charsmap
            && let Some(mapped) = map.longest_prefix(rest.as_bytes())
        {
            return mapped;
        }
        let length = rest.chars().next().map_or(0, char::len_utf8);
        (length, &rest[..length])
    }

    /// How many bytes in front of a text become spaces, which are removed there.
    pub fn spaces_in_front(&self, text: &str) -> usize {
        let mut at = 0;
        while at < text.len() {
            let (length, new) = self.step(text, at);
            if new != " " {
                break;
            }
            at += length;
        }
        at
    }

    /// Normalizes text whose front and back are those of the whole text, or are not; no further
    /// than until there are more than `most` bytes.
    fn run(&self, text: &str, front: bool, back: bool, most: usize) -> Output {
        let WhiteSpace {
            add_dummy_prefix,
            remove_extra,
            escape,
            suffix,
            ..
        } = self.parts.white_space;
        let space = if escape { SPACE } else { " " };
        let mut at = if front && remove_extra {
            self.spaces_in_front(text)
        } else {
            0
        };
        if at == text.len() {
            return Output::default();
        }
        let expected = &text.as_bytes()[..text.len().min(most)];
        let mut output = Output {
            text: String::with_capacity(expected.len()),
            runs: room::with_capacity(Unit::Characters.count(expected)),
            end: None,
        };
        if front && add_dummy_prefix && !suffix {
            output.push(space, at..at);
        }
        let mut after_space = front && remove_extra;
        while at < text.len() && output.text.len() <= most {
            let (length, mut new) = self.step(text, at);
            let end = at + length;
            if after_space {
                new = new.trim_start_matches(' ');
            }
            if new.is_empty() {
                output.extend_to(end)
            } else {
                after_space = remove_extra && new.ends_with(' ');
                match new {
                    " " => output.push(space, at..end),
                    _ if escape && new.contains(' ') => {
                        output.push(&new.replace(' ', SPACE), at..end);
                    }
                    _ => output.push(new, at..end),
                }
            }
            at = end;
        }
        if back && remove_extra {
            at = output.trim_end(space, at);
        }
        if back && add_dummy_prefix && suffix {
            output.push(space, at..at);
        }
        output.end = Some(at);
        output
    }
}

impl Output {
    fn push(&mut self, text: &str, origin: Range<usize>) {
        self.runs.push((self.text.len(), origin));
        self.text.push_str(text);
    }

    /// What was removed up to `end` belongs to what comes before it.
    fn extend_to(&mut self, end: usize) {
        if let Some((_, origin)) = self.runs.last_mut() {
            origin.end = end;
        }
    }

    /// Removes spaces at the end; says where in the old text what is left ends.
    fn trim_end(&mut self, space: &str, end: usize) -> usize {
        let length = self.text.trim_end_matches(space).len();
        let mut cut = self.text.len();
        self.text.truncate(length);
        let mut end = end;
        while let Some((start, origin)) = self.runs.pop_if(|(start, _)| *start >= length) {
            (cut, end) = (start, origin.start);
        }
        // Of what a character became, the end alone may be spaces.
        match self.runs.last() {
            Some((_, origin)) if cut > length => origin.start,
            _ => end,
        }
    }
}

impl PartialEq for SentencePieceNormalizer {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl std::fmt::Debug for SentencePieceNormalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts.fmt(f)
    }
}

impl From<Parts> for SentencePieceNormalizer {
    fn from(parts: Parts) -> Self {
        let entries = parts.user_defined.iter().map(String::as_bytes).zip(0..);
        let mut firsts = Box::new([false; 256]);
        for first in (parts.user_defined.iter()).filter_map(|it| it.as_bytes().first()) {
            firsts[usize::from(*first)] = true;
        }
        Self {
            matcher: Trie::new(entries),
            firsts,
            parts,
        }
    }
}

impl From<SentencePieceNormalizer> for Parts {
    fn from(normalizer: SentencePieceNormalizer) -> Self {
        normalizer.parts
    }
}
