//! Decoders in `tokenizer.json`, read and written.

use serde_json::{Value, json};

use super::node::Node;
use super::{normalizer, pattern, pre_tokenizer};
use jeton_models::model::sentencepiece::spec::TrainerSpec;
use jeton_stages::decoder::{Decoder, LeadingSpaces, SentencePieceDecoder};
use jeton_text::error::Result;

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

/// What distinguishes decoders without `type`.
const UNTAGGED: [(&str, &[&str]); 5] = [
    ("BPEDecoder", &["suffix"]),
    ("WordPiece", &["prefix", "cleanup"]),
    ("CTC", &["pad_token", "word_delimiter_token", "cleanup"]),
    ("Replace", &["pattern", "content"]),
    ("Strip", &["content", "start", "stop"]),
];

/// How jeton writes what SentencePiece's decoder does with spaces at the front.
const LEADING_SPACES: [(&str, LeadingSpaces); 3] = [
    ("Keep", LeadingSpaces::Keep),
    ("DropOne", LeadingSpaces::DropOne),
    ("DropAll", LeadingSpaces::DropAll),
];

pub(super) fn read(node: &Node<'_>) -> Result<Decoder> {
    if node.extended && node.is_of_type("SentencePiece")? {
        return read_sentencepiece(node).map(Decoder::SentencePiece);
    }
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

/// SentencePiece's decoder, which only jeton writes as JSON.
fn read_sentencepiece(node: &Node<'_>) -> Result<SentencePieceDecoder> {
    let unknown = match (node.optional("unk_piece")?, node.field("unk_surface")?) {
        (Some(piece), surface) => Some((piece.string()?, surface.string()?)),
        (None, _) => None,
    };
    let name = node.field("leading_spaces")?;
    let known = LEADING_SPACES.map(|(name, _)| name);
    let (_, leading_spaces) = LEADING_SPACES
        .into_iter()
        .find(|(known, _)| name.json.as_str() == Some(known))
        .ok_or_else(|| name.unknown("rule", name.str().unwrap_or_default(), &known))?;
    Ok(SentencePieceDecoder {
        unknown,
        bytes: node.field("byte_fallback")?.bool()?,
        leading_spaces,
        denormalizer: node
            .optional("denormalizer")?
            .map(|node| normalizer::read_sentencepiece(&node))
            .transpose()?,
    })
}

fn write_sentencepiece(decoder: &SentencePieceDecoder) -> Value {
    let (piece, surface) = decoder.unknown.clone().unzip();
    let (name, _) = LEADING_SPACES
        .into_iter()
        .find(|(_, rule)| *rule == decoder.leading_spaces)
        .unwrap_or(LEADING_SPACES[0]);
    json!({
        "type": "SentencePiece",
        "unk_piece": piece,
        "unk_surface": surface.unwrap_or_else(|| TrainerSpec::default().unk_surface),
        "byte_fallback": decoder.bytes,
        "leading_spaces": name,
        "denormalizer": decoder
            .denormalizer
            .as_ref()
            .map(normalizer::write_sentencepiece),
    })
}

/// The decoder as the format holds it, or with `extended` also those it does not know.
pub(super) fn write(decoder: &Decoder, extended: bool) -> Result<Value> {
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
        Decoder::SentencePiece(decoder) if extended => write_sentencepiece(decoder),
        Decoder::SentencePiece(_) => return Err(super::only_sentencepiece("decoder")),
        Decoder::Sequence(stages) => json!({
            "type": "Sequence",
            "decoders": stages
                .iter()
                .map(|stage| write(stage, extended))
                .collect::<Result<Value>>()?,
        }),
    })
}
