//! The parameters of trainers, by name, each checked for its type and its range.
//!
//! Look here for the errors about numbers that are text, negative or larger than 64 bits.

use pyo3::exceptions::{PyKeyError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::errors::{Failure, Outcome, argument, wrong_type};

/// Parameters by name.
pub struct Parameters<'p, 'py>(pub &'p Bound<'py, PyDict>);

impl<'py> Parameters<'_, 'py> {
    /// The value of a parameter, which must be there.
    fn value(&self, name: &str) -> Outcome<Bound<'py, PyAny>> {
        let value = self.0.get_item(name)?;
        value.ok_or_else(|| Failure::Python(PyKeyError::new_err(name.to_owned())))
    }

    /// A value that needs no more than its type; `expected` says which.
    pub fn get<T: for<'a> FromPyObject<'a, 'py>>(&self, name: &str, expected: &str) -> Outcome<T> {
        let value = self.value(name)?;
        value.extract().map_err(|error: T::Error| {
            let error: PyErr = error.into();
            if error.is_instance_of::<pyo3::exceptions::PyUnicodeEncodeError>(value.py()) {
                argument(format!(
                    "{name} is not valid Unicode: it has a lone surrogate"
                ))
            } else {
                wrong_type(name, expected, &value)
            }
        })
    }

    /// A number of things.
    pub fn number(&self, name: &str) -> Outcome<u64> {
        number(name, "an int", &self.value(name)?)
    }

    /// A number of things that fits memory.
    pub fn size(&self, name: &str) -> Outcome<usize> {
        Ok(usize::try_from(self.number(name)?).unwrap_or(usize::MAX))
    }

    /// A number of things, or `None`.
    pub fn size_or_none(&self, name: &str) -> Outcome<Option<usize>> {
        let value = self.value(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let size = number(name, "an int or None", &value)?;
        Ok(Some(usize::try_from(size).unwrap_or(usize::MAX)))
    }

    /// A share.
    pub fn share(&self, name: &str) -> Outcome<f64> {
        share(name, "a float", &self.value(name)?)
    }

    /// A share, or `None`.
    pub fn share_or_none(&self, name: &str) -> Outcome<Option<f64>> {
        let value = self.value(name)?;
        if value.is_none() {
            Ok(None)
        } else {
            share(name, "a float or None", &value).map(Some)
        }
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> Outcome<bool> {
        self.get(name, "a bool")
    }
}

/// What the argument called `name` must be: a whole number from 0 to 2⁶⁴ − 1, and no bool.
pub fn number(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> Outcome<u64> {
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(name, expected, value));
    }
    match value.extract() {
        Ok(number) => Ok(number),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Err(if value.lt(0)? {
            argument(format!("{name} must be at least 0, not {}", shown(value)))
        } else {
            argument(format!(
                "{name} must be less than 2**64, not {}",
                shown(value)
            ))
        }),
        Err(_) => Err(wrong_type(name, expected, value)),
    }
}

fn share(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> Outcome<f64> {
    if value.is_instance_of::<PyBool>() {
        Err(wrong_type(name, expected, value))
    } else {
        value.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyOverflowError>(value.py()) {
                argument(format!("{name} must be at most 1, not {}", shown(value)))
            } else {
                wrong_type(name, expected, value)
            }
        })
    }
}

/// A number as an error shows it: Python writes out only this many digits.
fn shown(value: &Bound<'_, PyAny>) -> String {
    match value.str() {
        Ok(digits) if digits.len().is_ok_and(|length| length <= 40) => digits.to_string(),
        _ => "one of so many digits".to_owned(),
    }
}
