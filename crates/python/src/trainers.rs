//! The trainers: their parameters by name, and training from counted words.

use std::ops::ControlFlow;

use jeton_core::model::{self, SentencePiece};
use jeton_core::normalizer::{Charsmap, Normalization};
use jeton_core::train::bpe::{
    Balance, BpePieces, BpeTrainer, Languages, Residues, SecondStage, Start, SuperwordTrainer,
};
use jeton_core::train::pieces::{PieceOptions, PieceRules};
use jeton_core::train::sentencepiece::{Learning, MetaPieces, SentencePieceTrainer};
use jeton_core::train::unigram::UnigramPieces;
use jeton_core::train::word_counts;
use jeton_core::train::word_level::WordLevelTrainer;
use jeton_core::train::wordpiece::WordPieceTrainer;
use jeton_core::train::{Progress, Trainer};
use jeton_core::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Outcome, argument, guard, wrong_type};
use crate::model::Model;
use crate::parameters::Parameters;
use crate::pool;
use crate::word_counts::WordCounts;

const TEXT: &str = "a str";
const TEXT_OR_NONE: &str = "a str or None";
const TEXTS: &str = "a list of str";

/// What the core tells while it trains, and whether it shall go on.
type Watch<'w> = &'w mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A trainer with its parameters.
enum AnyTrainer {
    Bpe(BpeTrainer),
    /// BPE that takes tokens out again.
    PickyBpe(BpeTrainer, Residues),
    WordPiece(WordPieceTrainer),
    WordLevel(WordLevelTrainer),
    /// Gives the model of a `tokenizer.json`.
    Unigram(SentencePieceTrainer),
    /// Gives that of a `.model` file.
    SentencePiece(SentencePieceTrainer),
}

impl AnyTrainer {
    fn new(algorithm: &str, parameters: &Bound<'_, PyDict>) -> Outcome<Self> {
        Ok(match algorithm {
            "bpe" => {
                let trainer = bpe_trainer(parameters)?;
                match residues(&Parameters(parameters))? {
                    Some(residues) => Self::PickyBpe(trainer, residues),
                    None => Self::Bpe(trainer),
                }
            }
            "wordpiece" => Self::WordPiece(WordPieceTrainer {
                rule: Parameters(parameters)
                    .get::<String>("rule", TEXT)?
                    .parse()?,
                merging: bpe_trainer(parameters)?,
            }),
            "word_level" => Self::WordLevel(word_level_trainer(parameters)?),
            "unigram" => Self::Unigram(sentencepiece_trainer(algorithm, parameters)?),
            "sentencepiece unigram" | "sentencepiece bpe" => {
                Self::SentencePiece(sentencepiece_trainer(algorithm, parameters)?)
            }
            _ => return Err(argument(format!("there is no trainer {algorithm:?}"))),
        })
    }

    fn check(&self) -> jeton_core::Result<()> {
        match self {
            Self::Bpe(trainer) => trainer.check(),
            Self::PickyBpe(trainer, residues) => trainer.check_residues(residues),
            Self::WordPiece(trainer) => trainer.check(),
            Self::WordLevel(trainer) => trainer.check(),
            Self::Unigram(trainer) | Self::SentencePiece(trainer) => trainer.check(),
        }
    }

    fn train(
        &self,
        words: &word_counts::WordCounts,
        watch: Watch<'_>,
    ) -> jeton_core::Result<model::Model> {
        Ok(match self {
            Self::Bpe(trainer) => model::Model::Bpe(trainer.train(words, watch)?),
            Self::PickyBpe(trainer, _) => {
                let sizes = [trainer.vocab_size];
                let mut trained = self.train_sizes(words, &sizes, watch)?;
                trained.remove(0)
            }
            Self::WordPiece(trainer) => model::Model::WordPiece(trainer.train(words, watch)?),
            Self::WordLevel(trainer) => model::Model::WordLevel(trainer.train(words, watch)?),
            Self::Unigram(trainer) => model::Model::Unigram(trainer.train_unigram(words, watch)?),
            Self::SentencePiece(trainer) => {
                let proto = trainer.train(words, watch)?;
                model::Model::SentencePiece(SentencePiece::new(proto)?)
            }
        })
    }

    fn train_sizes(
        &self,
        words: &word_counts::WordCounts,
        sizes: &[usize],
        watch: Watch<'_>,
    ) -> jeton_core::Result<Vec<model::Model>> {
        match self {
            Self::Bpe(trainer) => {
                let trained = trainer.train_sizes(words, sizes, watch)?;
                Ok(trained.into_iter().map(model::Model::Bpe).collect())
            }
            Self::PickyBpe(trainer, residues) => {
                let trained = trainer.train_without_residues(residues, words, sizes, watch)?;
                Ok(trained.into_iter().map(model::Model::PickyBpe).collect())
            }
            Self::SentencePiece(trainer) => trainer
                .train_sizes(words, sizes, watch)?
                .into_iter()
                .map(|proto| Ok(model::Model::SentencePiece(SentencePiece::new(proto)?)))
                .collect(),
            Self::WordPiece(_) | Self::WordLevel(_) | Self::Unigram(_) => Err(Error::new(
                ErrorKind::Argument,
                "this trainer learns one size at a time",
            )),
        }
    }
}

/// Refuses parameters of a trainer that make no sense.
#[pyfunction]
pub fn check_trainer(
    py: Python<'_>,
    algorithm: &str,
    parameters: &Bound<'_, PyDict>,
) -> PyResult<()> {
    guard(py, || match algorithm {
        "superwords" => Ok(superword_trainer(parameters)?.check()?),
        _ => Ok(AnyTrainer::new(algorithm, parameters)?.check()?),
    })
}

/// The model that an algorithm with these parameters learns from words. Calls `watch`, if there is
/// one, with the phase, and how many steps of how many are done.
#[pyfunction]
pub fn train(
    py: Python<'_>,
    algorithm: &str,
    counts: &WordCounts,
    parameters: &Bound<'_, PyDict>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Model> {
    guard(py, || {
        let trainer = AnyTrainer::new(algorithm, parameters)?;
        let core = watched(py, watch, |watch| trainer.train(&counts.core, watch))?;
        Ok(Model { core })
    })
}

/// The models of these sizes, from one run; `watch` as above.
#[pyfunction]
pub fn train_sizes(
    py: Python<'_>,
    algorithm: &str,
    counts: &WordCounts,
    parameters: &Bound<'_, PyDict>,
    sizes: Vec<usize>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Vec<Model>> {
    guard(py, || {
        let trainer = AnyTrainer::new(algorithm, parameters)?;
        let trained = watched(py, watch, |watch| {
            trainer.train_sizes(&counts.core, &sizes, watch)
        })?;
        Ok(trained.into_iter().map(|core| Model { core }).collect())
    })
}

/// The models of these sizes, from one run that is fair to languages: counts of a corpus for each, and
/// of a development text for each or none; `watch` as above.
#[pyfunction]
pub fn train_languages(
    py: Python<'_>,
    counts: Vec<PyRef<'_, WordCounts>>,
    development: Vec<PyRef<'_, WordCounts>>,
    parameters: &Bound<'_, PyDict>,
    sizes: Vec<usize>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Vec<Model>> {
    guard(py, || {
        let trainer = bpe_trainer(parameters)?;
        let languages = languages(&Parameters(parameters))?;
        let [counts, development] =
            [&counts, &development].map(|all| all.iter().map(|it| &it.core).collect::<Vec<_>>());
        let trained = watched(py, watch, |watch| {
            trainer.train_languages(&languages, &counts, &development, &sizes, watch)
        })?;
        let models = trained.into_iter().map(model::Model::Bpe);
        Ok(models.map(|core| Model { core }).collect())
    })
}

/// How to be fair to languages.
fn languages(given: &Parameters<'_, '_>) -> Outcome<Languages> {
    let balance = match given.size_or_none("window_size")? {
        Some(size) => Balance::Window {
            size,
            alpha: given.get("alpha", "a float")?,
        },
        None => Balance::Worst,
    };
    Ok(Languages {
        balance,
        ratios: given.get("ratios", "a list of float")?,
        global_merges: given.size("global_merges")?,
    })
}

/// The trainer of words and superwords.
pub fn superword_trainer(parameters: &Bound<'_, PyDict>) -> Outcome<SuperwordTrainer> {
    let given = Parameters(parameters);
    Ok(SuperwordTrainer {
        words: bpe_trainer(parameters)?,
        residues: residues(&given)?,
        stage: match given.size_or_none("superword_tokens")? {
            Some(tokens) => SecondStage::Super(tokens),
            None => SecondStage::Boundless,
        },
        joining: given.get::<String>("joining", TEXT)?.parse()?,
        max_words: given.size_or_none("max_words_per_token")?,
    })
}

/// Trains without the GIL, while `watch` and Ctrl-C are heard.
pub fn watched<T: Send>(
    py: Python<'_>,
    watch: Option<Py<PyAny>>,
    train: impl FnOnce(Watch<'_>) -> jeton_core::Result<T> + Send,
) -> Outcome<T> {
    let hear = move |py: Python<'_>, told: Progress| match &watch {
        Some(watch) => watch
            .call1(py, (told.phase.name(), told.done, told.total))
            .map(drop),
        None => Ok(()),
    };
    Ok(pool::install_hearing(py, train, hear)??)
}

/// The ASCII characters between which the texts that a SentencePiece model is trained from are
/// counted: those around words, where words can be normalized one by one, else those around lines.
#[pyfunction]
pub fn sentencepiece_separators<'py>(
    py: Python<'py>,
    algorithm: &str,
    parameters: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    guard(py, || {
        let trainer = sentencepiece_trainer(algorithm, parameters)?;
        Ok(PyBytes::new(py, trainer.separators()))
    })
}

fn bpe_trainer(parameters: &Bound<'_, PyDict>) -> Outcome<BpeTrainer> {
    let given = Parameters(parameters);
    let word = |name: &str| -> Outcome<String> { given.get(name, TEXT) };
    Ok(BpeTrainer {
        vocab_size: given.size("vocab_size")?,
        min_frequency: given.number("min_frequency")?,
        max_token_length: given.size_or_none("max_token_length")?,
        alphabet: word("alphabet")?.parse()?,
        byte_order: word("byte_order")?.parse()?,
        initial_alphabet: given.get("initial_alphabet", "characters")?,
        limit_alphabet: given.size_or_none("limit_alphabet")?,
        character_coverage: given.share_or_none("character_coverage")?,
        special_tokens: given.get("special_tokens", TEXTS)?,
        unk_token: given.get("unk_token", TEXT_OR_NONE)?,
        continuing_subword_prefix: given.get("continuing_subword_prefix", TEXT_OR_NONE)?,
        end_of_word_suffix: given.get("end_of_word_suffix", TEXT_OR_NONE)?,
        separate_suffix: given.flag("separate_suffix")?,
        sentencepiece: (given.flag("sentencepiece")?)
            .then(|| piece_rules(&given))
            .transpose()?,
        byte_fallback: given.flag("byte_fallback")?,
        start: start(parameters)?,
        tie_break: word("tie_break")?.parse()?,
        disjoint: false,
    })
}

/// When tokens are taken out again, if they are.
fn residues(given: &Parameters<'_, '_>) -> Outcome<Option<Residues>> {
    let threshold = given.share_or_none("drop_residues")?;
    let become_what: String = given.get("residues_become", TEXT)?;
    let become_what = become_what.parse()?;
    Ok(threshold.map(|threshold| Residues {
        threshold,
        become_what,
    }))
}

/// What to continue from: tokens, special tokens, and merges.
fn start(parameters: &Bound<'_, PyDict>) -> Outcome<Option<Start>> {
    let Some(start) = parameters
        .get_item("start")?
        .filter(|start| !start.is_none())
    else {
        return Ok(None);
    };
    let (tokens, special_tokens, merges) = start
        .extract()
        .map_err(|_| wrong_type("start_from", "a Tokenizer or a list of merges", &start))?;
    Ok(Some(Start {
        tokens,
        special_tokens,
        merges,
    }))
}

fn word_level_trainer(parameters: &Bound<'_, PyDict>) -> Outcome<WordLevelTrainer> {
    let given = Parameters(parameters);
    Ok(WordLevelTrainer {
        vocab_size: given.size("vocab_size")?,
        min_frequency: given.number("min_frequency")?,
        special_tokens: given.get("special_tokens", TEXTS)?,
        unk_token: given.get("unk_token", TEXT_OR_NONE)?,
    })
}

fn piece_rules(given: &Parameters<'_, '_>) -> Outcome<PieceRules> {
    Ok(PieceRules {
        max_piece_length: given.size("max_piece_length")?,
        split_by_whitespace: given.flag("split_by_whitespace")?,
        treat_whitespace_as_suffix: given.flag("treat_whitespace_as_suffix")?,
        allow_whitespace_only_pieces: given.flag("allow_whitespace_only_pieces")?,
        split_by_unicode_script: given.flag("split_by_unicode_script")?,
        split_by_number: given.flag("split_by_number")?,
        split_digits: given.flag("split_digits")?,
    })
}

fn sentencepiece_trainer(
    algorithm: &str,
    parameters: &Bound<'_, PyDict>,
) -> Outcome<SentencePieceTrainer> {
    let given = Parameters(parameters);
    let piece = |name: &str| -> Outcome<Option<(String, usize)>> {
        let id = format!("{name}_id");
        let id = given.size_or_none(&id)?;
        let text: String = given.get(&format!("{name}_token"), TEXT)?;
        Ok(id.map(|id| (text, id)))
    };
    let unk: Option<String> = given.get("unk_token", TEXT_OR_NONE)?;
    let unk = match unk {
        Some(text) => Some((text, given.size("unk_id")?)),
        None => None,
    };
    let flag = |name: &str| given.flag(name);
    let share = |name: &str| given.share(name);
    let number = |name: &str| given.size(name);
    let texts = |name: &str| -> Outcome<Vec<String>> { given.get(name, TEXTS) };
    let required: String = given.get("required_chars", TEXT)?;
    let charsmap: Option<Vec<u8>> = given.get("charsmap", "bytes or None")?;
    let normalization: String = given.get("normalization", TEXT)?;
    let normalization = match charsmap {
        Some(blob) => Normalization::UserDefined(Charsmap::new(&blob)?),
        None => normalization.parse()?,
    };
    let options = PieceOptions {
        rules: piece_rules(&given)?,
        character_coverage: share("character_coverage")?,
        required_chars: required.chars().collect(),
        limit_alphabet: given.size_or_none("limit_alphabet")?,
        min_word_count: given.number("min_word_count")?,
        ..PieceOptions::default()
    };
    let learning = match algorithm {
        "sentencepiece bpe" => Learning::Bpe(BpePieces {
            options,
            min_frequency: given.number("min_frequency")?,
            tie_break: given.get::<String>("tie_break", TEXT)?.parse()?,
        }),
        _ => Learning::Unigram(UnigramPieces {
            options,
            seed_size: number("seed_size")?,
            shrinking_factor: share("shrinking_factor")?,
            num_sub_iterations: number("num_sub_iterations")?,
        }),
    };
    Ok(SentencePieceTrainer {
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
        learning,
        normalization,
        add_dummy_prefix: flag("add_dummy_prefix")?,
        remove_extra_whitespaces: flag("remove_extra_whitespaces")?,
    })
}
