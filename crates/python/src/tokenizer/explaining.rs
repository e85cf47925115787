//! The steps by which the model encodes a piece, as plain values for Python.

use std::ops::Range;

use jeton_core::model::steps::Priority;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::Tokenizer;
use crate::errors::guard;

/// An id, and the bytes of its token.
type Spelled<'py> = (u32, Bound<'py, PyBytes>);

/// The steps as a dictionary.
#[derive(IntoPyObject)]
struct PieceSteps<'py> {
    tokens: Vec<Spelled<'py>>,
    is_whole: bool,
    units: Vec<(Bound<'py, PyBytes>, Vec<Spelled<'py>>, &'static str)>,
    symbols: Vec<Bound<'py, PyBytes>>,
    merges: Vec<MergeFields<'py>>,
    matches: Vec<(usize, Option<(Spelled<'py>, usize)>)>,
    edges: Vec<(usize, usize, Option<u32>, f64, f64)>,
    path: Vec<usize>,
    score: f64,
}

/// Where two symbols were merged, their bytes, the token that they became, and its rank or score.
type MergeFields<'py> = (
    usize,
    [Bound<'py, PyBytes>; 2],
    Spelled<'py>,
    Option<u32>,
    Option<f32>,
);

#[pymethods]
impl Tokenizer {
    /// How the model encodes a piece: its tokens, and the steps that lead to them.
    fn explain_piece<'py>(&self, py: Python<'py>, piece: &str) -> PyResult<PieceSteps<'py>> {
        guard(py, || {
            let model = &self.core.stages().model;
            let (tokens, steps) = model.explain(piece)?;
            let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
            let spelled = |id: u32| (id, bytes(model.vocab().token(id).unwrap_or_default()));
            let spelled_all = |ids: Vec<u32>| ids.into_iter().map(spelled).collect();
            let units = steps.units.into_iter();
            let merges = steps.merges.into_iter();
            let matches = steps.matches.into_iter();
            let edges = steps.edges.into_iter();
            Ok(PieceSteps {
                tokens: tokens.into_iter().map(|token| spelled(token.id)).collect(),
                is_whole: steps.is_whole,
                units: units
                    .map(|(unit, ids, kind)| (bytes(&unit), spelled_all(ids), kind.name()))
                    .collect(),
                symbols: steps.symbols.iter().map(|symbol| bytes(symbol)).collect(),
                merges: merges
                    .map(|(at, parts, id, priority)| {
                        let (rank, score) = match priority {
                            Priority::Rank(rank) => (Some(rank), None),
                            Priority::Score(score) => (None, Some(score)),
                        };
                        (at, parts.map(|part| bytes(&part)), spelled(id), rank, score)
                    })
                    .collect(),
                matches: matches
                    .map(|(start, token)| (start, token.map(|(id, length)| (spelled(id), length))))
                    .collect(),
                edges: edges
                    .map(|(Range { start, end }, id, score, sum)| (start, end, id, score, sum))
                    .collect(),
                path: steps.path,
                score: steps.score,
            })
        })
    }
}
