//! Streams for Python: text from ids as they arrive, ids from text as it arrives.
//!
//! Look here for why each has a lock: two threads that use one stream at once get the same as
//! if they took turns. Nothing that holds a lock runs Python, which may wait for another thread: one
//! that is attached to Python and waits for that lock would never be let go.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::{
    CountedText as CountedCore, DecodeOptions, DecodeStream as DecodeCore,
    EncodeStream as EncodeCore, ErrorKind, InvalidUtf8, StopRules, Stopped, Tokenizer,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::arrays;
use crate::errors::{Failure, Outcome, argument, guard, wrong_type};
use crate::ids_from_python;
use crate::signals::detached;
use crate::text::{Text, valid};

thread_local! {
    /// Where text goes before it becomes a Python object.
    static TEXT: Cell<String> = const { Cell::new(String::new()) };
}

/// Text as soon as it is sure, of ids that come one by one: what `Tokenizer.decode_stream` gives.
///
/// What it gives, put together, is what `decode` gives for all ids, up to the first stop.
///
/// Example:
///     >>> from jeton import textbook
///     >>> tok = textbook.hug_pug_pun_bun_hugs()
///     >>> stream = tok.decode_stream(stop=["s"])
///     >>> [stream.push(id) for id in tok.encode("hugs")], stream.finish(), stream.stopped
///     (['hug', ''], '', 's')
#[pyclass(frozen, module = "jeton")]
pub struct DecodeStream {
    tokenizer: Arc<Tokenizer>,
    stops: Vec<Py<PyString>>,
    core: Mutex<DecodeCore>,
}

impl DecodeStream {
    fn core(&self) -> MutexGuard<'_, DecodeCore> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text that `body` writes.
    fn text<'py>(
        &self,
        py: Python<'py>,
        body: impl FnOnce(&mut DecodeCore, &mut String) -> jeton_core::Result<()>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let mut text = TEXT.take();
            text.clear();
            let mut core = self.core();
            let made = body(&mut core, &mut text).map_err(|error| match error.kind() {
                ErrorKind::Decode => Failure::NotText(core.incomplete().to_vec()),
                _ => Failure::Core(error),
            });
            drop(core);
            let given = PyString::new(py, &text);
            TEXT.set(text);
            made.map(|()| given)
        })
    }
}

#[pymethods]
impl DecodeStream {
    /// The text that is sure with one id more, or with several.
    ///
    /// Args:
    ///     ids: An id, or any iterable of ids.
    ///
    /// Returns:
    ///     What follows on the text given before; empty while a character, a run of byte tokens or
    ///     what may be a stop is not whole, and after a stop.
    ///
    /// Raises:
    ///     ArgumentTypeError: `ids` are no integers.
    ///     ArgumentError: The stream is finished.
    ///     UnknownTokenError: An id has no token; the stream is as it was before that id.
    ///     DecodeError: With `errors="strict"`, bytes that are not UTF-8.
    #[pyo3(signature = (given, /), text_signature = "($self, ids, /)")]
    fn push<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        if given.is_exact_instance_of::<PyInt>() || !given.hasattr("__iter__")? {
            let id = guard(py, || ids_from_python::id(|| "ids".to_owned(), given))?;
            return self.text(py, |core, text| core.push(&self.tokenizer, id, text));
        }
        let ids = guard(py, || ids_from_python::ids("ids", given))?;
        self.text(py, |core, text| {
            for id in ids {
                core.push(&self.tokenizer, id, text)?;
            }
            Ok(())
        })
    }

    /// The rest of the text: there are no more ids.
    ///
    /// Raises:
    ///     DecodeError: With `errors="strict"`, bytes that are not UTF-8.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.text(py, DecodeCore::finish)
    }

    /// The stop before which the text ends, if by now there was one: a text of `stop`, or the spelling
    /// of a token of `stop_ids`.
    #[getter]
    fn stopped<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyString>> {
        let stopped = self.core().stopped()?;
        match stopped {
            Stopped::Text(number) => Some(self.stops.get(number)?.bind(py).clone()),
            Stopped::Id(id) => {
                let spelling = self.tokenizer.token_bytes(id).unwrap_or_default();
                Some(PyString::new(py, &String::from_utf8_lossy(spelling)))
            }
        }
    }

    /// The id of `stop_ids` before which the text ends, if it was one of these.
    #[getter]
    fn stopped_id(&self) -> Option<u32> {
        match self.core().stopped()? {
            Stopped::Text(_) => None,
            Stopped::Id(id) => Some(id),
        }
    }

    /// How many of the ids that were pushed belong to the text: all of them until there is a stop; then
    /// those before the id that it stopped at, or the fewest that give what comes before the text that
    /// it stopped at.
    #[getter]
    fn kept_tokens(&self, py: Python<'_>) -> PyResult<usize> {
        guard(py, || Ok(self.core().kept_tokens(&self.tokenizer)?))
    }

    /// A stream that goes on from here by itself, as the beams of a search do.
    fn copy(&self, py: Python<'_>) -> Self {
        Self {
            tokenizer: Arc::clone(&self.tokenizer),
            stops: self.stops.iter().map(|stop| stop.clone_ref(py)).collect(),
            core: Mutex::new(self.core().clone()),
        }
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy(py)
    }
}

/// Ids as soon as they are sure, of text that comes part by part.
#[pyclass(frozen, module = "jeton._core")]
pub struct EncodeStream {
    tokenizer: Arc<Tokenizer>,
    core: Mutex<Option<EncodeCore>>,
}

impl EncodeStream {
    fn take(&self) -> Outcome<EncodeCore> {
        let core = self
            .core
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        core.ok_or_else(|| argument("this stream is finished: begin another one"))
    }
}

#[pymethods]
impl EncodeStream {
    /// The ids that are sure with more of the text.
    fn push<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        guard(py, || {
            let text = Text::of("the text of a stream", text)?;
            let mut core = self.take()?;
            let mut ids = Vec::new();
            let pushed = detached(py, || core.push(&self.tokenizer, text.as_str(), &mut ids))?;
            pushed?;
            *self.core.lock().unwrap_or_else(PoisonError::into_inner) = Some(core);
            Ok(arrays::array(py, ids)?)
        })
    }

    /// The ids of the rest.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        guard(py, || {
            let core = self.take()?;
            let mut ids = Vec::new();
            detached(py, || core.finish(&self.tokenizer, &mut ids))??;
            Ok(arrays::array(py, ids)?)
        })
    }
}

/// A text that grows at either end, and how many tokens it has: what `Tokenizer.counted_text` gives.
///
/// Only what is new is encoded, so counting while a text grows takes as long as counting it once. Each
/// count is what `count` gives for the same text.
///
/// Example:
///     >>> from jeton import textbook
///     >>> text = textbook.hug_pug_pun_bun_hugs().counted_text("pug hug")
///     >>> text.append(" hugs")
///     >>> text.prepend("a bun and a ")
///     >>> text.text, text.count() == textbook.hug_pug_pun_bun_hugs().count(text.text)
///     ('a bun and a pug hug hugs', True)
///     >>> text.count(2, 5)
///     2
#[pyclass(frozen, module = "jeton")]
pub struct CountedText {
    tokenizer: Arc<Tokenizer>,
    core: Mutex<CountedCore>,
}

impl CountedText {
    /// Runs `work` while no other thread uses the text.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut CountedCore, &Tokenizer) -> T + Send,
    ) -> Outcome<T> {
        detached(py, || {
            let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut core, &self.tokenizer)
        })
    }
}

#[pymethods]
impl CountedText {
    /// Appends text.
    ///
    /// Raises:
    ///     ArgumentTypeError: `text` is not a `str`.
    ///     ArgumentError: `text` holds a lone surrogate.
    #[pyo3(signature = (text, /))]
    fn append(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(py, || {
            let text = valid_text(text)?;
            self.with(py, |core, tokenizer| core.append(tokenizer, text))
        })
    }

    /// Prepends text.
    ///
    /// Raises:
    ///     ArgumentTypeError: `text` is not a `str`.
    ///     ArgumentError: `text` holds a lone surrogate.
    #[pyo3(signature = (text, /))]
    fn prepend(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(py, || {
            let text = valid_text(text)?;
            self.with(py, |core, tokenizer| core.prepend(tokenizer, text))
        })
    }

    /// The number of tokens of the text, or of a range of it by itself.
    ///
    /// Counting a range takes about as long as counting a few kilobytes, however long it is.
    ///
    /// Args:
    ///     start, stop: The range in characters, as in `text[start:stop]`: negative places count from the
    ///         end. By default the whole text.
    ///
    /// Raises:
    ///     ArgumentTypeError: A place that is not an int.
    ///     EncodeError: As `Tokenizer.encode`.
    #[pyo3(signature = (start = None, stop = None))]
    fn count(
        &self,
        py: Python<'_>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        guard(py, || {
            if start.is_none() && stop.is_none() {
                return Ok(self.with(py, CountedCore::count)??);
            }
            let length = self.with(py, |core, _| core.characters())?;
            let start = place("start", start, 0, length)?;
            let stop = place("stop", stop, length, length)?.max(start);
            let range = start..stop;
            Ok(self.with(py, |core, tokenizer| core.count_range(tokenizer, range))??)
        })
    }

    /// The text.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || self.with(py, |core, _| core.text()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guard(py, || self.with(py, |core, _| core.characters()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let characters = self.__len__(py)?;
        let s = if characters == 1 { "" } else { "s" };
        Ok(format!("<jeton.CountedText: {characters} character{s}>"))
    }
}

/// A `str` of the caller without lone surrogates.
fn valid_text<'a>(text: &'a Bound<'_, PyAny>) -> Outcome<&'a str> {
    let string = text
        .cast::<PyString>()
        .map_err(|_| wrong_type("text", "a str", text))?;
    valid(|| "text".to_owned(), string)
}

/// A place in a text of this length, read as in a slice of Python.
fn place(
    name: &str,
    given: Option<&Bound<'_, PyAny>>,
    default: usize,
    length: usize,
) -> Outcome<usize> {
    let Some(given) = given else {
        return Ok(default);
    };
    let number = given
        .cast::<PyInt>()
        .map_err(|_| wrong_type(name, "an int", given))?;
    let farthest = if number.lt(0)? {
        isize::MIN
    } else {
        isize::MAX
    };
    let place: isize = number.extract().unwrap_or(farthest);
    let from_start = if place < 0 {
        length.saturating_sub(place.unsigned_abs())
    } else {
        place.unsigned_abs()
    };
    Ok(from_start.min(length))
}

/// A text whose tokens are counted while it grows.
pub fn counted_text(
    tokenizer: &Arc<Tokenizer>,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> Outcome<CountedText> {
    let core = CountedCore::new(tokenizer, special, add_special_tokens)?;
    Ok(CountedText {
        tokenizer: Arc::clone(tokenizer),
        core: Mutex::new(core),
    })
}

/// A stream of text; `errors` is `"strict"`, `"ignore"` or `"replace"`.
pub fn decode_stream(
    tokenizer: &Arc<Tokenizer>,
    options: DecodeOptions,
    errors: &str,
    stops: Vec<Bound<'_, PyString>>,
    mut stop_ids: Vec<u32>,
    min_tokens: usize,
) -> Outcome<DecodeStream> {
    let invalid = errors.parse::<InvalidUtf8>()?;
    let texts = stops.iter().enumerate().map(|(number, stop)| {
        let text = valid(|| format!("stop[{number}]"), stop)?;
        if text.is_empty() {
            Err(argument(format!(
                "stop[{number}] is empty: it would end every text"
            )))
        } else {
            Ok(text.to_owned())
        }
    });
    let texts = texts.collect::<Outcome<Vec<String>>>()?;
    stop_ids.sort_unstable();
    let rules = StopRules {
        texts,
        ids: stop_ids,
        min_tokens,
    };
    let core = DecodeCore::new(tokenizer, options, invalid, rules)?;
    Ok(DecodeStream {
        tokenizer: Arc::clone(tokenizer),
        stops: stops.into_iter().map(Bound::unbind).collect(),
        core: Mutex::new(core),
    })
}

/// A stream of ids.
pub fn encode_stream(
    tokenizer: &Arc<Tokenizer>,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> Outcome<EncodeStream> {
    let core = EncodeCore::new(tokenizer, special, add_special_tokens)?;
    Ok(EncodeStream {
        tokenizer: Arc::clone(tokenizer),
        core: Mutex::new(Some(core)),
    })
}
