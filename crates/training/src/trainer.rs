//! What all trainers share: they check their parameters, learn from word counts, and report their progress.
//!
//! Look here for how training is interrupted. What each trainer learns is in its own folder.

use std::ops::ControlFlow;

use crate::word_counts::WordCounts;
use jeton_text::error::{Error, ErrorKind, Result};

/// A training algorithm with its parameters.
pub trait Trainer {
    /// The result of training.
    type Trained;

    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    fn check(&self) -> Result<()>;

    /// Learns from words with parameters that are checked.
    ///
    /// # Errors
    /// A corpus that does not support what the parameters ask for; an interrupt.
    fn fit(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<Self::Trained>;

    /// Checks the parameters, then learns from words.
    ///
    /// Calls `watch` every now and then, and when a phase ends; a `Break` from it ends training with
    /// an error.
    ///
    /// # Errors
    /// As [`Trainer::check`] and [`Trainer::fit`].
    fn train(
        &self,
        words: &WordCounts,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self::Trained> {
        self.check()?;
        self.fit(words, &mut Watch(&mut watch))
    }
}

/// A phase of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Merging pairs; a step is a token.
    Merging,
    /// Looking for frequent substrings.
    Seeding,
    /// Expectation and maximization, and dropping pieces.
    Fitting,
}

impl Phase {
    /// Its name in progress displays.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merging => "merging",
            Self::Seeding => "seeding",
            Self::Fitting => "fitting",
        }
    }
}

/// How far training has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// How many steps of this phase are done.
    pub done: usize,
    /// About how many there will be; as many as are done when the phase ends.
    pub total: usize,
}

/// The caller's function that gets reports of progress, and may end training.
pub struct Watch<'w>(pub(super) &'w mut dyn FnMut(Progress) -> ControlFlow<()>);

impl Watch<'_> {
    /// Reports how far a phase has come.
    ///
    /// # Errors
    /// The caller ends training.
    pub(super) fn tell(&mut self, phase: Phase, done: usize, total: usize) -> Result<()> {
        match (self.0)(Progress { phase, done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                Err(Error::new(ErrorKind::Training, "training was interrupted")
                    .hint("the word counts can be trained from again"))
            }
        }
    }
}
