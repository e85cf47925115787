//! Blocks of tokens for Python: from files, encoded while Python writes earlier ones, and from texts.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jeton_core::interrupt::Listener;
use jeton_core::token_blocks::{self, TokenBlocks as Core, TokenOptions, Tokens};
use jeton_core::train::corpus::{Corpus, CorpusPosition, DocumentOptions, Next, PATIENCE};
use jeton_core::{Error, ErrorKind};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyTuple};
use rayon::prelude::*;

use crate::documents::{Unit, corpus_options, places_of};
use crate::errors::{Failure, Outcome, argument, guard};
use crate::pool;
use crate::texts::{NoText, with_texts};
use crate::tokenizer::Tokenizer;

/// Bytes of texts, about, that one thread takes at a time.
const TASK: usize = 256 << 10;

/// A block: its tokens, the lengths of its documents, whether the last continues in the next block,
/// keys, bytes of text, how many documents hold nothing, the place and the reason of each that was left
/// out, where reading goes on
/// (file, byte, line, digest), how many bytes of that file had been read from the disk, and of each
/// file that ends in it the number, the bytes on the disk and their SHA-256.
type Block<'py> = Bound<'py, PyTuple>;

/// The options: what documents begin and end with, and whether they have keys.
type Options = (Vec<u32>, Vec<u32>, bool);

/// The blocks of files, while threads make them.
#[pyclass(frozen, module = "jeton._core")]
pub struct TokenBlocks {
    core: Mutex<Option<Core>>,
}

#[pymethods]
impl TokenBlocks {
    /// Begins to make the blocks of files.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn new(
        py: Python<'_>,
        tokenizer: &Tokenizer,
        paths: Vec<PathBuf>,
        field: Option<String>,
        errors: &str,
        unit: Unit,
        drop_bad: bool,
        start: (usize, u64, u64, u64),
        options: Options,
    ) -> PyResult<Self> {
        guard(py, || {
            let reading = corpus_options(field, errors, unit, drop_bad)?;
            let corpus = py.detach(|| Corpus::open(&paths, reading))?;
            let threads = pool::install(py, rayon::current_num_threads)?;
            let (file, byte, line, digest) = start;
            let reading = DocumentOptions {
                start: CorpusPosition {
                    file,
                    byte,
                    line,
                    digest,
                },
                threads,
                ..DocumentOptions::default()
            };
            let options = token_options(tokenizer, options);
            let core = Arc::clone(&tokenizer.core);
            let core = py.detach(|| Core::new(core, &corpus, &reading, options, threads));
            Ok(Self {
                core: Mutex::new(Some(core)),
            })
        })
    }

    /// The next block; `None` when there are no more.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Block<'py>>> {
        guard(py, || {
            loop {
                let step = py.detach(|| match self.core.lock() {
                    Ok(mut core) => core
                        .as_mut()
                        .map_or(Ok(Next::End), |core| core.step(PATIENCE)),
                    Err(_) => Ok(Next::End),
                });
                match step? {
                    Next::Item(block) => return Ok(Some(of_block(py, block)?)),
                    Next::Waiting => py.check_signals()?,
                    Next::End => return Ok(None),
                }
            }
        })
    }

    /// Ends the threads.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.core.lock().ok().and_then(|mut core| core.take())));
    }
}

/// The blocks of texts that each are a document, in order.
#[pyfunction]
pub fn blocks_of_texts<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    texts: &Bound<'py, PyAny>,
    errors: &Bound<'py, PyAny>,
    nulls: &Bound<'py, PyAny>,
    options: Options,
) -> PyResult<Vec<Block<'py>>> {
    guard(py, || {
        let options = token_options(tokenizer, options);
        let no_text = NoText::of(errors, nulls)?;
        let core = &tokenizer.core;
        let blocks = with_texts(py, core, texts, no_text, |texts, threads, cancelled| {
            let tasks = tasks(texts);
            let of_task = |&(first, end): &(usize, usize)| {
                if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
                    let interrupted = Error::new(ErrorKind::Argument, "interrupted");
                    return Err((first, interrupted));
                }
                let texts = &texts[first..end];
                token_blocks::TokenBlock::of_texts(core, &options, texts)
                    .map_err(|(row, error)| (first + row, error))
            };
            let made: Vec<_> = match threads {
                1 => tasks.iter().map(of_task).collect(),
                _ => Listener::lend(|listener| {
                    let of_task = |task| listener.during(|| of_task(task));
                    tasks.par_iter().map(of_task).collect()
                }),
            };
            made.into_iter().collect::<Result<Vec<_>, _>>()
        })?;
        blocks
            .into_iter()
            .map(|block| of_block(py, block))
            .collect()
    })
}

/// The tokens of documents in another order; `ends` says how many tokens there are up to the end of
/// each.
#[pyfunction]
pub fn reordered<'py>(
    py: Python<'py>,
    tokens: &Bound<'py, PyAny>,
    ends: &Bound<'py, PyArray1<i64>>,
    order: &Bound<'py, PyArray1<i64>>,
) -> PyResult<Bound<'py, PyAny>> {
    fn of<'py, T: Element + Copy + Send + Sync>(
        py: Python<'py>,
        tokens: &Bound<'py, PyArray1<T>>,
        ends: &[i64],
        order: &[i64],
    ) -> Outcome<Bound<'py, PyAny>> {
        let tokens = tokens.readonly();
        let tokens = tokens.as_slice().map_err(|_| outside())?;
        let tokens = py.detach(|| token_blocks::reordered(tokens, ends, order));
        Ok(PyArray1::from_vec(py, tokens.ok_or_else(outside)?).into_any())
    }
    fn outside() -> Failure {
        argument("tokens, ends and order do not fit each other")
    }
    guard(py, || {
        let (ends, order) = (ends.readonly(), order.readonly());
        let ends = ends.as_slice().map_err(|_| outside())?;
        let order = order.as_slice().map_err(|_| outside())?;
        match tokens.cast::<PyArray1<u16>>() {
            Ok(tokens) => of(py, tokens, ends, order),
            Err(_) => of(py, tokens.cast::<PyArray1<u32>>()?, ends, order),
        }
    })
}

/// The rows of each task.
fn tasks(texts: &[&str]) -> Vec<(usize, usize)> {
    let mut tasks = Vec::new();
    let (mut first, mut size) = (0, 0);
    for (row, text) in texts.iter().enumerate() {
        size += text.len();
        if size >= TASK || row + 1 == texts.len() {
            tasks.push((first, row + 1));
            (first, size) = (row + 1, 0);
        }
    }
    tasks
}

fn token_options(tokenizer: &Tokenizer, (start, end, keys): Options) -> TokenOptions {
    TokenOptions {
        start,
        end,
        keys,
        ..TokenOptions::of(&tokenizer.core, None)
    }
}

fn of_block<'py>(py: Python<'py>, block: token_blocks::TokenBlock) -> Outcome<Block<'py>> {
    let tokens = match block.tokens {
        Tokens::Narrow(tokens) => PyArray1::from_vec(py, tokens).into_any(),
        Tokens::Wide(tokens) => PyArray1::from_vec(py, tokens).into_any(),
    };
    let digests = block
        .digests
        .iter()
        .map(|(file, bytes, sha256)| (*file, *bytes, PyBytes::new(py, sha256)));
    let digests: Vec<_> = digests.collect();
    let CorpusPosition {
        file,
        byte,
        line,
        digest,
    } = block.after;
    Ok((
        tokens,
        PyArray1::from_vec(py, block.lengths),
        block.is_unfinished,
        PyArray1::from_vec(py, block.keys),
        block.bytes,
        block.empty,
        places_of(block.dropped),
        (file, byte, line, digest),
        block.read,
        digests,
    )
        .into_pyobject(py)?)
}
