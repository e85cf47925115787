//! The strategy for SentencePiece `.model` files: text is split before spaces, which no piece spans, each
//! chunk is looked up in the word cache, and only new ones are normalized and segmented.
//!
//! Look here for the two algorithms side by side; `accepted` says for which models, `chunks` how a new chunk
//! is treated. The differences between the algorithms are in `merging` and `viterbi`.

mod accepted;
mod chunks;
mod merging;
mod score_sums;
mod unknown;
mod viterbi;

use std::cell::Cell;
use std::rc::Rc;

use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup::{ChunkWorkspace, tokens};
use crate::cache::workspace_pool::WorkspacePool;
use crate::compiled::Compiled;
use crate::fallback::FallbackWorkspace;
use crate::sink::Sink;
use crate::unsupported_stage::UnsupportedStage;
use crate::{Place, Spanning, Stretch};
use accepted::{check_model, check_normalizer, texts_of};
use chunks::{ChunksCall, Solver};
use jeton_models::model::sentencepiece::spec::Algorithm;
use jeton_models::model::{self, Model};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Charsmap, Normalizer, SentencePieceNormalizer};
use jeton_stages::split::delimiters::{Delimiters, split_point};
use jeton_stages::split::split_points::SplitPoints;
use jeton_text::error::Result;
use jeton_text::length_limit::LengthLimit;
use jeton_text::mem::lazy::Lazy;
use merging::{Merging, PieceMerger};
use score_sums::{Scores, Summing};
use unknown::Fusing;
use viterbi::Viterbi;

/// How the model writes a space.
const SPACE: &str = "▁";
/// No byte of UTF-8: before the key of a normalized part, which is no chunk of the text.
const NORMALIZED: u8 = 0xFF;

/// A SentencePiece model on the fast path.
pub struct SentencePiece {
    delimiters: Delimiters,
    /// The character map leaves all text of printable ASCII characters as it is.
    keeps_ascii: bool,
    /// Runs of spaces become one space, and spaces at the ends are removed.
    collapses: bool,
    /// A space is put in front.
    prefix: bool,
    /// A stretch between added tokens has ends of its own.
    legacy: bool,
    parts: Parts,
    /// Where long chunks may be split; made when the first one comes.
    split_points: Lazy<SplitPoints>,
    solving: Solving,
    pool: WorkspacePool<FallbackWorkspace>,
}

/// What a model's algorithm needs to know about its pieces.
enum Solving {
    /// Their pairs; none if there are too many. Made at the first call.
    Bpe(Lazy<Option<PieceMerger>>),
    Unigram(Scores),
}

/// Where a text may be split into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Nowhere,
    BeforeSpaces,
    /// And after line ends.
    BehindLines,
}

impl SentencePiece {
    /// The compiled form of these stages, if text may be split before spaces and if what a chunk
    /// becomes does not depend on other chunks.
    ///
    /// # Errors
    /// The stage for which this is not so.
    pub fn new(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        let Model::SentencePiece(model) = &stages.model else {
            return Err(UnsupportedStage::model(
                &stages.model,
                "not of a .model file",
            ));
        };
        let Some(Normalizer::SentencePiece(normalizer)) = &stages.normalizer else {
            let why = "not that of a .model file";
            return Err(UnsupportedStage::normalizer(
                stages.normalizer.as_ref(),
                why,
            ));
        };
        if let Some(cut) = &stages.pre_tokenizer {
            let why = "splits text that a .model file leaves whole";
            return Err(UnsupportedStage::pre_tokenizer(Some(cut), why));
        }
        check_normalizer(normalizer)
            .map_err(|why| UnsupportedStage::normalizer(stages.normalizer.as_ref(), why))?;
        check_model(model).map_err(|why| UnsupportedStage::model(&stages.model, why))?;
        let pieces = &model.proto().pieces;
        let algorithm = model.proto().trainer().algorithm;
        let white_space = normalizer.white_space();
        let charsmap = normalizer.charsmap();
        let becomes = |byte: u8| match charsmap {
            None => None,
            Some(map) => map.longest_prefix(&[byte]).map(|(_, new)| new),
        };
        let inner = charsmap.map(Charsmap::inner_bytes);
        let inside = |byte: u8| inner.is_some_and(|inner| inner[usize::from(byte)]);
        if becomes(b' ').is_some_and(|new| new != " ") || inside(b' ') {
            let why = "has a rule for a space";
            return Err(UnsupportedStage::normalizer(
                stages.normalizer.as_ref(),
                why,
            ));
        }
        let in_a_piece = |byte: u8| {
            texts_of(pieces).any(|piece| piece.text.as_bytes().contains(&byte))
                || (normalizer.user_defined().iter()).any(|text| text.as_bytes().contains(&byte))
        };
        let (mut spaces, mut alone) = (vec![b' '..=b' '], Vec::new());
        for byte in [b'\n', b'\t'] {
            if inside(byte) || in_a_piece(byte) {
                continue;
            }
            match becomes(byte) {
                Some(" ") => spaces.push(byte..=byte),
                None => alone.push(byte..=byte),
                Some(_) => {}
            }
        }
        if spaces.len() == 3 {
            spaces = vec![b' '..=b' ', b'\t'..=b'\n'];
        }
        let delimiters = Delimiters::new(spaces, false, alone);
        Ok(Self {
            parts: match model.byte_ids() {
                // Which of two segmentations wins may depend on the sum of scores from the front.
                _ if algorithm == Algorithm::Unigram => Parts::Nowhere,
                Some(_) if delimiters.is_alone(b'\n') => Parts::BehindLines,
                Some(_) => Parts::BeforeSpaces,
                None if model.piece_id(SPACE).is_some() => Parts::BeforeSpaces,
                None => Parts::Nowhere,
            },
            delimiters,
            keeps_ascii: charsmap.is_none_or(Charsmap::keeps_ascii),
            collapses: white_space.remove_extra,
            prefix: white_space.add_dummy_prefix,
            legacy: white_space.legacy,
            split_points: Lazy::new(),
            solving: match algorithm {
                Algorithm::Unigram => Solving::Unigram(Scores::new(model)),
                _ => Solving::Bpe(Lazy::new()),
            },
            pool: WorkspacePool::default(),
        })
    }

    fn encode_by(
        &self,
        solver: impl Solver,
        (model, normalizer): (&model::SentencePiece, &SentencePieceNormalizer),
        stretch: Stretch<'_>,
        lookup: &mut ChunkWorkspace,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let ChunkWorkspace {
            chunks,
            words,
            tokens: room,
        } = lookup;
        let mut call = ChunksCall {
            compiled: self,
            solver,
            model,
            normalizer,
            words,
            is_last: stretch.is_last,
            ids: Vec::new(),
            key: Vec::new(),
        };
        let mut sink = BufferedSink::new(room, sink);
        let (text, start) = call.begin(stretch, &mut sink);
        tokens(&mut call, &self.delimiters, chunks, text, start, &mut sink)
    }
}

/// The stages that matter, of those that [`SentencePiece::new`] took.
fn stages_of(stages: &Stages) -> (&model::SentencePiece, &SentencePieceNormalizer) {
    match (&stages.model, &stages.normalizer) {
        (Model::SentencePiece(model), Some(Normalizer::SentencePiece(normalizer))) => {
            (model, normalizer)
        }
        _ => unreachable!("compiled from other stages"),
    }
}

impl Compiled for SentencePiece {
    fn encode(
        &self,
        stages: &Stages,
        mut stretch: Stretch<'_>,
        _: &Rc<LengthLimit>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let (model, normalizer) = stages_of(stages);
        if self.legacy && stretch.place == Place::Section {
            stretch.place = Place::First;
        }
        stretch.is_last |= self.legacy;
        let is_front = self.collapses && stretch.place == Place::First;
        if is_front && normalizer.spaces_in_front(stretch.text) == stretch.text.len() {
            return Ok(());
        }
        let FallbackWorkspace { lookup, work, .. } = &mut *self.pool.take();
        let mut sink = Fusing::new(model.unk_id(), sink);
        let stages = (model, normalizer);
        match &self.solving {
            Solving::Unigram(scores) => {
                let sum = Cell::new(0.0);
                let solver = Viterbi::new(model, scores, &sum);
                let mut sink = Summing::new(scores, &sum, &mut sink);
                self.encode_by(solver, stages, stretch, lookup, &mut sink)
            }
            Solving::Bpe(merger) => {
                let solver = Merging {
                    model,
                    merger: merger.get(|| PieceMerger::new(model)).as_ref(),
                    work,
                };
                self.encode_by(solver, stages, stretch, lookup, &mut sink)
            }
        }
    }

    /// Before a space, if what comes before it ends in something else once it is normalized: it is
    /// asked of the stretch from the space before. No key of the character map and no piece spans
    /// such a place, and the normalizer has nothing to remember there. The same is true after a line end that
    /// is a chunk by itself.
    fn split_point(&self, stages: &Stages, text: &str, start: usize, reach: usize) -> usize {
        if self.parts == Parts::Nowhere {
            return text.len();
        }
        let (_, normalizer) = stages_of(stages);
        let cuts_behind = |byte| byte == b'\n' && self.parts == Parts::BehindLines;
        split_point(text, start, reach, cuts_behind, |space, at| {
            let before = &text[space..at];
            before != " " && {
                let before = normalizer.normalize_part(before, false);
                !before.is_empty() && !before.ends_with(SPACE)
            }
        })
    }

    fn spanning(&self) -> Spanning {
        Spanning::Chunks
    }

    fn is_space(&self, byte: u8) -> bool {
        self.delimiters.is_space(byte)
    }

    fn needs_whole_text(&self) -> bool {
        matches!(self.solving, Solving::Unigram(_))
    }

    fn splits_looking_back(&self) -> bool {
        self.parts != Parts::Nowhere
    }
}

impl std::fmt::Debug for SentencePiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SentencePiece")
            .field("delimiters", &self.delimiters)
            .field("keeps_ascii", &self.keeps_ascii)
            .finish_non_exhaustive()
    }
}
