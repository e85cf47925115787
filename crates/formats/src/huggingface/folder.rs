//! A folder as `transformers` saves it: besides `tokenizer.json`, three files that may add tokens.
//!
//! Look here when a token of `tokenizer_config.json` is missing, or has another id than there.
//! Only settings that change the ids of text are read. `add_bos_token` and `add_eos_token` do not:
//! `transformers` drops them if there is a `tokenizer.json`, whose post-processor says the same.
//! `legacy` and `add_prefix_space` count next to a `.model`; a `tokenizer.json` has its own.

use hashbrown::{HashMap, HashSet};
use serde_json::{Map, Value};

use super::added_ids::id_in_model;
use super::json::Json;
use super::node::Node;
use crate::special_token_roles;
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::{Decoder, LeadingSpaces};
use jeton_stages::normalizer::Normalizer;
use jeton_text::error::Result;

/// The contents of the files beside a `tokenizer.json` that may add tokens, as far as they exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// `tokenizer_config.json`.
    pub config: Option<&'a [u8]>,
    /// `special_tokens_map.json`, read where the configuration lists no tokens.
    pub special_tokens: Option<&'a [u8]>,
    /// `added_tokens.json`, read where the configuration lists no tokens.
    pub added_tokens: Option<&'a [u8]>,
}

const CONFIG: &str = "tokenizer_config.json";
const SPECIAL_TOKENS: &str = "special_tokens_map.json";
const ADDED_TOKENS: &str = "added_tokens.json";

/// The stages of a folder's `tokenizer.json` with what the files beside it add, as `transformers`
/// adds it.
///
/// # Errors
/// The first thing that is not as it should be, with its place.
pub fn read_folder(tokenizer_json: &[u8], beside: Beside<'_>) -> Result<Stages> {
    let mut stages = super::read(tokenizer_json)?;
    apply(&mut stages, beside)?;
    Ok(stages)
}

/// Adds to a tokenizer of another file what the files beside it say, as `transformers` does: tokens,
/// and for a `.model` whether a space is put in front of a text (`add_prefix_space`), and in front
/// of each stretch between special tokens (`legacy`).
///
/// # Errors
/// The first thing that is not as it should be, with its place.
pub fn add_beside(stages: &mut Stages, beside: Beside<'_>) -> Result<()> {
    apply(stages, beside)?;
    let Some(Normalizer::SentencePiece(normalizer)) = &mut stages.normalizer else {
        return Ok(());
    };
    let config = Json::parse(beside.config.unwrap_or(b"{}"))?;
    let config = Node::root(&config, false);
    let says = |name, otherwise| {
        let said = config.bool_or(name, otherwise);
        said.map_err(|error| error.at(CONFIG))
    };
    let white_space = normalizer.white_space_mut();
    white_space.legacy |= says("legacy", false)?;
    if !says("add_prefix_space", true)? {
        white_space.add_dummy_prefix = false;
        if let Some(Decoder::SentencePiece(decoder)) = &mut stages.decoder
            && decoder.leading_spaces == LeadingSpaces::DropOne
        {
            decoder.leading_spaces = LeadingSpaces::Keep;
        }
    }
    Ok(())
}

/// Whether the files beside a `tokenizer.json` add the same tokens to it as other ones do.
///
/// # Errors
/// As [`read_folder`].
pub fn add_the_same(tokenizer_json: &[u8], files: Beside<'_>, others: Beside<'_>) -> Result<bool> {
    let mut stages = super::read(tokenizer_json)?;
    let alone = stages.added_tokens.clone();
    apply(&mut stages, files)?;
    let added = std::mem::replace(&mut stages.added_tokens, alone);
    apply(&mut stages, others)?;
    Ok(added == stages.added_tokens)
}

/// Adds the tokens of the files beside a tokenizer: those that are listed with their ids, then those
/// that have a role.
fn apply(stages: &mut Stages, beside: Beside<'_>) -> Result<()> {
    let within = |name: &'static str| move |error: jeton_text::Error| error.at(name);
    let config = Json::parse(beside.config.unwrap_or(b"{}")).map_err(within(CONFIG))?;
    let config = Node::root(&config, false);
    let mut named = named_tokens(&config, false).map_err(within(CONFIG))?;
    let listed = listed_tokens(&config).map_err(within(CONFIG))?;
    let tokens = match listed {
        Some(listed) => listed,
        None => {
            let map = Json::parse(beside.special_tokens.unwrap_or(b"{}"));
            let map = map.map_err(within(SPECIAL_TOKENS))?;
            let of_map = named_tokens(&Node::root(&map, false), true);
            let of_map = of_map.map_err(within(SPECIAL_TOKENS))?;
            let again: HashSet<&str> = of_map.iter().map(|it| it.name.as_str()).collect();
            named.retain(|it| it.is_listed() || !again.contains(it.name.as_str()));
            drop(again);
            named.extend(of_map);
            let added = Json::parse(beside.added_tokens.unwrap_or(b"{}"));
            let added = added.map_err(within(ADDED_TOKENS))?;
            plain_tokens(stages, &Node::root(&added, false), &named)
                .map_err(within(ADDED_TOKENS))?
        }
    };
    add_tokens(stages, tokens);
    named.sort_by_key(|token| token.rank);
    let mut named: Vec<_> = named.into_iter().map(|named| named.token).collect();
    let added = contents(stages);
    named.retain(|token| !added.contains(token.content.as_str()));
    drop(added);
    add_tokens(stages, named);
    Ok(())
}

/// The spellings of the added tokens.
fn contents(stages: &Stages) -> HashSet<&str> {
    let added = stages.added_tokens.iter();
    added.map(|token| token.content.as_str()).collect()
}

/// The tokens that `tokenizer_config.json` lists with their ids, if it does.
fn listed_tokens(config: &Node<'_>) -> Result<Option<Vec<AddedToken>>> {
    let Some(decoder) = config.optional("added_tokens_decoder")? else {
        return Ok(None);
    };
    let mut tokens = decoder
        .entries()?
        .map(|(id, node)| match id.parse::<u32>() {
            Ok(id) => Ok((id, read_token(&node, false)?)),
            Err(_) => Err(node.error("the name of this field must be an id")),
        })
        .collect::<Result<Vec<_>>>()?;
    tokens.sort_by_key(|(id, _)| *id);
    if let Some(pair) = tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(decoder.error(format!(
            "id {} is there twice, as {:?} and as {:?}",
            pair[0].0, pair[0].1.content, pair[1].1.content
        )));
    }
    Ok(Some(tokens.into_iter().map(|(_, token)| token).collect()))
}

/// The tokens of `added_tokens.json` that are not there yet, which are special if they have a role.
fn plain_tokens(
    stages: &Stages,
    added_tokens: &Node<'_>,
    named: &[Named],
) -> Result<Vec<AddedToken>> {
    let mut tokens = Vec::new();
    let added = contents(stages);
    let named = named.iter().map(|it| it.token.content.as_str());
    let named: HashSet<&str> = named.collect();
    let mut seen = HashSet::new();
    for (content, node) in added_tokens.entries()? {
        if !seen.insert(content) {
            return Err(node.error("this token is there twice"));
        }
        let special = named.contains(content);
        let token = AddedToken {
            special,
            normalized: !special,
            ..AddedToken::plain(node.u32()?, content)
        };
        if !added.contains(content) {
            tokens.push(token);
        }
    }
    tokens.sort_by_key(|token| token.id);
    Ok(tokens)
}

/// A special token that a field names, or one of a list of them.
struct Named {
    name: String,
    /// New ones get their ids in the order of [`special_token_roles::NAMES`]; the fields of single models come
    /// next, then those of the object of them, and the lists last.
    rank: usize,
    token: AddedToken,
}

impl Named {
    fn is_listed(&self) -> bool {
        self.rank == usize::MAX
    }
}

/// The special tokens that the fields of an object name: `bos_token`, …, and the lists.
fn named_tokens(object: &Node<'_>, special: bool) -> Result<Vec<Named>> {
    let mut tokens = Vec::new();
    for (name, node) in object.entries()? {
        let mut push = |rank: usize, mut token: AddedToken| {
            token.special = true;
            tokens.push(Named {
                name: name.to_owned(),
                rank,
                token,
            });
        };
        match (name, node.json) {
            ("additional_special_tokens" | "extra_special_tokens", Json::Array(_)) => {
                let listed = node.list(|node| read_token(node, special))?;
                listed.into_iter().for_each(|token| push(usize::MAX, token));
            }
            ("extra_special_tokens", Json::Object(_)) => {
                for (_, node) in node.entries()? {
                    push(
                        special_token_roles::NAMES.len() + 1,
                        read_token(&node, special)?,
                    );
                }
            }
            (name, Json::String(_) | Json::Object(_)) if name.ends_with("_token") => {
                let role = name.trim_end_matches("_token");
                let rank = special_token_roles::NAMES
                    .iter()
                    .position(|known| *known == role);
                push(
                    rank.unwrap_or(special_token_roles::NAMES.len()),
                    read_token(&node, special)?,
                );
            }
            _ => {}
        }
    }
    Ok(tokens)
}

/// A token as `AddedToken` of `tokenizers` takes it: a text, or an object with some of the flags.
/// The id is given later; `special` says what one counts as that does not say.
fn read_token(node: &Node<'_>, special: bool) -> Result<AddedToken> {
    let is_text = matches!(node.json, Json::String(_));
    let flag = |name: &str, otherwise: bool| {
        if is_text {
            Ok(otherwise)
        } else {
            node.bool_or(name, otherwise)
        }
    };
    let special = flag("special", is_text || special)?;
    Ok(AddedToken {
        id: u32::MAX,
        content: if is_text {
            node.string()?
        } else {
            node.field("content")?.string()?
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
    let mut places = HashMap::with_capacity(stages.added_tokens.len() + tokens.len());
    for (place, token) in stages.added_tokens.iter().enumerate() {
        places.entry(token.content.clone()).or_insert(place);
    }
    for mut token in tokens {
        if let Some(&known) = places.get(&token.content) {
            let known = &mut stages.added_tokens[known];
            token.id = known.id;
            token.special |= known.special;
            *known = token;
        } else if !token.content.is_empty() {
            token.id = id_in_model(&stages.model, &token.content).unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            places.insert(token.content.clone(), stages.added_tokens.len());
            stages.added_tokens.push(token);
        }
    }
    stages.added_tokens.sort_by_key(|token| token.id);
}

/// The files of a folder that `transformers` loads, each with its name: `tokenizer.json` first,
/// then the two beside it, with the roles of special tokens.
///
/// # Errors
/// What `tokenizer.json` cannot hold, by name.
pub fn write_folder(
    stages: &Stages,
    roles: &[(impl AsRef<str>, String)],
) -> Result<[(&'static str, String); 3]> {
    let fields = super::fields(stages)?;
    let added = fields["added_tokens"].as_array();
    let added: Vec<&Value> = added.into_iter().flatten().collect();
    let decoder: Map<_, _> = added
        .iter()
        .map(|token| {
            let mut flags = (*token).clone();
            if let Some(flags) = flags.as_object_mut() {
                flags.shift_remove("id");
            }
            (token["id"].to_string(), flags)
        })
        .collect();
    // Of equal contents, the first counts.
    let contents = added.iter().rev();
    let by_content: HashMap<_, _> = contents
        .filter_map(|token| Some((token["content"].as_str()?, *token)))
        .collect();
    let mut config = Map::new();
    let mut map = Map::new();
    config.insert("added_tokens_decoder".to_owned(), decoder.into());
    config.insert("clean_up_tokenization_spaces".to_owned(), false.into());
    for (role, token) in roles {
        let name = format!("{}_token", role.as_ref());
        let known = by_content.get(token.as_str());
        let flags = known.map_or_else(|| token.clone().into(), |known| write_special(known));
        config.insert(name.clone(), token.clone().into());
        map.insert(name, flags);
    }
    drop(by_content);
    config.insert(
        "tokenizer_class".to_owned(),
        "PreTrainedTokenizerFast".into(),
    );
    Ok([
        ("tokenizer.json", super::pretty(fields)?),
        ("tokenizer_config.json", super::pretty(config)?),
        ("special_tokens_map.json", super::pretty(map)?),
    ])
}

fn write_special(token: &Value) -> Value {
    const FLAGS: [&str; 5] = ["content", "lstrip", "normalized", "rstrip", "single_word"];
    let flags = FLAGS.iter();
    flags
        .map(|flag| ((*flag).to_owned(), token[*flag].clone()))
        .collect()
}
