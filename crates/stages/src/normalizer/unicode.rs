//! Unicode's four normalization forms: with the alignment, or as text alone, at no cost for
//! text that is normalized already.
//!
//! Look here for how normalized text is recognized at the speed of reading it. A table has a number for each
//! character and form:
//!
//! - 0: it is *fixed*. It stays as it is, and nothing before it joins it or moves past it. Text of
//!   fixed characters is normalized, and the text in front of one can be normalized separately.
//! - 1 to 254: it stays as it is, but is a mark of this combining class. After a fixed character,
//!   marks are normalized if their classes do not fall.
//! - 255: it may change. The text from the last fixed character before it up to the next one has to
//!   be normalized.
//!
//! This is the quick check of Unicode's Annex 15, kept as far as the fixed characters around.

use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

use unicode_normalization_alignments::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};
use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::Normalizer;
use jeton_text::error::Result;
use jeton_text::interrupt::{paced, tick};
use jeton_text::mem::lazy::LazyStatic;
use jeton_text::mem::room;
use jeton_text::text::{AlignedText, ByteSet};

/// A normalization form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

/// What the forms do to characters, in the order of [`Form`].
static TABLES: [LazyStatic<FormTable>; 4] = [
    LazyStatic::new(|| FormTable::new(Form::Nfc)),
    LazyStatic::new(|| FormTable::new(Form::Nfd)),
    LazyStatic::new(|| FormTable::new(Form::Nfkc)),
    LazyStatic::new(|| FormTable::new(Form::Nfkd)),
];

impl Form {
    /// The form that a normalizer brings text into, if that is all it does.
    pub fn of(normalizer: &Normalizer) -> Option<Self> {
        match normalizer {
            Normalizer::Nfc => Some(Self::Nfc),
            Normalizer::Nfd => Some(Self::Nfd),
            Normalizer::Nfkc => Some(Self::Nfkc),
            Normalizer::Nfkd => Some(Self::Nfkd),
            Normalizer::Sequence(stages) => {
                let mut changing = stages.iter().filter(|stage| !stage.changes_nothing());
                match (changing.next(), changing.next()) {
                    (Some(stage), None) => Self::of(stage),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn table(self) -> &'static FormTable {
        &TABLES[self as usize]
    }

    /// `text` in this form.
    pub fn normalized(self, text: &str) -> Cow<'_, str> {
        let table = self.table();
        let mut normalized = String::new();
        let mut done = 0;
        let mut at = 0;
        while let Some((unsure, is_normalized)) = table.next_unsure(text, at) {
            at = unsure.end;
            if is_normalized {
                continue;
            }
            let length = normalized.len();
            normalized.push_str(&text[done..unsure.start]);
            let start = normalized.len();
            self.append(&text[unsure.clone()], &mut normalized);
            if normalized[start..] == text[unsure.clone()] {
                normalized.truncate(length)
            } else {
                done = unsure.end
            }
        }
        match done {
            0 => Cow::Borrowed(text),
            _ => {
                normalized.push_str(&text[done..]);
                Cow::Owned(normalized)
            }
        }
    }

    fn append(self, text: &str, normalized: &mut String) {
        match self {
            Self::Nfc => extend(normalized, text.nfc()),
            Self::Nfd => extend(normalized, text.nfd()),
            Self::Nfkc => extend(normalized, text.nfkc()),
            Self::Nfkd => extend(normalized, text.nfkd()),
        }
    }

    /// Normalizes `text` in place. What the quick check finds to be normalized is left as it is.
    pub fn normalize(self, text: &mut AlignedText) -> Result<()> {
        let old = text.clone();
        let old = old.as_str();
        if self.next_unsure(old, 0).is_none() {
            return Ok(());
        }
        let characters = self.with_origins(old);
        let new = characters.iter().map(|(character, _)| character).collect();
        let origins = characters.into_iter();
        text.replace(new, origins.map(|(c, origin)| (origin, c.len_utf8())))
    }

    /// What `text` becomes, each character with the bytes that it came from. Where marks change places,
    /// their ranges grow until neither starts nor ends fall.
    fn with_origins(self, text: &str) -> Vec<(char, Range<usize>)> {
        let mut parts: Vec<(char, Range<usize>)> = room::with_capacity(text.len());
        // Where the marks begin that no other character has followed yet.
        let mut marks = 0;
        for (at, character) in paced(text.char_indices()) {
            let push = |part| {
                if canonical_combining_class(part) == 0 {
                    parts[marks..].sort_by_key(|(mark, _)| canonical_combining_class(*mark));
                    marks = parts.len() + 1;
                }
                parts.push((part, at..at + character.len_utf8()));
            };
            match self {
                Self::Nfc | Self::Nfd => decompose_canonical(character, push),
                Self::Nfkc | Self::Nfkd => decompose_compatible(character, push),
            }
        }
        parts[marks..].sort_by_key(|(mark, _)| canonical_combining_class(*mark));
        if matches!(self, Self::Nfc | Self::Nfkc) {
            parts = composed(parts);
        }
        let mut end = 0;
        for (_, origin) in parts.iter_mut() {
            end = end.max(origin.end);
            origin.end = end;
        }
        let mut start = usize::MAX;
        for (_, origin) in parts.iter_mut().rev() {
            start = start.min(origin.start);
            origin.start = start;
        }
        parts
    }

    /// Whether a character is fixed.
    pub fn fixes(self, character: char) -> bool {
        self.table().of(character) == 0
    }

    /// Whether the character that begins at `at` is fixed.
    pub fn fixes_at(self, text: &str, at: usize) -> bool {
        self.table().fixes(text, at)
    }

    /// The next stretch at `from` or later that may change, and does so by itself; `from` is the
    /// beginning of the text or the end of such a stretch.
    pub fn next_unsure(self, text: &str, from: usize) -> Option<Range<usize>> {
        let table = self.table();
        let mut from = from;
        while let Some((unsure, is_normalized)) = table.next_unsure(text, from) {
            if !is_normalized {
                return Some(unsure);
            }
            from = unsure.end;
        }
        None
    }

    /// What the quick check of one character says, and its combining class.
    fn quick(self, character: char) -> (IsNormalized, u8) {
        let text = once(character);
        let quick = match self {
            Self::Nfc => is_nfc_quick(text),
            Self::Nfd => is_nfd_quick(text),
            Self::Nfkc => is_nfkc_quick(text),
            Self::Nfkd => is_nfkd_quick(text),
        };
        (quick, canonical_combining_class(character))
    }
}

/// Appends the characters of a text that is normalized on the way.
fn extend<T>(normalized: &mut String, characters: impl Iterator<Item = (char, T)>) {
    normalized.extend(paced(characters).map(|(character, _)| character));
}

/// Decomposed text, composed: each character joins the one before it of class 0, unless a mark of the
/// same class or a higher one is between them.
fn composed(parts: Vec<(char, Range<usize>)>) -> Vec<(char, Range<usize>)> {
    let mut whole: Vec<(char, Range<usize>)> = room::with_capacity(parts.len());
    // The last character of class 0, and the class of the last mark after it.
    let mut base: Option<usize> = None;
    let mut last = None;
    for (part, origin) in paced(parts.into_iter()) {
        let class = canonical_combining_class(part);
        if let Some(base) = base
            && last.is_none_or(|last| last < class)
            && let Some(joined) = compose(whole[base].0, part)
        {
            let before = &whole[base].1;
            let origin = before.start.min(origin.start)..before.end.max(origin.end);
            whole[base] = (joined, origin);
            continue;
        }
        last = (class > 0).then_some(class);
        if class == 0 {
            base = Some(whole.len());
        }
        whole.push((part, origin));
    }
    whole
}

/// What a form does to characters; see the head of this file.
struct FormTable {
    values: Box<[u8]>,
    /// The bytes that begin a character which is not fixed.
    leads: ByteSet,
}

const MAY_CHANGE: u8 = 255;

/// The code points among which all lie that are not fixed under some form.
const UNFIXED: [Range<u32>; 4] = [
    0xA0..0x3400,
    0xA000..0xD800,
    0xF900..0x1_FFFF,
    0x2_F800..0x2_FA20,
];

impl FormTable {
    fn new(form: Form) -> Self {
        let mut values = vec![0; UNFIXED[3].end as usize].into_boxed_slice();
        let mut leads = [false; 256];
        for character in UNFIXED.into_iter().flatten().filter_map(char::from_u32) {
            let value = match form.quick(character) {
                (IsNormalized::Yes, class) => class,
                _ => MAY_CHANGE,
            };
            if value != 0 {
                let lead = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
                values[character as usize] = value;
                leads[usize::from(lead)] = true;
            }
        }
        let leads = ByteSet::new(|byte| leads[usize::from(byte)]);
        Self { values, leads }
    }

    #[inline(always)]
    fn of(&self, character: char) -> u8 {
        self.values.get(character as usize).copied().unwrap_or(0)
    }

    /// The next stretch at `from` or later that need not be normalized: from the fixed character
    /// before one that is not, up to the next fixed character; and whether it is normalized for
    /// certain. `from` is the beginning of the text or the end of such a stretch.
    fn next_unsure(&self, text: &str, from: usize) -> Option<(Range<usize>, bool)> {
        tick();
        let unfixed = self.next_unfixed(text, from)?;
        let before = text[from..unfixed].chars().next_back();
        let start = unfixed - before.map_or(0, char::len_utf8);
        let (mut is_normalized, mut last) = (true, 0);
        for (at, character) in text[unfixed..].char_indices() {
            match self.of(character) {
                0 => return Some((start..unfixed + at, is_normalized)),
                value => {
                    is_normalized &= value >= last && value != MAY_CHANGE;
                    last = value;
                }
            }
        }
        Some((start..text.len(), is_normalized))
    }

    /// Where the next character begins, at `from` or later, that is not fixed.
    fn next_unfixed(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        self.leads.find(bytes, from, |at| !self.fixes(text, at))
    }

    /// Whether the character that begins at `at` is fixed.
    #[inline(always)]
    fn fixes(&self, text: &str, at: usize) -> bool {
        let character = text[at..].chars().next();
        character.is_some_and(|character| self.of(character) == 0)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

    #[test]
    fn only_unsure_stretches_are_normalized() {
        let found = Form::Nfc.normalized("cafe\u{301} né");
        assert_eq!(found, "café né");
        let (unsure, is_normalized) = Form::Nfc.table().next_unsure("cafe\u{301} né", 0).unwrap();
        assert_eq!((unsure, is_normalized), (3..6, false));
        assert!(matches!(
            Form::Nfc.normalized("héก\u{e48}"),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn characters_come_from_all_that_they_are_made_of() {
        type Row = (Form, &'static str, &'static [(usize, usize)]);
        let rows: [Row; 9] = [
            (
                Form::Nfc,
                "cafe\u{301} ",
                &[(0, 1), (1, 2), (2, 3), (3, 6), (6, 7)],
            ),
            (Form::Nfc, "\u{1112}\u{1161}\u{11ab}", &[(0, 9)]),
            (Form::Nfc, "\u{212b}\u{301}", &[(0, 5)]),
            // The second mark joins the letter, the first one stays.
            (Form::Nfc, "a\u{301}\u{323}", &[(0, 5), (1, 5)]),
            (Form::Nfkc, "ﬁe\u{301}", &[(0, 3), (0, 3), (3, 6)]),
            (Form::Nfkc, "ｶﾞ", &[(0, 6)]),
            (Form::Nfd, "é\u{323}", &[(0, 2), (0, 4), (0, 4)]),
            (Form::Nfd, "한", &[(0, 3), (0, 3), (0, 3)]),
            (
                Form::Nfkd,
                "e\u{301}½",
                &[(0, 1), (1, 3), (3, 5), (3, 5), (3, 5)],
            ),
        ];
        for (form, text, expected) in rows {
            let traced = form.with_origins(text).into_iter();
            let spans: Vec<_> = traced.map(|(_, at)| (at.start, at.end)).collect();
            assert_eq!(spans, expected, "{form:?} {text:?}");
        }
    }

    #[test]
    fn characters_that_are_not_fixed_are_found() {
        let mut numbers = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..2_000 {
            let length = numbers.random_range(0..200);
            let text: String = (0..length)
                .map(|_| match numbers.random_range(0..100) {
                    0 => numbers.random(),
                    _ => numbers.random_range('\0'..='\u{2ff}'),
                })
                .collect();
            let from = text.char_indices().nth(5).map_or(0, |(at, _)| at);
            for form in FORMS {
                let table = form.table();
                let unfixed = |(_, it): &(usize, char)| table.of(*it) != 0;
                let expected = text[from..].char_indices().find(unfixed);
                let expected = expected.map(|(at, _)| from + at);
                assert_eq!(table.next_unfixed(&text, from), expected);
            }
        }
    }

    #[test]
    fn tables_know_every_character() {
        for form in FORMS {
            for character in '\0'..=char::MAX {
                let expected = match form.quick(character) {
                    (IsNormalized::Yes, class) => class,
                    _ => MAY_CHANGE,
                };
                assert_eq!(
                    form.table().of(character),
                    expected,
                    "{form:?} {character:?}"
                );
            }
        }
    }

    #[test]
    fn composed_letters_are_letters() {
        let letter = regex_automata::meta::Regex::new(r"^\p{L}").unwrap();
        for character in '\0'..=char::MAX {
            let whole = character.to_string();
            let parts: String = whole.nfd().map(|(part, _)| part).collect();
            if parts != whole && letter.is_match(&parts) {
                assert!(letter.is_match(&whole), "{character:?}");
            }
        }
    }

    #[test]
    fn text_is_what_all_of_it_normalizes_to() {
        let mut numbers = ChaCha8Rng::seed_from_u64(3);
        let mut unfixed: Vec<char> = ('\0'..=char::MAX)
            .filter(|it| FORMS.iter().any(|form| form.table().of(*it) != 0))
            .collect();
        unfixed.extend("aeo ﬁÅé한ᄒ가中かーя\u{a8}".chars());
        for round in 0..20_000 {
            let length = numbers.random_range(0..if round % 100 == 0 { 400 } else { 12 });
            let text: String = (0..length)
                .map(|_| match numbers.random_range(0..8) {
                    0..2 => numbers.random_range('a'..='e'),
                    2..4 => numbers.random_range('\u{300}'..='\u{345}'),
                    4 => numbers.random_range('\u{1100}'..='\u{11ff}'),
                    5 => numbers.random_range('\u{ac00}'..='\u{acff}'),
                    6 => numbers.random(),
                    _ => unfixed[numbers.random_range(0..unfixed.len())],
                })
                .collect();
            for form in FORMS {
                let mut whole = String::new();
                form.append(&text, &mut whole);
                assert_eq!(form.normalized(&text), whole, "{form:?} {text:?}");
                let traced = form.with_origins(&text).into_iter();
                assert_eq!(
                    traced.map(|(c, _)| c).collect::<String>(),
                    whole,
                    "{form:?} {text:?}"
                );
                assert_eq!(form.normalized(&whole), whole, "{form:?} {text:?}");
                let quick = match form {
                    Form::Nfc => is_nfc_quick(text.chars()),
                    Form::Nfd => is_nfd_quick(text.chars()),
                    Form::Nfkc => is_nfkc_quick(text.chars()),
                    Form::Nfkd => is_nfkd_quick(text.chars()),
                };
                assert_eq!(
                    form.next_unsure(&text, 0).is_none(),
                    quick == IsNormalized::Yes,
                    "{form:?} {text:?}"
                );
            }
        }
    }
}
