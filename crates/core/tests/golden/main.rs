//! The tables of `testdata` that a stage has its answers in: what Hugging Face `tokenizers` gives.
//! A file a table. Those of models and of training are run beside their code.

mod added_tokens;
mod decoders;
mod normalizers;
mod pre_tokenizers;
