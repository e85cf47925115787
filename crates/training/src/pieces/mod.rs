//! SentencePiece's pieces: what its two ways to learn them share.
//!
//! `rules` says which strings may be pieces, `alphabet` which characters must be; `fragments` splits words
//! where no piece can cross; `parameters` has what can be set. The learning itself is in `unigram` and
//! `bpe/pieces.rs`, and what comes before and after it in `sentencepiece.rs`.

mod alphabet;
mod boundaries;
mod fragments;
mod parameters;
mod rules;

pub(super) use self::alphabet::Alphabet;
pub(super) use self::fragments::{END, Fragments};
pub use self::parameters::PieceOptions;
pub(super) use self::rules::Class;
pub use self::rules::PieceRules;

/// A piece and its score; pieces with greater scores are preferred.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPiece {
    /// How it is spelled, with `▁` for a space.
    pub text: String,
    /// The logarithm of its probability, or how early it was merged.
    pub score: f64,
}
