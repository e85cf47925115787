//! Shared by tests of the core: random texts and tokenizers, and the checks that the fast path equals the
//! stages.
//!
//! Look here first when you add a stage: the lists from which tokenizers are drawn are in these files.

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

/// How many rounds a random test makes: a share of the usual number, where `JETON_ROUNDS` says so.
pub fn rounds(usual: usize) -> usize {
    let share = std::env::var("JETON_ROUNDS").map(|it| it.parse().expect("a number"));
    (usual as f64 * share.unwrap_or(1.0)).ceil() as usize
}
