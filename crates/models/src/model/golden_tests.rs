//! Every model against the tokens of Hugging Face `tokenizers`: `testdata/models.toml`.

use serde::Deserialize;
use serde_json::Value;

use super::bpe::{Alphabet, BpeOptions};
use super::*;

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    /// The `model` section of a tokenizer.json.
    model: String,
    pieces: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    piece: String,
    /// Id, start, end.
    tokens: Option<Vec<(u32, usize, usize)>>,
    #[serde(default)]
    refused: bool,
}

fn model(json: &str) -> Model {
    let json: Value = serde_json::from_str(json).unwrap();
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    let flag = |key: &str| json[key].as_bool().unwrap_or(false);
    let vocab = || {
        let entries = json["vocab"].as_object().unwrap().iter();
        Vocab::new(entries.map(|(token, id)| (token, id.as_u64().unwrap() as u32))).unwrap()
    };
    match text("type").unwrap().as_str() {
        "BPE" => {
            let merges: Vec<(String, String)> =
                serde_json::from_value(json["merges"].clone()).unwrap();
            let merges = merges.into_iter().map(|(a, b)| (a.into(), b.into()));
            let options = BpeOptions {
                alphabet: Alphabet::Characters,
                unk_token: text("unk_token"),
                fuse_unk: flag("fuse_unk"),
                byte_fallback: flag("byte_fallback"),
                ignore_merges: flag("ignore_merges"),
                continuing_subword_prefix: text("continuing_subword_prefix"),
                end_of_word_suffix: text("end_of_word_suffix"),
                separate_suffix: false,
                dropout: None,
            };
            Model::Bpe(Bpe::by_merges(vocab(), merges, options).unwrap())
        }
        "WordLevel" => Model::WordLevel(WordLevel::new(vocab(), text("unk_token").unwrap())),
        "WordPiece" => Model::WordPiece(WordPiece::new(
            vocab(),
            text("unk_token").unwrap(),
            text("continuing_subword_prefix").unwrap(),
            json["max_input_chars_per_word"].as_u64().unwrap() as usize,
        )),
        "Unigram" => {
            let pieces: Vec<(String, f64)> = serde_json::from_value(json["vocab"].clone()).unwrap();
            let unk_id = json["unk_id"].as_u64().map(|id| id as u32);
            Model::Unigram(Unigram::new(pieces, unk_id, flag("byte_fallback")).unwrap())
        }
        other => panic!("no model {other}"),
    }
}

#[test]
fn models_agree_with_the_library() {
    let table = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/models.toml"
    ));
    let table: Table = toml::from_str(table).unwrap();
    for case in table.case {
        let model = model(&case.model);
        for row in case.pieces {
            let mut tokens = Vec::new();
            let mut sampler = Sampler::new(Sampling::default());
            let outcome = model.tokenize(&row.piece, &mut sampler, &mut tokens);
            let found = tokens
                .into_iter()
                .map(|t| (t.id, t.range.start, t.range.end));
            let found = outcome.map(|()| found.collect::<Vec<_>>());
            assert_eq!(
                found.is_err(),
                row.refused,
                "{}: {:?}",
                case.name,
                row.piece
            );
            assert_eq!(found.ok(), row.tokens, "{}: {:?}", case.name, row.piece);
        }
    }
}
