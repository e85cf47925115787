//! Files of tokenizers: read, written, converted, and damaged.

mod conversions;
mod formats;
mod hostile_files;
mod huggingface;

#[path = "../support/mod.rs"]
mod support;
