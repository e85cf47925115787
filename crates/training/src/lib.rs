//! From a corpus to word counts, and from word counts to a model; a folder per trainer.
//!
//! ```
//! use std::ops::ControlFlow;
//! use jeton_training::Trainer;
//! use jeton_training::pieces::PieceOptions;
//! use jeton_training::unigram::UnigramPieces;
//! use jeton_training::word_counts::WordCounts;
//!
//! let words = WordCounts::from_words([("▁low", 5), ("▁lower", 2), ("▁newest", 6)]);
//! let options = PieceOptions { pieces: 12, ..PieceOptions::default() };
//! let trainer = UnigramPieces { options, ..UnigramPieces::default() };
//! let pieces = trainer.train(&words, |_| ControlFlow::Continue(()))?;
//! assert_eq!(pieces.len(), 12);
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! - [`corpus`]: files to texts, in parallel, from any starting point;
//! - [`word_counts`]: texts to counted words, in bounded memory;
//! - [`Trainer`], the interface of all trainers, and the trainers: [`bpe`], [`wordpiece`], [`unigram`],
//!   [`word_level`];
//! - [`pieces`] and [`sentencepiece`], which SentencePiece's BPE and Unigram share: the first for
//!   the learning, the second for the steps before and after it;
//! - `checks` of parameters, and `sorting` that can be interrupted, for several trainers.

pub mod bpe;
mod checks;
pub mod corpus;
pub mod pieces;
pub mod sentencepiece;
mod sorting;
mod trainer;
pub mod unigram;
pub mod word_counts;
pub mod word_level;
pub mod wordpiece;

pub use self::trainer::{Phase, Progress, Trainer, Watch};
