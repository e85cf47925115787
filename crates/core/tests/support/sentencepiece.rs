//! Random SentencePiece models and character maps.

use jeton_core::Stages;
use jeton_core::added_tokens::AddedToken;
use jeton_core::format::sentencepiece;
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::normalizer::{
    Charsmap, Normalization, Normalizer, SentencePieceNormalizer, WhiteSpace,
};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::texts::spellings;

pub const CHARSMAP: &[u8] = include_bytes!("../../../../testdata/charsmap.bin");

/// A character map with rules for characters outside ASCII, and `more`.
pub fn charsmap(more: &[(&str, &str)]) -> Vec<u8> {
    let rules = [
        ("\u{3000}", " "),
        ("\u{200b}", ""),
        ("\u{a0}", "  "),
        ("\u{ad}", "▁"),
        ("½", " 1/2 "),
        ("…", "..."),
        ("中", " 中"),
        ("🙂", "🙂 "),
        ("e\u{301}", "é"),
        ("\t", " "),
    ];
    let all = rules.iter().chain(more);
    let rules = all.map(|(from, to)| ((*from).to_owned(), (*to).to_owned()));
    Charsmap::compile(&rules.collect()).unwrap().blob()
}

pub fn model(numbers: &mut ChaCha8Rng, algorithm: Algorithm) -> ModelProto {
    let byte_fallback = numbers.random_bool(0.5);
    let inner_spaces = numbers.random_bool(0.1);
    let mut pieces = vec![
        Piece::new("<unk>", 0.0, PieceKind::Unknown),
        Piece::new("<s>", 0.0, PieceKind::Control),
        Piece::new("</s>", 0.0, PieceKind::Control),
    ];
    if byte_fallback {
        let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
        pieces.extend(bytes.map(|text| Piece::new(text, 0.0, PieceKind::Byte)));
    }
    let user_defined = numbers.random_bool(0.3);
    let unused = numbers.random_bool(0.2);
    // Few distinct scores make ties; large ones make sums of which the model begins again.
    let coarse = numbers.random_bool(0.4);
    let scale = *[1.0, 1.0, 40.0, 3000.0].choose(numbers).unwrap();
    for spelling in spellings(numbers, inner_spaces) {
        let kind = match numbers.random_range(0..20) {
            0 if user_defined => PieceKind::UserDefined,
            1 if unused => PieceKind::Unused,
            _ => PieceKind::Normal,
        };
        let score = if coarse {
            -(numbers.random_range(1..8) as f32)
        } else {
            -numbers.random::<f32>() * 12.0
        };
        if spelling != "<s>" && spelling != "</s>" && spelling != "<unk>" {
            pieces.push(Piece::new(spelling, score * scale, kind));
        }
    }
    let trainer = TrainerSpec {
        algorithm,
        byte_fallback,
        treat_whitespace_as_suffix: numbers.random_bool(0.05),
        ..TrainerSpec::default()
    };
    let normalizer = NormalizerSpec {
        precompiled_charsmap: match numbers.random_range(0..6) {
            0 => CHARSMAP.to_vec(),
            1 => Normalization::NmtNfkc.charsmap().unwrap().blob(),
            2 => charsmap(&[]),
            3 => charsmap(&[("W", "w"), ("a", "b"), (".", ""), (",", " "), ("12", " a ")]),
            _ => Vec::new(),
        },
        add_dummy_prefix: numbers.random_bool(0.8),
        remove_extra_whitespaces: numbers.random_bool(0.5),
        escape_whitespaces: numbers.random_bool(0.95),
        ..NormalizerSpec::default()
    };
    ModelProto::new(pieces, trainer, normalizer)
}

/// The stages of a model's file, with more added tokens now and then, and with `legacy`.
pub fn stages(numbers: &mut ChaCha8Rng, proto: ModelProto) -> Stages {
    let mut stages = sentencepiece::stages(proto).unwrap();
    let Some(Normalizer::SentencePiece(normalizer)) = &mut stages.normalizer else {
        unreachable!("a .model file has SentencePiece's normalizer");
    };
    if numbers.random_bool(0.25) {
        *normalizer = SentencePieceNormalizer::new(
            normalizer.charsmap().cloned(),
            WhiteSpace {
                legacy: true,
                ..normalizer.white_space()
            },
            normalizer.user_defined().to_vec(),
        );
    }
    let beyond = stages.model.vocab().max_id().unwrap() + 1;
    if numbers.random_bool(0.4) {
        for (number, content) in ["the", " a ", "<tool>", "▁b", "½"].into_iter().enumerate() {
            if stages.model.vocab().id(content.as_bytes()).is_none() {
                stages.added_tokens.push(AddedToken {
                    special: numbers.random_bool(0.2),
                    single_word: numbers.random_bool(0.1),
                    lstrip: numbers.random_bool(0.1),
                    rstrip: numbers.random_bool(0.1),
                    normalized: numbers.random_bool(0.5),
                    ..AddedToken::plain(beyond + number as u32, content)
                });
            }
        }
    }
    stages
}

/// A score of one of four kinds: any; whole, and so equal to others; and nearly equal to all others,
/// in steps that lie in the middle of two floats where sums are large, or not quite as large.
pub fn score(numbers: &mut ChaCha8Rng, kind: usize, scale: f32) -> f32 {
    match kind {
        0 => scale * -12.0 * numbers.random::<f32>(),
        1 => scale * -(numbers.random_range(1..8) as f32),
        2 => scale * -5.0 - numbers.random_range(0..24) as f32 / 256.0,
        _ => scale * -5.0 - numbers.random_range(0..24) as f32 / 2048.0,
    }
}
