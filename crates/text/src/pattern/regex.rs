//! Patterns as values, and which engine runs each; `matches` runs it.

use std::sync::Arc;

use regex_syntax::hir::Hir;
use serde::{Deserialize, Serialize};

use super::backtracking::{self, Fancy};
use super::dialects::Dialect;
use super::linear::{Linear, before_line_end};
use super::look_around::LookAround;
use super::oniguruma::{Expression, IS_LINKED};
use crate::error::{Error, ErrorKind, Result};
use crate::mem::lazy::Lazy;

/// What is searched for: a text or a regular expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchPattern {
    /// Exactly this text.
    Literal(String),
    /// A regular expression.
    Regex(Regex),
}

impl SearchPattern {
    /// Whether a backtracking engine runs it.
    pub fn backtracks(&self) -> bool {
        matches!(self, Self::Regex(regex) if regex.backtracks())
    }
}

/// A compiled regular expression. Cheap to clone; equal when source and dialect are.
///
/// ```
/// use jeton_text::pattern::{Dialect, Regex};
///
/// let words = Regex::new(r"\w+", Dialect::Tiktoken)?;
/// let found: Result<Vec<_>, _> = words.matches("to be").collect();
/// assert_eq!(found?, [0..2, 3..5]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Source", into = "Source")]
pub struct Regex(Arc<Compiled>);

struct Compiled {
    source: Source,
    /// Made when first used, if the source is known to be valid.
    engine: Lazy<Engine>,
}

/// What a regular expression is written as; the rest is compiled from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    source: String,
    dialect: Dialect,
}

pub(super) enum Engine {
    Linear(Linear),
    LookAround(LookAround),
    Backtracking(backtracking::Engine),
}

impl Regex {
    /// Compiles `source` as `dialect` reads it.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] where the dialect does not accept the source, with its reason.
    pub fn new(source: impl Into<String>, dialect: Dialect) -> Result<Self> {
        let source = source.into();
        let automata = Engine::of_automata(&source, dialect);
        let engine = match (dialect, automata) {
            // What an automaton can read is valid.
            (Dialect::Oniguruma, Some(automata)) if !IS_LINKED => automata,
            // The dialect's own engine decides what is a valid pattern, whichever engine then runs it.
            (_, automata) => {
                let own = Engine::of_dialect(&source, dialect)?;
                automata.unwrap_or(own)
            }
        };
        Ok(Self::with_engine(source, dialect, Lazy::of(engine)))
    }

    /// An expression that the dialect is known to accept, compiled when it is first used: most of
    /// the well-known ones never are, as text is split by their scanners.
    pub fn known(source: &'static str, dialect: Dialect) -> Self {
        Self::with_engine(source.to_owned(), dialect, Lazy::new())
    }

    pub(super) fn with_engine(source: String, dialect: Dialect, engine: Lazy<Engine>) -> Self {
        let source = Source { source, dialect };
        Self(Arc::new(Compiled { source, engine }))
    }

    pub(super) fn engine(&self) -> &Engine {
        self.0.engine.get(|| {
            let Source { source, dialect } = &self.0.source;
            let automata = Engine::of_automata(source, *dialect);
            automata.unwrap_or_else(|| match Engine::of_dialect(source, *dialect) {
                Ok(own) => own,
                Err(error) => unreachable!("it is known to be valid: {error}"),
            })
        })
    }

    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.0.source.source
    }

    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.0.source.dialect
    }

    /// Whether automata run it: time is linear in the text, but where match after match is
    /// looked for far beyond its end, and given back.
    pub fn is_linear(&self) -> bool {
        matches!(self.engine(), Engine::Linear(_) | Engine::LookAround(_))
    }

    /// Whether a backtracking engine is known to run it. The well-known ones that are not compiled yet
    /// are run by automata.
    pub(crate) fn backtracks(&self) -> bool {
        matches!(self.0.engine.value(), Some(Engine::Backtracking(_)))
    }

    /// What it looks for, as [`steps_over`](super::automaton::steps_over) takes it, if one automaton can
    /// find that.
    pub fn patterns(&self) -> Option<Vec<Hir>> {
        match (self.engine(), self.dialect()) {
            (Engine::Linear(linear), _) => Some(linear.patterns().to_vec()),
            (Engine::LookAround(_), Dialect::Oniguruma) => {
                Some(vec![before_line_end(self.source())?])
            }
            _ => None,
        }
    }

    pub(super) fn gave_up(&self, at: usize, reason: impl std::fmt::Display) -> Error {
        let pattern = self.source();
        Error::new(
            ErrorKind::Encode,
            format!("the pattern {pattern:?} gave up at byte {at} of the text: {reason}"),
        )
        .hint("split the text before that place, or use a pattern that backtracks less")
    }
}

impl Engine {
    /// Automata, if there are some that mean the same in the dialect.
    fn of_automata(source: &str, dialect: Dialect) -> Option<Self> {
        let linear = Linear::new(source, dialect).map(Self::Linear);
        linear.or_else(|| LookAround::new(source, dialect).map(Self::LookAround))
    }

    pub(super) fn of_dialect(source: &str, dialect: Dialect) -> Result<Self> {
        let refused = |library: &str, reason: String| {
            let message = format!("{library} does not accept the pattern {source:?}: {reason}");
            Error::new(ErrorKind::Format, message)
        };
        match dialect {
            Dialect::Tiktoken => Fancy::new(source)
                .map(backtracking::Engine::Fancy)
                .map_err(|error| refused("fancy-regex", error)),
            Dialect::Oniguruma if !IS_LINKED => {
                let message = format!(
                    "only Oniguruma runs the pattern {source:?}, and this build for WebAssembly is \
                     without that library"
                );
                Err(Error::new(ErrorKind::Unsupported, message))
            }
            Dialect::Oniguruma => Expression::new(source)
                .map(backtracking::Engine::Oniguruma)
                .map_err(|error| {
                    if Expression::is_accepted_by_oniguruma(source) {
                        let message = format!(
                            "jeton does not run the pattern {source:?}: an absent operator, (?~…), \
                             takes time in proportion to the square of the text"
                        );
                        Error::new(ErrorKind::Unsupported, message)
                    } else {
                        refused("Oniguruma", error)
                    }
                }),
        }
        .map(Self::Backtracking)
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Regex")
            .field("source", &self.source())
            .field("dialect", &self.dialect())
            .field("linear", &self.is_linear())
            .finish()
    }
}

impl TryFrom<Source> for Regex {
    type Error = Error;

    fn try_from(source: Source) -> Result<Self> {
        Self::new(source.source, source.dialect)
    }
}

impl From<Regex> for Source {
    fn from(regex: Regex) -> Self {
        regex.0.source.clone()
    }
}

/// What replaces a pattern by a text, for people.
pub fn replacing(pattern: &SearchPattern, content: &str) -> String {
    /// Characters that are shown.
    const MAX_SHOWN: usize = 40;
    let start = |text: &str| text.chars().take(MAX_SHOWN).collect::<String>();
    let pattern = match pattern {
        SearchPattern::Literal(literal) => start(literal),
        SearchPattern::Regex(regex) => start(regex.source()),
    };
    format!("Replace {pattern:?} by {:?}", start(content))
}
