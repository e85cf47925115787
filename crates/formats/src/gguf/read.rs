//! Reads a tokenizer: from the keys of a GGUF to stages.

mod models;
mod tokens;

use super::container::Metadata;
use super::pre;
use super::{MODEL, PART, PRE, ROLES, TEMPLATE, Type};
use crate::special_token_roles::Role;
pub(super) use models::bert_normalizer;
use models::{bert, bpe, rwkv, sentencepiece};
use tokens::Tokens;

use jeton_models::model::sentencepiece::spec::Algorithm;
use jeton_models::stages::Stages;
use jeton_text::error::{Error, ErrorKind, Result};

/// The tokenizer of a GGUF.
#[derive(Debug)]
pub struct Contents {
    /// The stages.
    pub stages: Stages,
    /// Signs that the file is not as its author meant it.
    pub warnings: Vec<String>,
    /// The roles of special tokens.
    pub roles: Vec<Role>,
    /// Chat templates, as the files of a folder.
    pub beside: Vec<(String, Vec<u8>)>,
}

/// Whether a file has keys of a tokenizer.
pub fn holds_a_tokenizer(metadata: &Metadata) -> bool {
    metadata.keys().any(|key| key == MODEL)
}

/// The tokenizer that a file's keys describe.
///
/// # Errors
/// A model or a way to split text that is not known, by its name; keys that contradict each other.
pub fn read(metadata: &Metadata) -> Result<Contents> {
    let Some(model) = metadata.text(MODEL)? else {
        let message = format!("there is no {MODEL}: this GGUF holds no tokenizer");
        let error = Error::new(ErrorKind::Format, message);
        return Err(if metadata.number(PART)?.is_some_and(|part| part > 0) {
            error.hint("this is a later part of a split model: load the first, …-00001-of-….gguf")
        } else {
            error
        });
    };
    if matches!(model, "none" | "no_vocab") {
        let message = format!("{MODEL}: {model:?}: this GGUF says that it has no tokenizer");
        return Err(Error::new(ErrorKind::Format, message));
    }
    let mut tokens = Tokens::read(metadata)?;
    let mut warnings = Vec::new();
    let stages = match model {
        "gpt2" => {
            let name = metadata.text(PRE)?.filter(|name| !name.is_empty());
            if name.is_none() {
                warnings.push(format!(
                    "there is no {PRE}, so text is split by llama.cpp's default, which may not be \
                     the model's own way; llama.cpp warns about this too"
                ));
            }
            if name == Some("default") {
                warnings.push(format!(
                    "{PRE} is \"default\", which is llama.cpp's way to split text and may not be \
                     that of the model"
                ));
            }
            bpe(metadata, &tokens, pre::find(name.unwrap_or("default"))?)?
        }
        "llama" => {
            if tokens.types.iter().filter(|it| **it == Type::Byte).count() < 256 {
                tokens.without_bytes();
            }
            sentencepiece(metadata, &tokens, Algorithm::Bpe)?
        }
        "t5" => {
            tokens.without_bytes();
            sentencepiece(metadata, &tokens, Algorithm::Unigram)?
        }
        "bert" => bert(metadata, &tokens)?,
        "rwkv" => rwkv(&tokens)?,
        other => {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("{MODEL}: {other:?} is not a known kind of tokenizer"),
            )
            .hint("known are gpt2, llama, t5, bert and rwkv; load the tokenizer of the model that it was made from"));
        }
    };
    let mut roles = Vec::new();
    for (role, key) in ROLES {
        let assumed = || default_id(model, role).filter(|id| tokens.is_control(*id));
        if let Some(id) = tokens.id(metadata, key)?.or_else(assumed) {
            roles.extend(tokens.text(id).map(|text| (*role, text.to_owned())));
        }
    }
    Ok(Contents {
        stages,
        warnings,
        roles,
        beside: templates(metadata)?,
    })
}

/// The ids that llama.cpp assumes where a file gives none.
fn default_id(model: &str, role: &str) -> Option<u32> {
    let known: &[(&str, u32)] = match model {
        "llama" => &[("bos", 1), ("eos", 2), ("unk", 0)],
        "bert" => &[("unk", 100), ("sep", 102), ("pad", 0), ("mask", 103)],
        "t5" => &[("eos", 1), ("unk", 2), ("pad", 0)],
        _ => &[],
    };
    let mut known = known.iter();
    known.find(|(name, _)| *name == role).map(|(_, id)| *id)
}

/// The chat templates, as files beside a tokenizer.
fn templates(metadata: &Metadata) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for key in metadata.keys().filter(|key| key.starts_with(TEMPLATE)) {
        let name = match key.strip_prefix(TEMPLATE) {
            Some("") => "chat_template.jinja".to_owned(),
            // "tokenizer.chat_templates" lists the names of the others.
            Some(name) => match name.strip_prefix('.') {
                Some(name) if is_file_name(name) => {
                    format!("additional_chat_templates/{name}.jinja")
                }
                Some(name) => {
                    let message = format!("{key}: {name:?} is not the name of a chat template");
                    return Err(Error::new(ErrorKind::Format, message));
                }
                None => continue,
            },
            None => continue,
        };
        let template = metadata.text(key)?.unwrap_or_default();
        files.push((name, template.as_bytes().to_vec()));
    }
    Ok(files)
}

fn is_file_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.bytes().all(is_letter)
}
