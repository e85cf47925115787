//! SentencePiece models as `tokenizer.json` and back: the same ids and text, or an error that names
//! what cannot be kept.
//!
//! Look here for the shapes that are converted, and for those that are refused.

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::convert::{approximate_huggingface, approximate_model, for_json, for_model_file};
use jeton_core::format::sentencepiece;
use jeton_core::format::{huggingface, wordpiece};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::text::InvalidUtf8;
use jeton_core::{EncodeOptions, Stages, Tokenizer};

/// A BPE with all bytes, whose pieces are made from `▁`, `a`, `b` and `c`.
fn pieces() -> Vec<Piece> {
    let mut pieces = vec![
        Piece::new("<unk>", 0.0, PieceKind::Unknown),
        Piece::new("<s>", 0.0, PieceKind::Control),
    ];
    pieces
        .extend((0..=255).map(|byte| Piece::new(format!("<0x{byte:02X}>"), 0.0, PieceKind::Byte)));
    let normal = [
        "▁a",
        "ab",
        "▁▁",
        "▁ab",
        "aa",
        "aaa",
        "▁▁▁▁",
        "abc",
        "▁",
        "a",
        "b",
        "c",
    ];
    pieces.extend(
        (0..)
            .zip(normal)
            .map(|(rank, text)| Piece::new(text, -(rank as f32), PieceKind::Normal)),
    );
    pieces
}

struct Row {
    pieces: Vec<Piece>,
    trainer: TrainerSpec,
    normalizer: NormalizerSpec,
}

/// Llama 2's shape.
fn llama() -> Row {
    Row {
        pieces: pieces(),
        trainer: TrainerSpec {
            algorithm: Algorithm::Bpe,
            byte_fallback: true,
            ..TrainerSpec::default()
        },
        normalizer: NormalizerSpec {
            name: "identity".to_owned(),
            remove_extra_whitespaces: false,
            ..NormalizerSpec::default()
        },
    }
}

fn stages(row: Row) -> Stages {
    let proto = ModelProto::new(row.pieces, row.trainer, row.normalizer);
    sentencepiece::read(&proto.write()).unwrap()
}

const TEXTS: [&str; 15] = [
    "",
    " ",
    "abc ab a",
    "  ab   c ",
    "aaaaaaa",
    "xaaaay",
    "é\n日本🙂",
    "a▁b",
    "<s>",
    "<s>ab",
    "ab<s> ab",
    "<s><s>a",
    "<0x41>",
    "        ",
    "ab\0c",
];

/// Holds two tokenizers equal; `beside_special` says whether also beside special tokens that are allowed.
fn same(before: &Stages, after: &Stages, beside_special: bool) {
    let [before, after] = [before, after].map(|stages| Tokenizer::new(stages.clone()).unwrap());
    let policies = [SpecialPolicy::Ignore, SpecialPolicy::Allow];
    let policies = policies[..1 + usize::from(beside_special)].to_vec();
    for (text, special) in TEXTS
        .into_iter()
        .flat_map(|it| policies.iter().cloned().map(move |policy| (it, policy)))
    {
        let options = EncodeOptions {
            special,
            ..EncodeOptions::default()
        };
        let ids = before.encode_ids(text, &options).unwrap();
        assert_eq!(after.encode_ids(text, &options).unwrap(), ids, "{text:?}");
        if !text.contains('▁') {
            let [a, b] = [&before, &after].map(|tokenizer| {
                tokenizer
                    .decode(&ids, &false.into(), InvalidUtf8::Replace)
                    .unwrap()
            });
            assert_eq!(a, b, "{text:?}");
        }
    }
}

#[test]
fn convertible_tokenizers_convert_there_and_back() {
    let mut rows = vec![("Llama 2's shape", llama())];
    for (name, dummy, extra, escape) in [
        ("no space in front", false, false, true),
        ("extra spaces removed", true, true, true),
        ("both", false, true, true),
        ("plain spaces", false, false, false),
    ] {
        let mut row = llama();
        row.normalizer.add_dummy_prefix = dummy;
        row.normalizer.remove_extra_whitespaces = extra;
        row.normalizer.escape_whitespaces = escape;
        rows.push((name, row));
    }
    let mut row = llama();
    row.trainer.algorithm = Algorithm::Char;
    row.pieces
        .retain(|piece| piece.kind != PieceKind::Normal || piece.text.chars().count() == 1);
    rows.push(("characters", row));
    let mut row = llama();
    row.trainer.byte_fallback = false;
    row.pieces.retain(|piece| piece.kind != PieceKind::Byte);
    rows.push(("no bytes", row));
    let mut row = llama();
    row.normalizer.add_dummy_prefix = false;
    row.pieces
        .push(Piece::new("bc", 0.0, PieceKind::UserDefined));
    rows.push(("a user-defined piece", row));

    // As Llama 2 has it: runs of spaces are all as good as each other.
    let mut row = llama();
    let longer = ["▁▁▁", "▁▁▁▁▁"].map(|text| Piece::new(text, -2.0, PieceKind::Normal));
    row.pieces.extend(longer);
    for piece in &mut row.pieces {
        if piece.text == "▁▁▁▁" {
            piece.score = -2.0;
        }
    }
    rows.push(("equal scores of runs", row));

    for (name, row) in rows {
        println!("{name}");
        let model = stages(row);
        let json = huggingface::write(&for_json(&model).unwrap()).unwrap();
        let converted = huggingface::read(json.as_bytes()).unwrap();
        // There, all spaces in front of a stretch are removed.
        let beside_special = name != "both";
        same(&model, &converted, beside_special);
        let file = sentencepiece::write(&for_model_file(&converted).unwrap()).unwrap();
        let again = sentencepiece::read(&file).unwrap();
        same(&model, &again, beside_special);
        let rewritten = huggingface::write(&for_json(&again).unwrap()).unwrap();
        assert_eq!(rewritten, json, "{name}");
    }
}

#[test]
fn parts_that_cannot_be_kept_are_named() {
    let piece = |text: &str, score, kind| {
        let mut row = llama();
        row.pieces.push(Piece::new(text, score, kind));
        row
    };
    let mut suffix = llama();
    suffix.trainer.treat_whitespace_as_suffix = true;
    let mut unigram = llama();
    unigram.trainer.algorithm = Algorithm::Unigram;
    let mut words = llama();
    words.trainer.algorithm = Algorithm::Word;
    let rows = [
        (suffix, "a space that is put at the end of the text"),
        (unigram, "this Unigram model"),
        (words, "a model of whole words"),
        (
            piece("bc", 0.0, PieceKind::UserDefined),
            "the user-defined piece \"bc\"",
        ),
        (
            piece("bc", 0.0, PieceKind::Unused),
            "the unused piece \"bc\"",
        ),
        (
            piece("bd", -20.0, PieceKind::Normal),
            "the piece \"bd\": it contains 'd'",
        ),
        (
            piece("bc", -1.0, PieceKind::Normal),
            "the equal scores of \"ab\" and \"bc\"",
        ),
        (
            piece("d", 0.0, PieceKind::Control),
            "the piece \"d\", a character that text never becomes",
        ),
    ];
    for (row, expected) in rows {
        let error = for_json(&stages(row)).unwrap_err().to_string();
        let expected = format!("tokenizer.json cannot hold {expected}");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn differences_that_show_in_a_text_are_refused_with_the_text() {
    // Decoding here drops a piece `▁` in front, and there any space.
    let mut row = llama();
    row.normalizer.escape_whitespaces = false;
    let error = for_json(&stages(row)).unwrap_err().to_string();
    let expected = "the conversion would change the result: \" \" would be encoded differently";
    assert_eq!(error, expected);
}

#[test]
fn a_document_that_does_more_is_refused() {
    let json = huggingface::write(&for_json(&stages(llama())).unwrap()).unwrap();
    let rows = [
        (
            json.replace("\"merges\": [", "\"merges\": [[\"c\", \"▁\"], ")
                .replace("\"c\": 269", "\"c\": 269, \"c▁\": 270"),
            None,
        ),
        (
            json.replace("\"fuse_unk\": true", "\"fuse_unk\": false"),
            Some("these options of the BPE model"),
        ),
        (
            json.replace(
                "\"type\": \"Sequence\",\n    \"pretokenizers\": [",
                "\"type\": \"Sequence\",\n    \"pretokenizers\": [{\"type\": \"Whitespace\"}, ",
            ),
            Some("the pre-tokenizer Sequence"),
        ),
        (
            json.replace("\"content\": \"▁\"", "\"content\": \"x\""),
            Some("the normalizer Sequence, which does more than mark spaces"),
        ),
        (
            json.replace("\"c\": 269", "\"c\": 269, \"xy\": 270"),
            Some("this BPE model, which its pieces do not reproduce"),
        ),
        (
            json.replace("\"start\": 1", "\"start\": 2"),
            Some("the decoder Sequence with these steps"),
        ),
    ];
    for (document, expected) in rows {
        assert_ne!(document, json);
        let stages = huggingface::read(document.as_bytes()).unwrap();
        let written = for_model_file(&stages).and_then(|held| sentencepiece::write(&held));
        match (written, expected) {
            (Ok(file), None) => same(&stages, &sentencepiece::read(&file).unwrap(), true),
            (Err(error), Some(expected)) => {
                let expected = format!("a SentencePiece model cannot hold {expected}");
                assert!(error.to_string().starts_with(&expected), "{error}");
            }
            (result, _) => panic!("{expected:?}: {:?}", result.map(|file| file.len())),
        }
    }
}

#[test]
fn vocab_txt_goes_there_and_back() {
    let file = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\nab\n";
    let stages = wordpiece::read(file, None).unwrap();
    let json = huggingface::write(&stages).unwrap();
    let converted = huggingface::read(json.as_bytes()).unwrap();
    assert_eq!(converted, stages);
    assert_eq!(wordpiece::write(&converted).unwrap(), file);
}

/// A Unigram of a few pieces, with a character map or without.
fn unigram(charsmap: bool) -> Row {
    let pieces = [
        ("<unk>", 0.0, PieceKind::Unknown),
        ("</s>", 0.0, PieceKind::Control),
        ("▁", -3.0, PieceKind::Normal),
        ("a", -2.5, PieceKind::Normal),
        ("b", -4.5, PieceKind::Normal),
        ("▁ab", -3.25, PieceKind::Normal),
        ("bc", 0.0, PieceKind::UserDefined),
    ];
    let mut row = Row {
        pieces: pieces
            .map(|(text, score, kind)| Piece::new(text, score, kind))
            .to_vec(),
        trainer: TrainerSpec::default(),
        normalizer: NormalizerSpec::default(),
    };
    if charsmap {
        row.normalizer.precompiled_charsmap =
            include_bytes!("../../../../testdata/charsmap.bin").to_vec();
    }
    row
}

#[test]
fn unigram_models_have_an_approximation() {
    for charsmap in [false, true] {
        let model = stages(unigram(charsmap));
        let near = approximate_huggingface(&model).unwrap();
        let json = huggingface::write(&near).unwrap();
        assert_eq!(huggingface::read(json.as_bytes()).unwrap(), near);
        let again = approximate_model(&near).unwrap();
        let [model, near, again] =
            [model, near, again].map(|stages| Tokenizer::new(stages).unwrap());
        for text in ["", "ab abc", "  abbca a ", "xy bc x", "aaaa bbbb", "A Éa"] {
            let options = EncodeOptions::default();
            let ids = model.encode_ids(text, &options).unwrap();
            assert_eq!(near.encode_ids(text, &options).unwrap(), ids, "{text:?}");
            assert_eq!(again.encode_ids(text, &options).unwrap(), ids, "{text:?}");
        }
    }
    let mut row = unigram(false);
    row.pieces.push(Piece::new("aa", -1.0, PieceKind::Unused));
    let error = approximate_huggingface(&stages(row)).unwrap_err();
    let expected = "tokenizer.json cannot hold the unused piece \"aa\", which text never becomes";
    assert_eq!(error.to_string(), expected);
}
