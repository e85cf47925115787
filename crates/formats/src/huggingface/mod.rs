//! `tokenizer.json` of Hugging Face: every component of it, in and out.
//!
//! Look here for the file as a whole; each component has a file of its own. jeton reads everything
//! that `tokenizers` loads, older forms too, with the same meaning. Anything
//! else is an error that names it and its place:
//!
//! ```
//! use jeton_formats::huggingface;
//!
//! let file = br#"{"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Splt"}]}}"#;
//! assert_eq!(
//!     huggingface::read(file).unwrap_err().to_string(),
//!     "tokenizer.json: pre_tokenizer.pretokenizers[0].type: unknown pre-tokenizer \"Splt\" \
//!      (did you mean \"Split\"?)"
//! );
//! ```

use std::borrow::Cow;
use std::io;

use hashbrown::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use self::added_ids::{check_ids, check_out_of_reach, tokens_out_of_order};
use self::json::Json;
use self::node::Node;
use crate::cannot_hold::{TOKENIZER_JSON, cannot_hold};
use jeton_models::model::{Characters, Model, Superwords, WordLevel};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::{AddedToken, assign_ids};
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::function::Function;
use jeton_text::interrupt;
use jeton_text::mem::room;

mod added_ids;
mod decoder;
mod folder;
mod json;
mod model;
mod node;
mod normalizer;
mod pattern;
mod post_processor;
mod pre_tokenizer;
mod read_byte_level;
mod write_byte_level;
mod write_model;

pub use folder::{Beside, add_beside, add_the_same, read_folder, write_folder};
use model::SUPERWORDS;

pub use write_model::shortest;

/// The stages of a `tokenizer.json`.
///
/// The ids of added tokens are those that `tokenizers` gives them, whatever the file says: see
/// [`assign_ids`].
///
/// # Errors
/// The first thing that is not as it should be, with its place in the file.
pub fn read(file: &[u8]) -> Result<Stages> {
    let read = || {
        let json = Json::parse(file)?;
        let root = Node::root(&json, false);
        read_version(&root)?;
        stages(Parts::read(&root)?, &root.field("model")?)
    };
    read().map_err(|error| error.at("tokenizer.json"))
}

/// The stages of JSON in the shape of `tokenizer.json`, which may also hold the pre-tokenizer
/// `Matches`, SentencePiece's normalizer and decoder and the model `Characters`, and needs no
/// version. Where `model` is given, it takes the place of one in the JSON, and the ids of added
/// tokens are as they are written.
///
/// # Errors
/// As [`read`].
pub fn read_stages(json: &[u8], model: Option<Model>) -> Result<Stages> {
    let json = Json::parse(json)?;
    let root = Node::root(&json, true);
    let mut parts = Parts::read(&root)?;
    let Some(model) = model else {
        return stages(parts, &root.field("model")?);
    };
    if model.has_raw_tokens() {
        read_byte_level::lift(parts.pre_tokenizer.as_mut(), parts.decoder.as_mut());
    }
    Ok(parts.with(model))
}

/// The stages around a model.
struct Parts {
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    post_processor: Option<PostProcessor>,
    decoder: Option<Decoder>,
    truncation: Option<String>,
    padding: Option<String>,
}

impl Parts {
    fn read(root: &Node<'_>) -> Result<Self> {
        fn part<T>(
            root: &Node<'_>,
            name: &str,
            read: impl Fn(&Node<'_>) -> Result<T>,
        ) -> Result<Option<T>> {
            root.optional(name)?.map(|node| read(&node)).transpose()
        }
        let text = |node: &Node<'_>| node.fields().map(|_| node.json.to_value().to_string());
        Ok(Self {
            normalizer: part(root, "normalizer", normalizer::read)?,
            pre_tokenizer: part(root, "pre_tokenizer", pre_tokenizer::read)?,
            post_processor: part(root, "post_processor", post_processor::read)?,
            decoder: part(root, "decoder", decoder::read)?,
            added_tokens: part(root, "added_tokens", |node| node.list(read_added_token))?
                .unwrap_or_default(),
            truncation: part(root, "truncation", text)?,
            padding: part(root, "padding", text)?,
        })
    }

    fn with(self, model: Model) -> Stages {
        Stages {
            added_tokens: self.added_tokens,
            normalizer: self.normalizer,
            pre_tokenizer: self.pre_tokenizer,
            model,
            post_processor: self.post_processor,
            decoder: self.decoder,
            truncation: self.truncation,
            padding: self.padding,
        }
    }
}

fn read_version(root: &Node<'_>) -> Result<()> {
    match root.optional("version")? {
        Some(version) if version.str()? != "1.0" => Err(version.error(format!(
            "version {:?} is not known, only \"1.0\"",
            version.str()?
        ))),
        _ => Ok(()),
    }
}

fn read_added_token(node: &Node<'_>) -> Result<AddedToken> {
    let flag = |name: &str| node.field(name)?.bool();
    Ok(AddedToken {
        id: node.field("id")?.u32()?,
        content: node.field("content")?.string()?,
        special: flag("special")?,
        single_word: flag("single_word")?,
        lstrip: flag("lstrip")?,
        rstrip: flag("rstrip")?,
        normalized: flag("normalized")?,
    })
}

/// The stages around the model that `node` describes.
fn stages(mut parts: Parts, node: &Node<'_>) -> Result<Stages> {
    let entries = model::read_entries(node)?;
    let added_tokens = std::mem::take(&mut parts.added_tokens);
    let ids: HashMap<&str, u32> = {
        let contents = added_tokens.iter().map(|token| token.content.as_str());
        let contents: HashSet<&str> = contents.collect();
        let in_model = entries
            .iter()
            .filter(|(token, _)| contents.contains::<str>(token));
        in_model.copied().collect()
    };
    parts.added_tokens = assign_ids(added_tokens, entries.len() as u32, |content| {
        ids.get(content).copied()
    });
    let left_out = read_byte_level::left_out(
        node,
        &entries,
        parts.normalizer.as_ref(),
        parts.pre_tokenizer.as_ref(),
        parts.decoder.as_ref(),
        &parts.added_tokens,
    )?;
    if left_out.is_some() {
        read_byte_level::lift(parts.pre_tokenizer.as_mut(), parts.decoder.as_mut());
    }
    let model = model::read(node, &entries, left_out.as_ref())?;
    if node.is_of_type(SUPERWORDS)? {
        return superwords(parts, model, node);
    }
    Ok(parts.with(model))
}

/// The stages of a model of superwords, which splits text into words itself.
fn superwords(mut parts: Parts, words: Model, node: &Node<'_>) -> Result<Stages> {
    let Some(pattern) = parts.pre_tokenizer.take() else {
        return Err(node.error("superwords need a pre_tokenizer that splits text into words"));
    };
    let words = words.try_into().map_err(|error| node.locate(error))?;
    let model = model::read_superwords(node, words, pattern)?;
    Ok(parts.with(Model::Superwords(Box::new(model))))
}

/// The `tokenizer.json` of these stages. Read again, it gives equal ones, unless the tokenizer
/// came from a format whose conventions this one spells differently, as tiktoken's ranks and
/// SentencePiece's scores, which become merges, and characters, which become words of one; ids are
/// the same in any case. The [`aliases`] of special tokens are left out.
///
/// # Errors
/// What the format cannot hold, by name.
pub fn write(stages: &Stages) -> Result<String> {
    pretty(fields(stages)?)
}

/// The stages as [`read`] gives them after [`write()`].
///
/// # Errors
/// As [`write()`].
pub fn respelled(stages: &Stages) -> Result<Stages> {
    read(Value::Object(fields(stages)?).to_string().as_bytes())
}

/// What a file holds.
fn fields(stages: &Stages) -> Result<Map<String, Value>> {
    stages.ask_for_room(1024);
    let outside = |model: &Superwords| {
        if stages.pre_tokenizer.is_some() {
            let message = "a pre-tokenizer in front of a model that splits text into words itself";
            return Err(cannot_hold(TOKENIZER_JSON, message.to_owned()));
        }
        write_byte_level::spell_out(&Stages {
            pre_tokenizer: Some(model.pattern().clone()),
            ..stages.clone()
        })
    };
    let stages = match &stages.model {
        Model::Superwords(model) => Cow::Owned(outside(model)?),
        model if model.has_raw_tokens() => Cow::Owned(write_byte_level::spell_out(stages)?),
        Model::Characters(model) => Cow::Owned(characters_as_words(model, stages)?),
        _ => Cow::Borrowed(stages),
    };
    let stages = without_aliases(stages);
    check_ids(&stages)?;
    let mut fields = write_parts(&stages, &stages.added_tokens, false)?;
    let extra = tokens_out_of_order(&stages);
    for (content, id) in &extra {
        check_out_of_reach(&stages, content, *id)?;
    }
    fields.insert(
        "model".to_owned(),
        write_model::write(&stages.model, &extra)?,
    );
    Ok(fields)
}

/// A model of characters as one of words, after a split into single characters: an unseen character
/// is the unknown token there too, or an error where there is none.
fn characters_as_words(model: &Characters, stages: &Stages) -> Result<Stages> {
    let vocab = model.vocab();
    let unknown = match model.unk_id().and_then(|id| vocab.token(id)) {
        Some(token) => String::from_utf8_lossy(token).into_owned(),
        None => {
            let mut name = "<unk>".to_owned();
            let is_added = |name: &str| stages.added_tokens.iter().any(|t| t.content == name);
            while vocab.id(name.as_bytes()).is_some() || is_added(&name) {
                name.insert(1, '_');
            }
            name
        }
    };
    let cut = PreTokenizer::FixedLength { length: 1 };
    Ok(Stages {
        model: Model::WordLevel(WordLevel::new(vocab.clone(), unknown)),
        pre_tokenizer: Some(match stages.pre_tokenizer.clone() {
            None => cut,
            Some(first) => PreTokenizer::Sequence(vec![first, cut]),
        }),
        ..stages.clone()
    })
}

/// The stages but for the model and the added tokens, which may be very many, as [`read_stages`] reads
/// them.
///
/// # Errors
/// A pattern of another dialect than its place in the format has.
pub fn write_stages(stages: &Stages) -> Result<String> {
    pretty(write_parts(stages, &[], true)?)
}

/// A normalizer and a pre-tokenizer, each in one line of JSON, of which equal ones are equal.
///
/// # Errors
/// As [`write_stages`].
pub fn write_first(
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
) -> Result<(Option<String>, Option<String>)> {
    let line = |json: Value| json.to_string();
    let normalizer = normalizer.map(|stage| normalizer::write(stage, true).map(line));
    let pre_tokenizer = pre_tokenizer.map(|stage| pre_tokenizer::write(stage, true).map(line));
    Ok((normalizer.transpose()?, pre_tokenizer.transpose()?))
}

/// A function of the caller, which is in no file.
fn read_function(node: &Node<'_>) -> Result<Function> {
    let number = node.field("number")?.usize()? as u64;
    Function::known(number).ok_or_else(|| node.error("a function that no longer exists"))
}

fn write_function(stage: &str, function: &Function, extended: bool) -> Result<Value> {
    if extended {
        Ok(json!({"type": "Function", "number": function.number()}))
    } else {
        Err(cannot_hold(
            TOKENIZER_JSON,
            format!("the {stage}, which is a function of Python"),
        )
        .hint("pickle the tokenizer, or save it without the function and set that after loading"))
    }
}

fn pretty(fields: Map<String, Value>) -> Result<String> {
    let mut text = Text(Vec::new());
    serde_json::to_writer_pretty(&mut text, &fields)
        .map_err(|error| Error::new(ErrorKind::Unsupported, error.to_string()))?;
    Ok(String::from_utf8(text.0).expect("JSON is UTF-8"))
}

/// JSON that is being written, which ends where nobody waits for it, or there is no room.
struct Text(Vec<u8>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        interrupt::poll();
        room::reserve(&mut self.0, bytes.len());
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_parts(
    stages: &Stages,
    added_tokens: &[AddedToken],
    extended: bool,
) -> Result<Map<String, Value>> {
    let json_text = |text: &Option<String>| match text {
        None => Ok(Value::Null),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Error::new(ErrorKind::Format, error.to_string())),
    };
    let normalizer = stages.normalizer.as_ref();
    let normalizer = normalizer.map(|stage| normalizer::write(stage, extended));
    let pre_tokenizer = stages.pre_tokenizer.as_ref();
    let pre_tokenizer = pre_tokenizer.map(|stage| pre_tokenizer::write(stage, extended));
    let decoder = stages.decoder.as_ref();
    let decoder = decoder.map(|stage| decoder::write(stage, extended));
    let mut fields = Map::new();
    let mut field = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    field("version", "1.0".into());
    field("truncation", json_text(&stages.truncation)?);
    field("padding", json_text(&stages.padding)?);
    let added_tokens = added_tokens.iter().map(write_added_token);
    field("added_tokens", added_tokens.collect());
    field("normalizer", normalizer.transpose()?.into());
    field("pre_tokenizer", pre_tokenizer.transpose()?.into());
    field(
        "post_processor",
        stages
            .post_processor
            .as_ref()
            .map(post_processor::write)
            .into(),
    );
    field("decoder", decoder.transpose()?.into());
    Ok(fields)
}

fn write_added_token(token: &AddedToken) -> Value {
    json!({
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    })
}

/// The special tokens that share the id of another one, which decoding gives: the format has one
/// token an id.
pub fn aliases(stages: &Stages) -> impl Iterator<Item = &AddedToken> {
    let pairs = stages.added_tokens.windows(2);
    pairs.filter_map(|pair| (pair[0].id == pair[1].id).then_some(&pair[1]))
}

fn without_aliases(mut stages: Cow<'_, Stages>) -> Cow<'_, Stages> {
    if aliases(&stages).next().is_some() {
        stages.to_mut().added_tokens.dedup_by_key(|token| token.id);
    }
    stages
}

/// The error of a stage that a SentencePiece model has and this format has not.
fn only_sentencepiece(stage: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("tokenizer.json has no {stage} that does what SentencePiece's does"),
    )
    .at(stage)
    .hint("convert the tokenizer first, which checks that its meaning is kept")
}
