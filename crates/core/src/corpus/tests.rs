//! Corpora: the same counts from every form of the same text, and errors that say where.

use super::*;
use crate::pre_tokenizer::named;
use crate::word_counts::{CountingOptions, FirstStages, WordCounts};
use std::io::Write;

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("jeton-corpus-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn gzip(contents: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(contents).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(contents: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(contents, ruzstd::encoding::CompressionLevel::Fastest)
}

fn stages() -> FirstStages {
    let pattern = named::find("gpt2").unwrap().pre_tokenizer().unwrap();
    FirstStages::new(vec![], None, Some(pattern)).unwrap()
}

fn counted(paths: &[PathBuf], options: CorpusOptions) -> Result<WordCounts> {
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    let mut blocks = Corpus::open(paths, options)?.read(2);
    for block in blocks.by_ref() {
        block?.count(&mut counter)?;
    }
    assert_eq!(blocks.progress().read, blocks.progress().total);
    Ok(counter.finish()?.counts)
}

fn of_lines(lines: &[String]) -> WordCounts {
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    counter.count(lines).unwrap();
    counter.finish().unwrap().counts
}

fn lines() -> Vec<String> {
    let line = |n: usize| format!("line {n}  \"déjà vu\" {}\n", "word ".repeat(n % 11));
    (0..100).map(line).collect()
}

#[test]
fn every_form_of_a_text_has_the_same_counts() {
    let folder = Folder::new("forms");
    let lines = lines();
    let text = lines.concat();
    let (head, tail) = text.split_at(text.find("line 50").unwrap());
    let json: String = (lines.iter().enumerate())
        .map(|(n, line)| {
            let line = serde_json::json!({"n": n, "body": {"body": [1]}, "text": line, "z": null});
            format!("{line}\n\n")
        })
        .collect();
    let twice = |compress: fn(&[u8]) -> Vec<u8>| {
        [compress(head.as_bytes()), compress(tail.as_bytes())].concat()
    };
    let forms = [
        folder.put("plain.txt", text.as_bytes()),
        folder.put("a.gz", &twice(gzip)),
        folder.put("b.zst", &twice(zstandard)),
        folder.put("c.jsonl", json.as_bytes()),
        folder.put("d.ndjson.gz", &gzip(json.as_bytes())),
        folder.put("e.jsonl.zst", &zstandard(json.as_bytes())),
    ];
    let expected = of_lines(&lines);
    for form in forms {
        let counts = counted(std::slice::from_ref(&form), CorpusOptions::default()).unwrap();
        assert_eq!(counts, expected, "{}", form.display());
    }
    folder.put("parts/1/x.txt", head.as_bytes());
    folder.put("parts/2.gz", &gzip(tail.as_bytes()));
    let counts = counted(&[folder.0.join("parts")], CorpusOptions::default()).unwrap();
    assert_eq!(counts, expected);
}

#[test]
fn bytes_that_are_not_utf8_follow_the_policy() {
    let folder = Folder::new("invalid");
    let path = folder.put(
        "x.txt",
        &[b"good line\n".repeat(30), b"bad \xE4\n".into()].concat(),
    );
    let with = |errors: &str| {
        let errors = errors.parse().unwrap();
        let field = None;
        counted(std::slice::from_ref(&path), CorpusOptions { field, errors })
    };
    let error = with("strict").unwrap_err().to_string();
    assert!(error.contains("x.txt: not UTF-8 at byte 304"), "{error}");
    let bad = |tail: &str| {
        let good = vec!["good line\n".to_owned(); 30];
        of_lines(&[good, vec![tail.to_owned()]].concat())
    };
    assert_eq!(with("replace").unwrap(), bad("bad \u{FFFD}\n"));
    assert_eq!(with("ignore").unwrap(), bad("bad \n"));
    let error = "stict".parse::<InvalidUtf8>().unwrap_err().to_string();
    assert!(error.ends_with("(did you mean \"strict\"?)"), "{error}");
}

#[test]
fn what_is_wrong_is_told_before_work_starts() {
    let folder = Folder::new("wrong");
    let open = |path: PathBuf, field: Option<&str>| {
        let field = field.map(str::to_owned);
        let errors = InvalidUtf8::Strict;
        let opened = Corpus::open(&[path], CorpusOptions { field, errors });
        opened.unwrap_err().to_string()
    };
    let error = open(folder.0.join("missing.txt"), None);
    assert!(
        error.ends_with("missing.txt: there is no such file"),
        "{error}"
    );
    fs::create_dir(folder.0.join("empty")).unwrap();
    let error = open(folder.0.join("empty"), None);
    assert!(error.ends_with("the folder holds no files"), "{error}");
    let path = folder.put("x.jsonl", b"{\"texts\": \"a\"}\n");
    let error = open(path.clone(), None);
    let expected = "x.jsonl: line 1: there is no field \"text\" (did you mean \"texts\"?)";
    assert!(error.ends_with(expected), "{error}");
    let error = open(path, Some("body"));
    assert!(
        error.ends_with("(it has texts; name one by field=)"),
        "{error}"
    );
    let error = open(folder.put("y.jsonl", b"[1]\n"), None);
    assert!(error.contains("y.jsonl: line 1: no JSON object"), "{error}");
}

#[test]
fn a_line_that_is_wrong_is_named() {
    let folder = Folder::new("line");
    let good = "{\"text\": \"good\"}\n".repeat(40);
    let path = folder.put("x.jsonl", format!("{good}{{\"text\": 1}}\n").as_bytes());
    let error = counted(&[path], CorpusOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("x.jsonl: line 41: no JSON object with a text"),
        "{error}"
    );
    let cut = zstandard(lines().concat().as_bytes());
    let path = folder.put("cut.zst", &cut[..cut.len() - 9]);
    assert!(counted(&[path], CorpusOptions::default()).is_err());
}

#[test]
fn a_line_too_long_for_memory_is_cut_at_blanks() {
    let folder = Folder::new("long");
    let text = "some words and 中文字 ".repeat(2000);
    let path = folder.put("x.txt", text.as_bytes());
    assert_eq!(
        counted(&[path], CorpusOptions::default()).unwrap(),
        of_lines(&[text])
    );
}

#[test]
fn counting_can_be_interrupted() {
    let folder = Folder::new("interrupt");
    let path = folder.put("x.txt", lines().concat().as_bytes());
    let corpus = Corpus::open(&[path], CorpusOptions::default()).unwrap();
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    let error = corpus
        .count(&mut counter, |_| ControlFlow::Break(()))
        .unwrap_err();
    assert_eq!(error.to_string(), "counting was interrupted");
}
