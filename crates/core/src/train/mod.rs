//! Training: from a corpus to word counts, and from these to a vocabulary; a folder a trainer.

pub mod bpe;
pub mod corpus;
pub(crate) mod special_tokens;
pub mod unigram;
pub mod word_counts;
pub mod word_level;
pub mod wordpiece;
