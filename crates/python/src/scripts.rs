//! The scripts of characters, by name.

use pyo3::prelude::*;

/// The script of each character of a text.
#[pyfunction]
pub fn scripts(text: &str) -> Vec<&'static str> {
    text.chars().map(jeton_core::scripts::script).collect()
}
