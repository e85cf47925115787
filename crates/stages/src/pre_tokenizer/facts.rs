//! Facts about each pre-tokenizer, for strategies, split points and counting, which need not know which one
//! it is.
//!
//! Look here when you add a pre-tokenizer: it does not compile without its facts, and
//! [`PreTokenizerFacts::UNKNOWN`] is always safe.

use super::PreTokenizer;
use jeton_text::pattern::SearchPattern;

/// What is true of a pre-tokenizer, whatever the text.
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
}

impl PreTokenizerFacts {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        drops_white_space: false,
        parts_punctuation: false,
        sees_characters: false,
        parts_neighbours: false,
        sees_pieces: false,
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
                    ..PreTokenizerFacts::UNKNOWN
                }
            }
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
