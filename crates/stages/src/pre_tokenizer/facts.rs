//! Facts about each pre-tokenizer. Strategies, split points and counting read them, so they need not know
//! which pre-tokenizer it is.
//!
//! Look here when you add a pre-tokenizer: it does not compile without its facts, and
//! [`PreTokenizerFacts::UNKNOWN`] is always safe.

use super::{PreTokenizer, PrependScheme, SplitBehavior};
use crate::normalizer::SPACE_MARK;
use jeton_text::pattern::SearchPattern;

/// What is true of a pre-tokenizer, whatever the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreTokenizerFacts {
    /// It first splits at white space, and drops that.
    pub drops_white_space: bool,
    /// Each character of punctuation is a piece.
    pub parts_punctuation: bool,
    /// Single characters decide where it splits and what it drops.
    pub sees_characters: bool,
    /// Two neighbouring characters decide whether it splits between them, and it changes nothing.
    pub parts_neighbours: bool,
    /// It splits a piece the same wherever in the text that is.
    pub sees_pieces: bool,
    /// It leaves every piece as it is.
    pub changes_nothing: bool,
    /// It writes bytes as printable characters.
    pub prints_bytes: bool,
    /// It puts a space in front of a stretch that begins with none, and then only splits.
    pub adds_prefix_space: bool,
}

/// What a pre-tokenizer does at spaces, which it writes as `▁`; it acts on nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceMarking {
    /// The pre-tokenizer that it amounts to after an added token.
    pub behind_tokens: PreTokenizer,
    /// The pre-tokenizer that it is for a chunk that begins with a space.
    pub inside: PreTokenizer,
    /// It splits before each space.
    pub splits: bool,
    /// It drops the white space, and then may put a `▁` in front of each word.
    pub drops_white_space: bool,
    /// What reaches the model has a `▁` in front.
    pub keeps_mark: bool,
}

impl PreTokenizerFacts {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        drops_white_space: false,
        parts_punctuation: false,
        sees_characters: false,
        parts_neighbours: false,
        sees_pieces: false,
        changes_nothing: false,
        prints_bytes: false,
        adds_prefix_space: false,
    };
    /// Neighbours decide.
    const NEIGHBOURS: Self = Self {
        parts_neighbours: true,
        sees_pieces: true,
        ..Self::UNKNOWN
    };
    /// White space is dropped first.
    const WORDS: Self = Self {
        drops_white_space: true,
        ..Self::NEIGHBOURS
    };
}

impl PreTokenizer {
    /// Its facts.
    pub fn facts(&self) -> PreTokenizerFacts {
        match self {
            Self::Bert => PreTokenizerFacts {
                parts_punctuation: true,
                sees_characters: true,
                ..PreTokenizerFacts::WORDS
            },
            Self::WhitespaceSplit => PreTokenizerFacts {
                sees_characters: true,
                ..PreTokenizerFacts::WORDS
            },
            Self::Whitespace => PreTokenizerFacts::WORDS,
            Self::Punctuation { .. } | Self::Digits { .. } | Self::CharDelimiterSplit { .. } => {
                PreTokenizerFacts::NEIGHBOURS
            }
            Self::FixedLength { .. } => PreTokenizerFacts {
                sees_pieces: true,
                ..PreTokenizerFacts::UNKNOWN
            },
            Self::ByteLevel {
                add_prefix_space,
                use_regex,
                printable,
                ..
            } => PreTokenizerFacts {
                parts_neighbours: !(*add_prefix_space || *use_regex || *printable),
                sees_pieces: !add_prefix_space,
                changes_nothing: !(*add_prefix_space || *use_regex || *printable),
                prints_bytes: *printable,
                adds_prefix_space: *add_prefix_space && *use_regex && !*printable,
                ..PreTokenizerFacts::UNKNOWN
            },
            Self::Split {
                pattern, invert, ..
            } => {
                let is_character = matches!(
                    pattern,
                    SearchPattern::Literal(text) if text.chars().count() == 1
                );
                PreTokenizerFacts {
                    parts_neighbours: is_character && !invert,
                    ..PreTokenizerFacts::UNKNOWN
                }
            }
            Self::Metaspace { .. }
            | Self::UnicodeScripts
            | Self::Function(_)
            | Self::Matches { .. } => PreTokenizerFacts::UNKNOWN,
            Self::Sequence(steps) => {
                let first = steps
                    .first()
                    .map_or(PreTokenizerFacts::UNKNOWN, Self::facts);
                let mut rest = steps.iter().skip(1);
                let rest_sees_pieces = rest.all(|step| step.facts().sees_pieces);
                PreTokenizerFacts {
                    drops_white_space: first.drops_white_space && rest_sees_pieces,
                    sees_pieces: steps.iter().all(|step| step.facts().sees_pieces),
                    prints_bytes: steps.iter().any(|step| step.facts().prints_bytes),
                    ..PreTokenizerFacts::UNKNOWN
                }
            }
        }
    }

    /// How it marks spaces, if it acts on nothing else.
    pub fn space_marking(&self) -> Option<SpaceMarking> {
        match self {
            Self::Metaspace {
                replacement: SPACE_MARK,
                prepend_scheme,
                split,
            } => {
                let with = |prepend_scheme| Self::Metaspace {
                    replacement: SPACE_MARK,
                    prepend_scheme,
                    split: *split,
                };
                let behind_tokens = match prepend_scheme {
                    PrependScheme::Always => PrependScheme::Always,
                    PrependScheme::First | PrependScheme::Never => PrependScheme::Never,
                };
                Some(SpaceMarking {
                    behind_tokens: with(behind_tokens),
                    inside: with(PrependScheme::Never),
                    splits: *split,
                    drops_white_space: false,
                    keeps_mark: true,
                })
            }
            Self::Sequence(steps) => match steps.as_slice() {
                [
                    Self::WhitespaceSplit,
                    Self::Metaspace {
                        replacement: SPACE_MARK,
                        prepend_scheme:
                            prepend_scheme @ (PrependScheme::Always | PrependScheme::Never),
                        split: true,
                    },
                ] => Some(SpaceMarking {
                    behind_tokens: self.clone(),
                    inside: self.clone(),
                    splits: true,
                    drops_white_space: true,
                    keeps_mark: *prepend_scheme == PrependScheme::Always,
                }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it does nothing to text that holds no space, except for a `▁` in front that is not the text's.
    pub fn acts_only_at_spaces(&self) -> bool {
        match self {
            Self::Split {
                pattern: SearchPattern::Literal(pattern),
                behavior: SplitBehavior::MergedWithPrevious,
                invert: false,
            } => pattern == " ",
            _ => *self == Self::dummy_prefix(),
        }
    }

    /// The same without the space that it puts in front of a stretch.
    pub fn without_prefix_space(&self) -> Self {
        let mut plain = self.clone();
        if let Self::ByteLevel {
            add_prefix_space, ..
        } = &mut plain
        {
            *add_prefix_space = false;
        }
        plain
    }

    /// The same without the steps that leave every piece as it is; `None` if that are all.
    pub fn without_idle_steps(&self) -> Option<Self> {
        match self {
            Self::Sequence(steps) => {
                let mut steps: Vec<_> = steps.iter().filter_map(Self::without_idle_steps).collect();
                if steps.len() > 1 {
                    Some(Self::Sequence(steps))
                } else {
                    steps.pop()
                }
            }
            step => (!step.facts().changes_nothing).then(|| step.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_steps() {
        let facts = |steps: Vec<PreTokenizer>| PreTokenizer::Sequence(steps).facts();
        let digits = || PreTokenizer::Digits {
            individual_digits: true,
        };
        assert!(facts(vec![PreTokenizer::Bert, digits()]).drops_white_space);
        assert!(!facts(vec![digits(), PreTokenizer::Bert]).drops_white_space);
        assert!(!facts(vec![PreTokenizer::Bert, PreTokenizer::UnicodeScripts]).drops_white_space);
        assert!(facts(vec![]).sees_pieces && !facts(vec![]).drops_white_space);
    }
}
