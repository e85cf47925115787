//! Pre-tokenizers in `tokenizer.json`, read and written.

use serde_json::{Value, json};

use super::node::Node;
use super::pattern;
use jeton_stages::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior};
use jeton_text::error::Result;
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

const KNOWN: [&str; 13] = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Delimiter",
    "Metaspace",
    "Whitespace",
    "Sequence",
    "Split",
    "Punctuation",
    "WhitespaceSplit",
    "Digits",
    "UnicodeScripts",
    "FixedLength",
];

const BEHAVIORS: [(&str, SplitBehavior); 5] = [
    ("Removed", SplitBehavior::Removed),
    ("Isolated", SplitBehavior::Isolated),
    ("MergedWithPrevious", SplitBehavior::MergedWithPrevious),
    ("MergedWithNext", SplitBehavior::MergedWithNext),
    ("Contiguous", SplitBehavior::Contiguous),
];

const SCHEMES: [(&str, PrependScheme); 3] = [
    ("always", PrependScheme::Always),
    ("never", PrependScheme::Never),
    ("first", PrependScheme::First),
];

pub(super) fn read(node: &Node<'_>) -> Result<PreTokenizer> {
    if node.extended && node.is_of_type("Matches")? {
        return read_matches(node);
    }
    if node.extended && node.is_of_type("Function")? {
        return super::read_function(node).map(PreTokenizer::Function);
    }
    Ok(match node.component("pre-tokenizer", &KNOWN, &[])? {
        "BertPreTokenizer" => PreTokenizer::Bert,
        "ByteLevel" => PreTokenizer::ByteLevel {
            add_prefix_space: node.field("add_prefix_space")?.bool()?,
            trim_offsets: node.field("trim_offsets")?.bool()?,
            use_regex: node.bool_or("use_regex", true)?,
            printable: true,
        },
        "CharDelimiterSplit" | "Delimiter" => PreTokenizer::CharDelimiterSplit {
            delimiter: node.field("delimiter")?.char()?,
        },
        "Metaspace" => {
            let (replacement, prepend_scheme, split) = read_metaspace(node)?;
            PreTokenizer::Metaspace {
                replacement,
                prepend_scheme,
                split,
            }
        }
        "Whitespace" => PreTokenizer::Whitespace,
        "Sequence" => PreTokenizer::Sequence(node.field("pretokenizers")?.list(read)?),
        "Split" => PreTokenizer::Split {
            pattern: pattern::read(&node.field("pattern")?)?,
            behavior: read_name(&node.field("behavior")?, "behavior", &BEHAVIORS)?,
            invert: node.field("invert")?.bool()?,
        },
        "Punctuation" => PreTokenizer::Punctuation {
            behavior: match node.optional("behavior")? {
                Some(node) => read_name(&node, "behavior", &BEHAVIORS)?,
                None => SplitBehavior::Isolated,
            },
        },
        "WhitespaceSplit" => PreTokenizer::WhitespaceSplit,
        "Digits" => PreTokenizer::Digits {
            individual_digits: node.field("individual_digits")?.bool()?,
        },
        "UnicodeScripts" => PreTokenizer::UnicodeScripts,
        _ => PreTokenizer::FixedLength {
            length: match node.optional("length")? {
                Some(node) => match node.usize()? {
                    0 => return Err(node.error("pieces must have at least one character")),
                    length => length,
                },
                None => 5,
            },
        },
    })
}

fn read_matches(node: &Node<'_>) -> Result<PreTokenizer> {
    let pattern = node.field("pattern")?.field("Regex")?;
    let regex = Regex::new(pattern.str()?, Dialect::Tiktoken);
    Ok(PreTokenizer::Matches {
        pattern: SearchPattern::Regex(regex.map_err(|error| pattern.locate(error))?),
    })
}

/// The fields of a Metaspace, which is a pre-tokenizer and a decoder. Old files say
/// `add_prefix_space` for the scheme, and `str_rep` for the replacement once more.
pub(super) fn read_metaspace(node: &Node<'_>) -> Result<(char, PrependScheme, bool)> {
    let replacement = node.field("replacement")?.char()?;
    let scheme = match node.optional("prepend_scheme")? {
        Some(node) => Some(read_name(&node, "prepend scheme", &SCHEMES)?),
        None => None,
    };
    let scheme = match (node.optional("add_prefix_space")?, scheme) {
        (Some(add), scheme) if !add.bool()? => match scheme {
            Some(PrependScheme::Never) => PrependScheme::Never,
            // A missing scheme means "always", which contradicts the other field as well.
            _ => {
                return Err(add
                    .error("false contradicts the prepend scheme")
                    .hint("set \"prepend_scheme\" to \"never\""));
            }
        },
        (_, scheme) => scheme.unwrap_or(PrependScheme::Always),
    };
    Ok((replacement, scheme, node.bool_or("split", true)?))
}

fn read_name<T: Copy>(node: &Node<'_>, what: &str, names: &[(&str, T)]) -> Result<T> {
    let name = node.str()?;
    match names.iter().find(|(known, _)| *known == name) {
        Some((_, value)) => Ok(*value),
        None => {
            let known: Vec<_> = names.iter().map(|(known, _)| *known).collect();
            Err(node.unknown(what, name, &known))
        }
    }
}

fn name_of<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let found = names.iter().find(|(_, known)| *known == value);
    found.map_or("", |(name, _)| name)
}

/// The pre-tokenizer as the format holds it, or with `extended` also those it does not know.
pub(super) fn write(pre_tokenizer: &PreTokenizer, extended: bool) -> Result<Value> {
    Ok(match pre_tokenizer {
        PreTokenizer::ByteLevel {
            add_prefix_space,
            trim_offsets,
            use_regex,
            printable: _,
        } => json!({
            "type": "ByteLevel",
            "add_prefix_space": add_prefix_space,
            "trim_offsets": trim_offsets,
            "use_regex": use_regex,
        }),
        PreTokenizer::Bert => json!({"type": "BertPreTokenizer"}),
        PreTokenizer::Metaspace {
            replacement,
            prepend_scheme,
            split,
        } => write_metaspace(*replacement, *prepend_scheme, *split),
        PreTokenizer::Whitespace => json!({"type": "Whitespace"}),
        PreTokenizer::WhitespaceSplit => json!({"type": "WhitespaceSplit"}),
        PreTokenizer::CharDelimiterSplit { delimiter } => {
            json!({"type": "CharDelimiterSplit", "delimiter": delimiter})
        }
        PreTokenizer::Split {
            pattern,
            behavior,
            invert,
        } => json!({
            "type": "Split",
            "pattern": pattern::write(pattern)?,
            "behavior": name_of(*behavior, &BEHAVIORS),
            "invert": invert,
        }),
        PreTokenizer::Punctuation { behavior } => {
            json!({"type": "Punctuation", "behavior": name_of(*behavior, &BEHAVIORS)})
        }
        PreTokenizer::Digits { individual_digits } => {
            json!({"type": "Digits", "individual_digits": individual_digits})
        }
        PreTokenizer::UnicodeScripts => json!({"type": "UnicodeScripts"}),
        PreTokenizer::Function(function) => {
            super::write_function("pre-tokenizer", function, extended)?
        }
        PreTokenizer::FixedLength { length } => json!({"type": "FixedLength", "length": length}),
        PreTokenizer::Matches { pattern } if extended => match pattern {
            SearchPattern::Regex(regex) => {
                json!({"type": "Matches", "pattern": {"Regex": regex.source()}})
            }
            SearchPattern::Literal(text) => {
                json!({"type": "Matches", "pattern": {"String": text}})
            }
        },
        PreTokenizer::Matches { pattern } => {
            write(&super::write_byte_level::split(pattern.clone())?, false)?
        }
        PreTokenizer::Sequence(stages) => json!({
            "type": "Sequence",
            "pretokenizers": stages
                .iter()
                .map(|stage| write(stage, extended))
                .collect::<Result<Value>>()?,
        }),
    })
}

pub(super) fn write_metaspace(replacement: char, scheme: PrependScheme, split: bool) -> Value {
    json!({
        "type": "Metaspace",
        "replacement": replacement,
        "prepend_scheme": name_of(scheme, &SCHEMES),
        "split": split,
    })
}
