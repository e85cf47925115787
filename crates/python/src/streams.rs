//! Streams for Python: text of ids as they come, ids of text as it comes.
//!
//! Look here for why a lock guards each: two threads that use one stream at once get what they would
//! get if they took turns. A thread holds it only while it holds the GIL, so no thread waits for it.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jeton_core::{
    DecodeStream as DecodeCore, EncodeStream as EncodeCore, ErrorKind, InvalidUtf8, Tokenizer,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::arrays;
use crate::errors::{Failure, Outcome, argument, guard};
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
        body: impl FnOnce(&mut DecodeCore, &mut String) -> Outcome<()>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let mut text = TEXT.take();
            text.clear();
            let mut core = self.core();
            let made = body(&mut core, &mut text).map_err(|failure| match failure {
                Failure::Core(error) if error.kind() == ErrorKind::Decode => {
                    Failure::NotText(core.begun().to_vec())
                }
                failure => failure,
            });
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
    ///     what may be a stop is not whole, and behind a stop.
    ///
    /// Raises:
    ///     ArgumentTypeError: `ids` are no integers.
    ///     ArgumentError: The stream is finished.
    ///     UnknownTokenError: An id stands for no token; the stream is as it was before that id.
    ///     DecodeError: With `errors="strict"`, bytes that are not UTF-8.
    #[pyo3(signature = (given, /), text_signature = "($self, ids, /)")]
    fn push<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        if given.is_exact_instance_of::<PyInt>() || !given.hasattr("__iter__")? {
            return self.text(py, |core, text| {
                let id = ids_from_python::id(|| "ids".to_owned(), given)?;
                Ok(core.push(&self.tokenizer, id, text)?)
            });
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
        self.text(py, |core, text| Ok(core.finish(text)?))
    }

    /// The stop before which the text ends; `None` so far, or if there was none.
    #[getter]
    fn stopped<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyString>> {
        let number = self.core().stopped_at()?;
        Some(self.stops.get(number)?.bind(py).clone())
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

/// A stream of text; `errors` is `"strict"`, `"ignore"` or `"replace"`.
pub fn decode_stream(
    tokenizer: &Arc<Tokenizer>,
    skip_special_tokens: bool,
    errors: &str,
    stops: Vec<Bound<'_, PyString>>,
) -> Outcome<DecodeStream> {
    let invalid = errors.parse::<InvalidUtf8>()?;
    let texts = stops.iter().enumerate().map(|(number, stop)| {
        let text = valid(|| format!("stop[{number}]"), stop)?;
        match text.is_empty() {
            false => Ok(text.to_owned()),
            true => Err(argument(format!(
                "stop[{number}] is empty: it would end every text"
            ))),
        }
    });
    let texts = texts.collect::<Outcome<Vec<String>>>()?;
    let core = DecodeCore::new(tokenizer, skip_special_tokens, invalid, texts);
    Ok(DecodeStream {
        tokenizer: Arc::clone(tokenizer),
        stops: stops.into_iter().map(Bound::unbind).collect(),
        core: Mutex::new(core),
    })
}

/// A stream of ids.
pub fn encode_stream(
    tokenizer: &Arc<Tokenizer>,
    add_special_tokens: bool,
) -> Outcome<EncodeStream> {
    let core = EncodeCore::new(tokenizer, add_special_tokens)?;
    Ok(EncodeStream {
        tokenizer: Arc::clone(tokenizer),
        core: Mutex::new(Some(core)),
    })
}
