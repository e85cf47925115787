//! Text on its way through the stages, and where each of its bytes came from.
//!
//! Look here for spans: every normalizer and pre-tokenizer changes text through [`AlignedText`],
//! so the way back to the original is kept in one place. New text has the span of everything that it
//! replaces. The other conventions (the span of an inserted character, the meaning of an empty range) are
//! those of Hugging Face `tokenizers`, except that it gives composed text the span of its first character.

use crate::interrupt::{paced, tick};
use std::ops::Range;
use std::rc::Rc;

use crate::error::Result;
use crate::length_limit::LengthLimit;
use crate::mem::room;

mod byte_set;
mod search;
mod units;
mod utf8;

pub use byte_set::ByteSet;
pub use search::{boundary_before, count, replaced, white_space};
pub use units::CharacterIndex;
pub use units::{Unit, UnitIndex};
pub use utf8::InvalidUtf8;
pub use utf8::{NotUtf8, WholeCharacters, is_in_utf8};

/// A half-open range of the original text, in bytes or in characters as the context says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first position.
    pub start: usize,
    /// One past the last position.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// A piece of text together with the span of the original that each byte came from.
///
/// Cheap to split: slices share one buffer until something rewrites them.
///
/// ```
/// use jeton_text::text::{AlignedText, Span};
///
/// let text = AlignedText::original("héllo");
/// let piece = text.slice(1..4);
/// assert_eq!(piece.as_str(), "él");
/// // A range that holds part of a character has the span of the whole character.
/// assert_eq!(piece.span_of(1..3), Span::new(1, 4));
/// ```
#[derive(Clone, Debug)]
pub struct AlignedText {
    buffer: Rc<Buffer>,
    range: Range<usize>,
    /// Where this piece begins in the original.
    start: usize,
    /// Whether nothing of the original is after this piece.
    is_last: bool,
}

#[derive(Debug)]
struct Buffer {
    text: String,
    /// One span per byte of `text`; `None` while `text` is the original itself.
    origin: Option<Vec<Span>>,
    /// The first byte of `text` that Hugging Face `tokenizers` no longer counts as the start of the
    /// original, nor any byte after it, whatever its span says; `usize::MAX` where the spans decide.
    late_from: usize,
    /// How long the pieces of the original are together.
    limit: Rc<LengthLimit>,
}

impl AlignedText {
    /// The original text itself.
    pub fn original(text: &str) -> Self {
        Self::within(text, &Rc::new(LengthLimit::of(text.len())))
    }

    /// The original text itself, if its length is counted already.
    pub fn within(text: &str, limit: &Rc<LengthLimit>) -> Self {
        Self {
            range: 0..text.len(),
            buffer: Rc::new(Buffer {
                text: text.to_owned(),
                origin: None,
                late_from: usize::MAX,
                limit: Rc::clone(limit),
            }),
            start: 0,
            is_last: true,
        }
    }

    /// The text of this piece.
    pub fn as_str(&self) -> &str {
        &self.buffer.text[self.range.clone()]
    }

    /// Whether no text is left.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Whether something has rewritten the text, though it may still be the same.
    pub fn is_rewritten(&self) -> bool {
        self.buffer.origin.is_some()
    }

    /// Where this piece begins in the original, in bytes.
    pub fn original_start(&self) -> usize {
        self.start
    }

    /// Whether this piece is at the start of the original by the count of Hugging Face `tokenizers`, for
    /// which a replacement of several characters is at the position of the last one.
    pub fn is_first(&self) -> bool {
        self.start == 0 && !self.is_late(0)
    }

    /// Whether the original ends with this piece.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// The part of this piece in `range` (bytes, on character boundaries).
    pub fn slice(&self, range: Range<usize>) -> Self {
        tick();
        let start = if range.is_empty() {
            self.start + range.start
        } else {
            self.span_of(range.clone()).start
        };
        Self {
            buffer: Rc::clone(&self.buffer),
            is_last: self.is_last && range.end == self.range.len(),
            range: self.range.start + range.start..self.range.start + range.end,
            start,
        }
    }

    /// The span of the original, in bytes, that `range` (bytes of this piece) came from.
    ///
    /// An empty range, and one past the end of the piece, is taken to count from where the piece
    /// begins: there is nothing to look up.
    pub fn span_of(&self, range: Range<usize>) -> Span {
        if range.is_empty() || range.end > self.range.len() {
            return Span::new(self.start + range.start, self.start + range.end);
        }
        let first = self.span_of_byte(range.start);
        let last = self.span_of_byte(range.end - 1);
        Span::new(first.start, last.end)
    }

    /// Whether a byte does not stand at the start of the original though its span may begin there.
    fn is_late(&self, index: usize) -> bool {
        self.range.start + index >= self.buffer.late_from
    }

    fn spans_of_bytes(&self, range: Range<usize>) -> impl Iterator<Item = Span> {
        paced(range).map(|index| self.span_of_byte(index))
    }

    fn span_of_byte(&self, index: usize) -> Span {
        let index = self.range.start + index;
        match &self.buffer.origin {
            Some(spans) => spans[index],
            None => {
                let boundary = |at: &usize| self.buffer.text.is_char_boundary(*at);
                let start = (0..=index).rev().find(boundary);
                let end = (index + 1..self.buffer.text.len()).find(boundary);
                Span::new(start.unwrap_or(0), end.unwrap_or(self.buffer.text.len()))
            }
        }
    }

    /// Replaces each character by those that `replacement` gives; all have its span.
    ///
    /// # Errors
    /// All pieces together have become too long.
    pub fn flat_map<I: IntoIterator<Item = char>>(
        &mut self,
        replacement: impl Fn(char) -> I,
    ) -> Result<()> {
        let old = self.as_str();
        let room = self.room();
        let mut text = String::with_capacity(old.len());
        let mut spans = room::with_capacity(old.len());
        let mut late_from = usize::MAX;
        for (at, character) in paced(old.char_indices()) {
            let before = text.len();
            if self.is_late(at) {
                late_from = late_from.min(before);
            }
            text.extend(replacement(character));
            spans.extend(std::iter::repeat_n(
                self.span_of_byte(at),
                text.len() - before,
            ));
            if text.len() > room {
                break;
            }
        }
        self.set(text, spans, late_from)
    }

    /// Keeps only `range` (bytes, on character boundaries). Unlike [`slice`](Self::slice), this
    /// drops text from a piece without moving where the piece begins in the original.
    pub fn keep(&mut self, range: Range<usize>) {
        self.range = self.range.start + range.start..self.range.start + range.end;
    }

    /// Replaces each of `ranges` (bytes, in order, not overlapping) by `content`, which has the span of
    /// the range; where nothing is replaced, that of what comes before it.
    ///
    /// # Errors
    /// All pieces together have become too long.
    pub fn replace_ranges(
        &mut self,
        ranges: impl IntoIterator<Item = Range<usize>>,
        content: &str,
    ) -> Result<()> {
        let mut ranges = ranges.into_iter().peekable();
        if ranges.peek().is_none() {
            return Ok(());
        }
        let old = self.as_str();
        let room = self.room();
        let mut text = String::with_capacity(old.len());
        let mut spans = room::with_capacity(old.len());
        let mut done = 0;
        let late = self.buffer.late_from.saturating_sub(self.range.start);
        let mut late_from = usize::MAX;
        for range in ranges {
            if (done..range.start).contains(&late) {
                late_from = late_from.min(text.len() + late - done);
            }
            text.push_str(&old[done..range.start]);
            spans.extend(self.spans_of_bytes(done..range.start));
            done = range.end;
            let span = if range.is_empty() {
                self.span_before(done)
            } else {
                let last = range.end - 1;
                let span = self.span_of(range);
                if span.start == 0 && (self.span_of_byte(last).start > 0 || self.is_late(last)) {
                    late_from = late_from.min(text.len());
                }
                span
            };
            text.push_str(content);
            spans.extend(std::iter::repeat_n(span, content.len()));
            if text.len() > room {
                break;
            }
        }
        if (done..old.len()).contains(&late) {
            late_from = late_from.min(text.len() + late - done);
        }
        text.push_str(&old[done..]);
        spans.extend(self.spans_of_bytes(done..old.len()));
        self.set(text, spans, late_from)
    }

    /// Puts `prefix` in front; it shares the span of the first character. Empty text stays empty.
    ///
    /// # Errors
    /// All pieces together have become too long.
    pub fn prepend(&mut self, prefix: &str) -> Result<()> {
        if self.is_empty() || prefix.is_empty() {
            return Ok(());
        }
        let first = self.span_of_byte(0);
        let old = self.as_str();
        let mut text = String::with_capacity(prefix.len() + old.len());
        text.push_str(prefix);
        text.push_str(old);
        let spans = std::iter::repeat_n(first, prefix.len())
            .chain(self.spans_of_bytes(0..old.len()))
            .collect();
        let late_from = match self.buffer.late_from.saturating_sub(self.range.start) {
            0 => 0,
            late => late.saturating_add(prefix.len()),
        };
        self.set(text, spans, late_from)
    }

    /// Keeps the characters that `keep` accepts.
    ///
    /// # Errors
    /// All pieces together have become too long.
    pub fn retain(&mut self, keep: impl Fn(char) -> bool) -> Result<()> {
        if paced(self.as_str().chars()).all(&keep) {
            return Ok(());
        }
        let old = self.as_str();
        let mut text = String::with_capacity(old.len());
        let mut spans = room::with_capacity(old.len());
        let mut late_from = usize::MAX;
        for (at, character) in paced(old.char_indices()).filter(|(_, c)| keep(*c)) {
            if self.is_late(at) {
                late_from = late_from.min(text.len());
            }
            text.push(character);
            spans.extend(std::iter::repeat_n(
                self.span_of_byte(at),
                character.len_utf8(),
            ));
        }
        self.set(text, spans, late_from)
    }

    /// Replaces the text by `text`. For each run of its bytes, `origins` says which bytes of the old
    /// text it replaces (none for new text), and how long it is.
    ///
    /// # Errors
    /// All pieces together have become too long.
    pub fn replace(
        &mut self,
        text: String,
        origins: impl IntoIterator<Item = (Range<usize>, usize)>,
    ) -> Result<()> {
        let length = self.range.len();
        let mut spans = room::with_capacity(text.len());
        let mut late_from = usize::MAX;
        for (origin, count) in paced(origins.into_iter()) {
            if self.is_late(origin.start) {
                late_from = late_from.min(spans.len());
            }
            let span = if !origin.is_empty() {
                self.span_of(origin)
            } else if origin.start < length {
                let start = self.span_of_byte(origin.start).start;
                Span::new(start, start)
            } else {
                let end = self.span_before(length).end;
                Span::new(end, end)
            };
            spans.extend(std::iter::repeat_n(span, count));
        }
        self.set(text, spans, late_from)
    }

    /// What an insertion at `position` shares: the span of the byte before it.
    fn span_before(&self, position: usize) -> Span {
        match position.checked_sub(1) {
            Some(previous) => self.span_of_byte(previous),
            None => Span::new(self.start, self.start),
        }
    }

    /// How long this piece may become, in bytes.
    pub fn room(&self) -> usize {
        self.buffer.limit.room(self.range.len())
    }

    fn set(&mut self, text: String, spans: Vec<Span>, late_from: usize) -> Result<()> {
        debug_assert_eq!(text.len(), spans.len());
        let limit = Rc::clone(&self.buffer.limit);
        limit.change(self.range.len(), text.len())?;
        self.range = 0..text.len();
        self.buffer = Rc::new(Buffer {
            text,
            origin: Some(spans),
            late_from,
            limit,
        });
        Ok(())
    }
}

/// The pieces that the pre-tokenizer splits the text into, in order.
///
/// Each stage either splits the pieces finer or rewrites them; a piece without text is dropped.
#[derive(Clone, Debug)]
pub struct Pieces(Vec<AlignedText>);

impl Pieces {
    /// One piece: the whole text.
    pub fn new(text: AlignedText) -> Self {
        Self(if text.is_empty() { vec![] } else { vec![text] })
    }

    /// The pieces in order.
    pub fn iter(&self) -> std::slice::Iter<'_, AlignedText> {
        self.0.iter()
    }

    /// Replaces each piece by those that `cut` makes of it.
    ///
    /// # Errors
    /// The first error of `cut`.
    pub fn cut(
        &mut self,
        mut cut: impl FnMut(AlignedText, &mut Vec<AlignedText>) -> Result<()>,
    ) -> Result<()> {
        let mut finer = Vec::with_capacity(self.0.len());
        for piece in self.0.drain(..) {
            cut(piece, &mut finer)?;
        }
        finer.retain(|piece| !piece.is_empty());
        self.0 = finer;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &AlignedText) -> Vec<(usize, usize)> {
        (0..text.as_str().len())
            .map(|i| text.span_of(i..i + 1))
            .map(|span| (span.start, span.end))
            .collect()
    }

    #[test]
    fn the_rest_of_a_piece_still_begins_where_the_piece_did() {
        let mut text = AlignedText::original("xab").slice(1..3);
        text.keep(1..2);
        assert_eq!(text.as_str(), "b");
        assert_eq!(text.original_start(), 1);
        assert_eq!(spans(&text), [(2, 3)]);
    }

    #[test]
    fn a_replacement_has_the_span_of_all_that_it_replaces() {
        let mut text = AlignedText::original("a--b");
        text.replace_ranges([1..3, 4..4], "_").unwrap();
        assert_eq!(text.as_str(), "a_b_");
        assert_eq!(spans(&text), [(0, 1), (1, 3), (3, 4), (3, 4)]);
    }

    #[test]
    fn a_replacement_of_several_characters_is_not_first() {
        let is_first = |text: &str, range: Range<usize>| {
            let mut text = AlignedText::original(text);
            text.replace_ranges([range], "_").unwrap();
            text.prepend("x").unwrap();
            (text.slice(0..2).is_first(), text.original_start())
        };
        assert_eq!(is_first("--b", 0..2), (false, 0));
        assert_eq!(is_first("-b", 0..1), (true, 0));
        assert_eq!(is_first("-a--", 1..3), (true, 0));
        assert_eq!(is_first("a--", 1..3), (true, 0));
        assert_eq!(is_first("éb", 0..2), (true, 0));
    }

    #[test]
    fn a_prefix_has_the_span_of_the_first_character() {
        let mut text = AlignedText::original("xéy").slice(1..4);
        text.prepend("▁").unwrap();
        assert_eq!(text.span_of(0..3), Span::new(1, 3));
        assert_eq!(text.span_of(0..6), Span::new(1, 4));
    }
}
