//! `tekken.json`: Mistral's ranks, with their pattern and their special tokens in front.
//!
//! Look here for which ids are special: the first `default_num_special_tokens`; the ids of ranks follow.
//! Only as many ranks of the file count as `default_vocab_size` has room for.
//!
//! ```text
//! {"config": {"pattern": …, "default_vocab_size": 131072, "default_num_special_tokens": 1000, "version": "v3"},
//!  "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": "\u0000"}, …],
//!  "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": true}, …]}
//! ```

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cannot_hold::cannot_hold;
use super::plain_bpe::plain_bpe;
use super::tiktoken;
use jeton_models::stages::Stages;
use jeton_stages::pre_tokenizer::{PreTokenizer, named};
use jeton_stages::vocab::{MAX_ID, Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::pattern::SearchPattern;

/// The name of the format in messages.
const TEKKEN: &str = "a tekken.json";

/// The roles of special tokens in this format.
pub const ROLES: &[(&str, &str)] = &[
    ("bos", "<s>"),
    ("eos", "</s>"),
    ("unk", "<unk>"),
    ("pad", "<pad>"),
];

/// The special tokens of the files that list none, up to version 7.
const FIRST: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];
/// The versions that may list none.
const WITHOUT_LIST: [&str; 4] = ["v1", "v2", "v3", "v7"];
/// The version that is written: the last one whose chats need only a list of tokens.
const VERSION: &str = "v7";

#[derive(Deserialize)]
struct File {
    config: Config,
    vocab: Vec<Entry>,
    #[serde(default)]
    special_tokens: Option<Vec<Special>>,
}

#[derive(Deserialize)]
struct Config {
    pattern: String,
    default_vocab_size: u32,
    default_num_special_tokens: u32,
    #[serde(default)]
    version: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    rank: u32,
    token_bytes: String,
}

#[derive(Deserialize)]
struct Special {
    rank: u32,
    token_str: String,
}

/// The tokenizer of a file.
///
/// # Errors
/// A file of another format, with the place; ranks with gaps; more special tokens than the file says.
pub fn read(file: &[u8]) -> Result<Stages> {
    let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
    let file: File = serde_json::from_slice(file)
        .map_err(|error| Error::new(ErrorKind::Format, error.to_string()))?;
    let Config {
        pattern,
        default_vocab_size: size,
        default_num_special_tokens: specials,
        version,
    } = file.config;
    if size > MAX_ID || specials > size {
        return broken(format!(
            "config: {size} tokens, {specials} of them special, cannot be"
        ));
    }
    let ranks = size - specials;
    if (file.vocab.len() as u64) < u64::from(ranks) {
        return broken(format!(
            "vocab: {} ranks, but config says that there are {ranks}",
            file.vocab.len()
        ));
    }
    let listed = match (file.special_tokens, version.as_deref()) {
        (Some(listed), _) => listed,
        (None, Some(version)) if WITHOUT_LIST.contains(&version) => {
            let listed = FIRST.iter().zip(0..);
            let listed = listed.map(|(token, rank)| Special {
                rank,
                token_str: (*token).to_owned(),
            });
            listed.collect()
        }
        (None, version) => {
            return broken(format!(
                "there are no special_tokens, which a file of version {} has to list",
                version.unwrap_or("unknown")
            ));
        }
    };
    if listed.len() as u64 > u64::from(specials) {
        return broken(format!(
            "special_tokens: {} tokens, but config says that there are {specials}",
            listed.len()
        ));
    }
    let mut tokens = Vec::with_capacity(specials as usize);
    for (at, token) in (0..).zip(listed) {
        if token.rank != at {
            return broken(format!(
                "special_tokens[{at}]: {:?} has the rank {}, which is not its place",
                token.token_str, token.rank
            ));
        }
        tokens.push((token.token_str, at));
    }
    for id in tokens.len() as u32..specials {
        tokens.push((format!("<SPECIAL_{id}>"), id));
    }
    let mut entries = Vec::with_capacity(ranks as usize);
    for (at, entry) in (0..ranks).zip(file.vocab) {
        if entry.rank != at {
            return broken(format!(
                "vocab[{at}]: the rank {} is not its place",
                entry.rank
            ));
        }
        match BASE64_STANDARD.decode(&entry.token_bytes) {
            Ok(token) if !token.is_empty() => entries.push((token, at + specials)),
            _ => {
                return broken(format!(
                    "vocab[{at}]: {:?} is not a token in base64",
                    entry.token_bytes
                ));
            }
        }
    }
    let vocab = Vocab::new(entries).map_err(|error| error.at("vocab"))?;
    let pre_tokenizer =
        named::from_pattern(&pattern).map_err(|error| error.at("config.pattern"))?;
    tiktoken::stages(vocab, pre_tokenizer, tokens).map_err(|error| error.of_kind(ErrorKind::Format))
}

/// A file to be written; a [`serde_json::Value`] of each entry would take five times the memory.
#[derive(Serialize)]
struct WrittenFile<'a> {
    config: Value,
    vocab: Vec<WrittenEntry<'a>>,
    special_tokens: Vec<Value>,
    version: u32,
    r#type: &'static str,
}

#[derive(Serialize)]
struct WrittenEntry<'a> {
    rank: u32,
    token_bytes: String,
    token_str: Option<&'a str>,
}

/// Writes a tokenizer. The version of its chat format is not part of that.
///
/// # Errors
/// What the file cannot hold, by name.
pub fn write(stages: &Stages) -> Result<Vec<u8>> {
    stages.ask_for_room(512);
    let cannot = |what: String| Err(cannot_hold(TEKKEN, what));
    let bpe = plain_bpe(stages, TEKKEN)?;
    let Some(PreTokenizer::Matches {
        pattern: SearchPattern::Regex(regex),
    }) = &stages.pre_tokenizer
    else {
        return cannot("a pre-tokenizer that is not a pattern in tiktoken's dialect".to_owned());
    };
    let specials = stages.added_tokens.len() as u32;
    if let Some((token, _)) = (stages.added_tokens.iter().zip(0..)).find(|(it, id)| it.id != *id) {
        return cannot(format!(
            "the special token {:?} with the id {}: special tokens have the first ids, without a gap",
            token.content, token.id
        ));
    }
    let ranks = tiktoken::ranks(stages, bpe)?;
    let mut entries = Vec::with_capacity(ranks.len());
    for ((token, id), rank) in ranks.texts().zip(0_u32..) {
        if id != rank + specials {
            return cannot(format!(
                "{} with the id {id}: ranks follow the special tokens without a gap",
                show(token)
            ));
        }
        entries.push(WrittenEntry {
            rank,
            token_bytes: BASE64_STANDARD.encode(token),
            token_str: std::str::from_utf8(token).ok(),
        });
    }
    let listed = stages
        .added_tokens
        .iter()
        .map(|token| json!({"rank": token.id, "token_str": token.content, "is_control": true}));
    let size = entries.len() as u32;
    let config = json!({
        "pattern": regex.source(),
        "num_vocab_tokens": size,
        "default_vocab_size": size + specials,
        "default_num_special_tokens": specials,
        "version": VERSION,
    });
    let file = serde_json::to_vec(&WrittenFile {
        config,
        vocab: entries,
        special_tokens: listed.collect(),
        version: 1,
        r#type: "Tekken",
    });
    let file = file.expect("texts and numbers are JSON");
    if read(&file)?.model.vocab().len() == ranks.len() {
        Ok(file)
    } else {
        cannot("this vocabulary".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
        let vocab = (0..=u8::MAX).map(|byte| {
            json!({"rank": byte, "token_bytes": BASE64_STANDARD.encode([byte]), "token_str": null})
        });
        let mut vocab: Vec<_> = vocab.collect();
        vocab.push(
            json!({"rank": 256, "token_bytes": BASE64_STANDARD.encode("ab"), "token_str": "ab"}),
        );
        vocab.push(
            json!({"rank": 257, "token_bytes": BASE64_STANDARD.encode("abc"), "token_str": "abc"}),
        );
        let mut file = json!({
            "config": {
                "pattern": r"\w+|\W",
                "num_vocab_tokens": 258,
                "default_vocab_size": 260,
                "default_num_special_tokens": 3,
                "version": "v11",
            },
            "vocab": vocab,
            "special_tokens": [
                {"rank": 0, "token_str": "<unk>", "is_control": true},
                {"rank": 1, "token_str": "<s>", "is_control": true},
            ],
        });
        change(&mut file);
        file.to_string().into_bytes()
    }

    #[test]
    fn special_tokens_come_first_and_ranks_that_have_no_room_are_left_out() {
        let stages = read(&file(|_| ())).unwrap();
        let added: Vec<_> = (stages.added_tokens.iter())
            .map(|token| (token.content.as_str(), token.id))
            .collect();
        assert_eq!(added, [("<unk>", 0), ("<s>", 1), ("<SPECIAL_2>", 2)]);
        let vocab = stages.model.vocab();
        assert_eq!(
            (vocab.id(b"a"), vocab.id(b"ab"), vocab.id(b"abc")),
            (Some(100), Some(259), None)
        );
        assert_eq!(read(&write(&stages).unwrap()).unwrap(), stages);
    }

    #[test]
    fn broken_files_are_refused() {
        type Damage = fn(&mut serde_json::Value);
        let cases: [(&str, Damage, &str); 6] = [
            ("rank", |it| it["vocab"][7]["rank"] = json!(8), "vocab[7]"),
            (
                "base64",
                |it| it["vocab"][7]["token_bytes"] = json!("?"),
                "vocab[7]",
            ),
            (
                "few",
                |it| it["config"]["default_vocab_size"] = json!(300),
                "vocab: 258",
            ),
            (
                "none special",
                |it| it["special_tokens"] = json!(null),
                "special_tokens",
            ),
            (
                "huge",
                |it| it["config"]["default_vocab_size"] = json!(4_000_000_000_u32),
                "cannot be",
            ),
            (
                "place",
                |it| it["special_tokens"][1]["rank"] = json!(5),
                "special_tokens[1]",
            ),
        ];
        for (name, change, message) in cases {
            let error = read(&file(change)).expect_err(name).to_string();
            assert!(error.contains(message), "{name}: {error}");
        }
    }
}
