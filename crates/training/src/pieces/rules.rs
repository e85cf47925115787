//! Which strings may be pieces.
//!
//! Look here for where scripts, digits and spaces separate pieces. The rules are SentencePiece's. Most
//! of them look only at two neighbouring characters, so text can be split there before training.

use unicode_script::{Script, UnicodeScript};

/// How a space is written in words.
const SPACE: char = '▁';

/// Which strings may be pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceRules {
    /// How many characters a piece may have.
    pub max_piece_length: usize,
    /// A piece holds a space (`▁`) at its front only, or at its back if spaces end words; else it
    /// may hold some inside, too.
    pub split_by_whitespace: bool,
    /// Spaces end words instead of beginning them.
    pub treat_whitespace_as_suffix: bool,
    /// There may be pieces of nothing but spaces.
    pub allow_whitespace_only_pieces: bool,
    /// A piece holds characters of one script. Han and both kana count as one; digits, punctuation
    /// and symbols are a script of their own.
    pub split_by_unicode_script: bool,
    /// Digits are not next to letters; otherwise they go with any script.
    pub split_by_number: bool,
    /// A digit is a piece by itself.
    pub split_digits: bool,
}

impl Default for PieceRules {
    fn default() -> Self {
        Self {
            max_piece_length: 16,
            split_by_whitespace: true,
            treat_whitespace_as_suffix: false,
            allow_whitespace_only_pieces: false,
            split_by_unicode_script: true,
            split_by_number: true,
            split_digits: false,
        }
    }
}

/// The class of a character by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Space,
    /// A digit that must be alone.
    Alone,
    /// Of no script: it is next to any, and what comes after it does, too.
    Any,
    /// Of the script of the character before it.
    Inherited,
    Of(Script),
}

impl PieceRules {
    pub(crate) fn class(&self, character: char) -> Class {
        let is_digit = matches!(character, '0'..='9' | '０'..='９');
        match character {
            SPACE => Class::Space,
            _ if is_digit && self.split_digits => Class::Alone,
            _ if is_digit && !self.split_by_number => Class::Any,
            // The prolonged sound mark is common to Hiragana and Katakana.
            'ー' => Class::Of(Script::Han),
            _ => match character.script() {
                Script::Hiragana | Script::Katakana => Class::Of(Script::Han),
                Script::Unknown => Class::Of(Script::Common),
                Script::Inherited => Class::Inherited,
                script => Class::Of(script),
            },
        }
    }

    /// Whether no piece holds the one directly before the other, whatever is around them.
    pub(crate) fn part(&self, left: Class, right: Class) -> bool {
        match (left, right) {
            (Class::Alone, _) | (_, Class::Alone) => true,
            (Class::Space, Class::Space) => {
                self.split_by_whitespace && !self.allow_whitespace_only_pieces
            }
            (_, Class::Space) => self.split_by_whitespace && !self.treat_whitespace_as_suffix,
            (Class::Space, _) => self.split_by_whitespace && self.treat_whitespace_as_suffix,
            (Class::Of(left), Class::Of(right)) => self.split_by_unicode_script && left != right,
            (Class::Any | Class::Inherited, _) | (_, Class::Any | Class::Inherited) => false,
        }
    }

    /// Whether a string of these characters, two at least, may be a piece. Its length is not looked
    /// at.
    pub(crate) fn allow(&self, classes: &[Class]) -> bool {
        let mut script = Class::Any;
        for &class in classes {
            let next = match class {
                Class::Space => continue,
                Class::Alone => return false,
                Class::Inherited => script,
                Class::Any | Class::Of(_) => class,
            };
            if let (Class::Of(before), Class::Of(here)) = (script, next)
                && self.split_by_unicode_script
                && before != here
            {
                return false;
            }
            script = next;
        }
        self.allow_spaces(classes)
    }

    fn allow_spaces(&self, classes: &[Class]) -> bool {
        let is_space = |class: &Class| *class == Class::Space;
        if self.allow_whitespace_only_pieces && classes.iter().all(is_space) {
            return true;
        }
        let [first, inside @ .., last] = classes else {
            return true;
        };
        let far = if self.treat_whitespace_as_suffix {
            first
        } else {
            last
        };
        !(is_space(far) || self.split_by_whitespace && inside.iter().any(is_space))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rules: &PieceRules, text: &str) -> bool {
        let classes: Vec<Class> = text.chars().map(|c| rules.class(c)).collect();
        rules.allow(&classes)
    }

    #[test]
    fn rules_for_pieces_hold() {
        let default = PieceRules::default();
        let rows: [(&str, PieceRules, &[&str], &[&str]); 7] = [
            (
                "default",
                default.clone(),
                &[
                    "▁the",
                    "ing",
                    "123",
                    "▁1",
                    "日本のカー",
                    "e\u{301}",
                    "\u{301}я",
                    "...",
                ],
                &["the▁", "a▁b", "▁▁", "a1", "don't", "aя", "e\u{301}я"],
            ),
            (
                "split_by_whitespace=false",
                PieceRules {
                    split_by_whitespace: false,
                    ..default.clone()
                },
                &["▁in▁the", "a▁b", "▁▁a"],
                &["in▁", "▁▁"],
            ),
            (
                "treat_whitespace_as_suffix",
                PieceRules {
                    treat_whitespace_as_suffix: true,
                    ..default.clone()
                },
                &["the▁"],
                &["▁the", "a▁b", "▁▁"],
            ),
            (
                "allow_whitespace_only_pieces",
                PieceRules {
                    allow_whitespace_only_pieces: true,
                    ..default.clone()
                },
                &["▁▁▁", "▁a"],
                &["▁▁a", "a▁"],
            ),
            (
                "split_by_unicode_script=false",
                PieceRules {
                    split_by_unicode_script: false,
                    ..default.clone()
                },
                &["aя1", "don't"],
                &["a▁"],
            ),
            (
                "split_by_number=false",
                PieceRules {
                    split_by_number: false,
                    ..default.clone()
                },
                &["a1", "1a", "a1я", "▁2nd"],
                &["aя", "a."],
            ),
            (
                "split_digits",
                PieceRules {
                    split_digits: true,
                    ..default
                },
                &["abc"],
                &["12", "▁1", "1２"],
            ),
        ];
        for (name, rules, allowed, refused) in rows {
            for text in allowed {
                assert!(allows(&rules, text), "{name}: {text}");
            }
            for text in refused {
                assert!(!allows(&rules, text), "{name}: {text}");
            }
        }
    }

    #[test]
    fn no_piece_crosses_a_part() {
        let characters = ['a', 'я', '1', '２', '▁', '.', '\u{301}', '日', 'カ'];
        for bits in 0..64 {
            let rules = PieceRules {
                max_piece_length: 4,
                split_by_whitespace: bits & 1 != 0,
                treat_whitespace_as_suffix: bits & 2 != 0,
                allow_whitespace_only_pieces: bits & 4 != 0,
                split_by_unicode_script: bits & 8 != 0,
                split_by_number: bits & 16 != 0,
                split_digits: bits & 32 != 0,
            };
            let classes = characters.map(|c| rules.class(c));
            for a in classes {
                for b in classes {
                    for c in classes {
                        for text in [&[a, b][..], &[a, b, c]] {
                            let parted = text.windows(2).any(|two| rules.part(two[0], two[1]));
                            assert!(!parted || !rules.allow(text), "{rules:?} {text:?}");
                        }
                    }
                }
            }
        }
    }
}
