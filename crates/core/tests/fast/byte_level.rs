//! Byte-level BPE.

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::model::bpe::BpeOptions;
use jeton_core::model::{Bpe, Model};
use jeton_core::post_processor::PostProcessor;
use jeton_core::pre_tokenizer::{SplitBehavior, named};
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::byte_level::{
    PARTS, PATTERNS, normalizers, pre_tokenizers, split, text, vocabulary,
};
use crate::support::check::ids_in_parts;
use crate::support::rounds;
use crate::support::spans;

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
                let ids = ids_in_parts(&tokenizer, &text, reach, &options);
                let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
                assert_eq!(ids, staged, "{normalizer:?} {pre_tokenizer:?} {text:?}");
            }
        }
    }
}

#[test]
fn ids_and_spans_equal_the_stages() {
    let mut numbers = ChaCha8Rng::seed_from_u64(11);
    let mut trims = [None, Some(false), None, Some(true)].into_iter().cycle();
    let numbered = normalizers().into_iter().enumerate();
    for (round, normalizer, pre_tokenizer) in
        numbered.flat_map(|(i, n)| pre_tokenizers().into_iter().map(move |p| (i, n.clone(), p)))
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
            special,
            lstrip: special,
            normalized: !special,
            ..AddedToken::plain(count + id, content)
        };
        let mut stages = Stages::of_model(Model::Bpe(bpe));
        stages.normalizer = normalizer.clone();
        stages.pre_tokenizer = Some(pre_tokenizer.clone());
        stages.added_tokens = vec![added(0, "<|end|>", true), added(1, "<|end|>x", true)];
        let trimming = |add_prefix_space| PostProcessor::ByteLevel {
            add_prefix_space,
            trim_offsets: true,
            use_regex: true,
        };
        stages.post_processor = trims.next().flatten().map(trimming);
        if round % 2 == 0 {
            stages.added_tokens.push(added(2, "<pad>", false));
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        for _ in 0..rounds(150) {
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
                // Twice: words that are new, and words that were seen.
                for _ in 0..2 {
                    let compiled = tokenizer.encode_ids(&text, &options).unwrap();
                    assert_eq!(
                        compiled, staged,
                        "{normalizer:?} {pre_tokenizer:?} {text:?}"
                    );
                }
                assert_eq!(tokenizer.count(&text, &options).unwrap(), staged.len());
                spans::check(&tokenizer, &text, &options);
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
            spans::check(&tokenizer, &piece, &options);
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
