//! Which stages the byte-level strategy accepts: a model whose tokens are bytes, text that is only split.

use crate::unsupported_stage::UnsupportedStage;
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::superwords::WordModel;
use jeton_models::model::{Bpe, Model, Superwords};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Form;
use jeton_stages::split::splitter::Splitter;

/// The stages of a byte-level BPE, as far as the strategy needs them.
pub(super) struct Accepted<'s> {
    pub bpe: &'s Bpe,
    /// Where the model joins words.
    pub superwords: Option<&'s Superwords>,
    pub form: Option<Form>,
    pub prefix_space: bool,
    pub splitter: Splitter,
}

impl<'s> Accepted<'s> {
    /// # Errors
    /// The stage that is no part of a byte-level BPE.
    pub fn of(stages: &'s Stages) -> Result<Self, UnsupportedStage> {
        let cannot = |why| UnsupportedStage::model(&stages.model, why);
        let (bpe, superwords) = match &stages.model {
            Model::Bpe(bpe) => (bpe, None),
            Model::Superwords(model) => match model.words() {
                WordModel::Bpe(bpe) => (bpe, Some(&**model)),
                WordModel::PickyBpe(_) => return Err(cannot("words have deletions")),
            },
            _ => return Err(cannot("not BPE")),
        };
        if bpe.options().alphabet != Alphabet::Bytes {
            return Err(cannot("merges characters, not bytes"));
        }
        if !bpe.merges_bytes_only() {
            return Err(cannot("marks parts of words by a prefix or suffix"));
        }
        if !(0..=u8::MAX).all(|byte| bpe.vocab().text_id(&[byte]).is_some()) {
            return Err(cannot("has no token for some byte"));
        }
        let form = match (stages.normalizer.as_ref()).filter(|it| !it.changes_nothing()) {
            Some(normalizer) => Some(Form::of(normalizer).ok_or_else(|| {
                UnsupportedStage::normalizer(
                    Some(normalizer),
                    "does not bring text into a Unicode form",
                )
            })?),
            None => None,
        };
        let pre_tokenizer = stages.pre_tokenizer.as_ref();
        let pattern = superwords.map(Superwords::pattern);
        if pattern.is_some() && pre_tokenizer.is_some() {
            let why = "splits text in front of a model that splits it itself";
            return Err(UnsupportedStage::pre_tokenizer(pre_tokenizer, why));
        }
        let Some(cut) = pattern.or(pre_tokenizer) else {
            let why = "a text is one word, whose tokens no cache knows";
            return Err(UnsupportedStage::pre_tokenizer(None, why));
        };
        let prefix_space = cut.facts().adds_prefix_space;
        let splitter = if prefix_space {
            Splitter::of(&cut.without_prefix_space())
        } else {
            Splitter::of(cut)
        };
        let splitter = splitter.ok_or_else(|| {
            let why =
                "does not only split, drops text, or needs a pattern that no automaton can run";
            UnsupportedStage::pre_tokenizer(pre_tokenizer, why)
        })?;
        Ok(Self {
            bpe,
            superwords,
            form,
            prefix_space,
            splitter,
        })
    }
}
