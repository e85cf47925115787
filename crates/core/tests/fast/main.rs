//! The fast path against the stages: the same ids, counts and spans, for every tokenizer and text.
//! A file a family.

mod byte_level;
mod cached_pieces;
mod metaspace;
mod missing_bytes;
mod parts;
mod published;
mod sentencepiece;
mod spans;
mod whitespace_words;

#[path = "../support/mod.rs"]
mod support;
