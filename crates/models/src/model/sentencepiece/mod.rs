//! The pieces of normalized text in a SentencePiece model, by any of its four algorithms.
//!
//! Look here for Llama 2's, Mistral's, T5's or XLM-R's `.model` files. Their BPE and Unigram differ
//! from those of `tokenizer.json` in [`super::Bpe`] and [`super::Unigram`]: pairs are merged by the
//! score of the joined piece, and sums of scores are rounded to 32 bits. `emit` turns unknown text into
//! bytes or the unknown token.

mod bpe;
mod lattice;
mod nbest;
mod roles;
mod sampling;
pub mod spec;
#[cfg(test)]
mod tests;
mod unigram;

pub use nbest::MAX_PATHS;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Sampler;
use super::steps::{Observer, UnitKind};
use super::token::Token;
use jeton_stages::tables::trie::Trie;
use jeton_stages::vocab::Vocab;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::threads::{LARGE, both};
use roles::{Roles, is_text, vocab_of};
use spec::{Algorithm, ModelProto, PieceKind};

/// Score by which a character that no piece covers is worse than the worst piece.
const UNK_PENALTY: f32 = 10.0;

/// A SentencePiece model: the file, and what is looked up in it.
///
/// ```
/// use jeton_models::model::sentencepiece::spec::{
///     ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
/// };
/// use jeton_models::model::{Model, Sampler, Sampling, SentencePiece};
///
/// let pieces = vec![
///     Piece::new("<unk>", 0.0, PieceKind::Unknown),
///     Piece::new("▁", -3.0, PieceKind::Normal),
///     Piece::new("a", -2.0, PieceKind::Normal),
///     Piece::new("b", -2.0, PieceKind::Normal),
///     Piece::new("ab", -3.0, PieceKind::Normal),
/// ];
/// let proto = ModelProto::new(pieces, TrainerSpec::default(), NormalizerSpec::default());
/// let model = Model::SentencePiece(SentencePiece::new(proto)?);
/// let mut tokens = Vec::new();
/// model.tokenize("▁abba", &mut Sampler::new(Sampling::default()), &mut tokens)?;
/// let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
/// assert_eq!(ids, [1, 4, 3, 2]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct SentencePiece {
    proto: Box<ModelProto>,
    /// All pieces; a spelling that two of them have is that of the one that text never becomes.
    vocab: Vocab,
    /// The pieces of text with the spelling of a control, unknown or byte piece, as all models but
    /// BPE may have them; each after a NUL, which no piece holds.
    twins: Vocab,
    roles: Roles,
}

/// A stretch of text and the piece that covers it; without one it is unknown.
pub type Segment = (Range<usize>, Option<u32>);

impl SentencePiece {
    /// The model of a file.
    ///
    /// # Errors
    /// Pieces that contradict each other, named as far as they can be.
    pub fn new(proto: ModelProto) -> Result<Self> {
        let (roles, spellings) = both(
            proto.pieces.len() >= LARGE,
            || Roles::of(&proto),
            || vocab_of(&proto),
        );
        let (roles, (vocab, twins)) = (roles?, spellings?);
        Ok(Self {
            vocab,
            twins,
            roles,
            proto: Box::new(proto),
        })
    }

    /// The file.
    pub fn proto(&self) -> &ModelProto {
        &self.proto
    }

    /// The lowest score of a piece that text may become.
    pub fn min_score(&self) -> f32 {
        self.roles.min_score
    }

    /// The vocabulary: pieces as the file spells them.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// See [`Model::withhold`](super::Model::withhold).
    pub(super) fn withhold(&mut self, ids: &[u32]) {
        let kinds = self.proto.pieces.kinds();
        let is_text = |id: &u32| kinds.get(*id as usize).is_some_and(|kind| is_text(*kind));
        let texts: Vec<u32> = ids.iter().copied().filter(is_text).collect();
        let user_defined = |vocab: &Vocab| {
            let mut ids = vocab.withheld().ids();
            ids.retain(|id| kinds[*id as usize] == PieceKind::UserDefined);
            ids
        };
        let before = user_defined(&self.vocab);
        self.roles.trie.withhold(&mut self.vocab, &texts);
        let (vocab, trie) = (&self.vocab, &mut self.roles.user_defined);
        trie.put_back(vocab, &before);
        trie.take_out(vocab, &user_defined(vocab));
    }

    /// The same model with fewer pieces: of those that text may become, it becomes only the valid ones,
    /// and single characters and user-defined ones. What an unknown character costs stays.
    ///
    /// # Errors
    /// A model of words or of characters, which has no use for it.
    pub fn restricted(&self, is_valid: impl Fn(&str) -> bool) -> Result<Self> {
        let algorithm = self.proto.trainer().algorithm;
        if !matches!(algorithm, Algorithm::Unigram | Algorithm::Bpe) {
            let message = format!("a {} model has no parts of words", algorithm.name());
            return Err(Error::new(ErrorKind::Unsupported, message)
                .hint("restrict the vocabulary of a Unigram or BPE model"));
        }
        let mut proto = (*self.proto).clone();
        proto.pieces.restrict(is_valid);
        let mut restricted = Self::new(proto)?;
        restricted.roles.min_score = self.roles.min_score;
        Ok(restricted)
    }

    /// The tokens of normalized text, appended to `tokens`.
    ///
    /// The token of a byte holds that byte. With an `alpha` the segmentation is drawn
    /// at random: of the `nbest_size` best or of all of them (Unigram), or by leaving merges out
    /// (BPE).
    ///
    /// # Errors
    /// A model that cannot be drawn from.
    pub fn tokenize(
        &self,
        piece: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let segments = self.segments(piece, sampler, observer)?;
        self.emit(piece, segments, tokens, observer);
        Ok(())
    }

    /// Normalized text in segments, drawn as in [`Self::tokenize`].
    ///
    /// # Errors
    /// A model that cannot be drawn from.
    pub fn segments(
        &self,
        piece: &str,
        sampler: &mut Sampler,
        observer: &mut impl Observer,
    ) -> Result<Vec<Segment>> {
        Ok(match self.proto.trainer().algorithm {
            Algorithm::Unigram => match sampler.alpha() {
                None => self.best_path_after(0.0, piece, observer).0,
                Some(alpha) => self.sample_path(piece, alpha, sampler),
            },
            Algorithm::Bpe => self.merge(piece, sampler, observer),
            algorithm @ (Algorithm::Word | Algorithm::Char) => {
                if sampler.alpha().is_some() {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        format!(
                            "a {} model gives only one segmentation of a text",
                            algorithm.name()
                        ),
                    )
                    .hint("encode without sampling"));
                }
                match algorithm {
                    Algorithm::Word => self.words(piece),
                    _ => self.characters(piece),
                }
            }
        })
    }

    /// The `size` best segmentations of normalized text, best first, each with its score.
    ///
    /// # Errors
    /// A model that is not Unigram: the others know of one segmentation only.
    pub fn n_best(&self, piece: &str, size: usize) -> Result<Vec<(Vec<Token>, f32)>> {
        self.check_knows_all()?;
        let paths = self.best_paths(piece, size);
        Ok(paths
            .into_iter()
            .map(|(segments, score)| {
                let mut tokens = Vec::new();
                self.emit(piece, segments, &mut tokens, &mut ());
                (tokens, score)
            })
            .collect())
    }

    /// Refuses a model that is not Unigram: the others know of one segmentation only.
    pub fn check_knows_all(&self) -> Result<()> {
        match self.proto.trainer().algorithm {
            Algorithm::Unigram => Ok(()),
            algorithm => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "a {} model gives only one segmentation of a text",
                    algorithm.name()
                ),
            )),
        }
    }

    /// Tokens of segments: unknown ones become bytes, or else neighbours become one token.
    fn emit<O: Observer>(
        &self,
        text: &str,
        segments: Vec<Segment>,
        tokens: &mut Vec<Token>,
        observer: &mut O,
    ) {
        let mut after_unknown = false;
        for (range, id) in segments {
            let unit = &text.as_bytes()[range.clone()];
            let first = tokens.len();
            let kind = match (id, &self.roles.byte_ids, self.roles.unk_id) {
                (Some(id), _, _) => {
                    tokens.push(Token { id, range });
                    UnitKind::Known
                }
                (None, Some(byte_ids), _) => {
                    tokens.extend(range.map(|at| Token {
                        id: byte_ids[usize::from(text.as_bytes()[at])],
                        range: at..at + 1,
                    }));
                    UnitKind::Bytes
                }
                (None, None, Some(id)) => match tokens.last_mut() {
                    Some(last) if after_unknown => {
                        last.range.end = range.end;
                        UnitKind::Fused
                    }
                    _ => {
                        tokens.push(Token { id, range });
                        UnitKind::Unknown
                    }
                },
                (None, None, None) => unreachable!("checked when the model was made"),
            };
            after_unknown = kind != UnitKind::Known;
            if O::HEARS {
                let ids: Vec<u32> = tokens[first..].iter().map(|token| token.id).collect();
                observer.unit(unit, &ids, kind);
            }
        }
    }

    /// The piece of unknown text, if there is one.
    pub fn unk_id(&self) -> Option<u32> {
        self.roles.unk_id
    }

    /// The pieces of the 256 bytes, where unknown text is written as bytes.
    pub fn byte_ids(&self) -> Option<&[u32]> {
        self.roles.byte_ids.as_deref()
    }

    /// The pieces that text may consist of, unused ones included; none but for Unigram.
    pub fn trie(&self) -> &Trie {
        &self.roles.trie
    }

    /// What text may make of a piece: a withheld one is a control piece, whatever the file says.
    pub fn kind(&self, id: u32) -> PieceKind {
        if self.vocab.withheld().contains(id) {
            PieceKind::Control
        } else {
            self.proto.pieces.kinds()[id as usize]
        }
    }

    /// The score of a piece, as its file has it.
    pub fn score(&self, id: u32) -> f32 {
        self.proto.pieces.scores()[id as usize]
    }

    /// The piece that text of this spelling may be, unused ones included.
    pub fn piece_id(&self, text: &str) -> Option<u32> {
        let id = self.vocab.id(text.as_bytes())?;
        if is_text(self.kind(id)) {
            return Some(id);
        }
        if self.twins.is_empty() {
            return None;
        }
        let twin = self.twins.id(&[b"\0", text.as_bytes()].concat());
        twin.filter(|id| is_text(self.kind(*id)))
    }

    /// A piece of text that is spelled as a piece is that text never becomes.
    pub fn twin(&self) -> Option<&str> {
        let (_, id) = self.twins.iter().next()?;
        self.proto.pieces.get(id).map(|piece| piece.text)
    }

    /// What the decoder of such a model gets for a piece, where that is not its spelling.
    pub fn to_decoder(&self, id: u32) -> Option<&[u8]> {
        self.twins.token(id)
    }

    /// The piece that text of this spelling is.
    fn used_id(&self, text: &str) -> Option<u32> {
        self.piece_id(text)
            .filter(|id| self.kind(*id) != PieceKind::Unused)
    }

    /// The text split into user-defined pieces, as long as can be, and single characters; with each,
    /// whether it is user-defined.
    pub fn symbols<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Range<usize>, bool)> + 'a {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = &text[at..];
            let trie = &self.roles.user_defined;
            let user_defined = trie.prefixes(trie.root(), rest.as_bytes()).last();
            let length = match user_defined {
                Some((_, length)) => length,
                None => rest.chars().next()?.len_utf8(),
            };
            at += length;
            Some((at - length..at, user_defined.is_some()))
        })
    }

    /// Whether user-defined pieces are split off from this text.
    pub fn holds_user_defined(&self, text: &str) -> bool {
        self.roles.has_user_defined && self.symbols(text).any(|(_, user_defined)| user_defined)
    }

    fn characters(&self, text: &str) -> Vec<Segment> {
        self.symbols(text)
            .map(|(range, _)| (range.clone(), self.used_id(&text[range])))
            .collect()
    }

    /// The text split before each space, even where spaces end words.
    fn words(&self, text: &str) -> Vec<Segment> {
        let spaces = text.match_indices('▁').map(|(at, _)| at);
        let cuts = spaces.chain([text.len()]);
        let mut segments = Vec::new();
        let mut start = 0;
        for end in cuts {
            if start < end {
                segments.push((start..end, self.used_id(&text[start..end])));
                start = end;
            }
        }
        segments
    }
}

impl PartialEq for SentencePiece {
    fn eq(&self, other: &Self) -> bool {
        self.proto == other.proto
    }
}

impl std::fmt::Debug for SentencePiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SentencePiece")
            .field("trainer", self.proto.trainer())
            .field("pieces", &self.proto.pieces.len())
            .finish()
    }
}

impl TryFrom<Vec<u8>> for SentencePiece {
    type Error = Error;

    fn try_from(file: Vec<u8>) -> Result<Self> {
        Self::new(ModelProto::read(&file)?)
    }
}

impl From<SentencePiece> for Vec<u8> {
    fn from(model: SentencePiece) -> Self {
        model.proto.write()
    }
}
