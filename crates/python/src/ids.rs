//! From whatever a caller holds ids in to `Vec<u32>`.
//!
//! Look here for what `decode` accepts: any iterable of ints, numpy integers included, and numpy
//! arrays of any integer type with one axis.

use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::{Failure, Outcome, argument, wrong_type};

const EXPECTED: &str = "an iterable of ints or a numpy array of integers";

/// The ids of the argument called `name`.
pub fn ids(name: &str, value: &Bound<'_, PyAny>) -> Outcome<Vec<u32>> {
    if let Ok(list) = value.cast::<PyList>() {
        return list
            .iter()
            .enumerate()
            .map(|(i, item)| id_at(name, i, &item))
            .collect();
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
    if value.hasattr("__array_interface__")?
        && let Ok(array) = value.cast::<PyUntypedArray>()
    {
        return ids_of_array(name, array);
    }
    let items = value
        .try_iter()
        .map_err(|_| wrong_type(name, EXPECTED, value))?;
    items
        .enumerate()
        .map(|(i, item)| id_at(name, i, &item?))
        .collect()
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
    id(|| format!("{name}[{position}]"), value)
}

fn outside(name: &str, value: &Bound<'_, PyAny>) -> Failure {
    argument(format!(
        "{name} is {value}, which is no token id: ids run from 0 to 2**32 - 1"
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
        let array = array.cast::<PyArray1<T>>().ok()?.readonly();
        let convert = |(position, &item): (usize, &T)| {
            convert(item).ok_or_else(|| {
                argument(format!(
                    "{name}[{position}] is no token id: ids run from 0 to 2**32 - 1"
                ))
            })
        };
        Some(array.as_array().iter().enumerate().map(convert).collect())
    }
    of::<u32>(name, array, Some)
        .or_else(|| of::<i64>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<i32>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<u16>(name, array, |id| Some(u32::from(id))))
        .or_else(|| of::<u64>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<u8>(name, array, |id| Some(u32::from(id))))
        .or_else(|| of::<i16>(name, array, |id| u32::try_from(id).ok()))
        .or_else(|| of::<i8>(name, array, |id| u32::try_from(id).ok()))
        .unwrap_or_else(|| Err(wrong_type(name, EXPECTED, array.as_any())))
}
