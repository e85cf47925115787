//! What training continues from: tokens that keep their ids, and merges that come first.

use std::collections::BTreeSet;

use super::tokens::{Tokens, spelling};
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::bpe::merge::{Merge, Pairs, Symbol, merge};
use jeton_stages::vocab::show;
use jeton_text::error::{Error, ErrorKind, Result};

/// Merges to continue from.
///
/// If there are merges but no tokens, the tokens of the merges come after the alphabet, as if this
/// training had found them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Tokens with the ids that they keep; of bytes, or of characters, as the alphabet is.
    pub tokens: Vec<(Vec<u8>, u32)>,
    /// Special tokens, likewise.
    pub special_tokens: Vec<(String, u32)>,
    /// The merges, first to last.
    pub merges: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Start {
    /// How many tokens it gives.
    pub(super) fn count(&self) -> usize {
        let specials = self.special_tokens.iter().map(|(_, id)| *id);
        let ids: BTreeSet<u32> = self
            .tokens
            .iter()
            .map(|(_, id)| *id)
            .chain(specials)
            .collect();
        ids.len()
    }

    /// Whether a token is among those given.
    pub(super) fn holds(&self, token: &[u8]) -> bool {
        let mut specials = self.special_tokens.iter();
        self.tokens.iter().any(|(own, _)| own == token)
            || specials.any(|(own, _)| own.as_bytes() == token)
    }

    /// Gives the tokens, of which a prefix and a suffix are no part of the length, their ids; returns
    /// those of special tokens.
    pub(super) fn place(
        &self,
        alphabet: Alphabet,
        (prefix, suffix): (&str, &str),
        tokens: &mut Tokens,
    ) -> Result<Vec<u32>> {
        let largest = self.tokens.iter().map(|(_, id)| *id);
        let largest = largest.chain(self.special_tokens.iter().map(|(_, id)| *id));
        if let Some(id) = largest.max().filter(|&id| id > jeton_stages::vocab::MAX_ID) {
            let message = format!("start_from: the id {id} is larger than the largest id");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        for (token, id) in &self.tokens {
            let bare = token.strip_prefix(prefix.as_bytes()).unwrap_or(token);
            let bare = bare.strip_suffix(suffix.as_bytes()).unwrap_or(bare);
            let length = match alphabet {
                Alphabet::Bytes => bare.len(),
                Alphabet::Characters => String::from_utf8_lossy(bare).chars().count(),
            };
            tokens.place(token, *id, length.max(1));
        }
        for (token, id) in &self.special_tokens {
            let spelling = spelling(token, alphabet);
            tokens.place(&spelling, *id, token.chars().count());
        }
        Ok(self.special_tokens.iter().map(|(_, id)| *id).collect())
    }

    /// The merges as ids, and what they make, which is new unless it is known.
    pub(super) fn merges(
        &self,
        tokens: &mut Tokens,
        prefix: &str,
    ) -> Result<Vec<((u32, u32), u32)>> {
        let mut merges = Vec::with_capacity(self.merges.len());
        for (rank, (left, right)) in self.merges.iter().enumerate() {
            let id_of =
                |part: &[u8]| {
                    tokens.id(part).ok_or_else(|| {
                        let message = format!("{} is no token before this merge", show(part));
                        Error::new(ErrorKind::Argument, message)
                        .at(format!("start_from[{rank}] ({} {})", show(left), show(right)))
                        .hint("each merge joins units of the alphabet or what earlier merges made")
                    })
                };
            let pair = (id_of(left)?, id_of(right)?);
            let id = tokens.merge(pair.0, pair.1, prefix);
            merges.push((pair, id));
        }
        Ok(merges)
    }
}

/// A function that merges the symbols of a word by these merges.
pub(super) fn merging(merges: &[((u32, u32), u32)]) -> impl FnMut(&mut Vec<u32>) {
    let mut pairs = Pairs::with_capacity(merges.len());
    for (&((left, right), id), rank) in merges.iter().zip(0..) {
        pairs.insert(left, right, Merge { rank, id });
    }
    let nothing = merges.is_empty();
    let mut merged = Vec::new();
    move |symbols| {
        if nothing {
            return;
        }
        merged.clear();
        merged.extend(symbols.iter().map(|&id| Symbol { id, length: 1 }));
        merge(&mut merged, &pairs, u32::MAX);
        symbols.clear();
        symbols.extend(merged.iter().map(|symbol| symbol.id));
    }
}
