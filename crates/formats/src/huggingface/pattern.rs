//! Patterns in `tokenizer.json`: `{"String": …}` or `{"Regex": …}`.

use serde_json::{Value, json};

use super::node::Node;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

pub(super) fn read(node: &Node<'_>) -> Result<SearchPattern> {
    match node.fields()? {
        [(kind, _)] => match kind.as_ref() {
            "String" => Ok(SearchPattern::Literal(node.field("String")?.string()?)),
            "Regex" => {
                let node = node.field("Regex")?;
                Regex::new(node.str()?, Dialect::Oniguruma)
                    .map(SearchPattern::Regex)
                    .map_err(|error| node.locate(error))
            }
            kind => Err(node.unknown("kind of pattern", kind, &["String", "Regex"])),
        },
        _ => Err(node.error("expected one field, \"String\" or \"Regex\"")),
    }
}

pub(super) fn write(pattern: &SearchPattern) -> Result<Value> {
    match pattern {
        SearchPattern::Literal(text) => Ok(json!({"String": text})),
        SearchPattern::Regex(regex) if regex.dialect() == Dialect::Oniguruma => {
            Ok(json!({"Regex": regex.source()}))
        }
        SearchPattern::Regex(regex) => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "tokenizer.json holds patterns of Oniguruma only, and {:?} is one of tiktoken",
                regex.source()
            ),
        )),
    }
}
