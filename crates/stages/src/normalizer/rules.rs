//! SentencePiece's normalization rules by name, built from Unicode's tables.
//!
//! Look here for what `nmt_nfkc` is. A map cannot express all of NFKC: it says what each character
//! becomes, and which sequences become one character because they are the full decomposition of
//! one. Entries whose result follows from shorter keys are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use super::Charsmap;
use jeton_text::error::{Error, Result, by_name};
use jeton_text::mem::lazy::LazyStatic;

type Rules = BTreeMap<String, String>;

/// The rules by which a SentencePiece model normalizes text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Normalization {
    /// NFKC; controls go, and odd white space becomes a space.
    NmtNfkc,
    /// NFKC.
    Nfkc,
    /// As [`Self::NmtNfkc`], and case is folded.
    NmtNfkcCf,
    /// As [`Self::Nfkc`], and case is folded.
    NfkcCf,
    /// None.
    #[default]
    Identity,
    /// Those of a map that was given.
    UserDefined(Charsmap),
}

impl Normalization {
    /// The name in the file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NmtNfkc => "nmt_nfkc",
            Self::Nfkc => "nfkc",
            Self::NmtNfkcCf => "nmt_nfkc_cf",
            Self::NfkcCf => "nfkc_cf",
            Self::Identity => "identity",
            Self::UserDefined(_) => "user_defined",
        }
    }

    /// The character map, built on first use.
    pub fn charsmap(&self) -> Option<&Charsmap> {
        match self {
            Self::NmtNfkc => Some(&NMT_NFKC),
            Self::Nfkc => Some(&NFKC),
            Self::NmtNfkcCf => Some(&NMT_NFKC_CF),
            Self::NfkcCf => Some(&NFKC_CF),
            Self::Identity => None,
            Self::UserDefined(map) => Some(map),
        }
    }
}

impl FromStr for Normalization {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        const NAMED: [Normalization; 5] = [
            Normalization::NmtNfkc,
            Normalization::Nfkc,
            Normalization::NmtNfkcCf,
            Normalization::NfkcCf,
            Normalization::Identity,
        ];
        let names = [0, 1, 2, 3, 4].map(|at| (NAMED[at].name(), at));
        Ok(NAMED[by_name("normalizer", name, &names)?].clone())
    }
}

static NFKC: LazyStatic<Charsmap> = LazyStatic::new(|| compiled(&nfkc()));
static NMT_NFKC: LazyStatic<Charsmap> = LazyStatic::new(|| {
    let mut rules = nfkc();
    add_nmt(&mut rules);
    compiled(&rules)
});

static NFKC_CF: LazyStatic<Charsmap> = LazyStatic::new(|| {
    let mut rules = nfkc();
    fold_case(&mut rules);
    compiled(&rules)
});
static NMT_NFKC_CF: LazyStatic<Charsmap> = LazyStatic::new(|| {
    let mut rules = nfkc();
    add_nmt(&mut rules);
    fold_case(&mut rules);
    compiled(&rules)
});

fn compiled(rules: &Rules) -> Charsmap {
    Charsmap::compile(rules).expect("no rule is empty or holds U+0000")
}

/// The code points that Unicode's tables may say something of.
fn characters() -> impl Iterator<Item = char> {
    ('\u{1}'..='\u{2FFFF}').chain('\u{E0000}'..='\u{E0FFF}')
}

fn nfkc() -> Rules {
    let mut single = Rules::new();
    // The characters that decompose to one character, by that; and what decomposes to several.
    let mut spellings: BTreeMap<char, Vec<char>> = BTreeMap::new();
    let mut decomposed = BTreeSet::new();
    for character in characters() {
        let text = character.to_string();
        let composed: String = text.nfkc().collect();
        let parts: Vec<char> = text.nfkd().collect();
        match parts[..] {
            [part] => spellings.entry(part).or_default().push(character),
            _ => drop(decomposed.insert(parts)),
        }
        if composed != text {
            single.insert(text, composed);
        }
    }
    let mut sequences: Vec<(usize, String, String)> = Vec::new();
    for parts in decomposed {
        let composed: String = parts.iter().copied().nfc().collect();
        if !composed.chars().eq(parts.iter().copied()) {
            let ways = spelled(&parts, &spellings).into_iter();
            sequences.extend(ways.map(|way| (parts.len(), way, composed.clone())));
        }
    }
    // Shorter sequences first: a longer one is left out if they do the same.
    sequences.sort_unstable();
    let mut rules = single;
    for same in sequences.chunk_by(|(a, ..), (b, ..)| a == b) {
        let needed: Vec<_> = same
            .iter()
            .filter(|(length, from, to)| from != to && mapped(&rules, from, length - 1) != *to)
            .collect();
        rules.extend(
            needed
                .into_iter()
                .map(|(_, from, to)| (from.clone(), to.clone())),
        );
    }
    rules
}

/// The text with the longest keys replaced, of up to this many characters.
fn mapped(rules: &Rules, text: &str, longest: usize) -> String {
    let mut new = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let ends = rest
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take(longest);
        let found = ends
            .filter_map(|end| Some((end, rules.get(&rest[..end])?)))
            .last();
        let length = match found {
            Some((length, value)) => {
                new.push_str(value);
                length
            }
            None => {
                new.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    new
}

/// All ways to write these characters by characters that decompose to them.
fn spelled(parts: &[char], spellings: &BTreeMap<char, Vec<char>>) -> Vec<String> {
    let mut written = vec![String::new()];
    for part in parts {
        let alone = vec![*part];
        let ways = spellings.get(part).unwrap_or(&alone);
        written = written
            .iter()
            .flat_map(|start| ways.iter().map(move |way| format!("{start}{way}")))
            .collect();
    }
    written
}

/// What neural machine translation adds: controls go, odd white space becomes a space, and the
/// full-width tilde stays, which Japanese does not use as it uses the other.
fn add_nmt(rules: &mut Rules) {
    let controls = ('\u{1}'..='\u{8}')
        .chain(['\u{B}'])
        .chain('\u{E}'..='\u{1F}')
        .chain(['\u{7F}', '\u{8F}', '\u{9F}']);
    for control in controls {
        rules.insert(control.into(), String::new());
    }
    let spaces = [
        '\t', '\n', '\u{C}', '\r', '\u{61C}', '\u{1680}', '\u{200B}', '\u{200C}', '\u{200E}',
        '\u{200F}', '\u{2028}', '\u{2029}', '\u{2581}', '\u{FEFF}', '\u{FFFD}',
    ];
    for space in spaces {
        rules.insert(space.into(), " ".to_owned());
    }
    rules.remove("\u{FF5E}");
}

/// Folds the case of what characters become, and of characters that would stay.
fn fold_case(rules: &mut Rules) {
    for text in rules.values_mut() {
        *text = text.chars().map(folded).collect();
    }
    for character in characters() {
        let new = folded(character);
        if new != character {
            (rules.entry(character.into())).or_insert_with(|| new.into());
        }
    }
}

/// A character without its case: Unicode's simple case folding, which gives one character for one.
/// That is the small letter of its capital, but for the letters of Cherokee, whose small ones came
/// later, and the dotless i, which only Turkic languages fold.
fn folded(character: char) -> char {
    let capital = only(character.to_uppercase()).unwrap_or(character);
    match character {
        'ı' => character,
        '\u{13A0}'..='\u{13FD}' | '\u{AB70}'..='\u{ABBF}' => capital,
        _ => only(capital.to_lowercase()).unwrap_or(character),
    }
}

/// The character, if there is only one.
fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maps_are_what_their_names_say() {
        let become_of = |name: &str, text: &str| {
            let rules: Normalization = name.parse().unwrap();
            let map = rules.charsmap().unwrap();
            map.longest_prefix(text.as_bytes())
                .map(|(length, new)| (length, new.to_owned()))
        };
        let rows = [
            ("nfkc", "ﬁ", Some((3, "fi"))),
            ("nfkc", "e\u{301}", Some((3, "é"))),
            ("nfkc", "ｅ\u{301}", Some((5, "é"))),
            ("nfkc", "ｶﾞ", Some((6, "ガ"))),
            ("nfkc", "\u{1100}\u{1161}\u{11A8}", Some((9, "각"))),
            ("nfkc", "\t", None),
            ("nfkc", "～", Some((3, "~"))),
            ("nmt_nfkc", "～", None),
            ("nmt_nfkc", "\t", Some((1, " "))),
            ("nmt_nfkc", "\u{1}", Some((1, ""))),
            ("nmt_nfkc", "\u{A0}", Some((2, " "))),
            ("nmt_nfkc", "…", Some((3, "..."))),
            ("nmt_nfkc", "a", None),
            ("nfkc_cf", "A", Some((1, "a"))),
            ("nfkc_cf", "Å", Some((2, "å"))),
            ("nfkc_cf", "A\u{30A}", Some((3, "å"))),
            ("nfkc_cf", "Ⅷ", Some((3, "viii"))),
            ("nfkc_cf", "ς", Some((2, "σ"))),
            ("nfkc_cf", "ẞ", Some((3, "ß"))),
            ("nfkc_cf", "İ", None),
            ("nfkc_cf", "ı", None),
            ("nfkc_cf", "ꭰ", Some((3, "Ꭰ"))),
            ("nfkc_cf", "Ꭰ", None),
            ("nfkc_cf", "\t", None),
            ("nmt_nfkc_cf", "\t", Some((1, " "))),
            ("nmt_nfkc_cf", "Ｈ", Some((3, "h"))),
            ("nmt_nfkc_cf", "～", None),
        ];
        for (name, text, expected) in rows {
            let expected = expected.map(|(length, new)| (length, new.to_owned()));
            assert_eq!(become_of(name, text), expected, "{name} {text:?}");
        }
        let identity: Normalization = "identity".parse().unwrap();
        assert_eq!(identity.charsmap(), None);
        let error = "nmt_nfck".parse::<Normalization>().unwrap_err().to_string();
        assert_eq!(
            error,
            "normalizer cannot be \"nmt_nfck\" (did you mean \"nmt_nfkc\"?)"
        );
    }
}
