//! The Python ints of a vocabulary, each made once and then shared by all lists of ids.
//!
//! Making an int takes several times as long as finding its token. Look here for what a tokenizer
//! keeps for lists: 8 bytes for each of its ids once the first list is made, and 32 bytes for each
//! id that ever stood in a list, both freed with the tokenizer.

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Ids from this one on are made anew each time, so that odd vocabularies take no memory.
const MOST: usize = 1 << 20;

/// The ints of ids.
#[derive(Default)]
pub struct Ints {
    table: OnceLock<Box<[AtomicPtr<ffi::PyObject>]>>,
}

impl Ints {
    /// A list of ids. `max_id` is the largest id that the tokenizer knows.
    pub fn list<'py>(
        &self,
        py: Python<'py>,
        ids: &[u32],
        max_id: impl FnOnce() -> Option<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let table = match self.table.get() {
            Some(table) => table,
            None => {
                // Made before it is put in place: nobody waits for a lock, so a fork finds none.
                let size = max_id().map_or(0, |max| MOST.min(max as usize + 1));
                let table = (0..size).map(|_| AtomicPtr::new(null_mut())).collect();
                self.table.get_or_init(|| table)
            }
        };
        // SAFETY: `PyList_New` gives a new list of so many empty places, or null; nobody else has
        // seen it, so its places may be set once each, with references that are owned.
        unsafe {
            let list = ffi::PyList_New(ids.len() as ffi::Py_ssize_t);
            let list = Bound::from_owned_ptr_or_err(py, list)?.cast_into_unchecked::<PyList>();
            for (place, &id) in ids.iter().enumerate() {
                let known = table.get(id as usize);
                let known = known.map_or(null_mut(), |int| int.load(Ordering::Acquire));
                let int = match known.is_null() {
                    false => {
                        ffi::Py_INCREF(known);
                        known
                    }
                    true => new_int(py, id, table.get(id as usize))?,
                };
                ffi::PyList_SET_ITEM(list.as_ptr(), place as ffi::Py_ssize_t, int);
            }
            Ok(list)
        }
    }
}

/// A new int, owned; `keep` is where it is kept from now on.
#[cold]
fn new_int(
    py: Python<'_>,
    id: u32,
    keep: Option<&AtomicPtr<ffi::PyObject>>,
) -> PyResult<*mut ffi::PyObject> {
    let int = id.into_pyobject(py)?.into_any();
    if let Some(keep) = keep {
        let kept = int.clone().into_ptr();
        let was = keep.compare_exchange(null_mut(), kept, Ordering::AcqRel, Ordering::Acquire);
        if was.is_err() {
            // SAFETY: the reference that was to be kept is owned, and nobody else has it.
            drop(unsafe { Bound::from_owned_ptr(py, kept) });
        }
    }
    Ok(int.into_ptr())
}

impl Drop for Ints {
    fn drop(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        // Without an interpreter there is nothing to give the ints back to.
        let _ = Python::try_attach(|py| {
            for int in &table {
                let int = int.load(Ordering::Acquire);
                // SAFETY: what is kept is null or an owned reference.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, int) });
            }
        });
    }
}
