//! The files of tokenizers, read into stages and written from them; a file or a folder per format.
//!
//! Each knows the conventions by which its format stores tokens; past this crate, tokens are bytes.
//!
//! ```
//! use jeton_formats::wordpiece;
//!
//! let stages = wordpiece::read(b"[UNK]\nun\n##aff\n##able\n", None)?;
//! assert_eq!(stages.model.vocab().id(b"##able"), Some(3));
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! - [`load`] recognizes a format by content and reads it; [`Target`] is what can be written;
//! - [`huggingface`], [`tiktoken`], [`gpt2`], [`gguf`], [`sentencepiece`], [`wordpiece`]: the formats;
//! - [`snapshot`]: the compact image that pickling uses;
//! - [`special_token_roles`]: which special token of a file is for what;
//! - [`cannot_hold`]: the errors for what a format cannot hold.

pub mod cannot_hold;
pub mod gguf;
pub mod gpt2;
pub mod huggingface;
pub mod llama2c;
mod load;
mod plain_bpe;
pub mod sentencepiece;
pub mod snapshot;
mod sniff;
pub mod special_token_roles;
mod target;
pub mod tekken;
pub mod tiktoken;
pub mod wordpiece;

pub use load::merges_path_for;
pub use load::{LoadOptions, Loaded, gguf_metadata, load};
pub use target::Target;
