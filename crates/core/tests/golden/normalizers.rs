//! Runs `testdata/normalizers.toml`: every normalizer gives the text of Hugging Face `tokenizers`, and
//! its spans, or where characters are joined spans that hold its.

use std::path::Path;

use jeton_core::normalizer::{Charsmap, Normalizer};
use jeton_core::text::{AlignedText, Unit, UnitIndex};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
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
    let index = UnitIndex::new(original, Unit::Characters);
    (text.as_str().char_indices())
        .map(|(at, c)| index.of(text.span_of(at..at + c.len_utf8())))
        .map(|span| (span.start, span.end))
        .collect()
}

#[test]
fn normalizers_give_the_text_of_tokenizers_and_spans_that_hold_its() {
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
        let joins = format!("{normalizer:?}");
        let joins = ["Nf", "Replace", "Precompiled"]
            .iter()
            .any(|it| joins.contains(it));
        for row in case.rows {
            let mut text = AlignedText::original(&row.text);
            normalizer.normalize(&mut text).unwrap();
            let spans = spans(&text, &row.text);
            let holds = |(mine, theirs): (&(usize, usize), &(usize, usize))| {
                if joins {
                    mine.0 <= theirs.0 && theirs.1 <= mine.1
                } else {
                    mine == theirs
                }
            };
            if text.as_str() != row.normalized
                || spans.len() != row.spans.len()
                || !spans.iter().zip(&row.spans).all(holds)
            {
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

/// What is composed, decomposed or moved belongs to what it becomes.
#[test]
fn forms_lose_no_character() {
    use Normalizer::{Nfc, Nfd, Nfkc, Nfkd};
    let marks = [
        "e\u{301}",
        "a\u{301}\u{323}",
        "\u{1112}\u{1161}\u{11ab}",
        "ｶﾞ",
        "ﬁ",
        "é\u{323}x",
    ];
    for form in [Nfc, Nfd, Nfkc, Nfkd] {
        let text = marks.concat();
        let mut new = AlignedText::original(&text);
        form.normalize(&mut new).unwrap();
        let mut end = 0;
        for (start, next) in spans(&new, &text) {
            assert!(start <= end && end <= next, "{form:?}");
            end = next;
        }
        assert_eq!(end, text.chars().count(), "{form:?}");
    }
}

/// Any chain of normalizers on any text: spans stay inside the text, on character boundaries, in
/// order, and none is missing.
#[test]
fn chains_keep_spans_in_order_and_in_bounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let table = std::fs::read_to_string(folder.join("normalizers.toml")).unwrap();
    let table: Table = toml::from_str(&table).unwrap();
    let blob = std::fs::read(folder.join("charsmap.bin")).unwrap();
    let mut kinds = vec![Normalizer::Precompiled(Charsmap::new(&blob).unwrap())];
    kinds.extend(table.normalizer.iter().filter_map(|case| case.is.clone()));
    let mut texts: Vec<&str> = (table.normalizer.iter())
        .flat_map(|case| case.rows.iter().map(|row| row.text.as_str()))
        .collect();
    texts.sort_unstable();
    texts.dedup();

    let mut random = ChaCha8Rng::seed_from_u64(1);
    for round in 0..20_000 {
        let text: String = (0..3)
            .map(|_| texts[random.random_range(0..texts.len())])
            .collect();
        let begin = random.random_range(0..text.len() + 1);
        let begin = (0..=begin)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap();
        let mut piece = AlignedText::original(&text).slice(begin..text.len());
        for _ in 0..random.random_range(1..6) {
            let normalizer = &kinds[random.random_range(0..kinds.len())];
            normalizer.normalize(&mut piece).unwrap();
            let mut last = 0;
            for (at, character) in piece.as_str().char_indices() {
                let span = piece.span_of(at..at + character.len_utf8());
                let place = format!("round {round}, {normalizer:?}, {text:?} from {begin}");
                assert!(begin <= span.start && span.start <= span.end, "{place}");
                assert!(span.end <= text.len() && last <= span.start, "{place}");
                assert!(text.is_char_boundary(span.start), "{place}");
                assert!(text.is_char_boundary(span.end), "{place}");
                last = span.start;
            }
            if piece.as_str().len() > 2000 {
                break;
            }
        }
    }
}
