//! Damaged files of every format: an error or a tokenizer that works, never a panic.
//!
//! Look here for the mutations, with one test per reader, which runs for a second; `make fuzz` goes
//! further.

use std::time::{Duration, Instant};

use jeton_core::format::sentencepiece;
use jeton_core::format::{gpt2, huggingface, snapshot, tiktoken, wordpiece};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::pre_tokenizer::named;
use jeton_core::text::InvalidUtf8;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

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
        let decoded = tokenizer.decode(&encoding.ids, &false.into(), InvalidUtf8::Replace);
        assert!(decoded.is_ok(), "{decoded:?}");
    }
}

/// Reads damaged copies of `seeds` for a second; each must be read well, or refused, within seconds.
fn run<T>(
    seeds: &[T],
    damage: impl Fn(&T, &mut ChaCha8Rng) -> T,
    read: impl Fn(&T) -> Option<Stages>,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let end = Instant::now() + Duration::from_secs(1);
    let (mut files, mut read_well, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
    while Instant::now() < end {
        let file = damage(&seeds[rng.random_range(0..seeds.len())], &mut rng);
        let start = Instant::now();
        files += 1;
        if let Some(stages) = read(&file) {
            read_well += 1;
            exercise(stages);
        }
        slowest = slowest.max(start.elapsed());
    }
    println!("{files} files, {read_well} of them readable, the slowest took {slowest:?}");
    assert!(slowest < Duration::from_secs(20), "{slowest:?}");
}

#[expect(
    clippy::ptr_arg,
    reason = "seeds are whole files, and this takes one of them"
)]
fn damage_bytes(file: &Vec<u8>, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut file = file.clone();
    mutate(&mut file, rng);
    file
}

/// The value at a random place of a document.
fn random_place<'v>(value: &'v mut Value, rng: &mut ChaCha8Rng) -> &'v mut Value {
    let children = match &*value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if children == 0 || rng.random_range(0..6) == 0 {
        return value;
    }
    let child = rng.random_range(0..children);
    let child = match value {
        Value::Array(items) => items.get_mut(child),
        Value::Object(fields) => fields.values_mut().nth(child),
        _ => None,
    };
    random_place(child.unwrap(), rng)
}

/// A document that is still JSON, with something else than there was in a few places.
fn damage_json(document: &Value, rng: &mut ChaCha8Rng) -> Value {
    let mut damaged = document.clone();
    for _ in 0..rng.random_range(1..4) {
        let other = random_place(&mut document.clone(), rng).clone();
        let place = random_place(&mut damaged, rng);
        let choice = rng.random_range(0..9);
        match (choice, &mut *place) {
            (0, Value::Object(fields)) => {
                let name = fields.keys().next().cloned();
                fields.extend(name.map(|name| (format!("{name}x"), other)));
            }
            (1, Value::Object(fields)) if !fields.is_empty() => {
                let at = rng.random_range(0..fields.len());
                let name = fields.keys().nth(at).cloned().unwrap();
                fields.remove(&name);
            }
            (2, Value::Array(items)) => items.push(other),
            (3, Value::Array(items)) => drop(items.pop()),
            (4, Value::Number(_)) => {
                let numbers = [-1.0, 0.0, 0.5, 1.0, 4_294_967_295.0, 1e18, 1e300];
                *place = json!(numbers[rng.random_range(0..numbers.len())]);
            }
            (5, Value::Number(_)) => {
                *place =
                    json!([0_u64, 1, 2, 7, 1 << 27, u64::from(u32::MAX)][rng.random_range(0..6)]);
            }
            (6, Value::String(text)) => {
                let texts = [
                    "",
                    "a",
                    "▁",
                    "\0",
                    "é\u{301}",
                    "(",
                    "a|b*",
                    "(a*)*b",
                    "<0xE2>",
                ];
                *text = texts[rng.random_range(0..texts.len())].to_owned();
            }
            (7, _) => *place = Value::Null,
            _ => *place = other,
        }
    }
    damaged
}

#[test]
fn damaged_models_do_not_panic() {
    let seeds = models();
    for seed in &seeds {
        let stages = sentencepiece::read(seed).unwrap();
        assert_eq!(sentencepiece::write(&stages).unwrap(), *seed);
        exercise(stages);
    }
    run(&seeds, damage_bytes, |file| {
        let stages = sentencepiece::read(file).ok()?;
        // What can be read can be written, and means the same.
        let written = sentencepiece::write(&stages).unwrap();
        assert!(sentencepiece::read(&written).unwrap() == stages);
        Some(stages)
    });
}

#[test]
fn damaged_vocabularies_do_not_panic() {
    let seeds =
        [b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\r\n\xE2\x91\xA0\n##a\na\n".to_vec()];
    run(&seeds, damage_bytes, |file| {
        wordpiece::read(file, None).ok()
    });
}

#[test]
fn damaged_ranks_do_not_panic() {
    let mut ranks: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    ranks.extend([b"ab".to_vec(), b"abab".to_vec(), "é".into(), b" a".to_vec()]);
    let vocab = jeton_core::vocab::Vocab::new(ranks.iter().zip(0..)).unwrap();
    let seeds = [tiktoken::write_ranks(&vocab)];
    run(&seeds, damage_bytes, |file| {
        let ranks = tiktoken::read_ranks(file).ok()?;
        let pattern = named::from_pattern("gpt2").unwrap();
        tiktoken::stages(ranks, pattern, [("<s>".to_owned(), 1000)]).ok()
    });
}

#[test]
fn damaged_pairs_do_not_panic() {
    let vocab = r#"{"a": 0, "b": 1, "ab": 2, "\u0120": 3, "\u0120a": 4, "abab": 5, "<s>": 6}"#;
    let merges = "#version: 0.2\na b\n\u{120} a\nab ab\n";
    let seeds = [(vocab.as_bytes().to_vec(), merges.as_bytes().to_vec())];
    let damage =
        |(vocab, merges): &(Vec<u8>, Vec<u8>), rng: &mut ChaCha8Rng| match rng.random_range(0..3) {
            0 => (damage_bytes(vocab, rng), merges.clone()),
            1 => (vocab.clone(), damage_bytes(merges, rng)),
            _ => (damage_bytes(vocab, rng), damage_bytes(merges, rng)),
        };
    run(&seeds, damage, |(vocab, merges)| {
        gpt2::read(vocab, merges, "merges.txt".as_ref()).ok()
    });
}

/// One `tokenizer.json` for each model, with every kind of stage among them.
fn documents() -> Vec<Value> {
    use base64::Engine as _;
    let charsmap = base64::engine::general_purpose::STANDARD.encode(charsmap());
    let regex = |source: &str| json!({"Regex": source});
    let added = json!([
        {"id": 0, "content": "<s>", "single_word": false, "lstrip": true, "rstrip": true,
         "normalized": false, "special": true},
        {"id": 9, "content": "ab", "single_word": true, "lstrip": false, "rstrip": false,
         "normalized": true, "special": false},
    ]);
    let template = json!({
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
    });
    let document = |normalizer, pre_tokenizer, model, post_processor, decoder| {
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": {"type": "Sequence", "normalizers": normalizer},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": pre_tokenizer},
            "post_processor": post_processor,
            "decoder": {"type": "Sequence", "decoders": decoder},
            "model": model,
        })
    };
    vec![
        document(
            json!([
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                {"type": "Replace", "pattern": regex("b+"), "content": "b"},
            ]),
            json!([{"type": "Split", "pattern": regex("a|▁+"), "behavior": "Isolated", "invert": false}]),
            json!({
                "type": "BPE", "dropout": null, "unk_token": "<unk>", "fuse_unk": true,
                "byte_fallback": true, "ignore_merges": false,
                "vocab": {"<s>": 0, "<unk>": 1, "a": 2, "b": 3, "ab": 4, "▁": 5, "▁a": 6, "<0x00>": 7},
                "merges": [["a", "b"], ["▁", "a"]],
            }),
            template.clone(),
            json!([
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ]),
        ),
        document(
            json!([{"type": "ByteLevel"}]),
            json!([{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}]),
            json!({
                "type": "BPE", "vocab": {"<s>": 0, "a": 1, "b": 2, "ab": 3, "Ġ": 4}, "merges": ["a b"],
                "end_of_word_suffix": "", "continuing_subword_prefix": "",
            }),
            json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}),
            json!([{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}]),
        ),
        document(
            json!([
                {"type": "Precompiled", "precompiled_charsmap": charsmap}, {"type": "NFKD"},
                {"type": "StripAccents"}, {"type": "Strip", "strip_left": true, "strip_right": true},
                {"type": "Nmt"},
            ]),
            json!([
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true},
                {"type": "Digits", "individual_digits": true}, {"type": "UnicodeScripts"},
            ]),
            json!({
                "type": "Unigram", "unk_id": 0, "byte_fallback": false,
                "vocab": [["<s>", 0.0], ["a", -1.0], ["b", -1.5], ["ab", -2.0], ["▁", -3.0]],
            }),
            template,
            json!([{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}]),
        ),
        document(
            json!([{
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true,
            }]),
            json!([{"type": "BertPreTokenizer"}, {"type": "FixedLength", "length": 5}]),
            json!({
                "type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": {"<s>": 0, "<unk>": 1, "a": 2, "##b": 3},
            }),
            json!({"type": "BertProcessing", "sep": ["<s>", 0], "cls": ["<s>", 0]}),
            json!([{"type": "WordPiece", "prefix": "##", "cleanup": true}]),
        ),
        document(
            json!([{"type": "Lowercase"}, {"type": "NFC"}]),
            json!([
                {"type": "Whitespace"}, {"type": "Punctuation", "behavior": "Isolated"},
                {"type": "CharDelimiterSplit", "delimiter": "-"}, {"type": "WhitespaceSplit"},
            ]),
            json!({"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<s>": 0, "<unk>": 1, "a": 2}}),
            json!({
                "type": "RobertaProcessing", "sep": ["<s>", 0], "cls": ["<s>", 0],
                "trim_offsets": true, "add_prefix_space": true,
            }),
            json!([
                {"type": "BPEDecoder", "suffix": "</w>"},
                {"type": "CTC", "pad_token": "<s>", "word_delimiter_token": "|", "cleanup": true},
            ]),
        ),
    ]
}

#[test]
fn damaged_documents_do_not_panic() {
    let seeds = documents();
    for seed in &seeds {
        exercise(huggingface::read(seed.to_string().as_bytes()).unwrap());
    }
    run(&seeds, damage_json, |document| {
        huggingface::read(document.to_string().as_bytes()).ok()
    });
}

#[test]
fn damaged_json_does_not_panic() {
    let seeds: Vec<Vec<u8>> = documents()
        .iter()
        .map(|document| document.to_string().into_bytes())
        .collect();
    run(&seeds, damage_bytes, |file| huggingface::read(file).ok());
}

#[test]
fn damaged_images_do_not_panic() {
    let models = models();
    let stages = documents()
        .into_iter()
        .map(|document| huggingface::read(document.to_string().as_bytes()).unwrap())
        .chain(models.iter().map(|file| sentencepiece::read(file).unwrap()));
    let seeds: Vec<Vec<u8>> = stages
        .map(|stages| snapshot::write(Tokenizer::new(stages).unwrap().stages()).unwrap())
        .collect();
    run(&seeds, damage_bytes, |image| {
        let stages = snapshot::read(image).ok()?;
        let tokenizer = Tokenizer::new(stages).ok()?;
        Some(tokenizer.stages().clone())
    });
}
