//! Places of a text in bytes and in the unit of the spans.

use jeton_text::text::{Span, Unit};

/// A place in a text: how many bytes and how many units come before it.
#[derive(Clone, Copy)]
pub struct At {
    /// Bytes.
    pub byte: usize,
    /// Units.
    pub units: usize,
}

impl At {
    /// The place after a token of this many bytes and units.
    #[inline(always)]
    pub fn after(self, bytes: usize, units: usize) -> Self {
        Self {
            byte: self.byte + bytes,
            units: self.units + units,
        }
    }
}

/// Counts units from the place that was requested last.
pub(super) struct Ruler<'t> {
    text: &'t str,
    pub unit: Unit,
    /// Each byte is a unit.
    is_plain: bool,
    /// Text comes before this one.
    goes_on: bool,
    byte: usize,
    units: usize,
}

impl<'t> Ruler<'t> {
    /// For a text with this many units before it.
    pub fn new(text: &'t str, unit: Unit, before: usize) -> Self {
        Self {
            text,
            unit,
            is_plain: unit == Unit::Bytes || text.is_ascii(),
            goes_on: before > 0,
            byte: 0,
            units: before,
        }
    }

    /// How many units come before this byte.
    #[inline]
    pub fn at(&mut self, byte: usize) -> usize {
        let text = self.text.as_bytes();
        let (from, to) = (byte.min(self.byte), byte.max(self.byte));
        let between = if self.is_plain {
            to - from
        } else {
            self.unit.count(&text[from..to])
        };
        if byte >= self.byte {
            self.units += between;
        } else {
            // Where tokens do not cover the text, a walk may have counted fewer units.
            self.units = self.units.saturating_sub(between);
        }
        self.byte = byte;
        self.units
    }

    /// A span of bytes in units.
    #[inline]
    pub fn of(&mut self, span: Span) -> Span {
        let start = self.at(span.start);
        Span::new(start, self.at(span.end))
    }

    /// Whether the text of the call begins at this byte.
    pub fn is_front(&self, byte: usize) -> bool {
        byte == 0 && !self.goes_on
    }

    /// A byte this many characters after another one, but not after a third.
    pub fn behind(&self, byte: usize, characters: usize, most: usize) -> usize {
        let mut begins = (byte..most).filter(|at| self.text.is_char_boundary(*at));
        begins.nth(characters).unwrap_or(most)
    }

    /// The byte this many characters before another one, if there are as many.
    pub fn before(&self, byte: usize, characters: usize) -> Option<usize> {
        let mut begins = (0..=byte)
            .rev()
            .filter(|at| self.text.is_char_boundary(*at));
        let found = begins.nth(characters);
        found.or_else(|| self.goes_on.then_some(0))
    }

    /// Says that this many units come before this byte.
    pub fn set(&mut self, byte: usize, units: usize) {
        (self.byte, self.units) = (byte, units);
    }
}
