//! What format a file is in, told by its content alone.
//!
//! Look here when a file is taken for something that it is not. Nothing is guessed: a file that
//! shows no clear mark of one format is unknown.

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

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
        }
    }

    /// The mark by which each format is told, as messages list them.
    pub const MARKS: [&'static str; 6] = [
        "tokenizer.json (a JSON object with \"model\")",
        "vocab.json (a JSON object from tokens to ids)",
        "merges.txt (\"#version\" or two tokens a line)",
        "tiktoken ranks (base64 and a number a line)",
        "SentencePiece (protocol buffers)",
        "vocab.txt (one token a line, with [UNK])",
    ];
}

/// The format of these contents, if they show the mark of one.
pub fn format_of(data: &[u8]) -> Option<Format> {
    if ModelProto::begins(data) {
        return Some(Format::SentencePiece);
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
        (Some(_), Some(_), None) => std::str::from_utf8(data).ok().map(|_| Format::Merges),
        (Some(_), None, _) => data
            .split(|byte| *byte == b'\n')
            .any(|line| line.trim_ascii_end() == b"[UNK]")
            .then_some(Format::VocabText),
        _ => None,
    }
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
                    self.0 = Some(match map.next_value::<u32>() {
                        Ok(_) => Format::VocabJson,
                        Err(_) => Format::HuggingFace,
                    });
                    return Err(A::Error::custom("told"));
                }
                if let Ok(serde_json::Value::Number(_)) = map.next_value() {
                    self.0 = Some(Format::VocabJson);
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
