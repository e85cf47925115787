//! Runs `testdata/pre_tokenizers.toml`: every pre-tokenizer gives the pieces and the spans of
//! Hugging Face `tokenizers`.

use std::path::Path;

use jeton_core::pre_tokenizer::PreTokenizer;
use jeton_core::text::{AlignedText, Pieces, Unit, UnitIndex};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    row: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    is: PreTokenizer,
    cases: Vec<(String, Vec<Piece>)>,
}

/// The text of a piece, and its span in characters.
type Piece = (String, usize, usize);

fn pieces(pre_tokenizer: &PreTokenizer, text: &str) -> Vec<Piece> {
    let index = UnitIndex::new(text, Unit::Characters);
    let mut pieces = Pieces::new(AlignedText::original(text));
    pre_tokenizer.cut(&mut pieces).unwrap();
    (pieces.iter())
        .map(|piece| {
            let span = index.of(piece.span_of(0..piece.as_str().len()));
            (piece.as_str().to_owned(), span.start, span.end)
        })
        .collect()
}

#[test]
fn pre_tokenizers_give_the_pieces_and_the_spans_of_tokenizers() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pre_tokenizers.toml");
    let table: Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for row in table.row {
        for (text, expected) in row.cases {
            let found = pieces(&row.is, &text);
            if found != expected {
                let name = &row.name;
                wrong.push(format!("{name}: {text:?}:\n  {found:?}\n  {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
