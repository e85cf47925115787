//! Tokenizer files, read into stages and written from them; a file or a folder per format.
//!
//! Each knows the conventions by which its format stores tokens; outside of this crate, tokens are bytes.
//!
//! ```
//! use jeton_formats::wordpiece;
//!
//! let stages = wordpiece::read(b"[UNK]\nun\n##aff\n##able\n", None)?;
//! assert_eq!(stages.model.vocab().id(b"##able"), Some(3));
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! - [`load()`] recognizes a format by content (`sniff`) and reads it; [`Target`] is what can be written;
//! - the formats: [`huggingface`], [`tiktoken`], [`tekken`], [`gpt2`], [`sentencepiece`], [`llama2c`],
//!   [`wordpiece`], [`gguf`];
//! - [`snapshot`]: the compact image that pickling uses;
//! - [`special_token_roles`]: which special token begins a text, ends it, pads it, …;
//! - [`cannot_hold`]: the errors for what a format cannot hold; `plain_bpe`: the tokenizers that ranks and
//!   GPT-2's pair can hold.

pub mod cannot_hold;
pub mod gguf;
pub mod gpt2;
pub mod huggingface;
pub mod llama2c;
mod load;
mod other_files;
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
pub use load::{LoadOptions, Loaded, gguf_metadata, load, load_bytes};
pub use target::Target;
