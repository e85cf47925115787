//! The position of a separately encoded stretch in its text: at the front, after an added token, or after
//! another part. The position decides whether the stretch gets a space in front.

use jeton_text::text::AlignedText;

/// The position in its text of a stretch that is encoded separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the front of its text.
    First,
    /// After an added token.
    Section,
    /// After another part; see [`Compiled::split_point`](super::Compiled::split_point).
    Inner,
}

/// How the positions of a text's tokens are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spanning {
    /// By the lengths of tokens, which spell the text.
    Lengths,
    /// Chunk by chunk, each beginning with a space and the same wherever it is.
    Chunks,
    /// By the pieces that all stages make of the whole text.
    Pieces,
}

/// A stretch of text without added tokens.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'t> {
    /// The stretch.
    pub text: &'t str,
    /// Where it begins in its text.
    pub place: Place,
    /// Whether its text, or the part of it, ends with the stretch, and not an added token after it.
    pub is_last: bool,
    /// Whether it went through the normalizer.
    pub is_normalized: bool,
}

impl<'t> Stretch<'t> {
    /// All of a text, or of a part of one.
    pub fn whole(text: &'t str, place: Place) -> Self {
        Self {
            text,
            place,
            is_last: true,
            is_normalized: false,
        }
    }

    /// A stretch of a text, or of a part of one, whose own place is `place`.
    pub fn of(stretch: &'t AlignedText, place: Place, is_normalized: bool) -> Self {
        Self {
            text: stretch.as_str(),
            place: if stretch.is_first() {
                place
            } else {
                Place::Section
            },
            is_last: stretch.is_last(),
            is_normalized,
        }
    }
}
