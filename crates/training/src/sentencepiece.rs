//! Training as SentencePiece does it: the steps before and after the learning of pieces.
//!
//! Look here for how texts are normalized, and for the ids of pieces that do not come from the corpus.
//! `unigram` or `bpe/pieces.rs` learns the others.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bpe::{BpePieces, MergedPieces};
use super::pieces::{PieceOptions, ScoredPiece};
use super::unigram::UnigramPieces;
use crate::word_counts::WordCounts;
use crate::{Progress, Trainer, Watch, checks};
use jeton_models::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_models::model::{Unigram, byte_token};
use jeton_stages::normalizer::{Charsmap, Normalization, SentencePieceNormalizer, WhiteSpace};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{Listener, paced};

/// Pieces that are not learnt, by id: the spelling and the kind of each.
pub type PiecesById = BTreeMap<usize, (String, PieceKind)>;

/// The pieces that are not learnt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaPieces {
    /// The piece of text that no other piece covers, and its id; without it, such text is an error. A
    /// `.model` file must have it.
    pub unk: Option<(String, usize)>,
    /// The piece at the beginning of a text, and its id.
    pub bos: Option<(String, usize)>,
    /// The piece at the end of a text, and its id.
    pub eos: Option<(String, usize)>,
    /// The piece that pads sequences, and its id.
    pub pad: Option<(String, usize)>,
    /// Pieces that text never becomes; they have the first free ids.
    pub control: Vec<String>,
    /// Pieces that are found in text before any other; they have the next ids.
    pub user_defined: Vec<String>,
    /// Whether there is a piece for each byte, so that no text is unknown; they come next.
    pub byte_fallback: bool,
}

impl Default for MetaPieces {
    fn default() -> Self {
        Self {
            unk: Some(("<unk>".to_owned(), 0)),
            bos: Some(("<s>".to_owned(), 1)),
            eos: Some(("</s>".to_owned(), 2)),
            pad: None,
            control: Vec::new(),
            user_defined: Vec::new(),
            byte_fallback: false,
        }
    }
}

impl MetaPieces {
    /// The pieces by id.
    ///
    /// # Errors
    /// A piece that is empty, holds U+0000 or comes twice; two pieces with one id.
    pub fn by_id(&self) -> Result<PiecesById> {
        let mut pieces = PiecesById::new();
        let placed = [
            (self.unk.as_ref(), PieceKind::Unknown),
            (self.bos.as_ref(), PieceKind::Control),
            (self.eos.as_ref(), PieceKind::Control),
            (self.pad.as_ref(), PieceKind::Control),
        ];
        for ((text, id), kind) in placed
            .into_iter()
            .filter_map(|(at, kind)| Some((at?, kind)))
        {
            if let Some((other, _)) = pieces.insert(*id, (text.clone(), kind)) {
                return checks::wrong(
                    format!("{other:?} and {text:?} both have the id {id}"),
                    "give each an id of its own",
                );
            }
        }
        let control = self.control.iter().map(|text| (text, PieceKind::Control));
        let defined = self.user_defined.iter();
        let defined = defined.map(|text| (text, PieceKind::UserDefined));
        let roles: Vec<usize> = pieces.keys().copied().collect();
        let mut others = Vec::new();
        for (text, kind) in control.chain(defined) {
            // Who names a piece once more means that piece; of the user, text may become it.
            let role = roles.iter().find(|id| pieces[id].0 == *text);
            match role.and_then(|id| pieces.get_mut(id)) {
                Some((_, known)) if kind == PieceKind::Control || *known == PieceKind::Control => {
                    if *known == PieceKind::Control {
                        *known = kind;
                    }
                }
                _ => others.push((text.clone(), kind)),
            }
        }
        let bytes = (0..=u8::MAX).filter(|_| self.byte_fallback).map(|byte| {
            let text = byte_token(byte).into_iter().map(char::from);
            (text.collect(), PieceKind::Byte)
        });
        let mut free = 0;
        for piece in others.into_iter().chain(bytes) {
            while pieces.contains_key(&free) {
                free += 1;
            }
            pieces.insert(free, piece);
        }
        let mut texts: Vec<&str> = pieces.values().map(|(text, _)| text.as_str()).collect();
        texts.sort_unstable();
        if texts
            .iter()
            .any(|text| text.is_empty() || text.contains('\0'))
        {
            return checks::wrong(
                "a special token or user-defined symbol is empty or holds U+0000",
                "leave it out",
            );
        }
        if let Some(twice) = texts.windows(2).find(|two| two[0] == two[1]) {
            return checks::wrong(
                format!("{:?} is there twice", twice[0]),
                "name each special token and user-defined symbol once",
            );
        }
        Ok(pieces)
    }
}

/// How pieces are learnt.
#[derive(Clone, Debug, PartialEq)]
pub enum Learning {
    /// By their probability.
    Unigram(UnigramPieces),
    /// By merging pairs.
    Bpe(BpePieces),
}

impl Default for Learning {
    fn default() -> Self {
        Self::Unigram(UnigramPieces::default())
    }
}

impl Learning {
    fn options(&self) -> &PieceOptions {
        match self {
            Self::Unigram(learning) => &learning.options,
            Self::Bpe(learning) => &learning.options,
        }
    }

    fn options_mut(&mut self) -> &mut PieceOptions {
        match self {
            Self::Unigram(learning) => &mut learning.options,
            Self::Bpe(learning) => &mut learning.options,
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            Self::Unigram(learning) => learning.check(),
            Self::Bpe(learning) => learning.check(),
        }
    }

    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Unigram(_) => Algorithm::Unigram,
            Self::Bpe(_) => Algorithm::Bpe,
        }
    }
}

/// Trains a SentencePiece model, with these parameters. Of the options of `learning`, training sets
/// `pieces`, `exact` and `meta_pieces` from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct SentencePieceTrainer {
    /// How many pieces there are in the end, those that are not learnt included.
    pub vocab_size: usize,
    /// Whether fewer are an error.
    pub hard_vocab_limit: bool,
    /// The pieces that are not learnt.
    pub meta: MetaPieces,
    /// How pieces are learnt.
    pub learning: Learning,
    /// The rules by which text is normalized.
    pub normalization: Normalization,
    /// A space is put in front of a text (or at its end, where spaces end words).
    pub add_dummy_prefix: bool,
    /// Spaces at the ends of a text are removed, and runs of them made one.
    pub remove_extra_whitespaces: bool,
}

impl Default for SentencePieceTrainer {
    fn default() -> Self {
        Self {
            vocab_size: 8_000,
            hard_vocab_limit: true,
            meta: MetaPieces::default(),
            learning: Learning::default(),
            normalization: Normalization::default(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
        }
    }
}

/// The bytes at which lines end.
const LINE_ENDS: &[u8] = b"\n\r";

impl SentencePieceTrainer {
    /// What is left to be learnt, and the other pieces.
    fn split(&self) -> Result<(Learning, PiecesById)> {
        checks::check_vocab_size(self.vocab_size)?;
        let meta = self.meta.by_id()?;
        let largest = meta.last_key_value().map_or(0, |(id, _)| *id);
        if largest >= self.vocab_size || meta.len() >= self.vocab_size {
            return Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "vocab_size {} does not hold the {} special tokens, symbols and bytes, the \
                     last of which has id {largest}",
                    self.vocab_size,
                    meta.len()
                ),
            )
            .hint("raise vocab_size"));
        }
        let mut learning = self.learning.clone();
        let options = learning.options_mut();
        options.pieces = self.vocab_size - meta.len();
        options.exact = self.hard_vocab_limit;
        options.meta_pieces = meta.values().map(|(text, _)| text.clone()).collect();
        Ok((learning, meta))
    }

    /// The bytes between which texts can be counted separately: spaces, if a word is normalized
    /// as it is inside its text, or else the ends of lines.
    pub fn separators(&self) -> &'static [u8] {
        let is_plain = |text: &String| !text.contains([' ', '▁', '\t', '\n', '\r', '\u{C}']);
        let has_plain_meta = self
            .meta
            .control
            .iter()
            .chain(&self.meta.user_defined)
            .all(is_plain);
        let rules = &self.learning.options().rules;
        let by_word = self.add_dummy_prefix
            && self.remove_extra_whitespaces
            && rules.split_by_whitespace
            && has_plain_meta;
        match self.normalization {
            Normalization::NmtNfkc | Normalization::NmtNfkcCf if by_word => b" \t\n\r\x0C",
            Normalization::Nfkc | Normalization::NfkcCf | Normalization::Identity if by_word => {
                b" \n\r"
            }
            _ => LINE_ENDS,
        }
    }

    fn white_space(&self) -> WhiteSpace {
        WhiteSpace {
            add_dummy_prefix: self.add_dummy_prefix,
            remove_extra: self.remove_extra_whitespaces,
            escape: true,
            suffix: self.learning.options().rules.treat_whitespace_as_suffix,
            legacy: false,
        }
    }

    /// The texts as the model sees them: each line of a text is one.
    fn normalized(&self, texts: &WordCounts) -> WordCounts {
        let normalizer = SentencePieceNormalizer::new(
            self.normalization.charsmap().cloned(),
            self.white_space(),
            self.meta.user_defined.clone(),
        );
        let texts: Vec<(&str, u64)> = texts.iter().collect();
        let normalize = |part: &[(&str, u64)]| -> Vec<(String, u64)> {
            let lines = paced(part.iter())
                .flat_map(|&(text, count)| text.split(['\n', '\r']).map(move |line| (line, count)));
            lines
                .map(|(line, count)| (normalizer.normalize_str(line), count))
                .collect()
        };
        let parts: Vec<Vec<(String, u64)>> = Listener::lend(|listener| {
            let parts = texts.par_chunks(1 << 12);
            parts
                .map(|part| listener.during(|| normalize(part)))
                .collect()
        });
        WordCounts::from_words(
            (parts.iter().flatten()).map(|(text, count)| (text.as_str(), *count)),
        )
    }

    /// Learns the pieces from words, with parameters that are checked.
    fn learn(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<Learnt> {
        let (learning, _) = self.split()?;
        Ok(match learning {
            Learning::Unigram(learning) => Learnt::Unigram(learning.fit(words, watch)?),
            Learning::Bpe(learning) => Learnt::Bpe(learning.fit(words, watch)?),
        })
    }

    /// All pieces by id.
    fn pieces(&self, learnt: &Learnt) -> Result<Vec<Piece>> {
        let (learning, mut meta) = self.split()?;
        let learnt = match learnt {
            Learnt::Unigram(pieces) => pieces.clone(),
            Learnt::Bpe(pieces) => {
                learning.options().check_room(pieces.characters())?;
                pieces.first(learning.options().pieces)
            }
        };
        let size = learnt.len() + meta.len();
        let largest = meta.last_key_value().map_or(0, |(id, _)| *id);
        if size < self.vocab_size && (self.hard_vocab_limit || largest >= size) {
            return Err(Error::new(
                ErrorKind::Training,
                format!(
                    "vocab_size {} is more than the {size} pieces that this corpus supports",
                    self.vocab_size
                ),
            )
            .hint(format!(
                "set vocab_size to at most {size}, or hard_vocab_limit=False to take what there is"
            )));
        }
        let mut learnt = learnt.into_iter();
        let pieces = (0..size).map(|id| match meta.remove(&id) {
            Some((text, kind)) => Piece::new(text, 0.0, kind),
            None => {
                let piece = learnt.next().expect("as many as there are ids left");
                Piece::new(piece.text, piece.score as f32, PieceKind::Normal)
            }
        });
        Ok(pieces.collect())
    }

    /// The `.model` file of pieces.
    fn proto(&self, pieces: Vec<Piece>) -> ModelProto {
        let name = |piece: &Option<(String, usize)>, default: String| {
            piece.as_ref().map_or(default, |(text, _)| text.clone())
        };
        let default = TrainerSpec::default();
        let trainer = TrainerSpec {
            algorithm: self.learning.algorithm(),
            treat_whitespace_as_suffix: self.learning.options().rules.treat_whitespace_as_suffix,
            byte_fallback: self.meta.byte_fallback,
            bos_piece: name(&self.meta.bos, default.bos_piece),
            eos_piece: name(&self.meta.eos, default.eos_piece),
            pad_piece: name(&self.meta.pad, default.pad_piece),
            unk_surface: default.unk_surface,
        };
        let charsmap = self.normalization.charsmap();
        let normalizer = NormalizerSpec {
            name: self.normalization.name().to_owned(),
            precompiled_charsmap: charsmap.map_or(Vec::new(), Charsmap::blob),
            add_dummy_prefix: self.add_dummy_prefix,
            remove_extra_whitespaces: self.remove_extra_whitespaces,
            escape_whitespaces: true,
        };
        ModelProto::new(pieces, trainer, normalizer)
    }

    /// The `.model` files of several sizes, each what training for it gives; none is larger than
    /// `vocab_size`. Pairs are merged in one run, and probabilities fitted in one for each size.
    ///
    /// # Errors
    /// As [`Trainer::train`], of each size.
    pub fn train_sizes(
        &self,
        texts: &WordCounts,
        sizes: &[usize],
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<ModelProto>> {
        let mut watch = Watch(&mut watch);
        let of_size = |vocab_size| Self {
            vocab_size,
            ..self.clone()
        };
        if let Learning::Unigram(_) = self.learning {
            let model = |&size: &usize| {
                let trainer = of_size(size);
                trainer.check()?;
                trainer.fit(texts, &mut watch)
            };
            return sizes.iter().map(model).collect();
        }
        self.check()?;
        let learnt = self.learn(&self.normalized(texts), &mut watch)?;
        let model = |&size: &usize| {
            let trainer = of_size(size);
            Ok(trainer.proto(trainer.pieces(&learnt)?))
        };
        sizes.iter().map(model).collect()
    }

    /// Learns the Unigram model of a `tokenizer.json` from words as it would see them.
    ///
    /// # Errors
    /// As [`Trainer::train`].
    pub fn train_unigram(
        &self,
        words: &WordCounts,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Unigram> {
        self.check()?;
        let pieces = self.pieces(&self.learn(words, &mut Watch(&mut watch))?)?;
        let unk_id = pieces
            .iter()
            .position(|piece| piece.kind == PieceKind::Unknown);
        Unigram::new(
            pieces
                .iter()
                .map(|piece| (&piece.text, f64::from(piece.score))),
            unk_id.map(|id| id as u32),
            self.meta.byte_fallback,
        )
    }
}

/// What was learnt.
enum Learnt {
    Unigram(Vec<ScoredPiece>),
    Bpe(MergedPieces),
}

/// Learns a `.model` file from texts; each is taken as often as it is counted.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_training::Trainer;
/// use jeton_training::sentencepiece::SentencePieceTrainer;
/// use jeton_training::word_counts::WordCounts;
///
/// let texts = ["to be or not to be", "that is the question"].map(|text| (text, 1));
/// let trainer = SentencePieceTrainer { vocab_size: 18, ..Default::default() };
/// let watch = |_| ControlFlow::Continue(());
/// let proto = trainer.train(&WordCounts::from_words(texts), watch)?;
/// assert_eq!(proto.pieces.len(), 18);
/// assert_eq!(proto.pieces.iter().next().map(|piece| piece.text), Some("<unk>"));
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// Beside those of [`Trainer::train`], a `vocab_size` that does not hold the pieces that are not
/// learnt; fewer pieces than `vocab_size` if that is a hard limit; no unknown piece.
impl Trainer for SentencePieceTrainer {
    type Trained = ModelProto;

    fn check(&self) -> Result<()> {
        let (learning, _) = self.split()?;
        learning.check()
    }

    fn fit(&self, texts: &WordCounts, watch: &mut Watch<'_>) -> Result<ModelProto> {
        if self.meta.unk.is_none() {
            return checks::wrong(
                "a SentencePiece model must have an unk_token",
                "name it; \"<unk>\" is common",
            );
        }
        let learnt = self.learn(&self.normalized(texts), watch)?;
        Ok(self.proto(self.pieces(&learnt)?))
    }
}
