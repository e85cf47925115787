//! Runs `testdata/normalizers.toml`: every normalizer gives the text and the spans of
//! Hugging Face `tokenizers`.

use std::path::Path;

use jeton_core::normalizer::{Charsmap, Normalizer};
use jeton_core::text::{AlignedText, CharacterIndex};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    normalizer: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    is: Option<Normalizer>,
    charsmap: Option<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    text: String,
    normalized: String,
    /// Of each character, in characters.
    spans: Vec<(usize, usize)>,
}

fn spans(text: &AlignedText, original: &str) -> Vec<(usize, usize)> {
    let index = CharacterIndex::new(original);
    (text.as_str().char_indices())
        .map(|(at, c)| index.characters(text.span_of(at..at + c.len_utf8())))
        .map(|span| (span.start, span.end))
        .collect()
}

#[test]
fn normalizers_give_the_text_and_the_spans_of_tokenizers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let table = std::fs::read_to_string(folder.join("normalizers.toml")).unwrap();
    let table: Table = toml::from_str(&table).unwrap();
    let mut wrong = Vec::new();
    for case in table.normalizer {
        let normalizer = case.is.unwrap_or_else(|| {
            let blob = std::fs::read(folder.join(case.charsmap.unwrap())).unwrap();
            let charsmap = Charsmap::new(&blob).unwrap();
            assert_eq!(charsmap.blob(), blob);
            Normalizer::Precompiled(charsmap)
        });
        for row in case.rows {
            let mut text = AlignedText::original(&row.text);
            normalizer.normalize(&mut text).unwrap();
            let spans = spans(&text, &row.text);
            if text.as_str() != row.normalized || spans != row.spans {
                wrong.push(format!(
                    "{normalizer:?}: {}:\n  {:?} {:?}\n  {:?} {:?}",
                    row.name,
                    text.as_str(),
                    spans,
                    row.normalized,
                    row.spans
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
