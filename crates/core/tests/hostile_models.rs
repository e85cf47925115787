//! Damaged SentencePiece models and vocabularies: an error or a tokenizer that works, never a panic.
//!
//! Look here for the mutations that readers of these files are held to. `JETON_FUZZ_SECONDS` makes
//! the run longer than the second that it takes by default.

use std::time::{Duration, Instant};

use jeton_core::format::sentencepiece::{
    self, Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::format::wordpiece;
use jeton_core::tokenizer::OnInvalid;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TEXT: &str = "  a ab\u{3000}①<s>▁ab é\u{200d}\0🙂 ababab  b ";

/// A character map of two keys that lead through four units: `a` becomes `bb`, `é` vanishes.
fn charsmap() -> Vec<u8> {
    let mut units = vec![0_u32; 512];
    let node = |label: u32, at: u32, base: u32, ends: bool| {
        label | u32::from(ends) << 8 | (at ^ base) << 10
    };
    units[0] = 256 << 10;
    let a = 256 ^ u32::from(b'a');
    units[a as usize] = node(u32::from(b'a'), a, 8, true);
    units[8] = 1 << 31;
    let lead = 256 ^ 0xC3;
    units[lead as usize] = node(0xC3, lead, 200, false);
    let trail = 200 ^ 0xA9;
    units[trail as usize] = node(0xA9, trail, 16, true);
    units[16] = 1 << 31 | 3;
    let mut blob = (4 * units.len() as u32).to_le_bytes().to_vec();
    blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    blob.extend(b"bb\0\0");
    blob
}

fn models() -> Vec<Vec<u8>> {
    let kinds = [
        Algorithm::Unigram,
        Algorithm::Bpe,
        Algorithm::Word,
        Algorithm::Char,
    ];
    let mut files = Vec::new();
    for (number, algorithm) in kinds.into_iter().enumerate() {
        let byte_fallback = number < 2;
        let mut pieces = vec![
            Piece::new("<unk>", 0.0, PieceKind::Unknown),
            Piece::new("<s>", 0.0, PieceKind::Control),
            Piece::new("①", 0.0, PieceKind::UserDefined),
            Piece::new("▁", -2.0, PieceKind::Normal),
            Piece::new("b", -1.0, PieceKind::Normal),
            Piece::new("bb", -1.5, PieceKind::Unused),
            Piece::new("bbb", -1.75, PieceKind::Normal),
            Piece::new("▁bb", -3.0, PieceKind::Normal),
        ];
        if byte_fallback {
            pieces.extend(
                (0..=255).map(|byte| Piece::new(format!("<0x{byte:02X}>"), 0.0, PieceKind::Byte)),
            );
        }
        let trainer = TrainerSpec {
            algorithm,
            byte_fallback,
            ..TrainerSpec::default()
        };
        let normalizer = NormalizerSpec {
            precompiled_charsmap: charsmap(),
            ..NormalizerSpec::default()
        };
        let mut file = ModelProto::new(pieces, trainer, normalizer).write();
        // A self-test and a denormalizer, both empty.
        file.extend(b"\x22\x00\x2A\x00");
        files.push(file);
    }
    files
}

fn mutate(file: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..4) {
        let Some(last) = file.len().checked_sub(1) else {
            return;
        };
        let at = rng.random_range(0..=last);
        match rng.random_range(0..7) {
            0 => file[at] ^= 1 << rng.random_range(0..8),
            1 => file[at] = [0, 1, 0x7F, 0x80, 0xFF][rng.random_range(0..5)],
            2 => file.truncate(at),
            3 => drop(file.drain(at..(at + rng.random_range(1..9)).min(last))),
            4 => {
                let end = (at + rng.random_range(1..40)).min(last);
                let copy = file[at..end].to_vec();
                let to = rng.random_range(0..=last);
                file.splice(to..to, copy);
            }
            5 => {
                let mut bytes = [0; 8];
                rng.fill_bytes(&mut bytes);
                file.splice(at..at, bytes);
            }
            _ => {
                let end = (at + 4).min(file.len());
                file[at..end].copy_from_slice(&f32::NAN.to_le_bytes()[..end - at]);
            }
        }
    }
}

/// Uses a tokenizer in every way; only that nothing panics is asked.
fn exercise(stages: Stages) {
    let Ok(tokenizer) = Tokenizer::new(stages) else {
        return;
    };
    if let Ok(encoding) = tokenizer.encode(TEXT, None, &EncodeOptions::default()) {
        for span in &encoding.spans {
            assert!(span.start <= span.end && span.end <= TEXT.chars().count());
        }
        let decoded = tokenizer.decode(&encoding.ids, false, OnInvalid::Replace);
        assert!(decoded.is_ok(), "{decoded:?}");
    }
}

fn run(seeds: &[Vec<u8>], read: impl Fn(&[u8]) -> Option<Stages>) -> (u64, u64) {
    let seconds = std::env::var("JETON_FUZZ_SECONDS")
        .ok()
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or(1);
    let mut rng = ChaCha8Rng::seed_from_u64(seconds);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut files, mut read_well) = (0, 0);
    while Instant::now() < end {
        let mut file = seeds[rng.random_range(0..seeds.len())].clone();
        mutate(&mut file, &mut rng);
        files += 1;
        if let Some(stages) = read(&file) {
            read_well += 1;
            exercise(stages);
        }
    }
    (files, read_well)
}

#[test]
fn damaged_models_do_not_panic() {
    let seeds = models();
    for seed in &seeds {
        let stages = sentencepiece::read(seed).unwrap();
        assert_eq!(sentencepiece::write(&stages).unwrap(), *seed);
        exercise(stages);
    }
    let (files, read_well) = run(&seeds, |file| {
        let stages = sentencepiece::read(file).ok()?;
        // What can be read can be written, and means the same.
        let written = sentencepiece::write(&stages).unwrap();
        assert!(sentencepiece::read(&written).unwrap() == stages);
        Some(stages)
    });
    println!("{files} files, {read_well} of them readable");
}

#[test]
fn damaged_vocabularies_do_not_panic() {
    let seeds =
        [b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\r\n\xE2\x91\xA0\n##a\na\n".to_vec()];
    let (files, read_well) = run(&seeds, |file| wordpiece::read(file, None).ok());
    println!("{files} files, {read_well} of them readable");
}
