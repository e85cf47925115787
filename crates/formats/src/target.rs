//! The format of a file to be written, which its name decides.

use std::path::Path;

use jeton_models::stages::Stages;
use jeton_text::error::{Error, ErrorKind, Result};

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A folder for `transformers`.
    Folder,
    /// `tokenizer.json`.
    Json,
    /// GPT-2's `vocab.json`, with its merges beside it.
    Pair,
    /// tiktoken's ranks.
    Ranks,
    /// A SentencePiece model.
    SentencePiece,
    /// BERT's `vocab.txt`.
    VocabText,
    /// A model of llama.cpp, or its tokenizer alone.
    Gguf,
    /// Mistral's `tekken.json`.
    Tekken,
}

impl Target {
    /// What the name of `path` says: `tokenizer.json` or another `.json`, `vocab.json`, `.tiktoken`,
    /// `tekken.json`, `vocab.txt`, `.gguf`, `.model` for SentencePiece, or for ranks as Llama 3 has them. What
    /// is a folder already, ends in a separator or has no ending is a folder.
    ///
    /// # Errors
    /// A name that says no format.
    pub fn of(path: &Path, stages: &Stages) -> Result<Self> {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
        let spelled = path.as_os_str().as_encoded_bytes();
        Ok(
            if path.is_dir() || spelled.last().is_some_and(is_separator) {
                Self::Folder
            } else if name.ends_with("vocab.json") || name.ends_with("encoder.json") {
                Self::Pair
            } else if name.ends_with(".model") && !stages.model.has_raw_tokens() {
                Self::SentencePiece
            } else if name.ends_with(".tiktoken") || name.ends_with(".model") {
                Self::Ranks
            } else if name.ends_with(".gguf") {
                Self::Gguf
            } else if name.ends_with("tekken.json") {
                Self::Tekken
            } else if name.ends_with(".txt") {
                Self::VocabText
            } else if name.ends_with(".json") {
                Self::Json
            } else if path.extension().is_none() {
                Self::Folder
            } else {
                return Err(Error::new(ErrorKind::Argument, "the name does not say the format")
                .at(path.display().to_string())
                .hint(
                    "end it in .json for Hugging Face, vocab.json for a GPT-2 pair, .tiktoken for \
                     ranks, tekken.json for Mistral's, .model for SentencePiece, .txt for WordPiece or \
                     .gguf for llama.cpp; without an ending, \
                     or with a / at its end, it is a folder",
                ));
            },
        )
    }

    /// As callers name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Json => "tokenizer.json",
            Self::Pair => "vocab.json",
            Self::Ranks => "ranks",
            Self::SentencePiece => ".model",
            Self::VocabText => "vocab.txt",
            Self::Gguf => ".gguf",
            Self::Tekken => "tekken.json",
        }
    }
}
