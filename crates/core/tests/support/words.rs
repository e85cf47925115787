//! Random stages that split text into words, and models of words.

use jeton_core::model::{Model, Unigram, WordLevel, WordPiece};
use jeton_core::normalizer::{Charsmap, Normalizer};
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::pre_tokenizer::{PreTokenizer, SplitBehavior};
use jeton_core::vocab::Vocab;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::sentencepiece::CHARSMAP;
use super::texts::spellings;

pub fn bert(clean_text: bool, chinese: bool, strip: Option<bool>, lowercase: bool) -> Normalizer {
    Normalizer::Bert {
        clean_text,
        handle_chinese_chars: chinese,
        strip_accents: strip,
        lowercase,
    }
}

/// Normalizers that keep words apart, and some that do not.
pub fn normalizers() -> Vec<Option<Normalizer>> {
    let flags = [false, true];
    let mut all: Vec<_> = flags
        .iter()
        .flat_map(|&clean| flags.map(|chinese| (clean, chinese)))
        .flat_map(|(clean, chinese)| {
            [None, Some(false), Some(true)].map(|strip| (clean, chinese, strip))
        })
        .flat_map(|(clean, chinese, strip)| flags.map(|lower| bert(clean, chinese, strip, lower)))
        .chain([
            Normalizer::Nfc,
            Normalizer::Nfd,
            Normalizer::Nfkc,
            Normalizer::Nfkd,
            Normalizer::Lowercase,
            Normalizer::Nmt,
            Normalizer::Sequence(vec![
                Normalizer::Nfd,
                Normalizer::StripAccents,
                Normalizer::Lowercase,
            ]),
            Normalizer::Precompiled(Charsmap::new(CHARSMAP).unwrap()),
            Normalizer::Strip {
                left: true,
                right: true,
            },
        ])
        .map(Some)
        .collect();
    all.push(None);
    all
}

pub fn word_models(numbers: &mut ChaCha8Rng) -> [Model; 3] {
    let words = spellings(numbers, false);
    let vocab = || {
        let mut entries = vec!["[UNK]".to_owned()];
        entries.extend(words.iter().map(|word| word.to_lowercase()));
        entries.extend(
            words
                .iter()
                .map(|word| format!("##{}", word.to_lowercase())),
        );
        entries.sort();
        entries.dedup();
        Vocab::new(entries.into_iter().zip(0..)).unwrap()
    };
    let scores = words.iter().map(|word| (word, -(word.len() as f64)));
    let scores = scores.chain([(&words[0], -1.0)]).skip(1);
    [
        Model::WordPiece(WordPiece::new(vocab(), "[UNK]", "##", 20)),
        Model::WordLevel(WordLevel::new(vocab(), "[UNK]")),
        Model::Unigram(Unigram::new(scores, Some(0), false).unwrap()),
    ]
}

/// A stage that splits text.
pub fn cutting_stage(numbers: &mut ChaCha8Rng) -> PreTokenizer {
    let behavior = *[
        SplitBehavior::Removed,
        SplitBehavior::Isolated,
        SplitBehavior::MergedWithPrevious,
        SplitBehavior::MergedWithNext,
        SplitBehavior::Contiguous,
    ]
    .choose(numbers)
    .unwrap();
    let source = *[
        r"\s+",
        r"\d{1,3}",
        r"[a-m]?",
        r"(?<=e)\w",
        r"\p{L}+| ",
        r"\R|\t",
    ]
    .choose(numbers)
    .unwrap();
    match numbers.random_range(0..12) {
        0 => PreTokenizer::Bert,
        1 => PreTokenizer::Whitespace,
        2 => PreTokenizer::WhitespaceSplit,
        3 => PreTokenizer::CharDelimiterSplit { delimiter: 'e' },
        4 => PreTokenizer::Punctuation { behavior },
        5 => PreTokenizer::Digits {
            individual_digits: numbers.random_bool(0.5),
        },
        6 => PreTokenizer::UnicodeScripts,
        7 => PreTokenizer::FixedLength {
            length: numbers.random_range(1..7),
        },
        8 => PreTokenizer::Split {
            pattern: SearchPattern::Literal("a".to_owned()),
            behavior,
            invert: numbers.random_bool(0.3),
        },
        9 => PreTokenizer::Sequence(vec![PreTokenizer::UnicodeScripts, PreTokenizer::Whitespace]),
        10 => PreTokenizer::ByteLevel {
            add_prefix_space: numbers.random_bool(0.2),
            trim_offsets: true,
            use_regex: numbers.random_bool(0.7),
            printable: numbers.random_bool(0.2),
        },
        _ => PreTokenizer::Split {
            pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
            behavior,
            invert: numbers.random_bool(0.3),
        },
    }
}

/// Normalizers of any kind, one after another.
pub fn any_normalizer(numbers: &mut ChaCha8Rng) -> Option<Normalizer> {
    let replace = |pattern: &str, content: &str| Normalizer::Replace {
        pattern: SearchPattern::Literal(pattern.to_owned()),
        content: content.to_owned(),
    };
    let mut all = normalizers();
    all.extend([
        Some(replace("e", "")),
        Some(replace(" ", "  ")),
        Some(Normalizer::Prepend {
            prefix: " a".to_owned(),
        }),
        Some(Normalizer::StripAccents),
        Some(Normalizer::ByteLevel),
    ]);
    let count = numbers.random_range(0..4);
    let steps: Vec<_> = (0..count)
        .filter_map(|_| all.choose(numbers).cloned().flatten())
        .collect();
    (count > 0).then_some(Normalizer::Sequence(steps))
}
