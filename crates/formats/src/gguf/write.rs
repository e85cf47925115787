//! Writes a tokenizer: from stages to the keys of a GGUF.
//!
//! The written file is read back, and must be the same tokenizer except for what is listed as left out.

mod equivalents;
mod models;

use hashbrown::{HashMap, HashSet};

use super::container::Metadata;
use super::read;
use super::value::Value;
use super::{PART, PREFIX, ROLES, TEMPLATE};
use crate::cannot_hold::{Part, cannot_hold, parts_not_held};
use equivalents::frame_of_any;
use jeton_models::model::Model;
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::sentencepiece::spec::Algorithm;
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::vocab::MAX_ID;
use jeton_text::error::Result;

/// A GGUF, as messages call it.
const GGUF: &str = "a GGUF";

/// What is written of a tokenizer besides its stages.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// Tokens by role.
    pub roles: Vec<(String, String)>,
    /// Chat templates by name; `default` is the first of them.
    pub templates: Vec<(String, String)>,
}

/// Writes a GGUF with a tokenizer and no tensors; returns it with what it leaves out.
///
/// # Errors
/// What a GGUF cannot hold, by name.
pub fn write(stages: &Stages, extras: &Extras) -> Result<(Vec<u8>, Vec<String>)> {
    let mut metadata = Metadata::default();
    let architecture = match &stages.model {
        Model::Bpe(_) => "gpt2",
        Model::WordPiece(_) => "bert",
        Model::LongestMatch(_) => "rwkv6",
        Model::SentencePiece(model) if model.proto().trainer().algorithm == Algorithm::Unigram => {
            "t5"
        }
        _ => "llama",
    };
    metadata.set("general.architecture", Value::text(architecture));
    let left_out = put(&mut metadata, stages, extras)?;
    Ok((metadata.write()?, left_out))
}

/// Replaces the tokenizer of a model; returns what is left out.
///
/// # Errors
/// What a GGUF cannot hold, by name; a model whose number of embeddings is not the number of tokens.
pub fn put(metadata: &mut Metadata, stages: &Stages, extras: &Extras) -> Result<Vec<String>> {
    stages.ask_for_room(512);
    if metadata.number(PART)?.is_some_and(|part| part > 0) {
        return Err(
            cannot_hold("this later part of a split model", "a tokenizer")
                .hint("put it into the first part, …-00001-of-….gguf"),
        );
    }
    let embeddings = metadata.embeddings();
    let mut keys = Keys {
        written: Metadata::default(),
        left_out: Vec::new(),
        // With more, the number of tokens does not fit in the end.
        size: embeddings
            .filter(|it| *it <= u64::from(MAX_ID))
            .map_or(0, |it| it as usize),
    };
    for key in ["general.architecture", "general.name"] {
        if let Some(text) = metadata.text(key)? {
            keys.written.set(key, Value::text(text));
        }
    }
    let count = keys.put_model(stages)?;
    if let Some(embeddings) = embeddings
        && embeddings != count as u64
    {
        return Err(cannot_hold(
            "this model",
            format!("a tokenizer of {count} tokens: it has {embeddings} embeddings"),
        )
        .hint("give the model as many embeddings first, or the tokenizer as many tokens"));
    }
    keys.put_roles(stages, extras)?;
    keys.check(stages, extras)?;
    let keeps_templates = extras.templates.is_empty();
    metadata
        .remove(|key| key.starts_with(PREFIX) && !(keeps_templates && key.starts_with(TEMPLATE)));
    for (key, value) in keys.written.into_entries() {
        metadata.set(&key, value);
    }
    let named = extras.templates.iter();
    let named = named.filter(|(name, _)| name != "default");
    let names: Vec<&str> = named.map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        metadata.set(
            "tokenizer.chat_templates",
            Value::Texts(names.into_iter().collect()),
        );
    }
    for (name, template) in &extras.templates {
        let key = match name.as_str() {
            "default" => TEMPLATE.to_owned(),
            name => format!("{TEMPLATE}.{name}"),
        };
        metadata.set(&key, Value::text(template.as_str()));
    }
    if let Some(architecture) = metadata.text("general.architecture")? {
        let key = format!("{architecture}.vocab_size");
        if metadata.number(&key)?.is_some() {
            metadata.set(&key, Value::id(count as u32));
        }
    }
    Ok(keys.left_out)
}

/// The spellings of special tokens.
fn special_texts(stages: &Stages) -> impl Iterator<Item = &str> {
    let special = stages.added_tokens.iter().filter(|it| it.special);
    special.map(|it| it.content.as_str())
}

/// The keys of a tokenizer that is being written.
struct Keys {
    written: Metadata,
    left_out: Vec<String>,
    /// The least number of tokens: models often have more embeddings than their tokenizer has tokens.
    size: usize,
}

impl Keys {
    /// Writes the model; returns the number of tokens.
    fn put_model(&mut self, stages: &Stages) -> Result<usize> {
        let cannot = |what: String| Err(cannot_hold(GGUF, what));
        match &stages.model {
            Model::Bpe(bpe) if bpe.options().alphabet == Alphabet::Bytes => {
                self.put_bpe(stages, bpe)
            }
            Model::SentencePiece(model) => self.put_sentencepiece(stages, model),
            Model::WordPiece(model) => self.put_wordpiece(stages, model),
            Model::LongestMatch(model) => self.put_longest_match(stages, model),
            Model::Bpe(_) => cannot("a BPE model that begins with characters".to_owned()),
            other => cannot(format!("a {} model", other.kind())),
        }
    }

    /// Writes the ids of roles that the stages have not set.
    fn put_roles(&mut self, stages: &Stages, extras: &Extras) -> Result<()> {
        for (role, token) in &extras.roles {
            let known = ROLES.iter().find(|(name, _)| name == role);
            match (known, stages.bytes_to_id(token.as_bytes())) {
                (Some((_, key)), Some(id)) => match self.written.number(key)? {
                    None => self.written.set(key, Value::id(id)),
                    Some(said) if said == i128::from(id) => {}
                    Some(_) => self.left_out.push(format!("the role {role}")),
                },
                _ => self.left_out.push(format!("the role {role}")),
            }
        }
        Ok(())
    }

    /// Refuses what would be read back as another tokenizer, and names special tokens and roles that
    /// only the file has: llama.cpp assumes some.
    fn check(&mut self, stages: &Stages, extras: &Extras) -> Result<()> {
        let contents = read(&self.written)?;
        let held = &contents.stages;
        for (role, token) in &contents.roles {
            if !extras.roles.iter().any(|(own, _)| own == role) {
                let as_none = format!("that {token:?} has no role (it is {role} there)");
                self.left_out.push(as_none);
            }
        }
        let own: HashSet<&str> = special_texts(stages).collect();
        let new: Vec<String> = special_texts(held)
            .filter(|text| !own.contains(*text) && !own.contains(text.replace(' ', "▁").as_str()))
            .map(|text| format!("that {text:?} is not special"))
            .collect();
        self.left_out.extend(new);
        let is_fine = |part: Part| match part {
            // Checked before, or without effect on ids.
            Part::PreTokenizer | Part::Decoder | Part::Model => true,
            Part::Normalizer => {
                matches!(stages.model, Model::SentencePiece(_) | Model::WordPiece(_))
            }
            Part::PostProcessor => {
                frame_of_any(&held.post_processor) == frame_of_any(&stages.post_processor)
            }
            Part::AddedTokens => false,
        };
        let Some(part) = parts_not_held(stages, held).find(|part| !is_fine(*part)) else {
            return Ok(());
        };
        if part != Part::AddedTokens {
            return Err(cannot_hold(GGUF, part.of(stages)));
        }
        let plain = |token: &AddedToken| {
            let mut token = token.clone();
            token.normalized = false;
            token.content = token.content.replace('▁', " ");
            token
        };
        let read: HashMap<u32, _> = held
            .added_tokens
            .iter()
            .map(|it| (it.id, plain(it)))
            .collect();
        let mut own = stages.added_tokens.iter();
        if let Some(token) = own.find(|it| read.get(&it.id) != Some(&plain(it))) {
            return Err(cannot_hold(
                GGUF,
                format!(
                    "the added token {:?} as it is here (special, lstrip, rstrip and single_word are \
                     what llama.cpp makes of its name)",
                    token.content
                ),
            ));
        }
        let own: HashSet<u32> = stages.added_tokens.iter().map(|it| it.id).collect();
        // llama.cpp finds the unknown piece by its spelling, SentencePiece never.
        let unknown = match &stages.model {
            Model::SentencePiece(model) => model.unk_id(),
            _ => None,
        };
        let mut others = held.added_tokens.iter();
        match others.find(|it| !own.contains(&it.id) && Some(it.id) != unknown) {
            Some(token) if token.special || !matches!(stages.model, Model::SentencePiece(_)) => {
                Err(cannot_hold(
                    GGUF,
                    format!(
                        "{:?} as text: llama.cpp takes it for a control token because of its name",
                        token.content
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}
