//! Pieces that any pre-tokenizer cuts, looked up one by one.

use jeton_core::added_tokens::AddedToken;
use jeton_core::fast::Strategy;
use jeton_core::pre_tokenizer::PreTokenizer;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::check::{check, check_framed_parts, is_by};
use crate::support::rounds;
use crate::support::spaced::bpe_of_characters;
use crate::support::texts::{few_kinds, text};
use crate::support::words::{any_normalizer, cutting_stage, word_models};

#[test]
fn pieces_by_themselves() {
    let mut numbers = ChaCha8Rng::seed_from_u64(31);
    let (rounds, mut compiled, mut split) = (rounds(500), 0, 0);
    for round in 0..rounds {
        let [a, b, c] = word_models(&mut numbers);
        let models = [a, b, c, bpe_of_characters(&mut numbers)];
        let mut stages = Stages::of_model(models.choose(&mut numbers).unwrap().clone());
        stages.normalizer = any_normalizer(&mut numbers);
        let count = numbers.random_range(1..4);
        let cuts = (0..count).map(|_| cutting_stage(&mut numbers)).collect();
        stages.pre_tokenizer = Some(PreTokenizer::Sequence(cuts));
        if round % 3 == 0 {
            let added = |id, content: &str, normalized: bool| AddedToken {
                special: !normalized,
                rstrip: !normalized,
                normalized,
                ..AddedToken::plain(id, content)
            };
            stages.added_tokens = vec![added(5_000, "<s>", false), added(5_001, "the", true)];
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        compiled += usize::from(is_by(&tokenizer, Strategy::CachedPieces));
        check(&tokenizer, (0..20).map(|_| text(&mut numbers)));
        let text = few_kinds(&mut numbers, 20_000);
        let encoded = tokenizer.encode(&text, None, &EncodeOptions::default());
        if round % 2 == 0 && encoded.is_ok() {
            split += usize::from(check_framed_parts(&tokenizer, &text));
        }
    }
    assert!(10 * compiled > 7 * rounds, "{compiled}");
    assert!(20 * split > rounds, "{split}");
}
