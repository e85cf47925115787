//! The parts of a tokenizer that a file format cannot hold: how they are found, and what the error says.

use jeton_models::stages::{StageKind, Stages};
use jeton_text::error::{Error, ErrorKind};

/// The name of a `tokenizer.json` in messages.
pub const TOKENIZER_JSON: &str = "tokenizer.json";

/// The name of a `.model` file in messages.
pub const MODEL_FILE: &str = "a SentencePiece model";

/// The error for a part that a format has no place for.
pub fn cannot_hold(format: &str, what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("{format} cannot hold {what}"),
    )
}

/// A part of a tokenizer that a format may not be able to hold. Truncation and padding are reported
/// elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Tokens beside those of the model.
    AddedTokens,
    /// What changes text before it is split.
    Normalizer,
    /// What splits text.
    PreTokenizer,
    /// What turns pieces into tokens.
    Model,
    /// What frames ids.
    PostProcessor,
    /// What turns tokens into text.
    Decoder,
}

impl Part {
    /// How messages call this part of a tokenizer.
    pub fn of(self, stages: &Stages) -> String {
        match self {
            Self::AddedTokens => "these added tokens".to_owned(),
            Self::Normalizer => stage("normalizer", stages.normalizer.as_ref()),
            Self::PreTokenizer => stage("pre-tokenizer", stages.pre_tokenizer.as_ref()),
            Self::Model => "these options of the model".to_owned(),
            Self::PostProcessor => stage("post-processor", stages.post_processor.as_ref()),
            Self::Decoder => stage("decoder", stages.decoder.as_ref()),
        }
    }
}

/// The parts of `given` that are others in `held`, which is the tokenizer that the file would hold.
pub fn parts_not_held(given: &Stages, held: &Stages) -> impl Iterator<Item = Part> {
    let parts = [
        (Part::AddedTokens, given.added_tokens == held.added_tokens),
        (Part::Normalizer, given.normalizer == held.normalizer),
        (
            Part::PreTokenizer,
            given.pre_tokenizer == held.pre_tokenizer,
        ),
        (Part::Model, given.model == held.model),
        (
            Part::PostProcessor,
            given.post_processor == held.post_processor,
        ),
        (Part::Decoder, given.decoder == held.decoder),
    ];
    parts
        .into_iter()
        .filter_map(|(part, is_kept)| (!is_kept).then_some(part))
}

/// A stage as messages call it: what it is, and of which kind.
pub fn stage<T: StageKind>(what: &str, value: Option<&T>) -> String {
    match value {
        Some(value) => format!("the {what} {}", value.kind()),
        None => format!("a tokenizer without a {what}"),
    }
}
