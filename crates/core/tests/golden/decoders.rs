//! Runs `testdata/decoders.toml` and `testdata/post_processors.toml`: every decoder gives the text
//! and every post-processor the tokens of Hugging Face `tokenizers`.

use std::path::Path;

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::decoder::Invalid;
use jeton_core::format::huggingface;
use jeton_core::{EncodeOptions, Tokenizer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct Decoders {
    decoder: Vec<Case<DecoderRow>>,
}

#[derive(Deserialize)]
struct PostProcessors {
    tokenizer: String,
    post_processor: Vec<Case<PostProcessorRow>>,
}

#[derive(Deserialize)]
struct Case<Row> {
    name: String,
    json: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct DecoderRow {
    name: String,
    tokens: Vec<String>,
    text: String,
}

#[derive(Deserialize)]
struct PostProcessorRow {
    name: String,
    text: String,
    pair: Option<String>,
    add_special_tokens: bool,
    ids: Vec<u32>,
    spans: Vec<(usize, usize)>,
    word_ids: Vec<i64>,
    type_ids: Vec<u32>,
    sequence_ids: Vec<i64>,
    special_tokens_mask: Vec<u32>,
}

fn table<T: DeserializeOwned>(name: &str) -> T {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    toml::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn decoders_give_the_text_of_tokenizers() {
    let mut wrong = Vec::new();
    for case in table::<Decoders>("decoders.toml").decoder {
        let file = format!(
            r#"{{"decoder": {}, "model": {{"type": "WordLevel", "vocab": {{}}, "unk_token": "u"}}}}"#,
            case.json
        );
        let stages = huggingface::read(file.as_bytes()).unwrap();
        let decoder = stages.decoder.unwrap();
        for row in case.rows {
            let tokens = row.tokens.into_iter().map(String::into_bytes).collect();
            let text = decoder.decode(tokens, Invalid::Replace).unwrap().concat();
            let text = String::from_utf8(text).unwrap();
            if text != row.text {
                let (case, name, wanted) = (&case.name, row.name, row.text);
                wrong.push(format!("{case}: {name}: {text:?}, not {wanted:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn post_processors_give_the_tokens_of_tokenizers() {
    let table: PostProcessors = table("post_processors.toml");
    let mut wrong = Vec::new();
    for case in table.post_processor {
        // With the decoder, the vocabulary is read as raw bytes; without it, it stays spelled.
        for decoder in [
            "null",
            r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#,
        ] {
            let file = table
                .tokenizer
                .replace(
                    r#""post_processor":null"#,
                    &format!(r#""post_processor":{}"#, case.json),
                )
                .replace(r#""decoder":null"#, &format!(r#""decoder":{decoder}"#));
            let stages = huggingface::read(file.as_bytes()).unwrap();
            let tokenizer = Tokenizer::new(stages).unwrap();
            for row in &case.rows {
                let options = EncodeOptions {
                    special: SpecialPolicy::Allow,
                    add_special_tokens: row.add_special_tokens,
                    ..EncodeOptions::default()
                };
                let found = tokenizer.encode(&row.text, row.pair.as_deref(), &options);
                let found = found.unwrap();
                let number = |n: &Option<u32>| n.map_or(-1, i64::from);
                let spans = found.spans.iter().map(|span| (span.start, span.end));
                let mask = found.special_tokens_mask.iter().map(|on| u32::from(*on));
                let same = found.ids == row.ids
                    && spans.clone().eq(row.spans.iter().copied())
                    && found
                        .word_ids
                        .iter()
                        .map(number)
                        .eq(row.word_ids.iter().copied())
                    && found.type_ids == row.type_ids
                    && found
                        .sequence_ids
                        .iter()
                        .map(number)
                        .eq(row.sequence_ids.iter().copied())
                    && mask.eq(row.special_tokens_mask.iter().copied());
                if !same {
                    wrong.push(format!(
                        "{}: {} ({}): {found:?}\n  not {:?} {:?} {:?} {:?} {:?}",
                        case.name,
                        row.name,
                        row.add_special_tokens,
                        row.ids,
                        row.spans,
                        row.word_ids,
                        row.type_ids,
                        row.sequence_ids,
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_special_spelling_under_a_second_id_is_skipped_too() {
    use jeton_core::added_tokens::AddedToken;
    use jeton_core::model::{Model, Unigram};
    use jeton_core::{InvalidUtf8, Stages, Tokenizer};

    let pieces = [("<unk>", 0.0), ("a", -1.0), ("<unk>", -2.0)];
    let model = Unigram::new(pieces, Some(0), false).unwrap();
    let mut stages = Stages::of_model(Model::Unigram(model));
    stages.added_tokens.push(AddedToken::special(2, "<unk>"));
    let tokenizer = Tokenizer::new(stages).unwrap();
    let decoded = |skip: bool| tokenizer.decode(&[1, 0, 2, 1], &skip.into(), InvalidUtf8::Strict);
    assert_eq!(decoded(false).unwrap(), "a <unk> <unk> a");
    assert_eq!(decoded(true).unwrap(), "a a");
}
