//! Facts about each decoder. Streams, the decode table and the tokenizer read them, so they need not know
//! which decoder it is.
//!
//! Look here when you add a decoder: it does not compile without its facts, and [`DecoderFacts::UNKNOWN`]
//! is always safe.

use super::Decoder;

/// What is true of a decoder, whatever the tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecoderFacts {
    /// What it looks at beside a token itself.
    pub context: TokenContext,
    /// It treats pieces of a SentencePiece model by their kind, not only by their spelling.
    pub knows_pieces: bool,
}

/// What a decoder looks at beside a token itself. It gives one text per token, except for `Repeats` and
/// `Others`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenContext {
    /// At most whether the token is the first.
    IsFirst,
    /// Whether the token is the last.
    IsLast,
    /// Whether the token is the first, and whether it is the last.
    Ends,
    /// Whether the token is the same as the one before, and then drops it.
    Repeats,
    /// Other tokens, or nothing is known of it.
    Others,
}

impl DecoderFacts {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        context: TokenContext::Others,
        knows_pieces: false,
    };

    const fn sees(context: TokenContext) -> Self {
        Self {
            context,
            ..Self::UNKNOWN
        }
    }

    /// Whether it rewrites tokens one by one, and only the first and the last otherwise.
    pub fn is_token_by_token(self) -> bool {
        use TokenContext::{Ends, IsFirst, IsLast};
        matches!(self.context, IsFirst | IsLast | Ends)
    }
}

impl Decoder {
    /// Its facts.
    pub fn facts(&self) -> DecoderFacts {
        match self {
            Self::WordPiece { .. }
            | Self::Metaspace { .. }
            | Self::Strip { .. }
            | Self::Replace { .. } => DecoderFacts::sees(TokenContext::IsFirst),
            Self::Bpe { .. } => DecoderFacts::sees(TokenContext::IsLast),
            Self::Ctc { .. } => DecoderFacts::sees(TokenContext::Repeats),
            Self::SentencePiece(_) => DecoderFacts {
                knows_pieces: true,
                ..DecoderFacts::UNKNOWN
            },
            Self::ByteLevel { .. } | Self::ByteFallback | Self::Fuse => DecoderFacts::UNKNOWN,
            Self::Sequence(steps) => {
                let is_token_by_token = steps.iter().all(|it| it.facts().is_token_by_token());
                DecoderFacts::sees(if is_token_by_token {
                    TokenContext::Ends
                } else {
                    TokenContext::Others
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_steps_are_those_of_all() {
        let strip = || Decoder::Strip {
            content: ' ',
            start: 1,
            stop: 0,
        };
        let facts = |steps| Decoder::Sequence(steps).facts();
        assert_eq!(strip().facts().context, TokenContext::IsFirst);
        assert!(facts(vec![strip(), strip()]).is_token_by_token());
        assert!(!facts(vec![strip(), Decoder::Fuse]).is_token_by_token());
    }
}
