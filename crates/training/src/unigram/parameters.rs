//! The parameters of learning pieces, and what is refused among them.

use super::rules::PieceRules;
use crate::checks::{self, wrong};
use jeton_text::error::Result;

/// What pieces are learnt for.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceTrainer {
    /// How many pieces there are in the end.
    pub pieces: usize,
    /// Whether pieces that are hardly used stay where there would be fewer than that without them.
    pub exact: bool,
    /// Which strings may be pieces.
    pub rules: PieceRules,
    /// What share of the corpus's characters the pieces shall make up, from above 0 to 1; the
    /// rarest characters beyond that are unknown.
    pub character_coverage: f64,
    /// Characters that are pieces whether or not the corpus has them.
    pub required_chars: Vec<char>,
    /// Texts that are no piece's and part words; what stands for them is not among the pieces.
    pub meta_pieces: Vec<String>,
    /// A word less frequent than this is not learnt from.
    pub min_word_count: u64,
    /// How many substrings training starts from, at most, beside single characters.
    pub seed_size: usize,
    /// What share of the pieces stays when the others are dropped.
    pub shrinking_factor: f64,
    /// How often expectation and maximization are done before pieces are dropped.
    pub num_sub_iterations: usize,
}

impl Default for PieceTrainer {
    fn default() -> Self {
        Self {
            pieces: 8_000,
            exact: true,
            rules: PieceRules::default(),
            character_coverage: 0.9995,
            required_chars: Vec::new(),
            meta_pieces: Vec::new(),
            min_word_count: 0,
            seed_size: 1_000_000,
            shrinking_factor: 0.75,
            num_sub_iterations: 2,
        }
    }
}

/// Characters of the longest piece that may be asked for: longer ones make training slow, and are of no
/// use.
const LONGEST_PIECE: usize = 512;

impl PieceTrainer {
    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub(super) fn check_parameters(&self) -> Result<()> {
        checks::check_vocab_size(self.pieces)?;
        let longest = self.rules.max_piece_length;
        if !(1..=LONGEST_PIECE).contains(&longest) {
            return wrong(
                format!("max_piece_length cannot be {longest}"),
                "it is from 1 to 512; 16 is common",
            );
        }
        checks::check_character_coverage(self.character_coverage)?;
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
        if self.required_chars.contains(&'\0') {
            return wrong(
                "required_chars holds the character U+0000",
                "no piece can hold it; leave it out",
            );
        }
        Ok(())
    }
}
