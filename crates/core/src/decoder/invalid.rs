//! What becomes of tokens whose bytes are no text.

use crate::error::{Error, ErrorKind};

/// What becomes of bytes of tokens that are not UTF-8, where the text is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// They stay.
    Keep,
    /// They become U+FFFD, as many as `tokenizers` writes: one for each byte of a broken run of
    /// `<0xNN>` tokens, one for each maximal broken sequence elsewhere.
    Replace,
}

/// The error of bytes that are not UTF-8 from a position on.
pub(crate) fn not_text(byte: u8, position: usize) -> Error {
    Error::new(
        ErrorKind::Decode,
        format!("the bytes of these ids are not UTF-8: byte {byte} at position {position}"),
    )
    .hint("decode with errors=\"replace\", or decode to bytes")
}
