//! Training: from a corpus to word counts, and from these to a vocabulary; a folder a trainer.
//!
//! `trainer` is what the trainers have in common, `pieces` and `sentencepiece` what SentencePiece's
//! have: the former before, the latter around what `unigram` and `bpe` learn.

pub mod bpe;
mod checks;
pub mod corpus;
pub mod pieces;
pub mod sentencepiece;
mod trainer;
pub mod unigram;
pub mod word_counts;
pub mod word_level;
pub mod wordpiece;

pub use self::trainer::{Phase, Progress, Trainer, Watch};
