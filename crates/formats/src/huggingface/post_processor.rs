//! Post-processors in `tokenizer.json`, read and written.

use serde_json::{Map, Value, json};

use super::node::Node;
use jeton_stages::post_processor::{PostProcessor, Sequence, TemplatePiece, TemplateToken};
use jeton_text::error::Result;

const KNOWN: [&str; 5] = [
    "TemplateProcessing",
    "BertProcessing",
    "RobertaProcessing",
    "ByteLevel",
    "Sequence",
];

/// What distinguishes post-processors without `type`.
const UNTAGGED: [(&str, &[&str]); 3] = [
    (
        "RobertaProcessing",
        &["sep", "cls", "trim_offsets", "add_prefix_space"],
    ),
    ("BertProcessing", &["sep", "cls"]),
    ("TemplateProcessing", &["single", "pair", "special_tokens"]),
];

pub(super) fn read(node: &Node<'_>) -> Result<PostProcessor> {
    Ok(match node.component("post-processor", &KNOWN, &UNTAGGED)? {
        "TemplateProcessing" => PostProcessor::Template {
            single: node.field("single")?.list(read_piece)?,
            pair: node.field("pair")?.list(read_piece)?,
            special_tokens: node
                .field("special_tokens")?
                .entries()?
                .map(|(name, node)| read_token(name, &node))
                .collect::<Result<_>>()?,
        },
        "BertProcessing" => PostProcessor::Bert {
            sep: read_pair(&node.field("sep")?)?,
            cls: read_pair(&node.field("cls")?)?,
        },
        "RobertaProcessing" => PostProcessor::Roberta {
            sep: read_pair(&node.field("sep")?)?,
            cls: read_pair(&node.field("cls")?)?,
            trim_offsets: node.field("trim_offsets")?.bool()?,
            add_prefix_space: node.field("add_prefix_space")?.bool()?,
        },
        "ByteLevel" => PostProcessor::ByteLevel {
            add_prefix_space: node.field("add_prefix_space")?.bool()?,
            trim_offsets: node.field("trim_offsets")?.bool()?,
            use_regex: node.bool_or("use_regex", true)?,
        },
        _ => PostProcessor::Sequence(node.field("processors")?.list(read)?),
    })
}

fn read_pair(node: &Node<'_>) -> Result<(String, u32)> {
    let nodes: Vec<_> = node.nodes()?.collect();
    match nodes.as_slice() {
        [token, id] => Ok((token.string()?, id.u32()?)),
        _ => Err(node.error("expected a token and its id")),
    }
}

fn read_piece(node: &Node<'_>) -> Result<TemplatePiece> {
    let (name, piece) = match node.fields()? {
        [(name, _)] => (name.as_ref(), node.field(name)?),
        _ => return Err(node.error("expected one field, \"Sequence\" or \"SpecialToken\"")),
    };
    let type_id = || piece.field("type_id")?.u32();
    match name {
        "Sequence" => {
            let id = piece.field("id")?;
            Ok(TemplatePiece::Sequence {
                id: match id.str()? {
                    "A" => Sequence::A,
                    "B" => Sequence::B,
                    other => return Err(id.unknown("sequence", other, &["A", "B"])),
                },
                type_id: type_id()?,
            })
        }
        "SpecialToken" => Ok(TemplatePiece::SpecialToken {
            id: piece.field("id")?.string()?,
            type_id: type_id()?,
        }),
        name => Err(node.unknown("piece of a template", name, &["Sequence", "SpecialToken"])),
    }
}

/// A special token; templates name it by its key in the table.
fn read_token(name: &str, node: &Node<'_>) -> Result<TemplateToken> {
    node.field("id")?.str()?;
    Ok(TemplateToken {
        id: name.to_owned(),
        ids: node.field("ids")?.list(Node::u32)?,
        tokens: node.field("tokens")?.list(Node::string)?,
    })
}

pub(super) fn write(post_processor: &PostProcessor) -> Value {
    match post_processor {
        PostProcessor::Template {
            single,
            pair,
            special_tokens,
        } => json!({
            "type": "TemplateProcessing",
            "single": single.iter().map(write_piece).collect::<Value>(),
            "pair": pair.iter().map(write_piece).collect::<Value>(),
            "special_tokens": special_tokens
                .iter()
                .map(|token| (token.id.clone(), write_token(token)))
                .collect::<Map<_, _>>(),
        }),
        PostProcessor::Bert { sep, cls } => {
            json!({"type": "BertProcessing", "sep": sep, "cls": cls})
        }
        PostProcessor::Roberta {
            sep,
            cls,
            trim_offsets,
            add_prefix_space,
        } => json!({
            "type": "RobertaProcessing",
            "sep": sep,
            "cls": cls,
            "trim_offsets": trim_offsets,
            "add_prefix_space": add_prefix_space,
        }),
        PostProcessor::ByteLevel {
            add_prefix_space,
            trim_offsets,
            use_regex,
        } => json!({
            "type": "ByteLevel",
            "add_prefix_space": add_prefix_space,
            "trim_offsets": trim_offsets,
            "use_regex": use_regex,
        }),
        PostProcessor::Sequence(stages) => json!({
            "type": "Sequence",
            "processors": stages.iter().map(write).collect::<Value>(),
        }),
    }
}

fn write_piece(piece: &TemplatePiece) -> Value {
    match piece {
        TemplatePiece::Sequence { id, type_id } => {
            let id = match id {
                Sequence::A => "A",
                Sequence::B => "B",
            };
            json!({"Sequence": {"id": id, "type_id": type_id}})
        }
        TemplatePiece::SpecialToken { id, type_id } => {
            json!({"SpecialToken": {"id": id, "type_id": type_id}})
        }
    }
}

fn write_token(token: &TemplateToken) -> Value {
    json!({"id": token.id, "ids": token.ids, "tokens": token.tokens})
}
