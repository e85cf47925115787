//! Builds a tokenizer from its stages, a file or an image, and returns its parts.

use std::sync::Arc;

use jeton_core::added_tokens::{AddedToken, numbered, with_more};
use jeton_core::convert::{approximate_huggingface, approximate_model, for_json};
use jeton_core::format::{huggingface, sentencepiece, snapshot, tiktoken};
use jeton_core::normalizer::Normalizer;
use jeton_core::pre_tokenizer::{PreTokenizer, named};
use jeton_core::vocab::Vocab;
use jeton_core::{ErrorKind, Stages};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::Tokenizer;
use crate::errors::guard;
use crate::model::{Model, vocab};
use crate::signals::{self, abandonable};

/// The fields of an added token: its content, its id, and its flags in the order of the dataclass.
type AddedFields = (String, Option<u32>, (bool, bool, bool, bool, bool));

/// The token of such fields, but for its id.
fn added_token((content, id, flags): AddedFields) -> (AddedToken, Option<u32>) {
    let (special, single_word, lstrip, rstrip, normalized) = flags;
    let token = AddedToken {
        id: 0,
        content,
        special,
        single_word,
        lstrip,
        rstrip,
        normalized,
    };
    (token, id)
}

/// The added tokens of a tokenizer that is built: some, of which some may have no id yet, or those that
/// another tokenizer has.
#[derive(FromPyObject)]
enum Added<'py> {
    Tokens(Vec<AddedFields>),
    Of(PyRef<'py, Tokenizer>),
}

impl Added<'_> {
    /// What gives the tokens, to a model's vocabulary.
    fn listed(self) -> impl FnOnce(&Vocab) -> jeton_core::Result<Vec<AddedToken>> + Send + 'static {
        let (there, more) = match self {
            Self::Tokens(more) => (None, more),
            Self::Of(tokenizer) => (Some(Arc::clone(&tokenizer.core)), Vec::new()),
        };
        move |vocab| {
            let there = there
                .as_ref()
                .map_or(&[][..], |it| &it.stages().added_tokens);
            numbered(there, more.into_iter().map(added_token).collect(), vocab)
        }
    }
}

/// A model with the stages around it that `stages` gives, and with added tokens.
fn stages_around(
    model: jeton_core::model::Model,
    stages: &str,
    added: impl FnOnce(&Vocab) -> jeton_core::Result<Vec<AddedToken>>,
) -> jeton_core::Result<Stages> {
    let added_tokens = added(model.vocab())?;
    let mut stages = huggingface::read_stages(stages.as_bytes(), Some(model))?;
    stages.added_tokens = added_tokens;
    sentencepiece::complete(&mut stages)?;
    Ok(stages)
}

#[pymethods]
impl Tokenizer {
    /// A tokenizer of a model, of the stages around it, as `stages` gave them, and of added tokens; one
    /// that is `before` changed, or a new one.
    #[staticmethod]
    #[pyo3(signature = (model, stages, added_tokens, before=None))]
    fn build(
        py: Python<'_>,
        model: &Model,
        stages: &str,
        added_tokens: Added<'_>,
        before: Option<PyRef<'_, Tokenizer>>,
    ) -> PyResult<Self> {
        guard(py, || {
            let (model, stages) = (model.core.clone(), stages.to_owned());
            let added = added_tokens.listed();
            let before = before.map(|it| Arc::clone(&it.core));
            let build = move || {
                let stages = stages_around(model, &stages, added)?;
                match before {
                    None => jeton_core::Tokenizer::of_arguments(stages),
                    Some(before) => jeton_core::Tokenizer::of_changed(stages, before.stages()),
                }
            };
            Ok(abandonable(py, build)??.into())
        })
    }

    /// The same tokenizer with more added tokens.
    fn with_added_tokens(&self, py: Python<'_>, more: Vec<AddedFields>) -> PyResult<Self> {
        guard(py, || {
            let core = Arc::clone(&self.core);
            let build = move || {
                let more = more.into_iter().map(added_token);
                let stages = core.stages();
                let vocab = stages.model.vocab();
                let added_tokens = with_more(&stages.added_tokens, more.collect(), vocab)?;
                let changed = Stages {
                    added_tokens,
                    ..stages.clone()
                };
                jeton_core::Tokenizer::of_changed(changed, stages)
            };
            Ok(abandonable(py, build)??.into())
        })
    }

    /// The added tokens in the order of ids, as `build` and `with_added_tokens` take them.
    fn added_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let fields = self.core.stages().added_tokens.iter().map(|token| {
                let flags = (
                    token.special,
                    token.single_word,
                    token.lstrip,
                    token.rstrip,
                    token.normalized,
                );
                (&token.content, token.id, flags)
            });
            Ok(signals::list(py, fields)?)
        })
    }

    /// As `build`, but spelled as a `tokenizer.json` spells it, where it can: so that what is saved
    /// there and loaded again equals it.
    #[staticmethod]
    fn build_as_stored(
        py: Python<'_>,
        model: &Model,
        stages: &str,
        added_tokens: Added<'_>,
    ) -> PyResult<Self> {
        guard(py, || {
            let (model, stages) = (model.core.clone(), stages.to_owned());
            let added = added_tokens.listed();
            let build = move || {
                let stages = stages_around(model, &stages, added)?;
                jeton_core::Tokenizer::of_arguments(
                    match for_json(&stages).and_then(|held| huggingface::respelled(&held)) {
                        Err(error) if error.kind() == ErrorKind::Unsupported => stages,
                        respelled => respelled?,
                    },
                )
            };
            Ok(abandonable(py, build)??.into())
        })
    }

    /// The tokenizer of a `tokenizer.json`.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        guard(py, || {
            let text = text.to_owned();
            let read = move || jeton_core::Tokenizer::new(huggingface::read(text.as_bytes())?);
            Ok(abandonable(py, read)??.into())
        })
    }

    /// What its file says that was hardly meant so, or that encoding does not do by itself.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        guard(py, || Ok(self.core.stages().warnings()))
    }

    /// The ids by which the post-processor puts in another token than it names, and what it says of each.
    fn misnamed(&self, py: Python<'_>) -> PyResult<Vec<(u32, String)>> {
        guard(py, || {
            let stages = self.core.stages();
            let misnamed = stages.misnamed().into_iter();
            Ok(misnamed
                .map(|(name, id)| (id, stages.misnaming(name, id)))
                .collect())
        })
    }

    /// The tokenizer as a `tokenizer.json`.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || {
            let core = Arc::clone(&self.core);
            let write = move || for_json(core.stages()).and_then(|held| huggingface::write(&held));
            Ok(abandonable(py, write)??)
        })
    }

    /// The tokenizer of another format that comes nearest: `tokenizer.json` or `.model`.
    fn approximation(&self, py: Python<'_>, format: &str) -> PyResult<Self> {
        guard(py, || {
            let core = Arc::clone(&self.core);
            let is_model = format == ".model";
            let build = move || {
                let stages = core.stages();
                jeton_core::Tokenizer::new(if is_model {
                    approximate_model(stages)?
                } else {
                    approximate_huggingface(stages)?
                })
            };
            Ok(abandonable(py, build)??.into())
        })
    }

    /// tiktoken's tokenizer of ranks: a dict, the name of a pattern or one in
    /// its dialect, special tokens with ids.
    #[staticmethod]
    fn from_ranks(
        py: Python<'_>,
        ranks: &Bound<'_, PyAny>,
        pattern: &str,
        special_tokens: Vec<(String, u32)>,
    ) -> PyResult<Self> {
        guard(py, || {
            let ranks = vocab("ranks", ranks)?;
            let pattern = pattern.to_owned();
            let core = abandonable(py, move || {
                let cut = named::from_pattern(&pattern).map_err(|error| error.at("pattern"))?;
                jeton_core::Tokenizer::new(tiktoken::stages(ranks, cut, special_tokens)?)
            })??;
            Ok(core.into())
        })
    }

    /// A tokenizer from the bytes that `image` gave.
    #[staticmethod]
    fn from_image(py: Python<'_>, image: &[u8]) -> PyResult<Self> {
        guard(py, || {
            let image = image.to_vec();
            let read = move || {
                jeton_core::Tokenizer::new(snapshot::read(&image)?)
                    .map_err(|error| error.at("tokenizer image"))
            };
            Ok(abandonable(py, read)??.into())
        })
    }

    /// Whether one of its stages is a function of Python, which is not in its bytes.
    fn holds_functions(&self) -> bool {
        let stages = self.core.stages();
        let normalizes = stages
            .normalizer
            .as_ref()
            .is_some_and(Normalizer::holds_functions);
        normalizes
            || stages
                .pre_tokenizer
                .as_ref()
                .is_some_and(PreTokenizer::holds_functions)
    }

    /// The tokenizer as bytes, for pickling.
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let core = Arc::clone(&self.core);
            let image = abandonable(py, move || snapshot::write(core.stages()))??;
            Ok(PyBytes::new(py, &image))
        })
    }

    /// All stages but the model and the added tokens, as JSON in the shape of a
    /// `tokenizer.json`.
    fn stages(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || Ok(huggingface::write_stages(self.core.stages())?))
    }

    /// What the file says of padding and of truncation, as JSON.
    #[getter]
    fn sections(&self) -> (Option<String>, Option<String>) {
        let stages = self.core.stages();
        (stages.padding.clone(), stages.truncation.clone())
    }

    fn __eq__(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core) || self.core.stages() == other.core.stages()
    }
}
