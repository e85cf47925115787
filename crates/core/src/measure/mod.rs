//! Counts that measures of tokenizers are computed from: words of a text, tokens of a vocabulary.

pub mod text_file;
pub mod text_parts;
pub mod token_counter;
pub mod unicode_words;
