//! Patterns against the engine of their dialect, on random and nasty text.

use proptest::prelude::*;

use std::ops::Range;

use super::regex::Engine;
use super::*;
use crate::error::{ErrorKind, Result};
use crate::mem::lazy::Lazy;
use jeton_stages::pre_tokenizer::named::{GPT2_ORIGINAL, NAMED};

fn found(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    pattern.matches(text).collect::<Result<_>>().unwrap()
}

#[test]
fn empty_matches_follow_the_library() {
    for dialect in [Dialect::Oniguruma, Dialect::Tiktoken] {
        let pattern = Regex::new("a*", dialect).unwrap();
        assert_eq!(found(&pattern, "baé"), [0..0, 1..2, 4..4]);
    }
    let empty = SearchPattern::Literal(String::new());
    let ends: Result<Vec<_>> = empty.matches("é€").collect();
    assert_eq!(ends.unwrap(), [0..0, 2..2, 5..5]);
}

#[test]
fn an_engine_that_gives_up_says_so() {
    let text = "a".repeat(64);
    for (source, dialect) in [
        (r"(?:(a|a|a)+)+(?=b)\1", Dialect::Oniguruma),
        (r"(?:(a|a|a)+)+(?=b)\1", Dialect::Tiktoken),
    ] {
        let pattern = Regex::new(source, dialect).unwrap();
        let results: Vec<_> = pattern.matches(&text).collect();
        let error = results.last().unwrap().as_ref().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
        assert!(error.to_string().contains("at byte 0"), "{error}");
    }
}

#[test]
fn broken_patterns_are_refused_with_the_reason() {
    for dialect in [Dialect::Oniguruma, Dialect::Tiktoken] {
        let error = Regex::new("a(b", dialect).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains("\"a(b\""), "{error}");
    }
}

#[test]
fn a_regex_is_stored_as_its_source() {
    let pattern = Regex::new(r"\p{L}+", Dialect::Oniguruma).unwrap();
    let stored = serde_json::to_string(&pattern).unwrap();
    assert_eq!(stored, r#"{"source":"\\p{L}+","dialect":"Oniguruma"}"#);
    assert_eq!(serde_json::from_str::<Regex>(&stored).unwrap(), pattern);
    assert!(serde_json::from_str::<Regex>(&stored.replace("p{", "p{{")).is_err());
}

/// Patterns of no library: with gaps, matches that are given back, and the end of the text.
const OTHERS: [&str; 9] = [
    r"[\p{L}\p{M}_]+|\p{N}{1,2}|[^\s\p{L}\p{M}\p{N}_]+|\s+",
    r"\p{L}+|\p{N}",
    r"'\w+| ?\w+|\W",
    r"\p{L}+'s|\p{L}| +a",
    r"(?:\p{L} )+\n|\p{Lu}{2,5}|[^\p{L}]",
    r"漢|かé|ー{3}|[aZ]+[sS]|'",
    r" ?[^\s]+|\s+(?!\S)|\s+",
    r"\n\n+|[^\n]{1,70}\n?",
    r"\p{Lu}?\p{Ll}+|\p{Lu}+|\s+(?!\S)|\s",
];

/// Split patterns with sets within sets.
const NESTED_SETS: [&str; 2] = [
    r" ?[^(\s|[.,!?…。])]+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
];

/// Each well-known pattern in each dialect where it runs in linear time: that, and the
/// dialect's own engine.
fn linear_patterns() -> &'static [(Regex, Regex)] {
    static PATTERNS: crate::mem::lazy::LazyStatic<Vec<(Regex, Regex)>> =
        crate::mem::lazy::LazyStatic::new(|| {
            let named = NAMED.iter().flat_map(|known| known.sources().0);
            let dialects = [Dialect::Tiktoken, Dialect::Oniguruma];
            (named
                .chain([GPT2_ORIGINAL])
                .chain(NESTED_SETS)
                .chain(OTHERS))
            .flat_map(|source| dialects.map(|dialect| (source, dialect)))
            .filter_map(|(source, dialect)| {
                let linear = Regex::new(source, dialect).ok().filter(Regex::is_linear)?;
                let own = Engine::of_dialect(source, dialect).unwrap();
                Some((
                    linear,
                    Regex::with_engine(source.to_owned(), dialect, Lazy::of(own)),
                ))
            })
            .collect()
        });
    &PATTERNS
}

/// Text that is hard to split: few characters, of every class that the patterns distinguish.
fn nasty_text() -> impl Strategy<Value = String> {
    let characters = prop_oneof![
        6 => proptest::sample::select("'sSdDtTmMlLvVeErR aZé漢かーʰǅſK١5Ⅷ²½".chars().collect::<Vec<_>>()),
        5 => proptest::sample::select(" \t\n\r\u{a0}\u{85}\u{2028}\u{3000}\u{1680}\u{c}\u{1c}".chars().collect::<Vec<_>>()),
        3 => proptest::sample::select("!.,/-_$€+<\"“…😀\u{200d}\u{200c}\u{fe0f}\u{301}\u{903}\u{ad}\u{0}\u{378}".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    let runs = (characters, prop_oneof![8 => Just(1_usize), 2 => 2..6_usize]);
    proptest::collection::vec(runs, 0..40).prop_map(|runs| {
        runs.into_iter()
            .flat_map(|(character, count)| std::iter::repeat_n(character, count))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn linear_time_finds_what_the_own_engine_finds(text in nasty_text()) {
        for (linear, own) in linear_patterns() {
            let expected = found(own, &text);
            prop_assert_eq!(&found(linear, &text), &expected, "{:?}", own);
        }
    }
}

#[test]
fn a_million_equal_characters_are_no_trouble() {
    let million = 1_000_000;
    let run = |text: &str| text.repeat(million / text.len());
    let texts = [
        run("a"),
        run("A"),
        run("1"),
        run(" "),
        run(" ") + "a",
        run("\n"),
        run("\n") + "a",
        run(" \n"),
        run("'"),
        run("' "),
        run("漢"),
        run("\u{301}"),
        run("a "),
        run("\r"),
        run(" ") + "\n" + &run(" ") + "a",
    ];
    let finite = |regex: &&Regex| !OTHERS.contains(&regex.source());
    for linear in linear_patterns()
        .iter()
        .map(|(linear, _)| linear)
        .filter(finite)
    {
        for text in &texts {
            assert!(
                linear.matches(text).all(|found| found.is_ok()),
                "{linear:?}"
            );
        }
    }
}
