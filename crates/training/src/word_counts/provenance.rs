//! The settings by which words were counted: everything that decides what a word is.
//!
//! Look here for how a difference between two is described; `compatibility` refuses counts by it.

use serde::{Deserialize, Serialize};

use jeton_stages::added_tokens::AddedToken;

/// The settings of counting. Counts that the caller passed word by word have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// How texts were split into words.
    pub cutting: Cutting,
    /// Words of more characters than this were split; nothing where no word was.
    pub cut_at: Option<u64>,
}

/// How texts were split into words.
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

impl Cutting {
    /// The special tokens that another one has beside these, where nothing else differs and words hold
    /// all text but white space as it is.
    pub(super) fn more_tokens<'o>(&self, other: &'o Self) -> Option<Vec<&'o str>> {
        let (
            Self::Stages {
                added_tokens,
                normalizer: None,
                pre_tokenizer: Some(cut),
            },
            Self::Stages {
                added_tokens: others,
                normalizer: None,
                pre_tokenizer: Some(other_cut),
            },
        ) = (self, other)
        else {
            return None;
        };
        let keeps_text = cut == other_cut && cut.starts_with(PATTERN);
        let is_kept = added_tokens.iter().all(|token| others.contains(token));
        let more = others.iter().filter(|token| !added_tokens.contains(token));
        (keeps_text && is_kept).then(|| more.map(|token| token.content.as_str()).collect())
    }
}

/// How the name of a known pattern begins where it is for a pre-tokenizer.
pub(super) const PATTERN: &str = "the pattern ";

/// A setting that two counts, or counts and a trainer, do not share: its name, and both values.
pub(super) struct Difference {
    pub(super) setting: &'static str,
    pub(super) values: [String; 2],
}

impl Cutting {
    /// What another one does otherwise.
    pub(super) fn difference(&self, other: &Self) -> Option<Difference> {
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

    /// What words are, where more than the stages decides that.
    fn kind(&self) -> String {
        match self {
            Self::Stages { .. } => "a pattern or pre_tokenizer".to_owned(),
            Self::Between(separators) if separators.contains(&b' ') => {
                "what lies between spaces (SentencePiece's style)".to_owned()
            }
            Self::Between(_) => "whole lines (SentencePiece's style)".to_owned(),
        }
    }
}
