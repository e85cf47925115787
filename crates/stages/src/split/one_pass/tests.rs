//! Sequences of random stages against the stages run one after another.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::pre_tokenizer::SplitBehavior;
use crate::pre_tokenizer::named::{GPT2_ORIGINAL, NAMED};
use crate::split::test_texts::PARTS;
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

const BEHAVIORS: [SplitBehavior; 5] = [
    SplitBehavior::Removed,
    SplitBehavior::Isolated,
    SplitBehavior::MergedWithPrevious,
    SplitBehavior::MergedWithNext,
    SplitBehavior::Contiguous,
];

/// What files split at, and what holds characters back: for long, and in vain.
const SOURCES: &[&str] = &[
    r"[\r\n]",
    r"\s?\p{L}+",
    r"\s?[!-/:-~]+",
    r"\s+$",
    r"a\s?$",
    r"[一-龥]+",
    r"\p{N}{1,3}",
    r"\p{N}",
    r"[0-9][0-9][0-9]",
    r"[\p{P}\p{S}]",
    r" ?[^\s]+|\s+(?!\S)|\s+",
    r" ?[^(\s|[.,!?…。，])]+",
    r"a+b|a",
    r"[a-m]+!",
    r"ab?c?d|\s\s\s",
    r"\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{L}\p{M}_]+|\p{N}{1,2}|[^\s\p{L}\p{M}\p{N}_]+|\s+",
    r"\p{L}+'s|\p{L}| +a",
    r"\n\n+|[^\n]{1,70}\n?",
    GPT2_ORIGINAL,
];

fn text(numbers: &mut ChaCha8Rng) -> String {
    let length = [3, 12, 60, 400][numbers.random_range(0..4)];
    let length = numbers.random_range(0..length);
    let kinds = numbers.random_range(2..=40);
    let some: Vec<_> = PARTS.choose_multiple(numbers, kinds).collect();
    (0..length)
        .map(|_| **some.choose(numbers).unwrap())
        .collect()
}

fn regex(source: &str, dialect: Dialect) -> SearchPattern {
    SearchPattern::Regex(Regex::new(source, dialect).unwrap())
}

fn stage(numbers: &mut ChaCha8Rng) -> PreTokenizer {
    let behavior = *BEHAVIORS.choose(numbers).unwrap();
    let invert = numbers.random_bool(0.2);
    match numbers.random_range(0..14) {
        0 => PreTokenizer::Digits {
            individual_digits: numbers.random_bool(0.5),
        },
        1 => PreTokenizer::Punctuation { behavior },
        2 => PreTokenizer::ByteLevel {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex: true,
            printable: false,
        },
        3 => PreTokenizer::CharDelimiterSplit { delimiter: 'e' },
        4 => [
            PreTokenizer::Whitespace,
            PreTokenizer::WhitespaceSplit,
            PreTokenizer::Bert,
        ]
        .choose(numbers)
        .unwrap()
        .clone(),
        5 => PreTokenizer::Split {
            pattern: SearchPattern::Literal(PARTS.choose(numbers).unwrap().to_string()),
            behavior,
            invert,
        },
        6 => NAMED.choose(numbers).unwrap().pre_tokenizer(),
        7 => PreTokenizer::Matches {
            pattern: regex(r"\w+| ", Dialect::Tiktoken),
        },
        _ => PreTokenizer::Split {
            pattern: regex(SOURCES.choose(numbers).unwrap(), Dialect::Oniguruma),
            behavior,
            invert,
        },
    }
}

fn flat(stages: Vec<PreTokenizer>) -> Vec<PreTokenizer> {
    let flat = stages.into_iter().flat_map(|stage| match stage {
        PreTokenizer::Sequence(stages) => flat(stages),
        stage => vec![stage],
    });
    flat.collect()
}

fn pieces(one_pass: &OnePass, text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    one_pass
        .split(text, |offset, length, bits| {
            let begins = |at: &usize| bits.get(at / 64).is_some_and(|it| it >> (at % 64) & 1 == 1);
            let mut starts: Vec<_> = (0..length).filter(begins).map(|at| offset + at).collect();
            assert_eq!(starts[0], offset);
            starts.push(offset + length);
            pieces.extend(starts.windows(2).map(|it| it[0]..it[1]));
        })
        .unwrap();
    pieces
}

#[test]
fn random_sequences_cut_as_their_stages() {
    let mut numbers = ChaCha8Rng::seed_from_u64(41);
    let (mut known, mut parted) = (0, 0);
    for _ in 0..1500 {
        let count = numbers.random_range(1..5);
        let stages = flat((0..count).map(|_| stage(&mut numbers)).collect());
        let Some(one_pass) = OnePass::new(stages) else {
            continue;
        };
        known += 1;
        for _ in 0..60 {
            let text = text(&mut numbers);
            let expected = stage_by_stage(one_pass.stages(), &text).unwrap();
            assert_eq!(pieces(&one_pass, &text), expected, "{one_pass:?} {text:?}");
            let (mut found, mut at) = (Vec::new(), 0);
            let reach = numbers.random_range(1..200);
            while at < text.len() {
                let end = one_pass.split_point(&text, at, reach);
                parted += usize::from(end < text.len());
                let part = pieces(&one_pass, &text[at..end]);
                found.extend(part.iter().map(|it| at + it.start..at + it.end));
                at = end;
            }
            assert_eq!(found, expected, "{one_pass:?} {text:?} {reach}");
        }
    }
    assert!(known > 1000 && parted > 10_000, "{known} {parted}");
}

#[test]
fn several_stages_split_in_one_pass() {
    let split = |source| PreTokenizer::Split {
        pattern: regex(source, Dialect::Oniguruma),
        behavior: SplitBehavior::Isolated,
        invert: false,
    };
    let stages = [r"\p{P}", r"\p{N}{1,2}", r" ?\S+|\s+(?!\S)|\s+"].map(split);
    let one_pass = OnePass::new(stages.into()).unwrap();
    let cut = |text: &'static str| -> Vec<&str> {
        pieces(&one_pass, text)
            .into_iter()
            .map(|it| &text[it])
            .collect()
    };
    assert_eq!(cut("is  it9."), ["is", " ", " it", "9", "."]);
    assert_eq!(cut("is  101."), ["is", "  ", "10", "1", "."]);
    assert_eq!(one_pass.split_point("one two three", 0, 12), 7);
    assert!(one_pass.0.table.steps.len() < 200);
}

#[test]
fn text_held_back_for_long_is_read_by_the_stages() {
    let split = |source| PreTokenizer::Split {
        pattern: regex(source, Dialect::Oniguruma),
        behavior: SplitBehavior::Isolated,
        invert: false,
    };
    let one_pass = OnePass::new(vec![split("a+b|a"), split("[ab]c|[ab]")]).unwrap();
    for count in [1, 100, 130, 3000] {
        for end in ["", "b", "c", "bc x"] {
            let text = [
                "xa aab".repeat(20),
                "a".repeat(count) + end,
                "aab".repeat(9),
            ]
            .concat();
            assert_eq!(
                pieces(&one_pass, &text),
                stage_by_stage(one_pass.stages(), &text).unwrap(),
                "{text}"
            );
        }
    }
}

#[test]
fn text_dropped_after_being_held_back_is_in_no_piece() {
    let split = |source, invert| PreTokenizer::Split {
        pattern: regex(source, Dialect::Oniguruma),
        behavior: SplitBehavior::Removed,
        invert,
    };
    let rows: [(Vec<PreTokenizer>, &str, &str, &str); 6] = [
        (vec![split("a+b", false)], "x", "a", "b y"),
        (vec![split(r"\s+$", false)], "b", " ", ""),
        (
            vec![split(r"\s+$", false), PreTokenizer::WhitespaceSplit],
            "b",
            " ",
            "c",
        ),
        (vec![split("x|a+b", true)], "x", "a", "c x"),
        (
            vec![split("<[^>]+>", false)],
            "text<",
            "a",
            ">link</a> more",
        ),
        (vec![split("<[^>]+>", false)], "<", "a", "><b>x"),
    ];
    for (stages, before, held, after) in rows {
        let one_pass = OnePass::new(stages).unwrap();
        for count in [1, 127, 128, 129, 130, 500] {
            let text = [before, &held.repeat(count), after].concat();
            let expected = stage_by_stage(one_pass.stages(), &text).unwrap();
            assert_eq!(pieces(&one_pass, &text), expected, "{one_pass:?} {text:?}");
        }
    }
}

#[test]
fn more_stages_than_any_file_has_make_no_table() {
    let digits = |count| {
        vec![
            PreTokenizer::Digits {
                individual_digits: true
            };
            count
        ]
    };
    assert!(OnePass::new(digits(MAX_STAGES)).is_some());
    assert!(OnePass::new(digits(100_000)).is_none());
}

fn of(source: &str) -> OnePass {
    OnePass::new(vec![PreTokenizer::Matches {
        pattern: regex(source, Dialect::Tiktoken),
    }])
    .unwrap()
}

#[test]
fn a_place_that_is_not_there_is_not_looked_for_everywhere() {
    for source in [r"[^\n]{1,300}\n?", r"\p{L}{1,100}", r"\p{L}+'s|\p{L}| +a"] {
        for text in ["a", "1", "漢", " ", "\n"].map(|it| it.repeat(1_000_000)) {
            let (one_pass, mut steps) = (of(source), 0);
            let end = one_pass.split_point_counted(&text, 0, 1, &mut steps);
            assert!(end == text.len() || text.is_char_boundary(end));
            let states = one_pass.0.stages.iter().map(|it| it.rows().count());
            assert!(0 < steps && steps <= MAX_STEPS + 1 + states.sum::<usize>());
        }
    }
}

#[test]
fn words_part_before_blanks() {
    let text = "Many words, one after another; 12 of them\nthere were.";
    let ends = |source: &str, aim| of(source).split_point(text, 0, aim);
    for source in [GPT2_ORIGINAL, NAMED[0].sources().0[0]] {
        assert_eq!([9, 20].map(|aim| ends(source, aim)), [4, 15], "{source}");
    }
    for source in [SOURCES[16], r"\p{L}+"] {
        assert_eq!([9, 20].map(|aim| ends(source, aim)), [5, 16], "{source}");
    }
    assert_eq!(ends(r"[^;]+|;", 40), 30);
    assert_eq!(ends(r"[^x]+", 9), text.len());
}
