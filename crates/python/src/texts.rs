//! The texts of a batch: an iterable of `str`, or a column of strings of Arrow.
//!
//! Look here for what becomes of bytes that are not UTF-8 and of nulls.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use jeton_core::batch;
use jeton_core::corpus::InvalidUtf8;
use jeton_core::error::did_you_mean;
use jeton_core::interrupt::Listener;
use jeton_core::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rayon::prelude::*;

use crate::arrow::Strings;
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
            None => Err(Error::new(ErrorKind::Argument, "is null, which is no text")
                .hint("pass nulls=\"empty\" to take it for an empty one")),
        }
    }
}

/// Runs `work` on a batch of texts, with as many threads as it is told.
pub fn with_texts<R: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    no_text: NoText,
    work: impl Fn(&[&str], usize, &AtomicBool) -> Result<R, batch::Failure> + Send + Sync,
) -> Outcome<R> {
    with_callers_texts(py, texts, no_text, work, |_, _| ())
}

/// As [`with_texts`]; `finish` makes of the result what it is in the caller's strings, unless they are
/// a column of Arrow, which holds UTF-8.
pub fn with_callers_texts<R: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    no_text: NoText,
    work: impl Fn(&[&str], usize, &AtomicBool) -> Result<R, batch::Failure> + Send + Sync,
    finish: impl FnOnce(&mut R, &[Text<'_>]),
) -> Outcome<R> {
    const EXPECTED: &str = "an iterable of str or a column of Arrow";
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(wrong_type("texts", EXPECTED, texts));
    }
    // The strings are held, whatever another thread does to the list meanwhile.
    let strings: Vec<Bound<'_, PyAny>> = match texts.cast::<PyList>() {
        Ok(list) => list.iter().collect(),
        Err(_) => match Strings::of("texts", texts)? {
            Some(strings) => return with_strings(py, &strings, no_text, work),
            None => texts
                .try_iter()
                .map_err(|_| wrong_type("texts", EXPECTED, texts))?
                .collect::<PyResult<_>>()?,
        },
    };
    let texts = strings
        .iter()
        .enumerate()
        .map(|(row, string)| match string.cast::<PyString>() {
            Ok(string) => Text::of_string(string),
            Err(_) if string.is_none() && no_text.nulls_are_empty => Ok(Text::Valid("")),
            Err(_) => Err(wrong_type(&format!("texts[{row}]"), "a str", string)),
        })
        .collect::<Outcome<Vec<Text<'_>>>>()?;
    let rows: Vec<&str> = texts.iter().map(Text::as_str).collect();
    let bytes = rows.iter().map(|text| text.len()).sum();
    let done = pool::run(py, bytes, |threads, cancelled| {
        work(&rows, threads, cancelled)
    })?;
    let mut done = done.map_err(|(row, error)| error.at(format!("texts[{row}]")))?;
    finish(&mut done, &texts);
    Ok(done)
}

/// As [`with_texts`], of a column of Arrow.
fn with_strings<R: Send>(
    py: Python<'_>,
    strings: &Strings,
    no_text: NoText,
    work: impl Fn(&[&str], usize, &AtomicBool) -> Result<R, batch::Failure> + Send + Sync,
) -> Outcome<R> {
    let rows = strings.rows();
    let bytes = rows.iter().flatten().map(|bytes| bytes.len()).sum();
    let done = pool::run(py, bytes, |threads, cancelled| {
        let texts: Vec<_> = match threads {
            1 => rows.iter().map(|bytes| no_text.text(*bytes)).collect(),
            _ => Listener::told(|_| rows.par_iter().map(|bytes| no_text.text(*bytes)).collect()),
        };
        // The error is that of the first row that is no text, whichever thread found one first.
        let texts = texts.into_iter().enumerate();
        let texts = texts.map(|(row, text)| text.map_err(|error| (row, error)));
        let texts = texts.collect::<Result<Vec<Cow<'_, str>>, _>>()?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        work(&texts, threads, cancelled)
    })?;
    Ok(done.map_err(|(row, error)| error.at(format!("texts[{row}]")))?)
}
