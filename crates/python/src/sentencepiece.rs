//! The class behind `jeton.sentencepiece`: the results of SentencePiece's own interface for a text.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jeton_core::format::sentencepiece::{
    DecodedPiece, IdOrPiece, ReadPath, ReadPiece, Reader, Samples,
};
use jeton_core::model::sentencepiece::spec::PieceKind;
use jeton_core::model::{Model, Sampler, Sampling};
use jeton_core::normalizer::{Charsmap, Normalization};
use jeton_core::text::{Unit, UnitIndex};
use jeton_core::{Error, ErrorKind, Stages};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::{Outcome, guard, wrong_type};
use crate::ids_from_python;
use crate::signals::detached;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// A piece of a text: its id, its text, where it begins and ends in characters, and whether what
/// stands there is its surface.
type Row = (u32, String, usize, usize, bool);

/// A piece of a decoded text: its id (-1 for none), its text, and what it became.
type DecodedRow = (i64, String, String);

/// A tokenizer that is a SentencePiece model, as SentencePiece's own interface sees it.
#[pyclass(frozen, module = "jeton._core")]
pub struct SentencePieceReader {
    core: Arc<jeton_core::Tokenizer>,
}

impl SentencePieceReader {
    fn reader(&self) -> jeton_core::Result<Reader<'_>> {
        Reader::new(self.core.stages())
    }
}

#[pymethods]
impl SentencePieceReader {
    #[new]
    fn new(py: Python<'_>, tokenizer: &Tokenizer) -> PyResult<Self> {
        guard(py, || {
            let core = Arc::clone(&tokenizer.core);
            Reader::new(core.stages())?;
            Ok(Self { core })
        })
    }

    /// The texts, the scores and the kinds of all pieces.
    fn pieces(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<f32>, Vec<&'static str>)> {
        guard(py, || {
            let pieces = self.reader()?.pieces();
            Ok((
                pieces.iter().map(|piece| piece.text.to_owned()).collect(),
                pieces.iter().map(|piece| piece.score).collect(),
                pieces.iter().map(|piece| name(piece.kind)).collect(),
            ))
        })
    }

    /// The ids of the unknown piece, of those at the beginning and at the end of a text, and of the
    /// one that fills rows.
    fn marks(&self, py: Python<'_>) -> PyResult<[Option<u32>; 4]> {
        guard(py, || {
            let reader = self.reader()?;
            let [bos, eos, pad] = reader.marks();
            Ok([reader.unk_id(), bos, eos, pad])
        })
    }

    /// By which algorithm it encodes: `"Unigram"`, `"BPE"`, `"word"` or `"character"`.
    fn algorithm(&self, py: Python<'_>) -> PyResult<&'static str> {
        guard(py, || Ok(self.reader()?.algorithm().name()))
    }

    /// The id of the piece of this spelling.
    fn id(&self, py: Python<'_>, piece: &str) -> PyResult<Option<u32>> {
        guard(py, || Ok(self.reader()?.id(piece)))
    }

    /// A text as normalized, and where each character of it begins in the text, and where that ends.
    fn normalize(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<(String, Vec<usize>)> {
        guard(py, || {
            let reader = self.reader()?;
            let text = Text::of("text", text)?;
            let (normalized, origins) = detached(py, || reader.normalize(text.as_str()))?;
            let characters = Characters::of(&text);
            let begin = normalized.char_indices().map(|(at, _)| origins[at]);
            let ends = origins.last().copied();
            let places = begin.chain(ends).map(|at| characters.at(at)).collect();
            Ok((normalized, places))
        })
    }

    /// The pieces of a text, drawn as these say where `alpha` is given.
    fn encode(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        alpha: Option<f32>,
        nbest_size: Option<usize>,
        seed: Option<u64>,
    ) -> PyResult<Vec<Row>> {
        guard(py, || {
            let reader = self.reader()?;
            let text = Text::of("text", text)?;
            let mut sampler = Sampler::new(Sampling {
                dropout: None,
                alpha,
                nbest_size,
                seed,
            });
            let pieces = detached(py, || reader.encode(text.as_str(), &mut sampler))??;
            Ok(rows(&Characters::of(&text), pieces))
        })
    }

    /// The best segmentations of a text, with their scores.
    fn n_best(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        size: usize,
    ) -> PyResult<Vec<(Vec<Row>, f32)>> {
        guard(py, || {
            let reader = self.reader()?;
            let text = Text::of("text", text)?;
            let paths = detached(py, || reader.n_best(text.as_str(), size))??;
            Ok(scored(&text, paths))
        })
    }

    /// Segmentations drawn at random, with their scores.
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each keyword of the Python method"
    )]
    fn sample(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        count: usize,
        alpha: f32,
        without_replacement: bool,
        include_best: bool,
        seed: u64,
    ) -> PyResult<Vec<(Vec<Row>, f32)>> {
        guard(py, || {
            let reader = self.reader()?;
            let text = Text::of("text", text)?;
            let samples = Samples {
                count,
                alpha,
                without_replacement,
                include_best,
            };
            let mut sampler = Sampler::new(Sampling {
                seed: Some(seed),
                ..Sampling::default()
            });
            let paths = detached(py, || reader.sample(text.as_str(), samples, &mut sampler))??;
            Ok(scored(&text, paths))
        })
    }

    /// The entropy of all segmentations of a text.
    fn entropy(&self, py: Python<'_>, text: &Bound<'_, PyAny>, alpha: f32) -> PyResult<f32> {
        guard(py, || {
            let reader = self.reader()?;
            let text = &Text::of("text", text)?;
            let text = text.as_str();
            Ok(detached(py, || reader.entropy(text, alpha))??)
        })
    }

    /// What pieces, each given by its id or its text, become; and the whole text.
    fn decode(
        &self,
        py: Python<'_>,
        pieces: &Bound<'_, PyList>,
    ) -> PyResult<(Vec<DecodedRow>, String)> {
        guard(py, || {
            let reader = self.reader()?;
            let items: Vec<_> = pieces.iter().collect();
            let given = items
                .iter()
                .enumerate()
                .map(|(at, item)| match item.cast::<PyString>() {
                    Ok(text) => Ok(IdOrPiece::Text(text.to_str()?)),
                    Err(_) => Ok(IdOrPiece::Id(ids_from_python::id(
                        || format!("ids[{at}]"),
                        item,
                    )?)),
                });
            let given = given.collect::<Outcome<Vec<_>>>()?;
            let (pieces, text) = detached(py, || reader.decode(&given))??;
            let row = |piece: DecodedPiece| {
                let id = piece.id.map_or(-1, i64::from);
                (id, piece.text, piece.surface)
            };
            Ok((pieces.into_iter().map(row).collect(), text))
        })
    }

    /// The tokenizer that knows only these pieces, beside single characters and what is no piece of
    /// text.
    fn restricted(&self, py: Python<'_>, valid: Vec<String>) -> PyResult<Tokenizer> {
        guard(py, || {
            let stages = self.core.stages();
            let valid: HashSet<&str> = valid.iter().map(String::as_str).collect();
            let core = py.detach(|| match &stages.model {
                Model::SentencePiece(model) => jeton_core::Tokenizer::new(Stages {
                    model: Model::SentencePiece(model.restricted(|piece| valid.contains(piece))?),
                    ..stages.clone()
                }),
                _ => Err(Error::new(ErrorKind::Unsupported, "no SentencePiece model")),
            })?;
            Ok(core.into())
        })
    }

    /// The bytes of the `.model` file.
    fn proto<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || match &self.core.stages().model {
            Model::SentencePiece(model) => Ok(PyBytes::new(py, &model.proto().write())),
            _ => Err(wrong_type(
                "tokenizer",
                "a SentencePiece model",
                py.None().bind(py),
            )),
        })
    }
}

/// The character map of rules by name, as a `.model` file holds it; none for rules that change nothing.
#[pyfunction]
pub fn charsmap<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
    guard(py, || {
        let rules: Normalization = name.parse()?;
        let blob = py.detach(|| rules.charsmap().map(|map| map.blob()));
        Ok(blob.map(|blob| PyBytes::new(py, &blob)))
    })
}

/// The character map of rules that are given one by one, as a `.model` file holds it.
#[pyfunction]
pub fn compiled_charsmap<'py>(
    py: Python<'py>,
    rules: BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyBytes>> {
    guard(py, || {
        let map = py.detach(|| Charsmap::compile(&rules))?;
        Ok(PyBytes::new(py, &map.blob()))
    })
}

/// The rules of a character map in the order of their keys.
#[pyfunction]
pub fn charsmap_rules(py: Python<'_>, blob: &[u8]) -> PyResult<Vec<(String, String)>> {
    guard(py, || {
        let map = Charsmap::new(blob)?;
        let rules = map.rules().ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                "this character map has too many keys to list, or one that is not UTF-8",
            )
        })?;
        let rules = rules.into_iter();
        Ok(rules.map(|(key, value)| (key, value.to_owned())).collect())
    })
}

/// What a piece is for, as `jeton.sentencepiece` names it.
fn name(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Normal => "normal",
        PieceKind::Unknown => "unknown",
        PieceKind::Control => "control",
        PieceKind::UserDefined => "user_defined",
        PieceKind::Unused => "unused",
        PieceKind::Byte => "byte",
    }
}

fn scored(text: &Text<'_>, paths: Vec<ReadPath>) -> Vec<(Vec<Row>, f32)> {
    let characters = Characters::of(text);
    let paths = paths.into_iter();
    paths
        .map(|(pieces, score)| (rows(&characters, pieces), score))
        .collect()
}

fn rows(characters: &Characters<'_>, pieces: Vec<ReadPiece>) -> Vec<Row> {
    let row = |piece: ReadPiece| {
        let (start, end) = (piece.span.start, piece.span.end);
        let (start, end) = (characters.at(start), characters.at(end));
        (piece.id, piece.text, start, end, piece.has_surface)
    };
    pieces.into_iter().map(row).collect()
}

/// Where bytes of a caller's text are in it, in characters.
struct Characters<'t> {
    text: &'t Text<'t>,
    index: UnitIndex,
}

impl<'t> Characters<'t> {
    fn of(text: &'t Text<'t>) -> Self {
        let index = UnitIndex::new(text.as_str(), Unit::Characters);
        Self { text, index }
    }

    fn at(&self, byte: usize) -> usize {
        let place = jeton_core::text::Span::new(byte, byte);
        self.text.of_caller(self.index.of(place)).start
    }
}
