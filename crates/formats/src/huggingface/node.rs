//! A JSON value that knows where in the file it is, so that errors can say so.
//!
//! Look here for the errors that all components share: an unknown name, a value of the wrong kind, a missing
//! key.

use std::borrow::Cow;

use super::json::{Json, Merge};
use jeton_text::error::{Error, ErrorKind, Result, did_you_mean};

/// A JSON value with its path in the file.
#[derive(Clone, Debug)]
pub(super) struct Node<'j> {
    pub(super) json: &'j Json<'j>,
    path: String,
    /// Whether jeton's own kinds of components are known beside those of the file format.
    pub(super) extended: bool,
}

impl<'j> Node<'j> {
    /// The outermost value.
    pub(super) fn root(json: &'j Json<'j>, extended: bool) -> Self {
        Self {
            json,
            path: String::new(),
            extended,
        }
    }

    /// An error about this value.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.locate(Error::new(ErrorKind::Format, message))
    }

    /// The error with this place.
    pub(super) fn locate(&self, error: Error) -> Error {
        match self.path.as_str() {
            "" => error,
            path => error.at(path),
        }
    }

    /// The error about a name that is none of `known`.
    pub(super) fn unknown(&self, what: &str, name: &str, known: &[&str]) -> Error {
        let error = self.error(format!("unknown {what} {name:?}"));
        match did_you_mean(name, known.iter().copied()) {
            Some(close) => error.hint(format!("did you mean {close:?}?")),
            None => error.hint(format!("known are {}", known.join(", "))),
        }
    }

    fn expected(&self, what: &str) -> Error {
        self.error(format!("expected {what}, found {}", self.json.kind()))
    }

    fn child(&self, json: &'j Json<'j>, step: &str) -> Self {
        let mut path = self.path.clone();
        if !path.is_empty() && !step.starts_with('[') {
            path.push('.');
        }
        path.push_str(step);
        Self {
            json,
            path,
            extended: self.extended,
        }
    }

    /// The fields of an object.
    pub(super) fn fields(&self) -> Result<&'j [(Cow<'j, str>, Json<'j>)]> {
        match self.json {
            Json::Object(fields) => Ok(fields),
            _ => Err(self.expected("an object")),
        }
    }

    /// The fields of an object, each with its place.
    pub(super) fn entries(&self) -> Result<impl Iterator<Item = (&'j str, Self)> + use<'_, 'j>> {
        let fields = self.fields()?.iter();
        Ok(fields.map(|(name, json)| (name.as_ref(), self.child(json, name))))
    }

    /// Whether an object has this field.
    pub(super) fn has(&self, name: &str) -> bool {
        match self.json {
            Json::Object(fields) => fields.iter().any(|(key, _)| key == name),
            _ => false,
        }
    }

    /// A field that may be missing or null.
    pub(super) fn optional(&self, name: &str) -> Result<Option<Self>> {
        let mut found = self.fields()?.iter().filter(|(key, _)| key == name);
        let Some((_, json)) = found.next() else {
            return Ok(None);
        };
        let node = self.child(json, name);
        if found.next().is_some() {
            return Err(node.error("this field appears twice"));
        }
        Ok((*json != Json::Null).then_some(node))
    }

    /// A field that must be there.
    pub(super) fn field(&self, name: &str) -> Result<Self> {
        match self.optional(name)? {
            Some(node) => Ok(node),
            None if self.has(name) => Err(self.child(&Json::Null, name).error("must not be null")),
            None => Err(self.error(format!("the field {name:?} is missing"))),
        }
    }

    pub(super) fn items(&self) -> Result<&'j [Json<'j>]> {
        match self.json {
            Json::Array(items) => Ok(items),
            _ => Err(self.expected("an array")),
        }
    }

    /// Reads the items of an array as merges: two strings, or one string with both. Any other item is `None`.
    pub(super) fn merges(
        &self,
    ) -> Result<impl Iterator<Item = Option<(&'j str, Option<&'j str>)>> + Clone> {
        let (merges, items): (&'j [Merge<'j>], &'j [Json<'j>]) = match self.json {
            Json::Merges(merges) => (merges, &[]),
            _ => (&[], self.items()?),
        };
        let merges = merges
            .iter()
            .map(|Merge(first, second)| Some((first.as_ref(), second.as_deref())));
        Ok(merges.chain(items.iter().map(|item| match item {
            Json::String(text) => Some((text.as_ref(), None)),
            Json::Array(pair) => match pair.as_slice() {
                [left, right] => Some((left.as_str()?, Some(right.as_str()?))),
                _ => None,
            },
            _ => None,
        })))
    }

    /// The items of an array, each with its place.
    pub(super) fn nodes(&self) -> Result<impl Iterator<Item = Self> + use<'_, 'j>> {
        let items = self.items()?.iter().enumerate();
        Ok(items.map(|(index, json)| self.child(json, &format!("[{index}]"))))
    }

    /// What `read` makes of each item of an array.
    pub(super) fn list<T>(&self, read: impl Fn(&Self) -> Result<T>) -> Result<Vec<T>> {
        self.nodes()?.map(|node| read(&node)).collect()
    }

    /// The place of one item, where only errors need it.
    pub(super) fn item(&self, index: usize, json: &'j Json<'j>) -> Self {
        self.child(json, &format!("[{index}]"))
    }

    pub(super) fn str(&self) -> Result<&'j str> {
        self.json.as_str().ok_or_else(|| self.expected("a string"))
    }

    pub(super) fn string(&self) -> Result<String> {
        self.str().map(str::to_owned)
    }

    pub(super) fn char(&self) -> Result<char> {
        let text = self.str()?;
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.error(format!("expected one character, found {text:?}"))),
        }
    }

    pub(super) fn bool(&self) -> Result<bool> {
        match self.json {
            Json::Bool(value) => Ok(*value),
            _ => Err(self.expected("true or false")),
        }
    }

    pub(super) fn u32(&self) -> Result<u32> {
        self.json
            .as_u32()
            .ok_or_else(|| self.expected("a whole number from 0 to 4294967295"))
    }

    pub(super) fn usize(&self) -> Result<usize> {
        match self.json {
            Json::Integer(number) => usize::try_from(*number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.expected("a whole number of 0 or more"))
    }

    pub(super) fn f64(&self) -> Result<f64> {
        self.json.as_f64().ok_or_else(|| self.expected("a number"))
    }

    /// A boolean that counts as `otherwise` where it is missing.
    pub(super) fn bool_or(&self, name: &str, otherwise: bool) -> Result<bool> {
        self.optional(name)?
            .map_or(Ok(otherwise), |node| node.bool())
    }

    /// Whether this object says that it is of a type.
    pub(super) fn is_of_type(&self, name: &str) -> Result<bool> {
        let kind = self.optional("type")?;
        Ok(kind.is_some_and(|kind| kind.json.as_str() == Some(name)))
    }

    /// The component that this object describes: what `type` says, or where that is missing (as
    /// old files have it) the first of `untagged` whose fields are all there.
    pub(super) fn component(
        &self,
        what: &str,
        known: &[&'static str],
        untagged: &[(&'static str, &[&str])],
    ) -> Result<&'static str> {
        let Some(kind) = self.optional("type")? else {
            let has_all = |fields: &[&str]| fields.iter().all(|field| self.has(field));
            return untagged
                .iter()
                .find(|(_, fields)| has_all(fields))
                .map(|(name, _)| *name)
                .ok_or_else(|| self.error("the field \"type\" is missing"));
        };
        let name = kind.str()?;
        let found = known.iter().find(|known| **known == name);
        found
            .copied()
            .ok_or_else(|| kind.unknown(what, name, known))
    }
}
