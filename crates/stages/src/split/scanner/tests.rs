//! Scanners: the pieces of the expressions that they stand for, in any text.

use super::*;
use crate::pre_tokenizer::named;
use crate::split::test_texts::PARTS;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Every set of rules, with the expressions whose matches are split off one after another.
fn all() -> Vec<(Rules, Vec<&'static str>)> {
    let sources = |name| named::find(name).unwrap().sources().0;
    let behind = |numbers, name| [vec![numbers], sources(name)].concat();
    let any_numbers = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let (one, three, all) = (r"\p{N}", r"\p{N}{1,3}", r"\p{N}+");
    vec![
        (Rules::GPT2, sources("gpt2")),
        (Rules::CL100K, sources("cl100k")),
        (Rules::LLAMA3, sources("llama3")),
        (Rules::QWEN2, sources("qwen2")),
        (Rules::QWEN3_5, sources("qwen3.5")),
        (Rules::O200K, sources("o200k")),
        (Rules::TEKKEN, sources("tekken")),
        (Rules::DEEPSEEK_V3, sources("deepseek_v3")),
        (Rules::GPT2_DIGITS, behind(one, "gpt2")),
        (Rules::GPT2.after_numbers(Numbers::One), behind(one, "gpt2")),
        (Rules::GPT2.after_numbers(Numbers::All), behind(all, "gpt2")),
        (
            Rules::LLAMA3.after_numbers(Numbers::Three),
            behind(three, "llama3"),
        ),
        (
            Rules::GPT2.after_numbers(Numbers::Three),
            behind(three, "gpt2"),
        ),
        (
            Rules::CL100K.after_numbers(Numbers::One),
            behind(one, "cl100k"),
        ),
        (
            Rules::O200K.after_numbers(Numbers::Three),
            behind(three, "o200k"),
        ),
        (Rules::LLAMA3.with_numbers(Numbers::All), vec![any_numbers]),
    ]
}

fn compiled(patterns: &[&str]) -> Vec<fancy_regex::Regex> {
    let compiled = |pattern: &&str| fancy_regex::Regex::new(pattern).unwrap();
    patterns.iter().map(compiled).collect()
}

/// Where the pieces begin that expressions leave, one splitting what the one before it left.
fn regex_starts(regexes: &[fancy_regex::Regex], text: &str) -> Vec<usize> {
    let mut pieces: Vec<_> = std::iter::once(0..text.len()).collect();
    for regex in regexes {
        let mut finer = Vec::new();
        for piece in pieces {
            let mut done = piece.start;
            for found in regex.find_iter(&text[piece.clone()]) {
                let found = found.unwrap();
                let (start, end) = (piece.start + found.start(), piece.start + found.end());
                finer.extend([done..start, start..end]);
                done = end;
            }
            finer.push(done..piece.end);
        }
        pieces = finer;
    }
    let pieces = pieces.iter().filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.start).collect()
}

fn starts(rules: Rules, text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    Scanner::default().scan(rules, text, |offset, length, bits| {
        starts.extend(positions(offset, length, bits));
    });
    assert_eq!(
        starts_block_by_block(rules, text),
        starts,
        "{rules:?} {text:?}"
    );
    starts
}

/// The same as any processor finds them.
fn starts_block_by_block(rules: Rules, text: &str) -> Vec<usize> {
    let (mut scanner, mut starts, mut start) = (Scanner::default(), Vec::new(), 0);
    while start < text.len() {
        let end = stretch_end(text.as_bytes(), start);
        let stretch = &text.as_bytes()[start..end];
        let mask_starts = |scanner: &mut Scanner, rules, text: &[u8]| {
            scanner.mask_starts_by::<u64>((), rules, text);
        };
        scanner.scan_stretch_by(mask_starts, rules, Extent::Whole, stretch);
        let bits = &scanner.starts[..scanner.blocks.len()];
        starts.extend(positions(start, end - start, bits));
        start = end;
    }
    starts
}

fn positions(offset: usize, length: usize, bits: &[u64]) -> impl Iterator<Item = usize> {
    let set = move |i: &usize| bits[i / 64] >> (i % 64) & 1 == 1;
    assert_eq!((length..64 * bits.len()).find(set), None);
    (0..length).filter(set).map(move |i| offset + i)
}

fn scalar_starts(rules: Rules, text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at < text.len() {
        starts.push(at);
        at = rules.piece_end(text.as_bytes(), at);
    }
    starts
}

fn nasty(rng: &mut ChaCha8Rng) -> String {
    let length = rng.random_range(0..60);
    (0..length)
        .map(|_| PARTS[rng.random_range(0..PARTS.len())])
        .collect()
}

#[test]
fn every_number_is_numeric() {
    for character in '\0'..=char::MAX {
        let of = |classes: &classes::Classes| classes.of(character.into()) & classes::NUMBER;
        assert!(
            of(&CLASSES) == 0 || of(&classes::NUMERIC) != 0,
            "{character:?}"
        );
    }
}

#[test]
fn words_begin_with_the_space_before_them() {
    assert_eq!(starts(Rules::GPT2, "in  a box"), [0, 2, 3, 5]);
}

#[test]
fn words_end_by_case() {
    // Small letters continue through letters without case; capitals that end it are a word.
    assert_eq!(starts(Rules::O200K, "aªB"), [0, 3]);
    assert_eq!(starts(Rules::O200K, "ªBCa"), [0]);
    assert_eq!(starts(Rules::O200K, "ªBªCD"), [0, 5]);
    // Marks after punctuation: they begin a word, or belong to punctuation that took more.
    assert_eq!(starts(Rules::O200K, "a!\u{301}b"), [0, 1]);
    assert_eq!(starts(Rules::O200K, "a!!\u{301}b"), [0, 1, 5]);
    assert_eq!(starts(Rules::O200K, "a !\u{301}b"), [0, 1, 5]);
    assert_eq!(starts(Rules::O200K, "a!!\u{301}'s"), [0, 1, 6]);
}

/// Runs of each kind of character, some as long as several blocks.
#[test]
fn runs_across_blocks() {
    const KINDS: &[&[char]] = &[
        &['a', 'é', 'ⲁ', '𝐚'],
        &['A', 'É', 'Ⲁ', '𝐀', 'ǅ'],
        &['ª', 'א', '中', '𠀀'],
        &['\u{301}', '\u{93f}', '\u{e0100}'],
        &['!', '\'', '/', '§', '…', '🙂'],
        &[' ', '\n', '\u{3000}'],
        &['1', '٣'],
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for (rules, patterns) in all() {
        let regexes = compiled(&patterns);
        for _ in 0..2000 {
            let length = [200, 400, 1_200][rng.random_range(0..3)];
            let goes_on = [0.0, 0.5, 0.9, 0.97][rng.random_range(0..4)];
            let kinds = rng.random_range(2..=KINDS.len());
            let mut text = String::new();
            while text.len() < length {
                let kind = KINDS[rng.random_range(0..kinds)];
                text.push(kind[rng.random_range(0..kind.len())]);
                while rng.random_bool(goes_on) {
                    text.push(kind[rng.random_range(0..kind.len())]);
                }
            }
            let expected = regex_starts(&regexes, &text);
            assert_eq!(starts(rules, &text), expected, "{rules:?} {text:?}");
        }
    }
}

#[test]
fn lines_are_texts() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for (rules, _) in all() {
        for round in 0..3000 {
            let count = if round < 2900 { 3 } else { 400 };
            let text: String = (0..count).map(|_| nasty(&mut rng) + "\n").collect();
            let text = &text[..text.len() - round % 2];
            let mut expected = Vec::new();
            let mut offset = 0;
            for line in text.split_inclusive('\n') {
                expected.extend(starts(rules, line).iter().map(|start| offset + start));
                offset += line.len();
            }
            let mut found = Vec::new();
            Scanner::default().scan_lines(rules, text, |offset, length, bits| {
                found.extend(positions(offset, length, bits));
            });
            assert_eq!(found, expected, "{rules:?} {text:?}");
        }
    }
}

#[test]
fn blocks_scalar_and_regex_agree() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for (rules, patterns) in all() {
        let regexes = compiled(&patterns);
        for _ in 0..4000 {
            let text = nasty(&mut rng);
            let expected = regex_starts(&regexes, &text);
            assert_eq!(scalar_starts(rules, &text), expected, "{rules:?} {text:?}");
            assert_eq!(starts(rules, &text), expected, "{rules:?} {text:?}");
        }
        for _ in 0..20 {
            let text: String = (0..300).map(|_| nasty(&mut rng)).collect();
            assert_eq!(
                starts(rules, &text),
                scalar_starts(rules, &text),
                "{rules:?}"
            );
        }
    }
}
