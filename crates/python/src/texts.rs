//! The texts of a batch: an iterable of `str` and other entries, or an Arrow column of strings.
//!
//! Look here for how bytes that are not UTF-8 and nulls are treated, in `entries` for pairs and
//! words.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use jeton_core::batch;
use jeton_core::error::did_you_mean;
use jeton_core::interrupt::Listener;
use jeton_core::room;
use jeton_core::text::InvalidUtf8;
use jeton_core::{Entry, Error, ErrorKind, Tokenizer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rayon::prelude::*;

use crate::arrow::Strings as Column;
use crate::entries::{Held, Kind, Strings};
use crate::errors::{Outcome, argument, wrong_type};
use crate::pool;
use crate::text::Text;

/// What becomes of that which is no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoText {
    errors: InvalidUtf8,
    nulls_are_empty: bool,
}

impl NoText {
    /// What `errors=` and `nulls=` of a call say.
    pub fn of(errors: &Bound<'_, PyAny>, nulls: &Bound<'_, PyAny>) -> Outcome<Self> {
        let Ok(word) = errors.cast::<PyString>() else {
            const EXPECTED: &str = "\"strict\", \"replace\" or \"ignore\"";
            return Err(wrong_type("errors", EXPECTED, errors));
        };
        let errors = word.to_str()?.parse()?;
        let Ok(word) = nulls.cast::<PyString>() else {
            return Err(wrong_type("nulls", "\"raise\" or \"empty\"", nulls));
        };
        let nulls_are_empty = match word.to_str()? {
            "raise" => false,
            "empty" => true,
            other => {
                return Err(argument(match did_you_mean(other, ["raise", "empty"]) {
                    Some(close) => format!("nulls={other:?}: did you mean {close:?}?"),
                    None => format!("nulls={other:?} is neither \"raise\" nor \"empty\""),
                }));
            }
        };
        Ok(Self {
            errors,
            nulls_are_empty,
        })
    }

    /// The text of a row of bytes, where `None` is a null.
    fn text<'a>(self, bytes: Option<&'a [u8]>) -> jeton_core::Result<Cow<'a, str>> {
        match bytes {
            Some(bytes) => self.errors.text(bytes),
            None if self.nulls_are_empty => Ok(Cow::Borrowed("")),
            None => Err(Error::new(ErrorKind::Argument, "is null, not a text")
                .hint("pass nulls=\"empty\" to take it for an empty one")),
        }
    }
}

/// What a call has to do with.
pub enum Rows<'a> {
    /// Texts.
    Texts(&'a [&'a str]),
    /// Entries of which some are pairs, or words that were split before.
    Entries(&'a [Entry<'a>]),
}

/// Runs `work` on a batch of texts, with as many threads as it is given.
pub fn with_texts<R: Send>(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    texts: &Bound<'_, PyAny>,
    no_text: NoText,
    work: impl Fn(&[&str], usize, &AtomicBool) -> Result<R, batch::Failure> + Send + Sync,
) -> Outcome<R> {
    let work = |rows: Rows<'_>, threads, cancelled: &_| match rows {
        Rows::Texts(texts) => work(texts, threads, cancelled),
        Rows::Entries(_) => unreachable!("texts are no other entries"),
    };
    with_entries(py, tokenizer, texts, Kind::Texts, no_text, work, |_, _| {
        Ok(())
    })
}

/// Runs `work` on a batch of entries, with as many threads as it is given. `finish` gets the strings of
/// all entries in order, to make of the result what it is in those, unless they are a column of
/// Arrow, which holds UTF-8.
pub fn with_entries<R: Send>(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    texts: &Bound<'_, PyAny>,
    kind: Kind,
    no_text: NoText,
    work: impl Fn(Rows<'_>, usize, &AtomicBool) -> Result<R, batch::Failure> + Send + Sync,
    finish: impl FnOnce(&mut R, &Strings<'_>) -> Outcome<()>,
) -> Outcome<R> {
    const EXPECTED: &str = "an iterable of str or a column of Arrow";
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(wrong_type("texts", EXPECTED, texts));
    }
    let entries: Vec<Bound<'_, PyAny>> = match texts.cast::<PyList>() {
        Ok(list) => list.iter().collect(),
        Err(_) => {
            // A column of lists of words is gone through as any iterable.
            if kind != Kind::Words
                && let Some(column) = Column::of("texts", texts)?
            {
                return with_column(py, tokenizer, &column, no_text, work);
            }
            texts
                .try_iter()
                .map_err(|_| wrong_type("texts", EXPECTED, texts))?
                .collect::<PyResult<_>>()?
        }
    };
    let held = Held::of(entries, kind, no_text.nulls_are_empty)?;
    let strings = held.strings()?;
    let rows: Vec<&str> = strings.texts.iter().map(Text::as_str).collect();
    let bytes: usize = rows.iter().map(|text| text.len()).sum();
    let entries = held.entries(&rows);
    let rows = match &entries {
        Some(entries) => Rows::Entries(entries),
        None => Rows::Texts(&rows),
    };
    room::ask(bytes * ROOM);
    let done = pool::run(py, work_of(tokenizer, bytes), |threads, cancelled| {
        work(rows, threads, cancelled)
    })?;
    let mut done = done.map_err(|(row, error)| error.at(format!("texts[{row}]")))?;
    finish(&mut done, &strings)?;
    Ok(done)
}

/// Bytes of memory that a batch takes for a byte of text, about: ids and places, twice while they are
/// joined.
const ROOM: usize = 16;

/// So many bytes are this much work, which says whether Ctrl-C is listened to.
pub fn work_of(tokenizer: &Tokenizer, bytes: usize) -> usize {
    if tokenizer.backtracks() {
        bytes.max(pool::WITHOUT_GIL)
    } else {
        bytes
    }
}

/// As [`with_entries`], of a column of Arrow.
fn with_column<R: Send>(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    column: &Column,
    no_text: NoText,
    work: impl Fn(Rows<'_>, usize, &AtomicBool) -> Result<R, batch::Failure> + Send + Sync,
) -> Outcome<R> {
    let rows = column.rows();
    let bytes: usize = rows.iter().flatten().map(|bytes| bytes.len()).sum();
    room::ask(bytes * ROOM);
    let done = pool::run(py, work_of(tokenizer, bytes), |threads, cancelled| {
        let texts: Vec<_> = match threads {
            1 => rows.iter().map(|bytes| no_text.text(*bytes)).collect(),
            _ => Listener::lend(|_| rows.par_iter().map(|bytes| no_text.text(*bytes)).collect()),
        };
        // The error is that of the first row that is no text, whichever thread found one first.
        let texts = texts.into_iter().enumerate();
        let texts = texts.map(|(row, text)| text.map_err(|error| (row, error)));
        let texts = texts.collect::<Result<Vec<Cow<'_, str>>, _>>()?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        work(Rows::Texts(&texts), threads, cancelled)
    })?;
    Ok(done.map_err(|(row, error)| error.at(format!("texts[{row}]")))?)
}
