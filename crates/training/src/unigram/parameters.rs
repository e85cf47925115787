//! The parameters of Unigram training, and which are refused.

use crate::checks::wrong;
use crate::pieces::PieceOptions;
use jeton_text::error::Result;

/// Learns pieces by their probability, with these parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramPieces {
    /// Which pieces, and from which words.
    pub options: PieceOptions,
    /// How many substrings training starts from, at most, beside single characters.
    pub seed_size: usize,
    /// What share of the pieces stays when the others are dropped.
    pub shrinking_factor: f64,
    /// How often expectation and maximization are done before pieces are dropped.
    pub num_sub_iterations: usize,
}

impl Default for UnigramPieces {
    fn default() -> Self {
        Self {
            options: PieceOptions::default(),
            seed_size: 1_000_000,
            shrinking_factor: 0.75,
            num_sub_iterations: 2,
        }
    }
}

impl UnigramPieces {
    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub(super) fn check_parameters(&self) -> Result<()> {
        self.options.check()?;
        let factor = self.shrinking_factor;
        if !(factor > 0.0 && factor < 1.0) {
            return wrong(
                format!("shrinking_factor cannot be {factor}"),
                "it is a share, above 0 and below 1; 0.75 is common",
            );
        }
        if !(1..=100).contains(&self.num_sub_iterations) {
            return wrong(
                format!("num_sub_iterations cannot be {}", self.num_sub_iterations),
                "it is from 1 to 100; 2 is common",
            );
        }
        if self.seed_size == 0 {
            return wrong(
                "seed_size cannot be 0",
                "training starts from that many substrings; 1,000,000 is common",
            );
        }
        Ok(())
    }
}
