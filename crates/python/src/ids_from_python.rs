//! Ids in any form that a caller may have, as a `Vec<u32>`.
//!
//! Look here for what `decode` accepts: any iterable of ints, numpy integers included, and numpy
//! arrays of any integer type with one axis.

use std::sync::atomic::{AtomicBool, Ordering};

use jeton_core::room;
use numpy::ndarray::{ArrayView1, Axis};
use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::arrays;
use crate::errors::{Failure, Outcome, argument, wrong_type};

/// Ids after which Ctrl-C is heard.
const POLLED: usize = 1 << 16;

const EXPECTED: &str = "an iterable of ints or a numpy array of integers";

/// The ids of the argument called `name`.
pub fn ids(name: &str, value: &Bound<'_, PyAny>) -> Outcome<Vec<u32>> {
    if let Ok(list) = value.cast::<PyList>() {
        return ids_of_list(name, list);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return tuple
            .iter()
            .enumerate()
            .map(|(i, item)| id_at(name, i, &item))
            .collect();
    }
    if value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
    {
        return Err(wrong_type(name, EXPECTED, value));
    }
    // Only something that came from numpy can be an array, so numpy is not imported to find out.
    if is_numpy_imported(value.py())? {
        arrays::find_interface(value.py())?;
        if let Ok(array) = value.cast::<PyUntypedArray>() {
            return ids_of_array(name, &arrays::aligned(array.clone())?);
        }
    }
    let items = value
        .try_iter()
        .map_err(|_| wrong_type(name, EXPECTED, value))?;
    items
        .enumerate()
        .map(|(i, item)| id_at(name, i, &item?))
        .collect()
}

/// The ids of a list. Exact `int`s are read without a call of theirs; anything else may run
/// Python, which may change the list.
fn ids_of_list(name: &str, list: &Bound<'_, PyList>) -> Outcome<Vec<u32>> {
    let mut ids = room::with_capacity(list.len());
    while ids.len() < list.len() {
        list.py().check_signals()?;
        let at = ids.len();
        // Without the GIL, the lock of the list keeps other threads from changing it.
        with_critical_section(list, || read_exact_ints(list, &mut ids));
        if ids.len() == at {
            // Another thread may have shortened the list meanwhile.
            let Ok(item) = list.get_item(at) else { break };
            ids.push(id_at(name, at, &item)?);
        }
    }
    Ok(ids)
}

/// Adds the items of `list` that follow those in `ids`, up to one that is no exact `int` of an id, and at
/// most [`POLLED`].
fn read_exact_ints(list: &Bound<'_, PyList>, ids: &mut Vec<u32>) {
    let end = list.len().min(ids.len() + POLLED);
    for at in ids.len()..end {
        // SAFETY: the item exists, and the reference is borrowed from a list that nothing changes
        // meanwhile: the caller holds its lock or the GIL, and reading an exact int runs no Python.
        let value = unsafe {
            let item = ffi::PyList_GET_ITEM(list.as_ptr(), at as ffi::Py_ssize_t);
            if ffi::PyLong_CheckExact(item) == 0 {
                return;
            }
            let value = ffi::PyLong_AsLongLong(item);
            if value == -1 {
                ffi::PyErr_Clear();
            }
            value
        };
        let Ok(id) = u32::try_from(value) else { return };
        ids.push(id);
    }
}

/// Whether anything can be a numpy array.
fn is_numpy_imported(py: Python<'_>) -> PyResult<bool> {
    static IMPORTED: AtomicBool = AtomicBool::new(false);
    if !IMPORTED.load(Ordering::Relaxed) {
        let modules = py.import("sys")?.getattr("modules")?;
        IMPORTED.store(modules.contains("numpy")?, Ordering::Relaxed);
    }
    Ok(IMPORTED.load(Ordering::Relaxed))
}

/// The id of the argument that `name` says the name of.
pub fn id(name: impl FnOnce() -> String, value: &Bound<'_, PyAny>) -> Outcome<u32> {
    if let Ok(int) = value.cast_exact::<PyInt>() {
        return int.extract().map_err(|_| outside(&name(), value));
    }
    if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyFloat>() {
        return Err(wrong_type(&name(), "an int", value));
    }
    match value.extract::<u32>() {
        Ok(id) => Ok(id),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(outside(&name(), value))
        }
        Err(_) => Err(wrong_type(&name(), "an int", value)),
    }
}

#[inline]
fn id_at(name: &str, position: usize, value: &Bound<'_, PyAny>) -> Outcome<u32> {
    if position.is_multiple_of(POLLED) {
        value.py().check_signals()?;
    }
    id(|| format!("{name}[{position}]"), value)
}

fn outside(name: &str, value: &Bound<'_, PyAny>) -> Failure {
    argument(format!(
        "{name} is {value}, which is not a token id: ids run from 0 to 2**32 - 1"
    ))
}

fn ids_of_array(name: &str, array: &Bound<'_, PyUntypedArray>) -> Outcome<Vec<u32>> {
    if array.ndim() != 1 {
        return Err(argument(format!(
            "{name} must have one axis, not {}; decode a batch with decode_batch",
            array.ndim()
        )));
    }
    fn of<T: Element + Copy>(
        name: &str,
        array: &Bound<'_, PyUntypedArray>,
        convert: impl Fn(T) -> Option<u32>,
    ) -> Option<Outcome<Vec<u32>>> {
        let array = array.cast::<PyArray1<T>>().ok()?;
        Some(ids_in_parts(array, |start, part, ids| {
            for (position, &item) in (start..).zip(part) {
                ids.push(convert(item).ok_or_else(|| {
                    argument(format!(
                        "{name}[{position}] is not a token id: ids run from 0 to 2**32 - 1"
                    ))
                })?);
            }
            Ok(())
        }))
    }
    if let Ok(array) = array.cast::<PyArray1<u32>>() {
        return ids_in_parts(array, |_, part, ids| {
            match part.as_slice() {
                Some(part) => ids.extend_from_slice(part),
                None => ids.extend(part),
            }
            Ok(())
        });
    }
    of::<i64>(name, array, |id| u32::try_from(id).ok())
        .or_else(|| of::<i32>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<u16>(name, array, |id| Some(u32::from(id))))
        .or_else(|| of::<u64>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<u8>(name, array, |id| Some(u32::from(id))))
        .or_else(|| of::<i16>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<i8>(name, array, |id| u32::try_from(id).ok()))
        .unwrap_or_else(|| ids_of_other_order(name, array))
}

/// The ids of an array, of which `add` gets one part after another and where it begins. Between parts
/// Ctrl-C is heard, and the handler of a signal may do anything to the array.
fn ids_in_parts<T: Element>(
    array: &Bound<'_, PyArray1<T>>,
    mut add: impl FnMut(usize, ArrayView1<'_, T>, &mut Vec<u32>) -> Outcome<()>,
) -> Outcome<Vec<u32>> {
    let mut ids = room::with_capacity(array.len());
    let mut start = 0;
    while start < array.len() {
        array.py().check_signals()?;
        let borrowed = array.readonly();
        let (_, rest) = borrowed.as_array().split_at(Axis(0), start);
        let (part, _) = rest.split_at(Axis(0), rest.len().min(POLLED));
        start += part.len();
        add(start - part.len(), part, &mut ids)?;
    }
    Ok(ids)
}

/// The ids of an array whose bytes are in the other order than this machine's.
fn ids_of_other_order(name: &str, array: &Bound<'_, PyUntypedArray>) -> Outcome<Vec<u32>> {
    let dtype = array.dtype();
    let is_native = dtype.getattr("isnative")?.extract::<bool>()?;
    if is_native || !b"iu".contains(&dtype.kind()) {
        return Err(wrong_type(name, EXPECTED, array.as_any()));
    }
    let native = dtype.call_method1("newbyteorder", ("=",))?;
    let array = array.call_method1("astype", (native,))?;
    ids_of_array(name, array.cast::<PyUntypedArray>()?)
}
