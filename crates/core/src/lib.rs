//! The core of jeton: text to token ids and back, without Python and without a network.
//!
//! ```text
//! encode   text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─ post-processor ─▶ ids (and spans, masks)
//! train    corpus ─ normalizer ─ pre-tokenizer ─▶ word counts ─ trainer ─▶ model
//! decode   ids ─▶ token bytes ─ decoder ─▶ text
//! ```
//!
//! The modules from the ground up; each uses only those before it:
//!
//! - ground: [`error`], `mem`, `log`, [`interrupt`], `threads`, `nesting_limit`, `length_limit`,
//!   [`files`]; [`printable`], [`scripts`], [`published_ranks`] and `simd`, which need nothing else;
//! - [`text`], which knows where each of its bytes came from, and [`encoding`], what a text becomes;
//!   [`pattern`]; [`vocab`] and `tables`, tokens and how they are found;
//! - the stages around the model: [`normalizer`], [`pre_tokenizer`], [`added_tokens`],
//!   [`post_processor`], [`decoder`];
//! - `split`, which cuts fast, and `merge`, which merges fast; [`model`], the meaning of each model;
//! - [`stages`], all of them put together, and the order of those before the model;
//!   [`special_token_roles`], which special token is for what; [`format`](mod@format), which reads and
//!   writes stages; [`train`], which makes a model of a corpus;
//! - [`fast`], the same ids in less time for the stages that it knows; [`tokenizer`], which
//!   runs the stages in order; [`batch`] and [`token_blocks`], many texts at once;
//! - [`convert`], from one kind of tokenizer to another; [`measure`].
//!
//! Long work is ended by [`interrupt`].
//!
//! ```
//! use jeton_core::model::{Bpe, Model};
//! use jeton_core::vocab::Vocab;
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
pub mod convert;
pub mod decoder;
pub mod encoding;
pub mod error;
pub mod fast;
pub mod files;
pub mod format;
pub mod function;
pub mod interrupt;
mod length_limit;
mod log;
pub mod measure;
mod mem;
mod merge;
pub mod model;
mod nesting_limit;
pub mod normalizer;
pub mod pattern;
pub mod post_processor;
pub mod pre_tokenizer;
pub mod printable;
pub mod published_ranks;
pub mod scripts;
mod simd;
pub mod special_token_roles;
mod split;
pub mod stages;
mod tables;
pub mod text;
mod threads;
pub mod token_blocks;
pub mod tokenizer;
pub mod train;
pub mod vocab;

pub use error::{Error, ErrorKind, Result};
pub use stages::Stages;
pub use text::{InvalidUtf8, Unit};
pub use tokenizer::{DecodeStream, EncodeOptions, EncodeStream, Entry, Input, Tokenizer};

/// Initializes the libraries that do so behind a lock of the process when they are first used. A child
/// that is forked while another thread holds such a lock waits for it forever, so whoever may fork
/// calls this before there are other threads; everything else is made without a lock (`mem::lazy`).
pub fn initialize_libraries() {
    pattern::Expression::initialize();
    // The seed of all hash tables.
    foldhash::fast::RandomState::default();
}
