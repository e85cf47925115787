//! Checks of parameters that several trainers share.

use std::collections::BTreeSet;

use jeton_stages::vocab::MAX_ID;
use jeton_text::error::{Error, ErrorKind, Result, did_you_mean};

/// The error of a parameter that makes no sense, and what to do instead.
pub(super) fn wrong<T>(message: impl Into<String>, hint: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Argument, message).hint(hint))
}

/// Refuses a vocabulary that has no ids for this many tokens.
pub(super) fn check_vocab_size(vocab_size: usize) -> Result<()> {
    if vocab_size > MAX_ID as usize {
        return wrong(
            format!("vocab_size {vocab_size} is larger than the largest id"),
            "real vocabularies have 1,000 to 300,000 tokens",
        );
    }
    Ok(())
}

/// Refuses a share of characters that is none.
pub(super) fn check_character_coverage(share: f64) -> Result<()> {
    if !(share > 0.0 && share <= 1.0) {
        return wrong(
            format!("character_coverage cannot be {share}"),
            "it is a share, above 0 and at most 1; 0.9995 is common",
        );
    }
    Ok(())
}

/// Refuses special tokens that are empty or there twice.
pub(super) fn check_special_tokens(special_tokens: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for token in special_tokens {
        if token.is_empty() {
            return wrong(
                "special_tokens holds an empty string",
                "a special token is found in text by its spelling",
            );
        }
        if !seen.insert(token) {
            return wrong(
                format!("special_tokens holds {token:?} twice"),
                "name each special token once",
            );
        }
    }
    Ok(())
}

/// Refuses an unknown token that is none of the special tokens.
pub(super) fn check_unk(unk_token: &str, special_tokens: &[String]) -> Result<()> {
    if special_tokens.iter().any(|token| token == unk_token) {
        return Ok(());
    }
    let hint = match did_you_mean(unk_token, special_tokens.iter().map(String::as_str)) {
        Some(close) => format!("did you mean {close:?}?"),
        None => format!("add {unk_token:?} to special_tokens"),
    };
    wrong(
        format!("unk_token {unk_token:?} is not one of special_tokens"),
        &hint,
    )
}
