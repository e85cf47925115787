//! The JSON of a file.
//!
//! Objects keep their order and repeated keys, and strings are borrowed from the file where they
//! can be: a vocabulary of a quarter of a million tokens is read without copying them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::de::{Read, SliceRead, StrRead};

use jeton_text::error::{Error, ErrorKind, Result};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json<'j> {
    Null,
    Bool(bool),
    Number(f64),
    /// A whole number that fits.
    Integer(u64),
    String(Cow<'j, str>),
    Array(Vec<Json<'j>>),
    /// An array of strings, and of arrays of two strings, under the name "merges". There are too many
    /// for an allocation each.
    Merges(Vec<Merge<'j>>),
    Object(Vec<(Cow<'j, str>, Json<'j>)>),
}

impl<'j> Json<'j> {
    /// The value in a file; a byte-order mark before it is dropped.
    pub(super) fn parse(text: &'j [u8]) -> Result<Self> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        // A file is checked to be text sooner than all of its strings are.
        let json = str::from_utf8(text).map(|text| Self::read(StrRead::new(text), Reader::File));
        if let Ok(Ok(json)) = json {
            return Ok(json);
        }
        // What is wrong, or something else under the name of merges, is read as any JSON.
        Self::read(SliceRead::new(text), Reader::Value).map_err(|error| {
            Error::new(
                ErrorKind::Format,
                format!("this is not valid JSON: {error}"),
            )
        })
    }

    fn read(text: impl Read<'j>, reader: Reader) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::new(text);
        let json = reader.deserialize(&mut deserializer)?;
        deserializer.end().map(|()| json)
    }

    /// What kind of value this is, as messages call it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) | Self::Integer(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) | Self::Merges(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_u32(&self) -> Option<u32> {
        match self {
            Self::Integer(number) => u32::try_from(*number).ok(),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// The value as it is written again.
    pub(super) fn to_value(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Number(number) => (*number).into(),
            Self::Integer(number) => (*number).into(),
            Self::String(text) => text.as_ref().into(),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Merges(merges) => {
                let value = |Merge(first, second): &Merge<'_>| match second {
                    Some(second) => {
                        serde_json::Value::from([first, second].map(Cow::as_ref).as_slice())
                    }
                    None => first.as_ref().into(),
                };
                merges.iter().map(value).collect()
            }
            Self::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_value()))
                .collect(),
        }
    }
}

/// Reads a value.
#[derive(Clone, Copy)]
enum Reader {
    /// The object of a file, which has a model.
    File,
    /// The object of a model, whose merges become [`Json::Merges`].
    Model,
    /// Any value, in which a field of any name is any value.
    Value,
}

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Json<'de>, E> {
        Ok(Json::Integer(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Json<'de>, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Json<'de>, E> {
        Ok(Json::Number(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> std::result::Result<Json<'de>, E> {
        Ok(Json::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut array: A,
    ) -> std::result::Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = array.next_element_seed(Self::Value)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut object: A,
    ) -> std::result::Result<Json<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(Key(name)) = object.next_key()? {
            let value = match (self, &*name) {
                (Self::File, "model") => object.next_value_seed(Self::Model)?,
                (Self::Model, "merges") => Json::Merges(object.next_value()?),
                _ => object.next_value_seed(Self::Value)?,
            };
            fields.push((name, value));
        }
        Ok(Json::Object(fields))
    }
}

/// The name of a field, borrowed where it can be.
struct Key<'j>(Cow<'j, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> std::result::Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}

/// A merge as the file spells it: two strings, or one string with a space between the two.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Merge<'j>(pub(super) Cow<'j, str>, pub(super) Option<Cow<'j, str>>);

impl<'de> Deserialize<'de> for Merge<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MergeVisitor;

        impl<'de> Visitor<'de> for MergeVisitor {
            type Value = Merge<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a merge")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Merge<'de>, E> {
                Ok(Merge(Cow::Borrowed(text), None))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Merge<'de>, E> {
                Ok(Merge(Cow::Owned(text.to_owned()), None))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut pair: A,
            ) -> std::result::Result<Merge<'de>, A::Error> {
                let (first, second) = (pair.next_element()?, pair.next_element()?);
                let (Some(Key(first)), Some(Key(second)), None) =
                    (first, second, pair.next_element::<IgnoredAny>()?)
                else {
                    return Err(A::Error::custom("these are not two"));
                };
                Ok(Merge(first, Some(second)))
            }
        }

        deserializer.deserialize_any(MergeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::huggingface::node::Node;

    #[test]
    fn tokens_may_have_the_names_of_fields() {
        let text = r#"{"model": {"vocab": {"model": 1, "merges": 2}, "merges": ["a b"]}}"#;
        let json = Json::read(StrRead::new(text), Reader::File).unwrap();
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(json.to_value(), expected);
    }

    #[test]
    fn merges_are_read_as_any_json() {
        for (list, are_merges) in [
            ("[]", true),
            (r#"[["a", "b"], ["\u00e9", "\""]]"#, true),
            (r##"["a b", "#version"]"##, true),
            (r#"[["a", "b"], "a b"]"#, true),
            (r#"[["a"]]"#, false),
            (r#"[["a", "b"], ["a", "b", "c"]]"#, false),
            (r#"[["a", 1]]"#, false),
            (r#"["a b", null]"#, false),
            ("null", false),
            (r#"{"merges": [["a", "b"]]}"#, false),
        ] {
            let text = format!(r#"{{"model": {{"merges": {list}}}}}"#);
            let read = |reader| Json::read(StrRead::new(&text), reader).ok();
            let [merges, any] = [Reader::File, Reader::Value].map(read);
            let any = any.unwrap();
            assert_eq!(merges.is_some(), are_merges, "{list}");
            let json = Json::parse(text.as_bytes()).unwrap();
            assert_eq!(json.to_value(), any.to_value(), "{list}");
            let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json.to_value(), expected, "{list}");
            let listed = |json: &Json<'_>| {
                let model = Node::root(json, false).field("model").unwrap();
                let merges = model.field("merges").ok()?;
                let merges = merges.merges().map_err(|error| error.to_string());
                Some(merges.map(|merges| format!("{:?}", merges.collect::<Vec<_>>())))
            };
            assert_eq!(listed(&json), listed(&any), "{list}");
        }
    }
}
