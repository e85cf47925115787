//! Files: tokenizers loaded from paths and saved to them.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use jeton_core::format::{LoadOptions, Loaded, Target, gguf, huggingface};
use jeton_core::special_token_roles;
use jeton_core::{convert, files, format, published_ranks};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::guard;
use crate::signals::{abandonable, detached};
use crate::tokenizer::Tokenizer;

/// A tokenizer, warnings about its file, roles, and files that it holds.
type Read = (
    Tokenizer,
    Vec<String>,
    Vec<special_token_roles::Role>,
    Vec<(String, Vec<u8>)>,
);

/// The tokenizer of a file or a folder, warnings about the file, the roles that the format
/// gives to special tokens, and its chat templates, as the files of a folder. `encoding` is the name of a
/// published one.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    encoding: Option<String>,
    pattern: Option<String>,
    special_tokens: Option<Vec<(String, u32)>>,
    merges: Option<PathBuf>,
    lowercase: Option<bool>,
) -> PyResult<Read> {
    guard(py, || {
        let options = LoadOptions {
            encoding,
            pattern,
            special_tokens,
            merges,
            lowercase,
        };
        let load = move || {
            let Loaded {
                path,
                stages,
                warnings,
                roles,
                beside,
            } = format::load(&path, &options)?;
            let tokenizer = jeton_core::Tokenizer::new(stages)
                .map_err(|error| error.at(path.display().to_string()))?;
            Ok::<_, jeton_core::Error>((tokenizer.into(), warnings, roles, beside))
        };
        Ok(abandonable(py, load)??)
    })
}

/// Writes a tokenizer to a path, in the format that its name says; what is not in the file, and the roles
/// that its loader finds.
#[pyfunction]
pub fn save(
    py: Python<'_>,
    tokenizer: &Bound<'_, Tokenizer>,
    path: PathBuf,
) -> PyResult<(Vec<String>, Vec<special_token_roles::Role>)> {
    guard(py, || {
        // A vocabulary of a million words takes a second to serialize; after Ctrl-C, the abandoned thread
        // writes nothing.
        let core = Arc::clone(&tokenizer.get().core);
        let files = abandonable(py, move || convert::serialize(core.stages(), &path))??;
        let roles = files.roles().to_vec();
        Ok((detached(py, move || files.write())??, roles))
    })
}

/// Writes a tokenizer as a GGUF with roles and chat templates, or into a copy of `model`; returns what the
/// file leaves out.
#[pyfunction]
pub fn save_gguf(
    py: Python<'_>,
    tokenizer: &Bound<'_, Tokenizer>,
    path: PathBuf,
    roles: Vec<(String, String)>,
    templates: Vec<(String, String)>,
    model: Option<PathBuf>,
) -> PyResult<Vec<String>> {
    guard(py, || {
        let core = Arc::clone(&tokenizer.get().core);
        let extras = gguf::Extras { roles, templates };
        Ok(detached(py, move || {
            convert::save_gguf(core.stages(), &extras, &path, model.as_deref())
        })??)
    })
}

/// What `save` would make of a path: `"folder"`, `"tokenizer.json"`, `"ranks"`, …
#[pyfunction]
pub fn target_of(
    py: Python<'_>,
    tokenizer: &Bound<'_, Tokenizer>,
    path: PathBuf,
) -> PyResult<&'static str> {
    guard(py, || {
        let stages = tokenizer.get().core.stages();
        Ok(Target::of(&path, stages)?.name())
    })
}

/// The names and texts of the files of a folder, what is not in them, and the roles that follow from the
/// first of them alone.
type FolderFiles = (
    Vec<(&'static str, String)>,
    Vec<String>,
    Vec<special_token_roles::Role>,
);

/// The files of a tokenizer's folder, by name: `tokenizer.json` and what is next to it; what is not in
/// them; and the roles that follow from `tokenizer.json` alone.
#[pyfunction]
pub fn folder_files(
    py: Python<'_>,
    tokenizer: &Bound<'_, Tokenizer>,
    roles: Vec<(String, String)>,
) -> PyResult<FolderFiles> {
    guard(py, || {
        let core = &tokenizer.get().core;
        let written = {
            let core = Arc::clone(core);
            move || {
                let held = convert::for_json(core.stages())?;
                let files = huggingface::write_folder(&held, &roles)?;
                Ok::<_, jeton_core::Error>((files, special_token_roles::of(&held)))
            }
        };
        let (files, own_roles) = abandonable(py, written)??;
        let left_out = convert::left_out_of_folder(core.stages());
        Ok((files.into(), left_out, own_roles))
    })
}

/// A `tokenizer_config.json`, a `special_tokens_map.json` and an `added_tokens.json`.
type Beside = (Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>);

/// Whether the files beside a `tokenizer.json` add the same tokens to it as other ones do.
#[pyfunction]
pub fn add_the_same(
    py: Python<'_>,
    tokenizer_json: String,
    files: Beside,
    others: Beside,
) -> PyResult<bool> {
    guard(py, || {
        let compare = move || {
            let [files, others] = [&files, &others].map(|it| huggingface::Beside {
                config: it.0.as_deref(),
                special_tokens: it.1.as_deref(),
                added_tokens: it.2.as_deref(),
            });
            huggingface::add_the_same(tokenizer_json.as_bytes(), files, others)
        };
        Ok(abandonable(py, compare)??)
    })
}

/// Writes files into a folder, each beside its place; then renames them all.
#[pyfunction]
pub fn write_into(py: Python<'_>, folder: PathBuf, files: Vec<(PathBuf, Vec<u8>)>) -> PyResult<()> {
    guard(py, || {
        Ok(detached(py, move || files::write_into(&folder, files))??)
    })
}

/// A new file beside a path, as `jeton_core` has it: its path, and a descriptor that the caller closes.
#[pyfunction]
pub fn create_beside(py: Python<'_>, path: PathBuf) -> PyResult<(PathBuf, i32)> {
    guard(py, || {
        let create = || files::create_beside(&path);
        let (temporary, file) =
            detached(py, create)?.map_err(|error| files::file_error(&path, "written", &error))?;
        Ok((temporary, descriptor(file)))
    })
}

/// A descriptor of a file to read, which the caller closes; pipes and devices are refused.
#[pyfunction]
pub fn open_file(py: Python<'_>, path: PathBuf) -> PyResult<i32> {
    guard(py, || Ok(descriptor(detached(py, || files::open(&path))??)))
}

#[cfg(unix)]
fn descriptor(file: File) -> i32 {
    std::os::fd::IntoRawFd::into_raw_fd(file)
}

#[cfg(windows)]
fn descriptor(file: File) -> i32 {
    use std::os::windows::io::IntoRawHandle;
    // SAFETY: the handle is open, and nobody else owns it.
    unsafe { libc::open_osfhandle(file.into_raw_handle() as isize, libc::O_BINARY) }
}

/// The published encodings: name, sha256 of the file, name of the pattern.
#[pyfunction]
pub fn published_encodings() -> Vec<(&'static str, &'static str, &'static str)> {
    published_ranks::ENCODINGS
        .iter()
        .map(|encoding| (encoding.name, encoding.sha256, encoding.pattern))
        .collect()
}

/// A hash of everything that a tokenizer is: 32 bytes, equal for equal tokenizers.
#[pyfunction]
pub fn fingerprint<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, Tokenizer>,
) -> PyResult<Bound<'py, PyBytes>> {
    guard(py, || {
        let tokenizer = tokenizer.get();
        let fingerprint = py.detach(|| format::snapshot::fingerprint(tokenizer.core.stages()))?;
        Ok(PyBytes::new(py, &fingerprint))
    })
}
