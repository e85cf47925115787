//! Which strategy of the fast path a tokenizer gets, and why not one of those tried before it.
//!
//! Look here for the order in which strategies are tried, and for what each of them does with a text.

use std::fmt;

use super::byte_level::ByteLevel;
use super::cached_pieces::CachedPieces;
use super::compiled::Compiled;
use super::sentencepiece::SentencePiece;
use super::unsupported_stage::UnsupportedStage;
use super::words::Words;
use jeton_models::stages::Stages;

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

    fn compile(self, stages: &Stages) -> std::result::Result<Box<dyn Compiled>, UnsupportedStage> {
        Ok(match self {
            Self::ByteLevel => Box::new(ByteLevel::new(stages)?),
            Self::SentencePiece => Box::new(SentencePiece::new(stages)?),
            Self::Metaspace => Box::new(Words::marked(stages)?),
            Self::WhitespaceWords => Box::new(Words::between_spaces(stages)?),
            Self::CachedPieces => Box::new(CachedPieces::new(stages)?),
        })
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

/// Compiles these stages by the first strategy that can, if there is one. The plan says why those asked before
/// it could not.
pub fn compile(stages: &Stages) -> (Option<Box<dyn Compiled>>, Plan) {
    let mut plan = Plan {
        strategy: None,
        passed_over: Vec::new(),
        detours: Vec::new(),
    };
    for strategy in Strategy::ALL {
        match strategy.compile(stages) {
            Ok(compiled) => {
                plan.strategy = Some(strategy);
                return (Some(compiled), plan);
            }
            Err(unsupported) => plan.passed_over.push((strategy, unsupported)),
        }
    }
    (None, plan)
}
