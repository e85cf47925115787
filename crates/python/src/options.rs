//! The keyword arguments of encoding, checked.

use std::borrow::Cow;
use std::collections::HashSet;

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::error::did_you_mean;
use jeton_core::model::sentencepiece::MAX_PATHS;
use jeton_core::model::sentencepiece::spec::Algorithm;
use jeton_core::model::{Model, Sampling};
use jeton_core::{DecodeOptions, EncodeOptions, Error, ErrorKind, Skipped, Unit};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString};

use crate::errors::{Outcome, argument, wrong_type};
use crate::ids_from_python;
use crate::text::valid;

/// The bool of the argument called `name`.
pub fn flag(name: &str, value: &Bound<'_, PyAny>) -> Outcome<bool> {
    match value.cast_exact::<PyBool>() {
        Ok(flag) => Ok(flag.is_true()),
        // numpy has a bool of its own.
        Err(_) => value
            .extract()
            .map_err(|_| wrong_type(name, "a bool", value)),
    }
}

/// An argument of which `None` is no value.
pub enum Given<'py> {
    /// It was left out.
    Default,
    /// What was given.
    Value(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Value(value.to_owned()))
    }
}

/// `dropout`, `alpha`, `nbest_size` and `seed` of a call, where they are given.
pub type Drawing<'py> = [Option<Bound<'py, PyAny>>; 4];

/// What a call that gives no options means, for all such calls.
static PLAIN: EncodeOptions = EncodeOptions::PLAIN;

/// The options of a call that yields ids. Most calls give none, and putting them together would take
/// some hundredths of the time of a short one.
#[inline(always)]
pub fn encode_options(
    model: &Model,
    special: Given<'_>,
    add_special_tokens: Given<'_>,
    drawing: Drawing<'_>,
) -> Outcome<Cow<'static, EncodeOptions>> {
    match (&special, &add_special_tokens, &drawing) {
        (Given::Default, Given::Default, [None, None, None, None]) => Ok(Cow::Borrowed(&PLAIN)),
        _ => given_options(model, special, add_special_tokens, drawing).map(Cow::Owned),
    }
}

/// As [`encode_options`], where some are given.
#[inline(never)]
fn given_options(
    model: &Model,
    special: Given<'_>,
    add_special_tokens: Given<'_>,
    drawing: Drawing<'_>,
) -> Outcome<EncodeOptions> {
    let mut options = PLAIN.clone();
    if let Given::Value(value) = special {
        options.special = special_policy(&value)?;
    }
    if let Given::Value(value) = add_special_tokens {
        options.add_special_tokens = flag("add_special_tokens", &value)?;
    }
    if drawing.iter().any(Option::is_some) {
        options.sampling = sampling(model, drawing)?;
    }
    Ok(options)
}

/// What `special=` says.
pub fn special_policy(value: &Bound<'_, PyAny>) -> Outcome<SpecialPolicy> {
    const WORDS: [&str; 3] = ["ignore", "allow", "raise"];
    if let Ok(word) = value.cast::<PyString>() {
        return match &*word.to_string_lossy() {
            "ignore" => Ok(SpecialPolicy::Ignore),
            "allow" => Ok(SpecialPolicy::Allow),
            "raise" => Ok(SpecialPolicy::Raise),
            other => Err(argument(match did_you_mean(other, WORDS) {
                Some(word) => format!("special={other:?}: did you mean {word:?}?"),
                None => format!(
                    "special={other:?} is none of \"ignore\", \"allow\" and \"raise\"; to allow \
                     one special token, pass a set: special={{{other:?}}}"
                ),
            })),
        };
    }
    const EXPECTED: &str = "\"ignore\", \"allow\", \"raise\" or a set of special tokens";
    let names = value
        .try_iter()
        .map_err(|_| wrong_type("special", EXPECTED, value))?;
    let mut only = HashSet::new();
    for name in names {
        let name = name?;
        match name.cast::<PyString>() {
            Ok(name) => only.insert(valid(|| "each item of special".to_owned(), name)?.to_owned()),
            Err(_) => return Err(wrong_type("each item of special", "a str", &name)),
        };
    }
    Ok(SpecialPolicy::Only(only))
}

/// What `skip_special_tokens=` and `unknown_ids=` say: a bool, or the ids of the tokens that are left out.
pub fn decode_options(
    skip_special_tokens: &Bound<'_, PyAny>,
    unknown_ids: &Bound<'_, PyAny>,
) -> Outcome<DecodeOptions> {
    let unknown = unknown_ids
        .cast::<PyString>()
        .map_err(|_| wrong_type("unknown_ids", "a str", unknown_ids))?;
    let unknown = unknown.to_string_lossy().parse()?;
    if !skip_special_tokens.is_instance_of::<PyList>() {
        let skip = flag("skip_special_tokens", skip_special_tokens)?;
        return Ok(DecodeOptions {
            unknown,
            ..skip.into()
        });
    }
    let mut skipped = ids_from_python::ids("skip_special_tokens", skip_special_tokens)?;
    skipped.sort_unstable();
    Ok(DecodeOptions {
        skipped: Skipped::Ids(skipped.into()),
        unknown,
    })
}

fn sampling(model: &Model, [dropout, alpha, nbest_size, seed]: Drawing<'_>) -> Outcome<Sampling> {
    if dropout.is_some() && !matches!(model, Model::Bpe(_)) {
        let error = format!("dropout is for BPE, and this model is {}", model.kind());
        let error = Error::new(ErrorKind::Unsupported, error);
        return Err(match model {
            Model::SentencePiece(_) => error.hint("pass alpha instead"),
            _ => error.hint("leave it out"),
        }
        .into());
    }
    if alpha.is_none() && nbest_size.is_some() {
        return Err(argument(
            "nbest_size says what is drawn from, but nothing is drawn without alpha",
        ));
    }
    if nbest_size.is_some() && merges_pieces(model) {
        return Err(argument(
            "nbest_size is for Unigram; of a BPE model, alpha leaves merges out and nothing is \
             listed",
        ));
    }
    Ok(Sampling {
        dropout: dropout
            .map(|value| number("dropout", &value, 1.0))
            .transpose()?,
        alpha: alpha
            .map(|value| number("alpha", &value, most_alpha(model)))
            .transpose()?,
        nbest_size: nbest_size
            .map(|value| count("nbest_size", &value))
            .transpose()?,
        seed: seed.map(|value| seed_of(&value)).transpose()?,
    })
}

/// Whether a model is SentencePiece's BPE.
fn merges_pieces(model: &Model) -> bool {
    let Model::SentencePiece(model) = model else {
        return false;
    };
    model.proto().trainer().algorithm == Algorithm::Bpe
}

/// The largest `alpha`: to merge by, it is a probability; over segmentations, an exponent.
fn most_alpha(model: &Model) -> f64 {
    if merges_pieces(model) {
        1.0
    } else {
        f64::from(f32::MAX)
    }
}

/// The number from 0 to `most` that the argument called `name` holds.
fn number(name: &str, value: &Bound<'_, PyAny>, most: f64) -> Outcome<f32> {
    let bounds = match most {
        1.0 => "must lie between 0 and 1",
        _ => "must be at least 0 and finite",
    };
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(name, "a number", value));
    }
    let number: f64 = value
        .extract()
        .map_err(|_| wrong_type(name, "a number", value))?;
    if (0.0..=most).contains(&number) {
        Ok(number as f32)
    } else {
        Err(argument(format!("{name} {bounds}, not be {number}")))
    }
}

/// The bytes that the argument called `name` holds; as many as there can be, if there are more.
pub fn size(name: &str, value: &Bound<'_, PyAny>) -> Outcome<usize> {
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(name, "an int", value));
    }
    match value.extract::<usize>() {
        Ok(size) => Ok(size),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            if value.gt(0)? {
                Ok(usize::MAX)
            } else {
                Err(argument(format!(
                    "{name} must not be negative, but is {value}"
                )))
            }
        }
        Err(_) => Err(wrong_type(name, "an int", value)),
    }
}

/// How many segmentations the argument called `name` asks for.
pub fn count(name: &str, value: &Bound<'_, PyAny>) -> Outcome<usize> {
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(name, "an int", value));
    }
    let outside = || {
        argument(format!(
            "{name} must lie between 1 and {MAX_PATHS}, not be {value}"
        ))
    };
    match value.extract::<usize>() {
        Ok(count @ 1..=MAX_PATHS) => Ok(count),
        Ok(_) => Err(outside()),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Err(outside()),
        Err(_) => Err(wrong_type(name, "an int", value)),
    }
}

fn seed_of(value: &Bound<'_, PyAny>) -> Outcome<u64> {
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type("seed", "an int", value));
    }
    match value.extract() {
        Ok(seed) => Ok(seed),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Err(argument(
            format!("seed must lie between 0 and 2**64 - 1, not be {value}"),
        )),
        Err(_) => Err(wrong_type("seed", "an int", value)),
    }
}

/// What `unit=` or `spans=` says.
pub fn unit(name: &str, value: &Bound<'_, PyAny>) -> Outcome<Unit> {
    const WORDS: [&str; 3] = ["characters", "bytes", "utf-16"];
    const EXPECTED: &str = "\"characters\", \"bytes\" or \"utf-16\"";
    let Ok(word) = value.cast::<PyString>() else {
        return Err(wrong_type(name, EXPECTED, value));
    };
    match &*word.to_string_lossy() {
        "characters" => Ok(Unit::Characters),
        "bytes" => Ok(Unit::Bytes),
        "utf-16" => Ok(Unit::Utf16),
        other => Err(argument(match did_you_mean(other, WORDS) {
            Some(word) => format!("{name}={other:?}: did you mean {word:?}?"),
            None => format!("{name}={other:?} is none of {EXPECTED}"),
        })),
    }
}
