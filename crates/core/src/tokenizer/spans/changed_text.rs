//! A text as normalizers leave it, and where its changed stretches came from.
//!
//! Look here for how the lengths of tokens say where they stand in a text that is changed in places:
//! they say so in the new text, of which all but the changed stretches is as it was.

use std::ops::Range;
use std::rc::Rc;

use jeton_text::text::{AlignedText, Span, boundary_before};

/// A text as it is now, and its stretches that were changed.
pub struct Changed {
    /// UTF-8.
    pub text: Vec<u8>,
    edits: Vec<Edit>,
    /// The first one that may hold the byte that is asked for.
    next: usize,
}

/// A stretch that was changed.
struct Edit {
    /// Where it lies now, and where its old text did.
    range: Range<usize>,
    old: Range<usize>,
    /// Where in the old stretch its bytes came from; none if all of them came from all of it.
    text: Option<Rc<AlignedText>>,
}

impl From<&str> for Changed {
    /// A text of which no stretch is changed.
    fn from(text: &str) -> Self {
        Self {
            text: text.into(),
            ..Self::with_capacity(0)
        }
    }
}

impl Changed {
    /// No text yet, with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            text: Vec::with_capacity(bytes),
            edits: Vec::new(),
            next: 0,
        }
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Adds what became of a stretch of the old text, all of whose bytes came from all of it.
    pub fn push(&mut self, new: &str, old: Range<usize>) {
        self.add(new, old, None);
    }

    /// Adds what became of a stretch of the old text, which knows where in it its bytes came from.
    pub fn push_aligned(&mut self, new: &Rc<AlignedText>, old: Range<usize>) {
        self.add(new.as_str(), old, Some(Rc::clone(new)));
    }

    fn add(&mut self, new: &str, old: Range<usize>, text: Option<Rc<AlignedText>>) {
        let start = self.text.len();
        self.text.extend_from_slice(new.as_bytes());
        let range = start..self.text.len();
        self.edits.push(Edit { range, old, text });
    }

    /// Makes `next` the first edit that does not end before this byte; bytes come in order, but for a
    /// few.
    fn seek(&mut self, byte: usize) {
        while self.next > 0 && self.edits[self.next - 1].range.end > byte {
            self.next -= 1;
        }
        while self
            .edits
            .get(self.next)
            .is_some_and(|it| it.range.end <= byte)
        {
            self.next += 1;
        }
    }

    /// Where in the old text a byte stands that is in no edit.
    fn old(&self, byte: usize) -> usize {
        match self.next.checked_sub(1) {
            Some(last) => self.edits[last].old.end + byte - self.edits[last].range.end,
            None => byte,
        }
    }

    /// Where the text that is as it was goes on from this byte to, and where the byte stood; none in a
    /// stretch that was changed.
    pub fn unchanged(&mut self, byte: usize) -> Option<(usize, usize)> {
        self.seek(byte);
        let end = match self.edits.get(self.next) {
            Some(edit) => edit.range.start,
            None => self.text.len(),
        };
        (byte < end).then(|| (end, self.old(byte)))
    }

    /// Where a byte of the new text came from, as a span of the old one, which is `text`.
    pub fn origin(&mut self, text: &str, byte: usize) -> Span {
        self.seek(byte);
        if let Some(edit) = self.edits.get(self.next)
            && edit.range.contains(&byte)
        {
            let Range { start, end } = edit.old;
            let Some(aligned) = &edit.text else {
                return Span::new(start, end);
            };
            let at = byte - edit.range.start;
            let span = aligned.span_of(at..at + 1);
            return Span::new(start + span.start, start + span.end);
        }
        let start = boundary_before(text, self.old(byte));
        let length = text[start..].chars().next().map_or(0, char::len_utf8);
        Span::new(start, start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        // `…` becomes three full stops, and `½` becomes `1/2`.
        let old = "é…b½c";
        let mut changed = Changed::with_capacity(0);
        changed.text.extend_from_slice("é".as_bytes());
        changed.push("...", 2..5);
        changed.text.extend_from_slice(b"b");
        changed.push("1/2", 6..8);
        changed.text.extend_from_slice(b"c");
        assert_eq!(changed.unchanged(0), Some((2, 0)));
        assert_eq!(changed.unchanged(2), None);
        let mut origin = |byte| {
            let span = changed.origin(old, byte);
            (span.start, span.end)
        };
        assert_eq!([0, 1].map(&mut origin), [(0, 2); 2]);
        assert_eq!([2, 3, 4].map(&mut origin), [(2, 5); 3]);
        assert_eq!([5, 6, 9].map(&mut origin), [(5, 6), (6, 8), (8, 9)]);
        assert_eq!(changed.unchanged(9), Some((10, 8)));
    }
}
