//! A folder as `transformers` saves it: besides `tokenizer.json`, three files that may add tokens.
//!
//! Look here when a token of `tokenizer_config.json` is missing, or has another id than there.
//! Only settings that change the ids of text are read. `add_bos_token` and `add_eos_token` do not:
//! `transformers` drops them if there is a `tokenizer.json`, whose post-processor says the same.
//! `legacy` and `add_prefix_space` count next to a `.model`; a `tokenizer.json` has its own.

use std::borrow::Cow;
use std::collections::BTreeMap;

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
use jeton_text::python_json;

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

const EXTRA: &str = "extra_special_tokens";
/// The older name of the list.
const ADDITIONAL: &str = "additional_special_tokens";

/// The stages of a folder's `tokenizer.json` with what the files beside it add, as `transformers`
/// adds it; and what of those files `transformers` drops.
///
/// # Errors
/// The first thing that is not as it should be, with its place.
pub fn read_folder(tokenizer_json: &[u8], beside: Beside<'_>) -> Result<(Stages, Vec<String>)> {
    let mut stages = super::read(tokenizer_json)?;
    let dropped = apply(&mut stages, beside)?;
    Ok((stages, dropped))
}

/// Adds to a tokenizer of another file what the files beside it say, as `transformers` does: tokens,
/// and for a `.model` whether a space is put in front of a text (`add_prefix_space`), and in front
/// of each stretch between special tokens (`legacy`). Returns what `transformers` drops.
///
/// # Errors
/// The first thing that is not as it should be, with its place.
pub fn add_beside(stages: &mut Stages, beside: Beside<'_>) -> Result<Vec<String>> {
    let dropped = apply(stages, beside)?;
    let Some(Normalizer::SentencePiece(normalizer)) = &mut stages.normalizer else {
        return Ok(dropped);
    };
    let config = text_of(beside.config);
    let config = Json::parse(&config)?;
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
    Ok(dropped)
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

/// The text of a file of settings, which Python's `json` reads; that of an empty object if there is no
/// such file.
fn text_of(file: Option<&[u8]>) -> Cow<'_, [u8]> {
    python_json::with_plain_numbers(file.unwrap_or(b"{}"))
}

/// Adds the tokens of the files beside a tokenizer: those that are listed with their ids, then those
/// that have a role, then those of the lists. Returns what is dropped, as sentences.
fn apply(stages: &mut Stages, beside: Beside<'_>) -> Result<Vec<String>> {
    let within = |name: &'static str| move |error: jeton_text::Error| error.at(name);
    let config = text_of(beside.config);
    let config = Json::parse(&config).map_err(within(CONFIG))?;
    let config = Node::root(&config, false);
    let mut named = NamedTokens::default();
    named.read(&config, false).map_err(within(CONFIG))?;
    let mut further = Further::of(&config).map_err(within(CONFIG))?;
    let mut dropped = Vec::new();
    let mut tokens = match listed_tokens(&config).map_err(within(CONFIG))? {
        Some(listed) => listed,
        None => {
            let map = text_of(beside.special_tokens);
            let map = Json::parse(&map).map_err(within(SPECIAL_TOKENS))?;
            let map = Node::root(&map, false);
            named.read(&map, true).map_err(within(SPECIAL_TOKENS))?;
            further.read_map(&map).map_err(within(SPECIAL_TOKENS))?;
            let added = text_of(beside.added_tokens);
            let added = Json::parse(&added).map_err(within(ADDED_TOKENS))?;
            let mut special = named.spellings(true);
            special.extend(further.extra.iter().flatten().map(content));
            tokens_by_id(stages, &Node::root(&added, false), &special, &mut dropped)
                .map_err(within(ADDED_TOKENS))?
        }
    };
    let with_name = named.spellings(false);
    for token in &mut tokens {
        token.special |= with_name.contains(token.content.as_str());
    }
    drop(with_name);
    add_tokens(stages, tokens);
    let mut missing: Vec<_> = named.into_tokens().collect();
    let further = further.tokens().into_iter();
    let further: Vec<_> = further.filter(|token| !missing.contains(token)).collect();
    missing.extend(further);
    let added: HashSet<&str> = stages.added_tokens.iter().map(content).collect();
    missing.retain(|token| !added.contains(token.content.as_str()));
    drop(added);
    add_tokens(stages, missing);
    let added: HashSet<&str> = stages.added_tokens.iter().map(content).collect();
    dropped.retain(|it| !added.contains(it.token.as_str()));
    let sentence = |Dropped { id, token, other }: &Dropped| {
        format!(
            "{ADDED_TOKENS}: {token:?} is not added, as in transformers: {other:?} has its id, {id}"
        )
    };
    Ok(dropped.iter().map(sentence).collect())
}

fn content(token: &AddedToken) -> &str {
    &token.content
}

/// A token of `added_tokens.json` whose id belongs to another token.
struct Dropped {
    id: u32,
    token: String,
    other: String,
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

/// The tokens of `added_tokens.json` and those of the tokenizer itself, by id. Of several with one
/// id, the last is taken, and those of the tokenizer come last.
fn tokens_by_id(
    stages: &Stages,
    added_tokens: &Node<'_>,
    special: &HashSet<&str>,
    dropped: &mut Vec<Dropped>,
) -> Result<Vec<AddedToken>> {
    let mut seen = HashSet::new();
    let mut tokens = Vec::new();
    for (content, node) in added_tokens.entries()? {
        if !seen.insert(content) {
            return Err(node.error("this token is there twice"));
        }
        let special = special.contains(content);
        tokens.push(AddedToken {
            special,
            normalized: !special,
            ..AddedToken::plain(node.u32()?, content)
        });
    }
    let mut by_id = BTreeMap::<u32, AddedToken>::new();
    for token in tokens
        .into_iter()
        .chain(stages.added_tokens.iter().cloned())
    {
        let other = token.content.clone();
        let before = by_id.insert(token.id, token);
        if let Some(AddedToken { id, content, .. }) = before.filter(|it| it.content != other) {
            dropped.push(Dropped {
                id,
                token: content,
                other,
            });
        }
    }
    Ok(by_id.into_values().collect())
}

/// A special token that a field names.
struct Named {
    name: String,
    rank: Rank,
    token: AddedToken,
}

/// New tokens get their ids in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The number of the role in [`special_token_roles::NAMES`].
    Role(usize),
    /// The field of a single model.
    Field,
    /// Such a field whose value is a text in `tokenizer_config.json`, or one of the object of them:
    /// no field of `special_tokens_map.json` replaces it.
    Stays,
}

/// The special tokens that fields name.
#[derive(Default)]
struct NamedTokens(Vec<Named>);

impl NamedTokens {
    /// Those of an object: `bos_token`, … `is_map`: it is `special_tokens_map.json`.
    fn read(&mut self, object: &Node<'_>, is_map: bool) -> Result<()> {
        for (name, node) in object.entries()? {
            if matches!(node.json, Json::Null) {
                self.0
                    .retain(|it| it.name != name || it.rank == Rank::Stays);
            }
            if let Some(role) = name.strip_suffix("_token")
                && matches!(node.json, Json::String(_) | Json::Object(_))
            {
                let number = special_token_roles::NAMES.iter().position(|it| *it == role);
                let rank = match number {
                    Some(number) => Rank::Role(number),
                    None if is_map || matches!(node.json, Json::Object(_)) => Rank::Field,
                    None => Rank::Stays,
                };
                self.put(name, rank, read_token(&node, is_map)?);
            }
        }
        let mut entries = object.entries()?;
        if let Some((_, node)) = entries.find(|(name, _)| *name == EXTRA)
            && matches!(node.json, Json::Object(_))
        {
            for (name, node) in node.entries()? {
                self.put(name, Rank::Stays, read_token(&node, is_map)?);
            }
        }
        Ok(())
    }

    fn put(&mut self, name: &str, rank: Rank, token: AddedToken) {
        let token = AddedToken {
            special: true,
            ..token
        };
        let name = name.to_owned();
        match self.0.iter_mut().find(|it| it.name == name) {
            Some(before) if rank >= before.rank => *before = Named { name, rank, token },
            Some(_) => {}
            None => self.0.push(Named { name, rank, token }),
        }
    }

    /// The spellings of those with a role, or of all.
    fn spellings(&self, with_role: bool) -> HashSet<&str> {
        let named = self.0.iter();
        let named = named.filter(|it| !with_role || matches!(it.rank, Rank::Role(_)));
        named.map(|it| content(&it.token)).collect()
    }

    /// The tokens, in the order in which they get new ids.
    fn into_tokens(mut self) -> impl Iterator<Item = AddedToken> {
        self.0.sort_by_key(|it| it.rank);
        self.0.into_iter().map(|it| it.token)
    }
}

/// The special tokens that have no names, from the two lists of the files. `None` is no list.
struct Further {
    extra: Option<Vec<AddedToken>>,
    additional: Option<Vec<AddedToken>>,
}

impl Further {
    /// The lists of `tokenizer_config.json`: `additional_special_tokens` is the older name of
    /// `extra_special_tokens`.
    fn of(config: &Node<'_>) -> Result<Self> {
        let mut extra = list_of(config, "extra_special_tokens", false)?;
        let mut additional = list_of(config, "additional_special_tokens", false)?;
        let has_names = config
            .optional("extra_special_tokens")?
            .is_some_and(|node| matches!(node.json, Json::Object(fields) if !fields.is_empty()));
        if additional.is_some() && !has_names && extra.as_ref().is_none_or(Vec::is_empty) {
            extra = additional.take();
        }
        Ok(Self { extra, additional })
    }

    /// Reads the lists of `special_tokens_map.json`.
    fn read_map(&mut self, map: &Node<'_>) -> Result<()> {
        let mut entries = map.entries()?;
        match entries
            .find(|(name, _)| *name == EXTRA)
            .map(|(_, node)| node.json)
        {
            Some(Json::Array(_)) => {
                let extra = list_of(map, EXTRA, true)?.unwrap_or_default();
                self.extra.get_or_insert_default().extend(extra);
            }
            Some(Json::Object(_)) => self.extra = None,
            Some(_) => self.extra = Some(Vec::new()),
            None => {}
        }
        if let Some(additional) = list_of(map, ADDITIONAL, true)? {
            self.additional = Some(additional);
        }
        Ok(())
    }

    /// The tokens of the list that is read: the older name counts where the other is not there.
    fn tokens(self) -> Vec<AddedToken> {
        self.extra.or(self.additional).unwrap_or_default()
    }
}

/// The tokens in the list of this name, if there is one; null counts as an empty list.
fn list_of(object: &Node<'_>, name: &str, special: bool) -> Result<Option<Vec<AddedToken>>> {
    let mut entries = object.entries()?;
    match entries.find(|(field, _)| *field == name) {
        Some((_, node)) if matches!(node.json, Json::Array(_)) => {
            node.list(|node| read_token(node, special)).map(Some)
        }
        Some((_, node)) if matches!(node.json, Json::Null) => Ok(Some(Vec::new())),
        _ => Ok(None),
    }
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
