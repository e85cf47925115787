//! Loading a folder: its `tokenizer.json` with the files beside it, or the one other tokenizer in it.

use std::path::{Path, PathBuf};

use super::{Contents, LoadOptions, Loaded, gguf_metadata, load};
use crate::sniff::Format;
use crate::{gguf, huggingface};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;

/// The tokenizer in a folder: that of its `tokenizer.json`, or of the one other known file in it.
pub fn load_folder(folder: &Path, options: &LoadOptions) -> Result<Loaded> {
    let place = |error: Error| error.at(folder.display().to_string());
    let present = |name: &&str| folder.join(name).is_file();
    let beside = |name: &str| {
        if present(&name) {
            files::read(&folder.join(name), files::LARGEST).map(Some)
        } else {
            Ok(None)
        }
    };
    let [config, special_tokens, added_tokens] = [
        beside("tokenizer_config.json")?,
        beside("special_tokens_map.json")?,
        beside("added_tokens.json")?,
    ];
    let beside = huggingface::Beside {
        config: config.as_deref(),
        special_tokens: special_tokens.as_deref(),
        added_tokens: added_tokens.as_deref(),
    };
    if present(&"tokenizer.json") {
        options
            .allow(Format::HuggingFace.name(), &[])
            .map_err(place)?;
        let file = files::read(&folder.join("tokenizer.json"), files::LARGEST)?;
        let (stages, warnings) = huggingface::read_folder(&file, beside).map_err(place)?;
        let contents = Contents {
            warnings,
            ..stages.into()
        };
        return Ok(contents.at(folder));
    }
    const OTHERS: [&str; 4] = ["tokenizer.model", "vocab.json", "encoder.json", "vocab.txt"];
    let mut found: Vec<PathBuf> = OTHERS
        .iter()
        .copied()
        .filter(present)
        .map(|name| folder.join(name))
        .collect();
    found.extend(files_in(folder, "tiktoken")?);
    match found.as_slice() {
        [one] => {
            let mut loaded = load(one, options)?;
            let dropped = huggingface::add_beside(&mut loaded.stages, beside).map_err(place)?;
            let named = dropped
                .iter()
                .map(|it| format!("{}: {it}", folder.display()));
            loaded.warnings.extend(named);
            Ok(loaded)
        }
        [] => {
            let tekken = folder.join("tekken.json");
            if tekken.is_file() {
                return load(&tekken, options);
            }
            match ggufs_in(folder)?.as_slice() {
                [one] => load(one, options),
                [] => Err(place(
                    Error::new(
                        ErrorKind::FileMissing,
                        format!(
                            "no tokenizer in this folder; looked for tokenizer.json, {}, tekken.json, \
                             *.tiktoken and *.gguf",
                            OTHERS.join(", ")
                        ),
                    )
                    .hint("give the path of the file"),
                )),
                several => Err(place(more_than_one(several))),
            }
        }
        several => Err(place(more_than_one(several))),
    }
}

fn more_than_one(paths: &[PathBuf]) -> Error {
    let names = paths.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    let message = format!(
        "more than one tokenizer in this folder: {}",
        names.join(", ")
    );
    Error::new(ErrorKind::Argument, message).hint("give the path of the one you mean")
}

/// The GGUF files of a folder, by name; of several, those that hold a tokenizer. The later parts of a split
/// model and what encodes its images hold none.
fn ggufs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = files_in(folder, "gguf")?;
    if paths.len() < 2 {
        return Ok(paths);
    }
    let mut found = Vec::new();
    for path in paths {
        if gguf_metadata(&path)?.is_none_or(|metadata| gguf::holds_a_tokenizer(&metadata)) {
            found.push(path);
        }
    }
    Ok(found)
}

/// The files of a folder with this ending, by name.
fn files_in(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut paths = files::list(folder)?;
    paths.retain(|path| path.extension().is_some_and(|it| it == ending) && path.is_file());
    paths.sort();
    Ok(paths)
}
