//! Spans of the fast path, and the columns that are computed after them, against the stages.

use std::sync::atomic::AtomicBool;

use jeton_core::batch::SpannedBatch;
use jeton_core::encoding::Encoding;
use jeton_core::tokenizer::{Rest, Source, Spanned};
use jeton_core::{EncodeOptions, Entry, Input, Tokenizer, Unit};

const UNITS: [Unit; 3] = [Unit::Characters, Unit::Bytes, Unit::Utf16];

/// Holds ids and spans equal to those of the stages, in one unit or another.
pub fn check(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) {
    check_unit(tokenizer, text, options, UNITS[text.len() % 3]);
}

/// The same in all units.
pub fn check_units(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) {
    UNITS
        .into_iter()
        .for_each(|unit| check_unit(tokenizer, text, options, unit));
}

fn check_unit(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions, unit: Unit) {
    let options = &EncodeOptions {
        unit,
        ..options.clone()
    };
    let staged = tokenizer.encode(text, None, options);
    // After what is there already.
    let (mut ids, mut spans) = (vec![7], vec![[7, 7]]);
    let done = tokenizer.encode_with_spans(text, options, &mut ids, &mut spans);
    match (&staged, done) {
        (Ok(staged), Ok(())) => {
            assert_eq!((ids[0], spans[0]), (7, [7, 7]));
            assert_eq!(ids[1..], staged.ids, "{text:?} {tokenizer:?}");
            let rows = rows(staged);
            assert_eq!(spans[1..], rows, "{unit:?} {text:?} {ids:?} {tokenizer:?}");
        }
        (Err(_), Err(_)) => {}
        (staged, done) => panic!("{done:?}, but {staged:?}: {text:?}"),
    }
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let middle = (text.len() / 2..).find(|&at| text.is_char_boundary(at));
    let (first, second) = text.split_at(middle.unwrap_or(0));
    for (first, second) in [
        (Input::Text(text), None),
        (Input::Text(first), Some(Input::Text(second))),
        (Input::Words(&words), None),
        (
            Input::Words(&words),
            Some(Input::Words(&words[..1.min(words.len())])),
        ),
    ] {
        check_columns(tokenizer, &Entry { first, second }, options);
    }
}

/// Holds all columns equal to those of the stages.
fn check_columns(tokenizer: &Tokenizer, entry: &Entry<'_>, options: &EncodeOptions) {
    let staged = tokenizer.encode_entry(entry, options);
    let (staged, spanned) = match (staged, tokenizer.encode_entry_with_spans(entry, options)) {
        (Ok(staged), Ok(spanned)) => (Spanned::from(staged), spanned),
        (Err(_), Err(_)) => return,
        (staged, spanned) => panic!("{spanned:?}, but {staged:?}: {entry:?}"),
    };
    let attributes = match &spanned.rest {
        Rest::Known(attributes) => attributes.clone(),
        Rest::Counted(counts) => {
            let mut rest = &counts[..];
            let sources = entry.inputs().map(|input| {
                let (counts, behind) = rest.split_at(input.texts().len());
                rest = behind;
                match input {
                    Input::Text(text) => Source::Text(Some(text), counts[0]),
                    Input::Words(_) => Source::Words(counts),
                }
            });
            let sources: Vec<Source<'_>> = sources.collect();
            tokenizer.attributes(&sources, options).unwrap()
        }
    };
    let rest = Rest::Known(attributes);
    let spanned = Spanned { rest, ..spanned };
    assert_eq!(spanned, staged, "{entry:?} {options:?} {tokenizer:?}");
}

fn rows(staged: &Encoding) -> Vec<[i64; 2]> {
    let rows = staged.spans.iter();
    rows.map(|it| [it.start as i64, it.end as i64]).collect()
}

/// The same of a batch, of which the text is split into parts if it can be.
#[allow(dead_code, reason = "not all tests have large texts")]
pub fn check_batch(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) {
    let never = AtomicBool::new(false);
    for (unit, threads) in UNITS.into_iter().zip([1, 2, 3]) {
        let options = &EncodeOptions {
            unit,
            ..options.clone()
        };
        let texts = [text, "", text];
        let batch = tokenizer.encode_batch_with_spans(&texts, options, threads, &never);
        let SpannedBatch { batch, spans } = batch.unwrap();
        let staged = tokenizer.encode(text, None, options).unwrap();
        let rows = rows(&staged);
        assert_eq!(batch.offsets.len(), 4);
        for places in [&batch.offsets[..2], &batch.offsets[2..]] {
            let places = places[0] as usize..places[1] as usize;
            assert!(batch.ids[places.clone()] == staged.ids, "{tokenizer:?}");
            let spans = &spans[places];
            let wrong = (0..rows.len()).find(|&at| spans[at] != rows[at]);
            let wrong = wrong.map(|at| (at, spans[at], rows[at], staged.ids[at]));
            assert_eq!(wrong, None, "{unit:?} {options:?} {tokenizer:?}");
        }
    }
}
