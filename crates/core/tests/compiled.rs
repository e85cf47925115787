//! The compiled path against the staged one: the same ids and counts, for every tokenizer and text.

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::model::bpe::BpeOptions;
use jeton_core::model::{Bpe, Model};
use jeton_core::normalizer::Normalizer;
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::pre_tokenizer::{PreTokenizer, SplitBehavior, named};
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod spanned;

type Bytes = Vec<u8>;

const PARTS: &[&str] = &[
    "a",
    "e",
    "the",
    "ing",
    "Word",
    "HTTPServer",
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "'s",
    "'LL",
    "'",
    "12",
    "1234567",
    "٣",
    "\u{11de0}",
    "!",
    "!!",
    "...",
    "/",
    "\n/",
    "-----",
    "é",
    "É",
    "中",
    "中文",
    "日本語",
    "か",
    "한국",
    "жа",
    "Ж",
    "म",
    "\u{93f}",
    "\u{301}",
    "e\u{301}",
    "\u{323}",
    "\u{212b}",
    "ﬁ",
    "\u{fc5e}",
    "\u{1112}\u{1161}",
    "\u{11ab}",
    "가",
    "\u{e48}",
    "か\u{3099}",
    " x",
    " é",
    "🙂",
    "👩\u{200d}👧",
    "“",
    "\u{0}",
    "<|end|>",
    "<|end|>x",
    "<pad>",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "中中中中中中中中中中",
];

fn text(numbers: &mut ChaCha8Rng) -> String {
    let length = numbers.random_range(0..40);
    (0..length)
        .map(|_| PARTS[numbers.random_range(0..PARTS.len())])
        .collect()
}

/// Lists the merges by all ways to part a token in two, as lists are written from ranks.
fn add_other_ways(tokens: &[Bytes], merges: &mut Vec<(Bytes, Bytes)>) {
    *merges = (tokens.iter())
        .flat_map(|token| (1..token.len()).map(|at| token.split_at(at)))
        .filter(|(left, right)| {
            [left, right]
                .iter()
                .all(|&part| tokens.iter().any(|token| token == part))
        })
        .map(|(left, right)| (left.to_vec(), right.to_vec()))
        .collect();
}

/// A byte-level vocabulary whose tokens are random concatenations of earlier ones, most of them
/// taken from text so that they are met; and a few that no merge makes. Some have several merges.
fn vocabulary(numbers: &mut ChaCha8Rng) -> (Vec<Bytes>, Vec<(Bytes, Bytes)>) {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    for _ in 0..300 {
        let sample = text(numbers).into_bytes();
        if sample.len() < 2 {
            continue;
        }
        let at = numbers.random_range(1..sample.len());
        let known = |part: &&[u8]| tokens.iter().any(|token| token == part);
        let left = (at.saturating_sub(12)..at)
            .map(|start| &sample[start..at])
            .find(known)
            .map(<[u8]>::to_vec);
        let right = (at + 1..=sample.len().min(at + 12))
            .rev()
            .map(|end| &sample[at..end])
            .find(known)
            .map(<[u8]>::to_vec);
        if let (Some(left), Some(right)) = (left, right) {
            let token = [left.clone(), right.clone()].concat();
            if !tokens.contains(&token) {
                tokens.push(token);
                merges.push((left, right));
            } else if !merges.contains(&(left.clone(), right.clone())) {
                merges.push((left, right));
            }
        }
    }
    if numbers.random_bool(0.5) {
        add_other_ways(&tokens, &mut merges);
    }
    for _ in 0..6 {
        let part = PARTS[numbers.random_range(0..PARTS.len())].as_bytes();
        if part.len() > 1 && !tokens.iter().any(|token| token == part) {
            tokens.push(part.to_vec());
        }
    }
    (tokens, merges)
}

fn split(source: &str, behavior: SplitBehavior) -> PreTokenizer {
    PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
        behavior,
        invert: false,
    }
}

const PATTERNS: [&str; 8] = [
    "gpt2",
    "cl100k",
    "llama3",
    "qwen2",
    "qwen3.5",
    "o200k",
    "tekken",
    "deepseek_v3",
];

fn pre_tokenizers() -> Vec<PreTokenizer> {
    let mut all: Vec<PreTokenizer> = PATTERNS
        .map(|name| named::find(name).unwrap().pre_tokenizer())
        .into();
    let bytes = |use_regex| PreTokenizer::ByteLevel {
        add_prefix_space: false,
        trim_offsets: true,
        use_regex,
        printable: false,
    };
    let llama3 = named::find("llama3").unwrap().sources().0[0];
    all.extend([
        bytes(true),
        PreTokenizer::ByteLevel {
            add_prefix_space: true,
            trim_offsets: true,
            use_regex: true,
            printable: false,
        },
        PreTokenizer::Sequence(vec![
            PreTokenizer::Digits {
                individual_digits: true,
            },
            bytes(true),
        ]),
        PreTokenizer::Sequence(vec![
            split(r"\p{N}{1,3}", SplitBehavior::Isolated),
            bytes(true),
        ]),
        PreTokenizer::Split {
            pattern: SearchPattern::Regex(Regex::new(llama3, Dialect::Oniguruma).unwrap()),
            behavior: SplitBehavior::Removed,
            invert: true,
        },
        PreTokenizer::Sequence(vec![split(llama3, SplitBehavior::Isolated), bytes(false)]),
        split(r"[0-9]+|\s", SplitBehavior::Isolated),
        split(r"(?<=a)b?e", SplitBehavior::Isolated),
        PreTokenizer::Matches {
            pattern: SearchPattern::Regex(Regex::new(r"\w+| ", Dialect::Tiktoken).unwrap()),
        },
        PreTokenizer::Sequence(vec![PreTokenizer::Whitespace, bytes(true)]),
        PreTokenizer::Sequence(vec![
            PreTokenizer::Punctuation {
                behavior: SplitBehavior::MergedWithPrevious,
            },
            bytes(true),
        ]),
        split(r"\s", SplitBehavior::MergedWithNext),
        PreTokenizer::Sequence(vec![
            split(r"\d", SplitBehavior::Contiguous),
            split(llama3, SplitBehavior::Removed),
            bytes(false),
        ]),
    ]);
    all
}

fn normalizers() -> Vec<Option<Normalizer>> {
    vec![
        None,
        Some(Normalizer::Nfc),
        Some(Normalizer::Nfd),
        Some(Normalizer::Sequence(vec![])),
        Some(Normalizer::Nfkc),
        Some(Normalizer::Nfkd),
        Some(Normalizer::Sequence(vec![Normalizer::Nfc])),
        Some(Normalizer::Lowercase),
        Some(Normalizer::Sequence(vec![
            Normalizer::Nfd,
            Normalizer::Nmt,
            Normalizer::StripAccents,
        ])),
    ]
}

#[test]
fn parts_are_encoded_as_the_whole() {
    let mut numbers = ChaCha8Rng::seed_from_u64(14);
    for normalizer in normalizers() {
        for pre_tokenizer in pre_tokenizers() {
            let (tokens, _) = vocabulary(&mut numbers);
            let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
            let mut stages = Stages::of_model(Model::Bpe(Bpe::by_ranks(vocab).unwrap()));
            stages.normalizer = normalizer.clone();
            stages.pre_tokenizer = Some(pre_tokenizer.clone());
            let tokenizer = Tokenizer::new(stages).unwrap();
            let options = EncodeOptions::default();
            for _ in 0..40 {
                let text: String = (0..numbers.random_range(1..8))
                    .map(|_| text(&mut numbers))
                    .collect();
                let reach = numbers.random_range(1..100);
                let (mut ids, mut at) = (Vec::new(), 0);
                while at < text.len() {
                    let end = tokenizer.split_point(&text, at, reach, &options);
                    tokenizer
                        .encode_into(&text[at..end], &options, &mut ids)
                        .unwrap();
                    at = end;
                }
                let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
                assert_eq!(ids, staged, "{normalizer:?} {pre_tokenizer:?} {text:?}");
            }
        }
    }
}

#[test]
fn compiled_equals_staged() {
    let mut numbers = ChaCha8Rng::seed_from_u64(11);
    let rounds = normalizers().into_iter().enumerate();
    for (round, normalizer, pre_tokenizer) in
        rounds.flat_map(|(i, n)| pre_tokenizers().into_iter().map(move |p| (i, n.clone(), p)))
    {
        let (tokens, merges) = vocabulary(&mut numbers);
        let count = tokens.len() as u32;
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let bpe = match round % 3 {
            0 => Bpe::by_ranks(vocab).unwrap(),
            whole => Bpe::by_merges(
                vocab,
                merges,
                BpeOptions {
                    ignore_merges: whole == 1,
                    ..BpeOptions::default()
                },
            )
            .unwrap(),
        };
        let added = |id, content: &str, special| AddedToken {
            id: count + id,
            content: content.to_owned(),
            special,
            single_word: false,
            lstrip: special,
            rstrip: false,
            normalized: !special,
        };
        let mut stages = Stages::of_model(Model::Bpe(bpe));
        stages.normalizer = normalizer.clone();
        stages.pre_tokenizer = Some(pre_tokenizer.clone());
        stages.added_tokens = vec![added(0, "<|end|>", true), added(1, "<|end|>x", true)];
        if round % 2 == 0 {
            stages.added_tokens.push(added(2, "<pad>", false));
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        for _ in 0..150 {
            let text: String = (0..numbers.random_range(1..8))
                .map(|_| text(&mut numbers))
                .collect();
            for special in [
                SpecialPolicy::Ignore,
                SpecialPolicy::Allow,
                SpecialPolicy::Only(["<|end|>".to_owned()].into()),
            ] {
                let options = EncodeOptions {
                    special,
                    ..EncodeOptions::default()
                };
                let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
                // Twice: words that are new, and words that were met.
                for _ in 0..2 {
                    let compiled = tokenizer.encode_ids(&text, &options).unwrap();
                    assert_eq!(
                        compiled, staged,
                        "{normalizer:?} {pre_tokenizer:?} {text:?}"
                    );
                }
                assert_eq!(tokenizer.count(&text, &options).unwrap(), staged.len());
                spanned::check(&tokenizer, &text, &options);
            }
        }
    }
}

#[test]
fn long_runs_of_any_kind_take_no_quadratic_time() {
    let mut numbers = ChaCha8Rng::seed_from_u64(12);
    let (tokens, _) = vocabulary(&mut numbers);
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    let mut random = String::new();
    while random.len() < 300_000 {
        random.push(numbers.random());
    }
    for name in PATTERNS {
        let mut stages = Stages::of_model(Model::Bpe(Bpe::by_ranks(vocab.clone()).unwrap()));
        stages.pre_tokenizer = Some(named::find(name).unwrap().pre_tokenizer());
        let tokenizer = Tokenizer::new(stages).unwrap();
        for unit in [
            "a",
            "A",
            " ",
            "\n",
            " \n",
            "1",
            "!",
            "'",
            "é",
            "中",
            "中A",
            "中・",
            ".a",
            "\u{0}",
            "\u{301}",
            "a\u{301}B",
            &random,
        ] {
            let text = unit.repeat(300_000usize.div_ceil(unit.len()));
            let options = EncodeOptions::default();
            let ids = tokenizer.encode_ids(&text, &options).unwrap();
            assert_eq!(tokenizer.count(&text, &options).unwrap(), ids.len());
            let bytes: usize = ids
                .iter()
                .map(|&id| tokenizer.token_bytes(id).unwrap().len())
                .sum();
            assert_eq!(bytes, text.len(), "{name} {:?}", unit.chars().next());
        }
    }
}

#[test]
fn pieces_of_every_length_equal_the_stages() {
    let mut numbers = ChaCha8Rng::seed_from_u64(13);
    for round in 0..12 {
        let (tokens, merges) = vocabulary(&mut numbers);
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let bpe = match round % 2 {
            0 => Bpe::by_ranks(vocab).unwrap(),
            _ => Bpe::by_merges(vocab, merges, BpeOptions::default()).unwrap(),
        };
        let mut stages = Stages::of_model(Model::Bpe(bpe));
        stages.pre_tokenizer = Some(split("\u{1}", SplitBehavior::Isolated));
        let tokenizer = Tokenizer::new(stages).unwrap();
        for length in [60, 64, 65, 70, 200, 4_000, 4_096, 4_100, 9_000] {
            let mut piece = String::new();
            while piece.len() < length {
                let part = PARTS[numbers.random_range(0..PARTS.len())];
                piece.push_str(&part.repeat(numbers.random_range(1..4)));
            }
            let options = EncodeOptions::default();
            let staged = tokenizer.encode(&piece, None, &options).unwrap().ids;
            assert_eq!(tokenizer.encode_ids(&piece, &options).unwrap(), staged);
            spanned::check(&tokenizer, &piece, &options);
        }
    }
}

#[test]
fn tokens_that_no_merge_makes_are_pieces_and_no_parts() {
    let mut numbers = ChaCha8Rng::seed_from_u64(14);
    const LETTERS: [&str; 6] = ["α", "β", "γ", "中", "e", "δ"];
    let mut random = |count: usize| -> String {
        let letters = (0..count).map(|_| LETTERS[numbers.random_range(0..LETTERS.len())]);
        letters.collect()
    };
    for round in 0..40 {
        let bytes = (0..=255).map(|byte| vec![byte]);
        let mut tokens: Vec<Vec<u8>> = bytes.collect();
        let mut merges = Vec::new();
        for letter in &LETTERS[..round % 4] {
            let (first, second) = letter.as_bytes().split_at(1);
            tokens.push(letter.as_bytes().to_vec());
            if let [_] = second {
                merges.push((first.to_vec(), second.to_vec()));
            }
        }
        let mut wholes: Vec<String> = (0..=round % 5).map(|it| random(2 + it % 2)).collect();
        wholes.sort();
        wholes.dedup();
        tokens.extend(wholes.iter().map(|whole| whole.as_bytes().to_vec()));
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let options = BpeOptions {
            ignore_merges: true,
            ..BpeOptions::default()
        };
        let bpe = match round % 2 {
            0 => Bpe::by_ranks(vocab).unwrap(),
            _ => Bpe::by_merges(vocab, merges, options).unwrap(),
        };
        let mut stages = Stages::of_model(Model::Bpe(bpe));
        stages.pre_tokenizer = Some(split("[ ]", SplitBehavior::Isolated));
        let tokenizer = Tokenizer::new(stages).unwrap();
        for count in [8, 20, 90, 300] {
            let long = random(count);
            let text = format!("{long} {} {} {long}", wholes.join(" "), wholes.concat());
            let options = EncodeOptions::default();
            let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
            for _ in 0..2 {
                assert_eq!(
                    tokenizer.encode_ids(&text, &options).unwrap(),
                    staged,
                    "{text}"
                );
            }
        }
    }
}
