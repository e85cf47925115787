//! From failures of the core to Python exceptions, in one place.
//!
//! Look here for which exception class an [`ErrorKind`] becomes, and how panics are kept from
//! crossing the border: every entry runs inside [`guard`].

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use jeton_core::room::{self, NoRoom, NoThread};
use jeton_core::{Error, ErrorKind};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::allocator::replenish;

/// What a body inside [`guard`] can fail with.
pub enum Failure {
    /// The core says so.
    Core(Error),
    /// Python says so.
    Python(PyErr),
    /// The bytes of the decoded tokens are not valid UTF-8, and the caller asked for strictness.
    NotText(Vec<u8>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl<'a, 'py> From<pyo3::CastError<'a, 'py>> for Failure {
    fn from(error: pyo3::CastError<'a, 'py>) -> Self {
        Self::Python(error.into())
    }
}

/// A result inside [`guard`].
pub type Outcome<T> = Result<T, Failure>;

/// Runs the body of an entry: failures become exceptions, and so do panics.
#[inline]
pub fn guard<T>(py: Python<'_>, body: impl FnOnce() -> Outcome<T>) -> PyResult<T> {
    let mut body = Some(body);
    let mut value = None;
    guarded(py, &mut || {
        value = body.take().map(|body| body()).transpose()?;
        Ok(())
    })?;
    Ok(value.expect("a body without a failure has a value"))
}

/// As [`guard`], compiled once, and not for each type of value.
fn guarded(py: Python<'_>, body: &mut dyn FnMut() -> Outcome<()>) -> PyResult<()> {
    if room::is_scarce() {
        // Python, too, uses the reserve.
        replenish();
    }
    let result = catch_unwind(AssertUnwindSafe(body));
    // What threads that were not asked have used may be gone by now.
    let is_short = room::is_scarce() && !replenish();
    match result {
        Ok(Ok(())) if is_short => Err(no_room(0)),
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => Err(exception(py, failure)),
        Err(payload) => Err(exception_of_panic(py, payload.as_ref())),
    }
}

#[cold]
fn exception_of_panic(py: Python<'_>, payload: &(dyn Any + Send)) -> PyErr {
    match payload.downcast_ref::<NoRoom>() {
        Some(NoRoom { bytes }) => no_room(*bytes),
        None if payload.is::<NoThread>() => no_thread(""),
        None => internal(py, payload),
    }
}

/// What Python itself raises where no thread can be started.
#[cold]
pub fn no_thread(why: &str) -> PyErr {
    PyRuntimeError::new_err(format!("can't start new thread{why}"))
}

#[cold]
fn no_room(bytes: usize) -> PyErr {
    PyMemoryError::new_err(match bytes {
        0 => "there is no memory left: pass less at a time".to_owned(),
        _ => format!("there is no memory for {bytes} bytes more: pass less at a time"),
    })
}

/// The exception of a failure.
#[cold]
pub fn exception(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Python(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => {
            let message = format!("a str is not valid Unicode: {}", error.value(py));
            raise(py, "ArgumentError", message)
        }
        Failure::Python(error) => error,
        Failure::Core(error) if error.kind() == ErrorKind::Caller => {
            let lost = || {
                raise(
                    py,
                    "InternalError",
                    "what a function raised was lost".to_owned(),
                )
            };
            exception_of(&error).unwrap_or_else(lost)
        }
        Failure::Core(error) => {
            let made = raise(py, class_of(error.kind()), error.place_and_message());
            let value = made.value(py);
            let (hint, parameter) = error.remedy();
            let told = hint.map_or(Ok(()), |hint| value.setattr("hint", hint));
            match told.and_then(|()| value.setattr("parameter", parameter)) {
                Ok(()) => made,
                Err(failure) => failure,
            }
        }
        Failure::NotText(bytes) => not_text(py, &bytes),
    }
}

/// The name in `jeton.errors` of the class that a kind of failure becomes.
fn class_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Argument => "ArgumentError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Encode => "EncodeError",
        ErrorKind::SpecialToken => "SpecialTokenError",
        ErrorKind::Lookup => "UnknownTokenError",
        ErrorKind::File => "FileError",
        ErrorKind::FileMissing => "MissingFileError",
        ErrorKind::Decode => "DecodeError",
        ErrorKind::Training => "TrainingError",
        ErrorKind::Caller => unreachable!("the exception is at hand"),
    }
}

/// An exception of `jeton.errors` with a message.
fn raise(py: Python<'_>, class: &str, message: String) -> PyErr {
    let made = py
        .import("jeton.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((message,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A failure because an argument has a value that makes no sense.
pub fn argument(message: impl Into<String>) -> Failure {
    Failure::Core(Error::new(ErrorKind::Argument, message))
}

/// A failure because an argument has a type that makes no sense.
pub fn wrong_type(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> Failure {
    wrong_type_said(value, |given| {
        format!("{name} must be {expected}, not {given}")
    })
}

/// As [`wrong_type`], with what to do about it.
pub fn wrong_type_but(name: &str, expected: &str, value: &Bound<'_, PyAny>, hint: &str) -> Failure {
    wrong_type_said(value, |given| {
        format!("{name} must be {expected}, not {given} ({hint})")
    })
}

fn wrong_type_said(value: &Bound<'_, PyAny>, message: impl FnOnce(&str) -> String) -> Failure {
    let given = match value.get_type().qualname() {
        Ok(name) => name.to_string(),
        Err(_) => "an object without a type name".to_owned(),
    };
    Failure::Python(raise(value.py(), "ArgumentTypeError", message(&given)))
}

fn not_text(py: Python<'_>, bytes: &[u8]) -> PyErr {
    let error = match std::str::from_utf8(bytes) {
        Err(error) => error,
        Ok(_) => unreachable!("the bytes were found not to be text"),
    };
    let start = error.valid_up_to();
    let end = error
        .error_len()
        .map_or(bytes.len(), |length| start + length);
    let reason = match error.error_len() {
        None => "unexpected end of data",
        Some(_) => {
            "invalid bytes; pass errors=\"replace\" for U+FFFD in their place, or use decode_bytes"
        }
    };
    let made = py
        .import("jeton.errors")
        .and_then(|module| module.getattr("DecodeError"))
        .and_then(|class| class.call1(("utf-8", PyBytes::new(py, bytes), start, end, reason)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Where the last panic of any thread happened; a panic's payload does not say. Nobody waits for it: in
/// a forked child, a thread that is gone may hold it.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics become exceptions, which say all there is to say; nothing is printed.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        if let Ok(mut last) = LAST_PANIC.try_lock() {
            *last = place;
        }
    }));
}

#[cold]
fn internal(py: Python<'_>, payload: &(dyn Any + Send)) -> PyErr {
    let what = match payload.downcast_ref::<String>() {
        Some(message) => message.as_str(),
        None => payload
            .downcast_ref::<&str>()
            .copied()
            .unwrap_or("no message"),
    };
    let place = LAST_PANIC.try_lock().ok().and_then(|mut last| last.take());
    if is_of_memory(what) {
        return no_room(0);
    }
    raise(
        py,
        "InternalError",
        format!(
            "{what}, at {}; this is a mistake in jeton: please report it, with the tokenizer and \
             the input that led here",
            place.as_deref().unwrap_or("an unknown place"),
        ),
    )
}

/// Whether a panic says that Python had no memory. Where a new object is null, pyo3 panics by the first;
/// `expect` shows the exception.
fn is_of_memory(panic: &str) -> bool {
    panic == "PyObject pointer is null" || panic.contains("<class 'MemoryError'>")
}

/// Exceptions on their way through the core, by number. Of those that it drops, the last are kept.
static RAISED: Mutex<(u64, BTreeMap<u64, PyErr>)> = Mutex::new((0, BTreeMap::new()));
const MAX_KEPT: usize = 64;

/// The error of the core that stands for an exception.
pub fn raised(exception: PyErr) -> Error {
    let dropped;
    let number = {
        let mut kept = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.0;
        kept.0 += 1;
        kept.1.insert(number, exception);
        dropped = (kept.1.len() > MAX_KEPT).then(|| kept.1.pop_first());
        number
    };
    drop(dropped);
    Error::new(ErrorKind::Caller, number.to_string())
}

/// The exception that an error of the core stands for.
fn exception_of(error: &Error) -> Option<PyErr> {
    let number = error.message().parse().ok()?;
    let mut kept = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.1.remove(&number)
}
