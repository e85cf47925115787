//! Decoders as `tokenizer.json` holds them.

use serde_json::{Value, json};

use super::json::Node;
use super::{pattern, pre_tokenizer};
use crate::decoder::Decoder;
use crate::error::Result;

const KNOWN: [&str; 10] = [
    "BPEDecoder",
    "ByteLevel",
    "WordPiece",
    "Metaspace",
    "CTC",
    "Sequence",
    "Replace",
    "Fuse",
    "Strip",
    "ByteFallback",
];

/// What tells decoders without `type` apart.
const UNTAGGED: [(&str, &[&str]); 5] = [
    ("BPEDecoder", &["suffix"]),
    ("WordPiece", &["prefix", "cleanup"]),
    ("CTC", &["pad_token", "word_delimiter_token", "cleanup"]),
    ("Replace", &["pattern", "content"]),
    ("Strip", &["content", "start", "stop"]),
];

pub(super) fn read(node: &Node<'_>) -> Result<Decoder> {
    Ok(match node.component("decoder", &KNOWN, &UNTAGGED)? {
        "BPEDecoder" => Decoder::Bpe {
            suffix: node.field("suffix")?.string()?,
        },
        "ByteLevel" => {
            node.field("add_prefix_space")?.bool()?;
            node.field("trim_offsets")?.bool()?;
            node.bool_or("use_regex", true)?;
            Decoder::ByteLevel {
                printable: node.bool_or("printable", true)?,
            }
        }
        "WordPiece" => Decoder::WordPiece {
            prefix: node.field("prefix")?.string()?,
            cleanup: node.field("cleanup")?.bool()?,
        },
        "Metaspace" => {
            let (replacement, prepend_scheme, split) = pre_tokenizer::read_metaspace(node)?;
            Decoder::Metaspace {
                replacement,
                prepend_scheme,
                split,
            }
        }
        "CTC" => Decoder::Ctc {
            pad_token: node.field("pad_token")?.string()?,
            word_delimiter_token: node.field("word_delimiter_token")?.string()?,
            cleanup: node.field("cleanup")?.bool()?,
        },
        "Sequence" => Decoder::Sequence(node.field("decoders")?.list(read)?),
        "Replace" => Decoder::Replace {
            pattern: pattern::read(&node.field("pattern")?)?,
            content: node.field("content")?.string()?,
        },
        "Fuse" => Decoder::Fuse,
        "Strip" => Decoder::Strip {
            content: node.field("content")?.char()?,
            start: node.field("start")?.usize()?,
            stop: node.field("stop")?.usize()?,
        },
        _ => Decoder::ByteFallback,
    })
}

pub(super) fn write(decoder: &Decoder) -> Result<Value> {
    Ok(match decoder {
        // The format stores the fields of the pre-tokenizer of that name, which decoding ignores.
        Decoder::ByteLevel { .. } => json!({
            "type": "ByteLevel",
            "add_prefix_space": true,
            "trim_offsets": true,
            "use_regex": true,
        }),
        Decoder::WordPiece { prefix, cleanup } => {
            json!({"type": "WordPiece", "prefix": prefix, "cleanup": cleanup})
        }
        Decoder::Metaspace {
            replacement,
            prepend_scheme,
            split,
        } => pre_tokenizer::write_metaspace(*replacement, *prepend_scheme, *split),
        Decoder::Bpe { suffix } => json!({"type": "BPEDecoder", "suffix": suffix}),
        Decoder::ByteFallback => json!({"type": "ByteFallback"}),
        Decoder::Fuse => json!({"type": "Fuse"}),
        Decoder::Strip {
            content,
            start,
            stop,
        } => json!({"type": "Strip", "content": content, "start": start, "stop": stop}),
        Decoder::Replace { pattern, content } => {
            json!({"type": "Replace", "pattern": pattern::write(pattern)?, "content": content})
        }
        Decoder::Ctc {
            pad_token,
            word_delimiter_token,
            cleanup,
        } => json!({
            "type": "CTC",
            "pad_token": pad_token,
            "word_delimiter_token": word_delimiter_token,
            "cleanup": cleanup,
        }),
        Decoder::SentencePiece(_) => return Err(super::only_sentencepiece("decoder")),
        Decoder::Sequence(stages) => json!({
            "type": "Sequence",
            "decoders": stages.iter().map(write).collect::<Result<Value>>()?,
        }),
    })
}
