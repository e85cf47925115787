//! The classes behind the trainers: counting words, and training from the counts.

use std::ops::ControlFlow;
use std::sync::Mutex;

use jeton_core::format::huggingface;
use jeton_core::model::bpe::train::{BpeTraining, train_bpe};
use jeton_core::model::{self, Vocab, WordLevel};
use jeton_core::word_counts::{self, FirstStages};
use jeton_core::{Error, ErrorKind};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::errors::{Failure, Outcome, guard, wrong_type};
use crate::model::Model;
use crate::pool;
use crate::text::Text;

/// Counts the words that the first stages of a tokenizer make of texts, batch after batch.
#[pyclass(frozen, module = "jeton._core")]
pub struct WordCounter {
    /// Taken out by `finish`.
    core: Mutex<Option<word_counts::WordCounter>>,
}

#[pymethods]
impl WordCounter {
    /// A counter; `stages` is JSON in the shape of a `tokenizer.json` without a model.
    #[new]
    fn new(py: Python<'_>, stages: &str) -> PyResult<Self> {
        guard(py, || {
            // Words are counted as text, so a byte-level pre-tokenizer must spell nothing out.
            let bytes = model::Model::Bpe(model::Bpe::by_merges(
                Vocab::default(),
                [],
                model::bpe::BpeOptions::default(),
            )?);
            let stages = huggingface::read_stages(stages.as_bytes(), Some(bytes))?;
            let stages =
                FirstStages::new(stages.added_tokens, stages.normalizer, stages.pre_tokenizer)?;
            let core = pool::install(py, || word_counts::WordCounter::new(stages))?;
            Ok(Self {
                core: Mutex::new(Some(core)),
            })
        })
    }

    /// Counts the words of a batch of texts, on all cores.
    fn count(&self, py: Python<'_>, texts: &Bound<'_, PyList>) -> PyResult<()> {
        guard(py, || {
            let strings: Vec<_> = texts.iter().collect();
            let texts = strings
                .iter()
                .map(|string| Text::of("each text of the corpus", string))
                .collect::<Outcome<Vec<_>>>()?;
            let texts: Vec<&str> = texts.iter().map(Text::as_str).collect();
            pool::install(py, || match self.core.lock() {
                Ok(mut core) => core.as_mut().map_or(Ok(()), |core| core.count(&texts)),
                Err(_) => Ok(()),
            })??;
            Ok(())
        })
    }

    /// The counts; the counter is empty afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<WordCounts> {
        guard(py, || {
            let counter = self.core.lock().ok().and_then(|mut core| core.take());
            let Some(counter) = counter else {
                return Err(Error::new(ErrorKind::Argument, "the counter is finished").into());
            };
            Ok(WordCounts {
                core: py.detach(|| counter.finish()),
            })
        })
    }
}

/// The distinct words of a corpus with their counts.
#[pyclass(frozen, module = "jeton._core")]
pub struct WordCounts {
    core: word_counts::WordCounts,
}

#[pymethods]
impl WordCounts {
    /// The byte pair encoding that these parameters ask for.
    fn train_bpe(&self, py: Python<'_>, parameters: &Bound<'_, PyDict>) -> PyResult<Model> {
        guard(py, || {
            let training = bpe_training(parameters)?;
            let mut interrupt = None;
            let watch = |_| match Python::attach(|py| py.check_signals()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    interrupt = Some(error);
                    ControlFlow::Break(())
                }
            };
            let trained = py.detach(|| train_bpe(&self.core, &training, watch));
            match interrupt {
                Some(interrupt) => Err(interrupt.into()),
                None => Ok(Model {
                    core: model::Model::Bpe(trained?),
                }),
            }
        })
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }
}

/// Refuses parameters of byte pair training that make no sense.
#[pyfunction]
pub fn check_bpe_training(py: Python<'_>, parameters: &Bound<'_, PyDict>) -> PyResult<()> {
    guard(py, || Ok(bpe_training(parameters)?.check()?))
}

fn bpe_training(parameters: &Bound<'_, PyDict>) -> Outcome<BpeTraining> {
    fn get<'py, T: for<'a> FromPyObject<'a, 'py>>(
        parameters: &Bound<'py, PyDict>,
        name: &str,
        expected: &str,
    ) -> Outcome<T> {
        let value = parameters
            .get_item(name)?
            .ok_or_else(|| Failure::Python(PyKeyError::new_err(name.to_owned())))?;
        value
            .extract()
            .map_err(|_| wrong_type(name, expected, &value))
    }
    const TEXT: &str = "a str or None";
    let word = |name: &str| -> Outcome<String> { get(parameters, name, "a str") };
    Ok(BpeTraining {
        vocab_size: get(parameters, "vocab_size", "an int of at least 0")?,
        min_frequency: get(parameters, "min_frequency", "an int of at least 0")?,
        max_token_length: get(parameters, "max_token_length", "an int or None")?,
        alphabet: word("alphabet")?.parse()?,
        initial_alphabet: get(parameters, "initial_alphabet", "a list of characters")?,
        limit_alphabet: get(parameters, "limit_alphabet", "an int or None")?,
        special_tokens: get(parameters, "special_tokens", "a list of str")?,
        unk_token: get(parameters, "unk_token", TEXT)?,
        continuing_subword_prefix: get(parameters, "continuing_subword_prefix", TEXT)?,
        end_of_word_suffix: get(parameters, "end_of_word_suffix", TEXT)?,
        separate_suffix: get(parameters, "separate_suffix", "a bool")?,
        tie_break: word("tie_break")?.parse()?,
        ..BpeTraining::default()
    })
}

/// The pre-tokenizer of a pattern, as JSON: of its name, or of an expression in tiktoken's dialect.
#[pyfunction]
pub fn pattern_pre_tokenizer(py: Python<'_>, pattern: &Bound<'_, PyString>) -> PyResult<String> {
    guard(py, || {
        let pre_tokenizer = jeton_core::pre_tokenizer::named::from_pattern(pattern.to_str()?)?;
        let nothing = model::Model::WordLevel(WordLevel::new(Vocab::default(), ""));
        let stages = jeton_core::Stages {
            pre_tokenizer: Some(pre_tokenizer),
            ..jeton_core::Stages::of_model(nothing)
        };
        Ok(huggingface::write_stages(&stages)?)
    })
}
