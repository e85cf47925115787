//! The core of jeton: text to token ids and back, without Python and without a network.
//!
//! ```text
//! encode   text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─ post-processor ─▶ ids (and spans, masks)
//! train    corpus ─ normalizer ─ pre-tokenizer ─▶ word counts ─ trainer ─▶ model
//! decode   ids ─▶ token bytes ─ decoder ─▶ text
//! ```
//!
//! This crate re-exports the modules of the others; each crate uses only those above it:
//!
//! - `jeton-text`: [`text`] with the origin of each of its bytes, [`pattern`]s, [`files`], [`error`]s,
//!   [`interrupt`]s, [`function`]s of the caller, [`printable`] bytes, [`scripts`], [`room`] in memory;
//! - `jeton-stages`: [`added_tokens`], [`normalizer`], [`pre_tokenizer`], [`vocab`], [`post_processor`],
//!   [`decoder`]; [`encoding`], the result; [`published_ranks`];
//! - `jeton-models`: [`model`], a definition of each, and [`stages`], all stages of a tokenizer;
//! - `jeton-formats`: [`format`](mod@format), which reads and writes stages, and
//!   [`special_token_roles`];
//! - `jeton-training`: [`train`], which turns a corpus into a model;
//! - `jeton-fast`: [`fast`], the same ids in less time.
//!
//! Its own modules: [`tokenizer`], which runs the stages in order; [`batch`] and [`token_blocks`],
//! many texts at once; [`convert`], from one kind of tokenizer to another; [`measure`], the counts from
//! which measures of tokenizers are computed.
//!
//! Long work can be stopped by [`interrupt`].
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

pub mod batch;
pub mod convert;
pub mod measure;
pub mod token_blocks;
pub mod tokenizer;

pub use jeton_fast as fast;
pub use jeton_formats as format;
pub use jeton_formats::special_token_roles;
pub use jeton_models::{model, stages};
pub use jeton_stages::{
    added_tokens, decoder, encoding, normalizer, post_processor, pre_tokenizer, published_ranks,
    vocab,
};
pub use jeton_text::mem::room;
pub use jeton_text::{error, files, function, interrupt, pattern, printable, scripts, text};
pub use jeton_training as train;

pub use jeton_models::Stages;
pub use jeton_text::{Error, ErrorKind, InvalidUtf8, Result, Unit, initialize_libraries};
pub use tokenizer::{
    CountedText, DecodeOptions, DecodeStream, EncodeOptions, EncodeStream, Entry, Input, Skipped,
    StopRules, Stopped, Tokenizer, UnknownIds,
};
