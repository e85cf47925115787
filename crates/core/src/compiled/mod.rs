//! The compiled path: only ids, as fast as the machine allows, for tokenizers whose stages it knows.

pub mod scanner;
