//! Runs `testdata/added_tokens.toml`: added tokens are split off from text as Hugging Face
//! `tokenizers` does.

use std::path::Path;

use jeton_core::added_tokens::{AddedToken, AddedTokens, SpecialPolicy, TextOrToken, assign_ids};
use jeton_core::normalizer::Normalizer;
use jeton_core::text::{AlignedText, Unit, UnitIndex};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
    loaded: Vec<Loaded>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    normalizer: Option<Normalizer>,
    tokens: Vec<AddedToken>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    allow: Vec<(u32, usize, usize)>,
    ignore: Vec<(u32, usize, usize)>,
}

#[derive(Deserialize)]
struct Loaded {
    name: String,
    model: Vec<(String, u32)>,
    tokens: Vec<AddedToken>,
    ids: Vec<(u32, String, bool)>,
}

fn table() -> Table {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    toml::from_str(&std::fs::read_to_string(folder.join("added_tokens.toml")).unwrap()).unwrap()
}

#[test]
fn added_tokens_are_cut_out_as_by_tokenizers() {
    let mut wrong = Vec::new();
    for case in table().case {
        let normalizer = case.normalizer.as_ref();
        let added = AddedTokens::new(case.tokens, normalizer).unwrap();
        for row in case.rows {
            let index = UnitIndex::new(&row.text, Unit::Characters);
            for (policy, expected) in [
                (SpecialPolicy::Allow, &row.allow),
                (SpecialPolicy::Ignore, &row.ignore),
            ] {
                let cuts = added
                    .cut(AlignedText::original(&row.text), normalizer, &policy)
                    .unwrap();
                let cuts: Vec<_> = (cuts.iter())
                    .map(|cut| match cut {
                        TextOrToken::Text(piece) => (0, piece),
                        TextOrToken::Token(id, piece) => (*id, piece),
                    })
                    .map(|(id, piece)| (id, piece.span_of(0..piece.as_str().len())))
                    .map(|(id, span)| (id, index.of(span)))
                    .map(|(id, span)| (id, span.start, span.end))
                    .collect();
                let holds = |(mine, theirs): (&(u32, usize, usize), &(u32, usize, usize))| {
                    mine.0 == theirs.0 && mine.1 <= theirs.1 && theirs.2 <= mine.2
                };
                // tokenizers gives what is composed or replaced the span of one character of it.
                let is_right = match case.name.as_str() {
                    "composed" | "spans through a replacement" => {
                        cuts.len() == expected.len() && cuts.iter().zip(expected).all(holds)
                    }
                    _ => cuts == *expected,
                };
                if !is_right {
                    wrong.push(format!(
                        "{}: {policy:?} {:?}:\n  {cuts:?}\n  {expected:?}",
                        case.name, row.text
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_s_added_tokens_get_the_ids_that_tokenizers_gives() {
    for case in table().loaded {
        let model_id = |content: &str| {
            let mut entries = case.model.iter();
            entries
                .find(|(token, _)| token == content)
                .map(|(_, id)| *id)
        };
        let tokens = assign_ids(case.tokens, case.model.len() as u32, model_id);
        let ids: Vec<_> = (tokens.iter())
            .map(|token| (token.id, token.content.clone(), token.lstrip))
            .collect();
        assert_eq!(ids, case.ids, "{}", case.name);
        AddedTokens::new(tokens, None).unwrap();
    }
}
