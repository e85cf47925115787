//! The error for a field or a column that a record or a file does not have.

use jeton_text::error::{Error, ErrorKind, did_you_mean};

/// Names that the error shows.
const SHOWN: usize = 12;

/// The error for a field or column of this name; `names` are those that there are.
pub fn no_such(kind: &str, name: &str, names: &[String]) -> Error {
    let more = if names.len() > SHOWN { ", …" } else { "" };
    let some = match &names[..names.len().min(SHOWN)] {
        [] => "none".to_owned(),
        some => some.join(", "),
    };
    Error::new(
        ErrorKind::Format,
        format!("there is no {kind} {name:?}; it has {some}{more}"),
    )
}

/// The error with a hint: the name that was probably meant, or how to name one.
pub fn with_hint(error: Error, name: &str, names: &[String]) -> Error {
    match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(close) => error.hint(format!("did you mean {close:?}?")),
        None if names.is_empty() => error,
        None => error.hint("name one by field=").parameter("field"),
    }
}
