//! What trainers ask of special tokens.

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result, did_you_mean};

/// Refuses special tokens that are empty or there twice.
pub(super) fn check(special_tokens: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for token in special_tokens {
        let (message, hint) = match token.as_str() {
            "" => (
                "special_tokens holds an empty string".to_owned(),
                "a special token is found in text by its spelling",
            ),
            token if !seen.insert(token) => (
                format!("special_tokens holds {token:?} twice"),
                "name each special token once",
            ),
            _ => continue,
        };
        return Err(Error::new(ErrorKind::Argument, message).hint(hint));
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
    let message = format!("unk_token {unk_token:?} is no special token");
    Err(Error::new(ErrorKind::Argument, message).hint(hint))
}
