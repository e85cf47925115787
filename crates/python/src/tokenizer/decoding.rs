//! Ids to text.

use std::cell::Cell;

use jeton_core::room;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::Tokenizer;
use crate::arrays::{self, Numbers};
use crate::buffers::with_buffer;
use crate::errors::{Outcome, guard, wrong_type};
use crate::ids_from_python::{id, ids};
use crate::options::{self, decode_options};
use crate::pool;
use crate::signals::detached;
use crate::streams::{self, DecodeStream};
use crate::text::{bytes_of, string_of};

thread_local! {
    /// Where texts go before they become Python objects.
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Bytes up to which such a buffer is kept.
const MAX_KEPT: usize = 1 << 20;

#[pymethods]
impl Tokenizer {
    /// What a token adds to decoded text in its middle.
    fn surface<'py>(
        &self,
        py: Python<'py>,
        token_id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        guard(py, || {
            let surface = self.core.surface(id(|| "id".to_owned(), token_id)?)?;
            Ok(surface.map(|bytes| PyBytes::new(py, &bytes)))
        })
    }

    /// Of the surfaces of tokens, how many bytes each has, and whether it begins or ends inside a
    /// character.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn surface_shapes<'py>(
        &self,
        py: Python<'py>,
        token_ids: Numbers<'py, u32>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<bool>>)> {
        guard(py, || {
            let ids = token_ids.to_vec().map_err(PyErr::from)?;
            let shapes = pool::run(py, ids.len() << 8, |threads, _| {
                self.core.surface_shapes(&ids, threads)
            })??;
            let bytes = shapes.iter().map(|shape| shape.bytes as i64).collect();
            let splits = shapes.iter().map(|shape| shape.splits).collect();
            Ok((arrays::array(py, bytes)?, arrays::array(py, splits)?))
        })
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        token_ids: &Bound<'py, PyAny>,
        skip_special_tokens: &Bound<'py, PyAny>,
        unknown_ids: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let options = decode_options(skip_special_tokens, unknown_ids)?;
            let ids = ids("ids", token_ids)?;
            with_buffer(&TEXT, MAX_KEPT, |bytes| {
                let replace = errors == "replace";
                if ids.len() < pool::WITHOUT_GIL && !self.core.backtracks() {
                    self.core.decode_into(&ids, &options, replace, bytes)?
                } else {
                    detached(py, || self.core.decode_into(&ids, &options, replace, bytes))??
                }
                string_of(py, bytes, errors)
            })
        })
    }

    fn spans_of(
        &self,
        py: Python<'_>,
        token_ids: &Bound<'_, PyAny>,
        skip_special_tokens: &Bound<'_, PyAny>,
        unknown_ids: &Bound<'_, PyAny>,
        unit: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(usize, usize)>> {
        guard(py, || {
            let options = decode_options(skip_special_tokens, unknown_ids)?;
            let unit = options::unit("unit", unit)?;
            let ids = ids("ids", token_ids)?;
            let spans = detached(py, || self.core.spans_of(&ids, &options, unit))??;
            let mut pairs = room::with_capacity(spans.len());
            pairs.extend(spans.iter().map(|span| (span.start, span.end)));
            Ok(pairs)
        })
    }

    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        token_ids: &Bound<'py, PyAny>,
        skip_special_tokens: &Bound<'py, PyAny>,
        unknown_ids: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let options = decode_options(skip_special_tokens, unknown_ids)?;
            let ids = ids("ids", token_ids)?;
            let bytes = detached(py, || self.core.decode_bytes(&ids, &options))??;
            Ok(bytes_of(py, &bytes)?)
        })
    }

    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        skip_special_tokens: &Bound<'py, PyAny>,
        unknown_ids: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let options = decode_options(skip_special_tokens, unknown_ids)?;
            let rows = batch
                .try_iter()
                .map_err(|_| wrong_type("batch", "an iterable of sequences of ids", batch))?
                .enumerate()
                .map(|(row, item)| {
                    py.check_signals()?;
                    ids(&format!("batch[{row}]"), &item?)
                })
                .collect::<Outcome<Vec<Vec<u32>>>>()?;
            let decoded = pool::map(
                py,
                &rows,
                |ids| 4 * ids.len(),
                |row, ids| {
                    let mut bytes = room::with_capacity(5 * ids.len());
                    self.core
                        .decode_into(ids, &options, errors == "replace", &mut bytes)
                        .map_err(|error| error.at(format!("batch[{row}]")))?;
                    Ok(bytes)
                },
            )?;
            let texts = decoded
                .into_iter()
                .map(|bytes| {
                    py.check_signals()?;
                    string_of(py, &bytes, errors)
                })
                .collect::<Outcome<Vec<_>>>()?;
            Ok(PyList::new(py, texts)?)
        })
    }

    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn decode_stream(
        &self,
        py: Python<'_>,
        skip_special_tokens: &Bound<'_, PyAny>,
        unknown_ids: &Bound<'_, PyAny>,
        errors: &str,
        stops: Vec<Bound<'_, PyString>>,
        stop_ids: &Bound<'_, PyAny>,
        min_tokens: usize,
    ) -> PyResult<DecodeStream> {
        guard(py, || {
            let options = decode_options(skip_special_tokens, unknown_ids)?;
            let stop_ids = ids("stop_ids", stop_ids)?;
            streams::decode_stream(&self.core, options, errors, stops, stop_ids, min_tokens)
        })
    }
}
