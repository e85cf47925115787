//! Corpora: the same counts from every form of the same text, and errors that say where.

use super::*;
use crate::word_counts::{CountingOptions, FirstStages, WordCounts};
use jeton_stages::pre_tokenizer::named;
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
    let pattern = named::find("gpt2").unwrap().pre_tokenizer();
    FirstStages::new(vec![], None, Some(pattern)).unwrap()
}

/// Each line a document.
fn lines_of_text() -> CorpusOptions {
    CorpusOptions {
        unit: DocumentUnit::Line,
        ..CorpusOptions::default()
    }
}

fn counted(paths: &[PathBuf], options: CorpusOptions) -> Result<WordCounts> {
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    count_corpus(&Corpus::open(paths, options)?, &mut counter)?;
    Ok(counter.finish()?.counts)
}

fn count_corpus(corpus: &Corpus, counter: &mut WordCounter) -> Result<()> {
    let mut blocks = corpus.read(2, counter);
    for block in blocks.by_ref() {
        block?.count(counter)?;
    }
    let size = corpus.files.iter().map(|file| file.size).sum::<u64>();
    assert_eq!(blocks.progress().read, size);
    Ok(())
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
        let counts = counted(std::slice::from_ref(&form), lines_of_text()).unwrap();
        assert_eq!(counts, expected, "{}", form.display());
    }
    folder.put("parts/1/x.txt", head.as_bytes());
    folder.put("parts/2.gz", &gzip(tail.as_bytes()));
    let counts = counted(&[folder.0.join("parts")], lines_of_text()).unwrap();
    assert_eq!(counts, expected);
}

#[test]
fn progress_grows_within_a_file() {
    let folder = Folder::new("progress");
    // The reader of a compressed file takes more than this at once, unless much is packed.
    let text = (0..20_000_u64)
        .map(|n| format!("{}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect::<String>();
    for (name, bytes) in [
        ("a.txt", text.clone().into_bytes()),
        ("b.gz", gzip(text.as_bytes())),
        ("c.csv", format!("text\n{text}").into_bytes()),
    ] {
        let path = folder.put(name, &bytes);
        let corpus = Corpus::open(&[path.clone(), path], lines_of_text()).unwrap();
        let counter = WordCounter::new(stages(), CountingOptions::default());
        let mut blocks = corpus.read(1, &counter);
        let mut seen = Vec::new();
        while let Some(block) = blocks.next() {
            block.unwrap();
            seen.push(blocks.progress().read);
        }
        assert!(seen.is_sorted(), "{name}");
        seen.dedup();
        assert!(seen.len() > 3, "{name}: {seen:?}");
        // A path that is there twice is read once.
        assert_eq!(blocks.progress().read, bytes.len() as u64, "{name}");
    }
}

#[test]
fn parts_of_a_file_have_each_line_once() {
    let folder = Folder::new("parts");
    let lines = lines();
    for (text, name) in [
        (format!("\u{FEFF}{}", lines.concat()), "a.txt"),
        (format!("{}no line end", lines.concat()), "b.txt"),
        (String::new(), "c.txt"),
    ] {
        let path = folder.put(name, text.as_bytes());
        let whole = counted(std::slice::from_ref(&path), lines_of_text()).unwrap();
        for parts in [1, 2, 3, 7, 50] {
            let size = text.len() as u64;
            let mut counter = WordCounter::new(stages(), CountingOptions::default());
            for part in 0..parts {
                let bytes = size * part / parts..size * (part + 1) / parts;
                let part = Corpus::open_part(&path, &bytes, lines_of_text()).unwrap();
                count_corpus(&part, &mut counter).unwrap();
            }
            let counts = counter.finish().unwrap().counts;
            assert!(counts == whole, "{parts} parts of {name}");
        }
    }
    let path = folder.put("d.txt.gz", &gzip(b"some text"));
    let part = Corpus::open_part(&path, &(0..4), lines_of_text());
    assert_eq!(part.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_line_of_a_part_is_named() {
    let folder = Folder::new("part-lines");
    let path = folder.put(
        "a.jsonl",
        b"{\"text\": \"a\"}\n{\"text\": \"b\"}\n{\"test\": 1}\n",
    );
    let corpus = Corpus::open_part(&path, &(5..99), lines_of_text()).unwrap();
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    let error = count_corpus(&corpus, &mut counter);
    let told = error.unwrap_err().to_string();
    assert!(told.contains("a.jsonl: line 2 from byte 14 on"), "{told}");
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
        counted(
            std::slice::from_ref(&path),
            CorpusOptions {
                field,
                errors,
                ..lines_of_text()
            },
        )
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
fn errors_are_found_before_work_starts() {
    let folder = Folder::new("wrong");
    let open = |path: PathBuf, field: Option<&str>| {
        let field = field.map(str::to_owned);
        let errors = InvalidUtf8::Strict;
        let opened = Corpus::open(
            &[path],
            CorpusOptions {
                field,
                errors,
                ..lines_of_text()
            },
        );
        opened.unwrap_err().to_string()
    };
    let error = open(folder.0.join("missing.txt"), None);
    assert!(
        error.ends_with("missing.txt: there is no such file"),
        "{error}"
    );
    fs::create_dir(folder.0.join("empty")).unwrap();
    let error = open(folder.0.join("empty"), None);
    assert!(error.contains("the folder holds no files"), "{error}");
    let path = folder.put("x.jsonl", b"{\"texts\": \"a\"}\n");
    let error = open(path.clone(), None);
    let expected =
        "x.jsonl: line 1: there is no field \"text\"; it has texts (did you mean \"texts\"?)";
    assert!(error.ends_with(expected), "{error}");
    let error = open(path, Some("body"));
    assert!(
        error.ends_with("; it has texts (name one by field=)"),
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
    let error = counted(&[path], lines_of_text()).unwrap_err().to_string();
    assert!(
        error.contains("x.jsonl: line 41: no JSON object with a text"),
        "{error}"
    );
    let cut = zstandard(lines().concat().as_bytes());
    let path = folder.put("cut.zst", &cut[..cut.len() - 9]);
    assert!(counted(&[path], lines_of_text()).is_err());
}

#[test]
fn a_byte_order_mark_belongs_to_no_text() {
    let folder = Folder::new("mark");
    let text = lines().concat();
    let marked = format!("\u{FEFF}{text}");
    let json = "\u{FEFF}{\"text\": \"déjà vu\"}\n";
    let count = |path| counted(&[path], lines_of_text()).unwrap();
    let expected = of_lines(&lines());
    assert_eq!(count(folder.put("x.txt", marked.as_bytes())), expected);
    assert_eq!(
        count(folder.put("x.gz", &gzip(marked.as_bytes()))),
        expected
    );
    let expected = of_lines(&["déjà vu".to_owned()]);
    assert_eq!(count(folder.put("x.jsonl", json.as_bytes())), expected);
    let inside = count(folder.put("y.txt", "a\n\u{FEFF}b\n".as_bytes()));
    assert!(inside.iter().any(|(word, _)| word.contains('\u{FEFF}')));
    let wide = folder.put("z.txt", b"\xFF\xFEa\0b\0");
    let error = counted(&[wide], lines_of_text()).unwrap_err();
    assert!(
        error.to_string().contains("in UTF-16, not in UTF-8"),
        "{error}"
    );
}

#[test]
fn binary_files_are_refused() {
    let folder = Folder::new("no-text");
    let open = |path: PathBuf| {
        let opened = Corpus::open(&[path], lines_of_text());
        opened.unwrap_err().to_string()
    };
    for document in [" [{\"text\": \"a\"}]", "{\"text\": \"a\"}\n"] {
        let error = open(folder.put("x.json", document.as_bytes()));
        assert!(error.contains("x.json: this is a JSON document"), "{error}");
    }
    let error = open(folder.put("x.json.gz", &gzip(b"[1]")));
    assert!(error.contains("this is a JSON document"), "{error}");
    let counts = WordCounts::from_words([("a", 1)]).to_bytes().unwrap();
    let error = open(folder.put("x.txt", &counts));
    assert!(
        error.contains("x.txt: this is a file of word counts"),
        "{error}"
    );
    let error = open(folder.put("x.jsonl", b"\n\n{\"text\":\n\"a\"}\n"));
    assert!(error.contains("x.jsonl: line 3: "), "{error}");
    assert!(
        error.ends_with("(each line must hold a whole object)"),
        "{error}"
    );
    let error = open(folder.put("x.jsonl", b"[{\"text\": \"a\"}]\n"));
    assert!(error.contains("one object each, not a list"), "{error}");
    Corpus::open(&[folder.put("y.json", b"plain text")], lines_of_text()).unwrap();
    let field = Some("text".to_owned());
    let lines = CorpusOptions {
        field,
        ..lines_of_text()
    };
    Corpus::open(&[folder.put("z.json", b"{\"text\": \"a\"}\n")], lines).unwrap();
}

#[test]
fn a_pointer_of_git_lfs_is_no_text() {
    let folder = Folder::new("lfs");
    let path = folder.put(
        "a.txt",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n",
    );
    let error = counted(&[path], lines_of_text()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    let expected = "a.txt: this is a pointer of Git LFS to a file that was not fetched, not text";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn nul_is_found_wherever_it_is() {
    let folder = Folder::new("nul");
    let text = lines().concat().repeat(40);
    let at = binary::HEAD as usize + 4_321;
    assert!(text.len() > at + 1_000);
    let mut bytes = text.into_bytes();
    bytes[at] = 0;
    let files = [
        folder.put("a.txt", &bytes),
        folder.put("a.gz", &gzip(&bytes)),
        folder.put("a.zst", &zstandard(&bytes)),
    ];
    let expected = format!("this is not text: byte {at} is NUL");
    for path in files {
        let error = counted(&[path], lines_of_text()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains(&expected), "{error}");
    }
    let path = folder.put("b.txt", &bytes);
    let begin = at as u64 - 1_000;
    let part = Corpus::open_part(&path, &(begin..begin + 2_000), lines_of_text()).unwrap();
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    let error = count_corpus(&part, &mut counter).unwrap_err();
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn damaged_compression_is_told_in_words() {
    let folder = Folder::new("damaged");
    let text = lines().concat();
    let (whole, zipped) = (zstandard(text.as_bytes()), gzip(text.as_bytes()));
    let mut flipped = zipped.clone();
    let sum = flipped.len() - 8;
    flipped[sum] ^= 1;
    let begins_xz = b"\xFD7zXZ\0\0\x04";
    let files = [
        ("cut.zst", &whole[..whole.len() - 9], "Zstandard"),
        (
            "begins.zst",
            &[0x28, 0xB5, 0x2F, 0xFD, 0xFF, 0xFF],
            "Zstandard",
        ),
        ("cut.gz", &zipped[..zipped.len() - 9], "gzip"),
        ("sum.gz", &flipped, "gzip"),
        ("begins.xz", begins_xz, "xz"),
    ];
    for (name, bytes, what) in files {
        let error = counted(&[folder.put(name, bytes)], lines_of_text()).unwrap_err();
        let told = format!("cannot be read: its {what} data is damaged or cut short");
        assert!(error.to_string().ends_with(&told), "{name}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn folders_are_looked_through_once() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("folders");
    for name in ["b/2.txt", "b/.hidden", ".git/x", "a.txt", "b/c/3.txt"] {
        folder.put(name, b"text");
    }
    symlink(&folder.0, folder.0.join("b/up")).unwrap();
    symlink("a.txt", folder.0.join("z.txt")).unwrap();
    let names = |paths: &[PathBuf]| {
        let found = find_files(paths).unwrap();
        let files: Vec<String> = (found.files.iter())
            .map(|file| {
                let name = file.strip_prefix(&folder.0).unwrap();
                name.to_str().unwrap().to_owned()
            })
            .collect();
        (files.join(" "), found.repeated)
    };
    assert_eq!(
        names(std::slice::from_ref(&folder.0)),
        ("a.txt b/2.txt b/c/3.txt".to_owned(), 1)
    );
    let twice = [
        folder.0.join("b/c"),
        folder.0.join("b"),
        folder.0.join("a.txt"),
        folder.0.join("a.txt"),
    ];
    assert_eq!(names(&twice).0, "b/c/3.txt b/2.txt b/up/a.txt");
    assert!(find_files(&[folder.0.join(".git")]).unwrap().files.len() == 1);
    symlink("nowhere", folder.0.join("broken")).unwrap();
    let error = find_files(std::slice::from_ref(&folder.0)).unwrap_err();
    assert!(
        error.to_string().ends_with("broken: there is no such file"),
        "{error}"
    );
}

#[test]
fn long_lines_are_cut_only_where_words_part() {
    let folder = Folder::new("apart");
    let text = "some <|a b|> wörds,  and 中文字 <|a b|><|a b|> \t x1 ".repeat(900);
    let path = folder.put("x.txt", text.as_bytes());
    let special = jeton_stages::added_tokens::AddedToken::special(0, "<|a b|>");
    let count = |cut: &str, text: Option<&str>, memory: Option<u64>| {
        let cut = named::find(cut).unwrap().pre_tokenizer();
        let stages = FirstStages::new(vec![special.clone()], None, Some(cut)).unwrap();
        let memory = memory.map(|bytes| crate::word_counts::MemoryBudget {
            bytes,
            folder: std::env::temp_dir(),
            needs: crate::word_counts::WordMemory {
                fixed: 0,
                per_word: 48,
                per_byte: 2,
            },
        });
        let options = CountingOptions {
            memory,
            ..CountingOptions::default()
        };
        let mut counter = WordCounter::new(stages, options);
        match text {
            Some(text) => counter.count(&[text])?,
            None => {
                let corpus = Corpus::open(std::slice::from_ref(&path), lines_of_text())?;
                count_corpus(&corpus, &mut counter)?;
            }
        }
        Ok::<_, Error>(counter.finish()?.counts)
    };
    for cut in ["gpt2", "cl100k", "o200k", "qwen2", "whitespace"] {
        let expected = count(cut, Some(&text), None).unwrap();
        for memory in [None, Some(1 << 16), Some(1 << 30)] {
            assert_eq!(count(cut, None, memory).unwrap(), expected, "{cut}");
        }
    }
}

#[test]
fn a_line_too_long_for_memory_is_cut_at_blanks() {
    let folder = Folder::new("long");
    let text = "some words and 中文字 ".repeat(2000);
    let path = folder.put("x.txt", text.as_bytes());
    assert_eq!(
        counted(&[path], lines_of_text()).unwrap(),
        of_lines(&[text])
    );
}
