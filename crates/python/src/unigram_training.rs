//! The functions behind `jeton.UnigramTrainer`.

use std::ops::ControlFlow;

use jeton_core::model::{self, SentencePiece};
use jeton_core::normalizer::{Charsmap, Normalization};
use jeton_core::train::unigram::{
    MetaPieces, PieceRules, Progress, SentencePieceTraining, UnigramTraining,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Outcome, guard};
use crate::model::Model;
use crate::parameters::Parameters;
use crate::pool;
use crate::training::WordCounts;

/// Refuses parameters of Unigram training that make no sense.
#[pyfunction]
pub fn check_unigram_training(py: Python<'_>, parameters: &Bound<'_, PyDict>) -> PyResult<()> {
    guard(py, || Ok(training(parameters)?.check()?))
}

/// The ASCII characters between which the texts that a SentencePiece model is trained from are
/// counted: those around words, where words can be normalized one by one, else those around lines.
#[pyfunction]
pub fn unigram_separators<'py>(
    py: Python<'py>,
    parameters: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    guard(py, || {
        let training = training(parameters)?;
        Ok(PyBytes::new(py, training.separators()))
    })
}

/// The SentencePiece model that is trained from texts. Calls `watch`, if there is one, with what is
/// done, and how many steps of how many.
#[pyfunction]
pub fn train_sentencepiece_unigram(
    py: Python<'_>,
    counts: &WordCounts,
    parameters: &Bound<'_, PyDict>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Model> {
    train(py, parameters, watch, |training, watch| {
        let proto = training.train(&counts.core, watch)?;
        Ok(model::Model::SentencePiece(SentencePiece::new(proto)?))
    })
}

/// The model of a `tokenizer.json` that is trained from words; `watch` as above.
#[pyfunction]
pub fn train_huggingface_unigram(
    py: Python<'_>,
    counts: &WordCounts,
    parameters: &Bound<'_, PyDict>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Model> {
    train(py, parameters, watch, |training, watch| {
        let model = training.train_on_words(&counts.core, watch)?;
        Ok(model::Model::Unigram(model))
    })
}

type Watch<'w> = &'w mut dyn FnMut(Progress) -> ControlFlow<()>;

fn train(
    py: Python<'_>,
    parameters: &Bound<'_, PyDict>,
    watch: Option<Py<PyAny>>,
    work: impl FnOnce(&SentencePieceTraining, Watch<'_>) -> jeton_core::Result<model::Model> + Send,
) -> PyResult<Model> {
    guard(py, || {
        let training = training(parameters)?;
        let hear = move |py: Python<'_>, told: Progress| match &watch {
            Some(watch) => watch
                .call1(py, (told.phase.name(), told.done, told.total))
                .map(drop),
            None => Ok(()),
        };
        let core = pool::install_hearing(py, |watch| work(&training, watch), hear)??;
        Ok(Model { core })
    })
}

fn training(parameters: &Bound<'_, PyDict>) -> Outcome<SentencePieceTraining> {
    let given = Parameters(parameters);
    let piece = |name: &str| -> Outcome<Option<(String, usize)>> {
        let id = format!("{name}_id");
        let id = given.size_or_none(&id)?;
        let text: String = given.get(&format!("{name}_token"), TEXT)?;
        Ok(id.map(|id| (text, id)))
    };
    let unk: Option<String> = given.get("unk_token", "a str or None")?;
    let unk = match unk {
        Some(text) => Some((text, given.size("unk_id")?)),
        None => None,
    };
    let flag = |name: &str| given.flag(name);
    let share = |name: &str| given.share(name);
    let number = |name: &str| given.size(name);
    let texts = |name: &str| -> Outcome<Vec<String>> { given.get(name, "a list of str") };
    let required: String = given.get("required_chars", TEXT)?;
    let charsmap: Option<Vec<u8>> = given.get("charsmap", "bytes or None")?;
    let normalization: String = given.get("normalization", TEXT)?;
    let normalization = match charsmap {
        Some(blob) => Normalization::UserDefined(Charsmap::new(&blob)?),
        None => normalization.parse()?,
    };
    Ok(SentencePieceTraining {
        vocab_size: number("vocab_size")?,
        hard_vocab_limit: flag("hard_vocab_limit")?,
        meta: MetaPieces {
            unk,
            bos: piece("bos")?,
            eos: piece("eos")?,
            pad: piece("pad")?,
            control: texts("special_tokens")?,
            user_defined: texts("user_defined_symbols")?,
            byte_fallback: flag("byte_fallback")?,
        },
        unigram: UnigramTraining {
            rules: PieceRules {
                max_piece_length: number("max_piece_length")?,
                split_by_whitespace: flag("split_by_whitespace")?,
                treat_whitespace_as_suffix: flag("treat_whitespace_as_suffix")?,
                allow_whitespace_only_pieces: flag("allow_whitespace_only_pieces")?,
                split_by_unicode_script: flag("split_by_unicode_script")?,
                split_by_number: flag("split_by_number")?,
                split_digits: flag("split_digits")?,
            },
            character_coverage: share("character_coverage")?,
            required_chars: required.chars().collect(),
            min_word_count: given.number("min_word_count")?,
            seed_size: number("seed_size")?,
            shrinking_factor: share("shrinking_factor")?,
            num_sub_iterations: number("num_sub_iterations")?,
            ..UnigramTraining::default()
        },
        normalization,
        add_dummy_prefix: flag("add_dummy_prefix")?,
        remove_extra_whitespaces: flag("remove_extra_whitespaces")?,
    })
}

const TEXT: &str = "a str";
