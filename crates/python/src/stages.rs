//! Components in transit between `jeton.components` and the core: JSON in the shape of
//! `tokenizer.json`.

use jeton_core::format::huggingface;
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::{Bpe, Model, WordLevel};
use jeton_core::pattern::{Dialect, Regex};
use jeton_core::pre_tokenizer::named::{NAMED, Named};
use jeton_core::vocab::Vocab;
use jeton_core::{Error, ErrorKind, Stages};
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;

use crate::errors::{argument, guard};

/// A component of a stage as the core writes it, from JSON that may leave defaults out or use the
/// older forms of the format.
#[pyfunction]
pub fn canonical_component(py: Python<'_>, stage: &str, json: &str) -> PyResult<String> {
    guard(py, || {
        let broken = |error: serde_json::Error| Error::new(ErrorKind::Format, error.to_string());
        let component: Value = serde_json::from_str(json).map_err(broken)?;
        let file = serde_json::json!({ stage: component }).to_string();
        let no_model = Model::WordLevel(WordLevel::new(Vocab::default(), ""));
        let stages = huggingface::read_stages(file.as_bytes(), Some(no_model))?;
        let written: Value =
            serde_json::from_str(&huggingface::write_stages(&stages)?).map_err(broken)?;
        Ok(written[stage].to_string())
    })
}

/// The stages of a `tokenizer.json` around a model that has no tokens; `is_raw` says that tokens are bytes as
/// they are. A byte-level pre-tokenizer spells bytes out for a model that sees characters.
///
/// # Errors
/// As [`huggingface::read_stages`].
pub fn read_around_model(json: &str, is_raw: bool) -> jeton_core::Result<Stages> {
    let options = BpeOptions {
        alphabet: if is_raw {
            Alphabet::Bytes
        } else {
            Alphabet::Characters
        },
        ..BpeOptions::default()
    };
    let model = Model::Bpe(Bpe::by_merges(Vocab::default(), [], options)?);
    huggingface::read_stages(json.as_bytes(), Some(model))
}

/// Refuses a regular expression that cannot be honoured.
#[pyfunction]
pub fn check_regex(py: Python<'_>, source: &str, dialect: &str) -> PyResult<()> {
    guard(py, || {
        let dialect = match dialect {
            "oniguruma" => Dialect::Oniguruma,
            "tiktoken" => Dialect::Tiktoken,
            other => return Err(argument(format!("no dialect is called {other:?}"))),
        };
        Regex::new(source, dialect)?;
        Ok(())
    })
}

/// Every way to split text that has a name: its name, its other names, whose it is, and its
/// expressions.
#[pyfunction]
pub fn named_patterns() -> Vec<(
    &'static str,
    Vec<&'static str>,
    &'static str,
    Vec<&'static str>,
)> {
    let row = |named: &'static Named| {
        let aliases = named.aliases.to_vec();
        (named.name, aliases, named.origin, named.sources().0)
    };
    NAMED.iter().map(row).collect()
}

/// The candidate closest to `given`, if it is close enough to be what was meant.
#[pyfunction]
pub fn did_you_mean(
    given: &Bound<'_, PyString>,
    candidates: Vec<Bound<'_, PyString>>,
) -> Option<String> {
    // What is not valid Unicode is close to nothing.
    let given = given.to_str().ok()?;
    let candidates = candidates.iter().filter_map(|it| it.to_str().ok());
    jeton_core::error::did_you_mean(given, candidates).map(str::to_owned)
}
