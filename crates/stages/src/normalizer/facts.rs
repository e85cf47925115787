//! Facts about each normalizer. Strategies of the fast path, spans, counting and split points read them, so
//! they need not know which normalizer it is.
//!
//! Look here when you add a normalizer. The match has no wildcard: a new one does not compile without its
//! facts, and [`NormalizerFacts::UNKNOWN`] is always safe.

use super::{Form, Normalizer, bert, lowered, nmt};
use jeton_text::pattern::SearchPattern;
use unicode_normalization_alignments::char::is_combining_mark;

/// What is true of a normalizer, whatever the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NormalizerFacts {
    /// A word becomes the same whatever is beyond the ASCII white space beside it, which stays white space.
    pub keeps_words_apart: bool,
    /// Whether it keeps spaces (or writes them as `▁`), and gives the same result for a chunk that begins
    /// with a space at any place but the ends of the text, if the text before it is not open.
    pub keeps_chunks_apart: bool,
    /// It changes each character by itself, except that marks may change places.
    pub maps_characters: bool,
    /// A character becomes the same whatever is beside it.
    pub keeps_characters_apart: bool,
    /// It puts spaces around ideographs.
    pub parts_ideographs: bool,
    /// It reorders marks.
    pub moves_marks: bool,
    /// It lower-cases letters. What keeps words apart changes printable ASCII in no other way.
    pub lowers: bool,
    /// It changes only `▁` and white space.
    pub changes_only_spaces: bool,
    /// It may write `▁` after the front of a text.
    pub writes_marks: bool,
    /// It looks at whole grapheme clusters.
    pub sees_clusters: bool,
    /// It removes white space at the ends of a text.
    pub strips: bool,
    /// Its result depends on where in the text a stretch is, or nothing is known of it. Added tokens are then
    /// found before it runs, as SentencePiece's user-defined pieces are.
    pub leaves_added_tokens: bool,
}

/// The pattern of a normalizer that looks only for runs of spaces.
pub const SPACE_RUNS: &str = " {2,}";
/// The character by which SentencePiece writes a space. A text may contain it too.
pub const SPACE_MARK: char = '▁';

impl NormalizerFacts {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        keeps_words_apart: false,
        keeps_chunks_apart: false,
        maps_characters: false,
        keeps_characters_apart: false,
        parts_ideographs: false,
        moves_marks: true,
        lowers: false,
        changes_only_spaces: false,
        writes_marks: false,
        sees_clusters: false,
        strips: false,
        leaves_added_tokens: false,
    };
    /// Nothing changes.
    pub const NOTHING: Self = Self {
        keeps_words_apart: true,
        keeps_chunks_apart: true,
        maps_characters: true,
        keeps_characters_apart: true,
        moves_marks: false,
        changes_only_spaces: true,
        ..Self::UNKNOWN
    };
    /// Single characters change.
    const CHARACTERS: Self = Self {
        changes_only_spaces: false,
        keeps_characters_apart: false,
        ..Self::NOTHING
    };
    /// Characters are decomposed; in `COMPOSES`, also composed.
    const DECOMPOSES: Self = Self {
        moves_marks: true,
        ..Self::CHARACTERS
    };
    const COMPOSES: Self = Self {
        maps_characters: false,
        ..Self::DECOMPOSES
    };
    /// The ends of a text change.
    const ENDS: Self = Self {
        keeps_words_apart: false,
        keeps_characters_apart: false,
        maps_characters: false,
        ..Self::NOTHING
    };

    /// The facts of a normalizer followed by another.
    fn and(self, next: Self) -> Self {
        Self {
            keeps_words_apart: self.keeps_words_apart && next.keeps_words_apart,
            keeps_chunks_apart: self.keeps_chunks_apart && next.keeps_chunks_apart,
            maps_characters: self.maps_characters && next.maps_characters,
            keeps_characters_apart: self.keeps_characters_apart && next.keeps_characters_apart,
            parts_ideographs: self.parts_ideographs || next.parts_ideographs,
            moves_marks: self.moves_marks || next.moves_marks,
            lowers: self.lowers || next.lowers,
            changes_only_spaces: self.changes_only_spaces && next.changes_only_spaces,
            writes_marks: self.writes_marks || next.writes_marks,
            sees_clusters: self.sees_clusters || next.sees_clusters,
            strips: self.strips || next.strips,
            leaves_added_tokens: self.leaves_added_tokens || next.leaves_added_tokens,
        }
    }
}

impl Normalizer {
    /// Its facts.
    pub fn facts(&self) -> NormalizerFacts {
        match self {
            Self::Nfc | Self::Nfkc => NormalizerFacts::COMPOSES,
            Self::Nfd | Self::Nfkd => NormalizerFacts::DECOMPOSES,
            Self::StripAccents | Self::Nmt => NormalizerFacts::CHARACTERS,
            Self::Lowercase => NormalizerFacts {
                keeps_characters_apart: true,
                lowers: true,
                ..NormalizerFacts::CHARACTERS
            },
            Self::Bert {
                handle_chinese_chars,
                strip_accents,
                lowercase,
                ..
            } => NormalizerFacts {
                keeps_chunks_apart: false,
                keeps_characters_apart: true,
                parts_ideographs: *handle_chinese_chars,
                moves_marks: strip_accents.unwrap_or(*lowercase),
                lowers: *lowercase,
                ..NormalizerFacts::CHARACTERS
            },
            Self::Strip { .. } => NormalizerFacts {
                changes_only_spaces: false,
                strips: true,
                ..NormalizerFacts::ENDS
            },
            Self::Prepend { .. } => NormalizerFacts::ENDS,
            Self::Replace { pattern, content } => {
                let is_space = content == " " || content == "▁";
                let is_blank = |c: char| c == SPACE_MARK || c.is_whitespace();
                let keeps_chunks_apart = match pattern {
                    SearchPattern::Literal(text) if text == " " => is_space,
                    SearchPattern::Literal(text) => !text.is_empty() && !text.contains(is_blank),
                    SearchPattern::Regex(regex) => regex.source() == SPACE_RUNS && is_space,
                };
                let is_of_spaces = matches!(pattern, SearchPattern::Literal(text) if text == " ");
                NormalizerFacts {
                    keeps_chunks_apart,
                    changes_only_spaces: is_of_spaces,
                    writes_marks: content.contains(SPACE_MARK),
                    moves_marks: false,
                    ..NormalizerFacts::UNKNOWN
                }
            }
            Self::Precompiled(map) => NormalizerFacts {
                keeps_chunks_apart: !map.inner_bytes()[usize::from(b' ')]
                    && map.longest_prefix(b" ").is_none_or(|(_, new)| new == " "),
                sees_clusters: true,
                ..NormalizerFacts::UNKNOWN
            },
            Self::SentencePiece(normalizer) => NormalizerFacts {
                changes_only_spaces: normalizer.changes_only_spaces(),
                leaves_added_tokens: true,
                ..NormalizerFacts::UNKNOWN
            },
            Self::Function(_) => NormalizerFacts {
                leaves_added_tokens: true,
                ..NormalizerFacts::UNKNOWN
            },
            Self::ByteLevel => NormalizerFacts::UNKNOWN,
            Self::Sequence(steps) => {
                let steps = steps.iter().map(Self::facts);
                steps.fold(NormalizerFacts::NOTHING, NormalizerFacts::and)
            }
        }
    }

    /// The one character that this one becomes wherever it follows others with such an answer: of the same
    /// length in UTF-8, and from it alone except for spaces around it. `None` if that depends on what follows.
    /// Not defined for a space.
    pub fn keeps(&self, character: char) -> Option<char> {
        let same = |is_kept: bool| is_kept.then_some(character);
        match self {
            Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd => {
                same(Form::of(self)?.fixes(character))
            }
            Self::Lowercase => lowered(character),
            Self::StripAccents => same(!is_combining_mark(character)),
            Self::Strip { .. } => same(!character.is_whitespace()),
            Self::Nmt => same(nmt::keeps(character)),
            Self::Replace { pattern, .. } => same(match pattern {
                SearchPattern::Literal(text) => !text.is_empty() && !text.contains(character),
                SearchPattern::Regex(regex) => regex.source() == SPACE_RUNS,
            }),
            Self::Prepend { .. } => Some(character),
            Self::Precompiled(map) => same(map.keeps_character(character)),
            Self::SentencePiece(normalizer) => same(normalizer.keeps(character)),
            Self::Bert {
                strip_accents,
                lowercase,
                ..
            } => {
                let strips_accents = strip_accents.unwrap_or(*lowercase);
                let is_kept = bert::keeps(character, strips_accents);
                let lower = if *lowercase {
                    lowered(character)
                } else {
                    Some(character)
                };
                lower.filter(|_| is_kept)
            }
            Self::ByteLevel | Self::Function(_) => None,
            Self::Sequence(steps) => steps.iter().try_fold(character, |it, step| step.keeps(it)),
        }
    }

    /// Its steps, one after another.
    pub fn steps(&self) -> Vec<&Self> {
        match self {
            Self::Sequence(steps) => steps.iter().flat_map(Self::steps).collect(),
            step => vec![step],
        }
    }

    /// Whether it writes each space as `▁`, and changes nothing else.
    pub fn marks_spaces(&self) -> bool {
        matches!(
            self,
            Self::Replace { pattern: SearchPattern::Literal(text), content }
                if text == " " && content == "▁"
        )
    }

    /// The normalizer that it amounts to after the front of a text, if it does anything there.
    pub fn behind_front(&self) -> Option<Self> {
        match self {
            Self::Prepend { .. } => None,
            Self::Strip { right, .. } => Some(Self::Strip {
                left: false,
                right: *right,
            }),
            other => Some(other.clone()),
        }
    }

    /// The factor by which replacing may lengthen a text, and the bytes that are put in front.
    pub fn growth(&self) -> (f64, usize) {
        match self {
            Self::Replace { pattern, content } => {
                let replaced = match pattern {
                    SearchPattern::Literal(text) => text.len().max(1),
                    SearchPattern::Regex(_) => 1,
                };
                ((content.len() as f64 / replaced as f64).max(1.0), 0)
            }
            Self::Prepend { prefix } => (1.0, prefix.len()),
            _ => (1.0, 0),
        }
    }

    /// Whether it may replace this byte together with others around it.
    pub fn joins(&self, byte: u8) -> bool {
        matches!(self, Self::Precompiled(map) if map.inner_bytes()[usize::from(byte)])
    }

    /// The text that it replaces; a space if it changes no printable ASCII but spaces and, by lower-casing,
    /// letters. `None` if it may change any.
    pub fn replaced_ascii(&self) -> Option<&str> {
        match self {
            Self::Replace {
                pattern: SearchPattern::Literal(text),
                ..
            } => Some(text),
            Self::Precompiled(map) if !map.keeps_ascii() => None,
            _ => Some(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_steps_are_those_of_all() {
        let facts = |steps: Vec<Normalizer>| Normalizer::Sequence(steps).facts();
        assert_eq!(facts(vec![]), NormalizerFacts::NOTHING);
        let bert = facts(vec![
            Normalizer::Nfd,
            Normalizer::StripAccents,
            Normalizer::Lowercase,
        ]);
        assert!(bert.maps_characters && bert.moves_marks && bert.lowers && bert.keeps_words_apart);
        let composed = facts(vec![Normalizer::Nfc, Normalizer::Lowercase]);
        assert!(!composed.maps_characters && composed.keeps_words_apart);
        assert!(!facts(vec![Normalizer::ByteLevel, Normalizer::Lowercase]).keeps_words_apart);
    }

    /// Characters become what `keeps` says whatever is beside them.
    #[test]
    fn kept_characters_are_kept() {
        let steps = [
            Normalizer::Nfc,
            Normalizer::Nfkd,
            Normalizer::Lowercase,
            Normalizer::StripAccents,
            Normalizer::Nmt,
            Normalizer::Bert {
                clean_text: true,
                handle_chinese_chars: false,
                strip_accents: None,
                lowercase: true,
            },
        ];
        let characters = "aAzÉéжЖİ中각\u{1100}\u{1161}\u{301}½ﬁ\u{200b}";
        for step in &steps {
            for a in characters.chars() {
                for b in characters.chars() {
                    let Some(both) = step.keeps(a).zip(step.keeps(b)) else {
                        continue;
                    };
                    let text = [a, b].iter().collect::<String>();
                    let new = step.normalized(&text).unwrap();
                    assert!(new.chars().eq([both.0, both.1]), "{step:?} {text:?}");
                    assert_eq!(new.len(), text.len());
                }
            }
        }
    }
}
