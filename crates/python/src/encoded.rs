//! The core's part of an `Encoding`: its columns in a few bytes per token, from which lists are
//! created when Python reads them.
//!
//! Look here for what is computed only on request. Millions of Python objects take longer
//! to create than their tokens take to find, and as long to release, and Ctrl-C would wait for that.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use jeton_core::EncodeOptions;
use jeton_core::tokenizer::spans::Row;
use jeton_core::tokenizer::{self, Attributes, Rest, Spanned};
use numpy::PyArray1;
use once_cell::race::OnceBox;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::arrays;
use crate::errors::{Outcome, argument, guard};
use crate::lists_of_ids;
use crate::signals::detached;
use crate::text::Text;

/// The columns of an encoding.
#[pyclass(frozen, module = "jeton._core")]
pub struct Encoded {
    core: Arc<jeton_core::Tokenizer>,
    options: EncodeOptions,
    ids: Vec<u32>,
    spans: Vec<Row>,
    /// What the other columns are found by; nothing where the stages gave them.
    sources: Vec<Source>,
    /// The other columns, as if each text were one word.
    framed: OnceBox<Attributes>,
    /// All other columns.
    whole: OnceBox<Attributes>,
}

/// One text of an entry, and how many tokens it has.
pub enum Source {
    /// A text.
    Text(Py<PyString>, usize),
    /// Its words.
    Words(Vec<usize>),
}

impl Encoded {
    /// `sources` are the texts of the entry, each with as many counts as it has words.
    pub fn new(
        core: Arc<jeton_core::Tokenizer>,
        options: EncodeOptions,
        spanned: Spanned,
        sources: impl FnOnce(Vec<usize>) -> Vec<Source>,
    ) -> Self {
        let Spanned { ids, spans, rest } = spanned;
        let whole = OnceBox::new();
        let sources = match rest {
            Rest::Counted(counts) => sources(counts),
            Rest::Known(attributes) => {
                // Nobody else has seen it.
                let _ = whole.set(Box::new(attributes));
                Vec::new()
            }
        };
        Self {
            core,
            options,
            ids,
            spans,
            sources,
            framed: OnceBox::new(),
            whole,
        }
    }

    /// The columns beside ids, spans and words.
    fn framed(&self, py: Python<'_>) -> Outcome<&Attributes> {
        match self.whole.get() {
            Some(attributes) => Ok(attributes),
            None => self.attributes(py, &self.framed, false),
        }
    }

    /// All columns beside ids and spans.
    fn whole(&self, py: Python<'_>) -> Outcome<&Attributes> {
        self.attributes(py, &self.whole, true)
    }

    /// The columns that are kept in `place`, found now if none are: `with_texts`, or as if each text
    /// were one word.
    fn attributes<'s>(
        &'s self,
        py: Python<'_>,
        place: &'s OnceBox<Attributes>,
        with_texts: bool,
    ) -> Outcome<&'s Attributes> {
        if let Some(attributes) = place.get() {
            return Ok(attributes);
        }
        let texts = self.sources.iter().map(|it| match it {
            Source::Text(text, _) if with_texts => Text::of_string(text.bind(py)).map(Some),
            _ => Ok(None),
        });
        let texts = texts.collect::<Outcome<Vec<Option<Text<'_>>>>>()?;
        let sources = self.sources.iter().zip(&texts).map(|(it, text)| match it {
            Source::Text(_, count) => {
                tokenizer::Source::Text(text.as_ref().map(Text::as_str), *count)
            }
            Source::Words(counts) => tokenizer::Source::Words(counts),
        });
        let sources: Vec<tokenizer::Source<'_>> = sources.collect();
        let found = detached(py, || self.core.attributes(&sources, &self.options))??;
        // Unless another thread found it meanwhile, which is the same.
        Ok(place.get_or_init(|| Box::new(found)))
    }
}

/// The ints of numbers of which the next often equals the one before: then it is the same object.
#[derive(Default)]
struct Numbered<'py>(Option<(i64, Bound<'py, PyInt>)>);

impl<'py> Numbered<'py> {
    fn int(&mut self, py: Python<'py>, number: i64) -> Bound<'py, PyInt> {
        match &self.0 {
            Some((last, int)) if *last == number => int.clone(),
            _ => {
                let Ok(int) = number.into_pyobject(py);
                self.0.insert((number, int)).1.clone()
            }
        }
    }
}

#[pymethods]
impl Encoded {
    fn __len__(&self) -> usize {
        self.ids.len()
    }

    /// The rows of a column from `start` up to `stop`, or up to its end.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let stop = stop.min(self.ids.len());
            let rows: Range<usize> = start.min(stop)..stop;
            let ids = &self.ids[rows.clone()];
            let mut number = Numbered::default();
            let mut numbered = |it: Option<u32>| it.map(|it| number.int(py, it.into()));
            Ok(match column {
                "ids" => lists_of_ids::list(py, ids)?,
                "spans" => {
                    let spans = self.spans[rows].iter();
                    let mut number = Numbered::default();
                    let spans =
                        spans.map(|[start, end]| (number.int(py, *start), number.int(py, *end)));
                    PyList::new(py, spans)?
                }
                "tokens" => {
                    let mut known = HashMap::new();
                    let tokens = ids.iter().map(|id| {
                        let token = known.entry(*id).or_insert_with(|| {
                            PyBytes::new(py, self.core.token_bytes(*id).unwrap_or_default())
                        });
                        token.clone()
                    });
                    PyList::new(py, tokens)?
                }
                "word_ids" => {
                    let words = self.whole(py)?.word_ids[rows].iter();
                    PyList::new(py, words.map(|it| numbered(*it)))?
                }
                "type_ids" => {
                    let types = self.framed(py)?.type_ids[rows].iter();
                    PyList::new(py, types.map(|it| numbered(Some(*it))))?
                }
                "sequence_ids" => {
                    let texts = self.framed(py)?.sequence_ids[rows].iter();
                    PyList::new(py, texts.map(|it| numbered(*it)))?
                }
                "special_tokens_mask" => {
                    PyList::new(py, &self.framed(py)?.special_tokens_mask[rows])?
                }
                other => return Err(argument(format!("an encoding has no column {other:?}"))),
            })
        })
    }

    /// The ids as an array.
    fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        guard(py, || Ok(arrays::copied(py, &self.ids)?))
    }

    /// A text may be of a class of the caller, whose objects may lead back here.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for source in &self.sources {
            if let Source::Text(text, _) = source {
                visit.call(text)?;
            }
        }
        Ok(())
    }
}
