//! How much memory tokenizers may use for words that they have seen.

use jeton_core::fast;
use pyo3::prelude::*;

use crate::errors::guard;
use crate::options;

/// How many bytes a cache of words has at most.
#[pyfunction]
pub fn cache_limit() -> usize {
    fast::cache_limit()
}

/// Sets how many bytes a cache of words has at most.
#[pyfunction]
pub fn set_cache_limit(py: Python<'_>, limit: &Bound<'_, PyAny>) -> PyResult<()> {
    guard(py, || {
        fast::set_cache_limit(options::size("limit", limit)?);
        Ok(())
    })
}
