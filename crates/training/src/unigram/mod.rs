//! Training Unigram: words with counts in, pieces with the logarithms of their probabilities out.
//!
//! By definition: a text's probability is the sum, over all ways to split it into pieces, of the
//! product of the pieces' probabilities. Training starts from many frequent substrings. It
//! makes the words more probable by expectation and maximization, drops the pieces whose loss costs
//! the least, and repeats this until few enough are left. Sources: Kudo, "Subword Regularization", 2018;
//! the steps, the thresholds and the names of the parameters are those of SentencePiece.
//!
//! The steps of training are here. `parameters` has what can be set, and `pieces` says what may be a piece
//! and where words can be split. `suffixes` and `seeds` find the first pieces, `matches` knows which pieces
//! begin at each place. `rounds` says how many pieces each round leaves; `expectation` and `pruning` are
//! the two halves of a round.

mod expectation;
mod matches;
mod parameters;
mod pruning;
mod rounds;
mod seeds;
mod suffixes;
#[cfg(test)]
mod tests;

use self::matches::Matches;
use crate::pieces::{Alphabet, Fragments, ScoredPiece};
use crate::word_counts::WordCounts;
use crate::{Phase, Trainer, Watch};
use jeton_text::error::{Error, ErrorKind, Result};

pub use self::parameters::UnigramPieces;

/// Learns the pieces, the most probable first, from words as the model would see them: normalized,
/// with `▁` for spaces. There are fewer than asked for if the words have not enough substrings that
/// occur twice, or not enough of use and `exact` does not ask for others.
///
/// The result depends on the words and their counts only: not on their order, nor on the number of
/// threads.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_training::Trainer;
/// use jeton_training::pieces::PieceOptions;
/// use jeton_training::unigram::UnigramPieces;
/// use jeton_training::word_counts::WordCounts;
///
/// let words = WordCounts::from_words([("▁low", 5), ("▁lower", 2), ("▁newest", 6), ("▁widest", 3)]);
/// let options = PieceOptions { pieces: 14, ..PieceOptions::default() };
/// let trainer = UnigramPieces { options, ..UnigramPieces::default() };
/// let pieces = trainer.train(&words, |_| ControlFlow::Continue(()))?;
/// assert_eq!(pieces.len(), 14);
/// assert!(pieces[..3].iter().any(|piece| piece.text == "▁low"));
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// Beside those of [`Trainer::train`]: no words; fewer pieces than there must be characters; counts
/// whose sum does not fit.
impl Trainer for UnigramPieces {
    type Trained = Vec<ScoredPiece>;

    fn check(&self) -> Result<()> {
        self.check_parameters()
    }

    fn fit(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<Vec<ScoredPiece>> {
        let options = &self.options;
        let alphabet = Alphabet::new(words, options)?;
        let required = alphabet.required().len();
        options.check_room(required)?;
        let fragments = Fragments::new(words, &alphabet, options)?;
        if fragments.is_empty() {
            return Err(
                Error::new(ErrorKind::Training, "the corpus has no words to learn from").hint(
                    "is it empty, or min_word_count too high, or character_coverage too low?",
                ),
            );
        }
        watch.tell(Phase::Seeding, 0, 1)?;
        let mut matches = seeds::find(fragments, &options.rules, self.seed_size);
        watch.tell(Phase::Seeding, 1, 1)?;

        let least = if options.exact {
            options.pieces - required
        } else {
            0
        };
        rounds::shrink(&mut matches, self, least, watch)?;
        Ok(finish(&matches, &alphabet, options.pieces))
    }
}

/// Score between one character that must be there but was lost and the next: they score just above the
/// worst piece.
const LOST_STEP: f64 = 0.0001;

/// The required characters, and of all other pieces the most probable.
fn finish(matches: &Matches, alphabet: &Alphabet, pieces: usize) -> Vec<ScoredPiece> {
    let mut known = vec![None; alphabet.required().len()];
    let mut others = Vec::new();
    for piece in 0..matches.len() {
        match matches.symbols(piece) {
            &[symbol] => known[symbol as usize - 1] = Some(matches.score(piece)),
            _ => others.push(piece),
        }
    }
    // Pieces are in the order of their texts, which decides between equals.
    others.sort_by(|&a, &b| matches.score(b).total_cmp(&matches.score(a)));
    others.truncate(pieces - known.len());

    let worst = (0..matches.len()).map(|piece| matches.score(piece));
    let mut lost = worst.fold(0.0, f64::min);
    let characters = alphabet.required().iter().zip(known);
    let mut learnt: Vec<ScoredPiece> = characters
        .map(|(character, score)| {
            let score = score.unwrap_or_else(|| {
                lost += LOST_STEP;
                lost - LOST_STEP
            });
            let text = character.to_string();
            ScoredPiece { text, score }
        })
        .collect();
    learnt.extend(others.into_iter().map(|piece| ScoredPiece {
        text: alphabet.spell(matches.symbols(piece)),
        score: matches.score(piece),
    }));
    learnt.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.text.cmp(&b.text))
    });
    learnt
}
