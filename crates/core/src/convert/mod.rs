//! Conversion from one kind of tokenizer to another: exact if the meaning can be kept, otherwise
//! approximate.
//!
//! Look here for how a tokenizer is saved in another format ([`serialize`]), and for why a conversion is
//! refused.

mod approximate;
mod explanation;
mod json_to_model_file;
mod model_file_to_json;
mod save;
mod verify;

pub use approximate::{approximate_huggingface, approximate_model};
pub use json_to_model_file::from_huggingface;
pub use model_file_to_json::to_huggingface;
pub use save::{left_out_of_folder, save_gguf, serialize};

use std::borrow::Cow;

use jeton_models::model::Model;
use jeton_models::stages::Stages;
use jeton_text::error::Result;

/// The stages that a `tokenizer.json` of these is written from: those of a `.model` file converted, any
/// other as they are.
///
/// # Errors
/// As [`to_huggingface`].
pub fn for_json(stages: &Stages) -> Result<Cow<'_, Stages>> {
    Ok(match stages.model {
        Model::SentencePiece(_) => Cow::Owned(to_huggingface(stages)?),
        _ => Cow::Borrowed(stages),
    })
}

/// The stages that a GGUF is written from: a BPE of characters and a Unigram are converted to those of a
/// `.model`, any others stay as they are.
///
/// # Errors
/// As [`from_huggingface`].
pub fn for_gguf(stages: &Stages) -> Result<Cow<'_, Stages>> {
    Ok(match &stages.model {
        Model::Bpe(bpe) if !bpe.merges_bytes_only() => Cow::Owned(from_huggingface(stages)?),
        Model::Unigram(_) => Cow::Owned(from_huggingface(stages)?),
        _ => Cow::Borrowed(stages),
    })
}

/// The stages that a `.model` file of these is written from: its own as they are, any other converted.
///
/// # Errors
/// As [`from_huggingface`].
pub fn for_model_file(stages: &Stages) -> Result<Cow<'_, Stages>> {
    Ok(match stages.model {
        Model::SentencePiece(_) => Cow::Borrowed(stages),
        _ => Cow::Owned(from_huggingface(stages)?),
    })
}
