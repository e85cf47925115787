//! Special and added tokens, which are cut out of the text before any other stage sees it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::normalizer::Normalizer;
use crate::text::AlignedText;

/// A token that is found in text by its spelling, whatever the model would make of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedToken {
    /// Its id.
    pub id: u32,
    /// How it is spelled in text.
    pub content: String,
    /// A control token: found only where the caller allows it, and skipped in decoding on request.
    pub special: bool,
    /// Only as a whole word.
    pub single_word: bool,
    /// White space before it belongs to it.
    pub lstrip: bool,
    /// White space after it belongs to it.
    pub rstrip: bool,
    /// Looked for in normalized text, by its normalized spelling.
    pub normalized: bool,
}

/// What the spelling of a special token in text means. Added tokens that are not special are
/// always found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SpecialPolicy {
    /// It is text like any other.
    #[default]
    Ignore,
    /// It is that token.
    Allow,
    /// It is an error.
    Raise,
    /// These are tokens; the others are text like any other.
    Only(HashSet<String>),
}

/// The added tokens of a tokenizer, ready to be found.
#[derive(Clone, Debug, Default)]
pub struct AddedTokens {
    /// In the order of ids.
    tokens: Vec<AddedToken>,
}

/// A stretch of text between added tokens, or one of them.
#[derive(Clone, Debug)]
pub enum Cut {
    /// Normalized text.
    Text(AlignedText),
    /// An added token, with the text that it took.
    Token(u32, AlignedText),
}

impl AddedTokens {
    /// Makes `tokens` ready to be found in text and in what `normalizer` makes of it.
    ///
    /// # Errors
    /// Two tokens with one content; no content; too many to search for.
    pub fn new(tokens: Vec<AddedToken>, normalizer: Option<&Normalizer>) -> Result<Self> {
        let _ = normalizer;
        Ok(Self { tokens })
    }

    /// The tokens in the order of ids.
    pub fn list(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// The token of an id.
    pub fn by_id(&self, id: u32) -> Option<&AddedToken> {
        self.tokens
            .binary_search_by_key(&id, |token| token.id)
            .ok()
            .map(|at| &self.tokens[at])
    }

    /// Cuts the added tokens out of `text` and normalizes what lies between them.
    ///
    /// Tokens that are not looked for in normalized text are found first. Of tokens that begin at
    /// the same place the longest wins.
    ///
    /// # Errors
    /// Under [`SpecialPolicy::Raise`], a special token in the text; under [`SpecialPolicy::Only`],
    /// a name that is no special token; what `normalizer` says.
    pub fn cut(
        &self,
        text: AlignedText,
        normalizer: Option<&Normalizer>,
        special: &SpecialPolicy,
    ) -> Result<Vec<Cut>> {
        let _ = (text, normalizer, special);
        unimplemented!()
    }
}
