//! Random stages of a `tokenizer.json` that writes spaces as `▁`, and a BPE of characters.

use jeton_core::Stages;
use jeton_core::added_tokens::AddedToken;
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::{Bpe, Model, Unigram, WordLevel};
use jeton_core::normalizer::{Charsmap, Normalization, Normalizer};
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior};
use jeton_core::vocab::Vocab;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::sentencepiece::{CHARSMAP, charsmap};
use super::texts::{spellings, text};

/// A BPE of characters whose merges are found in texts. Some join words.
pub fn bpe_of_characters(numbers: &mut ChaCha8Rng) -> Model {
    let inner_spaces = numbers.random_bool(0.1);
    let mut tokens = vec!["<unk>".to_owned()];
    if numbers.random_bool(0.6) {
        tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    }
    tokens.extend("▁abcdehinortw.,中жа\n".chars().map(String::from));
    tokens.remove(numbers.random_range(0..tokens.len()));
    let mut merges = Vec::new();
    for _ in 0..20 {
        let sample = text(numbers).replace(' ', "▁");
        let mut symbols: Vec<String> = sample.chars().map(String::from).collect();
        for _ in 0..6 {
            if symbols.len() < 2 {
                break;
            }
            let at = numbers.random_range(0..symbols.len() - 1);
            let together = symbols[at..at + 2].concat();
            let known = symbols[at..at + 2].iter().all(|side| tokens.contains(side));
            let inner = together.trim_start_matches('▁').contains('▁');
            if known && (inner_spaces || !inner) {
                let right = symbols.remove(at + 1);
                merges.push((symbols[at].clone().into(), right.into()));
                symbols[at].clone_from(&together);
                tokens.push(together);
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    let options = BpeOptions {
        alphabet: Alphabet::Characters,
        unk_token: numbers.random_bool(0.7).then(|| "<unk>".to_owned()),
        fuse_unk: numbers.random_bool(0.5),
        byte_fallback: numbers.random_bool(0.7),
        ignore_merges: numbers.random_bool(0.1),
        continuing_subword_prefix: None,
        end_of_word_suffix: numbers.random_bool(0.05).then(|| "a".to_owned()),
        ..BpeOptions::default()
    };
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    Model::Bpe(Bpe::by_merges(vocab, merges, options).unwrap())
}

/// Normalizers in the manner of SentencePiece, and some whose chunks depend on one another.
pub fn normalizer(numbers: &mut ChaCha8Rng) -> Option<Normalizer> {
    let replace = |from: &str, to: &str| Normalizer::Replace {
        pattern: SearchPattern::Literal(from.to_owned()),
        content: to.to_owned(),
    };
    let runs = |to: &str| Normalizer::Replace {
        pattern: SearchPattern::Regex(Regex::new(" {2,}", Dialect::Oniguruma).unwrap()),
        content: to.to_owned(),
    };
    let prepend = || Normalizer::Prepend {
        prefix: "▁".to_owned(),
    };
    let map = match numbers.random_range(0..4) {
        0 => Charsmap::new(CHARSMAP).unwrap(),
        1 => Charsmap::new(&charsmap(&[])).unwrap(),
        2 => Charsmap::new(&charsmap(&[
            ("W", "w"),
            (".", ""),
            (",", " "),
            ("\u{600}", ""),
            ("▁", "x"),
        ]))
        .unwrap(),
        _ => Normalization::NmtNfkc.charsmap().unwrap().clone(),
    };
    let strip = Normalizer::Strip {
        left: numbers.random_bool(0.5),
        right: numbers.random_bool(0.8),
    };
    let precompiled = Normalizer::Precompiled(map);
    Some(match numbers.random_range(0..12) {
        0 => return None,
        1 | 2 => Normalizer::Sequence(vec![prepend(), replace(" ", "▁")]),
        3 => replace(" ", "▁"),
        4 => precompiled,
        5 => Normalizer::Sequence(vec![precompiled, runs(" ")]),
        6 => Normalizer::Sequence(vec![precompiled, strip, runs("▁")]),
        7 => Normalizer::Sequence(vec![Normalizer::Nmt, Normalizer::Nfkc, runs(" ")]),
        8 => Normalizer::Sequence(vec![
            replace("..", "\""),
            replace("the", ""),
            Normalizer::Nfkd,
            Normalizer::StripAccents,
            Normalizer::Lowercase,
            precompiled,
        ]),
        9 => Normalizer::Sequence(vec![strip, Normalizer::Nfkc, runs("▁"), prepend()]),
        10 => Normalizer::Sequence(vec![precompiled, Normalizer::Nfc, replace(" ", "▁")]),
        _ => {
            let mut all = vec![
                prepend(),
                strip,
                precompiled,
                runs(" "),
                Normalizer::Nmt,
                Normalizer::Nfd,
                Normalizer::Nfkc,
                replace(",", " "),
                replace("a b", "ab"),
                replace(" ", "▁"),
            ];
            let count = numbers.random_range(1..5);
            let some = (0..count).map(|_| all.swap_remove(numbers.random_range(0..all.len())));
            Normalizer::Sequence(some.collect())
        }
    })
}

pub fn stages(numbers: &mut ChaCha8Rng) -> Stages {
    let model = match numbers.random_range(0..4) {
        0 | 1 => bpe_of_characters(numbers),
        2 => {
            let words = spellings(numbers, true);
            let scores = words.iter().map(|word| (word, -(word.len() as f64)));
            let unk_id = numbers.random_bool(0.9).then_some(0);
            Model::Unigram(Unigram::new(scores, unk_id, numbers.random_bool(0.3)).unwrap())
        }
        _ => {
            let words = spellings(numbers, true);
            let vocab = Vocab::new(words.iter().zip(0..)).unwrap();
            Model::WordLevel(WordLevel::new(vocab, words[0].clone()))
        }
    };
    let metaspace = |prepend_scheme, split| PreTokenizer::Metaspace {
        replacement: '▁',
        prepend_scheme,
        split,
    };
    let schemes = [
        PrependScheme::Always,
        PrependScheme::First,
        PrependScheme::Never,
    ];
    let scheme = *schemes.choose(numbers).unwrap();
    let mut stages = Stages::of_model(model);
    stages.normalizer = normalizer(numbers);
    stages.pre_tokenizer = match numbers.random_range(0..9) {
        0 | 1 => None,
        2 => Some(PreTokenizer::Split {
            pattern: SearchPattern::Literal(" ".to_owned()),
            behavior: SplitBehavior::MergedWithPrevious,
            invert: false,
        }),
        3 | 4 => Some(metaspace(scheme, false)),
        5 => Some(PreTokenizer::Sequence(vec![
            PreTokenizer::WhitespaceSplit,
            metaspace(scheme, numbers.random_bool(0.8)),
        ])),
        _ => Some(metaspace(scheme, true)),
    };
    stages.added_tokens.push(AddedToken {
        lstrip: numbers.random_bool(0.2),
        rstrip: numbers.random_bool(0.2),
        normalized: numbers.random_bool(0.2),
        ..AddedToken::special(100_000, "<s>")
    });
    stages
}
