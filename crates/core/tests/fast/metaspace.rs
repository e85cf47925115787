//! A `tokenizer.json` that writes spaces as `▁`, as SentencePiece does.

use jeton_core::fast::Strategy;
use jeton_core::normalizer::Normalizer;
use jeton_core::pattern::SearchPattern;
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme};
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::check::{check, check_parts, is_by};
use crate::support::rounds;
use crate::support::spaced::{bpe_of_characters, stages};
use crate::support::texts::{few_kinds, text};

#[test]
fn words_with_the_spaces_before_them() {
    let mut numbers = ChaCha8Rng::seed_from_u64(26);
    let (rounds, mut compiled, mut split) = (rounds(400), 0, 0);
    for _ in 0..rounds {
        let tokenizer = Tokenizer::new(stages(&mut numbers)).unwrap();
        compiled += usize::from(is_by(&tokenizer, Strategy::Metaspace));
        check(&tokenizer, (0..20).map(|_| text(&mut numbers)));
        let text = few_kinds(&mut numbers, 20_000);
        if tokenizer
            .encode(&text, None, &EncodeOptions::default())
            .is_ok()
        {
            split += usize::from(check_parts(&tokenizer, &text, &EncodeOptions::default()));
        }
    }
    assert!(8 * compiled > 3 * rounds, "{compiled}");
    assert!(5 * split > rounds, "{split}");
}

/// Tokenizers that only write spaces as `▁`, as Llama 2's: long chunks are split, and parts are taken
/// for chunks and chunks for parts where they may be.
#[test]
fn chunks_of_which_only_spaces_change() {
    let mut numbers = ChaCha8Rng::seed_from_u64(41);
    let mut cut = 0;
    while cut < rounds(60) {
        let mut stages = Stages::of_model(bpe_of_characters(&mut numbers));
        let writes = Normalizer::Replace {
            pattern: SearchPattern::Literal(" ".to_owned()),
            content: "▁".to_owned(),
        };
        let prepends = Normalizer::Prepend {
            prefix: "▁".to_owned(),
        };
        stages.normalizer = match numbers.random_range(0..3) {
            0 => Some(writes),
            1 => Some(Normalizer::Sequence(vec![prepends, writes])),
            _ => {
                stages.pre_tokenizer = Some(PreTokenizer::Metaspace {
                    replacement: '▁',
                    prepend_scheme: PrependScheme::First,
                    split: false,
                });
                None
            }
        };
        let tokenizer = Tokenizer::new(stages).unwrap();
        if !format!("{tokenizer:?}").contains("only_marks: true") {
            continue;
        }
        cut += 1;
        let words: Vec<String> = (0..20)
            .map(|_| text(&mut numbers).replace([' ', '\n'], ""))
            .collect();
        let texts = (0..10).map(|_| {
            let mut text = String::new();
            for _ in 0..40 {
                text.push_str(["", " ", " ", "  ", "\n"].choose(&mut numbers).unwrap());
                text.push_str(words.choose(&mut numbers).unwrap());
            }
            text
        });
        let texts: Vec<String> = texts.collect();
        check(&tokenizer, texts);
    }
}
