//! GPT-2's pair of files: `vocab.json`, tokens to ids, and `merges.txt`, one merge per line.
//!
//! Look here for both. Each byte of a token is written as one of 256 printable characters (see
//! [`jeton_text::printable`]); in memory, tokens are the bytes themselves.
//!
//! ```text
//! {"!": 0, "\"": 1, …, "\u0120the": 262, …}        #version: 0.2
//!                                                  Ġ t
//!                                                  h e
//! ```

use std::path::Path;

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::cannot_hold::stage;
use super::plain_bpe::plain_bpe;
use jeton_models::model::bpe::BpeOptions;
use jeton_models::model::{Bpe, Model};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::Decoder;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::pre_tokenizer::{PreTokenizer, SplitBehavior, named};
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::pattern::{Regex, SearchPattern};
use jeton_text::printable;

/// The token that ends a document; special wherever the vocabulary holds it.
pub const END_OF_TEXT: &str = "<|endoftext|>";

/// The parts that it plays where these files are used.
pub const ROLES: &[(&str, &str)] = &[("bos", END_OF_TEXT), ("eos", END_OF_TEXT)];

/// A merge list: what is merged with what, first to last.
pub type Merges = Vec<(Vec<u8>, Vec<u8>)>;

/// The tokenizer of a pair of files, as `ByteLevelBPETokenizer` of `tokenizers` and
/// `GPT2Tokenizer` of `transformers` make it: split by GPT-2's pattern, no space put in front.
/// `merges_path` is what errors call the second file.
///
/// # Errors
/// The first thing that is not as it should be, with its line; a merge of tokens, or into a token, that the
/// vocabulary lacks.
pub fn read(vocab_json: &[u8], merges_txt: &[u8], merges_path: &Path) -> Result<Stages> {
    let vocab = read_vocab(vocab_json)?;
    let merges = read_merges(merges_txt, &vocab)
        .map_err(|error| error.at(merges_path.display().to_string()))?;
    let end_of_text = vocab
        .id(END_OF_TEXT.as_bytes())
        .map(|id| AddedToken::special(id, END_OF_TEXT));
    let model = Model::Bpe(Bpe::by_merges(vocab, merges, BpeOptions::default())?);
    Ok(Stages {
        added_tokens: end_of_text.into_iter().collect(),
        pre_tokenizer: Some(PreTokenizer::ByteLevel {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex: true,
            printable: false,
        }),
        post_processor: Some(PostProcessor::ByteLevel {
            add_prefix_space: true,
            trim_offsets: false,
            use_regex: true,
        }),
        decoder: Some(Decoder::ByteLevel { printable: false }),
        ..Stages::of_model(model)
    })
}

/// What suggests that a vocabulary and merges are of two tokenizers: tokens that no text becomes.
///
/// A few are in real files (`madeupword0000` in RoBERTa's), beside special tokens in brackets.
pub fn warnings(stages: &Stages) -> Vec<String> {
    /// Tokens that are named.
    const MAX_NAMED: usize = 4;
    let Model::Bpe(bpe) = &stages.model else {
        return Vec::new();
    };
    let vocab = bpe.vocab();
    let merges = bpe.merges().merges;
    if vocab.len() <= 256 + merges.len() + MAX_NAMED {
        return Vec::new();
    }
    let whole = |&(left, right): &(u32, u32)| {
        let parts = [left, right].map(|id| vocab.token(id).unwrap_or_default());
        vocab.id(&parts.concat())
    };
    let made: HashSet<u32, FixedState> = merges.iter().filter_map(whole).collect();
    let is_special = |token: &[u8]| {
        matches!(
            (token.first(), token.last()),
            (Some(b'<'), Some(b'>')) | (Some(b'['), Some(b']'))
        )
    };
    let mut unmade = vocab
        .iter()
        .filter(|&(token, id)| token.len() > 1 && !made.contains(&id) && !is_special(token));
    let Some((first, _)) = unmade.next() else {
        return Vec::new();
    };
    let count = unmade.count() + 1;
    if count <= MAX_NAMED {
        return Vec::new();
    }
    vec![format!(
        "{count} of the {} tokens, {} the first of them, come of no merge, so no text becomes them: \
         are the vocabulary and the merges of one tokenizer?",
        vocab.len(),
        show(first),
    )]
}

/// The tokens in a `vocab.json`.
///
/// # Errors
/// What is no JSON object from tokens in printable characters to ids.
fn read_vocab(vocab_json: &[u8]) -> Result<Vocab> {
    let Pairs(pairs) = serde_json::from_slice(vocab_json)
        .map_err(|error| Error::new(ErrorKind::Format, error.to_string()))?;
    let mut tokens = Vec::with_capacity(pairs.len());
    for (text, id) in pairs {
        tokens.push((read_token(&text)?, id));
    }
    Vocab::new(tokens)
}

/// An object of JSON as pairs, so that a key that comes twice is not lost.
struct Pairs(Vec<(String, u32)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object from tokens to ids")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

/// The merges in a `merges.txt`, with or without its `#version` line.
///
/// # Errors
/// The first line that is not two tokens of `vocab` that make a third.
fn read_merges(merges_txt: &[u8], vocab: &Vocab) -> Result<Merges> {
    let text = match std::str::from_utf8(merges_txt) {
        Ok(text) => text,
        Err(error) => {
            let before = &merges_txt[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            return Err(Error::new(ErrorKind::Format, "not UTF-8").at(format!("line {line}")));
        }
    };
    text.trim_end_matches(['\n', '\r'])
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with("#version"))
        .map(|(index, line)| {
            read_merge(line, vocab).map_err(|error| error.at(format!("line {}", index + 1)))
        })
        .collect()
}

fn read_merge(line: &str, vocab: &Vocab) -> Result<(Vec<u8>, Vec<u8>)> {
    let Some((left, right)) = line
        .split_once(' ')
        .filter(|(left, right)| !left.is_empty() && !right.is_empty() && !right.contains(' '))
    else {
        return Err(Error::new(
            ErrorKind::Format,
            format!("expected two tokens with a space between them, found {line:?}"),
        ));
    };
    let (left, right) = (read_token(left)?, read_token(right)?);
    let whole = [left.as_slice(), &right].concat();
    for token in [&left, &right, &whole] {
        if vocab.id(token).is_none() {
            return Err(Error::new(
                ErrorKind::Format,
                format!("the token {} is not in the vocabulary", show(token)),
            ));
        }
    }
    Ok((left, right))
}

/// The bytes of a token written in printable characters.
fn read_token(text: &str) -> Result<Vec<u8>> {
    printable::decode(text).ok_or_else(|| {
        let stranger = text.chars().find(|c| printable::to_byte(*c).is_none());
        Error::new(
            ErrorKind::Format,
            format!(
                "{:?} in the token {text:?} is not one of the 256 characters that stand for bytes",
                stranger.unwrap_or_default()
            ),
        )
    })
}

/// A tokenizer as a pair of files, `vocab.json` and `merges.txt`.
///
/// Ranks become merges where both say the same: where the bytes of each token, merged by the ranks
/// below its own, end in two tokens. Special tokens but [`END_OF_TEXT`] are not part of the pair:
/// who reads it must know them.
///
/// # Errors
/// What the pair cannot say, by name.
pub fn write(stages: &Stages) -> Result<(String, String)> {
    const FORMAT: &str = "a GPT-2 pair";
    stages.ask_for_room(256);
    let cannot = |what: String| {
        Err(Error::new(ErrorKind::Unsupported, what).hint("save it as tokenizer.json"))
    };
    let bpe = plain_bpe(stages, FORMAT)?;
    if !stages.pre_tokenizer.as_ref().is_some_and(cuts_as_gpt2) {
        return cannot(format!(
            "{FORMAT} goes with GPT-2's pattern, and {} splits text otherwise",
            stage("pre-tokenizer", stages.pre_tokenizer.as_ref())
        ));
    }
    let options = bpe.options();
    let list = bpe.merges();
    if options.ignore_merges {
        return cannot(format!("{FORMAT} cannot say ignore_merges"));
    }
    if let Some(&id) = list.underivable.first() {
        let token = show(bpe.vocab().token(id).unwrap_or_default());
        return cannot(format!(
            "no list of merges makes {token} where these ranks do"
        ));
    }
    let token = |id| bpe.vocab().token(id).unwrap_or_default();
    let merges = list.merges.iter().map(|&(a, b)| (token(a), token(b)));
    let merges = write_merges(merges);
    let mut added = stages.added_tokens.iter();
    let vocab = match added.find(|token| token.content == END_OF_TEXT) {
        Some(end) if bpe.vocab().id(END_OF_TEXT.as_bytes()).is_none() => {
            let end = (end.content.as_bytes(), end.id);
            write_vocab(&Vocab::new(bpe.vocab().iter().chain([end]))?)
        }
        Some(_) => write_vocab(bpe.vocab()),
        None if bpe.vocab().id(END_OF_TEXT.as_bytes()).is_some() => {
            return cannot(format!(
                "in {FORMAT} {END_OF_TEXT:?} is special, and here it is a token like any other"
            ));
        }
        None => write_vocab(bpe.vocab()),
    };
    Ok((vocab, merges))
}

/// Whether text is split by GPT-2's pattern, or by another spelling of the same.
fn cuts_as_gpt2(pre_tokenizer: &PreTokenizer) -> bool {
    let is_gpt2 = |regex: &Regex| {
        let known = named::find("gpt2").map(|named| named.sources().0);
        regex.source() == named::GPT2_ORIGINAL
            || known.is_ok_and(|sources| sources == [regex.source()])
    };
    match pre_tokenizer {
        PreTokenizer::ByteLevel {
            add_prefix_space: false,
            use_regex: true,
            printable: false,
            ..
        } => true,
        PreTokenizer::Matches {
            pattern: SearchPattern::Regex(regex),
        } => is_gpt2(regex),
        PreTokenizer::Sequence(steps) => match steps.as_slice() {
            [
                PreTokenizer::Split {
                    pattern: SearchPattern::Regex(regex),
                    behavior: SplitBehavior::Isolated,
                    invert: false,
                },
                PreTokenizer::ByteLevel {
                    add_prefix_space: false,
                    use_regex: false,
                    printable: false,
                    ..
                },
            ] => is_gpt2(regex),
            _ => false,
        },
        _ => false,
    }
}

/// A vocabulary as a `vocab.json`, laid out as the published one.
pub fn write_vocab(vocab: &Vocab) -> String {
    let mut json = String::from("{");
    for (token, id) in vocab.iter() {
        if json.len() > 1 {
            json.push_str(", ");
        }
        json.push('"');
        for character in token.iter().map(|byte| printable::to_char(*byte)) {
            match character {
                '"' | '\\' => json.extend(['\\', character]),
                ' '..='~' => json.push(character),
                _ => json.push_str(&format!("\\u{:04x}", u32::from(character))),
            }
        }
        json.push_str(&format!("\": {id}"));
    }
    json.push('}');
    json
}

/// Merges as a `merges.txt`.
pub fn write_merges<'a>(merges: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> String {
    let mut text = String::from("#version: 0.2\n");
    for (left, right) in merges {
        text.push_str(&printable::encode(left));
        text.push(' ');
        text.push_str(&printable::encode(right));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCAB: &str = r#"{"a": 0, "\u0120": 1, "\"": 2, "\u0120a": 3, "<|endoftext|>": 4}"#;

    #[test]
    fn written_files_equal_the_files_read() {
        let vocab = read_vocab(VOCAB.as_bytes()).unwrap();
        assert_eq!(vocab.id(b" a"), Some(3));
        assert_eq!(write_vocab(&vocab), VOCAB);
        let merges = read_merges("#version: 0.2\nĠ a\n".as_bytes(), &vocab).unwrap();
        assert_eq!(merges, [(b" ".to_vec(), b"a".to_vec())]);
        assert_eq!(merges, read_merges("Ġ a".as_bytes(), &vocab).unwrap());
        assert_eq!(
            merges,
            read_merges("Ġ a\r\n\r\n".as_bytes(), &vocab).unwrap()
        );
        let written = merges.iter().map(|(a, b)| (a.as_slice(), b.as_slice()));
        assert_eq!(write_merges(written), "#version: 0.2\nĠ a\n");
    }

    #[test]
    fn broken_vocabularies_are_refused() {
        let cases = [
            (
                "cut",
                r#"{"a": 0, "b"#,
                "EOF while parsing a string at line 1 column 11",
            ),
            (
                "an array",
                "[]",
                "invalid type: sequence, expected an object from tokens to ids at line 1 column 0",
            ),
            (
                "no id",
                r#"{"a": "b"}"#,
                "invalid type: string \"b\", expected u32 at line 1 column 9",
            ),
            (
                "negative",
                r#"{"a": -1}"#,
                "invalid value: integer `-1`, expected u32 at line 1 column 8",
            ),
            (
                "twice a token",
                r#"{"a": 0, "a": 1}"#,
                "token \"a\" has two ids, 0 and 1",
            ),
            (
                "twice an id",
                r#"{"a": 0, "b": 0}"#,
                "id 0 is used for both \"a\" and \"b\"",
            ),
            (
                "a space",
                r#"{" a": 0}"#,
                "' ' in the token \" a\" is not one of the 256 characters that stand for bytes",
            ),
        ];
        for (name, json, message) in cases {
            let error = read_vocab(json.as_bytes()).expect_err(name);
            assert_eq!(error.to_string(), message, "{name}");
        }
    }

    #[test]
    fn broken_merges_name_the_line() {
        let vocab = read_vocab(VOCAB.as_bytes()).unwrap();
        let cases: &[(&str, &[u8], &str)] = &[
            (
                "one token",
                b"#version: 0.2\na\n",
                "line 2: expected two tokens with a space between them, found \"a\"",
            ),
            (
                "three tokens",
                b"a a a\n",
                "line 1: expected two tokens with a space between them, found \"a a a\"",
            ),
            (
                "blank line",
                b"\na a",
                "line 1: expected two tokens with a space between them, found \"\"",
            ),
            (
                "unknown token",
                b"a b\n",
                "line 1: the token \"b\" is not in the vocabulary",
            ),
            (
                "unknown result",
                b"a a\n",
                "line 1: the token \"aa\" is not in the vocabulary",
            ),
            ("not UTF-8", b"a a\n\xff\n", "line 2: not UTF-8"),
            (
                "not printable",
                "a \u{2581}".as_bytes(),
                "line 1: '▁' in the token \"▁\" is not one of the 256 characters that stand for bytes",
            ),
        ];
        for (name, file, message) in cases {
            let error = read_merges(file, &vocab).expect_err(name);
            assert_eq!(error.to_string(), *message, "{name}");
        }
    }
}
