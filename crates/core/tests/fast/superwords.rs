//! Words and superwords, of a model of superwords and of a BPE with merges across spaces.

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::fast::Strategy;
use jeton_core::model::bpe::BpeOptions;
use jeton_core::model::superwords::Joining;
use jeton_core::model::{Bpe, Model, Superwords};
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::pre_tokenizer::{PreTokenizer, SplitBehavior, named};
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::byte_level::{PATTERNS, normalizers, vocabulary};
use crate::support::check::{ids_in_parts, is_by};
use crate::support::rounds;
use crate::support::spans;

/// Words, and what parts them.
const WORDS: [&str; 16] = [
    " a",
    " ab",
    "ab",
    " abc",
    " the",
    "the",
    " é",
    " 漢",
    ".",
    "\n",
    " 12",
    "  ",
    "<|end|>",
    " the",
    " a",
    " abababababababababababababababababababab",
];

fn text(numbers: &mut ChaCha8Rng) -> String {
    let longest = [6, 40, 200][numbers.random_range(0..3)];
    let words = (0..numbers.random_range(0..longest)).map(|_| {
        let place = numbers.random_range(0..WORDS.len());
        if numbers.random_range(0..4) == 0 {
            WORDS[0]
        } else {
            WORDS[place]
        }
    });
    words.collect()
}

/// A tokenizer of random words and superwords, some of them of superwords.
fn tokenizer(numbers: &mut ChaCha8Rng, pattern: &str, joining: Joining) -> Tokenizer {
    let (mut tokens, mut merges) = vocabulary(numbers);
    let mut add = |left: &[u8], right: &[u8], merges: Option<&mut Vec<(Vec<u8>, Vec<u8>)>>| {
        let made = [left, right].concat();
        if let Some(merges) = merges {
            if tokens.contains(&made) {
                return;
            }
            merges.push((left.to_vec(), right.to_vec()));
        }
        if !tokens.contains(&made) {
            tokens.push(made);
        }
    };
    for word in WORDS.iter().filter(|word| word.len() < 6) {
        for end in 1..word.len() {
            let (left, right) = (&word.as_bytes()[..end], &word.as_bytes()[end..=end]);
            add(left, right, Some(&mut merges));
        }
    }
    let mut symbols: Vec<Vec<u8>> = WORDS
        .iter()
        .filter(|it| it.len() < 6)
        .map(|it| (*it).into())
        .collect();
    let mut supers: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for _ in 0..12 {
        let mut part = || symbols[numbers.random_range(0..symbols.len())].clone();
        let (left, right) = (part(), part());
        if supers.contains(&(left.clone(), right.clone())) {
            continue;
        }
        add(&left, &right, None);
        symbols.push([&left[..], &right].concat());
        supers.push((left, right));
    }
    let count = tokens.len() as u32;
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    let words = Bpe::by_merges(vocab, merges, BpeOptions::default()).unwrap();
    let pattern = named::find(pattern).unwrap().pre_tokenizer();
    let supers = supers.iter().map(|(left, right)| (&left[..], &right[..]));
    let model = Superwords::by_merges(words, pattern, joining, supers).unwrap();
    let mut stages = Stages::of_model(Model::Superwords(Box::new(model)));
    stages.added_tokens = vec![AddedToken {
        special: true,
        ..AddedToken::plain(count, "<|end|>")
    }];
    let all = normalizers();
    stages.normalizer = all[numbers.random_range(0..all.len())].clone();
    Tokenizer::new(stages).unwrap()
}

#[test]
fn ids_and_spans_equal_the_stages() {
    let mut numbers = ChaCha8Rng::seed_from_u64(5);
    let (rounds, mut compiled) = (rounds(40), 0);
    for (round, pattern) in (0..rounds).zip(PATTERNS.iter().cycle()) {
        let joining = [Joining::Letters, Joining::All][round % 2];
        let tokenizer = tokenizer(&mut numbers, pattern, joining);
        compiled += usize::from(is_by(&tokenizer, Strategy::ByteLevel));
        for _ in 0..25 {
            let text = text(&mut numbers);
            for special in [SpecialPolicy::Ignore, SpecialPolicy::Allow] {
                let options = EncodeOptions {
                    special,
                    ..EncodeOptions::default()
                };
                let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
                for _ in 0..2 {
                    let ids = tokenizer.encode_ids(&text, &options).unwrap();
                    assert_eq!(ids, staged, "{pattern} {joining:?} {text:?}");
                }
                assert_eq!(tokenizer.count(&text, &options).unwrap(), staged.len());
                spans::check(&tokenizer, &text, &options);
            }
            let options = EncodeOptions::default();
            let reach = numbers.random_range(1..60);
            let ids = ids_in_parts(&tokenizer, &text, reach, &options);
            let whole = tokenizer.encode_ids(&text, &options).unwrap();
            assert_eq!(ids, whole, "{pattern} {joining:?} {text:?}");
        }
    }
    assert!(8 * compiled > rounds, "{compiled}");
}

#[test]
fn a_million_equal_words_are_joined() {
    let mut numbers = ChaCha8Rng::seed_from_u64(6);
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    tokens.extend([b" a".to_vec(), b" a a".to_vec(), b" a a a a".to_vec()]);
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    let merges = [(b" ".to_vec(), b"a".to_vec())];
    let words = Bpe::by_merges(vocab, merges, BpeOptions::default()).unwrap();
    let pattern = named::from_pattern("gpt2").unwrap();
    let supers: [(&[u8], &[u8]); 2] = [(b" a", b" a"), (b" a a", b" a a")];
    let model = Superwords::by_merges(words, pattern, Joining::Letters, supers).unwrap();
    let tokenizer = Tokenizer::new(Stages::of_model(Model::Superwords(Box::new(model)))).unwrap();
    let count = 1_000_000 + numbers.random_range(0..4);
    let ids = tokenizer
        .encode_ids(&" a".repeat(count), &EncodeOptions::default())
        .unwrap();
    assert_eq!(ids.len(), count / 4 + [0, 1, 1, 2][count % 4]);
}

/// A BPE as SuperBPE has it: merges of words, then any merges across spaces, and a pattern that leaves phrases
/// whole.
fn of_phrases(numbers: &mut ChaCha8Rng, round: usize) -> Tokenizer {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let mut parts: Vec<Vec<u8>> = " ab.é\n12".bytes().map(|byte| vec![byte]).collect();
    let mut merges: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let count = numbers.random_range(8..60);
    while merges.len() < count {
        let is_early = merges.len() < count / 2;
        // Some rounds make a token of words once more after those of phrases: then phrases stay whole.
        let is_odd = round.is_multiple_of(5) && !is_early;
        let mut part = || parts[numbers.random_range(0..parts.len())].clone();
        let (mut left, mut right) = (part(), part());
        if is_odd && left.len() > 2 {
            right = left.split_off(1);
        }
        let made = [&left[..], &right].concat();
        let crosses = made
            .windows(2)
            .any(|it| it[1] == b' ' && !it[0].is_ascii_whitespace());
        let is_new = !tokens.contains(&made);
        if made.len() > 12 || is_early == crosses && !is_odd || !is_new && !is_odd {
            continue;
        }
        if !tokens.contains(&left) || !tokens.contains(&right) {
            continue;
        }
        if !merges.contains(&(left.clone(), right.clone())) {
            merges.push((left, right));
        }
        if !tokens.contains(&made) {
            tokens.push(made.clone());
            parts.push(made);
        }
    }
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    let bpe = Bpe::by_merges(vocab, merges, BpeOptions::default()).unwrap();
    let mut stages = Stages::of_model(Model::Bpe(bpe));
    let patterns: &[&str] = [
        &[r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"][..],
        &[r"\n+"],
        &[r"\p{N}"],
        &[r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    ][round % 4];
    let split = |pattern: &&str| PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::new(*pattern, Dialect::Oniguruma).unwrap()),
        behavior: SplitBehavior::Isolated,
        invert: false,
    };
    let splits = patterns.iter().map(split).collect();
    stages.pre_tokenizer = Some(PreTokenizer::Sequence(splits));
    let all = normalizers();
    stages.normalizer = all[numbers.random_range(0..all.len())].clone();
    Tokenizer::new(stages).unwrap()
}

#[test]
fn phrases_have_the_ids_and_spans_of_the_stages() {
    let mut numbers = ChaCha8Rng::seed_from_u64(7);
    let (rounds, mut compiled) = (rounds(60), 0);
    for round in 0..rounds {
        let tokenizer = of_phrases(&mut numbers, round);
        compiled += usize::from(is_by(&tokenizer, Strategy::ByteLevel));
        for _ in 0..25 {
            let mut text = text(&mut numbers);
            if numbers.random_range(0..4) == 0 {
                text += &"ab a".repeat(numbers.random_range(20..200));
            }
            let options = EncodeOptions::default();
            let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
            for _ in 0..2 {
                let ids = tokenizer.encode_ids(&text, &options).unwrap();
                assert_eq!(ids, staged, "{round} {text:?}");
            }
            assert_eq!(tokenizer.count(&text, &options).unwrap(), staged.len());
            spans::check(&tokenizer, &text, &options);
            let reach = numbers.random_range(1..60);
            let ids = ids_in_parts(&tokenizer, &text, reach, &options);
            assert_eq!(ids, staged, "{round} {text:?}");
        }
    }
    assert!(8 * compiled > rounds, "{compiled}");
}

#[test]
fn stretches_of_any_length_are_joined() {
    let mut numbers = ChaCha8Rng::seed_from_u64(8);
    let tokenizers = [
        tokenizer(&mut numbers, "gpt2", Joining::All),
        of_phrases(&mut numbers, 1),
        of_phrases(&mut numbers, 3),
    ];
    let options = EncodeOptions::default();
    for tokenizer in tokenizers {
        for count in (0..140).chain([255, 256, 257, 384, 385, 1000]) {
            let words = &WORDS[numbers.random_range(0..5)..][..numbers.random_range(1..6)];
            let text: String = (0..count)
                .map(|_| words[numbers.random_range(0..words.len())])
                .collect();
            let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
            for _ in 0..2 {
                let ids = tokenizer.encode_ids(&text, &options).unwrap();
                assert_eq!(ids, staged, "{text:?}");
            }
        }
    }
}
