//! SentencePiece's algorithms against their definitions, and the frequencies of samples.

use super::*;
use crate::model::Sampling;
use crate::model::sentencepiece::spec::{NormalizerSpec, Piece, TrainerSpec};

fn model(algorithm: Algorithm, pieces: &[(&str, f32, PieceKind)]) -> Result<SentencePiece> {
    with_spec(
        TrainerSpec {
            algorithm,
            ..TrainerSpec::default()
        },
        pieces,
    )
}

fn with_spec(trainer: TrainerSpec, pieces: &[(&str, f32, PieceKind)]) -> Result<SentencePiece> {
    let pieces = pieces
        .iter()
        .map(|(text, score, kind)| Piece::new(*text, *score, *kind));
    SentencePiece::new(ModelProto::new(pieces, trainer, NormalizerSpec::default()))
}

fn cut(model: &SentencePiece, text: &str, sampling: Sampling) -> Vec<(u32, String)> {
    let mut tokens = Vec::new();
    model
        .tokenize(text, &mut Sampler::new(sampling), &mut tokens, &mut ())
        .unwrap();
    tokens
        .into_iter()
        .map(|token| (token.id, text[token.range].to_owned()))
        .collect()
}

const UNK: (&str, f32, PieceKind) = ("<unk>", 0.0, PieceKind::Unknown);

use PieceKind::{Byte, Control, Normal, Unknown, Unused, UserDefined};

/// What SentencePiece splits texts into.
#[test]
fn texts_are_cut_as_by_sentencepiece() {
    let abc: &[_] = &[
        UNK,
        ("▁", -3.0, Normal),
        ("a", -1.0, Normal),
        ("b", -1.0, Normal),
    ];
    type Row<'a> = (
        &'a str,
        Algorithm,
        &'a [(&'a str, f32, PieceKind)],
        &'a str,
        &'a [(u32, &'a str)],
    );
    let rows: &[Row] = &[
        (
            "neighbouring unknown characters are one token",
            Algorithm::Unigram,
            abc,
            "xyaz",
            &[(0, "xy"), (2, "a"), (0, "z")],
        ),
        (
            "of equal sums the one with the longest last piece stays",
            Algorithm::Unigram,
            &[UNK, ("▁", -2.5, Normal), ("▁▁▁", -4.3, Normal)],
            "▁▁▁▁",
            &[(1, "▁"), (2, "▁▁▁")],
        ),
        (
            "sums past a hundred thousand are rebased before rounding drowns the scores",
            Algorithm::Unigram,
            &[
                UNK,
                ("x", -1e6, Normal),
                ("b", -1.0, Normal),
                ("c", -1.0, Normal),
                ("bc", -2.001, Normal),
            ],
            "xbc",
            &[(1, "x"), (2, "b"), (3, "c")],
        ),
        (
            "sums up to a hundred thousand are not",
            Algorithm::Unigram,
            &[
                UNK,
                ("x", -1e5, Normal),
                ("b", -1.0, Normal),
                ("c", -1.0, Normal),
                ("bc", -2.001, Normal),
            ],
            "xbc",
            &[(1, "x"), (4, "bc")],
        ),
        (
            "an unused piece counts as absent",
            Algorithm::Unigram,
            &[UNK, ("a", -9.0, Normal), ("aa", -1.0, Unused)],
            "aa",
            &[(1, "a"), (1, "a")],
        ),
        (
            "a user-defined piece wins over a longer one",
            Algorithm::Unigram,
            &[
                UNK,
                ("a", -1.0, Normal),
                ("ab", 0.0, UserDefined),
                ("abc", -1.0, Normal),
                ("c", -0.5, Normal),
            ],
            "abc",
            &[(2, "ab"), (4, "c")],
        ),
        (
            "the best score is merged first, the leftmost among equals",
            Algorithm::Bpe,
            &[
                UNK,
                ("a", 0.0, Normal),
                ("aa", -1.0, Normal),
                ("aaa", -2.0, Normal),
            ],
            "aaaaa",
            &[(2, "aa"), (3, "aaa")],
        ),
        (
            "user-defined pieces are never merged",
            Algorithm::Bpe,
            &[
                UNK,
                ("a", 0.0, Normal),
                ("b", 0.0, UserDefined),
                ("ab", -1.0, Normal),
            ],
            "abb",
            &[(1, "a"), (2, "b"), (2, "b")],
        ),
        (
            "an unused piece falls apart into what it was made of",
            Algorithm::Bpe,
            &[
                UNK,
                ("a", 0.0, Normal),
                ("b", 0.0, Normal),
                ("ab", -1.0, Unused),
                ("abb", -2.0, Normal),
            ],
            "ababb",
            &[(1, "a"), (2, "b"), (4, "abb")],
        ),
        (
            "an unused character is unknown",
            Algorithm::Bpe,
            &[
                UNK,
                ("a", 0.0, Unused),
                ("b", 0.0, Normal),
                ("ab", -1.0, Normal),
            ],
            "aab",
            &[(0, "a"), (3, "ab")],
        ),
        (
            "a control piece is no text",
            Algorithm::Char,
            &[UNK, ("a", 0.0, Normal), ("b", 0.0, Control)],
            "ab",
            &[(1, "a"), (0, "b")],
        ),
        (
            "words begin with their space",
            Algorithm::Word,
            &[UNK, ("▁", -1.0, Normal), ("▁ab", -1.0, Normal)],
            "ab▁▁ab",
            &[(0, "ab"), (1, "▁"), (2, "▁ab")],
        ),
    ];
    for (name, algorithm, pieces, text, expected) in rows {
        let model = model(*algorithm, pieces).unwrap();
        let found = cut(&model, text, Sampling::default());
        let found: Vec<(u32, &str)> = found.iter().map(|(id, text)| (*id, &**text)).collect();
        assert_eq!(found, *expected, "{name}");
    }
}

#[test]
fn unknown_text_is_written_as_bytes() {
    let names: Vec<String> = (0..=255).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut pieces = vec![UNK];
    pieces.extend(names.iter().map(|name| (name.as_str(), 0.0, Byte)));
    pieces.push(("a", -1.0, Normal));
    let spec = TrainerSpec {
        byte_fallback: true,
        ..TrainerSpec::default()
    };
    let model = with_spec(spec.clone(), &pieces).unwrap();
    let mut tokens = Vec::new();
    let mut sampler = Sampler::new(Sampling::default());
    let done = model.tokenize("aé", &mut sampler, &mut tokens, &mut ());
    done.unwrap();
    let found: Vec<_> = tokens.into_iter().map(|t| (t.id, t.range)).collect();
    assert_eq!(found, [(257, 0..1), (1 + 0xC3, 1..2), (1 + 0xA9, 2..3)]);

    pieces.remove(1 + 0x41);
    let error = with_spec(spec, &pieces).unwrap_err().to_string();
    assert!(error.contains("there is no piece \"<0x41>\""), "{error}");
}

#[test]
fn contradictions_are_refused() {
    type Row<'a> = (&'a str, &'a [(&'a str, f32, PieceKind)]);
    let rows: &[Row] = &[
        ("there is no unknown piece", &[("a", 0.0, Normal)]),
        (
            "piece 1: \"U\" is a second unknown piece, after piece 0",
            &[UNK, ("U", 0.0, Unknown)],
        ),
        ("piece 1: it is empty", &[UNK, ("", 0.0, Normal)]),
        ("holds a NUL", &[UNK, ("a\0b", 0.0, Normal)]),
        (
            "token \"a\" has two ids, 1 and 2",
            &[UNK, ("a", 0.0, Normal), ("a", 0.0, UserDefined)],
        ),
        ("byte_fallback is off", &[UNK, ("<0x41>", 0.0, Byte)]),
        ("there are no pieces of text", &[UNK]),
    ];
    for (expected, pieces) in rows {
        let error = model(Algorithm::Unigram, pieces).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // One of text and one that is not is a contradiction to BPE alone.
    let pieces = [UNK, ("a", 0.0, Normal), ("a", 0.0, Control)];
    let error = model(Algorithm::Bpe, &pieces).unwrap_err().to_string();
    assert!(
        error.contains("token \"a\" has two ids, 1 and 2"),
        "{error}"
    );
    model(Algorithm::Unigram, &pieces).unwrap();
}

/// All segmentations of a text, each with its score, the best first.
fn all_segmentations(pieces: &[(&str, f32, PieceKind)], text: &str) -> Vec<(Vec<u32>, f64)> {
    let mut found = vec![];
    if text.is_empty() {
        found.push((vec![], 0.0));
    }
    for (id, (piece, score, _)) in (1..).zip(&pieces[1..]) {
        if let Some(rest) = text.strip_prefix(piece) {
            for (mut ids, sum) in all_segmentations(pieces, rest) {
                ids.insert(0, id);
                found.push((ids, sum + f64::from(*score)));
            }
        }
    }
    found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    found
}

const LATTICE: &[(&str, f32, PieceKind)] = &[
    UNK,
    ("a", -1.25, Normal),
    ("b", -1.5, Normal),
    ("ab", -2.125, Normal),
    ("ba", -3.0, Normal),
    ("aba", -3.5, Normal),
];

#[test]
fn n_best_are_the_best_of_all() {
    let model = model(Algorithm::Unigram, LATTICE).unwrap();
    let all = all_segmentations(LATTICE, "abaab");
    for size in [2, 5, all.len() + 5] {
        let found = model.n_best("abaab", size).unwrap();
        assert_eq!(found.len(), size.min(all.len()));
        for ((_, score), (_, expected)) in found.iter().zip(&all) {
            assert_eq!(f64::from(*score), *expected);
        }
    }
    let bpe = self::model(Algorithm::Bpe, LATTICE).unwrap();
    assert!(bpe.n_best("ab", 2).is_err());
}

#[test]
fn samples_are_distributed_as_the_scores_say() {
    const DRAWS: u64 = 20_000;
    let model = model(Algorithm::Unigram, LATTICE).unwrap();
    for (alpha, nbest_size) in [(1.0, None), (0.3, None), (0.5, Some(3))] {
        let mut all = all_segmentations(LATTICE, "abab");
        all.truncate(nbest_size.unwrap_or(all.len()));
        let weights: Vec<f64> = all.iter().map(|(_, s)| (alpha * s).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut counts = vec![0_u32; all.len()];
        for seed in 0..DRAWS {
            let sampling = Sampling {
                alpha: Some(alpha as f32),
                nbest_size,
                seed: Some(seed),
                ..Sampling::default()
            };
            let ids: Vec<u32> = cut(&model, "abab", sampling)
                .into_iter()
                .map(|t| t.0)
                .collect();
            counts[all.iter().position(|(other, _)| *other == ids).unwrap()] += 1;
        }
        for (count, weight) in counts.iter().zip(&weights) {
            let probability = weight / total;
            let deviation = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
            let found = f64::from(*count) / DRAWS as f64;
            assert!(
                (found - probability).abs() < 5.0 * deviation,
                "{found} {probability}"
            );
        }
    }
}

#[test]
fn merges_are_left_out_with_the_probability_asked_for() {
    let pieces = &[UNK, ("a", 0.0, Normal), ("aa", -1.0, Normal)];
    let model = model(Algorithm::Bpe, pieces).unwrap();
    let draws = 4000;
    let whole = (0..draws)
        .map(|seed| Sampling {
            alpha: Some(0.25),
            seed: Some(seed),
            ..Sampling::default()
        })
        .filter(|sampling| cut(&model, "aa", *sampling).len() == 1)
        .count();
    let share = whole as f64 / draws as f64;
    assert!((share - 0.75).abs() < 0.03, "{share}");
}

#[test]
fn long_texts_take_near_linear_time() {
    let pieces = &[
        UNK,
        ("a", -1.0, Normal),
        ("aa", -2.0, Normal),
        ("aaaa", -3.0, Normal),
        ("b", -4.0, UserDefined),
    ];
    let text = "a".repeat(300_000) + &"ab".repeat(50_000) + &"xé".repeat(50_000);
    for algorithm in [
        Algorithm::Unigram,
        Algorithm::Bpe,
        Algorithm::Word,
        Algorithm::Char,
    ] {
        let model = model(algorithm, pieces).unwrap();
        let found: String = cut(&model, &text, Sampling::default())
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert!(found == text, "{algorithm:?}");
    }
}
