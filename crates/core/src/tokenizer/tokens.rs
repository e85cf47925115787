//! Facts about a tokenizer's tokens: ids and bytes.

use super::Tokenizer;
use jeton_models::model::Model;

impl Tokenizer {
    /// The largest id, of the vocabulary or of an added token.
    pub fn max_id(&self) -> Option<u32> {
        let added = self.stages.added_tokens.last().map(|token| token.id);
        added.max(self.stages.model.vocab().max_id())
    }

    /// All ids that have a token, of the model or added, rising. Two may have the same bytes.
    pub fn token_ids(&self) -> Vec<u32> {
        let own = self.stages.model.vocab().iter().map(|(_, id)| id);
        let mut ids: Vec<u32> = own.collect();
        ids.extend(self.stages.added_tokens.iter().map(|token| token.id));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The id of unknown text, if the model has one.
    pub fn unknown_id(&self) -> Option<u32> {
        let named = |token: &str| self.bytes_to_id(token.as_bytes());
        match &self.stages.model {
            Model::Bpe(model) => model.options().unk_token.as_deref().and_then(named),
            Model::WordLevel(model) => named(model.unk_token()),
            Model::WordPiece(model) => named(model.unk_token()),
            Model::Unigram(model) => model.unk_id(),
            Model::Characters(model) => model.unk_id(),
            Model::SentencePiece(model) => model.unk_id(),
            Model::LongestMatch(_) | Model::PickyBpe(_) => None,
        }
    }

    /// The id of the token with these bytes: of the added tokens first, then of the vocabulary.
    pub fn bytes_to_id(&self, token: &[u8]) -> Option<u32> {
        self.stages.bytes_to_id(token)
    }

    /// The bytes of an id in the vocabulary or among the added tokens.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        match self.added_tokens.by_id(id) {
            Some(token) => Some(token.content.as_bytes()),
            None => self.stages.model.vocab().token(id),
        }
    }
}
