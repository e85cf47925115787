//! Documents of files as texts for Python, and what a file holds by its name.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jeton_core::train::corpus::{
    BadRecords, Corpus, CorpusOptions, DocumentOptions, DocumentUnit, Documents as Core, Dropped,
    FileKind, Next, PATIENCE, Part,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Outcome, guard};

/// Documents: the number of the file, the text, and the line or record, if it is one.
type Texts = Vec<(usize, String, Option<u64>)>;
/// Of each file that ended: its number, its bytes on the disk and their SHA-256.
type Digests<'py> = Vec<(usize, u64, Bound<'py, PyBytes>)>;

/// The documents of files, which a thread reads ahead.
#[pyclass(frozen, module = "jeton._core")]
pub struct Documents {
    core: Mutex<Core>,
}

#[pymethods]
impl Documents {
    /// Opens files.
    #[new]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        field: Option<String>,
        errors: &str,
        unit: Unit,
    ) -> PyResult<Self> {
        guard(py, || {
            let options = CorpusOptions {
                json_documents: true,
                ..corpus_options(field, errors, unit, false)?
            };
            let corpus = py.detach(|| Corpus::open(&paths, options))?;
            let core = corpus.documents(&DocumentOptions::default(), None);
            Ok(Self {
                core: Mutex::new(core),
            })
        })
    }

    /// The next documents, how many bytes of their file were read from the disk, and the digests of
    /// files that ended; `None` when there are no more.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<(Texts, u64, Digests<'py>)>> {
        guard(py, || {
            loop {
                let step = py.detach(|| {
                    let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
                    core.step(PATIENCE)
                });
                let parts = match step? {
                    Next::Item(parts) => parts,
                    Next::Waiting => {
                        py.check_signals()?;
                        continue;
                    }
                    Next::End => return Ok(None),
                };
                let (mut texts, mut digests, mut read) = (Texts::new(), Vec::new(), 0);
                for part in parts {
                    part.for_each(|text, line| {
                        let (Part::Whole(text) | Part::Of(text, ..)) = text;
                        texts.push((part.file(), text.to_owned(), line));
                        Ok(())
                    })?;
                    read = part.read;
                    if let Some((bytes, sha256)) = part.digest {
                        digests.push((part.file(), bytes, PyBytes::new(py, &sha256)));
                    }
                }
                return Ok(Some((texts, read, digests)));
            }
        })
    }
}

/// What a file of a corpus holds, by its name: `table`, `delimited`, `records` or `text`.
#[pyfunction]
pub fn file_kind(path: PathBuf, has_field: bool) -> &'static str {
    match FileKind::of(&path, has_field) {
        FileKind::Parquet => "table",
        FileKind::Delimited(_) => "delimited",
        FileKind::JsonLines => "records",
        FileKind::Text => "text",
    }
}

/// What a document of a text file is.
#[derive(FromPyObject)]
pub enum Unit {
    /// A line, or the file.
    IsLine(bool),
    /// What lies between these texts.
    SplitOn(String),
}

/// How a corpus is read.
///
/// # Errors
/// No way to read invalid UTF-8 is called `errors`.
pub fn corpus_options(
    field: Option<String>,
    errors: &str,
    unit: Unit,
    drop_bad: bool,
) -> Outcome<CorpusOptions> {
    let (unit, split_on) = match unit {
        Unit::IsLine(true) => (DocumentUnit::Line, None),
        Unit::IsLine(false) => (DocumentUnit::File, None),
        Unit::SplitOn(separator) => (DocumentUnit::File, Some(separator)),
    };
    Ok(CorpusOptions {
        field,
        errors: errors.parse()?,
        unit,
        split_on,
        bad_records: if drop_bad {
            BadRecords::Drop
        } else {
            BadRecords::Error
        },
        json_documents: false,
    })
}

/// The path, what it is, its number and the reason of each record that was left out.
pub fn places_of(dropped: Vec<Dropped>) -> Vec<(PathBuf, &'static str, u64, String)> {
    let dropped = dropped.into_iter();
    dropped
        .map(|dropped| (dropped.path, dropped.unit, dropped.number, dropped.reason))
        .collect()
}
