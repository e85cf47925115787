//! Whole-piece tokens: tokens that a word becomes if it is spelled like one, although its merges give
//! something else.
//!
//! With ranks, a piece that is spelled like a token is that token, and so it is for merges with
//! `ignore_merges`. Nearly all tokens are also the result of merging their bytes; this file has the others.
//! So a new piece is compared with few tokens, and pieces can be split: a part that is spelled like one of
//! these is merged separately.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::short_tokens::ShortTokens;
use jeton_models::model::Bpe;

/// The tokens that merging may not make, for models in which a piece spelled like a token is that token.
pub struct WholePieceTokens(HashMap<Box<[u8]>, u32, RandomState>);

impl WholePieceTokens {
    /// Those of `bpe`, which has these short tokens.
    pub fn of(bpe: &Bpe, short_tokens: &ShortTokens) -> Self {
        if !bpe.takes_whole_pieces() || bpe.merges_make_all_tokens() {
            return Self(HashMap::default());
        }
        let tokens = short_tokens.unmade().iter().filter_map(|&id| {
            let token = bpe.vocab().token(id)?;
            (!bpe.vocab().withheld().contains(id)).then(|| (token.into(), id))
        });
        Self(tokens.collect())
    }

    /// The token that a piece of several tokens is at once.
    pub fn token(&self, piece: &[u8]) -> Option<u32> {
        self.0.get(piece).copied()
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
