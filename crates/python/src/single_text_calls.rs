//! The calls of `jeton.Tokenizer` for one text, with the arguments and the documentation that
//! users read: the Python class inherits them.
//!
//! Look here for the overhead of a short text. A Python method that takes eight
//! arguments and passes them on takes about as long as the tokens of twenty characters, so Python calls
//! these directly.

use std::cell::Cell;

use jeton_core::tokenizer::spans::Row;
use jeton_core::{EncodeOptions, Unit};
use numpy::{PyArray1, PyArray2};
use once_cell::race::OnceBox;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays;
use crate::buffers::with_buffer;
use crate::errors::{Failure, Outcome, guard};
use crate::lists_of_ids;
use crate::options::{self, Given};
use crate::pool;
use crate::signals::detached;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// The arrays of ids and of their spans.
type IdsAndSpans<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray2<i64>>);

/// Bytes from which on a text is split into parts for all cores, where that is possible.
const PARTS_FROM: usize = 256 << 10;

/// Bytes of text below which its array is copied from a buffer that is used again; a larger array is
/// the memory that the ids were written to.
const SMALL_ARRAY: usize = 64 << 10;

/// What `jeton.Tokenizer` is made from; errors of arguments are said in its name.
#[pyclass(name = "Tokenizer", subclass, frozen, module = "jeton._core")]
pub struct Calls {
    tokenizer: OnceBox<Py<Tokenizer>>,
}

thread_local! {
    /// Where the ids of short texts go before they become Python objects.
    static IDS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Ids up to which such a buffer is kept.
const MAX_KEPT: usize = 1 << 16;

impl Calls {
    fn tokenizer(&self) -> Outcome<&Tokenizer> {
        match self.tokenizer.get() {
            Some(tokenizer) => Ok(tokenizer.get()),
            None => Err(Failure::Python(PyAttributeError::new_err(
                "the tokenizer was made without its __init__",
            ))),
        }
    }
}

impl Tokenizer {
    /// Whether a text is encoded in parts, on all cores. That may take reading all of it.
    fn has_parts(&self, py: Python<'_>, text: &str, options: &EncodeOptions) -> Outcome<bool> {
        let end = || self.core.split_point(text, 0, 1, options);
        Ok(text.len() >= PARTS_FROM && detached(py, end)? < text.len())
    }

    /// Appends the ids of a text to `ids`.
    fn encode_into(
        &self,
        py: Python<'_>,
        text: &str,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Outcome<()> {
        if text.len() < pool::WITHOUT_GIL && !self.core.backtracks() {
            self.core.encode_into(text, options, ids)?;
        } else if !self.has_parts(py, text, options)? {
            detached(py, || self.core.encode_into(text, options, ids))??;
        } else {
            let batch = pool::run(py, text.len(), |threads, cancelled| {
                self.core.encode_batch(&[text], options, threads, cancelled)
            })?;
            *ids = batch.map_err(|(_, error)| error)?.ids;
        }
        Ok(())
    }

    /// Appends the ids of a text to `ids`, and their spans to `spans`.
    pub(crate) fn encode_with_spans_into(
        &self,
        py: Python<'_>,
        text: &str,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
    ) -> Outcome<()> {
        let core = &self.core;
        if text.len() < pool::WITHOUT_GIL && !self.core.backtracks() {
            core.encode_with_spans(text, options, ids, spans)?;
        } else if !self.has_parts(py, text, options)? {
            detached(py, || core.encode_with_spans(text, options, ids, spans))??;
        } else {
            let encoded = pool::run(py, text.len(), |threads, cancelled| {
                core.encode_batch_with_spans(&[text], options, threads, cancelled)
            })?;
            let encoded = encoded.map_err(|(_, error)| error)?;
            (*ids, *spans) = (encoded.batch.ids, encoded.spans);
        }
        Ok(())
    }

    /// The ids of a text as an array.
    fn array_of<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        options: &EncodeOptions,
    ) -> Outcome<Bound<'py, PyArray1<u32>>> {
        if text.len() < SMALL_ARRAY {
            return with_buffer(&IDS, MAX_KEPT, |ids| {
                self.encode_into(py, text, options, ids)?;
                Ok(arrays::copied(py, ids)?)
            });
        }
        let mut ids = Vec::with_capacity(text.len() / 4);
        self.encode_into(py, text, options, &mut ids)?;
        ids.shrink_to_fit();
        Ok(arrays::array(py, ids)?)
    }

    /// The ids of a text and their spans, as two arrays.
    fn arrays_with_spans<'py>(
        &self,
        py: Python<'py>,
        text: &Text<'_>,
        options: &EncodeOptions,
    ) -> Outcome<IdsAndSpans<'py>> {
        let string = text.as_str();
        let mut spans = Vec::new();
        let ids = if string.len() < SMALL_ARRAY {
            with_buffer(&IDS, MAX_KEPT, |ids| {
                self.encode_with_spans_into(py, string, options, ids, &mut spans)?;
                Ok::<_, Failure>(arrays::copied(py, ids)?)
            })?
        } else {
            let mut ids = Vec::with_capacity(string.len() / 4);
            self.encode_with_spans_into(py, string, options, &mut ids, &mut spans)?;
            ids.shrink_to_fit();
            arrays::array(py, ids)?
        };
        if options.unit == Unit::Characters && matches!(text, Text::Mended(_)) {
            detached(py, || text.rows_of_caller(&mut spans))?;
        }
        spans.shrink_to_fit();
        Ok((ids, arrays::rows(py, spans)?))
    }
}

#[pymethods]
impl Calls {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            tokenizer: OnceBox::new(),
        }
    }

    /// Says which tokenizer is called; it never changes.
    fn _bind(&self, tokenizer: Py<Tokenizer>) -> PyResult<()> {
        self.tokenizer.set(Box::new(tokenizer)).map_err(|_| {
            PyTypeError::new_err("a tokenizer never changes: make another one, not __init__ again")
        })
    }

    /// The ids of a text.
    ///
    /// Args:
    ///     text (str): The text.
    ///     special ("ignore", "allow", "raise" or a set of str): What special tokens in the text
    ///         mean; see `SpecialPolicy`. By default text never becomes a control token.
    ///     add_special_tokens (bool): Whether the post-processor adds its special tokens.
    ///     dropout (float or None): The probability, 0 to 1, of leaving a merge of BPE out; by default what the
    ///         model says.
    ///     alpha (float or None): Draws a segmentation of a SentencePiece model at random. For Unigram, how much a
    ///         better one is preferred: 0 not at all, 1 as much as the model says. For BPE, the
    ///         probability, 0 to 1, of leaving a merge out.
    ///     nbest_size (int or None): Draws from this many of the best segmentations of a Unigram model, 1 to
    ///         512; by default from all.
    ///     seed (int or None): What the random numbers start from: the same seed gives the same ids. By default
    ///         a fresh one for each call.
    ///
    /// Returns:
    ///     list[int]: The ids.
    ///
    /// Raises:
    ///     ArgumentTypeError: `text` is no `str`.
    ///     EncodeError: The text holds something that the model has no token for.
    ///     SpecialTokenError: With `special="raise"`, a special token is in the text.
    ///     UnsupportedError: A way to draw that the model does not have.
    ///
    /// Example:
    ///     >>> import jeton
    ///     >>> tok = jeton.CharTrainer().train("hello")
    ///     >>> tok.encode("hole")
    ///     [1, 3, 2, 0]
    #[expect(clippy::too_many_arguments, reason = "one for each keyword")]
    #[pyo3(
        signature = (
            text, *, special = Given::Default, add_special_tokens = Given::Default,
            dropout = None, alpha = None, nbest_size = None, seed = None
        ),
        text_signature = "($self, text, *, special='ignore', add_special_tokens=False, \
                          dropout=None, alpha=None, nbest_size=None, seed=None)"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        dropout: Option<Bound<'py, PyAny>>,
        alpha: Option<Bound<'py, PyAny>>,
        nbest_size: Option<Bound<'py, PyAny>>,
        seed: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let tokenizer = self.tokenizer()?;
            let drawing = [dropout, alpha, nbest_size, seed];
            let options = tokenizer.options(special, add_special_tokens, drawing)?;
            let text = Text::of("text", text)?;
            with_buffer(&IDS, MAX_KEPT, |ids| {
                tokenizer.encode_into(py, text.as_str(), &options, ids)?;
                Ok(lists_of_ids::list(py, ids)?)
            })
        })
    }

    /// The ids of a text as a numpy array, on request with where each token came from: no Python object
    /// a token.
    ///
    /// Ids and spans are those of `encode_with_spans`; finding spans too takes at most twice as long for most
    /// tokenizers. A token that holds part of a character has the span of the whole character, and
    /// one that the post-processor added has `(0, 0)`.
    ///
    /// Args:
    ///     text (str): The text.
    ///     spans ("characters", "bytes", "utf-16" or None): Whether spans are returned too, and what they
    ///         count: characters of the `str`, bytes of its UTF-8, or UTF-16 code units, by which
    ///         JavaScript, Java and C# index their strings.
    ///     special, add_special_tokens, dropout, alpha, nbest_size, seed: As in `encode`.
    ///
    /// Returns:
    ///     numpy.ndarray: The ids, uint32 of shape `(tokens,)`. With `spans`, a tuple of the ids and the
    ///         spans, int64 of shape `(tokens, 2)`: where each token begins and where it ends.
    ///
    /// Raises:
    ///     ArgumentError: `spans` is none of the three.
    ///     ArgumentTypeError, EncodeError, SpecialTokenError, UnsupportedError: As `encode`.
    ///
    /// Example:
    ///     >>> import jeton
    ///     >>> tok = jeton.CharTrainer().train("héllo")
    ///     >>> tok.encode_array("hél")
    ///     array([0, 3, 1], dtype=uint32)
    ///     >>> ids, spans = tok.encode_array("hél", spans="bytes")
    ///     >>> spans.tolist()
    ///     [[0, 1], [1, 3], [3, 4]]
    #[expect(clippy::too_many_arguments, reason = "one for each keyword")]
    #[pyo3(
        signature = (
            text, *, spans = None, special = Given::Default, add_special_tokens = Given::Default,
            dropout = None, alpha = None, nbest_size = None, seed = None
        ),
        text_signature = "($self, text, *, spans=None, special='ignore', \
                          add_special_tokens=False, dropout=None, alpha=None, nbest_size=None, \
                          seed=None)"
    )]
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        spans: Option<Bound<'py, PyAny>>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        dropout: Option<Bound<'py, PyAny>>,
        alpha: Option<Bound<'py, PyAny>>,
        nbest_size: Option<Bound<'py, PyAny>>,
        seed: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guard(py, || {
            let tokenizer = self.tokenizer()?;
            let drawing = [dropout, alpha, nbest_size, seed];
            let mut options = tokenizer.options(special, add_special_tokens, drawing)?;
            let Some(unit) = spans else {
                let text = Text::of("text", text)?;
                return Ok(tokenizer.array_of(py, text.as_str(), &options)?.into_any());
            };
            options.to_mut().unit = options::unit("spans", &unit)?;
            let text = Text::of("text", text)?;
            let (ids, rows) = tokenizer.arrays_with_spans(py, &text, &options)?;
            Ok((ids, rows).into_pyobject(py)?.into_any())
        })
    }

    /// The number of tokens of a text.
    ///
    /// Args:
    ///     text (str): The text.
    ///     special ("ignore", "allow", "raise" or a set of str): As in `encode`.
    ///     add_special_tokens (bool): Whether to count the tokens that the post-processor adds.
    ///
    /// Returns:
    ///     int: The number of tokens.
    ///
    /// Raises:
    ///     ArgumentTypeError, EncodeError, SpecialTokenError: As `encode`.
    ///
    /// Example:
    ///     >>> import jeton
    ///     >>> jeton.CharTrainer().train("hello").count("hole")
    ///     4
    #[pyo3(
        signature = (text, *, special = Given::Default, add_special_tokens = Given::Default),
        text_signature = "($self, text, *, special='ignore', add_special_tokens=False)"
    )]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
    ) -> PyResult<usize> {
        guard(py, || {
            let tokenizer = self.tokenizer()?;
            let options = tokenizer.options(special, add_special_tokens, Default::default())?;
            let text = &Text::of("text", text)?;
            let text = text.as_str();
            let core = &tokenizer.core;
            if text.len() < pool::WITHOUT_GIL && !core.backtracks() {
                return Ok(core.count(text, &options)?);
            }
            if !tokenizer.has_parts(py, text, &options)? {
                return Ok(detached(py, || core.count(text, &options))??);
            }
            let counts = pool::run(py, text.len(), |threads, cancelled| {
                core.count_batch(&[text], &options, threads, cancelled)
            })?;
            Ok(counts.map_err(|(_, error)| error)?.into_iter().sum())
        })
    }
}
