//! One token per character, over a closed or an open alphabet.

use serde::{Deserialize, Serialize};

use super::steps::{Observer, UnitKind};
use super::token::{Token, only_withheld};
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// One token a character, over a closed or an open alphabet.
///
/// ```
/// use jeton_models::model::{Characters, Model, Sampler, Sampling};
/// use jeton_stages::vocab::Vocab;
///
/// let vocab = Vocab::new(["e", "h", "l", "o"].into_iter().zip(0..))?;
/// let model = Model::Characters(Characters::new(vocab, None)?);
/// let mut sampler = Sampler::new(Sampling::default());
/// let mut tokens = Vec::new();
/// model.tokenize("hole", &mut sampler, &mut tokens)?;
/// assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [1, 3, 2, 0]);
/// let error = model.tokenize("help", &mut sampler, &mut tokens).unwrap_err();
/// assert!(error.to_string().contains("'p' at position 3"));
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Characters {
    pub(super) vocab: Vocab,
    unk_id: Option<u32>,
}

impl Characters {
    /// The model of a vocabulary; the alphabet is open where there is an unknown token.
    ///
    /// # Errors
    /// A token other than the unknown one that is not one character; an `unk_id` that is no
    /// token's.
    pub fn new(vocab: Vocab, unk_id: Option<u32>) -> Result<Self> {
        let is_character =
            |token: &[u8]| std::str::from_utf8(token).is_ok_and(|text| text.chars().count() == 1);
        if let Some((token, id)) = vocab
            .iter()
            .find(|&(token, id)| Some(id) != unk_id && !is_character(token))
        {
            return Err(Error::new(
                ErrorKind::Format,
                format!("token {} (id {id}) is not one character", show(token)),
            ));
        }
        if let Some(id) = unk_id.filter(|id| vocab.token(*id).is_none()) {
            return Err(Error::new(
                ErrorKind::Format,
                format!(
                    "unk_id {id} is not the id of one of the {} tokens",
                    vocab.len()
                ),
            ));
        }
        Ok(Self { vocab, unk_id })
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The token of unseen characters; a closed alphabet has none.
    pub fn unk_id(&self) -> Option<u32> {
        self.unk_id
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        for (position, (start, character)) in piece.char_indices().enumerate() {
            let range = start..start + character.len_utf8();
            let spelled = &piece.as_bytes()[range.clone()];
            let known = self.vocab.text_id(spelled);
            let id = known.or(self.unk_id).ok_or_else(|| {
                if self.vocab.id(spelled).is_some() {
                    return only_withheld(spelled);
                }
                Error::new(
                    ErrorKind::Encode,
                    format!(
                        "{character:?} at position {position} is not one of the {} characters \
                         of the closed alphabet",
                        self.vocab.len()
                    ),
                )
                .hint("train on text that has it, or use an open alphabet")
            })?;
            let kind = if known.is_some() {
                UnitKind::Known
            } else {
                UnitKind::Unknown
            };
            observer.unit(spelled, &[id], kind);
            tokens.push(Token { id, range });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_alphabet_knows_what_it_does_not_know() {
        let vocab = Vocab::new([("<UNK>", 0), ("a", 1), ("b", 2)]).unwrap();
        let model = Characters::new(vocab, Some(0)).unwrap();
        let mut tokens = Vec::new();
        model.tokenize("aéb", &mut tokens, &mut ()).unwrap();
        let rows: Vec<_> = tokens.into_iter().map(|t| (t.id, t.range)).collect();
        assert_eq!(rows, [(1, 0..1), (0, 1..3), (2, 3..4)]);
    }

    #[test]
    fn only_characters_make_an_alphabet() {
        let vocab = Vocab::new([("ab", 0)]).unwrap();
        let error = Characters::new(vocab, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "token \"ab\" (id 0) is not one character"
        );
    }
}
