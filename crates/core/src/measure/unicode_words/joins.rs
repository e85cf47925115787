//! With which neighbours a character is sure to be joined: what most text is cut into words by,
//! without the rules of UAX #29.
//!
//! Look here for what the rules are asked about each character, once, when it is first met.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use unicode_segmentation::UnicodeSegmentation;

use super::stands_alone;

/// With what a character is joined into a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Joins {
    /// With others like it: a letter or a digit.
    Word = 1,
    /// With whatever stands before it: a mark.
    Mark,
    /// With nothing: a word by itself.
    Alone,
    /// With nothing, and it is no part of a word.
    Nothing,
    /// With letters or digits only if it stands between two of them, such as a full stop.
    Between,
    /// The rules have to be asked.
    Unsure,
}

/// What was found out about the characters of the first plane; 0 where nothing was asked yet.
static KNOWN: [AtomicU8; 1 << 16] = [const { AtomicU8::new(0) }; 1 << 16];

impl Joins {
    const ALL: [Self; 6] = [
        Self::Word,
        Self::Mark,
        Self::Alone,
        Self::Nothing,
        Self::Between,
        Self::Unsure,
    ];

    /// What a character is joined with.
    #[inline(always)]
    pub(super) fn of(character: char) -> Self {
        let Some(known) = KNOWN.get(character as usize) else {
            return Self::Unsure;
        };
        match known.load(Relaxed) {
            0 => {
                let found = Self::asked(character);
                known.store(found as u8, Relaxed);
                found
            }
            number => Self::ALL[usize::from(number) - 1],
        }
    }

    #[cold]
    fn asked(character: char) -> Self {
        // How many segments a text has in which `·` stands for the character.
        let segments = |text: &str| {
            let text = text.replace('·', character.encode_utf8(&mut [0; 4]));
            text.split_word_bounds().count()
        };
        let all = |texts: &[&str], number| texts.iter().all(|text| segments(text) == number);
        if segments("!·") == 1 {
            // Pictures are joined with a joiner before them, and with what stands before that.
            return if all(&["a·a"], 1) && all(&["!·©"], 2) && !stands_alone(character) {
                Self::Mark
            } else {
                Self::Unsure
            };
        }
        let is_apart = all(&["!·!", "a·!", "1·!", "!·a", "!·1", "_·_", "カ·カ"], 3)
            && all(&["··", "!\u{200d}·"], 2);
        let is_between = !all(&["a·a", "1·1"], 3);
        match (character.is_alphanumeric(), is_apart, is_between) {
            (true, true, false) => Self::Alone,
            (false, true, false) => Self::Nothing,
            (false, true, true) => Self::Between,
            // A Hebrew letter is joined with the apostrophe behind it, and nothing but Hebrew
            // letters with quotation marks.
            (true, false, true)
                if all(&["··", "a·a", "a··a", "1·1"], 1)
                    && all(&["·'!"], 3)
                    && !stands_alone(character) =>
            {
                Self::Word
            }
            _ => Self::Unsure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_character() {
        let cases = [
            (Joins::Word, "aZ09éßñжا٣क"),
            (Joins::Mark, "\u{301}\u{64b}\u{93e}\u{ad}"),
            (Joins::Alone, "東あไ①"),
            (Joins::Nothing, "!-/\"。、—«\u{a0}"),
            (Joins::Between, ".,:;'’"),
            (Joins::Unsure, "_ア\u{200d}©א\u{e31}🙂"),
        ];
        for (joins, characters) in cases {
            for character in characters.chars() {
                assert_eq!(Joins::of(character), joins, "{character:?}");
            }
        }
    }
}
