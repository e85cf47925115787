//! Parts of a text that are encoded separately, where added tokens are in it.

use jeton_core::added_tokens::AddedToken;
use jeton_core::model::sentencepiece::spec::Algorithm;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::check::check_framed_parts;
use crate::support::rounds;
use crate::support::sentencepiece::{self, model};
use crate::support::spaced;
use crate::support::texts::few_kinds;
use crate::support::words::{cutting_stage, normalizers, word_models};

/// Long texts are parted where no added token is near, whatever white space one takes.
#[test]
fn parts_between_added_tokens() {
    let mut numbers = ChaCha8Rng::seed_from_u64(43);
    let (rounds, mut split) = (rounds(120), 0);
    for round in 0..rounds {
        let mut stages = match round % 3 {
            0 => spaced::stages(&mut numbers),
            1 => {
                let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round / 3 % 2];
                let proto = model(&mut numbers, algorithm);
                sentencepiece::stages(&mut numbers, proto)
            }
            _ => {
                let mut stages = Stages::of_model(word_models(&mut numbers)[round / 3 % 3].clone());
                stages.normalizer = normalizers().choose(&mut numbers).unwrap().clone();
                stages.pre_tokenizer = Some(cutting_stage(&mut numbers));
                stages
            }
        };
        stages.added_tokens.clear();
        for (id, content) in (90_000..).zip(["<t>", "</t>", "e the", "\n\n"]) {
            stages.added_tokens.push(AddedToken {
                id,
                content: content.to_owned(),
                special: numbers.random_bool(0.3),
                single_word: numbers.random_bool(0.3),
                lstrip: numbers.random_bool(0.4),
                rstrip: numbers.random_bool(0.4),
                normalized: numbers.random_bool(0.2),
            });
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        let mut text = String::new();
        while text.len() < 40_000 {
            let length = numbers.random_range(1..6_000);
            text.push_str(&few_kinds(&mut numbers, length));
            let token = ["<t>", "</t>", "e the", "\n\n", "<", ""]
                .choose(&mut numbers)
                .unwrap();
            for around in [" ", "\n", token, " ", "\t", "\n"] {
                let most = if numbers.random_bool(0.1) { 2_000 } else { 3 };
                text.push_str(&around.repeat(numbers.random_range(0..most)));
            }
        }
        if tokenizer
            .encode(&text, None, &EncodeOptions::default())
            .is_ok()
        {
            split += usize::from(check_framed_parts(&tokenizer, &text));
        }
    }
    assert!(6 * split > rounds, "{split}");
}
