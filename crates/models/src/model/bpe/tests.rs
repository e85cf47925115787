//! Byte pair encoding against its definition, spelled out over byte strings.

use std::collections::{BTreeSet, HashMap};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::model::{Sampler, Sampling};

type Bytes = Vec<u8>;

/// The definition: merge the leftmost pair of the lowest rank until there is none.
fn merged_by_definition(piece: &[u8], rank_of: impl Fn(&[u8], &[u8]) -> Option<u32>) -> Vec<Bytes> {
    let mut parts: Vec<Bytes> = piece.iter().map(|&byte| vec![byte]).collect();
    loop {
        let best = (1..parts.len())
            .filter_map(|i| Some((rank_of(&parts[i - 1], &parts[i])?, i)))
            .min();
        let Some((_, i)) = best else { return parts };
        let right = parts.remove(i);
        parts[i - 1].extend(right);
    }
}

fn tokens_of(bpe: &Bpe, piece: &[u8], sampling: Sampling) -> Vec<Bytes> {
    let mut tokens = Vec::new();
    bpe.tokenize_bytes(piece, &mut Sampler::new(sampling), &mut tokens)
        .unwrap();
    for token in &tokens {
        assert_eq!(
            bpe.vocab().token(token.id),
            Some(&piece[token.range.clone()])
        );
    }
    tokens
        .into_iter()
        .map(|token| piece[token.range].to_vec())
        .collect()
}

/// All bytes and some random strings over a few letters, in random order past the bytes.
fn random_vocab(numbers: &mut ChaCha8Rng) -> Vec<Bytes> {
    let letters = numbers.random_range(1..4);
    let strings: BTreeSet<Bytes> = (0..numbers.random_range(0..60))
        .map(|_| random_piece(numbers, letters, 2..7))
        .collect();
    let mut strings: Vec<Bytes> = strings.into_iter().collect();
    for i in (1..strings.len()).rev() {
        strings.swap(i, numbers.random_range(0..=i));
    }
    (0..=u8::MAX)
        .map(|byte| vec![byte])
        .chain(strings)
        .collect()
}

fn random_piece(numbers: &mut ChaCha8Rng, letters: u8, length: std::ops::Range<usize>) -> Bytes {
    (0..numbers.random_range(length))
        .map(|_| b'a' + numbers.random_range(0..letters))
        .collect()
}

#[test]
fn ranks_agree_with_the_definition() {
    let mut numbers = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..300 {
        let tokens = random_vocab(&mut numbers);
        let ranks: HashMap<Bytes, u32> = tokens.into_iter().zip(0..).collect();
        let bpe = Bpe::by_ranks(Vocab::new(ranks.clone()).unwrap()).unwrap();
        for _ in 0..20 {
            let piece = random_piece(&mut numbers, 4, 0..150);
            let expected = if ranks.contains_key(&piece) {
                vec![piece.clone()]
            } else {
                merged_by_definition(&piece, |left, right| {
                    ranks.get(&[left, right].concat()).copied()
                })
            };
            assert_eq!(tokens_of(&bpe, &piece, Sampling::default()), expected);
        }
    }
}

#[test]
fn merges_agree_with_the_definition() {
    let mut numbers = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..300 {
        let mut tokens = random_vocab(&mut numbers);
        let mut merges = Vec::new();
        for _ in 0..numbers.random_range(0..40) {
            let pair = [0, 1].map(|_| match numbers.random_range(0..2) {
                0 => random_piece(&mut numbers, 3, 1..2),
                _ => tokens[numbers.random_range(97..tokens.len())].clone(),
            });
            let [left, right] = pair;
            let whole = [left.as_slice(), &right].concat();
            if !tokens.contains(&whole) {
                tokens.push(whole);
            }
            merges.push((left, right));
        }
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let bpe = Bpe::by_merges(vocab, merges.clone(), BpeOptions::default()).unwrap();
        let ranks: HashMap<(Bytes, Bytes), u32> = merges.into_iter().zip(0..).collect();
        for _ in 0..20 {
            let piece = random_piece(&mut numbers, 4, 0..150);
            let expected = merged_by_definition(&piece, |left, right| {
                ranks.get(&(left.to_vec(), right.to_vec())).copied()
            });
            assert_eq!(tokens_of(&bpe, &piece, Sampling::default()), expected);
        }
    }
}

#[test]
fn derived_merges_are_those_of_the_definition() {
    let mut numbers = ChaCha8Rng::seed_from_u64(6);
    let (mut whole, mut gaps) = (0, 0);
    for _ in 0..1000 {
        let mut tokens = random_vocab(&mut numbers);
        for _ in 0..numbers.random_range(0..3) {
            let long = random_piece(&mut numbers, 3, 60..140);
            tokens.insert(numbers.random_range(0..tokens.len()), long);
        }
        tokens.truncate(numbers.random_range(256..=tokens.len()));
        let ranks = tokens.into_iter().zip(0..);
        let Ok(bpe) = Vocab::new(ranks).and_then(Bpe::by_ranks) else {
            continue;
        };
        let (list, merges) = derive::by_length(bpe.vocab()).unwrap();
        assert_eq!(list, bpe.derived_by_definition());
        let pairs: Vec<_> = merges.pairs().iter().map(|(pair, ..)| pair).collect();
        assert_eq!(list.merges, pairs);
        if list.underivable.is_empty() {
            whole += 1
        } else {
            gaps += 1
        }
    }
    assert!(gaps > 50 && whole > 50, "{whole} {gaps}");
}

#[test]
fn pairs_are_derived_from_shorter_tokens() {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let tokens = bytes.chain([b"ab".to_vec(), b"abc".to_vec()]);
    let vocab = Vocab::new(tokens.zip(0..)).unwrap();
    let letter = u32::from;
    let merges = derive::by_length(&vocab).unwrap().0.merges;
    assert_eq!(merges, [(letter(b'a'), letter(b'b')), (256, letter(b'c'))]);
}

#[test]
fn derived_merges_say_the_same_as_the_ranks() {
    let mut numbers = ChaCha8Rng::seed_from_u64(5);
    let mut compared = 0;
    for _ in 0..300 {
        let vocab = Vocab::new(random_vocab(&mut numbers).into_iter().zip(0..)).unwrap();
        let ranks = Bpe::by_ranks(vocab.clone()).unwrap();
        let list = ranks.merges();
        if !list.underivable.is_empty() {
            continue;
        }
        compared += 1;
        let token = |id| vocab.token(id).unwrap().to_vec();
        let pairs = list.merges.iter().map(|&(l, r)| (token(l), token(r)));
        let merges = Bpe::by_merges(
            vocab.clone(),
            pairs.collect::<Vec<_>>(),
            BpeOptions::default(),
        )
        .unwrap();
        for _ in 0..20 {
            let piece = random_piece(&mut numbers, 4, 0..150);
            let [by_rank, by_merge] =
                [&ranks, &merges].map(|bpe| tokens_of(bpe, &piece, Sampling::default()));
            assert_eq!(by_rank, by_merge);
        }
    }
    assert!(compared > 10);
}

#[test]
fn a_token_that_ranks_cannot_build_is_reported() {
    let tokens = (0..=u8::MAX).map(|byte| vec![byte]);
    let vocab = Vocab::new(tokens.chain([b"abc".to_vec()]).zip(0..)).unwrap();
    let list = Bpe::by_ranks(vocab).unwrap().merges();
    assert_eq!((list.merges, list.underivable), (vec![], vec![256]));
}

#[test]
fn long_pieces_take_no_quadratic_time() {
    let tokens = (0..=u8::MAX).map(|byte| vec![byte]);
    let runs = (1..12).map(|power| vec![b'a'; 1 << power]);
    let vocab = Vocab::new(tokens.chain(runs).chain([b"ba".to_vec()]).zip(0..)).unwrap();
    let bpe = Bpe::by_ranks(vocab).unwrap();
    let equal = vec![b'a'; 1_000_000];
    assert_eq!(tokens_of(&bpe, &equal, Sampling::default()).concat(), equal);
    let random = random_piece(&mut ChaCha8Rng::seed_from_u64(6), 26, 1_000_000..1_000_001);
    assert_eq!(
        tokens_of(&bpe, &random, Sampling::default()).concat(),
        random
    );
}

#[test]
fn dropout_is_seeded_and_loses_nothing() {
    let runs = (1..8).map(|power| vec![b'a'; 1 << power]);
    let tokens = (0..=u8::MAX).map(|byte| vec![byte]).chain(runs);
    let bpe = Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap();
    let piece = vec![b'a'; 100];
    let with = |dropout, seed| {
        let (dropout, seed) = (Some(dropout), Some(seed));
        tokens_of(
            &bpe,
            &piece,
            Sampling {
                dropout,
                seed,
                ..Sampling::default()
            },
        )
    };
    assert_eq!(with(0.5, 1), with(0.5, 1));
    assert_ne!(with(0.5, 1), with(0.5, 2));
    assert_eq!(with(0.5, 1).concat(), piece);
    assert_eq!(with(1.0, 1).len(), piece.len());
    assert_eq!(with(0.0, 1), tokens_of(&bpe, &piece, Sampling::default()));
}

#[test]
fn impossible_parameters_are_refused() {
    let bytes = |range: std::ops::Range<u8>| Vocab::new(range.map(|b| [b]).zip(0..)).unwrap();
    let error = Bpe::by_ranks(bytes(1..255)).unwrap_err().to_string();
    assert!(
        error.starts_with("2 of the 256 bytes have no rank, 0x00 first"),
        "{error}"
    );

    let merges = [(b"a".to_vec(), b"b".to_vec())];
    let error = Bpe::by_merges(bytes(0..255), merges, BpeOptions::default()).unwrap_err();
    let expected = "merges[0] (\"a\" \"b\"): \"ab\" is not in the vocabulary";
    assert_eq!(error.to_string(), expected);

    let dropout = Some(f32::NAN);
    let options = BpeOptions {
        dropout,
        ..BpeOptions::default()
    };
    assert!(Bpe::by_merges(bytes(0..255), [], options).is_err());
}

#[test]
fn an_image_gives_an_equal_encoding() {
    let vocab = Vocab::new([("a", 0), ("b", 1), ("ab", 2)]).unwrap();
    let merges = [(b"a".to_vec(), b"b".to_vec())];
    let bpe = Bpe::by_merges(vocab, merges, BpeOptions::default()).unwrap();
    let image = postcard::to_stdvec(&bpe).unwrap();
    let back: Bpe = postcard::from_bytes(&image).unwrap();
    assert_eq!(back, bpe);
    assert_eq!(tokens_of(&back, b"ab", Sampling::default()), [b"ab"]);
}
