//! Patterns: what splits and replacements look for, in the dialect of the library they come from.

use serde::{Deserialize, Serialize};

/// A text to look for, or a regular expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchPattern {
    /// Exactly this text.
    Literal(String),
    /// A regular expression.
    Regex(Regex),
}

/// The library whose regular expressions these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dialect {
    /// Rust's `fancy-regex`, as tiktoken.
    Tiktoken,
    /// Oniguruma, as tokenizers.
    Oniguruma,
}

/// A compiled regular expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regex {
    source: String,
    dialect: Dialect,
}
