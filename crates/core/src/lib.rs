//! The core of jeton: text to token ids and back, without Python and without a network.
//!
//! ```text
//! encode   text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─ post-processor ─▶ ids (and spans, masks)
//! train    corpus ─ normalizer ─ pre-tokenizer ─▶ word counts ─ trainer ─▶ model
//! decode   ids ─▶ token bytes ─ decoder ─▶ text
//! ```
//!
//! The modules, in the order text meets them:

pub mod added_tokens;
pub mod compiled;
pub mod corpus;
pub mod decoder;
pub mod encoding;
pub mod error;
pub mod format;
pub mod model;
pub mod normalizer;
pub mod pattern;
pub mod post_processor;
pub mod pre_tokenizer;
pub mod printable;
pub mod text;
pub mod tokenizer;
pub mod word_counts;

pub use error::{Error, ErrorKind, Result};
pub use tokenizer::{EncodeOptions, OnInvalid, Stages, Tokenizer, Unit};
