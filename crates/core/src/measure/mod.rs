//! What measures of tokenizers are computed from: words of a text, counts of tokens, lines that decoding
//! does not return.

pub mod counting;
pub mod short_texts;
pub mod text_file;
pub mod text_parts;
pub mod token_counter;
pub mod unicode_words;
