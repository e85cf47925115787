//! SentencePiece's pieces: what both ways to learn them share.
//!
//! `rules` says which strings may be pieces, `alphabet` which characters must be, `fragments` splits
//! words where no piece can cross, and `parameters` are those of learning. Look into `unigram` and
//! `bpe/pieces.rs` for the learning, and into `sentencepiece.rs` for what comes before and after it.

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

/// A piece and its score: the greater, the sooner it is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPiece {
    /// How it is spelled, with `▁` for a space.
    pub text: String,
    /// The logarithm of its probability, or how early it was merged.
    pub score: f64,
}
