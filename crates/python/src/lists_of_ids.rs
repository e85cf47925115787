//! Lists of ids for Python, whose ints are created once and then shared by all lists.
//!
//! Creating an int takes several times as long as finding its token. Look here for what lists leave in
//! memory until the process ends, for any number of tokenizers: 40 bytes for each id below
//! 2²⁰ that was ever in a list, and at most 40 MB.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use numpy::PyArrayMethods;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::Numbers;
use crate::errors::{argument, guard};

/// Ids from this one on are made again each time, so that odd vocabularies take no memory.
const SHARED_BELOW: usize = 1 << 20;

/// Ids that are put into a list before Ctrl-C is checked again.
const LISTED: usize = 1 << 20;

/// The int of each id, with a reference that is never given back; null before it is first asked
/// for. Pages that nothing was written to take no memory. It asks nothing of an int but that it may
/// be shared, so it holds for every version of Python.
static INTS: [AtomicPtr<ffi::PyObject>; SHARED_BELOW] =
    [const { AtomicPtr::new(null_mut()) }; SHARED_BELOW];

/// A list of ids.
#[inline]
pub fn list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    if ids.len() <= LISTED {
        return short(py, ids);
    }
    // A list with empty places would not be safe from the handlers of signals.
    let list = PyList::empty(py);
    for ids in ids.chunks(LISTED) {
        py.check_signals()?;
        list.set_slice(list.len(), list.len(), short(py, ids)?.as_any())?;
    }
    Ok(list)
}

fn short<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    // SAFETY: `PyList_New` gives a new list of this many empty places, or null; nobody else has seen
    // it, so its places stay where they are and may be set once each, with references that are owned.
    unsafe {
        let list = ffi::PyList_New(ids.len() as ffi::Py_ssize_t);
        let list = Bound::from_owned_ptr_or_err(py, list)?.cast_into_unchecked::<PyList>();
        // `PyList_SET_ITEM` would read for each id again where the places begin.
        let places = (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item;
        for (place, &id) in ids.iter().enumerate() {
            let known = INTS.get(id as usize);
            let known = known.map_or(null_mut(), |int| int.load(Ordering::Acquire));
            let int = if known.is_null() {
                new_int(py, id)?
            } else {
                ffi::Py_INCREF(known);
                known
            };
            places.add(place).write(int);
        }
        Ok(list)
    }
}

/// A new int, owned, which the table has from now on.
#[cold]
fn new_int(py: Python<'_>, id: u32) -> PyResult<*mut ffi::PyObject> {
    let int = id.into_pyobject(py)?.into_any();
    if let Some(keep) = INTS.get(id as usize) {
        let kept = int.clone().into_ptr();
        let was = keep.compare_exchange(null_mut(), kept, Ordering::AcqRel, Ordering::Acquire);
        if was.is_err() {
            // SAFETY: the reference that was to be kept is owned, and nobody else has it.
            drop(unsafe { Bound::from_owned_ptr(py, kept) });
        }
    }
    Ok(int.into_ptr())
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
