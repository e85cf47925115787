//! The class behind `jeton.components.models`: a model of the core, built and taken apart.

use std::collections::HashMap;

use jeton_core::format::huggingface::write_first;
use jeton_core::model;
use jeton_core::model::bpe::{BpeOptions, MergeRule};
use jeton_core::model::picky_bpe::Event;
use jeton_core::model::sentencepiece::spec::ModelProto;
use jeton_core::model::superwords::WordModel;
use jeton_core::model::{
    Bpe, Characters, LongestMatch, PickyBpe, SentencePiece, Unigram, WordLevel, WordPiece,
};
use jeton_core::vocab::Vocab;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::errors::{Outcome, argument, guard, wrong_type};
use crate::ids_from_python;
use crate::signals::{abandonable, detached, hear};
use crate::stages::read_around_model;
use crate::text::valid;

/// A model of the core.
#[pyclass(frozen, module = "jeton._core")]
pub struct Model {
    pub core: model::Model,
}

/// A token given as bytes, or as a `str` that stands for its UTF-8.
fn token_bytes(name: impl FnOnce() -> String, value: &Bound<'_, PyAny>) -> Outcome<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    match value.cast::<PyString>() {
        Ok(text) => Ok(valid(name, text)?.as_bytes().to_vec()),
        Err(_) => Err(wrong_type(&name(), "bytes or a str", value)),
    }
}

/// A vocabulary given as a dict from tokens to ids.
pub fn vocab(name: &str, value: &Bound<'_, PyAny>) -> Outcome<Vocab> {
    let Ok(entries) = value.cast::<PyDict>() else {
        return Err(wrong_type(name, "a dict from tokens to ids", value));
    };
    let entries = entries
        .iter()
        .enumerate()
        .map(|(number, (token, id))| {
            hear(value.py(), number)?;
            let bytes = token_bytes(|| format!("each token of {name}"), &token)?;
            let id = ids_from_python::id(|| format!("{name}[{token:?}]"), &id)?;
            Ok((bytes, id))
        })
        .collect::<Outcome<Vec<_>>>()?;
    Ok(detached(value.py(), || Vocab::new(entries))??)
}

#[pymethods]
impl Model {
    /// Byte pair encoding: by ranks where `merges` is `None`.
    #[staticmethod]
    fn bpe(
        py: Python<'_>,
        entries: &Bound<'_, PyAny>,
        merges: Option<&Bound<'_, PyAny>>,
        options: &str,
    ) -> PyResult<Self> {
        guard(py, || {
            let vocab = vocab("vocab", entries)?;
            let options: BpeOptions = serde_json::from_str(options)
                .map_err(|error| argument(format!("the options of BPE: {error}")))?;
            let core = match merges {
                None => abandonable(py, || Bpe::by_ranks(vocab))??,
                Some(merges) => {
                    let merges = merge_list(merges)?;
                    abandonable(py, || Bpe::by_merges(vocab, merges, options))??
                }
            };
            Ok(Self {
                core: model::Model::Bpe(core),
            })
        })
    }

    #[staticmethod]
    fn word_level(py: Python<'_>, entries: &Bound<'_, PyAny>, unk_token: &str) -> PyResult<Self> {
        guard(py, || {
            let core = WordLevel::new(vocab("vocab", entries)?, unk_token);
            Ok(Self {
                core: model::Model::WordLevel(core),
            })
        })
    }

    #[staticmethod]
    fn word_piece(
        py: Python<'_>,
        entries: &Bound<'_, PyAny>,
        unk_token: &str,
        continuing_subword_prefix: &str,
        max_input_chars_per_word: usize,
    ) -> PyResult<Self> {
        guard(py, || {
            let core = WordPiece::new(
                vocab("vocab", entries)?,
                unk_token,
                continuing_subword_prefix,
                max_input_chars_per_word,
            );
            Ok(Self {
                core: model::Model::WordPiece(core),
            })
        })
    }

    /// Unigram; ids are places in `pieces`.
    #[staticmethod]
    fn unigram(
        py: Python<'_>,
        pieces: &Bound<'_, PyAny>,
        unk_id: Option<&Bound<'_, PyAny>>,
        byte_fallback: bool,
    ) -> PyResult<Self> {
        guard(py, || {
            const EXPECTED: &str = "a list of pairs of a token and its score";
            let wrong = || wrong_type("pieces", EXPECTED, pieces);
            let pieces = pieces
                .try_iter()
                .map_err(|_| wrong())?
                .map(|piece| {
                    let (token, score): (Bound<'_, PyAny>, f64) =
                        piece?.extract().map_err(|_| wrong())?;
                    Ok((
                        token_bytes(|| "each token of pieces".to_owned(), &token)?,
                        score,
                    ))
                })
                .collect::<Outcome<Vec<_>>>()?;
            let unk_id = unk_id
                .map(|value| ids_from_python::id(|| "unk_id".to_owned(), value))
                .transpose()?;
            let core = abandonable(py, move || Unigram::new(pieces, unk_id, byte_fallback))??;
            Ok(Self {
                core: model::Model::Unigram(core),
            })
        })
    }

    #[staticmethod]
    fn characters(
        py: Python<'_>,
        entries: &Bound<'_, PyAny>,
        unk_id: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        guard(py, || {
            let unk_id = unk_id
                .map(|value| ids_from_python::id(|| "unk_id".to_owned(), value))
                .transpose()?;
            let core = Characters::new(vocab("vocab", entries)?, unk_id)?;
            Ok(Self {
                core: model::Model::Characters(core),
            })
        })
    }

    /// Longest match over bytes.
    #[staticmethod]
    fn longest_match(py: Python<'_>, entries: &Bound<'_, PyAny>) -> PyResult<Self> {
        guard(py, || {
            let vocab = vocab("vocab", entries)?;
            let core = abandonable(py, move || LongestMatch::new(vocab))?;
            Ok(Self {
                core: model::Model::LongestMatch(core),
            })
        })
    }

    /// Words by a BPE or a PickyBPE, whose vocabulary holds the superwords, and supermerges of whole words.
    /// `pattern` is JSON.
    #[staticmethod]
    fn superwords(
        py: Python<'_>,
        words: &Self,
        pattern: &str,
        joining: &str,
        merges: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        guard(py, || {
            let words: WordModel = words.core.clone().try_into()?;
            let json = format!(r#"{{"pre_tokenizer": {pattern}}}"#);
            let Some(pattern) = read_around_model(&json, true)?.pre_tokenizer else {
                return Err(argument("pre_tokenizer must split text into words"));
            };
            let merges = merge_list(merges)?;
            let merges = merges.iter().map(|(left, right)| (&left[..], &right[..]));
            let joining = joining.parse()?;
            let core = model::Superwords::by_merges(words, pattern, joining, merges)?;
            Ok(Self {
                core: model::Model::Superwords(Box::new(core)),
            })
        })
    }

    /// BPE by merges and deletions: each event is a tuple of two tokens, or of one.
    #[staticmethod]
    fn picky_bpe(
        py: Python<'_>,
        entries: &Bound<'_, PyAny>,
        events: &Bound<'_, PyAny>,
        residues_become: &str,
    ) -> PyResult<Self> {
        guard(py, || {
            let vocab = vocab("vocab", entries)?;
            let events = event_list(events)?;
            let residue = residues_become.parse()?;
            let core = abandonable(py, move || PickyBpe::new(vocab, events, residue))??;
            Ok(Self {
                core: model::Model::PickyBpe(core),
            })
        })
    }

    /// The words of a model of superwords; `None` of any other.
    fn words(&self) -> Option<Self> {
        match &self.core {
            model::Model::Superwords(model) => Some(Self {
                core: model.words().clone().into(),
            }),
            _ => None,
        }
    }

    /// The model of a SentencePiece `.model` file.
    #[staticmethod]
    fn sentence_piece(py: Python<'_>, proto: &[u8]) -> PyResult<Self> {
        guard(py, || {
            let proto = proto.to_vec();
            let core = abandonable(py, move || SentencePiece::new(ModelProto::read(&proto)?))??;
            Ok(Self {
                core: model::Model::SentencePiece(core),
            })
        })
    }

    /// The `.model` file of a SentencePiece model; `None` of any other.
    fn proto<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        guard(py, || match &self.core {
            model::Model::SentencePiece(model) => {
                Ok(Some(PyBytes::new(py, &model.proto().write())))
            }
            _ => Ok(None),
        })
    }

    /// `BPE`, `WordLevel`, `WordPiece`, `Unigram`, `Characters`, `SentencePiece`,
    /// `LongestMatch`, `PickyBPE` or `Superwords`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.core.kind()
    }

    /// The tokens with their ids, in the order of ids.
    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guard(py, || {
            let vocab = PyDict::new(py);
            for (number, (token, id)) in self.core.vocab().iter().enumerate() {
                hear(py, number)?;
                vocab.set_item(PyBytes::new(py, token), id)?;
            }
            Ok(vocab)
        })
    }

    /// The merges of a BPE that goes by merges, `None` of one that goes by ranks; and supermerges.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        guard(py, || match &self.core {
            model::Model::Bpe(bpe) if matches!(bpe.rule(), MergeRule::Merges(_)) => {
                Ok(Some(merges(py, bpe)?))
            }
            model::Model::Superwords(model) => {
                let vocab = model.words().vocab();
                let token = |id| PyBytes::new(py, vocab.token(id).unwrap_or_default());
                let pairs = model.merges().iter();
                let pairs = pairs.map(|&((left, right), _)| (token(left), token(right)));
                Ok(Some(PyList::new(py, pairs.collect::<Vec<_>>())?))
            }
            _ => Ok(None),
        })
    }

    /// The merges and deletions of a PickyBPE; `None` of any other.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        guard(py, || {
            let model::Model::PickyBpe(model) = &self.core else {
                return Ok(None);
            };
            let bytes = |token: Vec<u8>| PyBytes::new(py, &token);
            let events = PyList::empty(py);
            for (number, event) in model.events().enumerate() {
                hear(py, number)?;
                match event {
                    Event::Merge(left, right) => events.append((bytes(left), bytes(right)))?,
                    Event::Deletion(token) => events.append((bytes(token),))?,
                }
            }
            Ok(Some(events))
        })
    }

    /// What the model holds beside its vocabulary, merges, events and scores, as JSON.
    fn options(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || {
            let options = match &self.core {
                model::Model::Bpe(bpe) => serde_json::to_string(bpe.options()),
                model::Model::WordLevel(model) => {
                    serde_json::to_string(&HashMap::from([("unk_token", model.unk_token())]))
                }
                model::Model::WordPiece(model) => Ok(serde_json::json!({
                    "unk_token": model.unk_token(),
                    "continuing_subword_prefix": model.continuing_subword_prefix(),
                    "max_input_chars_per_word": model.max_input_chars_per_word(),
                })
                .to_string()),
                model::Model::Unigram(model) => Ok(serde_json::json!({
                    "unk_id": model.unk_id(),
                    "byte_fallback": model.byte_fallback(),
                })
                .to_string()),
                model::Model::Characters(model) => {
                    Ok(serde_json::json!({ "unk_id": model.unk_id() }).to_string())
                }
                model::Model::Superwords(model) => {
                    let (_, pattern) = write_first(None, Some(model.pattern()))?;
                    Ok(serde_json::json!({
                        "joining": model.joining().name(),
                        "pattern": pattern,
                    })
                    .to_string())
                }
                model::Model::PickyBpe(model) => Ok(serde_json::json!({
                    "residues_become": model.residue().name(),
                })
                .to_string()),
                model::Model::SentencePiece(_) | model::Model::LongestMatch(_) => {
                    Ok("{}".to_owned())
                }
            };
            options.map_err(|error| argument(error.to_string()))
        })
    }

    /// The scores of a Unigram model by id; `None` of any other.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        guard(py, || match &self.core {
            model::Model::Unigram(model) => Ok(Some(PyList::new(py, model.scores())?)),
            _ => Ok(None),
        })
    }
}

/// The merges of a BPE as pairs of bytes; those of ranks are derived.
pub fn merges<'py>(py: Python<'py>, bpe: &Bpe) -> Outcome<Bound<'py, PyList>> {
    let list = py.detach(|| bpe.merges().merges);
    let token = |id| PyBytes::new(py, bpe.vocab().token(id).unwrap_or_default());
    let pairs = list
        .into_iter()
        .map(|(left, right)| (token(left), token(right)));
    Ok(PyList::new(py, pairs.collect::<Vec<_>>())?)
}

fn event_list(value: &Bound<'_, PyAny>) -> Outcome<Vec<Event>> {
    const EXPECTED: &str = "a list of tuples of one or two tokens";
    let wrong = || wrong_type("events", EXPECTED, value);
    if value.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let items = value.try_iter().map_err(|_| wrong())?;
    let event = |(i, event): (usize, PyResult<Bound<'_, PyAny>>)| {
        let event = event?;
        let name = || format!("each token of events[{i}]");
        if let Ok((left, right)) = event.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
            return Ok(Event::Merge(
                token_bytes(name, &left)?,
                token_bytes(name, &right)?,
            ));
        }
        let (token,): (Bound<'_, PyAny>,) = event.extract().map_err(|_| {
            wrong_type(
                &format!("events[{i}]"),
                "a tuple of one or two tokens",
                &event,
            )
        })?;
        Ok(Event::Deletion(token_bytes(name, &token)?))
    };
    items.enumerate().map(event).collect()
}

fn merge_list(value: &Bound<'_, PyAny>) -> Outcome<Vec<(Vec<u8>, Vec<u8>)>> {
    let wrong = || wrong_type("merges", "a list of pairs of tokens, or None", value);
    if value.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    value
        .try_iter()
        .map_err(|_| wrong())?
        .enumerate()
        .map(|(i, pair)| {
            let pair = pair?;
            let (left, right): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair
                .extract()
                .map_err(|_| wrong_type(&format!("merges[{i}]"), "a pair of tokens", &pair))?;
            let name = || format!("each token of merges[{i}]");
            Ok((token_bytes(name, &left)?, token_bytes(name, &right)?))
        })
        .collect()
}
