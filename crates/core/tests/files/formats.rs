//! Formats of vocabularies, read and written back; and what is refused.

use std::path::{Path, PathBuf};

use jeton_core::convert;
use jeton_core::format::{LoadOptions, gpt2, snapshot, tiktoken};
use jeton_core::{ErrorKind, Result, Stages, Tokenizer};

use crate::support::published;

fn save(stages: &Stages, path: &Path) -> Result<Vec<String>> {
    convert::serialize(stages, path)?.write()
}

fn load(path: &Path) -> Tokenizer {
    Tokenizer::load(path, &LoadOptions::default()).unwrap()
}

/// A folder of its own for a test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("jeton-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn ranks_come_back_byte_for_byte() {
    let folder = published::path("vocab");
    let out = Folder::new("ranks");
    for (name, specials, size) in [
        ("r50k_base.tiktoken", 1, 50_256),
        ("cl100k_base.tiktoken", 5, 100_256),
        ("o200k_base.tiktoken", 2, 199_998),
        ("llama3_ranks.model", 256, 128_000),
    ] {
        let path = folder.join(name);
        let tokenizer = load(&path);
        assert_eq!(tokenizer.stages().added_tokens.len(), specials, "{name}");
        assert_eq!(tokenizer.stages().model.vocab().len(), size, "{name}");
        let copy = out.0.join(name);
        let left_out = save(tokenizer.stages(), &copy).unwrap();
        assert!(left_out.is_empty(), "{name}: known by its content");
        assert!(
            std::fs::read(&copy).unwrap() == std::fs::read(&path).unwrap(),
            "{name}"
        );
        assert_eq!(load(&copy).stages(), tokenizer.stages(), "{name}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn the_gpt2_pair_comes_back() {
    let folder = published::path("vocab");
    let out = Folder::new("pair");
    let tokenizer = load(&folder.join("gpt2_vocab.json"));
    assert_eq!(tokenizer.stages().added_tokens[0].id, 50_256);
    let copy = out.0.join("vocab.json");
    save(tokenizer.stages(), &copy).unwrap();
    let original = std::fs::read_to_string(folder.join("gpt2_vocab.json")).unwrap();
    assert!(std::fs::read_to_string(&copy).unwrap() == original);
    let merges = std::fs::read_to_string(folder.join("gpt2_merges.txt")).unwrap();
    let written = std::fs::read_to_string(out.0.join("merges.txt")).unwrap();
    assert!(written.strip_prefix("#version: 0.2\n") == Some(merges.as_str()));
    assert_eq!(load(&copy).stages(), tokenizer.stages());
    assert_eq!(load(&out.0).stages(), tokenizer.stages());
}

/// GPT-2 was published in both formats, so each must be what the other converts to.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn gpt2_and_r50k_convert_into_each_other() {
    let folder = published::path("vocab");
    let ranks = load(&folder.join("r50k_base.tiktoken"));
    let pair = load(&folder.join("gpt2_vocab.json"));
    let (vocab, merges) = gpt2::write(ranks.stages()).unwrap();
    assert_eq!(
        gpt2::read(vocab.as_bytes(), merges.as_bytes(), "merges.txt".as_ref()).unwrap(),
        *pair.stages()
    );
    let written = tiktoken::write(pair.stages()).unwrap();
    assert!(written == std::fs::read(folder.join("r50k_base.tiktoken")).unwrap());
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn snapshots_give_equal_tokenizers() {
    let folder = published::path("vocab");
    for name in ["r50k_base.tiktoken", "gpt2_vocab.json"] {
        let tokenizer = load(&folder.join(name));
        let image = snapshot::write(tokenizer.stages()).unwrap();
        let back = Tokenizer::new(snapshot::read(&image).unwrap()).unwrap();
        assert_eq!(back.stages(), tokenizer.stages(), "{name}");
        assert_eq!(snapshot::write(back.stages()).unwrap(), image, "{name}");
    }
}

#[test]
fn settings_that_ranks_leave_open_are_required() {
    let out = Folder::new("open");
    let path = out.0.join("own.tiktoken");
    let bytes: Vec<u8> = (0..=255).collect();
    let ranks = jeton_core::vocab::Vocab::new(bytes.chunks(1).zip(0..)).unwrap();
    std::fs::write(&path, tiktoken::write_ranks(&ranks)).unwrap();
    let message = |options: &LoadOptions| {
        let error = Tokenizer::load(&path, options).unwrap_err();
        (
            error.kind(),
            error.to_string().replace(path.to_str().unwrap(), "own"),
        )
    };
    let some = |text: &str| Some(text.to_owned());

    let (kind, text) = message(&LoadOptions::default());
    assert_eq!(kind, ErrorKind::Argument);
    assert!(
        text.starts_with("own: a file of ranks holds no pattern"),
        "{text}"
    );
    assert!(text.contains("pattern=\"cl100k\""), "{text}");
    let (_, text) = message(&LoadOptions {
        pattern: some("cl100"),
        ..Default::default()
    });
    assert_eq!(
        text,
        "own: no pattern is called \"cl100\" (did you mean \"cl100k\"?)"
    );
    let (_, text) = message(&LoadOptions {
        pattern: some("a(b"),
        ..Default::default()
    });
    assert!(text.contains("does not accept the pattern"), "{text}");
    let (_, text) = message(&LoadOptions {
        encoding: some("cl100k_bse"),
        ..Default::default()
    });
    assert!(text.contains("did you mean \"cl100k_base\"?"), "{text}");
    let (_, text) = message(&LoadOptions {
        encoding: some("cl100k_base"),
        ..Default::default()
    });
    assert!(
        text.starts_with("own: this is not the file of cl100k_base"),
        "{text}"
    );
    let (_, text) = message(&LoadOptions {
        merges: Some("m".into()),
        ..Default::default()
    });
    assert_eq!(
        text,
        "own: merges is not accepted for tiktoken ranks (leave merges out)"
    );
    let (_, text) = message(&LoadOptions {
        pattern: some("gpt2"),
        special_tokens: Some(vec![("<|end|>".to_owned(), 7)]),
        ..Default::default()
    });
    assert!(
        text.starts_with("own: the special token \"<|end|>\" has id 7"),
        "{text}"
    );

    let tokenizer = Tokenizer::load(
        &path,
        &LoadOptions {
            pattern: some(r"\S+|\s+"),
            special_tokens: Some(vec![("<|end|>".to_owned(), 300)]),
            ..Default::default()
        },
    )
    .unwrap();
    assert_eq!(tokenizer.token_bytes(300), Some(b"<|end|>".as_slice()));
}

#[test]
fn folders_and_unknown_files_are_not_guessed_at() {
    let out = Folder::new("guess");
    let message = |path: &Path| {
        let error = Tokenizer::load(path, &LoadOptions::default()).unwrap_err();
        error.to_string().replace(out.0.to_str().unwrap(), "DIR")
    };
    assert!(
        message(&out.0).starts_with("DIR: no tokenizer in this folder; looked for tokenizer.json")
    );
    let prose = out.0.join("prose");
    std::fs::write(&prose, "It was a dark and stormy night.").unwrap();
    assert!(
        message(&prose).starts_with("DIR/prose: this is not a tokenizer of a known format; tried")
    );
    std::fs::write(&prose, "").unwrap();
    assert_eq!(message(&prose), "DIR/prose: the file is empty");
    std::fs::write(&prose, "Ġ t\n").unwrap();
    assert!(message(&prose).starts_with("DIR/prose: each line holds two words"));
    let vocab = out.0.join("vocab.json");
    std::fs::write(&vocab, r#"{"a": 0}"#).unwrap();
    assert!(message(&vocab).contains("merges are missing: there is no DIR/merges.txt"));
    std::fs::write(out.0.join("a.tiktoken"), "IQ== 0\n").unwrap();
    assert_eq!(
        message(&out.0),
        "DIR: more than one tokenizer in this folder: vocab.json, a.tiktoken \
         (give the path of the one you mean)"
    );
    assert_eq!(
        message(&out.0.join("absent")),
        "DIR/absent: there is no such file"
    );
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn tokenizer_json_comes_back_alone_and_in_a_folder() {
    let folder = published::path("vocab");
    let out = Folder::new("json");
    let tokenizer = load(&folder.join("gpt2_vocab.json"));
    for name in ["own.json", "folder"] {
        let path = out.0.join(name);
        save(tokenizer.stages(), &path).unwrap();
        assert_eq!(load(&path).stages(), tokenizer.stages(), "{name}");
    }
    let error = save(tokenizer.stages(), &out.0.join("own.xyz")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the name does not say the format")
    );
}
