//! What tests of the core share: random texts and tokenizers, and the checks that hold the fast path
//! equal to the stages.
//!
//! Look here first when a stage is new: the lists from which tokenizers are drawn are in these files.

#![allow(dead_code, reason = "each test takes some of it")]

pub mod byte_level;
pub mod check;
pub mod published;
pub mod sentencepiece;
pub mod spaced;
pub mod spans;
pub mod special;
pub mod texts;
pub mod words;
