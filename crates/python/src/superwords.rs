//! Training superwords: the first stage, the readings of the corpus, and the second stage.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use jeton_core::model;
use jeton_core::train::bpe::FirstStage;
use jeton_core::train::word_counts::{self, CountingOptions, FirstStages};
use jeton_core::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::guard;
use crate::model::Model;
use crate::pool;
use crate::trainers::{superword_trainer, watched};
use crate::word_counts::{Cutting, Needs, WordCounter, WordCounts, budget};

/// Training that has learnt words, and reads the corpus again for superwords.
#[pyclass(frozen, module = "jeton._core")]
pub struct SuperwordTraining {
    core: Mutex<FirstStage>,
    stages: FirstStages,
}

impl SuperwordTraining {
    fn core(&self) -> jeton_core::Result<MutexGuard<'_, FirstStage>> {
        self.core.try_lock().map_err(|_| {
            let message = "another thread is training, or failed there";
            Error::new(ErrorKind::Argument, message).hint("train anew in each thread")
        })
    }
}

#[pymethods]
impl SuperwordTraining {
    /// Learns the words, which `cutting` has split; `watch` as in `train`.
    #[new]
    fn new(
        py: Python<'_>,
        counts: &WordCounts,
        cutting: Cutting,
        parameters: &Bound<'_, PyDict>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        guard(py, || {
            let trainer = superword_trainer(parameters)?;
            let stages = cutting.stages()?;
            let Some(pattern) = stages.pre_tokenizer().cloned() else {
                return Err(Error::new(
                    ErrorKind::Argument,
                    "superwords need a pattern that splits text into words",
                )
                .hint("set pattern=\"gpt4o\", or another pattern by its name")
                .into());
            };
            let core = watched(py, watch, |watch| {
                trainer.first_stage(&counts.core, pattern, watch)
            })?;
            Ok(Self {
                core: Mutex::new(core),
                stages,
            })
        })
    }

    /// What counts the next reading of the corpus.
    fn counter(
        &self,
        py: Python<'_>,
        memory: Option<u64>,
        temp_dir: PathBuf,
        needs: Needs,
    ) -> PyResult<WordCounter> {
        guard(py, || {
            let options = CountingOptions {
                memory: memory.map(|bytes| budget(bytes, temp_dir, needs)),
                ..CountingOptions::default()
            };
            let neighbours = self.core()?.reading();
            let core = pool::install(py, || {
                word_counts::WordCounter::of_neighbours(&self.stages, options, neighbours)
            })?;
            Ok(core.into())
        })
    }

    /// The model that is learnt from stretches of words; `None` if they must be counted once more.
    fn learn(
        &self,
        py: Python<'_>,
        stretches: &WordCounts,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Option<Model>> {
        guard(py, || {
            let mut core = self.core()?;
            let core = &mut *core;
            let learnt = watched(py, watch, |watch| core.learn(&stretches.core, watch))?;
            Ok(learnt.map(|learnt| Model {
                core: model::Model::Superwords(Box::new(learnt)),
            }))
        })
    }
}
