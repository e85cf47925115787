//! Recognizes the format of a file by its content alone.
//!
//! Look here when a file is taken for another format. Nothing is guessed: a file without
//! a clear mark of one format is unknown.

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use super::llama2c;
use jeton_models::model::sentencepiece::spec::ModelProto;

/// A format of tokenizer files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An object of JSON that holds a `model`: Hugging Face `tokenizer.json`.
    HuggingFace,
    /// An object of JSON from tokens to ids: `vocab.json`.
    VocabJson,
    /// Lines of two words, the first neither base64 nor the second a number: `merges.txt`.
    Merges,
    /// Lines of base64 and a number: tiktoken's ranks.
    Ranks,
    /// Protocol buffers with a piece: SentencePiece.
    SentencePiece,
    /// Lines of a piece, a tab and a score: what SentencePiece writes beside a model.
    SentencePieceList,
    /// Lines of one token each, `[UNK]` among them: WordPiece `vocab.txt`.
    VocabText,
    /// An object of JSON whose configuration says how many tokens are special: `tekken.json`.
    Tekken,
    /// Pieces, each after its score and its length: `tokenizer.bin`.
    TokenizerBin,
}

impl Format {
    /// Files of this format as messages call them.
    pub fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "Hugging Face files",
            Self::VocabJson => "GPT-2 pairs",
            Self::Merges => "merge lists",
            Self::Ranks => "tiktoken ranks",
            Self::SentencePiece => "SentencePiece models",
            Self::SentencePieceList => "lists of SentencePiece's pieces",
            Self::VocabText => "WordPiece vocabularies",
            Self::Tekken => "tekken files",
            Self::TokenizerBin => "tokenizer.bin files",
        }
    }

    /// The mark of each format, for messages that list them.
    pub const MARKS: [&'static str; 9] = [
        "tokenizer.json (a JSON object with \"model\")",
        "vocab.json (a JSON object from tokens to ids)",
        "merges.txt (\"#version\" or two tokens a line)",
        "tiktoken ranks (base64 and a number a line)",
        "SentencePiece (protocol buffers)",
        "vocab.txt (one token a line, with [UNK])",
        "GGUF",
        "tekken.json (a JSON object with \"config\" and \"vocab\")",
        "tokenizer.bin (scores and pieces)",
    ];
}

/// Lines of two words that make a list of merges, unless it is shorter.
const PAIRS_TO_SEE: usize = 8;
/// The format of these contents, if they show the mark of one.
pub fn format_of(data: &[u8]) -> Option<Format> {
    if ModelProto::begins(data) {
        return Some(Format::SentencePiece);
    }
    if llama2c::is_one(data) {
        return Some(Format::TokenizerBin);
    }
    let first_line = data
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .find(|line| !line.trim_ascii().is_empty())?;
    if first_line.trim_ascii_start().starts_with(b"{") {
        return format_of_json(data);
    }
    if first_line.starts_with(b"#version") {
        return Some(Format::Merges);
    }
    let mut fields = first_line
        .split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty());
    match (fields.next(), fields.next(), fields.next()) {
        (Some(token), Some(rank), None) if is_base64(token) && is_number(rank) => {
            Some(Format::Ranks)
        }
        (Some(_), Some(score), None) if first_line.contains(&b'\t') && is_score(score) => {
            Some(Format::SentencePieceList)
        }
        (Some(_), Some(_), None) => {
            (begins_as_pairs(data) && std::str::from_utf8(data).is_ok()).then_some(Format::Merges)
        }
        (Some(_), None, _) => {
            let mut lines = data
                .split(|byte| *byte == b'\n')
                .map(<[u8]>::trim_ascii_end);
            // No vocabulary has only this token.
            let has_others = lines
                .clone()
                .any(|line| !line.is_empty() && line != b"[UNK]");
            (has_others && lines.any(|line| line == b"[UNK]")).then_some(Format::VocabText)
        }
        _ => None,
    }
}

/// Whether the first lines hold two words each: prose that begins with such a line does not go on so.
fn begins_as_pairs(data: &[u8]) -> bool {
    data.split(|byte| matches!(byte, b'\n' | b'\r'))
        .map(|line| line.split(u8::is_ascii_whitespace))
        .map(|words| words.filter(|word| !word.is_empty()).count())
        .filter(|count| *count > 0)
        .take(PAIRS_TO_SEE)
        .all(|count| count == 2)
}

fn is_base64(field: &[u8]) -> bool {
    let padding = field.iter().rev().take_while(|byte| **byte == b'=').count();
    let letters = &field[..field.len() - padding];
    field.len().is_multiple_of(4)
        && padding <= 2
        && letters
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

fn is_number(field: &[u8]) -> bool {
    field.iter().all(u8::is_ascii_digit)
}

fn is_score(field: &[u8]) -> bool {
    let field = std::str::from_utf8(field).ok();
    field.is_some_and(|field| field.parse::<f32>().is_ok())
}

/// Tells the two objects of JSON apart by their first telling entry, without reading on.
fn format_of_json(data: &[u8]) -> Option<Format> {
    /// What `tokenizer.json` may have in front of its model.
    const FIELDS: [&str; 8] = [
        "version",
        "truncation",
        "padding",
        "added_tokens",
        "normalizer",
        "pre_tokenizer",
        "post_processor",
        "decoder",
    ];

    struct Telling(Option<Format>);

    impl<'de> Visitor<'de> for &mut Telling {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if key == "model" {
                    // A vocabulary may hold the token "model".
                    if map.next_value::<u32>().is_err() {
                        self.0 = Some(Format::HuggingFace);
                        return Err(A::Error::custom("told"));
                    }
                    continue;
                }
                let found = match map.next_value() {
                    // A vocabulary may hold a token of such a name, too, but others as well.
                    Ok(serde_json::Value::Number(_)) if FIELDS.contains(&key.as_str()) => None,
                    Ok(serde_json::Value::Number(_)) => Some(Format::VocabJson),
                    Ok(serde_json::Value::Object(fields)) if key == "config" => fields
                        .contains_key("default_num_special_tokens")
                        .then_some(Format::Tekken),
                    // In an object whose vocabulary comes first.
                    Ok(serde_json::Value::Array(items)) if key == "vocab" => items
                        .first()
                        .is_some_and(|item| item.get("token_bytes").is_some())
                        .then_some(Format::Tekken),
                    _ => None,
                };
                if found.is_some() {
                    self.0 = found;
                    return Err(A::Error::custom("told"));
                }
            }
            Ok(())
        }
    }

    let mut telling = Telling(None);
    // What is wrong with the file is for its reader to say; here only the mark counts.
    let _ = serde_json::Deserializer::from_slice(data).deserialize_map(&mut telling);
    telling.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        use Format::*;
        let cases: &[(&str, &[u8], Option<Format>)] = &[
            (
                "tokenizer",
                br#"{"version": "1.0", "model": {}}"#,
                Some(HuggingFace),
            ),
            (
                "after white space",
                b"\n {\n\"model\": {}}",
                Some(HuggingFace),
            ),
            ("vocabulary", br#"{"!": 0, "a": 1}"#, Some(VocabJson)),
            (
                "a token \"model\"",
                br#"{"model": 0, "a": 1}"#,
                Some(VocabJson),
            ),
            (
                "tekken",
                br#"{"config": {"default_num_special_tokens": 9}, "vocab": []}"#,
                Some(Tekken),
            ),
            ("cut vocabulary", br#"{"!": 0, "a"#, Some(VocabJson)),
            ("other object", br#"{"name": "x", "files": []}"#, None),
            ("empty object", b"{}", None),
            ("array", b"[1]", None),
            ("ranks", b"IQ== 0\n", Some(Ranks)),
            ("ranks after a blank line", b"\r\nIQ== 0", Some(Ranks)),
            ("ranks, broken later", b"IQ== 0\n!\n", Some(Ranks)),
            ("merges", "Ġ t\nh e\n".as_bytes(), Some(Merges)),
            ("merges with a version", b"#version: 0.2\n", Some(Merges)),
            (
                "SentencePiece's list",
                b"<unk>\t0\n",
                Some(SentencePieceList),
            ),
            (
                "SentencePiece's list, scores",
                "▁the\t-3.0157\n".as_bytes(),
                Some(SentencePieceList),
            ),
            ("merges with a tab", b"h\te\n", Some(Merges)),
            (
                "merges, broken later",
                b"a b\nc d\ne f\ng h\ni j\nk l\nm n\no p\nq\n",
                Some(Merges),
            ),
            (
                "a page with a title of two words",
                b"# Title\n\nIt was a dark and stormy night.\n",
                None,
            ),
            ("WordPiece", b"[PAD]\n[UNK]\r\nthe\n", Some(VocabText)),
            ("one word a line", b"the\ncat\n", None),
            ("prose", b"It was a dark and stormy night.\n", None),
            (
                "SentencePiece",
                b"\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02",
                Some(SentencePiece),
            ),
            (
                "SentencePiece, a piece without score",
                b"\x0a\x05\x0a\x03<s>",
                Some(SentencePiece),
            ),
            (
                "SentencePiece, another field and a group first",
                b"\x1a\0\x4b\x4c\x0a\x05\x0a\x03<s>",
                Some(SentencePiece),
            ),
            (
                "SentencePiece, cut behind its first piece",
                b"\x0a\x05\x0a\x03<s>\x0a\x7f",
                Some(SentencePiece),
            ),
            ("a message without a piece", b"\x1a\0\x12\x03abc", None),
            (
                "text that is a message with a piece",
                b"\n)\n'abcdefghijklmnopqrstuvwxyzabcdefghijklm",
                None,
            ),
            ("blank lines", b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n", None),
            ("binary", b"\x7fELF\x02\x01\x01\0", None),
            ("nothing", b"", None),
        ];
        for (name, data, format) in cases {
            assert_eq!(format_of(data), *format, "{name}");
        }
    }
}
