//! From `str` to UTF-8, lone surrogates included, and back.
//!
//! Look here for how a `str` that is not valid Unicode is read: a surrogate pair becomes the
//! character that it spells, a lone surrogate becomes U+FFFD. Spans still count the characters of
//! the caller's string. Long strings are converted part by part, so that Ctrl-C works.

use jeton_core::interrupt::tick;
use jeton_core::room;
use jeton_core::text::Span;
use jeton_core::tokenizer::spans::Row;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{Failure, Outcome, argument, wrong_type};
use crate::signals::detached;

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
    /// The same, of a long string.
    Converted(String),
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
        room::ask(string.len()?.saturating_mul(ROOM));
        // Python turns a string into UTF-8 in one go, and keeps that.
        if string.len()? >= PARTS_FROM && !has_utf8(string)? {
            return Self::of_long(string);
        }
        match string.to_str() {
            Ok(text) => Ok(Self::Valid(text)),
            Err(_) => Ok(Self::Mended(Mended::of(string)?)),
        }
    }

    fn of_long(string: &Bound<'_, PyString>) -> Outcome<Self> {
        let points = Points::of(string)?;
        match detached(string.py(), || points.to_utf8())? {
            Some(text) => Ok(Self::Converted(text)),
            None => Ok(Self::Mended(Mended::of(string)?)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Valid(text) => text,
            Self::Converted(text) => text,
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
            Self::Valid(_) | Self::Converted(_) => span,
            Self::Mended(mended) => {
                Span::new(mended.positions[span.start], mended.positions[span.end])
            }
        }
    }
}

/// Bytes of memory that a call takes for a character, about: its UTF-8, ids, places.
const ROOM: usize = 24;

impl Mended {
    /// The same text, but with nothing in the place of lone surrogates in `string`.
    pub fn without_surrogates(self, string: &Bound<'_, PyString>) -> PyResult<Self> {
        let points = Points::of(string)?;
        let mut kept = Self {
            text: String::with_capacity(self.text.len()),
            positions: Vec::new(),
        };
        for (number, (character, &at)) in self.text.chars().zip(&self.positions).enumerate() {
            if number.is_multiple_of(AT_ONCE) {
                string.py().check_signals()?;
            }
            let is_alone = matches!(points.at(at), 0xD800..=0xDFFF);
            if character != char::REPLACEMENT_CHARACTER || !is_alone {
                kept.text.push(character);
                kept.positions.push(at);
            }
        }
        kept.positions.extend(self.positions.last());
        Ok(kept)
    }

    fn of(string: &Bound<'_, PyString>) -> Outcome<Self> {
        let points = Points::of(string)?;
        detached(string.py(), || Self::of_points(&points))
    }

    fn of_points(points: &Points<'_>) -> Self {
        let length = points.len();
        let mut text = String::with_capacity(length);
        let mut positions = Vec::with_capacity(length + 1);
        let mut at = 0;
        while at < length {
            tick();
            positions.push(at);
            let point = points.at(at);
            let next = || (at + 1 < length).then(|| points.at(at + 1));
            let pair = match point {
                0xD800..=0xDBFF => match next() {
                    Some(low @ 0xDC00..=0xDFFF) => {
                        char::from_u32(0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00))
                    }
                    _ => None,
                },
                _ => None,
            };
            at += if pair.is_some() { 2 } else { 1 };
            let alone = char::from_u32(point);
            text.push(pair.or(alone).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        positions.push(at);
        Self { text, positions }
    }
}

/// Characters of a string, or bytes of a text, from which on it is converted part by part.
const PARTS_FROM: usize = 1 << 22;

/// Characters or bytes of a part; between parts, Ctrl-C is heard.
const AT_ONCE: usize = 1 << 18;

/// Code points that are looked at together, since many texts are ASCII for the most part.
const POINTS_AT_ONCE: usize = 16;

/// Whether a string lies in memory as UTF-8 too: it is ASCII, or was turned into UTF-8 before, which
/// only its size says.
fn has_utf8(string: &Bound<'_, PyString>) -> PyResult<bool> {
    let width = match Points::of(string)? {
        Points::Bytes(_) if is_ascii(string)? => return Ok(true),
        Points::Bytes(_) => 1,
        Points::Pairs(_) => 2,
        Points::Numbers(_) => 4,
    };
    let class = string.py().get_type::<PyString>();
    let size: usize = class.call_method1("__sizeof__", (string,))?.extract()?;
    Ok(size > (width + 1) * string.len()?)
}

fn is_ascii(string: &Bound<'_, PyString>) -> PyResult<bool> {
    string.call_method0("isascii")?.extract()
}

/// The code points of a string, surrogates among them.
enum Points<'a> {
    Bytes(&'a [u8]),
    Pairs(&'a [u16]),
    Numbers(&'a [u32]),
}

impl<'a> Points<'a> {
    fn of(string: &'a Bound<'_, PyString>) -> PyResult<Self> {
        // SAFETY: a string never changes, and this one lives as long as what borrows from it. CPython
        // lays strings out as `PyStringData` has it.
        Ok(match unsafe { string.data()? } {
            PyStringData::Ucs1(points) => Self::Bytes(points),
            PyStringData::Ucs2(points) => Self::Pairs(points),
            PyStringData::Ucs4(points) => Self::Numbers(points),
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Bytes(points) => points.len(),
            Self::Pairs(points) => points.len(),
            Self::Numbers(points) => points.len(),
        }
    }

    #[inline]
    fn at(&self, at: usize) -> u32 {
        match self {
            Self::Bytes(points) => points[at].into(),
            Self::Pairs(points) => points[at].into(),
            Self::Numbers(points) => points[at],
        }
    }

    /// The text, unless there are surrogates.
    fn to_utf8(&self) -> Option<String> {
        match self {
            Self::Bytes(points) => utf8_of(points),
            Self::Pairs(points) => utf8_of(points),
            Self::Numbers(points) => utf8_of(points),
        }
    }
}

/// The text of these code points, unless there are surrogates.
fn utf8_of<P: Copy + Into<u32>>(points: &[P]) -> Option<String> {
    let mut text = Vec::with_capacity(points.len());
    for part in points.chunks(AT_ONCE) {
        text.reserve(3 * part.len());
        let (blocks, rest) = part.as_chunks::<POINTS_AT_ONCE>();
        for block in blocks {
            if block.iter().fold(0, |bits, &point| bits | point.into()) < 0x80 {
                let mut ascii = [0; POINTS_AT_ONCE];
                for (byte, &point) in ascii.iter_mut().zip(block) {
                    *byte = point.into() as u8;
                }
                text.extend_from_slice(&ascii);
            } else {
                push(&mut text, block)?;
            }
        }
        push(&mut text, rest)?;
    }
    // SAFETY: it holds whole characters, as `char` writes them, and ASCII.
    Some(unsafe { String::from_utf8_unchecked(text) })
}

/// Adds the UTF-8 of at most [`POINTS_AT_ONCE`] code points, unless there are surrogates.
fn push<P: Copy + Into<u32>>(text: &mut Vec<u8>, points: &[P]) -> Option<()> {
    let (mut bytes, mut length) = ([0; 4 * POINTS_AT_ONCE], 0);
    for &point in points {
        let character = char::from_u32(point.into())?;
        length += character.encode_utf8(&mut bytes[length..]).len();
    }
    text.extend_from_slice(&bytes[..length]);
    Some(())
}

/// The string of these bytes; `errors` is as in `bytes.decode`.
pub fn string_of<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
) -> Outcome<Bound<'py, PyString>> {
    // A handler that somebody registered may ask for what comes before and after.
    const KNOWN: [&str; 5] = [
        "replace",
        "strict",
        "ignore",
        "backslashreplace",
        "surrogateescape",
    ];
    if bytes.len() < PARTS_FROM || !KNOWN.contains(&errors) {
        return part_of(py, bytes, errors);
    }
    let mut parts = Vec::with_capacity(bytes.len() / AT_ONCE + 1);
    let mut rest = bytes;
    while !rest.is_empty() {
        py.check_signals()?;
        let (part, behind) = rest.split_at(whole_characters(rest, AT_ONCE));
        parts.push(match part_of(py, part, errors) {
            Err(Failure::NotText(_)) => return Err(Failure::NotText(bytes.to_vec())),
            part => part?,
        });
        rest = behind;
    }
    joined(py, parts)
}

/// Many bytes as a Python object.
pub fn bytes_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.len() < PARTS_FROM {
        return Ok(PyBytes::new(py, bytes));
    }
    // SAFETY: it is a new object, or null.
    let whole = unsafe {
        let length = bytes.len() as ffi::Py_ssize_t;
        let whole = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length);
        Bound::from_owned_ptr_or_err(py, whole)?.cast_into_unchecked::<PyBytes>()
    };
    let mut at = 0;
    for part in bytes.chunks(AT_ONCE) {
        py.check_signals()?;
        // SAFETY: nobody else has seen the object, which has room for all parts.
        unsafe {
            let place = ffi::PyBytes_AS_STRING(whole.as_ptr())
                .cast::<u8>()
                .cast_mut();
            std::ptr::copy_nonoverlapping(part.as_ptr(), place.add(at), part.len());
        }
        at += part.len();
    }
    Ok(whole)
}

/// The string of bytes that are decoded by themselves.
fn part_of<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> Outcome<Bound<'py, PyString>> {
    // Python finds out while it copies whether the bytes are UTF-8.
    if let Ok(text) = PyString::from_bytes(py, bytes) {
        return Ok(text);
    }
    match errors {
        "replace" => Ok(PyString::new(py, &String::from_utf8_lossy(bytes))),
        "strict" => Err(Failure::NotText(bytes.to_vec())),
        _ => {
            let text = PyBytes::new(py, bytes).call_method1("decode", ("utf-8", errors))?;
            Ok(text.cast_into::<PyString>().map_err(PyErr::from)?)
        }
    }
}

/// How many bytes, about `most`, can be decoded by themselves: no character, and no part of one, goes on
/// after them.
fn whole_characters(bytes: &[u8], most: usize) -> usize {
    if bytes.len() <= most {
        return bytes.len();
    }
    let goes_on = |at: usize| bytes[at] & 0xC0 == 0x80;
    // A character has three such bytes at most: after more of them, none of these is of a character.
    let begins = (most - 3..=most).rev().find(|&at| !goes_on(at));
    begins.unwrap_or(most)
}

/// The parts as one string.
fn joined<'py>(py: Python<'py>, parts: Vec<Bound<'py, PyString>>) -> Outcome<Bound<'py, PyString>> {
    let mut length = 0;
    let mut largest = 0;
    for part in &parts {
        length += part.len()?;
        largest = largest.max(match Points::of(part)? {
            Points::Bytes(_) if is_ascii(part)? => 0x7F,
            Points::Bytes(_) => 0xFF,
            Points::Pairs(_) => 0xFFFF,
            Points::Numbers(_) => 0x10_FFFF,
        });
    }
    // SAFETY: it is a new string, or null.
    let whole = unsafe {
        let whole = ffi::PyUnicode_New(length as ffi::Py_ssize_t, largest);
        Bound::from_owned_ptr_or_err(py, whole)?.cast_into_unchecked::<PyString>()
    };
    let mut at = 0;
    for part in parts {
        py.check_signals()?;
        let count = part.len()? as ffi::Py_ssize_t;
        // SAFETY: nobody else has seen the whole, which has room for all parts and for the largest of
        // their characters.
        let copied =
            unsafe { ffi::PyUnicode_CopyCharacters(whole.as_ptr(), at, part.as_ptr(), 0, count) };
        if copied < 0 {
            return Err(PyErr::fetch(py).into());
        }
        at += count;
    }
    Ok(whole)
}
