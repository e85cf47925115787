//! The compiled path: only ids, as fast as the machine allows, for tokenizers whose stages it knows.
//!
//! Beside the staged path, which is the meaning, stands this one: [`Compiled::new`] says for which
//! tokenizers, and the property tests hold the two equal. One file a family; look here for which
//! there are.

mod byte_level;
mod cuts;
mod merges;
mod scanner;
mod sink;
mod splitter;
mod starts;
mod words;

pub(crate) use scanner::Scanner;
pub use sink::{Count, Sink};
pub(crate) use splitter::Splitter;
pub(crate) use words::{SHORT, ShortKey};

use byte_level::ByteLevel;

use crate::error::Result;
use crate::model::Model;
use crate::tokenizer::Stages;

/// A tokenizer, compiled: one variant a family.
#[derive(Debug)]
pub enum Compiled {
    /// Byte-level BPE.
    ByteLevel(ByteLevel),
}

impl Compiled {
    /// The compiled form of these stages, if the path knows all of them.
    pub fn new(stages: &Stages) -> Option<Self> {
        match (&stages.normalizer, &stages.model) {
            (None, Model::Bpe(bpe)) => {
                ByteLevel::new(stages.pre_tokenizer.as_ref(), bpe).map(Self::ByteLevel)
            }
            _ => None,
        }
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`. `stages` are those
    /// that this was compiled from.
    ///
    /// # Errors
    /// As the stages.
    pub fn encode(&self, stages: &Stages, text: &str, sink: &mut impl Sink) -> Result<()> {
        match (self, &stages.model) {
            (Self::ByteLevel(compiled), Model::Bpe(bpe)) => compiled.encode(bpe, text, sink),
            _ => unreachable!("compiled from other stages"),
        }
    }

    /// Where a part of `text` that is encoded by itself ends, if it begins at `start` and shall
    /// have about `reach` bytes; the whole rest where no such place is known.
    pub fn part_end(&self, text: &str, start: usize, reach: usize) -> usize {
        match self {
            Self::ByteLevel(compiled) => compiled.part_end(text, start, reach),
        }
    }
}
