//! What decoders do with bytes that are not UTF-8.

/// How a decoder treats bytes that are still not UTF-8 when it has all tokens of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// They stay.
    Keep,
    /// They become U+FFFD, as many as `tokenizers` writes: one for each byte of a broken run of
    /// `<0xNN>` tokens, one for each maximal broken sequence elsewhere.
    Replace,
}
