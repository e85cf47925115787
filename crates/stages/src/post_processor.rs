//! Post-processors: the special tokens around a text or a pair of texts, such as `[CLS] A [SEP] B [SEP]`.

mod margins;
mod part;

pub use margins::{Margins, Trimming};
pub use part::Part;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::encoding::Encoding;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::length_limit::LengthLimit;
use part::{merge, number};

/// Which of the two texts a piece of a template refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sequence {
    /// The first text.
    A,
    /// The second text.
    B,
}

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplatePiece {
    /// A text.
    Sequence {
        /// Which.
        id: Sequence,
        /// The type id of its tokens.
        type_id: u32,
    },
    /// A special token, by its name in the template's table.
    SpecialToken {
        /// Its name.
        id: String,
        /// The type id of its tokens.
        type_id: u32,
    },
}

/// A special token of a template: one name, one or more tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateToken {
    /// The name that templates use.
    pub id: String,
    /// Its ids.
    pub ids: Vec<u32>,
    /// The tokens of these ids.
    pub tokens: Vec<String>,
}

/// One post-processor. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PostProcessor {
    /// A template for one text and one for two.
    Template {
        /// For one text.
        single: Vec<TemplatePiece>,
        /// For two.
        pair: Vec<TemplatePiece>,
        /// What the names mean, in the order of the file.
        special_tokens: Vec<TemplateToken>,
    },
    /// `[CLS] A [SEP]`, `[CLS] A [SEP] B [SEP]`, with type ids 0 and 1.
    Bert {
        /// `[SEP]` and its id.
        sep: (String, u32),
        /// `[CLS]` and its id.
        cls: (String, u32),
    },
    /// `<s> A </s>`, `<s> A </s></s> B </s>`, all with type id 0.
    Roberta {
        /// `</s>` and its id.
        sep: (String, u32),
        /// `<s>` and its id.
        cls: (String, u32),
        /// Leave white space at the ends of a token out of its span.
        trim_offsets: bool,
        /// The pre-tokenizer put a space in front.
        add_prefix_space: bool,
    },
    /// Leaves white space at the ends of a token out of its span; adds no tokens.
    ByteLevel {
        /// The pre-tokenizer put a space in front.
        add_prefix_space: bool,
        /// Do so at all.
        trim_offsets: bool,
        /// Without effect here; kept, so that a file is written as it was read.
        use_regex: bool,
    },
    /// One after another.
    Sequence(#[serde(deserialize_with = "crate::nesting_limit::nested")] Vec<PostProcessor>),
}

impl PostProcessor {
    /// What a `tokenizer.json` calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Template { .. } => "TemplateProcessing",
            Self::Bert { .. } => "BertProcessing",
            Self::Roberta { .. } => "RobertaProcessing",
            Self::ByteLevel { .. } => "ByteLevel",
            Self::Sequence(_) => "Sequence",
        }
    }

    /// Puts the special tokens around one text or two and joins them.
    pub fn process(&self, mut parts: Vec<Part>, add_special_tokens: bool) -> Result<Encoding> {
        number(&mut parts);
        let limit = LengthLimit::of(rows(&parts));
        Ok(merge(self.rewrite(parts, add_special_tokens, &limit)?))
    }

    /// What it makes of one text or two whose tokens were found before, each with its bytes. Where it
    /// trims spans, white space is a space, alone or as GPT-2 spells it.
    ///
    /// # Errors
    /// More than two texts; a template that names what it lacks; many times as many tokens as there
    /// were.
    pub fn apply(
        &self,
        texts: Vec<(Encoding, Vec<Vec<u8>>)>,
        add_special_tokens: bool,
    ) -> Result<Encoding> {
        let parts = texts.into_iter().map(|(encoding, tokens)| {
            let margins = tokens.iter().map(|token| Margins::of_spelling(token));
            Part::new(encoding, margins.collect())
        });
        self.process(parts.collect(), add_special_tokens)
    }

    /// The special tokens that it can add, each with its id.
    pub fn special_tokens(&self) -> Vec<(u32, &str)> {
        match self {
            Self::Template { special_tokens, .. } => special_tokens
                .iter()
                .flat_map(|token| {
                    token
                        .ids
                        .iter()
                        .copied()
                        .zip(token.tokens.iter().map(String::as_str))
                })
                .collect(),
            Self::Bert { sep, cls } | Self::Roberta { sep, cls, .. } => {
                vec![(cls.1, &cls.0), (sep.1, &sep.0)]
            }
            Self::ByteLevel { .. } => Vec::new(),
            Self::Sequence(stages) => stages.iter().flat_map(Self::special_tokens).collect(),
        }
    }

    /// A name in a template that its table does not hold.
    pub fn unknown_name(&self) -> Option<&str> {
        match self {
            Self::Template {
                single,
                pair,
                special_tokens,
            } => {
                let named = by_name(special_tokens);
                single.iter().chain(pair).find_map(|piece| match piece {
                    TemplatePiece::SpecialToken { id, .. } if !named.contains_key(id.as_str()) => {
                        Some(id.as_str())
                    }
                    _ => None,
                })
            }
            Self::Sequence(stages) => stages.iter().find_map(Self::unknown_name),
            Self::Bert { .. } | Self::Roberta { .. } | Self::ByteLevel { .. } => None,
        }
    }

    /// Joins one text or two, without any special tokens.
    pub fn join(mut parts: Vec<Part>) -> Encoding {
        number(&mut parts);
        merge(parts)
    }

    /// Whether spans are trimmed, for which the parts must bring their [`Margins`].
    pub fn trims(&self) -> bool {
        match self {
            Self::Roberta { trim_offsets, .. } | Self::ByteLevel { trim_offsets, .. } => {
                *trim_offsets
            }
            Self::Sequence(stages) => stages.iter().any(Self::trims),
            Self::Template { .. } | Self::Bert { .. } => false,
        }
    }

    /// How spans are trimmed, if at most one stage does so, and on tokens of the text alone.
    pub fn trimming(&self) -> Option<Trimming> {
        match self {
            Self::Template { .. } | Self::Bert { .. } => Some(Trimming::None),
            Self::Roberta {
                trim_offsets,
                add_prefix_space,
                ..
            }
            | Self::ByteLevel {
                trim_offsets,
                add_prefix_space,
                ..
            } => Some(match (trim_offsets, add_prefix_space) {
                (false, _) => Trimming::None,
                (true, false) => Trimming::All,
                (true, true) => Trimming::BehindPrefix,
            }),
            Self::Sequence(stages) => {
                let trims = stages.iter().position(Self::trims);
                let Some(at) = trims else {
                    return Some(Trimming::None);
                };
                let (before, rest) = stages.split_at(at);
                let adds_nothing = |stage: &Self| stage.added(false) + stage.added(true) == 0;
                let is_alone =
                    !rest[1..].iter().any(Self::trims) && before.iter().all(adds_nothing);
                rest[0].trimming().filter(|_| is_alone)
            }
        }
    }

    /// How many special tokens are put around one text, or around two.
    pub fn added(&self, pair: bool) -> usize {
        match self {
            Self::Template {
                single,
                pair: double,
                special_tokens,
            } => {
                let template = if pair { double } else { single };
                let named = by_name(special_tokens);
                let length = |name: &str| named.get(name).map_or(0, |token| token.ids.len());
                template
                    .iter()
                    .map(|piece| match piece {
                        TemplatePiece::Sequence { .. } => 0,
                        TemplatePiece::SpecialToken { id, .. } => length(id),
                    })
                    .sum()
            }
            Self::Bert { .. } => 2 + usize::from(pair),
            Self::Roberta { .. } => 2 + 2 * usize::from(pair),
            Self::ByteLevel { .. } => 0,
            Self::Sequence(stages) => stages.iter().map(|stage| stage.added(pair)).sum(),
        }
    }

    fn rewrite(
        &self,
        mut parts: Vec<Part>,
        add_special_tokens: bool,
        limit: &LengthLimit,
    ) -> Result<Vec<Part>> {
        match self {
            Self::Template {
                single,
                pair,
                special_tokens,
            } => {
                let template = match parts.len() {
                    1 => single,
                    2 => pair,
                    count => {
                        return Err(Error::new(
                            ErrorKind::Unsupported,
                            format!(
                                "a template for {count} parts: there is one for 1 and one for 2"
                            ),
                        )
                        .hint("put a template last in a sequence of post-processors"));
                    }
                };
                return fill(template, parts, special_tokens, add_special_tokens, limit);
            }
            Self::Bert { sep, cls } => {
                if add_special_tokens {
                    for (number, part) in parts.iter_mut().enumerate() {
                        match number {
                            0 => part.wrap(0, Some(cls.1), sep.1, 0),
                            _ => part.wrap(1, None, sep.1, 1),
                        }
                    }
                }
            }
            Self::Roberta {
                sep,
                cls,
                trim_offsets,
                add_prefix_space,
            } => {
                for (number, part) in parts.iter_mut().enumerate() {
                    if *trim_offsets {
                        part.trim(*add_prefix_space);
                    }
                    part.encoding.type_ids.fill(0);
                    if add_special_tokens {
                        match number {
                            0 => part.wrap(0, Some(cls.1), sep.1, 0),
                            _ => part.wrap(1, Some(sep.1), sep.1, 0),
                        }
                    }
                }
            }
            Self::ByteLevel {
                add_prefix_space,
                trim_offsets,
                ..
            } => {
                for (number, part) in (0..).zip(&mut parts) {
                    if *trim_offsets {
                        part.trim(*add_prefix_space);
                    }
                    part.is_text(number);
                }
            }
            Self::Sequence(stages) => {
                for stage in stages {
                    parts = stage.rewrite(parts, add_special_tokens, limit)?;
                    check(rows(&parts), limit)?;
                }
            }
        }
        Ok(parts)
    }
}

/// How many tokens the parts have.
fn rows(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.encoding.len()).sum()
}

/// # Errors
/// There may not be this many tokens.
fn check(tokens: usize, limit: &LengthLimit) -> Result<()> {
    if tokens > limit.longest() {
        Err(limit.error("tokens").at("post-processor"))
    } else {
        Ok(())
    }
}

/// The special tokens by name; of equal names, the first counts.
fn by_name(special_tokens: &[TemplateToken]) -> HashMap<&str, &TemplateToken> {
    let tokens = special_tokens.iter().rev();
    tokens.map(|token| (token.id.as_str(), token)).collect()
}

/// What a template makes of the parts.
fn fill(
    template: &[TemplatePiece],
    mut parts: Vec<Part>,
    special_tokens: &[TemplateToken],
    add_special_tokens: bool,
    limit: &LengthLimit,
) -> Result<Vec<Part>> {
    let mut pieces = Vec::with_capacity(template.len());
    let named = by_name(special_tokens);
    let mut length = 0;
    for (at, piece) in template.iter().enumerate() {
        match piece {
            TemplatePiece::Sequence { id, type_id } => {
                let number = match id {
                    Sequence::A => 0,
                    Sequence::B => 1,
                };
                let part = parts.get_mut(number as usize).ok_or_else(|| {
                    Error::new(
                        ErrorKind::Unsupported,
                        "the template for a single text names the second text, $B",
                    )
                })?;
                length += part.encoding.len();
                check(length, limit)?;
                part.encoding.type_ids.fill(*type_id);
                part.is_text(number);
                let names = |piece: &TemplatePiece| matches!(piece, TemplatePiece::Sequence { id: other, .. } if other == id);
                let is_last = !template[at + 1..].iter().any(names);
                pieces.push(if is_last {
                    std::mem::take(part)
                } else {
                    part.clone()
                });
            }
            TemplatePiece::SpecialToken { id, type_id } if add_special_tokens => {
                let token = named.get(id.as_str()).ok_or_else(|| {
                    Error::new(
                        ErrorKind::Unsupported,
                        format!("the template names {id:?}, which is not among its special tokens"),
                    )
                })?;
                length += token.ids.len();
                check(length, limit)?;
                let mut part = Part::default();
                for &id in &token.ids {
                    part.insert_special(part.encoding.len(), id, *type_id);
                }
                pieces.push(part);
            }
            TemplatePiece::SpecialToken { .. } => {}
        }
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::{PostProcessor, Trimming};

    #[test]
    fn trimming_twice_or_behind_special_tokens_is_left_to_the_stages() {
        let trims = |add_prefix_space| PostProcessor::ByteLevel {
            add_prefix_space,
            trim_offsets: true,
            use_regex: true,
        };
        let adds = || PostProcessor::Bert {
            sep: ("s".to_owned(), 1),
            cls: ("c".to_owned(), 2),
        };
        let known = |stages: Vec<PostProcessor>| PostProcessor::Sequence(stages).trimming();
        assert_eq!(
            known(vec![trims(true), adds()]),
            Some(Trimming::BehindPrefix)
        );
        assert_eq!(known(vec![trims(false)]), Some(Trimming::All));
        assert_eq!(known(vec![adds()]), Some(Trimming::None));
        assert_eq!(known(vec![adds(), trims(true)]), None);
        assert_eq!(known(vec![trims(true), trims(true)]), None);
    }
}
