//! Random byte-level tokenizers, their stages, and the texts for them.

use jeton_core::normalizer::Normalizer;
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::pre_tokenizer::{PreTokenizer, SplitBehavior, named};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

pub type Bytes = Vec<u8>;

pub const PARTS: &[&str] = &[
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

pub fn text(numbers: &mut ChaCha8Rng) -> String {
    let length = numbers.random_range(0..40);
    (0..length)
        .map(|_| PARTS[numbers.random_range(0..PARTS.len())])
        .collect()
}

/// Lists the merges by all ways to part a token in two, as lists are written from ranks.
pub fn add_other_ways(tokens: &[Bytes], merges: &mut Vec<(Bytes, Bytes)>) {
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
/// taken from text so that they occur; and a few that no merge makes. Some have several merges.
pub fn vocabulary(numbers: &mut ChaCha8Rng) -> (Vec<Bytes>, Vec<(Bytes, Bytes)>) {
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

pub fn split(source: &str, behavior: SplitBehavior) -> PreTokenizer {
    PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
        behavior,
        invert: false,
    }
}

pub const PATTERNS: [&str; 8] = [
    "gpt2",
    "cl100k",
    "llama3",
    "qwen2",
    "qwen3.5",
    "o200k",
    "tekken",
    "deepseek_v3",
];

pub fn pre_tokenizers() -> Vec<PreTokenizer> {
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
            split(r"[\r\n]", SplitBehavior::Isolated),
            split(r"\s?\p{L}+", SplitBehavior::Isolated),
            split(r"\s+$", SplitBehavior::Isolated),
            split(r"[一-龥]+", SplitBehavior::MergedWithPrevious),
            PreTokenizer::Digits {
                individual_digits: false,
            },
            bytes(false),
        ]),
        PreTokenizer::Sequence(vec![
            split(r"[\p{P}\p{S}]", SplitBehavior::Isolated),
            split(r"\p{N}{1,3}", SplitBehavior::Isolated),
            split(r" ?[^\s]+|\s+(?!\S)|\s+", SplitBehavior::Isolated),
        ]),
        PreTokenizer::Sequence(vec![
            split(r"[一-龥]+", SplitBehavior::Isolated),
            PreTokenizer::Split {
                pattern: SearchPattern::Regex(Regex::new(llama3, Dialect::Oniguruma).unwrap()),
                behavior: SplitBehavior::Removed,
                invert: true,
            },
        ]),
        PreTokenizer::Sequence(vec![
            split(r"\d", SplitBehavior::Contiguous),
            split(llama3, SplitBehavior::Removed),
            bytes(false),
        ]),
    ]);
    all
}

pub fn normalizers() -> Vec<Option<Normalizer>> {
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
