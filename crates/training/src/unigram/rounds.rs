//! The rounds of training: how many pieces each leaves, and which is the last.

use super::matches::Matches;
use super::parameters::UnigramPieces;
use super::{expectation, pruning};
use crate::{Phase, Watch};
use jeton_text::error::Result;

/// Fits the pieces to the words and prunes them to `shrinking_factor` of their number, round by
/// round, until a tenth more than asked for are left, or none can go. `least` pieces stay.
///
/// # Errors
/// The caller ends training.
pub(super) fn shrink(
    matches: &mut Matches,
    trainer: &UnigramPieces,
    least: usize,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let goal = trainer.options.pieces + trainer.options.pieces / 10;
    let (mut done, mut rest) = (0, 0);
    loop {
        for _ in 0..trainer.num_sub_iterations {
            let expected = expectation::expected_counts(matches);
            expectation::maximize(matches, &expected, least);
            done += 1;
            rest = fits_left(matches.len(), goal, trainer);
            watch.tell(Phase::Fitting, done, done + rest)?;
        }
        if matches.len() <= goal {
            break;
        }
        let kept = (trainer.shrinking_factor * matches.len() as f64) as usize;
        let before = matches.len();
        pruning::prune(matches, kept.max(goal), least);
        if matches.len() == before {
            break;
        }
    }
    if rest > 0 {
        watch.tell(Phase::Fitting, done, done)?;
    }
    Ok(())
}

/// About how often expectation and maximization will still be done.
fn fits_left(pieces: usize, goal: usize, trainer: &UnigramPieces) -> usize {
    let mut fits = 0;
    let mut left = pieces as f64;
    while left > goal as f64 && fits < 1_000 {
        left *= trainer.shrinking_factor;
        fits += trainer.num_sub_iterations;
    }
    fits
}
