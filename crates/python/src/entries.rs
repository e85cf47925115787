//! The entries of a batch: texts, pairs of texts, words that the caller has split a text into.
//!
//! Look here for what counts as a pair, as words, and as no text at all.

use jeton_core::tokenizer::spans::Row;
use jeton_core::{Entry, Input};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};

use crate::encoded::Source;
use crate::errors::{Outcome, wrong_type, wrong_type_but};
use crate::text::Text;

/// What the entries of a batch may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Texts.
    Texts,
    /// Texts, and tuples of two texts.
    TextsOrPairs,
    /// Words of a text, and tuples of two such.
    Words,
}

impl Kind {
    /// What `is_split_into_words` says of a call that takes pairs.
    pub fn of(is_split_into_words: bool) -> Self {
        if is_split_into_words {
            Self::Words
        } else {
            Self::TextsOrPairs
        }
    }
}

/// One text of an entry.
#[derive(Clone, Copy)]
enum Side {
    Text,
    /// So many words.
    Words(usize),
}

/// The one or two texts of an entry.
type Shape = (Side, Option<Side>);

/// Strings, or characters of one, after which Ctrl-C is heard.
const POLLED: usize = 1 << 10;

/// The strings of a batch, held whatever another thread does to a list meanwhile.
pub struct Held<'py> {
    /// Those of all entries in order: strings, and what stands for an empty one.
    strings: Vec<Bound<'py, PyAny>>,
    /// What they are put together to; none where each is an entry.
    shapes: Option<Vec<Shape>>,
    nulls_are_empty: bool,
}

/// The strings of a batch as UTF-8.
pub struct Strings<'a> {
    /// Those of all entries in order.
    pub texts: Vec<Text<'a>>,
    shapes: Option<&'a [Shape]>,
}

impl Strings<'_> {
    /// Makes spans in characters such of the caller's strings: `offsets` say which rows are those of
    /// each entry, and `origins` from which of its strings each came, where an entry has several.
    pub fn rows_of_caller(&self, offsets: &[i64], origins: &[Option<u32>], rows: &mut [Row]) {
        let mut first = 0;
        for (entry, places) in offsets.windows(2).enumerate() {
            let places = places[0] as usize..places[1] as usize;
            let Some(shapes) = self.shapes else {
                self.texts[entry].rows_of_caller(&mut rows[places]);
                continue;
            };
            for (row, origin) in rows[places.clone()].iter_mut().zip(&origins[places]) {
                if let Some(origin) = origin {
                    let text = &self.texts[first + *origin as usize];
                    text.rows_of_caller(std::slice::from_mut(row));
                }
            }
            first += strings_of(&shapes[entry]);
        }
    }

    /// Whether a string held surrogates.
    pub fn are_mended(&self) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| matches!(text, Text::Mended(_)))
    }

    /// Whether an entry is a pair.
    pub fn has_pairs(&self) -> bool {
        let mut shapes = self.shapes.unwrap_or_default().iter();
        shapes.any(|(_, second)| second.is_some())
    }
}

/// How many strings an entry has.
fn strings_of((first, second): &Shape) -> usize {
    let count = |side: &Side| match side {
        Side::Text => 1,
        Side::Words(count) => *count,
    };
    count(first) + second.as_ref().map_or(0, count)
}

impl<'py> Held<'py> {
    /// The strings of these entries.
    pub fn of(entries: Vec<Bound<'py, PyAny>>, kind: Kind, nulls_are_empty: bool) -> Outcome<Self> {
        let is_pair = |entry: &Bound<'_, PyAny>| entry.is_instance_of::<PyTuple>();
        let mut held = Self {
            strings: Vec::new(),
            shapes: None,
            nulls_are_empty,
        };
        if kind == Kind::Texts || kind == Kind::TextsOrPairs && !entries.iter().any(is_pair) {
            for (row, entry) in entries.iter().enumerate() {
                if row.is_multiple_of(POLLED) {
                    entry.py().check_signals()?;
                }
                held.check(|| format!("texts[{row}]"), entry)?;
            }
            held.strings = entries;
            return Ok(held);
        }
        let mut shapes = Vec::with_capacity(entries.len());
        for (row, entry) in entries.iter().enumerate() {
            entry.py().check_signals()?;
            let name = || format!("texts[{row}]");
            shapes.push(match pair_in(entry, kind)? {
                Some([first, second]) => {
                    let first = held.push(&|| name() + "[0]", &first, kind)?;
                    let second = held.push(&|| name() + "[1]", &second, kind)?;
                    (first, Some(second))
                }
                None => (held.push(&name, entry, kind)?, None),
            });
        }
        held.shapes = Some(shapes);
        Ok(held)
    }

    /// The strings of one text, or of a pair.
    pub fn of_one(
        text: &Bound<'py, PyAny>,
        text_pair: Option<&Bound<'py, PyAny>>,
        kind: Kind,
    ) -> Outcome<Self> {
        let mut held = Self {
            strings: Vec::new(),
            shapes: None,
            nulls_are_empty: false,
        };
        let first = held.push(&|| "text".to_owned(), text, kind)?;
        let second = text_pair.map(|pair| held.push(&|| "text_pair".to_owned(), pair, kind));
        held.shapes = Some(vec![(first, second.transpose()?)]);
        Ok(held)
    }

    /// The strings as UTF-8.
    pub fn strings(&self) -> Outcome<Strings<'_>> {
        let mut texts = Vec::with_capacity(self.strings.len());
        for (number, string) in self.strings.iter().enumerate() {
            if number.is_multiple_of(POLLED) || string.len().is_ok_and(|length| length > POLLED) {
                string.py().check_signals()?;
            }
            texts.push(match string.cast::<PyString>() {
                Ok(string) => Text::of_string(string)?,
                Err(_) => Text::Valid(""),
            });
        }
        Ok(Strings {
            texts,
            shapes: self.shapes.as_deref(),
        })
    }

    /// What the strings are put together to, `rows` being all of them; nothing where each is an entry.
    pub fn entries<'t>(&self, rows: &'t [&'t str]) -> Option<Vec<Entry<'t>>> {
        let mut rest = rows;
        let mut next = |side: Side| match side {
            Side::Text => {
                let (text, behind) = rest.split_first().expect("a text has a string");
                rest = behind;
                Input::Text(text)
            }
            Side::Words(count) => {
                let (words, behind) = rest.split_at(count);
                rest = behind;
                Input::Words(words)
            }
        };
        let shapes = self.shapes.as_ref()?.iter();
        let entries = shapes.map(|(first, second)| Entry {
            first: next(*first),
            second: second.map(&mut next),
        });
        Some(entries.collect())
    }

    /// The texts of the only entry, held on to; `counts` says how many tokens each string has.
    pub fn sources(&self, counts: &[usize]) -> Vec<Source> {
        let [(first, second)] = self.shapes.as_deref().unwrap_or_default() else {
            return Vec::new();
        };
        let mut rest = self.strings.iter().zip(counts);
        let sides = std::iter::once(first).chain(second);
        let sources = sides.filter_map(|side| match side {
            Side::Text => {
                let (string, &count) = rest.next()?;
                let string = string.cast::<PyString>().ok()?;
                Some(Source::Text(string.clone().unbind(), count))
            }
            Side::Words(words) => {
                let counts = rest.by_ref().take(*words).map(|(_, &count)| count);
                Some(Source::Words(counts.collect()))
            }
        });
        sources.collect()
    }

    /// Adds a text, or the words of one.
    fn push(
        &mut self,
        name: &dyn Fn() -> String,
        value: &Bound<'py, PyAny>,
        kind: Kind,
    ) -> Outcome<Side> {
        if kind != Kind::Words {
            self.check(name, value)?;
            self.strings.push(value.clone());
            return Ok(Side::Text);
        }
        if is_null(value) && self.nulls_are_empty {
            return Ok(Side::Words(0));
        }
        const EXPECTED: &str = "a list of words (is_split_into_words=True)";
        let words = if is_unordered(value) {
            None
        } else {
            value.try_iter().ok()
        };
        let Some(words) = words else {
            return Err(wrong_type(&name(), EXPECTED, value));
        };
        let before = self.strings.len();
        for word in words {
            let word = word?;
            let number = self.strings.len() - before;
            self.check(|| format!("{}[{number}]", name()), &word)?;
            self.strings.push(word);
        }
        Ok(Side::Words(self.strings.len() - before))
    }

    /// # Errors
    /// It is no string, and nothing that stands for an empty one.
    fn check(&self, name: impl FnOnce() -> String, value: &Bound<'py, PyAny>) -> Outcome<()> {
        if value.is_instance_of::<PyString>() {
            return Ok(());
        }
        let hint = if is_null(value) {
            if self.nulls_are_empty {
                return Ok(());
            }
            "nulls=\"empty\" of a batch takes it for an empty text"
        } else if value.is_instance_of::<PyTuple>() {
            "a pair is a tuple of two"
        } else if value.is_instance_of::<PyList>() {
            "a pair is a tuple of two; words go with is_split_into_words=True"
        } else {
            return Err(wrong_type(&name(), "a str", value));
        };
        Err(wrong_type_but(&name(), "a str", value, hint))
    }
}

/// The two texts, if an entry is a pair: a tuple of two, and where words are meant, not of two words.
fn pair_in<'py>(entry: &Bound<'py, PyAny>, kind: Kind) -> Outcome<Option<[Bound<'py, PyAny>; 2]>> {
    let Ok(tuple) = entry.cast::<PyTuple>() else {
        return Ok(None);
    };
    if tuple.len() == 2 {
        let sides = [tuple.get_item(0)?, tuple.get_item(1)?];
        let is_word = |side: &Bound<'_, PyAny>| side.is_instance_of::<PyString>();
        return Ok((kind != Kind::Words || !sides.iter().any(is_word)).then_some(sides));
    }
    Ok(None)
}

/// What has no order of words, or is one text.
fn is_unordered(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
}

/// What stands for a text that is not there: `None`, a NaN of any kind, pandas' `NA`.
fn is_null(value: &Bound<'_, PyAny>) -> bool {
    // Only a NaN differs from itself.
    value.is_none()
        || value.ne(value).unwrap_or(false)
        || value.get_type().name().is_ok_and(|name| name == "NAType")
}
