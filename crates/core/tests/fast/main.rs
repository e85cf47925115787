//! The fast path against the stages: the same ids, counts and spans, for every tokenizer and text.
//! One file per family; `encoding_plan` tests which stages get which strategy, and `special_text` that
//! text never becomes a special token.

mod byte_level;
mod cached_pieces;
mod encoding_plan;
mod metaspace;
mod missing_bytes;
mod parts;
mod published;
mod sentencepiece;
mod spans;
mod special_text;
mod superwords;
mod whitespace_words;

#[path = "../support/mod.rs"]
mod support;
