//! Blocks hold the tokens of the documents, however these are split, read and resumed.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::tokenizer::EncodeOptions;
use jeton_models::Stages;
use jeton_models::model::{Bpe, Characters, Model};
use jeton_stages::pre_tokenizer::{PreTokenizer, named};
use jeton_stages::vocab::Vocab;
use jeton_text::ErrorKind;
use jeton_training::corpus::{BadRecords, CorpusOptions, CorpusPosition, DocumentUnit};

const END: u32 = 1 << 16;

fn byte_level(pattern: Option<&str>) -> Arc<Tokenizer> {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let merged: [&[u8]; 8] = [
        b"th", b"he", b"the", b" the", b"\n\n", b"  ", b"    ", b" \n",
    ];
    let tokens = bytes.chain(merged.map(<[u8]>::to_vec));
    let vocab = Vocab::new(tokens.zip(0..)).unwrap();
    let pattern = pattern.map(|name| named::find(name).unwrap().pre_tokenizer());
    tokenizer(Model::Bpe(Bpe::by_ranks(vocab).unwrap()), pattern)
}

fn characters() -> Arc<Tokenizer> {
    let vocab = Vocab::new([(b"?".to_vec(), 0), (b"t".to_vec(), 1), (b"\n".to_vec(), 2)]);
    tokenizer(
        Model::Characters(Characters::new(vocab.unwrap(), Some(0)).unwrap()),
        None,
    )
}

fn tokenizer(model: Model, pre_tokenizer: Option<PreTokenizer>) -> Arc<Tokenizer> {
    let stages = Stages {
        pre_tokenizer,
        ..Stages::of_model(model)
    };
    Arc::new(Tokenizer::new(stages).unwrap())
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn of(files: &[(&str, &[u8])]) -> (Self, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let put = |(name, contents): &(&str, &[u8])| {
            let path = folder.path().join(name);
            fs::write(&path, contents).unwrap();
            path
        };
        let paths = files.iter().map(put).collect();
        (Self(folder), paths)
    }
}

/// Documents, and what is after each block.
#[derive(Debug, Default, PartialEq)]
struct Gathered {
    documents: Vec<Vec<u32>>,
    keys: Vec<u64>,
    bytes: u64,
    empty: u64,
    bad: u64,
    /// How many documents are whole after a block, and whether it ends in one.
    places: Vec<(CorpusPosition, usize, bool)>,
    digests: Vec<(usize, u64, [u8; 32])>,
}

fn gathered(
    tokenizer: &Arc<Tokenizer>,
    paths: &[PathBuf],
    unit: DocumentUnit,
    start: CorpusPosition,
    threads: usize,
) -> Result<Gathered> {
    let corpus = Corpus::open(
        paths,
        CorpusOptions {
            unit,
            ..CorpusOptions::default()
        },
    )?;
    read(tokenizer, &corpus, unit, start, threads)
}

/// What a corpus holds from a place on.
fn read(
    tokenizer: &Arc<Tokenizer>,
    corpus: &Corpus,
    unit: DocumentUnit,
    start: CorpusPosition,
    threads: usize,
) -> Result<Gathered> {
    let reading = DocumentOptions {
        start,
        threads,
        block: 64,
    };
    let options = TokenOptions {
        end: vec![END],
        wide: true,
        keys: true,
        ..TokenOptions::default()
    };
    let tokenizer = Arc::clone(tokenizer);
    let mut blocks = TokenBlocks::new(tokenizer, corpus, &reading, options, threads);
    let mut gathered = Gathered::default();
    let mut is_open = unit == DocumentUnit::File && start.byte > 0;
    if is_open {
        gathered.documents.push(Vec::new());
    }
    loop {
        let block = match blocks.step(Duration::from_millis(20))? {
            Next::Item(block) => block,
            Next::Waiting => continue,
            Next::End => return Ok(gathered),
        };
        let Tokens::Wide(mut tokens) = block.tokens else {
            panic!("tokens of four bytes were asked for");
        };
        for &length in &block.lengths {
            let rest = tokens.split_off(length as usize);
            if std::mem::take(&mut is_open) {
                gathered.documents.last_mut().unwrap().append(&mut tokens)
            } else {
                gathered.documents.push(tokens)
            }
            tokens = rest;
        }
        assert!(tokens.is_empty());
        is_open = block.is_unfinished;
        gathered.keys.extend(block.keys);
        gathered.bytes += block.bytes;
        gathered.empty += block.empty;
        gathered.bad += block.dropped.len() as u64;
        let whole = gathered.documents.len() - usize::from(is_open);
        gathered.places.push((block.after, whole, is_open));
        gathered.digests.extend(block.digests);
    }
}

fn encoded(tokenizer: &Tokenizer, documents: &[&str]) -> Vec<Vec<u32>> {
    let documents = documents.iter().filter(|text| !text.is_empty());
    let encode = |text: &&str| {
        let mut ids = tokenizer
            .encode_ids(text, &EncodeOptions::default())
            .unwrap();
        ids.push(END);
        ids
    };
    documents.map(encode).collect()
}

fn prose(size: usize) -> String {
    let words = [
        "the", "weather ", "\n\n", "  \n", "père", "    x", "12345", "🙂", "'s ", "\r\n",
    ];
    let mut state = 7u64;
    let mut text = String::new();
    while text.len() < size {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        text.push_str(words[(state >> 33) as usize % words.len()]);
    }
    text
}

fn kinds() -> Vec<(&'static str, Arc<Tokenizer>)> {
    vec![
        ("gpt2", byte_level(Some("gpt2"))),
        ("cl100k", byte_level(Some("cl100k"))),
        ("whole texts", byte_level(None)),
        ("characters", characters()),
    ]
}

#[test]
fn files_are_cut_where_tokens_are_those_of_the_whole() {
    let (long, short) = (prose(5_000), prose(90));
    let spaces = " ".repeat(700) + "the" + &"\n".repeat(300);
    let files: [(&str, &[u8]); 6] = [
        ("a", long.as_bytes()),
        ("b", b""),
        ("c", short.as_bytes()),
        ("d", spaces.as_bytes()),
        ("e", &[b't'; 64]),
        ("f", "\u{FEFF}the".as_bytes()),
    ];
    let (_folder, paths) = Folder::of(&files);
    for (name, tokenizer) in kinds() {
        let texts: Vec<&str> = files
            .iter()
            .map(|(_, bytes)| std::str::from_utf8(bytes).unwrap())
            .map(|text| text.trim_start_matches('\u{FEFF}'))
            .collect();
        let expected = encoded(&tokenizer, &texts);
        let all = gathered(
            &tokenizer,
            &paths,
            DocumentUnit::File,
            CorpusPosition::default(),
            3,
        )
        .unwrap();
        assert_eq!(all.documents, expected, "{name}");
        assert_eq!(all.empty, 1);
        assert_eq!(
            all.bytes,
            texts.iter().map(|text| text.len() as u64).sum::<u64>()
        );
        let digests: Vec<_> = (files.iter().enumerate())
            .map(|(number, (_, bytes))| {
                use sha2::Digest;
                (
                    number,
                    bytes.len() as u64,
                    sha2::Sha256::digest(bytes).into(),
                )
            })
            .collect();
        assert_eq!(all.digests, digests);
        // A file that can be split is not held whole.
        assert_eq!(all.places.len() > 10, name != "whole texts", "{name}");
    }
}

#[test]
fn threads_do_not_matter_and_every_position_resumes() {
    let text = prose(3_000);
    let (_folder, paths) = Folder::of(&[
        ("a.txt", text.as_bytes()),
        ("b.txt", b"the\n\nthe"),
        ("c.jsonl", br#"{"text": "the"}"#),
    ]);
    for (name, tokenizer) in kinds() {
        for unit in [DocumentUnit::File, DocumentUnit::Line] {
            let all = gathered(&tokenizer, &paths, unit, CorpusPosition::default(), 1).unwrap();
            for threads in [2, 7] {
                let again =
                    gathered(&tokenizer, &paths, unit, CorpusPosition::default(), threads).unwrap();
                assert_eq!(again.documents, all.documents, "{name} {unit:?}");
                assert_eq!(again.keys, all.keys);
            }
            for &(at, whole, is_open) in &all.places {
                let rest = gathered(&tokenizer, &paths, unit, at, 2).unwrap();
                let from = rest.documents.len() - (all.documents.len() - whole);
                assert_eq!(from, 0, "{name} {unit:?} {at:?}");
                let skip = usize::from(is_open);
                assert_eq!(rest.documents[skip..], all.documents[whole + skip..]);
                if is_open {
                    assert!(all.documents[whole].ends_with(&rest.documents[0]));
                }
            }
        }
    }
}

#[test]
fn lines_and_records_are_documents() {
    let (_folder, paths) = Folder::of(&[
        ("a.txt", b"the\r\n\nthe weather\nno end"),
        (
            "b.jsonl",
            b"{\"text\": \"a\\nb\"}\n\n  \n{\"text\": null}\n{\"text\": \"\", \"n\": 1}\n{\"text\": \"the\"}",
        ),
    ]);
    let tokenizer = byte_level(Some("gpt2"));
    let all = gathered(
        &tokenizer,
        &paths,
        DocumentUnit::Line,
        CorpusPosition::default(),
        2,
    )
    .unwrap();
    let documents = ["the\r", "the weather", "no end", "a\nb", "the"];
    assert_eq!(all.documents, encoded(&tokenizer, &documents));
    assert_eq!(all.empty, 3);
}

#[test]
fn keys_tell_documents_apart_by_how_they_begin() {
    let key = key_of("the");
    assert_eq!(key, 0xb9776d7ddf459c9a);
    let long = "é".repeat(40_000);
    assert_eq!(key_of(&long), key_of(&long[..32_768 * 2]));
    assert_ne!(key_of(&long), key_of(&long[..65_534]));
}

fn key_of(text: &str) -> u64 {
    let options = TokenOptions {
        keys: true,
        ..TokenOptions::default()
    };
    let tokenizer = byte_level(Some("gpt2"));
    TokenBlock::of_texts(&tokenizer, &options, &[text])
        .unwrap()
        .keys[0]
}

#[test]
fn errors_come_in_order_with_their_place() {
    let closed = Vocab::new([(b"t".to_vec(), 0), (b"\n".to_vec(), 1)]).unwrap();
    let closed = tokenizer(
        Model::Characters(Characters::new(closed, None).unwrap()),
        None,
    );
    let lines = "t\n".repeat(300) + "x\n" + &"t\n".repeat(300) + "\nx";
    let bad = [b"t\n".repeat(400), b"\xFF".to_vec()].concat();
    let rows = "{\"text\": \"t\"}\n".repeat(50) + "{\"text\": 1}\n";
    let (folder, paths) = Folder::of(&[
        ("a.txt", lines.as_bytes()),
        ("bad.txt", &bad),
        ("c.jsonl", rows.as_bytes()),
    ]);
    let told = |paths: &[PathBuf]| {
        let failed = gathered(
            &closed,
            paths,
            DocumentUnit::Line,
            CorpusPosition::default(),
            4,
        )
        .unwrap_err();
        failed.to_string()
    };
    assert!(
        told(&paths).contains("a.txt: line 301: 'x'"),
        "{}",
        told(&paths)
    );
    assert!(told(&paths[1..]).contains("bad.txt: not UTF-8 at byte 800"));
    assert!(told(&paths[2..]).contains("c.jsonl: line 51"));
    let gone = [folder.0.path().join("gone")];
    let error = gathered(
        &closed,
        &gone,
        DocumentUnit::File,
        CorpusPosition::default(),
        1,
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileMissing);
    let at = CorpusPosition {
        file: 0,
        byte: 1 << 40,
        line: 9,
        digest: 0,
    };
    let error = gathered(&closed, &paths, DocumentUnit::Line, at, 1).unwrap_err();
    assert!(error.to_string().contains("is shorter than it was"));
}

#[test]
fn bad_records_are_dropped_and_counted() {
    let closed = Vocab::new([(b"t".to_vec(), 0)]).unwrap();
    let closed = tokenizer(
        Model::Characters(Characters::new(closed, None).unwrap()),
        None,
    );
    let lines = [&b"tt\nx\n\n\xFF\nttt\n".repeat(40)[..], b"\xFFt"].concat();
    let rows = "{\"text\": \"t\"}\n{\"test\": \"t\"}\nno\n{\"text\": \"tx\"}\n{\"text\": \"tt\"}";
    let (_folder, paths) = Folder::of(&[("a.txt", &lines), ("b.jsonl", rows.as_bytes())]);
    let options = CorpusOptions {
        unit: DocumentUnit::Line,
        bad_records: BadRecords::Drop,
        ..CorpusOptions::default()
    };
    let corpus = Corpus::open(&paths, options).unwrap();
    let all = |start, threads| read(&closed, &corpus, DocumentUnit::Line, start, threads).unwrap();
    let found = all(CorpusPosition::default(), 3);
    let expected = [["tt", "ttt"].repeat(40), vec!["t", "tt"]].concat();
    assert_eq!(found.documents, encoded(&closed, &expected));
    assert_eq!((found.bad, found.empty), (40 * 2 + 1 + 3, 40));
    assert_eq!(found.keys.len(), found.documents.len());
    for (at, whole, _) in found.places {
        if at.file < paths.len() {
            assert_eq!(all(at, 1).documents, found.documents[whole..]);
        }
    }
}

#[test]
fn resuming_needs_the_read_part_unchanged_and_the_rest_may_change() {
    let text = "the weather\n".repeat(100);
    let (folder, paths) = Folder::of(&[("a", text.as_bytes())]);
    let tokenizer = byte_level(Some("gpt2"));
    let from = |at| gathered(&tokenizer, &paths, DocumentUnit::Line, at, 2);
    let places = from(CorpusPosition::default()).unwrap().places;
    let (at, whole, _) = places[places.len() / 2];
    assert!(at.byte > 0 && at.file == 0);
    let half = at.byte as usize;
    let path = folder.0.path().join("a");
    fs::write(&path, text[..half].to_owned() + "mended\n").unwrap();
    assert_eq!(
        from(at).unwrap().documents,
        encoded(&tokenizer, &["mended"])
    );
    assert_eq!(whole, half / 12);
    fs::write(&path, text.replacen("the", "thE", 1)).unwrap();
    let told = from(at).unwrap_err().to_string();
    assert!(
        told.contains(&format!("has changed in its first {half} bytes")),
        "{told}"
    );
}

#[test]
fn dropped_readers_end() {
    let text = "the weather\n".repeat(100_000);
    let (_folder, paths) = Folder::of(&[("a", text.as_bytes())]);
    for takes in [0, 1, 5] {
        let corpus = Corpus::open(&paths, CorpusOptions::default()).unwrap();
        let tokenizer = byte_level(Some("gpt2"));
        let reading = DocumentOptions::default();
        let mut blocks = TokenBlocks::new(tokenizer, &corpus, &reading, TokenOptions::default(), 3);
        for _ in 0..takes {
            let _ = blocks.step(Duration::from_millis(5)).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn text_in_parts_is_the_text(words in proptest::collection::vec(
        prop_oneof![
            Just(" "), Just("\n"), Just("the"), Just("  "), Just("é"), Just("\t"), Just("1"),
            Just("'ll"), Just("🙂"), Just("\u{A0}"), Just("\u{0301}"), Just("?!"),
        ],
        0..400,
    )) {
        let text = words.concat();
        let (_folder, paths) = Folder::of(&[("a", text.as_bytes())]);
        for pattern in ["gpt2", "cl100k", "o200k"] {
            let tokenizer = byte_level(Some(pattern));
            let all = gathered(&tokenizer, &paths, DocumentUnit::File, CorpusPosition::default(), 2).unwrap();
            prop_assert_eq!(all.documents, encoded(&tokenizer, &[&text]));
        }
    }
}
