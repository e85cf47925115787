//! Saving: the name of a new file decides its format.
//!
//! Look here for which name means which format, and for what a file leaves out. A format refuses a file that
//! would mean another tokenizer. Settings that the format leaves open, and that the loader of the
//! file can pass, are left out and named: the pattern and special tokens of ranks, a padding.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{for_gguf, for_json, for_model_file};
use jeton_formats::gguf_metadata;
use jeton_formats::special_token_roles::{self, Role};
use jeton_formats::{
    Target, gguf, gpt2, huggingface, merges_path_for, sentencepiece, tekken, tiktoken, wordpiece,
};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::normalizer::{Normalizer, WhiteSpace};
use jeton_stages::pre_tokenizer::{PreTokenizer, named};
use jeton_stages::published_ranks::{self, Encoding};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files::{write_all, write_and_copy, write_into};
use jeton_text::pattern::{Regex, SearchPattern};

/// The files of a tokenizer, in memory.
#[derive(Debug)]
pub struct SerializedTokenizer {
    files: Files,
    left_out: Vec<String>,
    roles: Vec<Role>,
}

#[derive(Debug)]
enum Files {
    /// Each with its place.
    Alone(Vec<(PathBuf, Vec<u8>)>),
    /// Those of a folder, by name.
    Folder(PathBuf, Vec<(String, Vec<u8>)>),
}

impl SerializedTokenizer {
    /// The roles that the loader of the files finds.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Writes the files, each beside its place and then renamed into it, and returns what they leave out.
    ///
    /// # Errors
    /// A folder that does not exist or cannot be written to.
    pub fn write(self) -> Result<Vec<String>> {
        match self.files {
            Files::Alone(files) => write_all(&files)?,
            Files::Folder(folder, files) => write_into(&folder, files)?,
        }
        Ok(self.left_out)
    }
}

/// Serializes a tokenizer of these stages in the format that the name of `path` says ([`Target::of`]). The
/// files stay in memory, since a large vocabulary may take long and the work may be interrupted.
///
/// # Errors
/// A name that says no format; what the format cannot hold, by name.
pub fn serialize(stages: &Stages, path: &Path) -> Result<SerializedTokenizer> {
    let place = |error: Error| error.at(path.display().to_string());
    let target = Target::of(path, stages)?;
    let (mut beside, mut own) = (None, Vec::new());
    let mut roles = special_token_roles::of(stages);
    let contents = match target {
        Target::Folder => {
            let files = for_json(stages).and_then(|held| huggingface::write_folder(&held, &roles));
            let files = files.map_err(place)?.into_iter();
            let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
            return Ok(SerializedTokenizer {
                files: Files::Folder(path.to_owned(), files.collect()),
                left_out: left_out(stages, target, &[]),
                roles,
            });
        }
        Target::Json => {
            let held = for_json(stages).map_err(place)?;
            roles = special_token_roles::of(&held);
            huggingface::write(&held).map_err(place)?.into_bytes()
        }
        Target::Pair => {
            let (vocab, merges) = gpt2::write(stages).map_err(place)?;
            beside = Some((merges_path_for(path), merges.into_bytes()));
            roles.extend(special_token_roles::among(
                gpt2::ROLES,
                &stages.added_tokens,
            ));
            vocab.into_bytes()
        }
        Target::Ranks => {
            let ranks = tiktoken::write(stages).map_err(place)?;
            let known = published(stages, &ranks).map_or(&[][..], |encoding| encoding.roles);
            roles.extend(special_token_roles::among(known, &stages.added_tokens));
            ranks
        }
        Target::SentencePiece => {
            let held = for_model_file(stages).map_err(place)?;
            if white_space_of(&held).is_some_and(|it| it.legacy && it.add_dummy_prefix) {
                own.push("the spaces after special tokens in text (legacy)".to_owned());
            }
            roles = special_token_roles::of(&held);
            sentencepiece::write(&held).map_err(place)?
        }
        Target::VocabText => wordpiece::write(stages).map_err(place)?,
        Target::Tekken => {
            own.push("the version of the chat format".to_owned());
            roles.extend(special_token_roles::among(
                tekken::ROLES,
                &stages.added_tokens,
            ));
            tekken::write(stages).map_err(place)?
        }
        Target::Gguf => {
            let extras = gguf::Extras {
                roles: (roles.iter())
                    .map(|(role, token)| ((*role).to_owned(), token.clone()))
                    .collect(),
                templates: Vec::new(),
            };
            let written = for_gguf(stages).and_then(|held| gguf::write(&held, &extras));
            let (file, left_out) = written.map_err(place)?;
            own.extend(left_out);
            file
        }
    };
    own.extend(left_out(stages, target, &contents));
    let files = beside.into_iter().chain([(path.to_owned(), contents)]);
    Ok(SerializedTokenizer {
        files: Files::Alone(files.collect()),
        left_out: own,
        roles,
    })
}

/// Writes a GGUF with roles and chat templates, and returns what it leaves out. With `model`, the file is a
/// copy of that GGUF with this tokenizer in place of its own.
///
/// # Errors
/// What a GGUF cannot hold, by name; a model that is not a GGUF, or whose number of embeddings is not the
/// number of tokens; a file that cannot be written.
pub fn save_gguf(
    stages: &Stages,
    extras: &gguf::Extras,
    path: &Path,
    model: Option<&Path>,
) -> Result<Vec<String>> {
    let place = |error: Error| error.at(path.display().to_string());
    let held = for_gguf(stages).map_err(place)?;
    let Some(model) = model else {
        let (file, left_out) = gguf::write(&held, extras).map_err(place)?;
        write_all(&[(path.to_owned(), file)])?;
        return Ok(left_out);
    };
    let Some(mut metadata) = gguf_metadata(model)? else {
        return Err(
            Error::new(ErrorKind::Format, "this is not a GGUF").at(model.display().to_string())
        );
    };
    let left_out = gguf::put(&mut metadata, &held, extras).map_err(place)?;
    let head = metadata.write().map_err(place)?;
    let tensors_at = metadata.tensors_at().map_err(place)?;
    write_and_copy(path, &head, model, tensors_at)?;
    Ok(left_out)
}

/// What a folder leaves to its loader; see the head of this module.
pub fn left_out_of_folder(stages: &Stages) -> Vec<String> {
    left_out(stages, Target::Folder, &[])
}

/// What a file of these contents leaves to its loader.
fn left_out(stages: &Stages, target: Target, contents: &[u8]) -> Vec<String> {
    let mut left_out = Vec::new();
    let specials: Vec<&AddedToken> = match target {
        Target::Ranks => {
            if published(stages, contents).is_some() {
                return left_out;
            }
            left_out.push(pattern_of(stages.pre_tokenizer.as_ref()));
            stages.added_tokens.iter().collect()
        }
        Target::Pair => {
            let added = stages.added_tokens.iter();
            added.filter(|it| it.content != gpt2::END_OF_TEXT).collect()
        }
        // `gguf::write` has listed what it leaves out.
        Target::Gguf => return left_out,
        Target::Json | Target::Folder => {
            let cuts = !stages.added_tokens.is_empty();
            if white_space_of(stages).is_some_and(|it| it.remove_extra && !it.legacy && cuts) {
                left_out.push("the spaces beside special tokens in text".to_owned());
            }
            huggingface::aliases(stages).collect()
        }
        _ => Vec::new(),
    };
    left_out.extend(listed(&specials));
    if !matches!(target, Target::Json | Target::Folder) {
        left_out.extend(stages.padding.is_some().then(|| "the padding".to_owned()));
        let truncation = stages.truncation.is_some();
        left_out.extend(truncation.then(|| "the truncation".to_owned()));
    }
    left_out
}

/// What SentencePiece's normalizer does with white space, if these stages have it.
fn white_space_of(stages: &Stages) -> Option<WhiteSpace> {
    match &stages.normalizer {
        Some(Normalizer::SentencePiece(normalizer)) => Some(normalizer.white_space()),
        _ => None,
    }
}

/// The published encoding as which ranks are recognized by their content, if it means these stages.
fn published(stages: &Stages, ranks: &[u8]) -> Option<&'static Encoding> {
    let mut sha256 = String::new();
    for byte in Sha256::digest(ranks) {
        // Writing to a string cannot fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    let encoding = published_ranks::by_sha256(&sha256)?;
    let has_all = {
        let mut tokens: Vec<(String, u32)> = encoding.special_tokens().collect();
        let mut held: Vec<(String, u32)> = (stages.added_tokens.iter())
            .map(|token| (token.content.clone(), token.id))
            .collect();
        tokens.sort_unstable();
        held.sort_unstable();
        tokens == held
    };
    let regex = stages.pre_tokenizer.as_ref().and_then(regex_of);
    let pattern = regex.and_then(named::of_regex);
    let is_same = has_all
        && pattern.is_some_and(|it| named::find(encoding.pattern).is_ok_and(|found| found == it));
    is_same.then_some(encoding)
}

/// The pattern that splits text, as messages name it.
fn pattern_of(pre_tokenizer: Option<&PreTokenizer>) -> String {
    /// Characters of a pattern that are shown.
    const MAX_SHOWN: usize = 40;
    let Some(regex) = pre_tokenizer.and_then(regex_of) else {
        return "the pattern".to_owned();
    };
    match named::of_regex(regex) {
        Some(known) => format!("the pattern {:?}", known.name),
        None => {
            let source: String = regex.source().chars().take(MAX_SHOWN).collect();
            let end = if source.len() < regex.source().len() {
                "…"
            } else {
                ""
            };
            format!("the pattern {source:?}{end}")
        }
    }
}

/// The expression that splits text.
fn regex_of(pre_tokenizer: &PreTokenizer) -> Option<&Regex> {
    match pre_tokenizer {
        PreTokenizer::Matches {
            pattern: SearchPattern::Regex(regex),
        }
        | PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            ..
        } => Some(regex),
        PreTokenizer::Sequence(steps) => steps.iter().find_map(regex_of),
        _ => None,
    }
}

/// Some special tokens as messages list them: the first by name.
fn listed(tokens: &[&AddedToken]) -> Option<String> {
    /// Tokens that are named.
    const MAX_NAMED: usize = 4;
    let names = tokens.iter().take(MAX_NAMED);
    let names: Vec<String> = names.map(|it| format!("{:?}", it.content)).collect();
    let names = names.join(", ");
    match tokens.len() {
        0 => None,
        1 => Some(format!("the special token {names}")),
        2..=MAX_NAMED => Some(format!("the special tokens {names}")),
        more => Some(format!(
            "the special tokens {names} and {} more",
            more - MAX_NAMED
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::{Model, WordPiece};
    use jeton_stages::vocab::Vocab;

    #[test]
    fn serializing_writes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = ["[UNK]", "[CLS]", "[SEP]", "a"].map(str::to_owned);
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let plain = Stages::of_model(Model::WordPiece(WordPiece::new(vocab, "[UNK]", "##", 100)));
        let text = folder.path().join("vocab.txt");
        std::fs::write(&text, "[UNK]\n[CLS]\n[SEP]\na\n").unwrap();
        let bert = jeton_formats::load(&text, &Default::default()).unwrap();
        for (stages, name, files) in [
            (&plain, "tokenizer.json", 1),
            (&plain, "folder", 3),
            (&bert.stages, "other.txt", 1),
        ] {
            let place = folder.path().join("new").join(name);
            let parent = match name {
                "folder" => place.clone(),
                _ => folder.path().join("new"),
            };
            std::fs::create_dir_all(folder.path().join("new")).unwrap();
            let serialized = serialize(stages, &place).unwrap();
            assert!(!place.exists(), "{name}");
            serialized.write().unwrap();
            assert_eq!(std::fs::read_dir(&parent).unwrap().count(), files, "{name}");
            std::fs::remove_dir_all(folder.path().join("new")).unwrap();
        }
    }
}
