//! Training a Unigram model: what comes before the pieces are learnt, and after.
//!
//! Look here for how texts are normalized, and which ids the pieces have that stand for no text of
//! the corpus.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rayon::prelude::*;

use super::parameters::PieceTrainer;
use crate::word_counts::WordCounts;
use crate::{Progress, Trainer, Watch, checks};
use jeton_models::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_models::model::{Unigram, byte_token};
use jeton_stages::normalizer::{Charsmap, Normalization, SentencePieceNormalizer, WhiteSpace};
use jeton_text::error::{Error, ErrorKind, Result};

/// Pieces that are not learnt, by id: how each is spelled, and what it is for.
pub type PiecesById = BTreeMap<usize, (String, PieceKind)>;

/// The pieces beside those that are learnt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaPieces {
    /// What stands for text that no piece covers, and its id; without it, such text is an error. A
    /// `.model` file must have it.
    pub unk: Option<(String, usize)>,
    /// The piece at the beginning of a text, and its id.
    pub bos: Option<(String, usize)>,
    /// The piece at the end of a text, and its id.
    pub eos: Option<(String, usize)>,
    /// The piece that fills rows, and its id.
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
        let control = self
            .control
            .iter()
            .map(|text| (text.clone(), PieceKind::Control));
        let defined = self.user_defined.iter();
        let defined = defined.map(|text| (text.clone(), PieceKind::UserDefined));
        let bytes = (0..=u8::MAX).filter(|_| self.byte_fallback).map(|byte| {
            let text = byte_token(byte).into_iter().map(char::from);
            (text.collect(), PieceKind::Byte)
        });
        let mut free = 0;
        for piece in control.chain(defined).chain(bytes) {
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

/// What a Unigram tokenizer is trained for; `pieces`, `exact` and `meta_pieces` of `learning` are set
/// from the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramTrainer {
    /// How many pieces there are in the end, those that are not learnt included.
    pub vocab_size: usize,
    /// Whether fewer are an error.
    pub hard_vocab_limit: bool,
    /// The pieces that are not learnt.
    pub meta: MetaPieces,
    /// How pieces are learnt.
    pub learning: PieceTrainer,
    /// The rules by which text is normalized.
    pub normalization: Normalization,
    /// A space is put in front of a text (or at its end, where spaces end words).
    pub add_dummy_prefix: bool,
    /// Spaces at the ends of a text are removed, and runs of them made one.
    pub remove_extra_whitespaces: bool,
}

impl Default for UnigramTrainer {
    fn default() -> Self {
        Self {
            vocab_size: 8_000,
            hard_vocab_limit: true,
            meta: MetaPieces::default(),
            learning: PieceTrainer::default(),
            normalization: Normalization::default(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
        }
    }
}

/// The bytes at which lines end.
const LINE_ENDS: &[u8] = b"\n\r";

impl UnigramTrainer {
    /// What is left to be learnt, and the other pieces.
    fn split(&self) -> Result<(PieceTrainer, PiecesById)> {
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
        let learning = PieceTrainer {
            pieces: self.vocab_size - meta.len(),
            exact: self.hard_vocab_limit,
            meta_pieces: meta.values().map(|(text, _)| text.clone()).collect(),
            ..self.learning.clone()
        };
        Ok((learning, meta))
    }

    /// The bytes between which texts can be counted by themselves: spaces, if a word is normalized
    /// as it is inside its text, or else the ends of lines.
    pub fn separators(&self) -> &'static [u8] {
        let is_plain = |text: &String| !text.contains([' ', '▁', '\t', '\n', '\r', '\u{C}']);
        let has_plain_meta = self
            .meta
            .control
            .iter()
            .chain(&self.meta.user_defined)
            .all(is_plain);
        let rules = &self.learning.rules;
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
            suffix: self.learning.rules.treat_whitespace_as_suffix,
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
        let parts: Vec<Vec<(String, u64)>> = texts
            .par_chunks(1 << 14)
            .map(|part| {
                let lines = part.iter().flat_map(|&(text, count)| {
                    text.split(['\n', '\r']).map(move |line| (line, count))
                });
                lines
                    .map(|(line, count)| (normalizer.normalize_str(line), count))
                    .collect()
            })
            .collect();
        WordCounts::from_words(
            (parts.iter().flatten()).map(|(text, count)| (text.as_str(), *count)),
        )
    }

    /// The `.model` file that is trained from texts; each is taken as often as it is counted.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use jeton_training::unigram::UnigramTrainer;
    /// use jeton_training::word_counts::WordCounts;
    ///
    /// let texts = ["to be or not to be", "that is the question"].map(|text| (text, 1));
    /// let trainer = UnigramTrainer { vocab_size: 18, ..Default::default() };
    /// let watch = |_| ControlFlow::Continue(());
    /// let proto = trainer.train_sentencepiece(&WordCounts::from_words(texts), watch)?;
    /// assert_eq!(proto.pieces.len(), 18);
    /// assert_eq!(proto.pieces.iter().next().map(|piece| piece.text), Some("<unk>"));
    /// # Ok::<(), jeton_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Trainer::train`]; no unknown piece.
    pub fn train_sentencepiece(
        &self,
        texts: &WordCounts,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ModelProto> {
        self.check()?;
        if self.meta.unk.is_none() {
            return checks::wrong(
                "a SentencePiece model must have an unk_token",
                "name it; \"<unk>\" is common",
            );
        }
        let pieces = self.pieces(&self.normalized(texts), &mut Watch(&mut watch))?;
        let name = |piece: &Option<(String, usize)>, default: String| {
            piece.as_ref().map_or(default, |(text, _)| text.clone())
        };
        let default = TrainerSpec::default();
        let trainer = TrainerSpec {
            algorithm: Algorithm::Unigram,
            treat_whitespace_as_suffix: self.learning.rules.treat_whitespace_as_suffix,
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
        Ok(ModelProto::new(pieces, trainer, normalizer))
    }

    /// All pieces by id.
    fn pieces(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<Vec<Piece>> {
        let (learning, mut meta) = self.split()?;
        let learnt = learning.fit(words, watch)?;
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
}

/// Learns the model of a `tokenizer.json` from words as it would see them.
///
/// # Errors
/// Beside those of [`Trainer::train`], a `vocab_size` that does not hold the pieces that are not
/// learnt; fewer pieces than `vocab_size` if that is a hard limit.
impl Trainer for UnigramTrainer {
    type Trained = Unigram;

    fn check(&self) -> Result<()> {
        let (learning, _) = self.split()?;
        learning.check()
    }

    fn fit(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<Unigram> {
        let pieces = self.pieces(words, watch)?;
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
