//! What word counts were counted by: all that decides what a word is.
//!
//! Look here when counts are refused by a trainer, or by other counts.

use serde::{Deserialize, Serialize};

use super::counts::WordCounts;
use crate::added_tokens::AddedToken;
use crate::error::{Error, ErrorKind, Result};

/// What word counts were counted by. Counts that are given word by word have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// What made words of the texts.
    pub cutting: Cutting,
    /// Words of more characters than this were cut; nothing where no word was.
    pub cut_at: Option<u64>,
}

/// What makes words of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cutting {
    /// The stages of a tokenizer before its model.
    Stages {
        /// What no word spans, in the order of its spelling; ids are left out.
        added_tokens: Vec<AddedToken>,
        /// The normalizer, as JSON.
        normalizer: Option<String>,
        /// The name of a known pattern, or the pre-tokenizer as JSON.
        pre_tokenizer: Option<String>,
    },
    /// Nothing: words are what lies between these ASCII characters, in their order.
    Between(Vec<u8>),
}

/// A setting that two counts, or counts and a trainer, do not share: its name, and both values.
struct Difference {
    setting: &'static str,
    values: [String; 2],
}

impl Cutting {
    /// What another one does otherwise.
    fn difference(&self, other: &Self) -> Option<Difference> {
        let differ = |setting, values: [String; 2]| {
            (values[0] != values[1]).then_some(Difference { setting, values })
        };
        let (
            Self::Stages {
                added_tokens,
                normalizer,
                pre_tokenizer,
            },
            Self::Stages {
                added_tokens: other_tokens,
                normalizer: other_normalizer,
                pre_tokenizer: other_cut,
            },
        ) = (self, other)
        else {
            return differ("words", [self.kind(), other.kind()]);
        };
        let spellings = |tokens: &[AddedToken]| match tokens {
            [] => "none".to_owned(),
            tokens => format!(
                "{:?}",
                tokens.iter().map(|t| &t.content).collect::<Vec<_>>()
            ),
        };
        let stage = |stage: &Option<String>| stage.clone().unwrap_or_else(|| "none".to_owned());
        let tokens = [spellings(added_tokens), spellings(other_tokens)];
        let flags = || Difference {
            setting: "the flags of special_tokens",
            values: [added_tokens, other_tokens].map(|tokens| format!("{tokens:?}")),
        };
        differ("normalizer", [stage(normalizer), stage(other_normalizer)])
            .or_else(|| {
                let cuts = [stage(pre_tokenizer), stage(other_cut)];
                differ("pattern or pre_tokenizer", cuts)
            })
            .or_else(|| differ("special_tokens", tokens))
            .or_else(|| (added_tokens != other_tokens).then(flags))
    }

    /// What words are, where that is told by more than stages.
    fn kind(&self) -> String {
        match self {
            Self::Stages { .. } => "a pattern or pre_tokenizer".to_owned(),
            Self::Between(separators) if separators.contains(&b' ') => {
                "what lies between spaces (UnigramTrainer in SentencePiece's style)".to_owned()
            }
            Self::Between(_) => "whole lines (UnigramTrainer in SentencePiece's style)".to_owned(),
        }
    }
}

impl WordCounts {
    /// Checks that a trainer with these settings would have counted the same words.
    ///
    /// Counts without a provenance are taken as they are.
    ///
    /// # Errors
    /// It would not, with the first setting that differs.
    pub fn check_counted_by(
        &self,
        cutting: &Cutting,
        max_word_length: Option<usize>,
    ) -> Result<()> {
        let Some(provenance) = &self.provenance else {
            return Ok(());
        };
        if let (Cutting::Between(counted), Cutting::Between(wanted)) = (&provenance.cutting, cutting)
            // Who may cut at more places may do so later.
            && counted.iter().all(|separator| wanted.contains(separator))
        {
            return Ok(());
        }
        let difference = provenance.cutting.difference(cutting).or_else(|| {
            let wanted = max_word_length.map_or(u64::MAX, |most| most as u64);
            self.cut_otherwise(provenance.cut_at, wanted)
        });
        match difference {
            None => Ok(()),
            Some(Difference { setting, values }) => {
                let [counted, wanted] = values.map(shortened);
                Err(Error::new(
                    ErrorKind::Argument,
                    format!(
                        "{setting}: the words were counted with {counted}, and the trainer has \
                         {wanted}"
                    ),
                )
                .hint("count the corpus again with the settings of the trainer"))
            }
        }
    }

    /// Whether words of more characters than `wanted` would be cut otherwise than these were.
    fn cut_otherwise(&self, cut_at: Option<u64>, wanted: u64) -> Option<Difference> {
        let length = |most: u64| match most {
            u64::MAX => "none".to_owned(),
            most => most.to_string(),
        };
        let counted = match cut_at {
            Some(most) => (most != wanted).then(|| most.to_string()),
            None => (self.iter().any(|(word, _)| is_longer(word, wanted)))
                .then(|| "one that cut no word".to_owned()),
        };
        counted.map(|counted| Difference {
            setting: "max_word_length",
            values: [counted, length(wanted)],
        })
    }

    /// The provenance of these counts and others together.
    ///
    /// # Errors
    /// The counts were made differently, with the first setting that differs.
    pub(super) fn common_provenance(&self, other: &Self) -> Result<Option<Provenance>> {
        let (Some(mine), Some(others)) = (&self.provenance, &other.provenance) else {
            return Ok(self.provenance.clone().or_else(|| other.provenance.clone()));
        };
        let difference = mine.cutting.difference(&others.cutting).or_else(|| {
            match (mine.cut_at, others.cut_at) {
                (Some(_), Some(most)) => self.cut_otherwise(mine.cut_at, most),
                (Some(most), None) => other.cut_otherwise(None, most),
                (None, Some(most)) => self.cut_otherwise(None, most),
                (None, None) => None,
            }
        });
        match difference {
            None => Ok(Some(Provenance {
                cut_at: mine.cut_at.or(others.cut_at),
                ..mine.clone()
            })),
            Some(Difference { setting, values }) => {
                let [one, two] = values.map(shortened);
                Err(Error::new(
                    ErrorKind::Argument,
                    format!("{setting}: one was counted with {one}, the other with {two}"),
                )
                .at("these counts cannot be merged")
                .hint("count both with the same settings"))
            }
        }
    }
}

fn is_longer(word: &str, characters: u64) -> bool {
    word.len() as u64 > characters && word.chars().count() as u64 > characters
}

/// A setting as an error shows it.
fn shortened(value: String) -> String {
    const MOST: usize = 200;
    match value.char_indices().nth(MOST) {
        None => value,
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}
