//! The one error type: what went wrong, where, and what to do about it.
//!
//! Look here for which kinds of failure the crate distinguishes. The Python border maps each
//! [`ErrorKind`] to one exception class.

use std::fmt;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Which family of failure an [`Error`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An argument has a value that makes no sense.
    Argument,
    /// A file or a byte string is not what its format says.
    Format,
    /// The request is clear, but it cannot be honoured exactly.
    Unsupported,
    /// The text holds something that this tokenizer has no token for.
    Encode,
    /// A special token is in text where the caller said that none may.
    SpecialToken,
    /// A token or an id is not in the vocabulary.
    Lookup,
    /// A file could not be read or written.
    File,
    /// A file that should exist does not.
    FileMissing,
    /// The bytes of the decoded tokens are not valid UTF-8 and the caller asked for strictness.
    Decode,
    /// Training cannot proceed with this corpus or these parameters.
    Training,
    /// A function of the caller's failed; the message is what its [`Caller`](crate::function::Caller) knows
    /// the failure by.
    Caller,
}

/// What went wrong, where, and what to do.
///
/// ```
/// use jeton_text::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::Format, "unknown component \"Upcase\"")
///     .at("normalizer.normalizers[1]")
///     .at("tokenizer.json")
///     .hint("did you mean \"Lowercase\"?");
/// assert_eq!(
///     error.to_string(),
///     "tokenizer.json: normalizer.normalizers[1]: unknown component \"Upcase\" (did you mean \"Lowercase\"?)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    place: Vec<String>,
    hint: Option<String>,
    parameter: Option<&'static str>,
}

impl Error {
    /// An error of a kind, with a message that says what went wrong.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            place: Vec::new(),
            hint: None,
            parameter: None,
        }
    }

    /// Adds where it went wrong; the outermost place is added last.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place.push(place.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the parameter that the hint is about, for callers that have options instead.
    #[must_use]
    pub fn parameter(mut self, name: &'static str) -> Self {
        self.parameter = Some(name);
        self
    }

    /// The same, of another family: what is wrong in a file is so otherwise than in an argument.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// What went wrong, without where and what to do.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where it went wrong, and what, without what to do.
    pub fn place_and_message(&self) -> String {
        let mut text = String::new();
        for place in self.place.iter().rev() {
            text.push_str(place);
            text.push_str(": ");
        }
        text + &self.message
    }

    /// What to do, and the parameter that it is about.
    pub fn remedy(&self) -> (Option<&str>, Option<&'static str>) {
        (self.hint.as_deref(), self.parameter)
    }

    /// The family this failure belongs to.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place_and_message())?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Cost of one letter more, less or other in [`distance`].
const LETTER: usize = 16;
/// Cost of a mark between words.
const MARK: usize = 1;
/// Cost of the rest of a name of which the beginning is given.
const REST_OF_NAME: usize = LETTER / 2;
/// Letters that the beginning of a name must have to be taken for the name.
const MIN_BEGINNING: usize = 4;

/// The candidate closest to `given`, if it is close enough to be what was meant: it begins so, or at
/// most a third of its letters differ. Marks between words hardly count, and of numbers the nearest
/// is the closest: `gpt4` is nearer to `gpt-4` than to `gpt2`, and `gpt6` nearer to `gpt4`.
pub fn did_you_mean<'a>(
    given: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let given: Vec<char> = given.to_lowercase().chars().take(64).collect();
    candidates
        .into_iter()
        .map(|candidate| (distance(&given, candidate), candidate))
        .filter(|(distance, candidate)| *distance < LETTER * (candidate.len().div_ceil(3) + 1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How far a name is from what was given, letters compared without case: Levenshtein's distance,
/// with costs.
fn distance(given: &[char], name: &str) -> usize {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    if given.len() >= MIN_BEGINNING && name.len() > given.len() && name.starts_with(given) {
        return REST_OF_NAME;
    }
    let is_mark = |c: char| "-_. /".contains(c);
    let alone = |c: char| if is_mark(c) { MARK } else { LETTER };
    let instead = |a: char, b: char| match (a.to_digit(10), b.to_digit(10)) {
        _ if a == b => 0,
        (Some(a), Some(b)) => LETTER + a.abs_diff(b) as usize,
        _ if is_mark(a) && is_mark(b) => MARK,
        _ => LETTER,
    };
    let mut row = vec![0; name.len() + 1];
    for (j, &b) in name.iter().enumerate() {
        row[j + 1] = row[j] + alone(b);
    }
    for &a in given {
        let mut diagonal = row[0];
        row[0] += alone(a);
        for (j, &b) in name.iter().enumerate() {
            let replaced = diagonal + instead(a, b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + alone(b)).min(diagonal + alone(a));
        }
    }
    row[name.len()]
}

/// The value of a parameter that is given by name.
///
/// # Errors
/// A name that is not there, with the one that may be meant.
pub fn by_name<T: Copy>(parameter: &str, name: &str, names: &[(&str, T)]) -> Result<T> {
    if let Some((_, value)) = names.iter().find(|(known, _)| *known == name) {
        return Ok(*value);
    }
    let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
    let hint = match did_you_mean(name, known.iter().copied()) {
        Some(close) => format!("did you mean {close:?}?"),
        None => format!("it is one of {}", known.join(", ")),
    };
    Err(Error::new(
        ErrorKind::Argument,
        format!("{parameter} cannot be {name:?}"),
    )
    .hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_come_only_when_close() {
        let known = ["Lowercase", "StripAccents", "NFC"];
        assert_eq!(did_you_mean("lowercas", known), Some("Lowercase"));
        assert_eq!(did_you_mean("Frobnicate", known), None);
    }

    #[test]
    fn the_closest_name_is_suggested() {
        let known = [
            "gpt2",
            "cl100k_base",
            "o200k_base",
            "o200k_harmony",
            "gpt-3.5-turbo",
            "gpt-4",
            "gpt-4o",
            "llama3",
            "llama3.1",
        ];
        let cases = [
            ("gpt4", Some("gpt-4")),
            ("GPT_4", Some("gpt-4")),
            ("gpt6", Some("gpt-4")),
            ("gpt4o", Some("gpt-4o")),
            ("gtp2", Some("gpt2")),
            ("cl100k", Some("cl100k_base")),
            ("o200k", Some("o200k_base")),
            ("o200kharmony", Some("o200k_harmony")),
            ("gpt35turbo", Some("gpt-3.5-turbo")),
            ("llama-3", Some("llama3")),
            ("gpt", Some("gpt2")),
            ("mistral", None),
            ("", None),
        ];
        for (given, meant) in cases {
            assert_eq!(did_you_mean(given, known), meant, "{given}");
        }
    }
}
