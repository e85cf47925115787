//! The text in a line of JSON: one field of an object.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::missing_names::{no_such, with_hint};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::python_json::with_plain_numbers;
use jeton_text::text::InvalidUtf8;

const TWICE: &str = "the object has a field twice";

/// The text in the field `field` of a line; nothing, if that is null or the line blank. `errors`
/// says what becomes of an escaped surrogate without its other half.
pub(super) fn text<'l>(line: &'l str, field: &str, errors: InvalidUtf8) -> Result<Cow<'l, str>> {
    if line.trim().is_empty() {
        return Ok(Cow::Borrowed(""));
    }
    let found = read::<Text<'l>>(line, field);
    if found.is_err()
        && let Cow::Owned(plain) = with_plain_numbers(line.as_bytes())
        && let Ok(plain) = String::from_utf8(plain)
    {
        // Another field may hold a constant that Python writes, such as NaN.
        return text(&plain, field, errors).map(|text| Cow::Owned(text.into_owned()));
    }
    let found = match found {
        Err(error) if errors != InvalidUtf8::Strict => match read::<Mended>(line, field) {
            Ok(found) => Ok(found.map(|Mended(wide)| Text(Cow::Owned(mended(&wide, errors))))),
            Err(_) => Err(error),
        },
        found => found,
    };
    match found {
        Ok(Found::Text(text)) => Ok(text.map_or(Cow::Borrowed(""), |Text(text)| text)),
        Ok(Found::Only(keys)) => Err(with_hint(no_such("field", field, &keys), field, &keys)),
        Err(error) => {
            let told = error.to_string();
            let wrong = |message: String| Error::new(ErrorKind::Format, message);
            if told.contains("surrogate") || told.contains("end of hex escape") {
                let message = "a surrogate is escaped without its other half, so it is not text";
                return Err(wrong(message.to_owned())
                    .hint("set errors=\"replace\" or errors=\"ignore\"")
                    .parameter("errors"));
            }
            if told.starts_with(TWICE) {
                return Err(wrong(format!("{TWICE}: {field:?}")));
            }
            // The line is known by its number in the file, not by that in itself.
            let what = told.split(" at line ").next().unwrap_or(&told);
            let (column, is_whole) = (error.column(), !error.is_eof());
            let error = wrong(format!(
                "no JSON object with a text {field:?}: {what}, at column {column}"
            ));
            let is_list = line.trim_start().starts_with('[');
            Err(if is_list {
                error.hint("JSON lines are one object each, not a list")
            } else if is_whole {
                error
            } else {
                error.hint("each line must hold a whole object")
            })
        }
    }
}

fn read<'l, T: Deserialize<'l>>(line: &'l str, field: &str) -> serde_json::Result<Found<T>> {
    let mut json = serde_json::Deserializer::from_str(line);
    let field = Field {
        name: field,
        kind: std::marker::PhantomData,
    };
    let found = field.deserialize(&mut json)?;
    json.end().map(|()| found)
}

enum Found<T> {
    /// The text of the field, unless that is null.
    Text(Option<T>),
    /// The fields that there are instead.
    Only(Vec<String>),
}

impl<T> Found<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Text(text) => Found::Text(text.map(change)),
            Self::Only(keys) => Found::Only(keys),
        }
    }
}

#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// The bytes of a string in which each lone surrogate has the three bytes of its number.
struct Mended(Vec<u8>);

impl<'l> Deserialize<'l> for Mended {
    fn deserialize<D: Deserializer<'l>>(json: D) -> std::result::Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Mended;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> std::result::Result<Mended, E> {
                Ok(Mended(bytes.to_vec()))
            }
        }
        json.deserialize_bytes(Bytes)
    }
}

/// Text, from bytes that are UTF-8 but for lone surrogates.
fn mended(wide: &[u8], errors: InvalidUtf8) -> String {
    let mut text = String::with_capacity(wide.len());
    for chunk in wide.utf8_chunks() {
        text.push_str(chunk.valid());
        // Only the first of the three bytes can begin a character.
        if chunk.invalid().first() == Some(&0xED) && errors == InvalidUtf8::Replace {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// Reads the field of this name of an object.
struct Field<'f, T> {
    name: &'f str,
    kind: std::marker::PhantomData<T>,
}

impl<'l, T: Deserialize<'l>> DeserializeSeed<'l> for Field<'_, T> {
    type Value = Found<T>;

    fn deserialize<D: Deserializer<'l>>(self, json: D) -> std::result::Result<Found<T>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'l, T: Deserialize<'l>> Visitor<'l> for Field<'_, T> {
    type Value = Found<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> std::result::Result<Found<T>, A::Error> {
        let mut found = None;
        let mut others = Vec::new();
        while let Some(Text(key)) = map.next_key()? {
            if key == self.name {
                if found.is_some() {
                    return Err(de::Error::custom(TWICE));
                }
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
                if found.is_none() {
                    others.push(key);
                }
            }
        }
        Ok(match found {
            Some(text) => Found::Text(text),
            None => Found::Only(others.into_iter().map(Cow::into_owned).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_without_their_other_half_follow_the_policy() {
        let line = r#"{"n": "\ud800", "text": "a\ud83d\ude00b\ud83dc\ude00\ud800"}"#;
        let with = |errors| text(line, "text", errors);
        let told = with(InvalidUtf8::Strict).unwrap_err().to_string();
        assert!(told.contains("surrogate"), "{told}");
        assert!(told.contains("errors=\"replace\""), "{told}");
        assert_eq!(
            with(InvalidUtf8::Replace).unwrap(),
            "a😀b\u{FFFD}c\u{FFFD}\u{FFFD}"
        );
        assert_eq!(with(InvalidUtf8::Ignore).unwrap(), "a😀bc");
    }

    #[test]
    fn other_fields_may_hold_the_constants_of_python() {
        let read = |line: &str| text(line, "text", InvalidUtf8::Strict).map(Cow::into_owned);
        for constant in ["NaN", "Infinity", "-Infinity"] {
            for line in [
                format!(r#"{{"score": {constant}, "text": "é NaN\n"}}"#),
                format!(r#"{{"text": "é NaN\n", "scores": [1, {constant}]}}"#),
            ] {
                assert_eq!(read(&line).unwrap(), "é NaN\n", "{line}");
            }
        }
        assert!(read(r#"{"score": nan, "text": ""}"#).is_err());
        assert!(read(r#"{"text": NaN}"#).is_err());
    }

    #[test]
    fn a_field_that_is_there_twice_is_refused() {
        let line = r#"{"text": "a", "n": 1, "n": 2, "text": "b"}"#;
        for errors in [InvalidUtf8::Strict, InvalidUtf8::Replace] {
            let said = text(line, "text", errors).unwrap_err().to_string();
            assert_eq!(said, "the object has a field twice: \"text\"");
        }
    }

    #[test]
    fn null_is_no_text() {
        assert_eq!(
            text(r#"{"text": null}"#, "text", InvalidUtf8::Strict).unwrap(),
            ""
        );
        assert!(text(r#"{"text": 1}"#, "text", InvalidUtf8::Replace).is_err());
    }
}
