//! Python functions as stages: how they are called, and how their exceptions reach the caller.

use std::ops::Range;

use jeton_core::function::{Caller, Rewritten};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::errors::{Outcome, argument, exception, guard, raised, wrong_type};

/// A function of Python, to be a stage.
#[pyclass(frozen, module = "jeton._core")]
pub struct Function {
    core: jeton_core::function::Function,
}

#[pymethods]
impl Function {
    #[new]
    fn new(function: Bound<'_, PyAny>) -> Self {
        // As long as it is there, its address is its own.
        let number = function.as_ptr() as u64;
        let called = Called {
            function: function.unbind(),
        };
        Self {
            core: jeton_core::function::Function::new(number, called),
        }
    }

    /// By which a stage's JSON names it.
    #[getter]
    fn number(&self) -> u64 {
        self.core.number()
    }

    /// The function of a number.
    #[staticmethod]
    fn known(py: Python<'_>, number: u64) -> PyResult<Py<PyAny>> {
        guard(py, || {
            let known = jeton_core::function::Function::known(number);
            let known = known.ok_or_else(|| argument("a function that no longer exists"))?;
            match known.caller().downcast_ref::<Called>() {
                Some(called) => Ok(called.function.clone_ref(py)),
                None => Err(argument("no function of Python")),
            }
        })
    }
}

struct Called {
    function: Py<PyAny>,
}

impl Caller for Called {
    fn rewrite(&self, text: &str) -> jeton_core::Result<Rewritten> {
        self.call(text, rewritten)
    }

    fn cut(&self, text: &str) -> jeton_core::Result<Vec<Range<usize>>> {
        self.call(text, pieces)
    }
}

impl Called {
    /// What `read` makes of what the function gives for a text.
    fn call<T>(
        &self,
        text: &str,
        read: impl FnOnce(&Bound<'_, PyAny>, &str) -> Outcome<T>,
    ) -> jeton_core::Result<T> {
        Python::attach(|py| {
            let given = self.function.bind(py).call1((text,));
            let read = given.map_err(Into::into).and_then(|it| read(&it, text));
            read.map_err(|failure| raised(exception(py, failure)))
        })
    }
}

/// A text, or pairs of a text and the number of characters that it came from.
fn rewritten(given: &Bound<'_, PyAny>, text: &str) -> Outcome<Rewritten> {
    if let Ok(new) = given.cast::<PyString>() {
        return Ok(Rewritten::Whole(new.to_str()?.to_owned()));
    }
    let wrong = || {
        let expected = "a str, or a list of a str and the number of characters that it came from";
        wrong_type("what a normalizer's function gives", expected, given)
    };
    let mut rest = text.chars();
    let mut parts = Vec::new();
    for part in given.try_iter().map_err(|_| wrong())? {
        let part = part?;
        let (new, count): (String, usize) = part.extract().map_err(|_| wrong())?;
        let before = rest.as_str().len();
        if count > 0 && rest.nth(count - 1).is_none() {
            let message = "the parts that a normalizer's function gives came from more characters than the text has";
            return Err(argument(message));
        }
        parts.push((new, before - rest.as_str().len()));
    }
    Ok(Rewritten::Parts(parts))
}

/// Pieces as they are in the text, or where they begin and end, in characters.
fn pieces(given: &Bound<'_, PyAny>, text: &str) -> Outcome<Vec<Range<usize>>> {
    let wrong = || {
        let expected = "a list of pieces of the text, or of pairs of where each begins and ends";
        wrong_type("what a pre-tokenizer's function gives", expected, given)
    };
    if given.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    // The end of the last piece, in bytes and in characters.
    let (mut at, mut characters) = (0, 0);
    for piece in given.try_iter().map_err(|_| wrong())? {
        let piece = piece?;
        let range = if let Ok(piece) = piece.cast::<PyString>() {
            let piece = piece.to_str()?;
            let Some(found) = text[at..].find(piece) else {
                let message = format!(
                    "the piece {piece:?} that a pre-tokenizer's function gives is not in the text behind \
                     the pieces before it"
                );
                return Err(argument(message));
            };
            at + found..at + found + piece.len()
        } else {
            let pair = piece.cast::<PyTuple>().map_err(|_| wrong())?;
            let (start, end): (usize, usize) = pair.extract().map_err(|_| wrong())?;
            let place = |from: usize, count: usize| {
                let mut rest = text[from..].chars();
                match count {
                    0 => Some(from),
                    _ => rest
                        .nth(count - 1)
                        .map(|_| text.len() - rest.as_str().len()),
                }
            };
            let begin = start
                .checked_sub(characters)
                .and_then(|count| place(at, count));
            let ends = begin.zip(end.checked_sub(start));
            let Some((begin, end)) =
                ends.and_then(|(begin, count)| Some((begin, place(begin, count)?)))
            else {
                let message = format!(
                    "the piece ({start}, {end}) that a pre-tokenizer's function gives overlaps the one \
                     before it, or is not within the text"
                );
                return Err(argument(message));
            };
            begin..end
        };
        characters += text[at..range.end].chars().count();
        at = range.end;
        if !range.is_empty() {
            ranges.push(range);
        }
    }
    Ok(ranges)
}
