//! Fuzzes the readers of the core: any bytes are what the reader makes of them, or an error.
//!
//! The first byte of an input chooses the reader, see `read`; the rest is the file. The first five
//! are those of `fuzz/readers.py`.

#![no_main]

use std::fs;
use std::path::PathBuf;

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::convert::{for_json, for_model_file};
use jeton_core::format::LoadOptions;
use jeton_core::format::{
    gguf, gpt2, huggingface, llama2c, sentencepiece, snapshot, tekken, tiktoken, wordpiece,
};
use jeton_core::pre_tokenizer::named;
use jeton_core::text::InvalidUtf8;
use jeton_core::train::corpus::{Corpus, CorpusOptions};
use jeton_core::train::word_counts::{CountingOptions, FirstStages, WordCounter, WordCounts};
use jeton_core::{EncodeOptions, Result, Stages, Tokenizer, Unit};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

const TEXT: &str = "  a ab\u{3000}①<s>▁ab é\u{200d}\0🙂 ababab  b ";

fuzz_target!(|data: &[u8]| {
    if let Some((&reader, file)) = data.split_first() {
        // A file that is refused is as good as one that is read.
        let _ = read(reader, file);
    }
});

fn read(reader: u8, file: &[u8]) -> Result<()> {
    match reader % 13 {
        0 => exercise(huggingface::read(file)?),
        1 => {
            let stages = sentencepiece::read(file)?;
            let written = sentencepiece::write(&stages)?;
            assert!(sentencepiece::read(&written)? == stages);
            exercise(stages)
        }
        2 => {
            let ranks = tiktoken::read_ranks(file)?;
            let pattern = named::from_pattern("gpt2")?;
            exercise(tiktoken::stages(
                ranks,
                pattern,
                [("<s>".to_owned(), 1000)],
            )?)
        }
        3 => {
            let (vocab, merges) = halves(file);
            exercise(gpt2::read(vocab, merges, "merges.txt".as_ref())?)
        }
        4 => exercise(wordpiece::read(file, None)?),
        5 => exercise(snapshot::read(file)?),
        6 => {
            let counts = WordCounts::from_bytes(&sealed(file)?)?;
            assert!(WordCounts::from_bytes(&counts.to_bytes()?)? == counts);
            Ok(())
        }
        7 => Tokenizer::load(&written("file", file), &LoadOptions::default()).map(drop),
        8 => count("lines.jsonl", file),
        10 => {
            let metadata = gguf::Metadata::read(file, file.len() as u64)?;
            let again = metadata.write()?;
            assert!(gguf::Metadata::read(&*again, again.len() as u64).is_ok());
            let stages = gguf::read(&metadata)?.stages;
            if let Ok((file, _)) = gguf::write(&stages, &gguf::Extras::default()) {
                let metadata = gguf::Metadata::read(&*file, file.len() as u64)?;
                assert!(gguf::read(&metadata).is_ok());
            }
            exercise(stages)
        }
        11 => exercise(tekken::read(file)?),
        12 => exercise(llama2c::read(file)?),
        _ => {
            let (name, file) = halves(file);
            let endings = ["txt", "gz", "zst", "jsonl.gz", "jsonl.zst"];
            count(
                &format!("lines.{}", endings[name.len() % endings.len()]),
                file,
            )
        }
    }
}

/// What stands before the first NUL, and what behind it.
fn halves(file: &[u8]) -> (&[u8], &[u8]) {
    let end = file.iter().position(|&byte| byte == 0);
    let end = end.unwrap_or(file.len());
    (&file[..end], file.get(end + 1..).unwrap_or_default())
}

/// A file of word counts with this body: what its head says of it is true.
fn sealed(body: &[u8]) -> Result<Vec<u8>> {
    let empty = WordCounts::from_words([]).to_bytes()?;
    let hash = Sha256::digest([0; 4]);
    let head = empty.windows(32).position(|window| *window == *hash);
    let mut file = empty[..head.expect("the body of no counts is four zeros") - 8].to_vec();
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(Sha256::digest(body));
    file.extend(body);
    Ok(file)
}

/// Where these bytes now are a file, the same place for each name.
fn written(name: &str, file: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("jeton-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    let path = folder.join(name);
    fs::write(&path, file).expect("and room in it");
    path
}

fn count(name: &str, file: &[u8]) -> Result<()> {
    let options = CorpusOptions {
        errors: InvalidUtf8::Replace,
        ..CorpusOptions::default()
    };
    let corpus = Corpus::open(&[written(name, file)], options)?;
    let mut counter = WordCounter::new(FirstStages::default(), CountingOptions::default());
    for lines in corpus.read(2, &counter) {
        lines?.count(&mut counter)?;
    }
    counter.finish().map(drop)
}

/// Uses the tokenizer of these stages in every way, and writes it in every format.
fn exercise(stages: Stages) -> Result<()> {
    let tokenizer = Tokenizer::new(stages)?;
    for special in [SpecialPolicy::Ignore, SpecialPolicy::Allow] {
        for unit in [Unit::Characters, Unit::Bytes] {
            let options = EncodeOptions {
                special: special.clone(),
                add_special_tokens: unit == Unit::Bytes,
                unit,
                ..EncodeOptions::default()
            };
            // What may be refused as a whole may be refused in part.
            let Ok(encoding) = tokenizer.encode(TEXT, Some(TEXT), &options) else {
                continue;
            };
            let length = match unit {
                Unit::Characters => TEXT.chars().count(),
                Unit::Bytes => TEXT.len(),
                Unit::Utf16 => TEXT.encode_utf16().count(),
            };
            for span in &encoding.spans {
                assert!(span.start <= span.end && span.end <= length);
            }
            let ids = tokenizer.encode_ids(TEXT, &options)?;
            assert_eq!(tokenizer.count(TEXT, &options)?, ids.len());
            tokenizer.decode(&ids, &false.into(), InvalidUtf8::Replace)?;
        }
    }
    let image = snapshot::write(tokenizer.stages())?;
    assert!(snapshot::read(&image)? == *tokenizer.stages());
    let stages = tokenizer.stages();
    if let Ok(file) = for_json(stages).and_then(|held| huggingface::write(&held)) {
        let again = huggingface::read(file.as_bytes());
        assert!(again.is_ok(), "{again:?}");
    }
    if let Ok(file) = for_model_file(stages).and_then(|held| sentencepiece::write(&held)) {
        let again = sentencepiece::read(&file);
        assert!(again.is_ok(), "{again:?}");
    }
    if let Ok(file) = tiktoken::write(stages) {
        let again = tiktoken::read_ranks(&file);
        assert!(again.is_ok(), "{again:?}");
    }
    if let Ok((vocab, merges)) = gpt2::write(stages) {
        let again = gpt2::read(vocab.as_bytes(), merges.as_bytes(), "merges.txt".as_ref());
        assert!(again.is_ok(), "{again:?}");
    }
    if let Ok(file) = wordpiece::write(stages) {
        let again = wordpiece::read(&file, None);
        assert!(again.is_ok(), "{again:?}");
    }
    Ok(())
}
