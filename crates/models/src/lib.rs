//! The models, each by its definition, and all stages of a tokenizer as data.
//!
//! Look here for how a word becomes tokens: by merges, by the best sum of scores, by the longest match.
//!
//! ```
//! use jeton_models::Stages;
//! use jeton_models::model::{Bpe, Model};
//! use jeton_stages::vocab::Vocab;
//!
//! let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
//! let bpe = Bpe::by_ranks(Vocab::new(bytes.chain([b"in".to_vec()]).zip(0..))?)?;
//! let stages = Stages::of_model(Model::Bpe(bpe));
//! assert_eq!(stages.model.vocab().id(b"in"), Some(256));
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! - [`stages`]: all stages as plain data, and the order of those before the model;
//! - [`model`]: BPE, WordPiece, Unigram, whole words, characters, the longest match, SentencePiece and its
//!   file;
//! - [`merge`]: merges found by their pair, and queues of pairs, for the models and the fast path.

pub mod merge;
pub mod model;
pub mod stages;

pub use stages::Stages;
