//! Facts about a tokenizer's vocabulary, its model and its plan.

use jeton_core::fast::UnsupportedStage;
use jeton_core::model::superwords::WordModel;
use jeton_core::special_token_roles;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::Tokenizer;
use crate::arrays;
use crate::errors::guard;
use crate::ids_from_python::id;
use crate::model::{self, Model};
use crate::signals::{self, detached};

/// An unsupported stage: its name, its kind, and what is wrong with it.
type ObstacleFields = (&'static str, Option<&'static str>, &'static str);

/// The fields of the dataclass `EncodingPlan`.
type PlanFields = (
    &'static str,
    &'static str,
    Vec<(&'static str, ObstacleFields)>,
    Vec<ObstacleFields>,
);

#[pymethods]
impl Tokenizer {
    /// The model.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        guard(py, || {
            Ok(Model {
                core: self.core.stages().model.clone(),
            })
        })
    }

    /// What kind of model it is.
    #[getter]
    fn model_kind(&self) -> &'static str {
        self.core.stages().model.kind()
    }

    /// Whether the tokens of its model are bytes as they are.
    #[getter]
    fn has_raw_tokens(&self) -> bool {
        self.core.stages().model.has_raw_tokens()
    }

    /// The strategy that encodes text and what it does; the strategies that were asked before it, each
    /// with the stage that it does not support; and the stages that keep calls off it.
    fn encoding_plan(&self) -> PlanFields {
        let plan = self.core.encoding_plan();
        let fields = |stage: &UnsupportedStage| (stage.stage.name(), stage.kind, stage.why);
        let passed_over = plan.passed_over.iter();
        (
            plan.name(),
            plan.meaning(),
            passed_over
                .map(|(it, stage)| (it.name(), fields(stage)))
                .collect(),
            plan.detours.iter().map(fields).collect(),
        )
    }

    /// The score of each id, of a model that has scores.
    fn scores(&self) -> Option<Vec<f64>> {
        self.core.stages().model.scores()
    }

    fn id_to_bytes<'py>(
        &self,
        py: Python<'py>,
        token_id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        guard(py, || {
            let bytes = self.core.token_bytes(id(|| "id".to_owned(), token_id)?);
            Ok(bytes.map(|bytes| PyBytes::new(py, bytes)))
        })
    }

    /// The id of the token with these bytes: of the added tokens first, then of the vocabulary.
    fn bytes_to_id(&self, py: Python<'_>, token: &[u8]) -> PyResult<Option<u32>> {
        guard(py, || Ok(self.core.bytes_to_id(token)))
    }

    /// All ids that stand for a token, rising.
    fn token_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        guard(py, || Ok(arrays::array(py, self.core.token_ids())?))
    }

    /// The id that stands for unknown text, if the model has one.
    fn unknown_id(&self) -> Option<u32> {
        self.core.unknown_id()
    }

    /// All tokens with their ids, in the order of ids, those of the model and the added ones.
    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guard(py, || {
            let vocab = PyDict::new(py);
            let stages = self.core.stages();
            let ids = detached(py, || self.core.token_ids())?.into_iter();
            let tokens = ids.filter_map(|id| Some((id, self.core.token_bytes(id)?)));
            for (number, (id, token)) in tokens.enumerate() {
                signals::hear(py, number)?;
                vocab.set_item(PyBytes::new(py, token), id)?;
            }
            for (number, added) in stages.added_tokens.iter().enumerate() {
                signals::hear(py, number)?;
                vocab.set_item(PyBytes::new(py, added.content.as_bytes()), added.id)?;
            }
            Ok(vocab)
        })
    }

    /// How many ids stand for a token.
    #[getter]
    fn vocab_size(&self) -> usize {
        let stages = self.core.stages();
        let vocab = stages.model.vocab();
        let mut added: Vec<u32> = stages.added_tokens.iter().map(|token| token.id).collect();
        added.dedup();
        vocab.len()
            + added
                .iter()
                .filter(|id| vocab.token(**id).is_none())
                .count()
    }

    /// The largest id.
    #[getter]
    fn max_id(&self) -> Option<u32> {
        self.core.max_id()
    }

    /// The merges of a BPE as pairs of bytes, those of ranks derived, or of the words of a model of
    /// superwords; none of any other model.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guard(py, || match &self.core.stages().model {
            jeton_core::model::Model::Bpe(bpe) => model::merges(py, bpe),
            jeton_core::model::Model::Superwords(superwords) => match superwords.words() {
                WordModel::Bpe(bpe) => model::merges(py, bpe),
                WordModel::PickyBpe(_) => Ok(PyList::empty(py)),
            },
            _ => Ok(PyList::empty(py)),
        })
    }

    /// The special tokens and their ids, in the order of ids.
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guard(py, || {
            let tokens = PyDict::new(py);
            let special = self.core.stages().added_tokens.iter();
            for (number, token) in special.filter(|token| token.special).enumerate() {
                signals::hear(py, number)?;
                tokens.set_item(&token.content, token.id)?;
            }
            Ok(tokens)
        })
    }

    /// The roles of special tokens that the stages tell.
    fn roles(&self, py: Python<'_>) -> PyResult<Vec<special_token_roles::Role>> {
        guard(py, || Ok(special_token_roles::of(self.core.stages())))
    }
}
