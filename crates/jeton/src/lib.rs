#![doc = include_str!("../README.md")]

use std::ops::ControlFlow;
use std::path::Path;

pub use jeton_core::format::LoadOptions;
pub use jeton_core::train::bpe::{BpeTrainer, TieBreak};
pub use jeton_core::{Error, ErrorKind, Result};

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::convert::for_json;
use jeton_core::decoder::Decoder;
use jeton_core::format::huggingface;
use jeton_core::model::Model;
use jeton_core::pre_tokenizer::named;
use jeton_core::train::Trainer;
use jeton_core::train::word_counts::{CountingOptions, FirstStages, WordCounter};
use jeton_core::{DecodeOptions, EncodeOptions, InvalidUtf8, Stages, convert};

/// A tokenizer: text to ids and back. It never changes, and threads may share it.
#[derive(Debug)]
pub struct Tokenizer {
    core: jeton_core::Tokenizer,
}

impl Tokenizer {
    /// The tokenizer of a file or folder, in any format that jeton knows by its content:
    /// `tokenizer.json`, GPT-2's pair, a SentencePiece `.model`, a GGUF, `vocab.txt`, ranks.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged, with the place; ranks that say no pattern, for which
    /// [`load_with`](Self::load_with) takes one.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_with(path, &LoadOptions::default())
    }

    /// As [`load`](Self::load), with what the file does not say.
    ///
    /// # Errors
    /// As [`load`](Self::load); an option that the format does not take.
    pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self> {
        let core = jeton_core::Tokenizer::load(path.as_ref(), options)?;
        Ok(Self { core })
    }

    /// The tokenizer of a file that your program has read itself, as in the page of a browser. Errors call the
    /// file `name`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let core =
            jeton_core::Tokenizer::from_bytes(name.as_ref(), bytes, &LoadOptions::default())?;
        Ok(Self { core })
    }

    /// The contents of a `tokenizer.json`, for jeton, tokenizers and transformers.
    ///
    /// # Errors
    /// What the format cannot hold, by name.
    pub fn to_json(&self) -> Result<String> {
        let stages = for_json(self.core.stages())?;
        huggingface::write(&stages)
    }

    /// Writes the tokenizer in the format that the name says (`.json`, `.model`, `.tiktoken`, a folder),
    /// and returns what the format cannot hold, a sentence each.
    ///
    /// # Errors
    /// A format that cannot hold this tokenizer; a place that cannot be written. A file is written beside
    /// its place and then renamed, so a failure leaves an old one whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Vec<String>> {
        convert::serialize(self.core.stages(), path.as_ref())?.write()
    }

    /// The ids of a text. Special tokens that it spells stay text, and none are added around it.
    ///
    /// # Errors
    /// Text that the model has no token for.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        self.core.encode_ids(text, &EncodeOptions::PLAIN)
    }

    /// The ids of a text that your program put together: special tokens are found in it, and those that
    /// belong around a text are added. Never for text of users.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_with_special(&self, text: &str) -> Result<Vec<u32>> {
        let options = EncodeOptions {
            special: SpecialPolicy::Allow,
            add_special_tokens: true,
            ..EncodeOptions::PLAIN
        };
        self.core.encode_ids(text, &options)
    }

    /// How many ids [`encode`](Self::encode) gives, without making them.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn count(&self, text: &str) -> Result<usize> {
        self.core.count(text, &EncodeOptions::PLAIN)
    }

    /// The text of ids, special tokens included; bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// An id that has no token.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let options = DecodeOptions::from(false);
        self.core.decode(ids, &options, InvalidUtf8::Replace)
    }

    /// The id of a token with this spelling, added and special tokens included.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.core.stages().bytes_to_id(token.as_bytes())
    }

    /// All that jeton can do with it.
    pub fn core(&self) -> &jeton_core::Tokenizer {
        &self.core
    }
}

/// Learns byte-level BPE from texts. `pattern` splits them into words first: the name of a published
/// one, such as `"gpt2"` or `"gpt4"`, or a regular expression. The trainer's special tokens are special
/// tokens of the tokenizer.
///
/// # Errors
/// A parameter that makes no sense, by name; an unknown or broken pattern.
pub fn train_bpe<T: AsRef<str> + Sync>(
    trainer: &BpeTrainer,
    pattern: &str,
    texts: &[T],
) -> Result<Tokenizer> {
    let pre_tokenizer = Some(named::from_pattern(pattern)?);
    let stages = FirstStages::new(Vec::new(), None, pre_tokenizer.clone())?;
    let mut counter = WordCounter::new(stages, CountingOptions::default());
    counter.count(texts)?;
    let words = counter.finish()?.counts;
    let model = Model::Bpe(trainer.train(&words, |_| ControlFlow::Continue(()))?);
    let mut stages = Stages::of_model(model);
    let special = trainer.special_tokens.iter();
    stages.added_tokens = special
        .filter_map(|token| {
            let id = stages.bytes_to_id(token.as_bytes())?;
            Some(AddedToken::special(id, token))
        })
        .collect();
    stages.pre_tokenizer = pre_tokenizer;
    stages.decoder = Some(Decoder::ByteLevel { printable: false });
    let core = jeton_core::Tokenizer::of_arguments(stages)?;
    Ok(Tokenizer { core })
}
