//! The class behind `jeton.Tokenizer`: a shared, unchanging tokenizer of the core.
//!
//! Look here for what each call hands to the core. Arguments arrive in a fixed order; names,
//! defaults and documentation are the Python class's.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use jeton_core::added_tokens::{AddedToken, with_more};
use jeton_core::batch::{SpannedBatch, SpannedEntries};
use jeton_core::convert::{approximate_huggingface, approximate_model, for_json};
use jeton_core::fast::Obstacle;
use jeton_core::format::{huggingface, sentencepiece, snapshot, tiktoken};
use jeton_core::interrupt::paced;
use jeton_core::model::{Sampler, Sampling};
use jeton_core::pre_tokenizer::named;
use jeton_core::roles;
use jeton_core::{EncodeOptions, Entry, Error, ErrorKind, Input, Stages};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::arrays::{self, Numbers};
use crate::buffers::with_buffer;
use crate::encoded::Encoded;
use crate::entries::{Held, Kind, Strings};
use crate::errors::{Outcome, guard, wrong_type};
use crate::ids::{id, ids};
use crate::model::{self, Model, vocab};
use crate::options::{self, Drawing, Given, flag};
use crate::pool;
use crate::signals::{self, abandonable, detached};
use crate::streams::{self, DecodeStream, EncodeStream};
use crate::text::{Text, bytes_of, string_of};
use crate::texts::{NoText, Rows, with_entries};

/// A tokenizer of the core: stages and model, without what the class of Python adds.
#[pyclass(name = "Pipeline", frozen, module = "jeton._core")]
pub struct Tokenizer {
    pub(crate) core: Arc<jeton_core::Tokenizer>,
}

impl From<jeton_core::Tokenizer> for Tokenizer {
    fn from(core: jeton_core::Tokenizer) -> Self {
        Self {
            core: Arc::new(core),
        }
    }
}

thread_local! {
    /// Where texts go before they become Python objects.
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Bytes up to which such a buffer is kept.
const KEPT: usize = 1 << 20;

impl Tokenizer {
    #[inline]
    pub(crate) fn options(
        &self,
        special: Given<'_>,
        add_special_tokens: Given<'_>,
        drawing: Drawing<'_>,
    ) -> Outcome<Cow<'static, EncodeOptions>> {
        let model = &self.core.stages().model;
        options::encode_options(model, special, add_special_tokens, drawing)
    }

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
        options.unit = options::unit(unit)?;
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
                    let mended = if is_mended { encoding.len() } else { 0 };
                    for row in paced(0..mended) {
                        if let Some(origin) = entry.origin(&encoding, row) {
                            let span = encoding.spans[row];
                            encoding.spans[row] = strings.texts[origin as usize].of_caller(span);
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

/// The stage of an obstacle, its kind, and what is wrong with it.
type ObstacleFields = (&'static str, Option<&'static str>, &'static str);

/// The fields of the dataclass `EncodingPlan`.
type PlanFields = (
    &'static str,
    &'static str,
    Vec<(&'static str, ObstacleFields)>,
    Vec<ObstacleFields>,
);

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

/// A model with the stages around it that `stages` gives, and other added tokens if some are given.
fn stages_around(
    model: jeton_core::model::Model,
    stages: &str,
    added_tokens: Option<Vec<AddedToken>>,
) -> jeton_core::Result<Stages> {
    let mut stages = huggingface::read_stages(stages.as_bytes(), Some(model))?;
    if let Some(added_tokens) = added_tokens {
        stages.added_tokens = added_tokens;
    }
    sentencepiece::complete(&mut stages)?;
    Ok(stages)
}

#[pymethods]
impl Tokenizer {
    /// A tokenizer of a model and of the stages around it, as `stages` gave them; with the added tokens
    /// of `tokens`, if that is given.
    #[staticmethod]
    #[pyo3(signature = (model, stages, tokens = None))]
    fn build(py: Python<'_>, model: &Model, stages: &str, tokens: Option<&Self>) -> PyResult<Self> {
        guard(py, || {
            let (model, stages) = (model.core.clone(), stages.to_owned());
            let tokens = tokens.map(|it| Arc::clone(&it.core));
            let build = move || {
                let added = tokens.map(|it| it.stages().added_tokens.clone());
                jeton_core::Tokenizer::of_arguments(stages_around(model, &stages, added)?)
            };
            Ok(abandonable(py, build)??.into())
        })
    }

    /// The same tokenizer with more added tokens, of each its content, its id, and whether it is special,
    /// a single word, stripped on the left and on the right, and normalized.
    fn with_added_tokens(&self, py: Python<'_>, more: Vec<AddedFields>) -> PyResult<Self> {
        guard(py, || {
            let core = Arc::clone(&self.core);
            let build = move || {
                let more = paced(more.into_iter()).map(added_token);
                let stages = core.stages();
                let vocab = stages.model.vocab();
                let added_tokens = with_more(&stages.added_tokens, more.collect(), vocab)?;
                jeton_core::Tokenizer::of_arguments(Stages {
                    added_tokens,
                    ..stages.clone()
                })
            };
            Ok(abandonable(py, build)??.into())
        })
    }

    /// The added tokens in the order of ids, as `with_added_tokens` takes them.
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
    fn build_as_stored(py: Python<'_>, model: &Model, stages: &str) -> PyResult<Self> {
        guard(py, || {
            let (model, stages) = (model.core.clone(), stages.to_owned());
            let build = move || {
                let stages = stages_around(model, &stages, None)?;
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
                jeton_core::Tokenizer::new(match is_model {
                    true => approximate_model(stages)?,
                    false => approximate_huggingface(stages)?,
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

    /// The model.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        guard(py, || {
            Ok(Model {
                core: self.core.stages().model.clone(),
            })
        })
    }

    /// What kind of model it is.
    #[getter]
    fn model_kind(&self) -> &'static str {
        self.core.stages().model.kind()
    }

    /// The strategy that encodes text and what it does; the strategies that were asked before it, each
    /// with the obstacle; and obstacles that keep calls off it.
    fn encoding_plan(&self) -> PlanFields {
        let plan = self.core.encoding_plan();
        let fields = |obstacle: &Obstacle| (obstacle.stage.name(), obstacle.kind, obstacle.why);
        let passed_over = plan.passed_over.iter();
        (
            plan.name(),
            plan.meaning(),
            passed_over
                .map(|(it, obstacle)| (it.name(), fields(obstacle)))
                .collect(),
            plan.detours.iter().map(fields).collect(),
        )
    }

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

    /// What a token adds to decoded text in its middle.
    fn surface<'py>(
        &self,
        py: Python<'py>,
        token_id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        guard(py, || {
            let surface = self.core.surface(id(|| "id".to_owned(), token_id)?)?;
            Ok(surface.map(|bytes| PyBytes::new(py, &bytes)))
        })
    }

    /// Of the surfaces of tokens, how many bytes each has, and whether it begins or ends inside a
    /// character.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn surface_shapes<'py>(
        &self,
        py: Python<'py>,
        token_ids: Numbers<'py, u32>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<bool>>)> {
        guard(py, || {
            let ids = token_ids.to_vec().map_err(PyErr::from)?;
            let shapes = pool::run(py, ids.len() << 8, |threads, _| {
                self.core.surface_shapes(&ids, threads)
            })??;
            let bytes = shapes.iter().map(|shape| shape.bytes as i64).collect();
            let splits = shapes.iter().map(|shape| shape.splits).collect();
            Ok((arrays::array(py, bytes)?, arrays::array(py, splits)?))
        })
    }

    /// The score of each id, of a model that has scores.
    fn scores(&self) -> Option<Vec<f64>> {
        self.core.stages().model.scores()
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
                match in_characters && strings.are_mended() {
                    true => detached(py, || {
                        strings.rows_of_caller(&batch.offsets, &done.origins, spans);
                    }),
                    false => Ok(()),
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

    /// The encoding of a text or of a pair.
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
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
            self.encoded(py, &held, options, false)
        })
    }

    /// As `encode_with_spans`, but by the stages: what tests and benchmarks hold the sooner ways to.
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
    fn encode_fallback<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        text_pair: Option<&Bound<'py, PyAny>>,
        is_split_into_words: &Bound<'py, PyAny>,
        special: Given<'py>,
        add_special_tokens: Given<'py>,
        unit: &Bound<'py, PyAny>,
        drawing: Option<Drawing<'py>>,
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
            self.encoded(py, &held, options, true)
        })
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        token_ids: &Bound<'py, PyAny>,
        skip_special_tokens: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let skip_special_tokens = flag("skip_special_tokens", skip_special_tokens)?;
            let ids = ids("ids", token_ids)?;
            with_buffer(&TEXT, KEPT, |bytes| {
                let replace = errors == "replace";
                match ids.len() < pool::WITHOUT_GIL && !self.core.backtracks() {
                    true => self
                        .core
                        .decode_into(&ids, skip_special_tokens, replace, bytes)?,
                    false => detached(py, || {
                        self.core
                            .decode_into(&ids, skip_special_tokens, replace, bytes)
                    })??,
                }
                string_of(py, bytes, errors)
            })
        })
    }

    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        token_ids: &Bound<'py, PyAny>,
        skip_special_tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let skip_special_tokens = flag("skip_special_tokens", skip_special_tokens)?;
            let ids = ids("ids", token_ids)?;
            let bytes = detached(py, || self.core.decode_bytes(&ids, skip_special_tokens))??;
            Ok(bytes_of(py, &bytes)?)
        })
    }

    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        skip_special_tokens: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        guard(py, || {
            let skip_special_tokens = flag("skip_special_tokens", skip_special_tokens)?;
            let rows = batch
                .try_iter()
                .map_err(|_| wrong_type("batch", "an iterable of sequences of ids", batch))?
                .enumerate()
                .map(|(row, item)| {
                    py.check_signals()?;
                    ids(&format!("batch[{row}]"), &item?)
                })
                .collect::<Outcome<Vec<Vec<u32>>>>()?;
            let decoded = pool::map(
                py,
                &rows,
                |ids| 4 * ids.len(),
                |row, ids| {
                    let mut bytes = Vec::with_capacity(5 * ids.len());
                    self.core
                        .decode_into(ids, skip_special_tokens, errors == "replace", &mut bytes)
                        .map_err(|error| error.at(format!("batch[{row}]")))?;
                    Ok(bytes)
                },
            )?;
            let texts = decoded
                .into_iter()
                .map(|bytes| {
                    py.check_signals()?;
                    string_of(py, &bytes, errors)
                })
                .collect::<Outcome<Vec<_>>>()?;
            Ok(PyList::new(py, texts)?)
        })
    }

    fn decode_stream(
        &self,
        py: Python<'_>,
        skip_special_tokens: &Bound<'_, PyAny>,
        errors: &str,
        stops: Vec<Bound<'_, PyString>>,
    ) -> PyResult<DecodeStream> {
        guard(py, || {
            let skip_special_tokens = flag("skip_special_tokens", skip_special_tokens)?;
            streams::decode_stream(&self.core, skip_special_tokens, errors, stops)
        })
    }

    fn encode_stream(
        &self,
        py: Python<'_>,
        add_special_tokens: &Bound<'_, PyAny>,
    ) -> PyResult<EncodeStream> {
        guard(py, || {
            let add_special_tokens = flag("add_special_tokens", add_special_tokens)?;
            streams::encode_stream(&self.core, add_special_tokens)
        })
    }

    fn id_to_bytes<'py>(
        &self,
        py: Python<'py>,
        token_id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        guard(py, || {
            let bytes = self.core.token_bytes(id(|| "id".to_owned(), token_id)?);
            Ok(bytes.map(|bytes| PyBytes::new(py, bytes)))
        })
    }

    /// The id of the token with these bytes: of the added tokens first, then of the vocabulary.
    fn bytes_to_id(&self, py: Python<'_>, token: &[u8]) -> PyResult<Option<u32>> {
        guard(py, || Ok(self.core.bytes_to_id(token)))
    }

    /// All ids that stand for a token, rising.
    fn token_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        guard(py, || Ok(arrays::array(py, self.core.token_ids())?))
    }

    /// The id that stands for unknown text, if the model has one.
    fn unknown_id(&self) -> Option<u32> {
        self.core.unknown_id()
    }

    /// All tokens with their ids, in the order of ids, those of the model and the added ones.
    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guard(py, || {
            let vocab = PyDict::new(py);
            let stages = self.core.stages();
            let ids = detached(py, || self.core.token_ids())?.into_iter();
            let tokens = ids.filter_map(|id| Some((id, self.core.token_bytes(id)?)));
            for (number, (id, token)) in tokens.enumerate() {
                signals::hear(py, number)?;
                vocab.set_item(PyBytes::new(py, token), id)?;
            }
            for (number, added) in stages.added_tokens.iter().enumerate() {
                signals::hear(py, number)?;
                vocab.set_item(PyBytes::new(py, added.content.as_bytes()), added.id)?;
            }
            Ok(vocab)
        })
    }

    /// How many ids stand for a token.
    #[getter]
    fn vocab_size(&self) -> usize {
        let stages = self.core.stages();
        let vocab = stages.model.vocab();
        let mut added: Vec<u32> = stages.added_tokens.iter().map(|token| token.id).collect();
        added.dedup();
        vocab.len()
            + added
                .iter()
                .filter(|id| vocab.token(**id).is_none())
                .count()
    }

    /// The largest id.
    #[getter]
    fn max_id(&self) -> Option<u32> {
        self.core.max_id()
    }

    /// The merges of a BPE as pairs of bytes, those of ranks derived; none of any other model.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guard(py, || match &self.core.stages().model {
            jeton_core::model::Model::Bpe(bpe) => model::merges(py, bpe),
            _ => Ok(PyList::empty(py)),
        })
    }

    /// The special tokens and their ids, in the order of ids.
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guard(py, || {
            let tokens = PyDict::new(py);
            let special = self.core.stages().added_tokens.iter();
            for (number, token) in special.filter(|token| token.special).enumerate() {
                signals::hear(py, number)?;
                tokens.set_item(&token.content, token.id)?;
            }
            Ok(tokens)
        })
    }

    /// What the file says of padding and of truncation, as JSON.
    #[getter]
    fn sections(&self) -> (Option<String>, Option<String>) {
        let stages = self.core.stages();
        (stages.padding.clone(), stages.truncation.clone())
    }

    /// The roles of special tokens that the stages tell.
    fn roles(&self, py: Python<'_>) -> PyResult<Vec<roles::Role>> {
        guard(py, || Ok(roles::of(self.core.stages())))
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

    fn __eq__(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core) || self.core.stages() == other.core.stages()
    }
}
