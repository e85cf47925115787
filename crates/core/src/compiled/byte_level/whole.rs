//! Tokens that a piece is at once when it is spelled like one, though its merges make something else.
//!
//! Ranks take a piece that is a token for that token, and so do merges with `ignore_merges`. Nearly all
//! tokens are what merging makes of their bytes in any case; here are the others, so that a new piece is
//! looked for among few, and pieces may be parted: what is spelled like one of these is merged by itself
//! where it is only a part.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::spellings::Spellings;
use crate::model::Bpe;

/// Which tokens these are.
pub enum Whole {
    /// All that merging may not make.
    Known(HashMap<Box<[u8]>, u32, RandomState>),
    /// Any of the vocabulary.
    Unknown,
}

impl Whole {
    /// Those of `bpe`, whose short tokens these are.
    pub fn of(bpe: &Bpe, spellings: Option<&Spellings>) -> Self {
        if !bpe.takes_whole_pieces() || bpe.merges_make_all_tokens() {
            return Self::Known(HashMap::default());
        }
        let Some(spellings) = spellings else {
            return Self::Unknown;
        };
        let tokens = spellings.unmade().iter().filter_map(|&id| {
            let token = bpe.vocab().token(id)?;
            Some((token.into(), id))
        });
        Self::Known(tokens.collect())
    }

    /// The token that a piece of several tokens is at once.
    pub fn token(&self, bpe: &Bpe, piece: &[u8]) -> Option<u32> {
        match self {
            Self::Known(tokens) => tokens.get(piece).copied(),
            Self::Unknown => bpe.vocab().id(piece),
        }
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Known(tokens) if tokens.is_empty())
    }

    /// Whether all are known.
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }
}
