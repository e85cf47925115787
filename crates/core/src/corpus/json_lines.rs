//! The text in a line of JSON: one field of an object.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::error::{Error, ErrorKind, Result, did_you_mean};

/// The text in the field `field` of a line; of a blank line, nothing.
pub(super) fn text<'l>(line: &'l str, field: &str) -> Result<Cow<'l, str>> {
    if line.trim().is_empty() {
        return Ok(Cow::Borrowed(""));
    }
    let mut json = serde_json::Deserializer::from_str(line);
    let found = Field(field).deserialize(&mut json);
    let found = found.and_then(|found| json.end().map(|()| found));
    match found {
        Ok(Found::Text(text)) => Ok(text),
        Ok(Found::Only(keys)) => {
            let hint = match did_you_mean(field, keys.iter().map(String::as_str)) {
                Some(close) => format!("did you mean {close:?}?"),
                None => format!("it has {}; name one by field=", keys.join(", ")),
            };
            Err(Error::new(ErrorKind::Format, format!("there is no field {field:?}")).hint(hint))
        }
        Err(error) => Err(Error::new(
            ErrorKind::Format,
            format!("no JSON object with a text {field:?}: {error}"),
        )),
    }
}

enum Found<'l> {
    Text(Cow<'l, str>),
    /// The fields that there are instead.
    Only(Vec<String>),
}

#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// Reads the field of this name of an object.
struct Field<'f>(&'f str);

impl<'l> DeserializeSeed<'l> for Field<'_> {
    type Value = Found<'l>;

    fn deserialize<D: Deserializer<'l>>(self, json: D) -> std::result::Result<Found<'l>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Field<'_> {
    type Value = Found<'l>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> std::result::Result<Found<'l>, A::Error> {
        let mut found = None;
        let mut others = Vec::new();
        while let Some(Text(key)) = map.next_key()? {
            if key == self.0 {
                let Text(text) = map.next_value()?;
                found = Some(text);
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
