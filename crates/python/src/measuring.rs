//! What measures of tokenizers are made on: the contents of files, the words of texts, the counts of
//! tokens.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jeton_core::measure::token_counter::TokenCounter as CoreCounter;
use jeton_core::measure::unicode_words::UnicodeWords as Core;
use jeton_core::train::corpus::Contents;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::arrays::{self, Numbers};
use crate::errors::{argument, guard};
use crate::pool;
use crate::signals::list;

/// The contents of a file, decompressed.
#[pyclass(frozen, module = "jeton._core")]
pub struct FileContents {
    core: Mutex<Contents>,
}

#[pymethods]
impl FileContents {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guard(py, || {
            let contents = py.detach(|| Contents::open(&path))?;
            Ok(Self {
                core: Mutex::new(contents),
            })
        })
    }

    /// The next bytes: as many as asked for, but at the end.
    fn read<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let bytes = py.detach(|| {
                let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
                core.read(size)
            })?;
            Ok(PyBytes::new(py, &bytes))
        })
    }

    /// How many bytes of the file were read, and their SHA-256.
    fn digest<'py>(&self, py: Python<'py>) -> (u64, Bound<'py, PyBytes>) {
        let (bytes, sha256) = py.detach(|| {
            let core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
            core.digest()
        });
        (bytes, PyBytes::new(py, &sha256))
    }
}

/// The words of texts by Unicode's rules, with how often each occurs.
#[pyclass(frozen, module = "jeton._core")]
pub struct UnicodeWords {
    /// Taken out by `finish`.
    core: Mutex<Option<Core>>,
}

#[pymethods]
impl UnicodeWords {
    #[new]
    fn new() -> Self {
        Self {
            core: Mutex::new(Some(Core::default())),
        }
    }

    /// Counts the words of texts, on all cores.
    fn add(&self, py: Python<'_>, texts: &Bound<'_, PyList>) -> PyResult<()> {
        guard(py, || {
            let texts: Vec<_> = texts.iter().collect();
            let texts: Vec<&str> = texts
                .iter()
                .map(|text| text.cast::<PyString>()?.to_str())
                .collect::<PyResult<_>>()?;
            let bytes = texts.iter().map(|text| text.len()).sum();
            let slot = self.core.try_lock().map_err(|_| busy())?;
            let core = slot.as_ref().ok_or_else(busy)?;
            pool::run(py, bytes, |threads, _| core.add(&texts, threads))
        })
    }

    /// The most common words with how often each occurs, some of the others, how many kinds there are
    /// and how many words; one that stands behind a space has it. There is nothing left to count with.
    fn finish<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Words<'py>> {
        guard(py, || {
            let core = self.core.try_lock().map_err(|_| busy())?.take();
            let core = core.ok_or_else(busy)?;
            let counted = pool::install(py, || core.finish(most))?;
            let common = list(py, counted.common.into_iter())?;
            let others = list(py, counted.others.into_iter())?;
            Ok((common, others, counted.kinds, counted.total))
        })
    }
}

/// Words with how often each occurs, others, how many kinds there are, and how many words.
type Words<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, usize, u64);

/// How often each token of a vocabulary occurs, in batches of ids.
#[pyclass(frozen, module = "jeton._core")]
pub struct TokenCounter {
    core: Mutex<CoreCounter>,
}

#[pymethods]
impl TokenCounter {
    #[new]
    fn new(py: Python<'_>, ids: Numbers<'_, u32>) -> PyResult<Self> {
        guard(py, || {
            let core = Mutex::new(CoreCounter::new(ids.to_vec().map_err(PyErr::from)?));
            Ok(Self { core })
        })
    }

    /// Counts the tokens of a batch, on all cores.
    fn add(&self, py: Python<'_>, ids: Numbers<'_, u32>) -> PyResult<()> {
        guard(py, || {
            let ids = ids.try_readonly().map_err(PyErr::from)?;
            let ids = ids.as_slice().map_err(PyErr::from)?;
            let mut core = self.core.try_lock().map_err(|_| busy())?;
            let core = &mut *core;
            let added = pool::run(py, ids.len(), |threads, _| core.add(ids, threads))?;
            added.map_err(|id| argument(format!("id {id} stands for no token")))
        })
    }

    /// How often each token was counted since the last time, in the order of the ids.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        guard(py, || {
            let counts = self.core.try_lock().map_err(|_| busy())?.take();
            let counts = counts.into_iter().map(|count| count as i64).collect();
            Ok(arrays::array(py, counts)?)
        })
    }

    /// How many different tokens there were after 64, 128, 256 … tokens, and after all.
    fn curve(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        guard(py, || Ok(self.core.try_lock().map_err(|_| busy())?.curve()))
    }
}

fn busy() -> crate::errors::Failure {
    argument("it is counting in another thread, or has given what it counted")
}
