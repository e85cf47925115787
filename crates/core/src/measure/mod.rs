//! The counts from which measures of tokenizers are computed: words of a text, tokens, and lines that
//! decoding does not return.

pub mod counting;
pub mod short_texts;
pub mod text_file;
pub mod text_parts;
pub mod token_counter;
pub mod unicode_words;
