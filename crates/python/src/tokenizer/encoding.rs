//! Text to ids and spans: the calls for batches, for encodings, and for rarer results.
//!
//! The frequent calls for one text are in `single_text_calls.rs`.

use std::sync::Arc;

use jeton_core::batch::{SpannedBatch, SpannedEntries};
use jeton_core::model::{Sampler, Sampling};
use jeton_core::{EncodeOptions, Entry, Error, ErrorKind, Input};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Tokenizer;
use crate::arrays;
use crate::encoded::Encoded;
use crate::entries::{Held, Kind, Strings};
use crate::errors::{Outcome, guard};
use crate::options::{self, Drawing, Given, flag};
use crate::signals::{self, detached};
use crate::streams::{self, CountedText, EncodeStream};
use crate::text::Text;
use crate::texts::{NoText, Rows, with_entries};

impl Tokenizer {
    /// The options of a call with spans, and what its texts are.
    fn spanned_options(
        &self,
        is_split_into_words: &Bound<'_, PyAny>,
        special: Given<'_>,
        add_special_tokens: Given<'_>,
        unit: &Bound<'_, PyAny>,
        drawing: Option<Drawing<'_>>,
    ) -> Outcome<(EncodeOptions, Kind)> {
        let mut options = self
            .options(special, add_special_tokens, drawing.unwrap_or_default())?
            .into_owned();
        options.unit = options::unit("unit", unit)?;
        let kind = Kind::of(flag("is_split_into_words", is_split_into_words)?);
        Ok((options, kind))
    }

    /// The encoding of one entry, by the stages alone or by any way.
    fn encoded(
        &self,
        py: Python<'_>,
        held: &Held<'_>,
        options: EncodeOptions,
        by_fallback: bool,
    ) -> Outcome<Encoded> {
        let core = &self.core;
        let strings = held.strings()?;
        let rows: Vec<&str> = strings.texts.iter().map(Text::as_str).collect();
        let entries = held.entries(&rows).unwrap_or_default();
        let entry = &entries[0];
        let is_mended = options.unit == jeton_core::Unit::Characters && strings.are_mended();
        let spanned = match entry {
            Entry {
                first: Input::Text(text),
                second: None,
            } if !by_fallback && core.finds_spans(&options) => {
                let (mut ids, mut spans) = (Vec::with_capacity(text.len() / 4), Vec::new());
                self.encode_with_spans_into(py, text, &options, &mut ids, &mut spans)?;
                if is_mended {
                    detached(py, || strings.texts[0].rows_of_caller(&mut spans))?;
                }
                ids.shrink_to_fit();
                spans.shrink_to_fit();
                core.spanned_text(ids, spans, &options)
            }
            // The stages say of each token from which string it came.
            _ if by_fallback || is_mended => {
                let mut encoding = detached(py, || core.encode_entry(entry, &options))??;
                detached(py, || {
                    if is_mended {
                        let origins = entry.origins(&encoding).into_iter();
                        for (span, origin) in encoding.spans.iter_mut().zip(origins) {
                            if let Some(origin) = origin {
                                *span = strings.texts[origin as usize].of_caller(*span);
                            }
                        }
                    }
                    encoding.into()
                })?
            }
            _ => detached(py, || core.encode_entry_with_spans(entry, &options))??,
        };
        let sources = |counts: Vec<usize>| held.sources(&counts);
        Ok(Encoded::new(Arc::clone(core), options, spanned, sources))
    }
}

#[pymethods]
impl Tokenizer {
    /// The ids of the `n` best segmentations of a text, each with its score.
    fn nbest<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        n: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<(Vec<u32>, f64)>> {
        guard(py, || {
            let size = options::count("n", n)?;
            let text = &Text::of("text", text)?;
            let text = text.as_str();
            Ok(detached(py, || self.core.n_best(text, size))??)
        })
    }

    /// Whether a text has more than `n` tokens.
    fn exceeds<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        n: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
    ) -> PyResult<bool> {
        guard(py, || {
            let options = self.options(special, add_special_tokens, Default::default())?;
            let most = options::size("n", n)?;
            let text = &Text::of("text", text)?;
            let text = text.as_str();
            Ok(detached(py, || self.core.exceeds(text, most, &options))??)
        })
    }

    /// What the post-processor puts around the ids of one text, without special tokens or with them;
    /// `None` where it does something else to them.
    fn frame(&self, add_special_tokens: bool) -> Option<(Vec<u32>, Vec<u32>)> {
        let (before, after) = self.core.frame(add_special_tokens)?;
        Some((before.to_vec(), after.to_vec()))
    }

    /// The ids of all entries, one after another, where each entry's begin and end, and whether some are
    /// pairs.
    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        is_split_into_words: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        drawing: Option<Drawing<'py>>,
        errors: &Bound<'py, PyAny>,
        nulls: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>, bool)> {
        guard(py, || {
            let options = self.options(special, add_special_tokens, drawing.unwrap_or_default())?;
            let kind = Kind::of(flag("is_split_into_words", is_split_into_words)?);
            let no_text = NoText::of(errors, nulls)?;
            let core = &self.core;
            let encode = |rows: Rows<'_>, threads, cancelled: &_| match rows {
                Rows::Texts(texts) => core.encode_batch(texts, &options, threads, cancelled),
                Rows::Entries(entries) => {
                    core.encode_entries(entries, &options, threads, cancelled)
                }
            };
            let mut has_pairs = false;
            let finish = |_: &mut _, strings: &Strings<'_>| {
                has_pairs = strings.has_pairs();
                Ok(())
            };
            let batch = with_entries(py, core, texts, kind, no_text, encode, finish)?;
            Ok((
                arrays::array(py, batch.ids)?,
                arrays::array(py, batch.offsets)?,
                has_pairs,
            ))
        })
    }

    /// As `encode_batch`, with the span of each token as a row.
    #[expect(clippy::type_complexity, reason = "three arrays and a flag")]
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
    fn encode_batch_with_spans<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        unit: &Bound<'py, PyAny>,
        is_split_into_words: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        drawing: Option<Drawing<'py>>,
        errors: &Bound<'py, PyAny>,
        nulls: &Bound<'py, PyAny>,
    ) -> PyResult<(
        Bound<'py, PyArray1<u32>>,
        Bound<'py, PyArray2<i64>>,
        Bound<'py, PyArray1<i64>>,
        bool,
    )> {
        guard(py, || {
            let (options, kind) = self.spanned_options(
                is_split_into_words,
                special,
                add_special_tokens,
                unit,
                drawing,
            )?;
            let no_text = NoText::of(errors, nulls)?;
            let core = &self.core;
            let encode = |rows: Rows<'_>, threads, cancelled: &_| match rows {
                Rows::Texts(texts) => core
                    .encode_batch_with_spans(texts, &options, threads, cancelled)
                    .map(|encoded| SpannedEntries {
                        encoded,
                        origins: Vec::new(),
                    }),
                Rows::Entries(entries) => {
                    core.encode_entries_with_spans(entries, &options, threads, cancelled)
                }
            };
            let in_characters = options.unit == jeton_core::Unit::Characters;
            let mut has_pairs = false;
            let finish = |done: &mut SpannedEntries, strings: &Strings<'_>| {
                has_pairs = strings.has_pairs();
                let SpannedBatch { batch, spans } = &mut done.encoded;
                if in_characters && strings.are_mended() {
                    detached(py, || {
                        strings.rows_of_caller(&batch.offsets, &done.origins, spans);
                    })
                } else {
                    Ok(())
                }
            };
            let done = with_entries(py, core, texts, kind, no_text, encode, finish)?;
            let SpannedBatch { batch, spans } = done.encoded;
            Ok((
                arrays::array(py, batch.ids)?,
                arrays::rows(py, spans)?,
                arrays::array(py, batch.offsets)?,
                has_pairs,
            ))
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
    fn count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        is_split_into_words: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        errors: &Bound<'py, PyAny>,
        nulls: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let options = self.options(special, add_special_tokens, Default::default())?;
            let kind = Kind::of(flag("is_split_into_words", is_split_into_words)?);
            let no_text = NoText::of(errors, nulls)?;
            let core = &self.core;
            let count = |rows: Rows<'_>, threads, cancelled: &_| match rows {
                Rows::Texts(texts) => core.count_batch(texts, &options, threads, cancelled),
                Rows::Entries(entries) => core.count_entries(entries, &options, threads, cancelled),
            };
            let counts = with_entries(py, core, texts, kind, no_text, count, |_, _| Ok(()))?;
            Ok(signals::list(py, counts.into_iter())?)
        })
    }

    /// The encoding of a text or of a pair; by the stages alone if that is requested, which tests and
    /// benchmarks hold the other ways to.
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
    #[pyo3(signature = (text, text_pair, is_split_into_words, special, add_special_tokens, unit, drawing, by_fallback=false))]
    fn encode_with_spans<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        text_pair: Option<&Bound<'py, PyAny>>,
        is_split_into_words: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        unit: &Bound<'py, PyAny>,
        drawing: Option<Drawing<'py>>,
        by_fallback: bool,
    ) -> PyResult<Encoded> {
        guard(py, || {
            let (options, kind) = self.spanned_options(
                is_split_into_words,
                special,
                add_special_tokens,
                unit,
                drawing,
            )?;
            let held = Held::of_one(text, text_pair, kind)?;
            self.encoded(py, &held, options, by_fallback)
        })
    }

    fn encode_stream(
        &self,
        py: Python<'_>,
        special: &Bound<'_, PyAny>,
        add_special_tokens: &Bound<'_, PyAny>,
    ) -> PyResult<EncodeStream> {
        guard(py, || {
            let special = options::special_policy(special)?;
            let add_special_tokens = flag("add_special_tokens", add_special_tokens)?;
            streams::encode_stream(&self.core, special, add_special_tokens)
        })
    }

    fn counted_text(
        &self,
        py: Python<'_>,
        special: &Bound<'_, PyAny>,
        add_special_tokens: &Bound<'_, PyAny>,
    ) -> PyResult<CountedText> {
        guard(py, || {
            let special = options::special_policy(special)?;
            let add_special_tokens = flag("add_special_tokens", add_special_tokens)?;
            streams::counted_text(&self.core, special, add_special_tokens)
        })
    }

    /// The number of characters in front of a place in `part` at which every text that contains `part` may be
    /// split; none if none is known. A lone surrogate is U+FFFD.
    fn split_point_within(
        &self,
        py: Python<'_>,
        part: &Bound<'_, PyAny>,
        special: &Bound<'_, PyAny>,
    ) -> PyResult<Option<usize>> {
        guard(py, || {
            let special = options::special_policy(special)?;
            let part = Text::of("part", part)?;
            let part = part.as_str();
            let at = detached(py, || self.core.split_point_within(part, special))?;
            Ok(at.map(|at| part[..at].chars().count()))
        })
    }

    /// What byte pair encoding makes of bytes that no pre-tokenizer has seen.
    fn encode_piece<'py>(&self, py: Python<'py>, piece: &[u8]) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let jeton_core::model::Model::Bpe(bpe) = &self.core.stages().model else {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "only byte pair encoding encodes bytes that are not text",
                )
                .into());
            };
            let mut tokens = Vec::new();
            let mut sampler = Sampler::new(Sampling::default());
            detached(py, || bpe.tokenize_bytes(piece, &mut sampler, &mut tokens))??;
            Ok(PyList::new(py, tokens.iter().map(|token| token.id))?)
        })
    }
}
