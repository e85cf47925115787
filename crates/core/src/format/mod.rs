//! File formats: how tokenizers are read and written.
//!
//! One file a format. Each knows the conventions that the format stores tokens by; past this
//! module, tokens are bytes.

pub(crate) mod cannot_hold;
pub mod gpt2;
pub mod huggingface;
mod load;
mod plain_bpe;
pub mod sentencepiece;
pub mod snapshot;
mod sniff;
mod target;
pub mod tiktoken;
pub mod wordpiece;

pub(crate) use load::merges_path_for;
pub use load::{LoadOptions, Loaded, load};
pub use target::Target;
