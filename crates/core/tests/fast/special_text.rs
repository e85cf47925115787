//! Text never becomes a special token: for each family of models, text is segmented as if the model's
//! vocabulary did not have those that are special.
//!
//! The definition is [`without`]: the same stages, but for a model in which special tokens are spelled
//! as no text is. By every way of a call, both give the same.

use std::sync::atomic::AtomicBool;

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::format::snapshot;
use jeton_core::model::{Bpe, Model, Sampling};
use jeton_core::pre_tokenizer::PreTokenizer;
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, ErrorKind, Result, Stages, Tokenizer};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::special::{never, specials, stages, text, without};

/// What a text is to a tokenizer, by every way of a call; twice, since words are remembered.
fn every_way(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) -> Vec<Result<String>> {
    let shown = |it: &dyn std::fmt::Debug| format!("{it:?}");
    let never = AtomicBool::new(false);
    let mut all = vec![
        tokenizer.encode(text, None, options).map(|it| shown(&it)),
        tokenizer
            .encode(text, Some(text), options)
            .map(|it| shown(&it)),
    ];
    for _ in 0..2 {
        all.push(tokenizer.encode_ids(text, options).map(|it| shown(&it)));
        all.push(tokenizer.count(text, options).map(|it| shown(&it)));
    }
    let batch = tokenizer.encode_batch(&[text, "", text], options, 2, &never);
    all.push(batch.map(|it| shown(&it.ids)).map_err(|(_, error)| error));
    let counts = tokenizer.count_batch(&[text, text], options, 2, &never);
    all.push(counts.map(|it| shown(&it)).map_err(|(_, error)| error));
    for sampling in [
        Sampling {
            dropout: Some(0.4),
            seed: Some(7),
            ..Sampling::default()
        },
        Sampling {
            alpha: Some(0.3),
            seed: Some(7),
            ..Sampling::default()
        },
    ] {
        let options = EncodeOptions {
            sampling,
            ..options.clone()
        };
        all.push(tokenizer.encode(text, None, &options).map(|it| shown(&it)));
    }
    all.push(tokenizer.n_best(text, 6).map(|it| shown(&it)));
    all
}

/// Whether this error is about a character that no token but a special one spells.
fn is_only_special<T>(result: &Result<T>) -> bool {
    let error = result.as_ref().err();
    error.is_some_and(|it| {
        it.kind() == ErrorKind::Encode && it.to_string().contains("the only token for")
    })
}

const FAMILIES: &[&str] = &[
    "ranks",
    "merges of bytes",
    "merges of characters",
    "WordLevel",
    "WordPiece",
    "Unigram",
    "characters",
    "SentencePiece BPE",
    "SentencePiece Unigram",
    "SentencePiece words",
    "SentencePiece characters",
];

/// A test a family, so that they run side by side.
macro_rules! text_is_segmented_as_if_the_model_had_no_special_token {
    ($($name:ident: $number:literal,)*) => {
        mod text_is_segmented_as_if_the_model_had_no_special_token {
            $(
                #[test]
                fn $name() {
                    super::segmented_as_without_special_tokens($number);
                }
            )*

            #[test]
            fn all_families_are_here() {
                assert_eq!([$($number),*], std::array::from_fn::<_, { super::FAMILIES.len() }, _>(|it| it));
            }
        }
    };
}

text_is_segmented_as_if_the_model_had_no_special_token! {
    ranks: 0,
    merges_of_bytes: 1,
    merges_of_characters: 2,
    word_level: 3,
    word_piece: 4,
    unigram: 5,
    characters: 6,
    sentencepiece_bpe: 7,
    sentencepiece_unigram: 8,
    sentencepiece_words: 9,
    sentencepiece_characters: 10,
}

fn segmented_as_without_special_tokens(number: usize) {
    let family = FAMILIES[number];
    let mut numbers = ChaCha8Rng::seed_from_u64(number as u64);
    let (mut held, mut differed) = (0, 0);
    for _ in 0..24 {
        let plain = stages(family, &mut numbers);
        let special = specials(&plain, &mut numbers);
        let ids: Vec<u32> = special.iter().map(|token| token.id).collect();
        let unknown = plain.model.vocab().id(b"[UNK]");
        let model = without(&plain.model, &ids);
        // The added tokens of the other one are never spelled; a control piece is spelled as it was.
        let mut absent = special.clone();
        for token in &mut absent {
            let kept = model.vocab().id(token.content.as_bytes()) == Some(token.id);
            token.content = if kept {
                token.content.clone()
            } else {
                never(token.id)
            };
        }
        let absent = Stages {
            model,
            added_tokens: absent,
            ..plain.clone()
        };
        let special = Stages {
            added_tokens: special,
            ..plain.clone()
        };
        let tokenizer = Tokenizer::new(special).unwrap();
        let image = snapshot::write(tokenizer.stages()).unwrap();
        let copies = [
            Tokenizer::new(snapshot::read(&image).unwrap()).unwrap(),
            tokenizer,
        ];
        let (plain, absent) = (
            Tokenizer::new(plain).unwrap(),
            Tokenizer::new(absent).unwrap(),
        );
        let some = copies[0].stages().added_tokens[0].content.clone();
        let only = SpecialPolicy::Only([some].into());
        for round in 0..60 {
            let tokenizer = &copies[round % 2];
            let text = text(&mut numbers);
            let options = EncodeOptions::default();
            let expected = every_way(&absent, &text, &options);
            let got = every_way(tokenizer, &text, &options);
            if is_only_special(&got[0]) {
                continue;
            }
            let context = || format!("{family}: {text:?} {tokenizer:?}");
            for (way, (got, expected)) in got.iter().zip(&expected).enumerate() {
                if !is_only_special(got) {
                    assert_eq!(got, expected, "way {way} of {}", context());
                }
            }
            held += 1;
            differed += usize::from(
                plain.encode_ids(&text, &options) != tokenizer.encode_ids(&text, &options),
            );
            // Under the other policies tokens are split off, and what lies between is such text.
            for special in [SpecialPolicy::Allow, SpecialPolicy::Raise, only.clone()] {
                let options = EncodeOptions {
                    special,
                    ..options.clone()
                };
                let staged = tokenizer.encode(&text, None, &options);
                let compiled = tokenizer.encode_ids(&text, &options);
                match (&staged, compiled) {
                    (Ok(staged), Ok(compiled)) => {
                        assert_eq!(staged.ids, compiled, "{}", context())
                    }
                    (Err(_), Err(_)) => continue,
                    (_, compiled) => panic!("{staged:?} {compiled:?} {}", context()),
                }
                let allowed = match &options.special {
                    SpecialPolicy::Allow => continue,
                    SpecialPolicy::Only(_) => Some(copies[0].stages().added_tokens[0].id),
                    _ => None,
                };
                let control =
                    |id: &&u32| ids.contains(id) && Some(**id) != allowed && Some(**id) != unknown;
                assert_eq!(
                    staged.unwrap().ids.iter().find(control),
                    None,
                    "{}",
                    context()
                );
            }
        }
    }
    assert!(held > 300 && differed > 20, "{family}: {held} {differed}");
}

#[test]
fn special_tokens_may_change_with_the_added_tokens() {
    for (seed, family) in (0..).zip(FAMILIES) {
        let mut numbers = ChaCha8Rng::seed_from_u64(100 + seed);
        for _ in 0..6 {
            let plain = stages(family, &mut numbers);
            let [first, second] = [0, 1].map(|_| specials(&plain, &mut numbers));
            let with = |model: &Model, added_tokens: &[AddedToken]| {
                let stages = Stages {
                    model: model.clone(),
                    added_tokens: added_tokens.to_vec(),
                    ..plain.clone()
                };
                Tokenizer::new(stages).unwrap()
            };
            let before = with(&plain.model, &first);
            for added_tokens in [&second, &plain.added_tokens] {
                let fresh = with(&plain.model, added_tokens);
                let after = with(&before.stages().model, added_tokens);
                assert_eq!(fresh.stages(), after.stages());
                for _ in 0..30 {
                    let text = text(&mut numbers);
                    let options = EncodeOptions::default();
                    let [a, b] = [&fresh, &after].map(|it| every_way(it, &text, &options));
                    assert_eq!(a, b, "{family}: {text:?}");
                }
            }
        }
    }
}

#[test]
fn every_way_refuses_names_of_no_special_token() {
    let tokens = (0..=u8::MAX).map(|byte| vec![byte]);
    let bpe = Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap();
    let plain = Stages::of_model(Model::Bpe(bpe));
    let mut cut = plain.clone();
    cut.pre_tokenizer = Some(PreTokenizer::Whitespace);
    let mut added = plain.clone();
    added.added_tokens = vec![AddedToken::special(256, "<s>")];
    for (name, stages) in [("plain", plain), ("cut", cut), ("added", added)] {
        let tokenizer = Tokenizer::new(stages).unwrap();
        let options = EncodeOptions {
            special: SpecialPolicy::Only(["</s>".to_owned()].into()),
            ..EncodeOptions::default()
        };
        let never = AtomicBool::new(false);
        for text in ["", "a b"] {
            let batch = |threads| tokenizer.encode_batch(&[text], &options, threads, &never);
            let ways = [
                ("spans", tokenizer.encode(text, None, &options).err()),
                ("ids", tokenizer.encode_ids(text, &options).err()),
                ("count", tokenizer.count(text, &options).err()),
                ("exceeds", tokenizer.exceeds(text, 9, &options).err()),
                ("batch", batch(1).err().map(|(_, error)| error)),
                ("threads", batch(2).err().map(|(_, error)| error)),
            ];
            for (way, error) in ways {
                let kind = error.map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::Argument), "{name}, {way}: {text:?}");
            }
        }
    }
}
