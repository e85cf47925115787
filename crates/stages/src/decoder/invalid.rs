//! What decoders do with tokens whose bytes are not UTF-8.

/// What becomes of bytes of tokens that are not UTF-8, where the text is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// They stay.
    Keep,
    /// They become U+FFFD, as many as `tokenizers` writes: one for each byte of a broken run of
    /// `<0xNN>` tokens, one for each maximal broken sequence elsewhere.
    Replace,
}
