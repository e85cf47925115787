//! The Python ints of ids, each made once and then shared by all lists of ids.
//!
//! Making an int takes several times as long as finding its token. Look here for what lists leave in
//! memory, until the process ends and whatever the number of tokenizers: 32 bytes for each id up to
//! the largest that ever stood in a list with CPython 3.11, and at most 16 MB; elsewhere, and for
//! larger ids, 8 bytes for each of those and 32 for each that did stand in one, and at most 40 MB.

mod counted;
#[cfg(uncounted_ints)]
mod uncounted;

use numpy::PyArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::Numbers;
use crate::errors::{argument, guard};

/// After so many ids, Ctrl-C is heard.
const LISTED: usize = 1 << 20;

/// A list of ids.
#[inline]
pub fn list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    #[cfg(uncounted_ints)]
    if let Some(list) = uncounted::list(py, ids)? {
        return Ok(list);
    }
    counted::list(py, ids)
}

/// A list of ids for each row of a batch, whose ids lie between neighbours in `offsets`.
#[pyfunction]
pub fn lists<'py>(
    py: Python<'py>,
    ids: Numbers<'py, u32>,
    offsets: Numbers<'py, i64>,
) -> PyResult<Vec<Bound<'py, PyList>>> {
    guard(py, || {
        // Copies: making a list may run Python, which may write to an array.
        let ids = ids.to_vec().map_err(PyErr::from)?;
        let offsets = offsets.to_vec().map_err(PyErr::from)?;
        let rows = offsets.windows(2).map(|row| {
            py.check_signals()?;
            let [start, end] = [row[0], row[1]].map(|offset| usize::try_from(offset).ok());
            let row = start.zip(end).and_then(|(start, end)| ids.get(start..end));
            let row =
                row.ok_or_else(|| argument("the offsets of a batch no longer fit its ids"))?;
            Ok(list(py, row)?)
        });
        rows.collect()
    })
}
