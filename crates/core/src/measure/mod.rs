//! Counts that measures of tokenizers are computed from: words of a text, tokens of a vocabulary.

pub mod token_counter;
pub mod unicode_words;
