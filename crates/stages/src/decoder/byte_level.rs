//! GPT-2's decoder: the characters of a token spell its bytes.

use super::invalid::Invalid;
use jeton_text::printable;

/// The bytes of the tokens joined.
pub(super) fn join(tokens: Vec<Vec<u8>>, spelled: bool, invalid: Invalid) -> Vec<u8> {
    let bytes = if spelled {
        tokens.into_iter().flat_map(to_bytes).collect()
    } else {
        tokens.concat()
    };
    match invalid {
        Invalid::Keep => bytes,
        Invalid::Replace => match String::from_utf8_lossy(&bytes) {
            std::borrow::Cow::Borrowed(_) => bytes,
            std::borrow::Cow::Owned(text) => text.into_bytes(),
        },
    }
}

/// The bytes that a token spells in GPT-2's printable characters. A token with any other character stays
/// as it is.
fn to_bytes(token: Vec<u8>) -> Vec<u8> {
    let spelled = std::str::from_utf8(&token)
        .ok()
        .and_then(|text| text.chars().map(printable::to_byte).collect());
    spelled.unwrap_or(token)
}
