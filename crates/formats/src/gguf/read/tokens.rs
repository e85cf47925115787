//! The tokens of a GGUF: their texts, and their types as llama.cpp corrects them.

use hashbrown::HashSet;

use crate::gguf::container::Metadata;
use crate::gguf::{PRE, TOKENS, TYPES, Type};
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::vocab::{MAX_ID, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// The tokens that end a turn or an answer. llama.cpp treats them as control tokens whatever the file says.
const CONTROL: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
];

/// The tokens of gpt-oss that llama.cpp shows in answers, whatever the file says.
const SHOWN: &[&str] = &["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"];

/// The tokens of a file.
pub struct Tokens {
    pub texts: Vec<String>,
    pub types: Vec<Type>,
    /// Whether each token includes the white space before it, and the white space after it.
    strips: Vec<(bool, bool)>,
}

impl Tokens {
    pub fn read(metadata: &Metadata) -> Result<Self> {
        let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
        let Some(listed) = metadata.texts(TOKENS)? else {
            return broken(format!("there is no {TOKENS}"));
        };
        if listed.len() > MAX_ID as usize + 1 {
            return broken(format!("{TOKENS}: {} tokens are too many", listed.len()));
        }
        let mut texts = Vec::with_capacity(listed.len());
        for (id, text) in listed.iter().enumerate() {
            match std::str::from_utf8(text) {
                Ok("") => texts.push(format!("[EMPTY_{id}]")),
                Ok(text) => texts.push(text.to_owned()),
                Err(_) => {
                    return broken(format!(
                        "{TOKENS}: token {id}, {}, is not UTF-8",
                        show(text)
                    ));
                }
            }
        }
        let types = match metadata.numbers(TYPES)? {
            None => vec![Type::Normal; texts.len()],
            Some(types) if types.len() < texts.len() => {
                return broken(format!(
                    "{TYPES} has {} types for {} tokens",
                    types.len(),
                    texts.len()
                ));
            }
            Some(types) => types.into_iter().map(Type::of).collect(),
        };
        let strips = vec![(false, false); texts.len()];
        let mut tokens = Self {
            texts,
            types,
            strips,
        };
        tokens.types.truncate(tokens.texts.len());
        tokens.correct_types();
        tokens.read_strips(metadata)?;
        Ok(tokens)
    }

    /// Corrects types by the names of tokens, as llama.cpp does.
    fn correct_types(&mut self) {
        let mut seen = HashSet::new();
        for (text, kind) in self.texts.iter().zip(&mut self.types) {
            let text = text.as_str();
            if let Some(known) = CONTROL.iter().find(|known| **known == text) {
                seen.insert(*known);
                *kind = Type::Control;
            }
            if SHOWN.contains(&text) {
                *kind = Type::UserDefined;
            }
        }
        let has = |names: &[&str]| names.iter().all(|name| seen.contains(name));
        let turns_end_otherwise = has(&["<|return|>", "<|call|>"])
            || (has(&["<|flush|>"]) && (has(&["<|call|>"]) || has(&["<|calls|>"])));
        let changed = [
            (turns_end_otherwise, "<|end|>", Type::UserDefined),
            (has(&["<|tool_response>"]), "</s>", Type::Normal),
        ];
        for (_, name, kind) in changed.into_iter().filter(|(is_so, ..)| *is_so) {
            if let Some(at) = self.texts.iter().position(|text| text == name) {
                self.types[at] = kind;
            }
        }
    }

    /// Sets which tokens take white space. llama.cpp decides that by the name of the model.
    fn read_strips(&mut self, metadata: &Metadata) -> Result<()> {
        let of = |key| Ok::<_, Error>(metadata.text(key)?.unwrap_or_default().to_lowercase());
        let (name, pre) = (of("general.name")?, of(PRE)?);
        let architecture = of("general.architecture")?;
        let any = |text: &str, parts: &[&str]| parts.iter().any(|part| text.contains(part));
        let all = self.texts.iter().zip(&self.types).zip(&mut self.strips);
        if any(&pre, &["jina-v2-de", "jina-v2-es", "jina-v2-code"])
            || any(&architecture, &["nomic-bert-moe", "jina-bert-v3"])
        {
            for ((text, _), strip) in all {
                strip.0 = text == "<mask>";
            }
        } else if any(&name, &["phi-3", "phi3"]) {
            for ((text, kind), strip) in all {
                let is_found = !matches!(kind, Type::Normal | Type::Unused | Type::Byte);
                let is_plain = matches!(text.as_str(), "<unk>" | "<s>" | "<|endoftext|>");
                strip.1 = (is_found && !is_plain) || text == "</s>";
            }
        } else if any(&name, &["modern-bert"]) {
            for ((text, _), strip) in all {
                strip.0 = text == "[MASK]";
            }
        }
        Ok(())
    }

    /// Turns byte pieces into unused ones, for models in which no text becomes bytes.
    pub fn without_bytes(&mut self) {
        let bytes = self.types.iter_mut().filter(|kind| **kind == Type::Byte);
        bytes.for_each(|kind| *kind = Type::Unused);
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &str, Type)> {
        let all = self.texts.iter().zip(&self.types).zip(0..);
        all.map(|((text, kind), id)| (id, text.as_str(), *kind))
    }

    /// The tokens that are found by their spelling.
    pub fn added(&self) -> Vec<AddedToken> {
        let found = self.iter().filter_map(|(id, text, kind)| {
            let token = match kind {
                Type::Control | Type::Unknown => AddedToken::special(id, text),
                Type::UserDefined => AddedToken::plain(id, text),
                Type::Normal | Type::Unused | Type::Byte => return None,
            };
            let (lstrip, rstrip) = self.strips[id as usize];
            Some(AddedToken {
                lstrip,
                rstrip,
                ..token
            })
        });
        found.collect()
    }

    pub fn is_control(&self, id: u32) -> bool {
        let kind = self.types.get(id as usize);
        kind.is_some_and(|kind| matches!(kind, Type::Control | Type::Unknown))
    }

    pub fn text(&self, id: u32) -> Option<&str> {
        self.texts.get(id as usize).map(String::as_str)
    }

    /// The id in a key, if there is such a token.
    pub fn id(&self, metadata: &Metadata, key: &str) -> Result<Option<u32>> {
        let id = metadata.number(key)?.and_then(|id| u32::try_from(id).ok());
        Ok(id.filter(|id| (*id as usize) < self.texts.len()))
    }
}

impl Type {
    fn of(number: i128) -> Self {
        match number {
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            // llama.cpp treats any other number as text.
            _ => Self::Normal,
        }
    }
}
