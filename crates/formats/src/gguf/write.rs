//! Writes a tokenizer: from stages to the keys of a GGUF.
//!
//! The written file is read back, and must be the same tokenizer except for what is listed as left out.

use hashbrown::{HashMap, HashSet};

use super::container::{Kind, Metadata, Value};
use super::pre::{self, Pre};
use super::read;
use super::read::bert_normalizer;
use super::{
    ADD_BOS, ADD_EOS, CHARSMAP, LOWERCASE, MERGES, MODEL, PART, PRE, PREFIX, REMOVE_EXTRA, ROLES,
    SCORES, SPACE_PREFIX, STRIP_ACCENTS, TEMPLATE, TOKENS, TYPES, Type, key_of,
};
use crate::cannot_hold::{Part, cannot_hold, parts_not_held, stage};
use jeton_models::model::bpe::{Alphabet, BpeOptions};
use jeton_models::model::sentencepiece::spec::{Algorithm, PieceKind};
use jeton_models::model::{Bpe, LongestMatch, Model, Sampler, Sampling, SentencePiece, WordPiece};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::{PostProcessor, Sequence, TemplatePiece};
use jeton_stages::vocab::{MAX_ID, Vocab, show};
use jeton_text::error::{Error, Result};
use jeton_text::printable;

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

    fn put_bpe(&mut self, stages: &Stages, bpe: &Bpe) -> Result<usize> {
        let Some((pre, differs)) = pre_of(stages) else {
            let stage = stage("pre-tokenizer", stages.pre_tokenizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage}: llama.cpp has no such way to split text"),
            ));
        };
        self.left_out.extend(differs.map(str::to_owned));
        if stages.normalizer.is_some() {
            let stage = stage("normalizer", stages.normalizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage}: llama.cpp does not normalize text for such a model"),
            )
            .hint("remove it with replace(normalizer=None) to save the rest for llama.cpp"));
        }
        let options = bpe.options();
        if options.has_affixes() || options.byte_fallback || options.unk_token.is_some() {
            return Err(cannot_hold(GGUF, "these options of a BPE model"));
        }
        let list = bpe.merges();
        if let Some(token) = wrongly_whole(bpe, pre.ignore_merges, &list.merges) {
            return Err(cannot_hold(
                GGUF,
                if pre.ignore_merges {
                    format!(
                        "merges that do not make {token}: llama.cpp takes it whole where it splits text \
                         as {:?}",
                        pre.names[0]
                    )
                } else {
                    format!(
                        "the token {token}, which no merges make: llama.cpp takes no word whole where it \
                         splits text as {:?}",
                        pre.names[0]
                    )
                },
            ));
        }
        self.written.set(MODEL, Value::text("gpt2"));
        self.written.set(PRE, Value::text(pre.names[0]));
        let spelled = |token: &[u8]| Ok(printable::encode(token));
        let count = self.put_tokens(stages, bpe.vocab(), spelled, padding)?;
        let merges = list.merges.iter().map(|(left, right)| {
            let spelled = |id: &u32| printable::encode(bpe.vocab().token(*id).unwrap_or_default());
            format!("{} {}", spelled(left), spelled(right))
        });
        self.written.set(MERGES, Value::Texts(merges.collect()));
        self.put_frame(stages)?;
        Ok(count)
    }

    fn put_sentencepiece(&mut self, stages: &Stages, model: &SentencePiece) -> Result<usize> {
        let proto = model.proto();
        let algorithm = proto.trainer().algorithm;
        let name = match algorithm {
            Algorithm::Bpe => "llama",
            Algorithm::Unigram => "t5",
            other => return Err(cannot_hold(GGUF, format!("a {} model", other.name()))),
        };
        let Some(Normalizer::SentencePiece(normalizer)) = &stages.normalizer else {
            let stage = stage("normalizer", stages.normalizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage} before a SentencePiece model"),
            ));
        };
        let white_space = normalizer.white_space();
        let is_bpe = algorithm == Algorithm::Bpe;
        if white_space.suffix || !white_space.escape {
            return Err(cannot_hold(
                GGUF,
                "spaces at the end of words, or spaces that are not written ▁",
            ));
        }
        if is_bpe && (white_space.remove_extra || normalizer.charsmap().is_some()) {
            let what = if white_space.remove_extra {
                "the removal of white space"
            } else {
                "a character map"
            };
            return Err(cannot_hold(GGUF, format!("{what} before a BPE model")));
        }
        if !is_bpe && white_space.remove_extra && !white_space.add_dummy_prefix {
            return Err(cannot_hold(
                GGUF,
                "the removal of white space without a space in front",
            ));
        }
        if is_bpe && !proto.trainer().byte_fallback {
            return Err(cannot_hold(GGUF, "a BPE model without the 256 bytes"));
        }
        if !is_bpe && proto.trainer().byte_fallback {
            return Err(cannot_hold(GGUF, "a Unigram model with byte fallback"));
        }
        let cuts = proto
            .pieces
            .of_kind(PieceKind::UserDefined)
            .next()
            .is_some()
            || stages.added_tokens.iter().any(|token| !token.special);
        if white_space.add_dummy_prefix && !white_space.legacy && cuts {
            return Err(cannot_hold(
                GGUF,
                "a space only in front of the text: llama.cpp puts one after user-defined pieces too",
            ));
        }
        if !white_space.legacy && (white_space.add_dummy_prefix || white_space.remove_extra) {
            self.left_out.push(
                "that no space is put after special tokens in text, as llama.cpp does".to_owned(),
            );
        }
        let mut types = Vec::new();
        let mut texts = Vec::new();
        let mut scores = Vec::new();
        let plain = stages.added_tokens.iter().filter(|token| !token.special);
        let plain: HashSet<u32> = plain.map(|token| token.id).collect();
        for (piece, id) in proto.pieces.iter().zip(0..) {
            let kind = if plain.contains(&id) {
                Type::UserDefined
            } else {
                type_of(piece.kind)
            };
            types.extend((kind as i32).to_le_bytes());
            scores.extend(piece.score.to_le_bytes());
            texts.push(match piece.kind {
                PieceKind::UserDefined => piece.text.replace('▁', " "),
                _ => piece.text.to_owned(),
            });
        }
        let pieces = texts.len();
        let last = stages
            .added_tokens
            .iter()
            .map(|token| token.id as usize + 1);
        let count = last.chain([pieces, self.size]).max().unwrap_or(pieces);
        let mut gaps = 0;
        for id in pieces..count {
            let added = stages
                .added_tokens
                .binary_search_by_key(&id, |it| it.id as usize);
            let (text, kind) = match added.map(|at| &stages.added_tokens[at]) {
                Ok(token) if token.special => (token.content.clone(), Type::Control),
                Ok(token) => (token.content.clone(), Type::UserDefined),
                Err(_) => {
                    gaps += 1;
                    let text = if is_bpe {
                        padding(id)
                    } else {
                        // llama.cpp's Unigram takes an unused token for text, in which spaces are `▁`.
                        format!("[PAD {id}]")
                    };
                    (text, Type::Unused)
                }
            };
            types.extend((kind as i32).to_le_bytes());
            scores.extend(0_f32.to_le_bytes());
            texts.push(text);
        }
        self.name_gaps(gaps);
        self.written.set(MODEL, Value::text(name));
        self.written.set(PRE, Value::text("default"));
        self.written
            .set(TOKENS, Value::Texts(texts.into_iter().collect()));
        self.written.set(SCORES, Value::Numbers(Kind::F32, scores));
        self.written.set(TYPES, Value::Numbers(Kind::I32, types));
        self.written
            .set(SPACE_PREFIX, Value::flag(white_space.add_dummy_prefix));
        if !is_bpe {
            self.written
                .set(REMOVE_EXTRA, Value::flag(white_space.remove_extra));
            let map = &proto.normalizer().precompiled_charsmap;
            if !map.is_empty() {
                self.written
                    .set(CHARSMAP, Value::Numbers(Kind::U8, map.clone()));
            }
        }
        if let Some(id) = model.unk_id() {
            self.written.set(key_of("unk"), Value::id(id));
        }
        self.put_frame(stages)?;
        Ok(count)
    }

    fn put_wordpiece(&mut self, stages: &Stages, model: &WordPiece) -> Result<usize> {
        let Some((lowercase, strip_accents, differs)) = bert_options(stages.normalizer.as_ref())
        else {
            let stage = stage("normalizer", stages.normalizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage} before WordPiece, only BERT's"),
            ));
        };
        self.left_out.extend(differs.map(str::to_owned));
        if model.continuing_subword_prefix() != "##" {
            return Err(cannot_hold(
                GGUF,
                "a continuing_subword_prefix other than ##",
            ));
        }
        let frame = stages.post_processor.as_ref().and_then(frame_of);
        let Some((Some(cls), Some(sep))) = frame else {
            let stage = stage("post-processor", stages.post_processor.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage} after WordPiece, only one with a token at each end"),
            ));
        };
        if model.max_input_chars_per_word() < u32::MAX as usize {
            let limit = model.max_input_chars_per_word();
            self.left_out.push(format!(
                "that a word of more than {limit} characters is unknown: llama.cpp splits it"
            ));
        }
        self.written.set(MODEL, Value::text("bert"));
        self.written.set(PRE, Value::text("default"));
        let unknown = model.unk_token();
        let spelled = |token: &[u8]| {
            let text = std::str::from_utf8(token).map_err(|_| not_text(token))?;
            let is_name = text == unknown || (text.starts_with('[') && text.ends_with(']'));
            Ok(match text.strip_prefix("##") {
                _ if is_name => text.to_owned(),
                Some(rest) if !rest.is_empty() && !rest.starts_with('▁') => rest.to_owned(),
                Some(_) => return Err(cannot_hold(GGUF, format!("the token {text:?}"))),
                None => format!("▁{text}"),
            })
        };
        let count = self.put_tokens(stages, model.vocab(), spelled, padding)?;
        self.written.set(LOWERCASE, Value::flag(lowercase));
        self.written.set(STRIP_ACCENTS, Value::flag(strip_accents));
        if let Some(id) = model.vocab().id(unknown.as_bytes()) {
            self.written.set(key_of("unk"), Value::id(id));
        }
        self.written.set(key_of("bos"), Value::id(cls));
        self.written.set(key_of("cls"), Value::id(cls));
        self.written.set(key_of("sep"), Value::id(sep));
        Ok(count)
    }

    fn put_longest_match(&mut self, stages: &Stages, model: &LongestMatch) -> Result<usize> {
        self.written.set(MODEL, Value::text("rwkv"));
        // llama.cpp takes any token for text here, and no text holds this byte.
        let padding = |id| format!("\\xff{}", padding(id));
        let count = self.put_tokens(stages, model.vocab(), |token| Ok(escaped(token)), padding)?;
        if stages.post_processor.is_some() {
            let stage = stage("post-processor", stages.post_processor.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage}: llama.cpp adds nothing here"),
            ));
        }
        Ok(count)
    }

    /// Writes the tokens of a vocabulary and the added ones; returns their number.
    fn put_tokens(
        &mut self,
        stages: &Stages,
        vocab: &Vocab,
        spelled: impl Fn(&[u8]) -> Result<String>,
        padding: impl Fn(usize) -> String,
    ) -> Result<usize> {
        let last = stages.added_tokens.iter().map(|token| token.id);
        let sizes = last.chain(vocab.max_id()).map(|id| id as usize + 1);
        let count = sizes.chain([self.size]).max().unwrap_or(0);
        let mut texts: Vec<Option<(String, Type)>> = vec![None; count];
        for (token, id) in vocab.iter() {
            if texts[id as usize].is_none() {
                let is_added = stages
                    .added_tokens
                    .binary_search_by_key(&id, |it| it.id)
                    .is_ok();
                if !is_added {
                    texts[id as usize] = Some((spelled(token)?, Type::Normal));
                }
            }
        }
        for token in &stages.added_tokens {
            let kind = if token.special {
                Type::Control
            } else {
                Type::UserDefined
            };
            let held = texts[token.id as usize].replace((token.content.clone(), kind));
            if held.is_some() {
                let what = format!(
                    "{:?}, which shares its id with another token",
                    token.content
                );
                return Err(cannot_hold(GGUF, what));
            }
        }
        self.name_gaps(texts.iter().filter(|text| text.is_none()).count());
        let types = texts.iter().flat_map(|text| {
            let kind = text.as_ref().map_or(Type::Unused, |(_, kind)| *kind);
            (kind as i32).to_le_bytes()
        });
        self.written
            .set(TYPES, Value::Numbers(Kind::I32, types.collect()));
        let texts = texts.into_iter().enumerate();
        let texts = texts.map(|(id, text)| text.map_or_else(|| padding(id), |it| it.0));
        let texts: Vec<String> = texts.collect();
        let mut seen = HashSet::with_capacity(count);
        let twice = texts
            .iter()
            .find(|text| !seen.insert(text.as_str()))
            .cloned();
        drop(seen);
        if let Some(twice) = twice {
            return Err(cannot_hold(
                GGUF,
                format!("two tokens, which it would both spell {twice:?}"),
            ));
        }
        self.written
            .set(TOKENS, Value::Texts(texts.into_iter().collect()));
        Ok(count)
    }

    /// Lists ids without a token as left out.
    fn name_gaps(&mut self, gaps: usize) {
        if gaps > 0 {
            self.left_out.push(format!(
                "the {gaps} ids without a token, which become tokens that no text produces"
            ));
        }
    }

    /// Writes the special tokens in front of a text and after it.
    fn put_frame(&mut self, stages: &Stages) -> Result<()> {
        let (before, after) = match &stages.post_processor {
            None | Some(PostProcessor::ByteLevel { .. }) => (None, None),
            Some(other) => frame_of(other).ok_or_else(|| {
                let stage = stage("post-processor", Some(other));
                cannot_hold(
                    GGUF,
                    format!("{stage} that adds more than one token in front and one at the end"),
                )
            })?,
        };
        self.written.set(ADD_BOS, Value::flag(before.is_some()));
        self.written.set(ADD_EOS, Value::flag(after.is_some()));
        for (role, id) in [("bos", before), ("eos", after)] {
            if let Some(id) = id {
                self.written.set(key_of(role), Value::id(id));
            }
        }
        Ok(())
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

/// The spelling of an id without a token, as llama.cpp's converter has it.
fn padding(id: usize) -> String {
    format!("[PAD{id}]")
}

fn not_text(token: &[u8]) -> Error {
    cannot_hold(
        GGUF,
        format!("the token {}, which is not text", show(token)),
    )
}

fn type_of(kind: PieceKind) -> Type {
    match kind {
        PieceKind::Normal => Type::Normal,
        PieceKind::Unknown => Type::Unknown,
        PieceKind::Control => Type::Control,
        PieceKind::UserDefined => Type::UserDefined,
        PieceKind::Unused => Type::Unused,
        PieceKind::Byte => Type::Byte,
    }
}

/// The token in front of a text, and the one after it.
type Ends = (Option<u32>, Option<u32>);

fn frame_of_any(post_processor: &Option<PostProcessor>) -> Option<Ends> {
    match post_processor {
        None => Some((None, None)),
        Some(post_processor) => frame_of(post_processor),
    }
}

/// The tokens that a post-processor puts around a text, if there is at most one at each end.
fn frame_of(post_processor: &PostProcessor) -> Option<Ends> {
    match post_processor {
        PostProcessor::ByteLevel { .. } => Some((None, None)),
        PostProcessor::Bert { sep, cls } | PostProcessor::Roberta { sep, cls, .. } => {
            Some((Some(cls.1), Some(sep.1)))
        }
        PostProcessor::Sequence(steps) => {
            let mut adding = steps.iter().filter(|step| step.added(false) > 0);
            match (adding.next(), adding.next()) {
                (None, _) => Some((None, None)),
                (Some(one), None) => frame_of(one),
                _ => None,
            }
        }
        PostProcessor::Template {
            single,
            special_tokens,
            ..
        } => {
            let id = |name: &str| {
                let token = special_tokens.iter().find(|token| token.id == name)?;
                match token.ids[..] {
                    [id] => Some(id),
                    _ => None,
                }
            };
            let text = |piece: &TemplatePiece| {
                matches!(
                    piece,
                    TemplatePiece::Sequence {
                        id: Sequence::A,
                        ..
                    }
                )
            };
            let special = |piece: &TemplatePiece| match piece {
                TemplatePiece::SpecialToken { id: name, .. } => id(name),
                TemplatePiece::Sequence { .. } => None,
            };
            match single.as_slice() {
                [one] if text(one) => Some((None, None)),
                [first, one] if text(one) => Some((Some(special(first)?), None)),
                [one, last] if text(one) => Some((None, Some(special(last)?))),
                [first, one, last] if text(one) => {
                    Some((Some(special(first)?), Some(special(last)?)))
                }
                _ => None,
            }
        }
    }
}

/// llama.cpp's way to split text as these stages do, and how rare texts differ.
fn pre_of(stages: &Stages) -> Option<(&'static Pre, Option<&'static str>)> {
    let expressions = pre::expressions_of(stages.pre_tokenizer.as_ref()?)?;
    let takes_whole = matches!(&stages.model, Model::Bpe(bpe) if bpe.takes_whole_pieces());
    // Of ways that split alike, one that takes words whole just as the model does comes first.
    let by_fit = |fits: fn(&Pre, &pre::Expressions) -> bool| {
        let all = pre::PRES.iter();
        let all: Vec<&Pre> = all
            .filter(|pre| !pre.is_text && fits(pre, &expressions))
            .collect();
        let like = |pre: &&&Pre| pre.ignore_merges == takes_whole;
        all.iter().find(like).or(all.first()).copied()
    };
    by_fit(Pre::is).map(|pre| (pre, None)).or_else(|| {
        let pre = by_fit(Pre::means)?;
        Some((pre, pre.meant.map(|(_, differs)| differs)))
    })
}

/// A token that llama.cpp takes whole and the model does not, or the other way round.
fn wrongly_whole(bpe: &Bpe, takes_whole: bool, merges: &[(u32, u32)]) -> Option<String> {
    if bpe.takes_whole_pieces() == takes_whole {
        return None;
    }
    // By merges alone, as one of the two splits words.
    let plain = BpeOptions {
        ignore_merges: false,
        ..bpe.options().clone()
    };
    let vocab = bpe.vocab();
    let token = |id: u32| vocab.token(id).unwrap_or_default().to_vec();
    let merges = merges
        .iter()
        .map(|(left, right)| (token(*left), token(*right)));
    let alone = Model::Bpe(Bpe::by_merges(vocab.clone(), merges, plain).ok()?);
    let mut sampler = Sampler::new(Sampling::default());
    let mut tokens = Vec::new();
    let mut texts = vocab.texts();
    let mut is_merged = |text: &str, id: u32| {
        tokens.clear();
        let done = alone.tokenize(text, &mut sampler, &mut tokens);
        done.is_ok() && matches!(tokens.as_slice(), [only] if only.id == id)
    };
    let found = texts.find(|(token, id)| match std::str::from_utf8(token) {
        Ok(text) => !is_merged(text, *id),
        Err(_) => false,
    });
    found.map(|(token, _)| show(token))
}

/// Whether a normalizer lower-cases text and strips accents, if it is BERT's or llama.cpp's form of that; and
/// how BERT's differs.
fn bert_options(normalizer: Option<&Normalizer>) -> Option<(bool, bool, Option<&'static str>)> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let mut flags = flags.into_iter();
    if let Some((lowercase, strip_accents)) = flags
        .find(|(lowercase, accents)| Some(&bert_normalizer(*lowercase, *accents)) == normalizer)
    {
        return Some((lowercase, strip_accents, None));
    }
    match normalizer {
        Some(Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents,
            lowercase,
        }) => Some((
            *lowercase,
            strip_accents.unwrap_or(*lowercase),
            Some(
                "that vowel signs and Hangul syllables stay whole: llama.cpp strips parts of them",
            ),
        )),
        _ => None,
    }
}

/// The spelling of a token as in a `bytes` literal of Python.
fn escaped(token: &[u8]) -> String {
    let mut text = String::new();
    for chunk in token.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str(r"\\"),
                '\t' => text.push_str(r"\t"),
                '\n' => text.push_str(r"\n"),
                '\r' => text.push_str(r"\r"),
                control if control.is_ascii_control() => {
                    text.push_str(&format!("\\x{:02x}", control as u32));
                }
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}
