//! The compiled path: only ids, as fast as the machine allows, for tokenizers whose stages it knows.
//!
//! Beside the staged path, which is the meaning, stands this one: [`Compiled::new`] says for which
//! tokenizers, and the property tests hold the two equal. One folder a way: `byte_level`,
//! `sentencepiece`, and `by_stages` for all that are cut into words and given to the stages when new.
//! They share `cutting`, which says where pieces lie, and `cache`, which knows those met before; the
//! tables that merges and pieces are found in stand beside the folders.

mod byte_level;
mod cache;
pub mod cached_pieces;
mod fallback;
pub mod metaspace;
mod sentencepiece;
mod sink;
pub mod whitespace_words;

pub use cache::words::{limit as cache_limit, set_limit as set_cache_limit};
pub use sink::{Count, Sink};

use byte_level::ByteLevel;
use cached_pieces::Piecewise;
use metaspace::Metaspace;
use sentencepiece::SentencePiece;
pub(crate) use sentencepiece::{Front, Guess, Settling};
use whitespace_words::Local;

use std::rc::Rc;

use crate::error::Result;
use crate::growth::Growth;
use crate::model::Model;
use crate::normalizer::Normalizer;
use crate::stages::Stages;

/// A tokenizer, compiled: one variant a family.
#[derive(Debug)]
pub enum Compiled {
    /// Byte-level BPE.
    ByteLevel(Box<ByteLevel>),
    /// What a SentencePiece `.model` file says.
    SentencePiece(Box<SentencePiece>),
    /// What a `tokenizer.json` says in the manner of SentencePiece.
    Metaspace(Box<Metaspace>),
    /// Words by themselves, whatever becomes of them.
    Local(Local),
    /// Pieces by themselves, whatever cuts them.
    Piecewise(Box<Piecewise>),
}

/// Where text stands that is encoded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the front of its text.
    First,
    /// Behind an added token.
    Section,
    /// Behind another part; see [`Compiled::part_end`].
    Inner,
}

impl Compiled {
    /// The compiled form of these stages, if the path knows all of them.
    pub fn new(stages: &Stages) -> Option<Self> {
        let own = match (&stages.normalizer, &stages.model) {
            (normalizer, Model::Bpe(bpe)) => {
                ByteLevel::new(normalizer.as_ref(), stages.pre_tokenizer.as_ref(), bpe)
                    .map(|it| Self::ByteLevel(Box::new(it)))
            }
            (Some(Normalizer::SentencePiece(normalizer)), Model::SentencePiece(model))
                if stages.pre_tokenizer.is_none() =>
            {
                SentencePiece::new(model, normalizer).map(|it| Self::SentencePiece(Box::new(it)))
            }
            _ => None,
        };
        own.or_else(|| Metaspace::new(stages).map(|it| Self::Metaspace(Box::new(it))))
            .or_else(|| Local::new(stages).map(Self::Local))
            .or_else(|| Piecewise::new(stages).map(|it| Self::Piecewise(Box::new(it))))
    }

    /// Whether it may be given normalized text instead of the text that was made from.
    pub fn may_be_normalized(&self) -> bool {
        matches!(self, Self::ByteLevel(_) | Self::Piecewise(_))
    }

    /// Whether each token holds bytes of the text, so that there are no more tokens than bytes.
    pub fn tokens_are_bytes_of_text(&self) -> bool {
        matches!(self, Self::ByteLevel(compiled) if compiled.reads_text_as_it_is())
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`. `stages` are those
    /// that this was compiled from; `is_normalized` says that the text went through the normalizer;
    /// `growth` has the length of the whole that it is of.
    ///
    /// # Errors
    /// As the stages.
    pub(crate) fn encode(
        &self,
        stages: &Stages,
        text: &str,
        place: Place,
        is_normalized: bool,
        growth: &Rc<Growth>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match (self, &stages.normalizer, &stages.model) {
            (Self::ByteLevel(compiled), ..) => compiled.encode(text, sink),
            (
                Self::SentencePiece(compiled),
                Some(Normalizer::SentencePiece(normalizer)),
                Model::SentencePiece(model),
            ) => compiled.encode(model, normalizer, text, place, sink),
            (Self::Metaspace(compiled), ..) => compiled.encode(stages, text, place, sink),
            (Self::Local(compiled), ..) => compiled.encode(stages, text, sink),
            (Self::Piecewise(compiled), ..) => {
                compiled.encode(stages, text, is_normalized, growth, sink)
            }
            _ => unreachable!("compiled from other stages"),
        }
    }

    /// What the parts of a text are guessed and settled with, if they are not encoded by themselves.
    pub(crate) fn settling<'s>(&'s self, stages: &'s Stages) -> Option<Settling<'s>> {
        match (self, &stages.normalizer, &stages.model) {
            (
                Self::SentencePiece(compiled),
                Some(Normalizer::SentencePiece(normalizer)),
                Model::SentencePiece(model),
            ) => compiled.settling(model, normalizer),
            _ => None,
        }
    }

    /// Where a part of `text` ends, if it begins at `start` and shall have about `reach` bytes; the
    /// whole rest where no such place is known. It is encoded by itself, or guessed and settled.
    pub fn part_end(&self, stages: &Stages, text: &str, start: usize, reach: usize) -> usize {
        match (self, &stages.normalizer) {
            (Self::ByteLevel(compiled), _) => compiled.part_end(text, start, reach),
            (Self::Metaspace(compiled), _) => compiled.part_end(text, start, reach),
            (Self::Local(compiled), _) => compiled.part_end(text, start, reach),
            (Self::Piecewise(compiled), normalizer) => {
                compiled.part_end(normalizer.as_ref(), text, start, reach)
            }
            (Self::SentencePiece(compiled), Some(Normalizer::SentencePiece(normalizer))) => {
                compiled.part_end(normalizer, text, start, reach)
            }
            _ => unreachable!("compiled from other stages"),
        }
    }
}
