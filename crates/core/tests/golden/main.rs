//! The stages against tables of `testdata`, whose answers are those of Hugging Face `tokenizers`; one file
//! per table. The tables of models and of training are tested beside their code.

mod added_tokens;
mod decoders;
mod normalizers;
mod pre_tokenizers;
