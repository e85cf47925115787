//! The Python ints of ids, each made once and then shared by all lists of ids.
//!
//! Making an int takes several times as long as finding its token. Look here for what lists leave in
//! memory, until the process ends and whatever the number of tokenizers: 32 bytes for each id up to
//! the largest that ever stood in a list with CPython 3.11, and at most 16 MB; elsewhere, and for
//! larger ids, 8 bytes for each of those and 32 for each that did stand in one, and at most 40 MB.

mod counted;
#[cfg(uncounted_ints)]
mod uncounted;

use pyo3::prelude::*;
use pyo3::types::PyList;

/// A list of ids.
#[inline]
pub fn list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    #[cfg(uncounted_ints)]
    if let Some(list) = uncounted::list(py, ids)? {
        return Ok(list);
    }
    counted::list(py, ids)
}
