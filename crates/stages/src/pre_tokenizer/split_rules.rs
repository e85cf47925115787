//! The delimiters of stages that only split, all as patterns, so that several stages can become one
//! automaton.

use std::ops::RangeInclusive;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir};

use super::{PreTokenizer, SplitBehavior, WORDS, byte_level, is_punctuation};
use jeton_text::mem::lazy::LazyStatic;
use jeton_text::pattern::{Regex, SearchPattern};

/// Where a stage splits, and whether it keeps, joins or drops the delimiters.
#[derive(Clone, Debug)]
pub(crate) struct SplitRule {
    /// As [`steps_over`](jeton_text::pattern::steps_over) takes them.
    pub patterns: Vec<Hir>,
    /// What a match becomes.
    pub behavior: SplitBehavior,
    /// What lies between takes the part of the matches, and they take its.
    pub invert: bool,
}

impl SplitRule {
    /// Appends the splits of a stage that is no sequence, each of which splits the pieces of the one before
    /// it; `None` if it does more than to split there, or looks for what no automaton finds.
    pub fn find(pre_tokenizer: &PreTokenizer, found: &mut Vec<Self>) -> Option<()> {
        let mut push = |patterns, behavior, invert| {
            found.push(Self {
                patterns,
                behavior,
                invert,
            });
        };
        match pre_tokenizer {
            PreTokenizer::Split {
                pattern,
                behavior,
                invert,
            } => push(patterns(pattern)?, *behavior, *invert),
            PreTokenizer::Matches { pattern } => {
                push(patterns(pattern)?, SplitBehavior::Removed, true);
            }
            PreTokenizer::ByteLevel {
                add_prefix_space: false,
                printable: false,
                use_regex,
                ..
            } => {
                if *use_regex {
                    push(
                        of_regex(byte_level::WORDS.as_ref())?,
                        SplitBehavior::Isolated,
                        false,
                    );
                }
            }
            PreTokenizer::Whitespace => {
                push(of_regex(WORDS.as_ref())?, SplitBehavior::Removed, true);
            }
            PreTokenizer::WhitespaceSplit => {
                push(SPACES.to_vec(), SplitBehavior::Removed, false);
            }
            PreTokenizer::Bert => {
                push(SPACES.to_vec(), SplitBehavior::Removed, false);
                push(PUNCTUATION.to_vec(), SplitBehavior::Isolated, false);
            }
            PreTokenizer::CharDelimiterSplit { delimiter } => {
                push(
                    vec![literal(&delimiter.to_string())],
                    SplitBehavior::Removed,
                    false,
                );
            }
            PreTokenizer::Punctuation { behavior } => {
                push(PUNCTUATION.to_vec(), *behavior, false);
            }
            PreTokenizer::Digits { individual_digits } => {
                let behavior = if *individual_digits {
                    SplitBehavior::Isolated
                } else {
                    SplitBehavior::Contiguous
                };
                push(NUMBERS.to_vec(), behavior, false);
            }
            PreTokenizer::Sequence(_)
            | PreTokenizer::ByteLevel { .. }
            | PreTokenizer::Metaspace { .. }
            | PreTokenizer::UnicodeScripts
            | PreTokenizer::Function(_)
            | PreTokenizer::FixedLength { .. } => return None,
        }
        Some(())
    }
}

fn patterns(pattern: &SearchPattern) -> Option<Vec<Hir>> {
    match pattern {
        SearchPattern::Literal(text) => (!text.is_empty()).then(|| vec![literal(text)]),
        SearchPattern::Regex(regex) => regex.patterns(),
    }
}

fn of_regex<E>(regex: Result<&Regex, E>) -> Option<Vec<Hir>> {
    regex.ok()?.patterns()
}

fn literal(text: &str) -> Hir {
    Hir::literal(text.as_bytes())
}

/// The planes of Unicode in which any white space, number or punctuation is.
const SEARCHED: RangeInclusive<char> = '\0'..='\u{1ffff}';

static SPACES: LazyStatic<[Hir; 1]> = LazyStatic::new(|| [characters(char::is_whitespace)]);
static NUMBERS: LazyStatic<[Hir; 1]> = LazyStatic::new(|| [characters(char::is_numeric)]);
static PUNCTUATION: LazyStatic<[Hir; 1]> = LazyStatic::new(|| [characters(is_punctuation)]);

fn characters(is_one: fn(char) -> bool) -> Hir {
    let found = SEARCHED.filter(|&character| is_one(character));
    let ranges = found.map(|character| ClassUnicodeRange::new(character, character));
    Hir::class(Class::Unicode(ClassUnicode::new(ranges)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_plane_has_any() {
        let others = char::from_u32(*SEARCHED.end() as u32 + 1).unwrap()..=char::MAX;
        for is_one in [char::is_whitespace, char::is_numeric, is_punctuation] {
            assert_eq!(others.clone().find(|&character| is_one(character)), None);
        }
    }
}
