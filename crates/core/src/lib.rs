//! The core of jeton: text to token ids and back, without Python and without a network.
//!
//! ```text
//! encode   text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─ post-processor ─▶ ids (and spans, masks)
//! train    corpus ─ normalizer ─ pre-tokenizer ─▶ word counts ─ trainer ─▶ model
//! decode   ids ─▶ token bytes ─ decoder ─▶ text
//! ```
//!
//! The modules in the order text meets them: [`text`], which knows where each of its bytes came
//! from; [`added_tokens`], [`normalizer`], [`pre_tokenizer`] with [`pattern`], [`model`],
//! [`post_processor`] and [`encoding`]; and back through [`decoder`]. Put together they are
//! [`stages`], and [`tokenizer`] alone knows their order; [`compiled`] does the same faster for tokenizers that it knows. Training reads a
//! [`corpus`] into [`word_counts`]. [`format`](mod@format) reads and writes tokenizers. Long work is ended by
//! [`interrupt`].
//!
//! ```
//! use jeton_core::model::{Bpe, Model, Vocab};
//! use jeton_core::{EncodeOptions, Stages, Tokenizer};
//!
//! let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
//! let tokens = bytes.chain([b"in".to_vec(), b"ra".to_vec(), b"rain".to_vec()]);
//! let bpe = Bpe::by_ranks(Vocab::new(tokens.zip(0..))?)?;
//! let tokenizer = Tokenizer::new(Stages::of_model(Model::Bpe(bpe)))?;
//!
//! let encoding = tokenizer.encode("brain", None, &EncodeOptions::default())?;
//! assert_eq!(encoding.ids, [98, 258]);
//! assert_eq!((encoding.spans[1].start, encoding.spans[1].end), (1, 5));
//! # Ok::<(), jeton_core::Error>(())
//! ```

pub mod added_tokens;
pub mod batch;
pub mod compiled;
pub mod corpus;
pub mod decoder;
pub mod encoding;
pub mod error;
pub mod format;
mod growth;
pub mod interrupt;
mod large_pages;
mod lazy;
pub mod model;
pub mod normalizer;
pub mod pattern;
pub mod post_processor;
pub mod pre_tokenizer;
pub mod printable;
pub mod roles;
pub mod scripts;
pub mod stages;
pub mod text;
mod threads;
pub mod token_blocks;
pub mod token_counter;
pub mod tokenizer;
pub mod unicode_words;
pub mod word_counts;

pub use error::{Error, ErrorKind, Result};
pub use stages::Stages;
pub use text::Unit;
pub use threads::initialize_libraries;
pub use tokenizer::{
    DecodeStream, EncodeOptions, EncodeStream, Entry, Input, OnInvalid, Tokenizer,
};
