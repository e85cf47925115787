//! Finds the files of a corpus: searches folders, and returns each file once.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::stream::is_standard_input;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;

/// The files of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// Each once, in the order in which they were named first.
    pub files: Vec<PathBuf>,
    /// How many were named again.
    pub repeated: u64,
}

/// The files at `paths`; of a folder, all files in it and in the folders in it, in the order of
/// their names, but none whose name begins with a dot. Links are followed, but into a folder only
/// once. A file that is named again, or under another name, is left out.
///
/// # Errors
/// A folder that cannot be read or holds no files; in a folder, a link to nothing.
pub fn find_files(paths: &[PathBuf]) -> Result<FoundFiles> {
    let mut found = FoundFiles::default();
    let mut known = HashSet::new();
    for path in paths {
        let mut files = Vec::new();
        if is_standard_input(path) || !path.is_dir() {
            files.push(path.clone());
        } else {
            walk(path, &mut HashSet::new(), &mut files)?;
        }
        if files.is_empty() {
            return Err(
                Error::new(ErrorKind::FileMissing, "the folder holds no files")
                    .at(path.display().to_string())
                    .hint("those whose names begin with a dot are left out"),
            );
        }
        for file in files {
            if known.insert(fs::canonicalize(&file).unwrap_or_else(|_| file.clone())) {
                found.files.push(file)
            } else {
                found.repeated += 1
            }
        }
    }
    Ok(found)
}

/// Adds the files of a folder, unless it has been seen before.
fn walk(folder: &Path, seen: &mut HashSet<PathBuf>, files: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |path: &Path, error| files::file_error(path, "read", &error);
    let real = fs::canonicalize(folder).map_err(|error| unreadable(folder, error))?;
    if !seen.insert(real) {
        return Ok(());
    }
    let mut entries = files::list(folder)?;
    entries.sort_unstable();
    for entry in entries {
        let name = entry.file_name().unwrap_or_default().as_encoded_bytes();
        if name.starts_with(b".") {
            continue;
        }
        let kind = fs::metadata(&entry).map_err(|error| unreadable(&entry, error))?;
        if kind.is_dir() {
            walk(&entry, seen, files)?;
        } else if kind.is_file() {
            files.push(entry);
        }
    }
    Ok(())
}
