//! Normalizers in `tokenizer.json`, read and written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::node::Node;
use super::pattern;
use jeton_stages::normalizer::{Charsmap, Normalizer, SentencePieceNormalizer, WhiteSpace};
use jeton_text::error::Result;

const KNOWN: [&str; 15] = [
    "BertNormalizer",
    "Bert",
    "Strip",
    "StripAccents",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Sequence",
    "Lowercase",
    "Nmt",
    "Precompiled",
    "Replace",
    "Prepend",
    "ByteLevel",
];

/// What distinguishes normalizers without `type`.
const UNTAGGED: [(&str, &[&str]); 6] = [
    (
        "BertNormalizer",
        &["clean_text", "handle_chinese_chars", "lowercase"],
    ),
    ("Strip", &["strip_left", "strip_right"]),
    ("Sequence", &["normalizers"]),
    ("Precompiled", &["precompiled_charsmap"]),
    ("Replace", &["pattern", "content"]),
    ("Prepend", &["prepend"]),
];

pub(super) fn read(node: &Node<'_>) -> Result<Normalizer> {
    if node.extended && node.is_of_type("SentencePiece")? {
        return read_sentencepiece(node).map(Normalizer::SentencePiece);
    }
    if node.extended && node.is_of_type("Function")? {
        return super::read_function(node).map(Normalizer::Function);
    }
    Ok(match node.component("normalizer", &KNOWN, &UNTAGGED)? {
        "BertNormalizer" | "Bert" => Normalizer::Bert {
            clean_text: node.field("clean_text")?.bool()?,
            handle_chinese_chars: node.field("handle_chinese_chars")?.bool()?,
            strip_accents: node
                .optional("strip_accents")?
                .map(|node| node.bool())
                .transpose()?,
            lowercase: node.field("lowercase")?.bool()?,
        },
        "Strip" => Normalizer::Strip {
            left: node.field("strip_left")?.bool()?,
            right: node.field("strip_right")?.bool()?,
        },
        "StripAccents" => Normalizer::StripAccents,
        "NFC" => Normalizer::Nfc,
        "NFD" => Normalizer::Nfd,
        "NFKC" => Normalizer::Nfkc,
        "NFKD" => Normalizer::Nfkd,
        "Sequence" => Normalizer::Sequence(node.field("normalizers")?.list(read)?),
        "Lowercase" => Normalizer::Lowercase,
        "Nmt" => Normalizer::Nmt,
        "Precompiled" => Normalizer::Precompiled(read_charsmap(node)?),
        "Replace" => Normalizer::Replace {
            pattern: pattern::read(&node.field("pattern")?)?,
            content: node.field("content")?.string()?,
        },
        "Prepend" => Normalizer::Prepend {
            prefix: node.field("prepend")?.string()?,
        },
        _ => Normalizer::ByteLevel,
    })
}

/// SentencePiece's normalizer, which only jeton writes as JSON.
pub(super) fn read_sentencepiece(node: &Node<'_>) -> Result<SentencePieceNormalizer> {
    let charsmap = match node.optional("precompiled_charsmap")? {
        Some(_) => Some(read_charsmap(node)?),
        None => None,
    };
    let rule = |name: &str| node.field(name)?.bool();
    let white_space = WhiteSpace {
        add_dummy_prefix: rule("add_dummy_prefix")?,
        remove_extra: rule("remove_extra_whitespaces")?,
        escape: rule("escape_whitespaces")?,
        suffix: rule("treat_whitespace_as_suffix")?,
        legacy: rule("legacy")?,
    };
    let user_defined = node.field("user_defined_symbols")?.list(Node::string)?;
    Ok(SentencePieceNormalizer::new(
        charsmap,
        white_space,
        user_defined,
    ))
}

pub(super) fn write_sentencepiece(normalizer: &SentencePieceNormalizer) -> Value {
    let white_space = normalizer.white_space();
    json!({
        "type": "SentencePiece",
        "precompiled_charsmap": normalizer.charsmap().map(|map| STANDARD.encode(map.blob())),
        "add_dummy_prefix": white_space.add_dummy_prefix,
        "remove_extra_whitespaces": white_space.remove_extra,
        "escape_whitespaces": white_space.escape,
        "treat_whitespace_as_suffix": white_space.suffix,
        "legacy": white_space.legacy,
        "user_defined_symbols": normalizer.user_defined(),
    })
}

fn read_charsmap(node: &Node<'_>) -> Result<Charsmap> {
    let node = node.field("precompiled_charsmap")?;
    let blob = STANDARD
        .decode(node.str()?)
        .map_err(|error| node.error(format!("this is not base64: {error}")))?;
    Charsmap::new(&blob).map_err(|error| node.locate(error))
}

/// The normalizer as the format holds it, or with `extended` also those it does not know.
pub(super) fn write(normalizer: &Normalizer, extended: bool) -> Result<Value> {
    Ok(match normalizer {
        Normalizer::Nfc => json!({"type": "NFC"}),
        Normalizer::Nfd => json!({"type": "NFD"}),
        Normalizer::Nfkc => json!({"type": "NFKC"}),
        Normalizer::Nfkd => json!({"type": "NFKD"}),
        Normalizer::Lowercase => json!({"type": "Lowercase"}),
        Normalizer::StripAccents => json!({"type": "StripAccents"}),
        Normalizer::Strip { left, right } => {
            json!({"type": "Strip", "strip_left": left, "strip_right": right})
        }
        Normalizer::Nmt => json!({"type": "Nmt"}),
        Normalizer::Replace { pattern, content } => {
            json!({"type": "Replace", "pattern": pattern::write(pattern)?, "content": content})
        }
        Normalizer::Prepend { prefix } => json!({"type": "Prepend", "prepend": prefix}),
        Normalizer::Precompiled(charsmap) => json!({
            "type": "Precompiled",
            "precompiled_charsmap": STANDARD.encode(charsmap.blob()),
        }),
        Normalizer::Bert {
            clean_text,
            handle_chinese_chars,
            strip_accents,
            lowercase,
        } => json!({
            "type": "BertNormalizer",
            "clean_text": clean_text,
            "handle_chinese_chars": handle_chinese_chars,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        }),
        Normalizer::ByteLevel => json!({"type": "ByteLevel"}),
        Normalizer::Function(function) => super::write_function("normalizer", function, extended)?,
        Normalizer::Sequence(stages) => json!({
            "type": "Sequence",
            "normalizers": stages
                .iter()
                .map(|stage| write(stage, extended))
                .collect::<Result<Value>>()?,
        }),
        Normalizer::SentencePiece(normalizer) if extended => write_sentencepiece(normalizer),
        Normalizer::SentencePiece(_) => return Err(super::only_sentencepiece("normalizer")),
    })
}
