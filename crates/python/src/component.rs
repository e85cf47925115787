//! A single component: what a call to an object of `jeton.components` does.

use std::collections::HashMap;

use jeton_core::decoder::Invalid;
use jeton_core::encoding::Encoding;
use jeton_core::interrupt::paced;
use jeton_core::post_processor::PostProcessor;
use jeton_core::text::{AlignedText, Pieces, Span, UnitIndex};
use jeton_core::{Error, ErrorKind, Stages, Unit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::errors::{argument, guard};
use crate::options;
use crate::signals::{self, detached};
use crate::stages::read_around_model;
use crate::text::{Text, string_of};

/// One component of a tokenizer.
#[pyclass(frozen, module = "jeton._core")]
pub struct Component {
    /// All stages are unset but one.
    stages: Stages,
}

/// A [`Span`] as Python has it.
type Pair = (usize, usize);

/// The columns of an encoding: ids, spans, word ids, type ids, sequence ids, the mask of special
/// tokens and the tokens.
type Columns = (
    Vec<u32>,
    Vec<Pair>,
    Vec<Option<u32>>,
    Vec<u32>,
    Vec<Option<u32>>,
    Vec<bool>,
    Vec<Vec<u8>>,
);

#[pymethods]
impl Component {
    /// The component that a `tokenizer.json` holds so, in the place that `stage` names; `is_raw` says
    /// that the tokens are bytes as they are, and not spelled in GPT-2's characters.
    #[new]
    fn new(py: Python<'_>, stage: &str, json: &str, is_raw: bool) -> PyResult<Self> {
        guard(py, || {
            let component: serde_json::Value = serde_json::from_str(json)
                .map_err(|error| Error::new(ErrorKind::Format, error.to_string()))?;
            let file = serde_json::json!({ stage: component }).to_string();
            let stages = read_around_model(&file, is_raw)?;
            Ok(Self { stages })
        })
    }

    /// A text as this normalizer makes it.
    fn normalize<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let text = &Text::of("text", text)?;
            let text = text.as_str();
            let normalized = detached(py, || match &self.stages.normalizer {
                Some(normalizer) => normalizer.normalized(text),
                None => Ok(text.into()),
            })??;
            string_of(py, normalized.as_bytes(), "strict")
        })
    }

    /// As `normalize`, and for each character of that where it comes from.
    fn normalize_with_spans<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        unit: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyList>)> {
        guard(py, || {
            let unit = options::unit("unit", unit)?;
            let text = Text::of("text", text)?;
            let (normalized, spans) = detached(py, || {
                let places = Places::new(&text, unit);
                let mut aligned = AlignedText::original(text.as_str());
                if let Some(normalizer) = &self.stages.normalizer {
                    normalizer.normalize(&mut aligned)?;
                }
                let normalized = aligned.as_str().to_owned();
                let spans = paced(normalized.char_indices()).map(|(at, character)| {
                    places.of(aligned.span_of(at..at + character.len_utf8()))
                });
                let spans: Vec<Pair> = spans.collect();
                Ok::<_, Error>((normalized, spans))
            })??;
            let normalized = string_of(py, normalized.as_bytes(), "strict")?;
            Ok((normalized, signals::list(py, spans.into_iter())?))
        })
    }

    /// The pieces that this pre-tokenizer splits a text into, and where each stands.
    fn cut<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        unit: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let unit = options::unit("unit", unit)?;
            let text = Text::of("text", text)?;
            let cut: Vec<(String, Pair)> = detached(py, || {
                let places = Places::new(&text, unit);
                let mut pieces = Pieces::new(AlignedText::original(text.as_str()));
                if let Some(pre_tokenizer) = &self.stages.pre_tokenizer {
                    pre_tokenizer.cut(&mut pieces)?;
                }
                let piece = |piece: &AlignedText| {
                    let text = piece.as_str().to_owned();
                    let span = places.of(piece.span_of(0..text.len()));
                    (text, span)
                };
                Ok::<_, Error>(paced(pieces.iter()).map(piece).collect())
            })??;
            Ok(signals::list(py, cut.into_iter())?)
        })
    }

    /// The text that this decoder makes of tokens; `errors` is as in `bytes.decode`.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        tokens: Vec<Vec<u8>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let invalid = match errors {
                "replace" => Invalid::Replace,
                _ => Invalid::Keep,
            };
            let tokens = detached(py, || match &self.stages.decoder {
                Some(decoder) => decoder.decode(tokens, invalid),
                None => Ok(tokens),
            })??;
            string_of(py, &tokens.concat(), errors)
        })
    }

    /// What this post-processor makes of the columns of one encoding or two.
    fn process(
        &self,
        py: Python<'_>,
        encodings: Vec<Columns>,
        add_special_tokens: bool,
    ) -> PyResult<Columns> {
        guard(py, || {
            let Some(post_processor) = &self.stages.post_processor else {
                return Err(argument("no post-processor"));
            };
            let mut spelled: HashMap<u32, Vec<u8>> = HashMap::new();
            let mut texts = Vec::with_capacity(encodings.len());
            for columns in encodings {
                let (ids, spans, word_ids, type_ids, sequence_ids, special_tokens_mask, tokens) =
                    columns;
                let rows = ids.len();
                let lengths = [
                    spans.len(),
                    word_ids.len(),
                    type_ids.len(),
                    sequence_ids.len(),
                    special_tokens_mask.len(),
                    tokens.len(),
                ];
                if lengths.iter().any(|&length| length != rows) {
                    return Err(argument("the columns of an encoding differ in length"));
                }
                spelled.extend(ids.iter().copied().zip(tokens.iter().cloned()));
                let encoding = Encoding {
                    ids,
                    spans: spans.iter().map(|&(a, b)| Span::new(a, b)).collect(),
                    word_ids,
                    type_ids,
                    sequence_ids,
                    special_tokens_mask,
                    // The post-processor says so.
                    texts: Vec::new(),
                };
                texts.push((encoding, tokens));
            }
            let processed = detached(py, || post_processor.apply(texts, add_special_tokens))??;
            let added = post_processor.special_tokens().into_iter();
            let added: HashMap<u32, Vec<u8>> =
                added.map(|(id, token)| (id, token.into())).collect();
            let rows = processed.ids.iter().zip(&processed.special_tokens_mask);
            let tokens = rows.map(|(id, &is_special)| {
                let [first, second] = if is_special {
                    [&added, &spelled]
                } else {
                    [&spelled, &added]
                };
                first
                    .get(id)
                    .or_else(|| second.get(id))
                    .cloned()
                    .unwrap_or_default()
            });
            let tokens = tokens.collect();
            let spans = processed.spans.iter().map(|span| (span.start, span.end));
            Ok((
                processed.ids,
                spans.collect(),
                processed.word_ids,
                processed.type_ids,
                processed.sequence_ids,
                processed.special_tokens_mask,
                tokens,
            ))
        })
    }

    /// The tokens that this post-processor puts around texts, each with its id.
    fn frame_tokens(&self) -> Vec<(String, u32)> {
        let tokens = self.stages.post_processor.iter();
        let tokens = tokens.flat_map(PostProcessor::special_tokens);
        tokens.map(|(id, name)| (name.to_owned(), id)).collect()
    }

    /// How many special tokens this post-processor puts around one text, or around two.
    fn added(&self, pair: bool) -> usize {
        let post_processor = self.stages.post_processor.as_ref();
        post_processor.map_or(0, |post_processor| post_processor.added(pair))
    }
}

/// Where bytes of a caller's text are in it.
struct Places<'t> {
    text: &'t Text<'t>,
    unit: Unit,
    index: UnitIndex,
}

impl<'t> Places<'t> {
    fn new(text: &'t Text<'t>, unit: Unit) -> Self {
        let index = UnitIndex::new(text.as_str(), unit);
        Self { text, unit, index }
    }

    fn of(&self, span: Span) -> Pair {
        let span = self.index.of(span);
        let span = match self.unit {
            Unit::Characters => self.text.of_caller(span),
            Unit::Bytes | Unit::Utf16 => span,
        };
        (span.start, span.end)
    }
}
