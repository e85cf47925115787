//! Files: tokenizers loaded from paths and saved to them.

use std::path::PathBuf;

use jeton_core::format::{self, LoadOptions, known};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::guard;
use crate::tokenizer::Tokenizer;

/// The tokenizer of a file or a folder, and what makes the file doubtful. `encoding` is the name of
/// a published one.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    encoding: Option<String>,
    pattern: Option<String>,
    special_tokens: Option<Vec<(String, u32)>>,
    merges: Option<PathBuf>,
    lowercase: Option<bool>,
) -> PyResult<(Tokenizer, Vec<String>)> {
    guard(py, || {
        let options = LoadOptions {
            encoding,
            pattern,
            special_tokens,
            merges,
            lowercase,
        };
        let (core, doubts) = py.detach(|| format::load_with_doubts(&path, &options))?;
        Ok((core.into(), doubts))
    })
}

/// Writes a tokenizer to a path, in the format that its name says.
#[pyfunction]
pub fn save(py: Python<'_>, tokenizer: &Bound<'_, Tokenizer>, path: PathBuf) -> PyResult<()> {
    guard(py, || {
        let tokenizer = tokenizer.get();
        Ok(py.detach(|| format::save(&tokenizer.core, &path))?)
    })
}

/// The published encodings: name, sha256 of the file, name of the pattern.
#[pyfunction]
pub fn published_encodings() -> Vec<(&'static str, &'static str, &'static str)> {
    known::ENCODINGS
        .iter()
        .map(|encoding| (encoding.name, encoding.sha256, encoding.pattern))
        .collect()
}

/// A hash of everything that a tokenizer is: 32 bytes, equal for equal tokenizers.
#[pyfunction]
pub fn fingerprint<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, Tokenizer>,
) -> PyResult<Bound<'py, PyBytes>> {
    guard(py, || {
        let tokenizer = tokenizer.get();
        let fingerprint = py.detach(|| format::snapshot::fingerprint(&tokenizer.core))?;
        Ok(PyBytes::new(py, &fingerprint))
    })
}
