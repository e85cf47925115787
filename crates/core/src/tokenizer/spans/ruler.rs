//! Places of a text in bytes and in the unit that spans are given in.

use crate::text::{Span, Unit};

/// A place in a text: how many bytes and how many units stand before it.
#[derive(Clone, Copy)]
pub struct At {
    /// Bytes.
    pub byte: usize,
    /// Units.
    pub units: usize,
}

/// Counts units from the place that was asked for last.
pub(super) struct Ruler<'t> {
    text: &'t str,
    unit: Unit,
    /// Each byte is a unit.
    is_plain: bool,
    byte: usize,
    units: usize,
}

impl<'t> Ruler<'t> {
    /// For a text with so many units before it.
    pub fn new(text: &'t str, unit: Unit, before: usize) -> Self {
        Self {
            text,
            unit,
            is_plain: unit == Unit::Bytes || text.is_ascii(),
            byte: 0,
            units: before,
        }
    }

    /// How many units stand before this byte.
    #[inline]
    pub fn at(&mut self, byte: usize) -> usize {
        let text = self.text.as_bytes();
        match byte >= self.byte {
            true if self.is_plain => self.units += byte - self.byte,
            true => self.units += self.unit.count(&text[self.byte..byte]),
            false => {
                let back = match self.is_plain {
                    true => self.byte - byte,
                    false => self.unit.count(&text[byte..self.byte]),
                };
                // A walk along text that the tokens do not cover may have come less far in units.
                self.units = self.units.saturating_sub(back);
            }
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

    /// Says that so many units stand before this byte.
    pub fn set(&mut self, byte: usize, units: usize) {
        (self.byte, self.units) = (byte, units);
    }

    pub fn unit(&self) -> Unit {
        self.unit
    }
}
