//! A token of a piece, and the error for text without one.

use std::ops::Range;

use jeton_stages::vocab::show;
use jeton_text::error::{Error, ErrorKind};

/// A token, and the bytes of the piece that it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: u32,
    /// The bytes of the piece that it holds.
    pub range: Range<usize>,
}

/// The spelling of a byte in a vocabulary of text, such as `<0xE2>`.
pub fn byte_token(byte: u8) -> [u8; 6] {
    let digit = |half: u8| b"0123456789ABCDEF"[usize::from(half)];
    [b'<', b'0', b'x', digit(byte >> 4), digit(byte & 15), b'>']
}

/// The byte that a byte token such as `<0x0A>` means.
pub fn byte_of_token(token: &[u8]) -> Option<u8> {
    let [b'<', b'0', b'x', high, low, b'>'] = *token else {
        return None;
    };
    let half = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    };
    Some(half(high)? << 4 | half(low)?)
}

/// The error of a character or byte that only a withheld token spells, where no unknown token stands
/// for it.
pub(super) fn only_withheld(unit: &[u8]) -> Error {
    let unit = show(unit);
    Error::new(
        ErrorKind::Encode,
        format!("the only token for {unit} is a special token, and text never becomes one"),
    )
    .hint("allow special tokens if the text is trusted")
}

/// The error of an unknown piece where the vocabulary lacks the unknown token, too.
pub(super) fn missing_unk(piece: &str, unk_token: &str) -> Error {
    let start: String = piece.chars().take(40).collect();
    if unk_token.is_empty() {
        let message = format!("{start:?} is unknown, and there is no unknown token");
        return Error::new(ErrorKind::Encode, message)
            .hint("train with an unk_token, or encode known words only");
    }
    Error::new(
        ErrorKind::Encode,
        format!("{start:?} is unknown, and so is the unknown token {unk_token:?}"),
    )
    .hint("add the unknown token to the vocabulary")
}
