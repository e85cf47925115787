//! What a file of a corpus holds, by its name.

use std::path::Path;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Text.
    Text,
    /// JSON lines: a record a line.
    JsonLines,
    /// Values separated by this byte, with a header: a record a row.
    Delimited(u8),
    /// A Parquet table, which Python reads.
    Parquet,
}

impl FileKind {
    /// The kind of a file; a final `.gz`, `.zst` or `.xz` is ignored. If the corpus `has_field`, files
    /// of text are JSON lines.
    pub fn of(path: &Path, has_field: bool) -> Self {
        if is_named(path, &[".parquet"]) {
            Self::Parquet
        } else if is_named(path, &[".csv"]) {
            Self::Delimited(b',')
        } else if is_named(path, &[".tsv"]) {
            Self::Delimited(b'\t')
        } else if has_field || is_named(path, &[".jsonl", ".ndjson"]) {
            Self::JsonLines
        } else {
            Self::Text
        }
    }
}

/// Whether the name of a file ends in one of these, in front of an ending of compression.
pub(super) fn is_named(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let compressed = [".gz", ".zst", ".xz"].iter();
    let name = compressed
        .filter_map(|ending| name.strip_suffix(ending))
        .next()
        .unwrap_or(&name);
    endings.iter().any(|ending| name.ends_with(ending))
}
