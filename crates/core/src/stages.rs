//! The stages that a tokenizer is made of, before they are one.
//!
//! Formats read and write them; the tokenizer runs them in order; the compiled path looks through
//! them for what it can do faster.

use serde::{Deserialize, Serialize};

use crate::added_tokens::AddedToken;
use crate::decoder::Decoder;
use crate::model::Model;
use crate::normalizer::Normalizer;
use crate::post_processor::PostProcessor;
use crate::pre_tokenizer::PreTokenizer;

/// The stages of a tokenizer, as they are put together and taken apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// Tokens found by their spelling, before any other stage.
    pub added_tokens: Vec<AddedToken>,
    /// What happens to text first.
    pub normalizer: Option<Normalizer>,
    /// Where text is cut.
    pub pre_tokenizer: Option<PreTokenizer>,
    /// From pieces to tokens.
    pub model: Model,
    /// The special tokens around a text.
    pub post_processor: Option<PostProcessor>,
    /// From tokens back to text.
    pub decoder: Option<Decoder>,
    /// The truncation that the file asks for, as JSON text. Truncation is an argument of a call:
    /// encoding does not read this, it is kept for the caller and for writing the file again.
    pub truncation: Option<String>,
    /// The padding that the file asks for, as JSON text; kept as `truncation` is.
    pub padding: Option<String>,
}

impl Stages {
    /// A model and nothing around it.
    pub fn of_model(model: Model) -> Self {
        Self {
            added_tokens: Vec::new(),
            normalizer: None,
            pre_tokenizer: None,
            model,
            post_processor: None,
            decoder: None,
            truncation: None,
            padding: None,
        }
    }
}

/// A stage, of one of several kinds.
pub(crate) trait Kind {
    /// What a `tokenizer.json` calls its kind.
    fn kind(&self) -> &'static str;
}

macro_rules! kinds_of {
    ($($stage:ty),*) => {$(
        impl Kind for $stage {
            fn kind(&self) -> &'static str {
                <$stage>::kind(self)
            }
        }
    )*};
}

kinds_of!(Normalizer, PreTokenizer, PostProcessor, Decoder);
