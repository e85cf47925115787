//! Withheld tokens of a byte pair encoding, which are never found in text, and text that has no token
//! without them.

use super::{Alphabet, Bpe};
use jeton_text::mem::lazy::Lazy;

impl Bpe {
    /// See [`Model::withhold`](crate::model::Model::withhold). No merge makes such a token either.
    pub(crate) fn withhold(&mut self, ids: &[u32]) {
        let before = self.vocab.withheld().clone();
        self.vocab.withhold(ids);
        if *self.vocab.withheld() != before {
            self.pairs = Lazy::new();
            self.derived = Lazy::new();
        }
    }

    /// Whether there may be a unit that only a withheld token spells, and there is no unknown token: text
    /// with such a unit is an error.
    pub fn refuses_some_units(&self) -> bool {
        let may_be_unit = |id: u32| {
            let token = self.vocab.token(id).unwrap_or_default();
            let [prefix, suffix] = self.marks();
            let bare = token.strip_prefix(prefix).unwrap_or(token);
            [token, bare].into_iter().any(|token| {
                let bare = token.strip_suffix(suffix).unwrap_or(token);
                [token, bare].into_iter().any(|unit| self.is_unit(unit))
            })
        };
        let withheld = self.vocab.withheld().ids();
        self.options.unk_token.is_none() && withheld.into_iter().any(may_be_unit)
    }

    /// Whether this is one byte or one character, as the alphabet has it.
    fn is_unit(&self, bytes: &[u8]) -> bool {
        match self.options.alphabet {
            Alphabet::Bytes => bytes.len() == 1,
            Alphabet::Characters => {
                std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1)
            }
        }
    }

    /// What is put before units but the first, and after the last one.
    fn marks(&self) -> [&[u8]; 2] {
        let options = &self.options;
        [
            &options.continuing_subword_prefix,
            &options.end_of_word_suffix,
        ]
        .map(|mark| mark.as_deref().unwrap_or_default().as_bytes())
    }
}
