//! From `str` to UTF-8, lone surrogates included.
//!
//! Look here for what becomes of a `str` that is not valid Unicode: a surrogate pair becomes the
//! character that it spells, a lone surrogate becomes U+FFFD. Spans still count the characters of
//! the caller's string.

use jeton_core::text::Span;
use jeton_core::tokenizer::spans::Row;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use crate::errors::{Outcome, argument, wrong_type};

/// The text of a string, called `name`, that has to be valid Unicode.
pub fn valid<'a>(
    name: impl FnOnce() -> String,
    string: &'a Bound<'_, PyString>,
) -> Outcome<&'a str> {
    string.to_str().or_else(|error| {
        let error = error.value(string.py());
        let position: usize = error.getattr("start")?.extract()?;
        let name = name();
        Err(argument(format!(
            "{name} is not valid Unicode: there is a lone surrogate at position {position}"
        )))
    })
}

/// A caller's text as UTF-8.
pub enum Text<'a> {
    /// As it is.
    Valid(&'a str),
    /// With its surrogates mended.
    Mended(Mended),
}

/// A text that held surrogates.
pub struct Mended {
    text: String,
    /// For each character of `text`, and for its end, the position in the caller's string.
    positions: Vec<usize>,
}

impl<'a> Text<'a> {
    /// The text of the argument called `name`.
    pub fn of(name: &str, value: &'a Bound<'_, PyAny>) -> Outcome<Self> {
        match value.cast::<PyString>() {
            Ok(string) => Self::of_string(string),
            Err(_) => Err(wrong_type(name, "a str", value)),
        }
    }

    /// The text of a string.
    pub fn of_string(string: &'a Bound<'_, PyString>) -> Outcome<Self> {
        match string.to_str() {
            Ok(text) => Ok(Self::Valid(text)),
            Err(_) => Ok(Self::Mended(Mended::of(string)?)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Valid(text) => text,
            Self::Mended(mended) => &mended.text,
        }
    }

    /// Makes spans in characters of [`Text::as_str`] such of the caller's string.
    pub fn rows_of_caller(&self, rows: &mut [Row]) {
        let Self::Mended(mended) = self else { return };
        for at in rows.iter_mut().flatten() {
            *at = mended.positions[*at as usize] as i64;
        }
    }

    /// Where a span of characters of [`Text::as_str`] lies in the caller's string.
    pub fn of_caller(&self, span: Span) -> Span {
        match self {
            Self::Valid(_) => span,
            Self::Mended(mended) => {
                Span::new(mended.positions[span.start], mended.positions[span.end])
            }
        }
    }
}

impl Mended {
    /// The same text, but with nothing in the place of surrogates that stand alone in `string`.
    pub fn without_surrogates(self, string: &Bound<'_, PyAny>) -> PyResult<Self> {
        let points = code_points(string.cast::<PyString>()?)?;
        let mut kept = Self {
            text: String::with_capacity(self.text.len()),
            positions: Vec::new(),
        };
        for (character, &at) in self.text.chars().zip(&self.positions) {
            let is_alone = matches!(points[at], 0xD800..=0xDFFF);
            if character != char::REPLACEMENT_CHARACTER || !is_alone {
                kept.text.push(character);
                kept.positions.push(at);
            }
        }
        kept.positions.extend(self.positions.last());
        Ok(kept)
    }

    fn of(string: &Bound<'_, PyString>) -> PyResult<Self> {
        let points = code_points(string)?;
        let mut text = String::with_capacity(points.len());
        let mut positions = Vec::with_capacity(points.len() + 1);
        let mut at = 0;
        while at < points.len() {
            positions.push(at);
            let pair = match points[at..] {
                [high @ 0xD800..=0xDBFF, low @ 0xDC00..=0xDFFF, ..] => {
                    char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
                }
                _ => None,
            };
            at += if pair.is_some() { 2 } else { 1 };
            let alone = char::from_u32(points[at - 1]);
            text.push(pair.or(alone).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        positions.push(at);
        Ok(Self { text, positions })
    }
}

/// How many characters of a string Python turns into numbers at a time: between, Ctrl-C is heard.
const AT_ONCE: usize = 1 << 18;

/// The code points of a string, surrogates among them.
fn code_points(string: &Bound<'_, PyString>) -> PyResult<Vec<u32>> {
    let length = string.len()?;
    let mut points = Vec::with_capacity(length);
    for start in (0..length).step_by(AT_ONCE) {
        string.py().check_signals()?;
        let part = string.get_item(PySlice::new(
            string.py(),
            start as isize,
            (start + AT_ONCE) as isize,
            1,
        ))?;
        let encoded = part.call_method1("encode", ("utf-32-le", "surrogatepass"))?;
        let numbers = encoded.extract::<&[u8]>()?.chunks_exact(4);
        points.extend(
            numbers.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        );
    }
    Ok(points)
}
