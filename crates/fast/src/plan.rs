//! Which strategy of the fast path a tokenizer gets, and why not one of those tried before it.
//!
//! Look here for the order in which strategies are tried, and for what each of them does with a text.

use std::fmt;
use std::rc::Rc;

use super::byte_level::ByteLevel;
use super::cached_pieces::CachedPieces;
use super::sentencepiece::SentencePiece;
use super::sink::Sink;
use super::unsupported_stage::UnsupportedStage;
use super::words::Words;
use super::{Spanning, Stretch};
use jeton_models::model::Model;
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Normalizer;
use jeton_text::error::Result;
use jeton_text::length_limit::LengthLimit;

/// A way to encode text faster than by the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Byte-level BPE.
    ByteLevel,
    /// A SentencePiece `.model` file.
    SentencePiece,
    /// A `tokenizer.json` in the manner of SentencePiece.
    Metaspace,
    /// Words between white space.
    WhitespaceWords,
    /// Pieces of any pre-tokenizer.
    CachedPieces,
}

impl Strategy {
    /// All strategies, in the order in which they are asked.
    pub const ALL: [Self; 5] = [
        Self::ByteLevel,
        Self::SentencePiece,
        Self::Metaspace,
        Self::WhitespaceWords,
        Self::CachedPieces,
    ];

    /// Its name, as programs know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByteLevel => "byte_level",
            Self::SentencePiece => "sentencepiece",
            Self::Metaspace => "metaspace",
            Self::WhitespaceWords => "whitespace_words",
            Self::CachedPieces => "cached_pieces",
        }
    }

    /// What it does, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::ByteLevel => {
                "Byte-level BPE: a scanner splits the text into words, known words are looked up, and \
                 new ones are merged side by side."
            }
            Self::SentencePiece => {
                "A SentencePiece model: the text is split before spaces, known chunks are looked up, \
                 and new ones are normalized and segmented."
            }
            Self::Metaspace => {
                "SentencePiece's manner in a tokenizer.json: the text is split before spaces, known \
                 chunks are looked up, and new ones go through the stages."
            }
            Self::WhitespaceWords => {
                "Words between white space: the text is split there before it is normalized, known \
                 words are looked up, and new ones go through the stages."
            }
            Self::CachedPieces => {
                "Cached pieces: the text is normalized and split by the pre-tokenizer, known pieces \
                 are looked up, and new ones go to the model."
            }
        }
    }
}

/// What [`Plan`] says of a tokenizer that no strategy takes.
const STAGES_NAME: &str = "stages";
const STAGES_MEANING: &str = "No fast path: each text goes through all stages, one after another.";

/// How a tokenizer encodes text, and why not faster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The strategy; none if the stages do all the work.
    pub strategy: Option<Strategy>,
    /// The strategies that were asked before it, each with what kept it from taking the tokenizer.
    pub passed_over: Vec<(Strategy, UnsupportedStage)>,
    /// What keeps plain calls off the strategy although it takes the tokenizer.
    pub detours: Vec<UnsupportedStage>,
}

impl Plan {
    /// The name of the strategy, as programs know it.
    pub fn name(&self) -> &'static str {
        self.strategy.map_or(STAGES_NAME, Strategy::name)
    }

    /// What a text becomes, in a sentence.
    pub fn meaning(&self) -> &'static str {
        self.strategy.map_or(STAGES_MEANING, Strategy::meaning)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.name(), self.meaning())?;
        for unsupported in &self.detours {
            write!(
                f,
                "\n  calls go through the stages all the same: {unsupported}"
            )?;
        }
        for (strategy, unsupported) in &self.passed_over {
            write!(f, "\n  not {}: {unsupported}", strategy.name())?;
        }
        Ok(())
    }
}

/// A compiled tokenizer: a variant per strategy.
#[derive(Debug)]
pub enum Compiled {
    /// See [`Strategy::ByteLevel`].
    ByteLevel(Box<ByteLevel>),
    /// See [`Strategy::SentencePiece`].
    SentencePiece(Box<SentencePiece>),
    /// See [`Strategy::Metaspace`] and [`Strategy::WhitespaceWords`].
    Words(Box<Words>),
    /// See [`Strategy::CachedPieces`].
    CachedPieces(Box<CachedPieces>),
}

impl Compiled {
    /// The first strategy that takes these stages, if one does; and what was in the way of those asked
    /// before it.
    pub fn new(stages: &Stages) -> (Option<Self>, Plan) {
        let mut passed_over = Vec::new();
        for strategy in Strategy::ALL {
            match Self::by(strategy, stages) {
                Ok(compiled) => {
                    let plan = Plan {
                        strategy: Some(strategy),
                        passed_over,
                        detours: Vec::new(),
                    };
                    return (Some(compiled), plan);
                }
                Err(unsupported) => passed_over.push((strategy, unsupported)),
            }
        }
        let plan = Plan {
            strategy: None,
            passed_over,
            detours: Vec::new(),
        };
        (None, plan)
    }

    fn by(strategy: Strategy, stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        Ok(match strategy {
            Strategy::ByteLevel => Self::ByteLevel(Box::new(ByteLevel::new(stages)?)),
            Strategy::SentencePiece => Self::SentencePiece(Box::new(SentencePiece::new(stages)?)),
            Strategy::Metaspace => Self::Words(Box::new(Words::marked(stages)?)),
            Strategy::WhitespaceWords => Self::Words(Box::new(Words::between_spaces(stages)?)),
            Strategy::CachedPieces => Self::CachedPieces(Box::new(CachedPieces::new(stages)?)),
        })
    }

    /// Whether it may be given normalized text instead of the text that was made from.
    pub fn may_be_normalized(&self) -> bool {
        matches!(self, Self::ByteLevel(_) | Self::CachedPieces(_))
    }

    /// Whether each token holds bytes of the text, so that there are no more tokens than bytes.
    pub fn tokens_are_bytes_of_text(&self) -> bool {
        matches!(self, Self::ByteLevel(compiled) if compiled.reads_text_as_it_is())
    }

    /// How the positions of tokens are found.
    pub fn spanning(&self) -> Spanning {
        match self {
            Self::ByteLevel(_) => Spanning::Lengths,
            Self::CachedPieces(_) => Spanning::Pieces,
            Self::SentencePiece(_) | Self::Words(_) => Spanning::Chunks,
        }
    }

    /// Whether a byte begins a chunk, or is dropped between chunks, as a space is.
    pub fn is_space(&self, byte: u8) -> bool {
        match self {
            Self::SentencePiece(compiled) => compiled.is_space(byte),
            Self::Words(compiled) => compiled.is_space(byte),
            Self::ByteLevel(_) | Self::CachedPieces(_) => byte == b' ',
        }
    }

    /// Whether a byte-level tokenizer puts a space in front of a stretch that begins with none.
    pub fn adds_space(&self) -> bool {
        matches!(self, Self::ByteLevel(compiled) if compiled.adds_space())
    }

    /// Gives the tokens of a stretch to `sink`. `stages` are those that this was compiled from; `limit`
    /// has the length of the whole text.
    ///
    /// # Errors
    /// As the stages.
    pub fn encode(
        &self,
        stages: &Stages,
        stretch: Stretch<'_>,
        limit: &Rc<LengthLimit>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Stretch { text, place, .. } = stretch;
        match (self, &stages.normalizer, &stages.model) {
            (Self::ByteLevel(compiled), ..) => compiled.encode(text, sink),
            (
                Self::SentencePiece(compiled),
                Some(Normalizer::SentencePiece(normalizer)),
                Model::SentencePiece(model),
            ) => compiled.encode(model, normalizer, stretch, sink),
            (Self::Words(compiled), ..) => compiled.encode(stages, text, place, sink),
            (Self::CachedPieces(compiled), ..) => {
                compiled.encode(stages, text, stretch.is_normalized, limit, sink)
            }
            _ => unreachable!("compiled from other stages"),
        }
    }

    /// Whether the tokens of a text depend on all that comes before them.
    pub fn needs_whole_text(&self) -> bool {
        matches!(self, Self::SentencePiece(compiled) if compiled.needs_whole_text())
    }

    /// Whether split points depend only on what comes before them, and are known before the end of a text
    /// is read.
    pub fn splits_looking_back(&self) -> bool {
        match self {
            Self::SentencePiece(compiled) => compiled.has_parts(),
            Self::Words(compiled) => compiled.splits_looking_back(),
            _ => false,
        }
    }

    /// A safe split point of `text`, about `reach` bytes after `start`: the text before it and the text
    /// after it, each encoded at its [`Place`](crate::Place), have the tokens of both together. The end of
    /// the text if none is known. Each strategy has its own safe places; one search for all could take only
    /// those that are safe for each of them, and in much text there are none.
    pub fn split_point(&self, stages: &Stages, text: &str, start: usize, reach: usize) -> usize {
        match (self, &stages.normalizer) {
            (Self::ByteLevel(compiled), _) => compiled.split_point(text, start, reach),
            (Self::Words(compiled), _) => compiled.split_point(text, start, reach),
            (Self::CachedPieces(compiled), normalizer) => {
                compiled.split_point(normalizer.as_ref(), text, start, reach)
            }
            (Self::SentencePiece(compiled), Some(Normalizer::SentencePiece(normalizer))) => {
                compiled.split_point(normalizer, text, start, reach)
            }
            _ => unreachable!("compiled from other stages"),
        }
    }
}
