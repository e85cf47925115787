//! Why a strategy does not accept a tokenizer: the stage that it cannot speed up, and the reason.

use std::fmt;

use jeton_models::model::Model;
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::pre_tokenizer::PreTokenizer;

/// A stage of a tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageName {
    /// The added tokens.
    AddedTokens,
    /// The normalizer.
    Normalizer,
    /// The pre-tokenizer.
    PreTokenizer,
    /// The model.
    Model,
    /// The post-processor.
    PostProcessor,
}

impl StageName {
    /// The name of the stage, as messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddedTokens => "added tokens",
            Self::Normalizer => "normalizer",
            Self::PreTokenizer => "pre-tokenizer",
            Self::Model => "model",
            Self::PostProcessor => "post-processor",
        }
    }
}

/// A stage because of which a strategy does not accept a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedStage {
    /// Which stage.
    pub stage: StageName,
    /// What a `tokenizer.json` calls its kind, or that of the step of a sequence that matters; none if
    /// the tokenizer does not have the stage.
    pub kind: Option<&'static str>,
    /// What is wrong with it, as the end of a sentence that begins with the stage.
    pub why: &'static str,
}

impl UnsupportedStage {
    /// A normalizer, or a step of one, that is in the way.
    pub(super) fn normalizer(normalizer: Option<&Normalizer>, why: &'static str) -> Self {
        Self {
            stage: StageName::Normalizer,
            kind: normalizer.map(Normalizer::kind),
            why,
        }
    }

    /// A pre-tokenizer that is in the way.
    pub(super) fn pre_tokenizer(pre_tokenizer: Option<&PreTokenizer>, why: &'static str) -> Self {
        Self {
            stage: StageName::PreTokenizer,
            kind: pre_tokenizer.map(PreTokenizer::kind),
            why,
        }
    }

    /// Added tokens of which some are looked for in normalized text.
    pub fn normalized_added_tokens() -> Self {
        Self {
            stage: StageName::AddedTokens,
            kind: Some("normalized"),
            why: "looked for in normalized text, and the strategy takes the original",
        }
    }

    /// A post-processor that is in the way.
    pub fn post_processor(post_processor: Option<&PostProcessor>) -> Self {
        Self {
            stage: StageName::PostProcessor,
            kind: post_processor.map(PostProcessor::kind),
            why: "does something other than put tokens around a text",
        }
    }

    /// A model that is in the way.
    pub(super) fn model(model: &Model, why: &'static str) -> Self {
        Self {
            stage: StageName::Model,
            kind: Some(model.kind()),
            why,
        }
    }
}

impl fmt::Display for UnsupportedStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{} {kind}: {}", self.stage.name(), self.why),
            None => write!(f, "no {}: {}", self.stage.name(), self.why),
        }
    }
}

/// Checks that a word has the same tokens wherever it is, which is what a cache of words needs.
///
/// # Errors
/// The model, if its tokens may depend on chance or on what is next to a word.
pub(super) fn caches_words(stages: &Stages) -> Result<(), UnsupportedStage> {
    let why = match &stages.model {
        Model::Characters(_) => {
            "turns each character into a token, so there is nothing to remember"
        }
        Model::SentencePiece(_) | Model::LongestMatch(_) => "reads a text whole, not word by word",
        Model::Bpe(_)
        | Model::PickyBpe(_)
        | Model::WordLevel(_)
        | Model::WordPiece(_)
        | Model::Unigram(_) => return Ok(()),
    };
    Err(UnsupportedStage::model(&stages.model, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_in_the_way_is_named_with_the_reason() {
        let step = UnsupportedStage::normalizer(Some(&Normalizer::Lowercase), "changes text");
        assert_eq!(step.to_string(), "normalizer Lowercase: changes text");
        let none = UnsupportedStage::pre_tokenizer(None, "a text is one word");
        assert_eq!(none.to_string(), "no pre-tokenizer: a text is one word");
    }
}
