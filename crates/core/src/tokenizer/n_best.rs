//! The best segmentations of a text, for models that have more than one.

use super::Tokenizer;
use jeton_models::model::unigram::LatticePart;
use jeton_models::model::{Model, SentencePiece, Unigram};
use jeton_models::stages::Section;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::AlignedText;

impl Tokenizer {
    /// The ids of the `size` best segmentations of a text, best first, each with its score. Text
    /// never becomes a control piece.
    ///
    /// # Errors
    /// Any model but Unigram; of a `.model` file, added tokens or a pre-tokenizer that split text.
    pub fn n_best(&self, text: &str, size: usize) -> Result<Vec<(Vec<u32>, f64)>> {
        if let Model::Unigram(model) = &self.stages.model {
            return self.n_best_of_parts(model, text, size);
        }
        if !matches!(&self.stages.model, Model::SentencePiece(_)) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "a {} model knows one segmentation of a text only; n-best needs a Unigram",
                    self.stages.model.kind()
                ),
            ));
        }
        let model = self.sentencepiece("n-best")?;
        let mut text = AlignedText::original(text);
        if let Some(normalizer) = &self.stages.normalizer {
            normalizer.normalize(&mut text)?;
        }
        let best = model.n_best(text.as_str(), size)?.into_iter();
        Ok(best
            .map(|(tokens, score)| {
                let ids = tokens.iter().map(|token| token.id).collect();
                (ids, f64::from(score))
            })
            .collect())
    }

    /// The model of a `.model` file, if nothing else splits text.
    pub(super) fn sentencepiece(&self, wanted: &str) -> Result<&SentencePiece> {
        match &self.stages.model {
            Model::SentencePiece(model)
                if self.stages.pre_tokenizer.is_none()
                    && self.added_tokens.finds_nothing(&SpecialPolicy::Ignore) =>
            {
                Ok(model)
            }
            _ => Err(Error::new(
                ErrorKind::Unsupported,
                format!("{wanted} needs a tokenizer as a SentencePiece .model file holds it"),
            )),
        }
    }

    /// text ─ added tokens ─ normalizer ─ pre-tokenizer ─▶ pieces, whose segmentations are combined
    fn n_best_of_parts(
        &self,
        model: &Unigram,
        text: &str,
        size: usize,
    ) -> Result<Vec<(Vec<u32>, f64)>> {
        let before_model = self.stages.before_model();
        let sections = before_model.sections(&self.added_tokens, text, &SpecialPolicy::Ignore)?;
        let sections = sections.collect::<Result<Vec<_>>>()?;
        let parts = sections.iter().flat_map(|section| match section {
            Section::Token(id, _) => vec![LatticePart::Token(*id)],
            Section::Pieces(pieces) => pieces
                .iter()
                .map(|piece| LatticePart::Text(piece.as_str()))
                .collect(),
        });
        model.n_best(&parts.collect::<Vec<_>>(), size)
    }
}
