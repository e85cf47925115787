//! Arrays of numpy, and how numpy's C interface is found when the first array is created.
//!
//! Look here before calling the crate `numpy`. It finds the interface behind a lock while Python runs:
//! if a process forks meanwhile, the child waits forever, and Ctrl-C becomes a panic.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::npyffi::{NPY_ARRAY_ALIGNED, is_numpy_2};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

/// An array that owns these numbers.
pub fn array<T: Element>(py: Python<'_>, numbers: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    find_interface(py)?;
    Ok(PyArray1::from_vec(py, numbers))
}

/// An array of a copy of these numbers.
pub fn copied<'py, T: Element>(
    py: Python<'py>,
    numbers: &[T],
) -> PyResult<Bound<'py, PyArray1<T>>> {
    find_interface(py)?;
    Ok(PyArray1::from_slice(py, numbers))
}

/// An array of rows that owns these numbers.
pub fn rows<const N: usize>(
    py: Python<'_>,
    rows: Vec<[i64; N]>,
) -> PyResult<Bound<'_, PyArray2<i64>>> {
    let count = rows.len();
    array(py, rows.into_flattened())?.reshape([count, N])
}

/// An array as an argument.
pub struct Numbers<'py, T: Element>(Bound<'py, PyArray1<T>>);

impl<'py, T: Element> FromPyObject<'_, 'py> for Numbers<'py, T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        find_interface(value.py())?;
        let array = value.cast::<PyArray1<T>>()?.to_owned();
        Ok(Self(aligned(array.as_untyped().clone())?.cast_into()?))
    }
}

impl<'py, T: Element> Deref for Numbers<'py, T> {
    type Target = Bound<'py, PyArray1<T>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// An array whose numbers lie where the processor reads them, a whole number of them apart: a copy of one
/// that is a field of packed records, or that begins at an odd byte.
pub fn aligned(array: Bound<'_, PyUntypedArray>) -> PyResult<Bound<'_, PyUntypedArray>> {
    let size = array.dtype().itemsize() as isize;
    // SAFETY: the array is one of numpy's, and this thread is attached to Python.
    let is_aligned = unsafe { (*array.as_array_ptr()).fields.flags & NPY_ARRAY_ALIGNED != 0 };
    if is_aligned && size > 0 && array.strides().iter().all(|stride| stride % size == 0) {
        Ok(array)
    } else {
        Ok(array.call_method0("copy")?.cast_into()?)
    }
}

/// Finds numpy's C interface, once, before the crate looks for it.
pub fn find_interface(py: Python<'_>) -> PyResult<()> {
    static FOUND: AtomicBool = AtomicBool::new(false);
    if FOUND.load(Ordering::Relaxed) {
        return Ok(());
    }
    // All that is imported, so that nothing waits for a module while imports are locked.
    py.import("numpy.lib")?;
    let _lock = ImportLock::new(py)?;
    // Each looks once for a part of it. The first one runs Python, which an interrupt may end.
    numpy::get_array_module(py)?;
    is_numpy_2(py);
    PyArray1::<u32>::from_slice(py, &[]).readonly();
    FOUND.store(true, Ordering::Relaxed);
    Ok(())
}

/// Python's lock of imports, without which no thread forks.
struct ImportLock<'py>(Bound<'py, PyModule>);

impl<'py> ImportLock<'py> {
    fn new(py: Python<'py>) -> PyResult<Self> {
        let module = py.import("_imp")?;
        module.call_method0("acquire_lock")?;
        Ok(Self(module))
    }
}

impl Drop for ImportLock<'_> {
    fn drop(&mut self) {
        // It fails only for a thread that does not hold it.
        let _ = self.0.call_method0("release_lock");
    }
}
