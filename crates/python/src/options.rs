//! The keyword arguments of encoding, checked.

use std::collections::HashSet;

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::error::did_you_mean;
use jeton_core::model::Sampling;
use jeton_core::{EncodeOptions, Unit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::errors::{Outcome, argument, wrong_type};

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

/// The options of a call that yields ids.
pub fn encode_options(
    special: &Bound<'_, PyAny>,
    add_special_tokens: &Bound<'_, PyAny>,
    dropout: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
) -> Outcome<EncodeOptions> {
    Ok(EncodeOptions {
        special: special_policy(special)?,
        add_special_tokens: flag("add_special_tokens", add_special_tokens)?,
        sampling: match (dropout, seed) {
            (None, None) => Sampling::default(),
            _ => sampling(dropout, seed)?,
        },
        unit: Unit::default(),
    })
}

/// What `special=` says.
fn special_policy(value: &Bound<'_, PyAny>) -> Outcome<SpecialPolicy> {
    const WORDS: [&str; 3] = ["ignore", "allow", "raise"];
    if let Ok(word) = value.cast::<PyString>() {
        return match word.to_str()? {
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
            Ok(name) => only.insert(name.to_str()?.to_owned()),
            Err(_) => return Err(wrong_type("each item of special", "a str", &name)),
        };
    }
    Ok(SpecialPolicy::Only(only))
}

fn sampling(
    dropout: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
) -> Outcome<Sampling> {
    let dropout = match dropout {
        None => None,
        Some(value) => {
            let number: f64 = value
                .extract()
                .map_err(|_| wrong_type("dropout", "a number from 0 to 1", value))?;
            if !(0.0..=1.0).contains(&number) {
                return Err(argument(format!(
                    "dropout must lie between 0 and 1, not be {number}"
                )));
            }
            Some(number as f32)
        }
    };
    let seed = match seed {
        None => None,
        Some(value) if value.is_instance_of::<PyBool>() => {
            return Err(wrong_type("seed", "an int", value));
        }
        Some(value) => Some(match value.extract::<u64>() {
            Ok(seed) => seed,
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py()) => {
                return Err(argument(format!(
                    "seed must lie between 0 and 2**64 - 1, not be {value}"
                )));
            }
            Err(_) => return Err(wrong_type("seed", "an int", value)),
        }),
    };
    Ok(Sampling {
        dropout,
        seed,
        ..Sampling::default()
    })
}

/// What `unit=` says.
pub fn unit(value: &Bound<'_, PyAny>) -> Outcome<Unit> {
    const WORDS: [&str; 2] = ["characters", "bytes"];
    let Ok(word) = value.cast::<PyString>() else {
        return Err(wrong_type("unit", "\"characters\" or \"bytes\"", value));
    };
    match word.to_str()? {
        "characters" => Ok(Unit::Characters),
        "bytes" => Ok(Unit::Bytes),
        other => Err(argument(match did_you_mean(other, WORDS) {
            Some(word) => format!("unit={other:?}: did you mean {word:?}?"),
            None => format!("unit={other:?} is neither \"characters\" nor \"bytes\""),
        })),
    }
}
