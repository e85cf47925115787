//! A folder as `transformers` saves it: beside `tokenizer.json`, two files that may add tokens.
//!
//! Look here when a token of `tokenizer_config.json` is missing, or has another id than there.
//! What is read is what changes ids. `add_bos_token` and `add_eos_token` do not: `transformers`
//! drops them where there is a `tokenizer.json`, whose post-processor says the same.

use serde_json::{Map, Value, json};

use super::json::{Json, Node};
use super::{is_raw, write_added_token};
use crate::added_tokens::AddedToken;
use crate::error::Result;
use crate::model::Model;
use crate::printable;
use crate::stages::Stages;

/// The fields that name a special token, in the order in which new ones get their ids; the fields
/// of single models come next, and the lists last.
const NAMES: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// The stages of a folder's `tokenizer.json` with what its `tokenizer_config.json` and
/// `special_tokens_map.json` add, as `transformers` adds it.
///
/// # Errors
/// The first thing that is not as it should be, with its place.
pub fn read_folder(
    tokenizer_json: &[u8],
    tokenizer_config: Option<&[u8]>,
    special_tokens_map: Option<&[u8]>,
) -> Result<Stages> {
    let mut stages = super::read(tokenizer_json)?;
    let empty = b"{}".as_slice();
    let within = |name: &'static str| move |error: crate::Error| error.at(name);
    let config =
        Json::parse(tokenizer_config.unwrap_or(empty)).map_err(within("tokenizer_config.json"))?;
    let map = Json::parse(special_tokens_map.unwrap_or(empty))
        .map_err(within("special_tokens_map.json"))?;
    apply_config(&mut stages, &Node::root(&config, false))
        .map_err(within("tokenizer_config.json"))?;
    if !Node::root(&config, false).has("added_tokens_decoder") {
        let named = named_tokens(&stages, &Node::root(&map, false));
        add_tokens(
            &mut stages,
            named.map_err(within("special_tokens_map.json"))?,
        );
    }
    Ok(stages)
}

fn apply_config(stages: &mut Stages, config: &Node<'_>) -> Result<()> {
    if let Some(decoder) = config.optional("added_tokens_decoder")? {
        let mut tokens = decoder
            .entries()?
            .map(|(id, node)| match id.parse::<u32>() {
                Ok(id) => Ok((id, read_token(&node)?)),
                Err(_) => Err(node.error("the name of this field must be an id")),
            })
            .collect::<Result<Vec<_>>>()?;
        tokens.sort_by_key(|(id, _)| *id);
        add_tokens(stages, tokens.into_iter().map(|(_, token)| token).collect());
    }
    let named = named_tokens(stages, config)?;
    add_tokens(stages, named);
    Ok(())
}

/// The special tokens that the fields of an object name (`bos_token`, …, and the lists), but for
/// those that are added tokens already.
fn named_tokens(stages: &Stages, object: &Node<'_>) -> Result<Vec<AddedToken>> {
    let mut ranked = Vec::new();
    for (name, node) in object.entries()? {
        match (name, node.json) {
            ("additional_special_tokens" | "extra_special_tokens", Json::Array(_)) => {
                let tokens = node.list(read_token)?;
                ranked.extend(tokens.into_iter().map(|token| (usize::MAX, token)));
            }
            (name, Json::String(_) | Json::Object(_)) if name.ends_with("_token") => {
                let rank = NAMES.iter().position(|known| *known == name);
                ranked.push((rank.unwrap_or(NAMES.len()), read_token(&node)?));
            }
            _ => {}
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut tokens: Vec<_> = ranked.into_iter().map(|(_, token)| token).collect();
    let known = |content: &str| {
        stages
            .added_tokens
            .iter()
            .any(|token| token.content == content)
    };
    tokens.retain(|token| !known(&token.content));
    for token in &mut tokens {
        token.special = true;
    }
    Ok(tokens)
}

/// A token as `AddedToken` of `tokenizers` takes it: a text, or an object with some of the flags.
/// The id is given later.
fn read_token(node: &Node<'_>) -> Result<AddedToken> {
    let is_text = matches!(node.json, Json::String(_));
    let flag = |name: &str, otherwise: bool| match is_text {
        true => Ok(otherwise),
        false => node.bool_or(name, otherwise),
    };
    let special = flag("special", is_text)?;
    Ok(AddedToken {
        id: u32::MAX,
        content: match is_text {
            true => node.string()?,
            false => node.field("content")?.string()?,
        },
        special,
        single_word: flag("single_word", false)?,
        lstrip: flag("lstrip", false)?,
        rstrip: flag("rstrip", false)?,
        normalized: flag("normalized", !special)?,
    })
}

/// Adds tokens as `tokenizers` adds them: one that is there keeps its id and gets new flags, one
/// that the model knows gets that id, and any other the next one.
fn add_tokens(stages: &mut Stages, tokens: Vec<AddedToken>) {
    let size = stages.model.vocab().iter().count() as u32;
    let last = stages.added_tokens.iter().map(|token| token.id).max();
    let mut next = last.map_or(size, |last| size.max(last.saturating_add(1)));
    for mut token in tokens {
        let known = stages
            .added_tokens
            .iter()
            .position(|k| k.content == token.content);
        if let Some(known) = known {
            let known = &mut stages.added_tokens[known];
            token.id = known.id;
            token.special |= known.special;
            *known = token;
        } else if !token.content.is_empty() {
            token.id = model_id(stages, &token.content).unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            stages.added_tokens.push(token);
        }
    }
    stages.added_tokens.sort_by_key(|token| token.id);
}

fn model_id(stages: &Stages, content: &str) -> Option<u32> {
    let vocab = stages.model.vocab();
    match is_raw(&stages.model) {
        true => vocab.id(&printable::decode(content)?),
        false => vocab.id(content.as_bytes()),
    }
}

/// The files of a folder that `transformers` loads, each with its name.
///
/// # Errors
/// What `tokenizer.json` cannot hold, by name.
pub fn write_folder(stages: &Stages) -> Result<[(&'static str, String); 3]> {
    let mut map = Map::new();
    if let Some(token) = unk_token(stages) {
        map.insert("unk_token".to_owned(), write_special(token));
    }
    let mut config = Map::new();
    let decoder: Map<_, _> = stages
        .added_tokens
        .iter()
        .map(|token| {
            let mut fields = write_added_token(token);
            if let Some(fields) = fields.as_object_mut() {
                fields.shift_remove("id");
            }
            (token.id.to_string(), fields)
        })
        .collect();
    config.insert("added_tokens_decoder".to_owned(), decoder.into());
    config.insert("clean_up_tokenization_spaces".to_owned(), false.into());
    config.insert(
        "tokenizer_class".to_owned(),
        "PreTrainedTokenizerFast".into(),
    );
    if let Some(token) = unk_token(stages) {
        config.insert("unk_token".to_owned(), token.content.clone().into());
    }
    Ok([
        ("tokenizer.json", super::write(stages)?),
        ("tokenizer_config.json", super::pretty(config)?),
        ("special_tokens_map.json", super::pretty(map)?),
    ])
}

/// The unknown token, if it is a special one: `transformers` would make it one.
fn unk_token(stages: &Stages) -> Option<&AddedToken> {
    let vocab = stages.model.vocab();
    let content = match &stages.model {
        Model::Bpe(model) => model.options().unk_token.as_deref()?,
        Model::WordLevel(model) => model.unk_token(),
        Model::WordPiece(model) => model.unk_token(),
        Model::Unigram(model) => std::str::from_utf8(vocab.token(model.unk_id()?)?).ok()?,
        Model::Characters(_) | Model::SentencePiece(_) => return None,
    };
    let mut added = stages.added_tokens.iter();
    added.find(|token| token.special && token.content == content)
}

fn write_special(token: &AddedToken) -> Value {
    json!({
        "content": token.content,
        "lstrip": token.lstrip,
        "normalized": token.normalized,
        "rstrip": token.rstrip,
        "single_word": token.single_word,
    })
}
