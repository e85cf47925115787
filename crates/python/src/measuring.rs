//! The input of measures of tokenizers: the contents of files, the words of texts, the counts of
//! tokens.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jeton_core::measure::counting;
use jeton_core::measure::short_texts::{self, Lengths};
use jeton_core::measure::text_file::TextFile as CoreFile;
use jeton_core::measure::text_parts::{TextParts as CoreParts, cut};
use jeton_core::measure::token_counter::TokenCounter as CoreCounter;
use jeton_core::measure::unicode_words::{CountedWords as Counted, UnicodeWords as Core};
use jeton_core::text::InvalidUtf8;
use jeton_core::train::corpus::{self, Contents};
use jeton_core::{Error, Tokenizer as CoreTokenizer, batch};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::arrays::{self, Numbers};
use crate::errors::{Outcome, argument, guard};
use crate::pool;
use crate::signals::list;
use crate::text::string_of;
use crate::texts::{self, NoText};
use crate::tokenizer::Tokenizer;

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

/// Fails if the bytes that a stream begins with are not text.
#[pyfunction]
pub fn check_text(py: Python<'_>, name: &str, bytes: &[u8]) -> PyResult<()> {
    guard(py, || Ok(corpus::check_text(name, bytes)?))
}

/// Texts in parts of limited length.
#[pyclass(frozen, module = "jeton._core")]
pub struct TextParts {
    core: Mutex<CoreParts>,
}

#[pymethods]
impl TextParts {
    #[new]
    fn new(longest: usize) -> Self {
        Self {
            core: Mutex::new(CoreParts::new(longest)),
        }
    }

    /// Adds a text that is not empty.
    fn add(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        guard(py, || {
            self.lock()?.add(text);
            Ok(())
        })
    }

    /// How many bytes they have.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> PyResult<usize> {
        guard(py, || Ok(self.lock()?.bytes()))
    }

    /// How many characters.
    #[getter]
    fn characters(&self, py: Python<'_>) -> PyResult<usize> {
        guard(py, || Ok(self.lock()?.characters()))
    }

    /// How many stretches without white space.
    #[getter]
    fn spaced_words(&self, py: Python<'_>) -> PyResult<usize> {
        guard(py, || Ok(self.lock()?.spaced_words()))
    }

    /// Of their parts of this many characters those whose CRC-32 is at most `most`: with it, their text and
    /// its bytes.
    fn hashed<'py>(
        &self,
        py: Python<'py>,
        longest: usize,
        most: u32,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let core = self.lock()?;
            let core = &*core;
            let hashed = py.detach(|| core.hashed(longest, most));
            let hashed = hashed.into_iter();
            Ok(list(
                py,
                hashed.map(|part| (part.hash, part.text, part.text.len())),
            )?)
        })
    }
}

impl TextParts {
    fn lock(&self) -> Outcome<MutexGuard<'_, CoreParts>> {
        self.core.try_lock().map_err(|_| busy())
    }
}

/// A text file that is read in parts.
#[pyclass(frozen, module = "jeton._core")]
pub struct TextFile {
    core: Mutex<CoreFile>,
}

#[pymethods]
impl TextFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, errors: &str) -> PyResult<Self> {
        guard(py, || {
            let errors = errors.parse::<InvalidUtf8>()?;
            let core = Mutex::new(py.detach(|| CoreFile::open(&path, errors))?);
            Ok(Self { core })
        })
    }

    /// Reads about this many bytes and adds the parts that they end: how many bytes were read, none at the
    /// end, how many of text, and whether the first part of the file was added.
    fn read(
        &self,
        py: Python<'_>,
        size: usize,
        parts: &TextParts,
    ) -> PyResult<(usize, usize, bool)> {
        guard(py, || {
            let mut core = self.core.try_lock().map_err(|_| busy())?;
            let mut parts = parts.lock()?;
            let (core, parts) = (&mut *core, &mut *parts);
            let read = py.detach(|| core.read(size, parts))?;
            Ok((read.bytes, read.text, read.begins))
        })
    }

    /// How many bytes of the file were read, and their SHA-256.
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        guard(py, || {
            let core = self.core.try_lock().map_err(|_| busy())?;
            let (bytes, sha256) = core.digest();
            Ok((bytes, PyBytes::new(py, &sha256)))
        })
    }
}

/// The parts of a text of at most this many characters, split after lines where that is possible.
#[pyfunction]
pub fn cut_text<'py>(py: Python<'py>, text: &str, longest: usize) -> PyResult<Bound<'py, PyList>> {
    guard(py, || Ok(list(py, cut(text, longest).into_iter())?))
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

    /// The most common words, and some of the others. There is nothing left to count with.
    fn finish(&self, py: Python<'_>, most: usize) -> PyResult<CountedWords> {
        guard(py, || {
            let core = self.core.try_lock().map_err(|_| busy())?.take();
            let core = core.ok_or_else(busy)?;
            let core = pool::install(py, || core.finish(most))?;
            Ok(CountedWords { core })
        })
    }
}

/// Words that were counted: the most common ones, and of the others every so many. One that stands
/// after a space has it.
#[pyclass(frozen, module = "jeton._core")]
pub struct CountedWords {
    core: Counted,
}

#[pymethods]
impl CountedWords {
    /// How often each word occurs, the common ones first.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        guard(py, || {
            let words = self.core.common.iter().chain(&self.core.others);
            let counts = words.map(|(_, count)| *count as i64).collect();
            Ok(arrays::array(py, counts)?)
        })
    }

    /// How many of the words are common ones.
    #[getter]
    fn common(&self) -> usize {
        self.core.common.len()
    }

    /// How many kinds of words there are.
    #[getter]
    fn kinds(&self) -> usize {
        self.core.kinds
    }

    /// How many words there are.
    #[getter]
    fn total(&self) -> u64 {
        self.core.total
    }

    /// How many tokens each word has, and whether all of them are known; without the space before
    /// it, where `bare`.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn lengths<'py>(
        &self,
        py: Python<'py>,
        tokenizer: &Tokenizer,
        bare: bool,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<bool>>)> {
        guard(py, || {
            let words = self.core.common.iter().chain(&self.core.others);
            let words: Vec<&str> = words
                .map(|(word, _)| {
                    if bare {
                        word.trim_start_matches(' ')
                    } else {
                        word
                    }
                })
                .collect();
            let tokenizer = &*tokenizer.core;
            let bytes = words.iter().map(|word| word.len()).sum();
            let found = pool::run(
                py,
                texts::work_of(tokenizer, bytes),
                |threads, cancelled| short_texts::lengths(tokenizer, &words, threads, cancelled),
            )?;
            let Lengths { tokens, is_known } = found.map_err(at_row)?;
            let tokens = tokens.into_iter().map(|tokens| tokens as i64).collect();
            Ok((arrays::array(py, tokens)?, arrays::array(py, is_known)?))
        })
    }
}

/// The lines that decode to something else: which, what each decodes to, whether all its tokens are
/// known.
#[pyfunction]
pub fn changed_lines<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    lines: &Bound<'py, PyAny>,
) -> PyResult<Vec<(usize, Bound<'py, PyString>, bool)>> {
    guard(py, || {
        let tokenizer = &*tokenizer.core;
        let found = texts::with_texts(
            py,
            tokenizer,
            lines,
            NoText::default(),
            |lines, threads, cancelled| short_texts::changed(tokenizer, lines, threads, cancelled),
        )?;
        let texts = found
            .into_iter()
            .map(|it| Ok((it.row, string_of(py, &it.gave, "replace")?, it.is_known)));
        texts.collect()
    })
}

/// How often each token of a vocabulary occurs, in batches of texts.
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

/// Counts the words of texts, and their tokens by each tokenizer, on all cores. An error names its
/// tokenizer's place, the last of the three.
#[pyfunction]
pub fn count_parts(
    py: Python<'_>,
    parts: &TextParts,
    words: &UnicodeWords,
    counters: Vec<(PyRef<'_, Tokenizer>, PyRef<'_, TokenCounter>, String)>,
) -> PyResult<()> {
    guard(py, || {
        let parts = parts.lock()?;
        let (texts, bytes) = (parts.rows(), parts.bytes());
        let words = words.core.try_lock().map_err(|_| busy())?;
        let words = words.as_ref().ok_or_else(busy)?;
        let mut locked = counters
            .iter()
            .map(|(_, counter, _)| counter.core.try_lock().map_err(|_| busy()))
            .collect::<Outcome<Vec<_>>>()?;
        let tokenizers = counters.iter().map(|(tokenizer, ..)| &*tokenizer.core);
        let counted = tokenizers.zip(locked.iter_mut().map(|counter| &mut **counter));
        let mut counted: Vec<(&CoreTokenizer, &mut CoreCounter)> = counted.collect();
        let work = counted
            .iter()
            .map(|(tokenizer, _)| texts::work_of(tokenizer, bytes));
        let work = work.max().unwrap_or(bytes);
        let done = pool::run(py, work, |threads, cancelled| {
            counting::count(&texts, words, &mut counted, threads, cancelled)
        })?;
        Ok(done.map_err(|(number, failure)| at_row(failure).at(&*counters[number].2))?)
    })
}

fn at_row((row, error): batch::Failure) -> Error {
    error.at(format!("texts[{row}]"))
}

fn busy() -> crate::errors::Failure {
    argument("it is counting in another thread, or has returned its counts")
}
