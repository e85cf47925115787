//! `.model` files of SentencePiece.

use std::sync::atomic::AtomicBool;

use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind,
};
use jeton_core::{EncodeOptions, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::check::{check, check_parts};
use crate::support::rounds;
use crate::support::sentencepiece::{charsmap, model, score, stages};
use crate::support::texts::{PARTS, few_kinds, text};

#[test]
fn texts() {
    let mut numbers = ChaCha8Rng::seed_from_u64(21);
    for round in 0..rounds(120) {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = model(&mut numbers, algorithm);
        let tokenizer = Tokenizer::new(stages(&mut numbers, proto)).unwrap();
        check(&tokenizer, (0..60).map(|_| text(&mut numbers)));
        // Long enough for sums of scores that rounding shows in, and for sums begun again.
        let long = (0..300).map(|_| text(&mut numbers)).collect();
        check(&tokenizer, [long]);
    }
}

/// Long chunks that are split, among short ones, known ones and new ones, so that tokens are given away
/// at any place.
#[test]
fn chunks_of_any_length() {
    let mut numbers = ChaCha8Rng::seed_from_u64(33);
    for round in 0..rounds(80) {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = model(&mut numbers, algorithm);
        let tokenizer = Tokenizer::new(stages(&mut numbers, proto)).unwrap();
        let words: Vec<String> = (0..60)
            .map(|_| {
                let word = text(&mut numbers).replace([' ', '\n'], "");
                word.repeat(numbers.random_range(1..6))
            })
            .collect();
        let texts = (0..3).map(|round| {
            let words: Vec<&str> = (0..300)
                .map(|_| words[numbers.random_range(round * 20..(round + 1) * 20)].as_str())
                .collect();
            words.join(" ")
        });
        check(&tokenizer, texts.collect::<Vec<_>>());
    }
}

/// Sums of scores pass each power of two and 100,000, while the same words come again and again; a
/// batch does not split such a text.
fn unigram_through_all_sums(seed: u64, scale: f32) {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    for round in 0..rounds(32) {
        let proto = model(&mut numbers, Algorithm::Unigram);
        let pieces: Vec<Piece> = (proto.pieces.iter())
            .map(|piece| {
                let score = match piece.kind {
                    PieceKind::Normal => score(&mut numbers, round % 4, scale),
                    _ => piece.score,
                };
                Piece::new(piece.text, score, piece.kind)
            })
            .collect();
        let (trainer, normalizer) = (proto.trainer().clone(), proto.normalizer().clone());
        let proto = ModelProto::new(pieces, trainer, normalizer);
        let tokenizer = Tokenizer::new(stages(&mut numbers, proto)).unwrap();
        let words: Vec<String> = (0..80)
            .map(|i| match i % 2 {
                0 => text(&mut numbers).replace(' ', ""),
                _ => PARTS.choose(&mut numbers).unwrap().repeat(3),
            })
            .collect();
        let mut text = String::new();
        while text.len() < 15_000 + 135_000 / scale as usize {
            text.push_str(words.choose(&mut numbers).unwrap());
            text.push(' ');
        }
        let options = EncodeOptions::default();
        let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
        for _ in 0..2 {
            let compiled = tokenizer.encode_ids(&text, &options).unwrap();
            assert!(compiled == staged, "{round} {tokenizer:?}");
        }
        assert!(!check_parts(&tokenizer, &text, &EncodeOptions::default()));
        let texts = ["to be", &text, "", &text, "or not"];
        let never = AtomicBool::new(false);
        let batch = tokenizer.encode_batch(&texts, &options, 3, &never).unwrap();
        let one_by_one = texts.map(|text| tokenizer.encode_ids(text, &options).unwrap());
        assert!(batch.ids == one_by_one.concat(), "{round} {tokenizer:?}");
        let ends = batch.offsets[1..].iter().map(|&end| end as usize);
        let counts = one_by_one.iter().map(Vec::len);
        let sums = counts.scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        assert!(ends.eq(sums), "{round} {tokenizer:?}");
    }
}

#[test]
fn unigram_through_small_sums() {
    unigram_through_all_sums(27, 1.0);
}

#[test]
fn unigram_through_middling_sums() {
    unigram_through_all_sums(28, 8.0);
}

#[test]
fn unigram_through_large_sums() {
    unigram_through_all_sums(29, 64.0);
}

/// Parts end at any of a text's places that may be split at, as there is one such place in each part.
#[test]
fn parts_of_texts() {
    let mut numbers = ChaCha8Rng::seed_from_u64(25);
    let (rounds, mut split) = (rounds(100), 0);
    for round in 0..rounds {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = model(&mut numbers, algorithm);
        let tokenizer = Tokenizer::new(stages(&mut numbers, proto)).unwrap();
        for _ in 0..6 {
            let text = few_kinds(&mut numbers, 20_000);
            split += usize::from(check_parts(&tokenizer, &text, &EncodeOptions::default()));
        }
    }
    assert!(2 * split > rounds, "{split}");
}

/// A character that the normalizer removes belongs to the token before it, which the part before has.
#[test]
fn what_is_removed_where_a_part_begins() {
    let mut numbers = ChaCha8Rng::seed_from_u64(104);
    for round in 0..8 {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = model(&mut numbers, algorithm);
        let normalizer = NormalizerSpec {
            precompiled_charsmap: charsmap(&[]),
            ..proto.normalizer().clone()
        };
        let pieces: Vec<Piece> = (proto.pieces.iter())
            .map(|piece| Piece::new(piece.text, piece.score, piece.kind))
            .collect();
        let proto = ModelProto::new(pieces, proto.trainer().clone(), normalizer);
        let tokenizer = Tokenizer::new(stages(&mut numbers, proto)).unwrap();
        for text in ["b\n\u{200b}", "b\n\u{200b}b\n", "b \u{200b}\n"] {
            let text = text.repeat(40_000 / text.len());
            check_parts(&tokenizer, &text, &EncodeOptions::default());
        }
    }
}
