//! File formats: how tokenizers are read and written.
//!
//! One file a format. Each knows the conventions that the format stores tokens by; past this
//! module, tokens are bytes.

mod file;
pub mod gpt2;
pub mod sentencepiece;
pub mod snapshot;
mod sniff;
pub mod tiktoken;
