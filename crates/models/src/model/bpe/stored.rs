//! The stored form of a byte pair encoding. Everything else follows from it.

use serde::{Deserialize, Serialize};

use super::{Bpe, BpeOptions, MergeRule};
use jeton_stages::vocab::Vocab;
use jeton_text::error::{Error, ErrorKind, Result};

/// What is stored of a byte pair encoding.
#[derive(Serialize, Deserialize)]
pub(super) struct Parts {
    vocab: Vocab,
    rule: MergeRule,
    options: BpeOptions,
}

impl TryFrom<Parts> for Bpe {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let Parts {
            vocab,
            rule,
            options,
        } = parts;
        let MergeRule::Merges(merges) = rule else {
            return Self::by_ranks(vocab);
        };
        let token = |id| {
            vocab.token(id).map(<[u8]>::to_vec).ok_or_else(|| {
                Error::new(ErrorKind::Format, format!("a merge of the unknown id {id}"))
            })
        };
        let merges = merges
            .into_iter()
            .map(|(left, right)| Ok((token(left)?, token(right)?)))
            .collect::<Result<Vec<_>>>()?;
        Self::by_merges(vocab, merges, options)
    }
}

impl From<Bpe> for Parts {
    fn from(bpe: Bpe) -> Self {
        let Bpe {
            vocab,
            rule,
            options,
            ..
        } = bpe;
        Self {
            vocab,
            rule,
            options,
        }
    }
}
