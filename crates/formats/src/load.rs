//! Loading: the content of a file decides its format.
//!
//! Look here for the options beside a path.

mod folder;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::other_files;
use super::sniff::{self, Format};
use super::{gguf, gpt2, huggingface, llama2c, sentencepiece, tekken, tiktoken, wordpiece};
use crate::special_token_roles::{self, Role};
use folder::load_folder;
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::{AddedToken, check_ids};
use jeton_stages::pre_tokenizer::named;
use jeton_stages::published_ranks;
use jeton_stages::published_ranks::Encoding;
use jeton_stages::vocab::show;
use jeton_text::error::{Error, ErrorKind, Result, did_you_mean};
use jeton_text::files;
use jeton_text::threads::both;

/// Bytes from which on a file is read by two threads.
const LARGE_FILE: usize = 1 << 17;

/// What a caller may say beside the path, for formats whose files do not say it. Saying what the file
/// says itself is an error, so that nothing said is passed over.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The published encoding that ranks are; see [`published_ranks::ENCODINGS`].
    pub encoding: Option<String>,
    /// The pattern that splits text before ranks: the name of one, or a regular expression.
    pub pattern: Option<String>,
    /// The special tokens of ranks or of a GPT-2 pair, with their ids.
    pub special_tokens: Option<Vec<(String, u32)>>,
    /// The `merges.txt` of a `vocab.json`, where it does not lie beside it.
    pub merges: Option<PathBuf>,
    /// Whether a `vocab.txt` lower-cases text; unset means as [`wordpiece::read`] tells.
    pub lowercase: Option<bool>,
}

impl LoadOptions {
    /// Refuses every option but those that `format` takes.
    fn allow(&self, format: &str, taken: &[&str]) -> Result<()> {
        for (name, given) in [
            ("encoding", self.encoding.is_some()),
            ("pattern", self.pattern.is_some()),
            ("special_tokens", self.special_tokens.is_some()),
            ("merges", self.merges.is_some()),
            ("lowercase", self.lowercase.is_some()),
        ] {
            if given && !taken.contains(&name) {
                return Err(Error::new(
                    ErrorKind::Argument,
                    format!("{name} is not accepted for {format}"),
                )
                .hint(format!("leave {name} out")));
            }
        }
        Ok(())
    }
}

/// What a file says: the stages of a tokenizer, and what is told beside them.
#[derive(Debug)]
pub struct Loaded {
    /// The file or the folder that was read, as errors name it.
    pub path: PathBuf,
    /// The stages of the tokenizer.
    pub stages: Stages,
    /// What about the file suggests that it is not what it was meant to be, though the library that
    /// it belongs to reads it in the same way. Each warning names the file.
    pub warnings: Vec<String>,
    /// The roles of special tokens that go with the format or the published encoding, beside those
    /// that the stages tell.
    pub roles: Vec<Role>,
    /// The chat templates in the file, as the files that a folder has for them: names and contents.
    pub beside: Vec<(String, Vec<u8>)>,
}

/// What a file says, or a folder that holds one.
///
/// # Errors
/// Content that shows the mark of no format, or is not what its mark promises, with the place; an
/// option that the format does not take; a pattern that is missing.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded> {
    if path.is_dir() {
        return load_folder(path, options);
    }
    let place = |error: Error| error.at(path.display().to_string());
    if let Some(metadata) = gguf_metadata(path)? {
        let contents = read_gguf(&metadata, options).map_err(place)?;
        return Ok(contents.at(path));
    }
    load_bytes(path, &files::read(path, files::LARGEST)?, options)
}

/// What the bytes of a file say. `name` names them in errors, and its neighbours may be read: the merges of
/// a `vocab.json`.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(name: &Path, bytes: &[u8], options: &LoadOptions) -> Result<Loaded> {
    let contents = if bytes.starts_with(gguf::MAGIC) {
        gguf::Metadata::read(bytes, bytes.len() as u64)
            .and_then(|metadata| read_gguf(&metadata, options))
    } else {
        read(name, bytes, options)
    };
    contents
        .map(|contents| contents.at(name))
        .map_err(|error| error.at(name.display().to_string()))
}

fn read_gguf(metadata: &gguf::Metadata, options: &LoadOptions) -> Result<Contents> {
    options.allow("GGUF files", &[])?;
    let contents = gguf::read(metadata)?;
    Ok(Contents {
        warnings: contents.warnings,
        roles: contents.roles,
        beside: contents.beside,
        ..contents.stages.into()
    })
}

/// Reads a GGUF up to its tensors, which may be larger than memory; `None` for a file of another format.
///
/// # Errors
/// A file that cannot be read; a broken GGUF.
pub fn gguf_metadata(path: &Path) -> Result<Option<gguf::Metadata>> {
    let read_error = |error| files::file_error(path, "read", &error);
    let mut file = BufReader::new(files::open(path)?);
    let length = file.get_ref().metadata().map_err(read_error)?.len();
    if !file
        .fill_buf()
        .map_err(read_error)?
        .starts_with(gguf::MAGIC)
    {
        return Ok(None);
    }
    let metadata = gguf::Metadata::read(file, length);
    let metadata = metadata.map_err(|error| error.at(path.display().to_string()))?;
    Ok(Some(metadata))
}

/// What the bytes of a file say.
struct Contents {
    stages: Stages,
    warnings: Vec<String>,
    roles: Vec<Role>,
    beside: Vec<(String, Vec<u8>)>,
}

impl Contents {
    /// What the file or folder at this path says.
    fn at(self, path: &Path) -> Loaded {
        let warnings = [self.stages.warnings(), self.warnings].concat();
        let name = |warning| format!("{}: {warning}", path.display());
        Loaded {
            path: path.to_owned(),
            stages: self.stages,
            warnings: warnings.into_iter().map(name).collect(),
            roles: self.roles,
            beside: self.beside,
        }
    }
}

impl From<Stages> for Contents {
    fn from(stages: Stages) -> Self {
        Self {
            stages,
            warnings: Vec::new(),
            roles: Vec::new(),
            beside: Vec::new(),
        }
    }
}

fn read(path: &Path, data: &[u8], options: &LoadOptions) -> Result<Contents> {
    if let Some(other) = other_files::other_file(data) {
        let message = format!("this is {}", other.what);
        return Err(Error::new(ErrorKind::Format, message).hint(other.hint));
    }
    let Some(format) = sniff::format_of(data) else {
        return Err(Error::new(
            ErrorKind::Format,
            if data.is_empty() {
                "the file is empty".to_owned()
            } else {
                format!(
                    "this is not a tokenizer of a known format; tried {}",
                    Format::MARKS.join(", ")
                )
            },
        ));
    };
    Ok(match format {
        Format::Ranks => {
            options.allow(format.name(), &["encoding", "pattern", "special_tokens"])?;
            read_ranks(data, options)?
        }
        Format::VocabJson => {
            options.allow(format.name(), &["merges", "special_tokens"])?;
            read_pair(path, data, options)?
        }
        Format::Merges => {
            return Err(Error::new(
                ErrorKind::Argument,
                "each line holds two words: this is a merge list without its vocabulary, or not a tokenizer",
            )
            .hint("load the vocab.json that belongs to it, with this file as merges="));
        }
        Format::HuggingFace => {
            options.allow(format.name(), &[])?;
            huggingface::read(data)?.into()
        }
        Format::SentencePiece => {
            options.allow(format.name(), &[])?;
            let stages = sentencepiece::read(data)?;
            Contents {
                warnings: sentencepiece::warnings(&stages),
                ..stages.into()
            }
        }
        Format::SentencePieceList => {
            return Err(Error::new(
                ErrorKind::Format,
                "each line holds a piece and its score: this is the list of pieces that SentencePiece \
                 writes for people to read",
            )
            .hint("load the .model file that belongs to it"));
        }
        Format::Tekken => {
            options.allow(format.name(), &[])?;
            let stages = tekken::read(data)?;
            Contents {
                roles: special_token_roles::among(tekken::ROLES, &stages.added_tokens),
                ..stages.into()
            }
        }
        Format::TokenizerBin => {
            options.allow(format.name(), &[])?;
            llama2c::read(data)?.into()
        }
        Format::VocabText => {
            options.allow(format.name(), &["lowercase"])?;
            let stages = wordpiece::read(data, options.lowercase)?;
            Contents {
                warnings: wordpiece::warnings(data, stages.model.vocab()),
                ..stages.into()
            }
        }
    })
}

fn read_ranks(data: &[u8], options: &LoadOptions) -> Result<Contents> {
    let (ranks, encoding) = both(
        data.len() >= LARGE_FILE,
        || tiktoken::read_ranks(data),
        || {
            let encoding = encoding_of(data, options.encoding.as_deref())?;
            let pattern = options.pattern.as_deref();
            let pattern = pattern.or(encoding.map(|encoding| encoding.pattern));
            Ok((encoding, pattern.map(named::from_pattern)))
        },
    );
    let (encoding, pre_tokenizer) = encoding?;
    let ranks = ranks?;
    let Some(pre_tokenizer) = pre_tokenizer.transpose()? else {
        return Err(Error::new(
            ErrorKind::Argument,
            "a file of ranks holds no pattern, and this file is not a published encoding",
        )
        .hint(
            "say how text is split: pattern=\"cl100k\" or another known name, or a regular \
             expression; and special_tokens={...} if there are any",
        ));
    };
    let special_tokens = match (&options.special_tokens, encoding) {
        (Some(tokens), _) => tokens.clone(),
        (None, Some(encoding)) => encoding.special_tokens().collect(),
        (None, None) => Vec::new(),
    };
    let stages = tiktoken::stages(ranks, pre_tokenizer, special_tokens)?;
    let known = encoding.map_or(&[][..], |encoding| encoding.roles);
    Ok(Contents {
        roles: special_token_roles::among(known, &stages.added_tokens),
        ..stages.into()
    })
}

/// The published encoding that `data` is, if it is one; it must be the one called `name`.
fn encoding_of(data: &[u8], name: Option<&str>) -> Result<Option<&'static Encoding>> {
    let mut sha256 = String::new();
    for byte in Sha256::digest(data) {
        // Writing to a string cannot fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    let Some(name) = name else {
        return Ok(published_ranks::by_sha256(&sha256));
    };
    let Some(encoding) = published_ranks::by_name(name) else {
        let names = published_ranks::ENCODINGS
            .iter()
            .map(|encoding| encoding.name);
        let error = Error::new(ErrorKind::Argument, format!("unknown encoding {name:?}"));
        return Err(match did_you_mean(name, names) {
            Some(close) => error.hint(format!("did you mean {close:?}?")),
            None => error,
        });
    };
    if encoding.sha256 != sha256 {
        return Err(Error::new(
            ErrorKind::Format,
            format!(
                "this is not the file of {name}: its sha256 is {sha256}, published is {}",
                encoding.sha256
            ),
        )
        .hint("fetch the file again, or give pattern= and special_tokens= instead"));
    }
    Ok(Some(encoding))
}

fn read_pair(path: &Path, vocab_json: &[u8], options: &LoadOptions) -> Result<Contents> {
    let merges_path = match &options.merges {
        Some(merges) => merges.clone(),
        None => merges_beside(path)?,
    };
    let merges_txt = files::read(&merges_path, files::LARGEST)?;
    let mut stages = gpt2::read(vocab_json, &merges_txt, &merges_path)?;
    if let Some(tokens) = &options.special_tokens {
        add_special_tokens(&mut stages, tokens)?;
    }
    Ok(Contents {
        warnings: gpt2::warnings(&stages),
        roles: special_token_roles::among(gpt2::ROLES, &stages.added_tokens),
        ..stages.into()
    })
}

/// Where the merges of `vocab.json` usually lie: in the same folder, under the same prefix.
fn merges_beside(vocab_json: &Path) -> Result<PathBuf> {
    let candidates = [
        merges_path_for(vocab_json),
        vocab_json.with_file_name("merges.txt"),
    ];
    match candidates.iter().find(|path| path.is_file()) {
        Some(path) => Ok(path.clone()),
        None => Err(Error::new(
            ErrorKind::FileMissing,
            format!(
                "this is a vocabulary whose merges are missing: there is no {}",
                candidates[0].display()
            ),
        )
        .hint("give merges=\"path/to/merges.txt\"")),
    }
}

/// Makes `tokens` special, beside those that are.
fn add_special_tokens(stages: &mut Stages, tokens: &[(String, u32)]) -> Result<()> {
    for (content, id) in tokens {
        let vocab = stages.model.vocab();
        let by_content = vocab.id(content.as_bytes());
        if by_content.is_some_and(|known| known != *id)
            || (by_content.is_none() && vocab.token(*id).is_some())
        {
            let known = vocab.token(*id).map_or("no token".to_owned(), show);
            return Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "the special token {content:?} has id {id}, which is {known} in the vocabulary"
                ),
            ));
        }
        if stages
            .added_tokens
            .iter()
            .all(|token| token.content != *content)
        {
            stages.added_tokens.push(AddedToken::special(*id, content));
        }
    }
    stages.added_tokens.sort_by_key(|token| token.id);
    check_ids(&stages.added_tokens).map_err(|error| error.of_kind(ErrorKind::Argument))
}

/// Where the merges of a new `vocab.json` go.
pub fn merges_path_for(vocab_json: &Path) -> PathBuf {
    let name = vocab_json.file_name().unwrap_or_default();
    let (ending, other) = if name.as_encoded_bytes().ends_with(b"encoder.json") {
        ("encoder.json", "vocab.bpe")
    } else {
        ("vocab.json", "merges.txt")
    };
    let prefix = name.as_encoded_bytes().strip_suffix(ending.as_bytes());
    // SAFETY: what comes before a suffix of ASCII ends where a character does.
    let prefix = unsafe { OsStr::from_encoded_bytes_unchecked(prefix.unwrap_or_default()) };
    let mut merges = prefix.to_owned();
    merges.push(other);
    vocab_json.with_file_name(merges)
}
