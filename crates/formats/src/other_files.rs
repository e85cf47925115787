//! Known kinds of files that are no tokenizers: what they are, and what to load in place of them.

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

/// A known kind of file that is no tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherFile {
    /// What it is.
    pub what: &'static str,
    /// What to do instead.
    pub hint: &'static str,
}

/// What it is, and what to do instead.
const fn other(what: &'static str, hint: &'static str) -> OtherFile {
    OtherFile { what, hint }
}

const TO_THE_TOKENIZER: &str = "load the tokenizer.json or tokenizer.model that lies beside it";
const TO_THE_FOLDER: &str = "load the folder that it lies in, or the tokenizer.json in it";
const TO_UTF_8: &str = "save it as UTF-8 without a byte-order mark";
const TO_UNPACK: &str = "unpack it first";

const PICKLE: OtherFile = other(
    "a pickle, which is not read: it may run any code",
    TO_THE_TOKENIZER,
);
const WEB_PAGE: OtherFile = other(
    "a web page",
    "download the file itself, not the page about it",
);
const MODEL_CONFIGURATION: OtherFile = other("the configuration of a model", TO_THE_TOKENIZER);

/// Files that begin with some bytes.
const BY_FIRST_BYTES: &[(&[u8], OtherFile)] = &[
    (
        b"version https://git-lfs.github.com/spec/",
        other(
            "a Git LFS pointer to a file that was not fetched",
            "run `git lfs pull` where it came from",
        ),
    ),
    (
        b"PK\x03\x04",
        other("a zip archive, as PyTorch saves models", TO_THE_TOKENIZER),
    ),
    (b"\x80\x02", PICKLE),
    (b"\x80\x04", PICKLE),
    (b"\x80\x05", PICKLE),
    (b"\x1f\x8b", other("compressed by gzip", TO_UNPACK)),
    (
        b"\x28\xb5\x2f\xfd",
        other("compressed by Zstandard", TO_UNPACK),
    ),
    (b"\xFF\xFE", other("text in UTF-16", TO_UTF_8)),
    (b"\xFE\xFF", other("text in UTF-16", TO_UTF_8)),
    (
        b"\xEF\xBB\xBF{",
        other(
            "JSON after a byte-order mark (BOM), which JSON must not have",
            TO_UTF_8,
        ),
    ),
    (b"<!DOCTYPE html", WEB_PAGE),
    (b"<html", WEB_PAGE),
];

/// Objects of JSON that have a field; the first that is found counts.
const BY_FIELD: &[(&str, OtherFile)] = &[
    ("model_type", MODEL_CONFIGURATION),
    ("architectures", MODEL_CONFIGURATION),
    (
        "tokenizer_class",
        other(
            "the configuration of a tokenizer, without its vocabulary",
            TO_THE_FOLDER,
        ),
    ),
    (
        "eos_token",
        other(
            "a list of special tokens, without a vocabulary",
            TO_THE_FOLDER,
        ),
    ),
    (
        "weight_map",
        other("the index of a model's weights", TO_THE_TOKENIZER),
    ),
];

/// What these contents are, if they show the mark of a file that is no tokenizer.
pub fn other_file(data: &[u8]) -> Option<OtherFile> {
    let known = BY_FIRST_BYTES.iter();
    if let Some((_, other)) = known.clone().find(|(first, _)| data.starts_with(first)) {
        return Some(*other);
    }
    if data.get(8) == Some(&b'{')
        && let Some(length) = data.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
        && (2..=data.len() as u64 - 8).contains(&length)
    {
        return Some(OtherFile {
            what: "a safetensors file: the weights of a model",
            hint: TO_THE_TOKENIZER,
        });
    }
    let is_object = data.trim_ascii_start().starts_with(b"{");
    is_object.then(|| other_object(data)).flatten()
}

/// As [`other_file`], of an object of JSON, by its first fields.
fn other_object(data: &[u8]) -> Option<OtherFile> {
    /// Fields that are looked at.
    const MAX_FIELDS: usize = 64;

    struct Search(Option<OtherFile>);

    impl<'de> Visitor<'de> for &mut Search {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            for _ in 0..MAX_FIELDS {
                let Some(key) = map.next_key::<String>()? else {
                    break;
                };
                let Some((_, other)) = BY_FIELD.iter().find(|(name, _)| *name == key) else {
                    if key == "model" {
                        break;
                    }
                    map.next_value::<IgnoredAny>()?;
                    continue;
                };
                // A vocabulary may hold any of these as a token, with a number.
                let value = map.next_value::<serde_json::Value>()?;
                if value.is_object() || value.is_string() || value.is_array() {
                    self.0 = Some(*other);
                    break;
                }
            }
            Err(A::Error::custom("told"))
        }
    }

    let mut search = Search(None);
    let _ = serde_json::Deserializer::from_slice(data).deserialize_map(&mut search);
    search.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_told_by_content() {
        let mut safetensors = 9_u64.to_le_bytes().to_vec();
        safetensors.extend(b"{\"a\": {}}..");
        let cases: &[(&[u8], Option<&str>)] = &[
            (b"PK\x03\x04\0\0", Some("a zip archive")),
            (b"\x80\x04\x95", Some("a pickle")),
            (b"\x1f\x8b\x08", Some("compressed by gzip")),
            (b"<!DOCTYPE html><p>", Some("a web page")),
            (&safetensors, Some("a safetensors file")),
            (
                br#"{"vocab_size": 9, "model_type": "llama"}"#,
                Some("the configuration of a model"),
            ),
            (
                br#"{"model_max_length": 9, "tokenizer_class": "X"}"#,
                Some("the configuration of a tokenizer"),
            ),
            (
                br#"{"eos_token": "</s>"}"#,
                Some("a list of special tokens"),
            ),
            (br#"{"config": 0, "model_type": 1, "eos_token": 2}"#, None),
            (br#"{"version": "1.0", "model": {"config": {}}}"#, None),
            (br#"{"config": {"other": 1}}"#, None),
            (b"GGU 1\n", None),
            (b"{", None),
            (b"", None),
        ];
        for (data, expected) in cases {
            let found = other_file(data).map(|it| it.what);
            match expected {
                None => assert_eq!(found, None, "{data:?}"),
                Some(told) => assert!(found.is_some_and(|it| it.starts_with(told)), "{data:?}"),
            }
        }
    }
}
