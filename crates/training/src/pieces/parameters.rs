//! The parameters that both ways to learn pieces share, and which are refused.

use super::rules::PieceRules;
use crate::checks::{self, wrong};
use jeton_text::error::{Error, ErrorKind, Result};

/// Which pieces are learnt, and from which words.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceOptions {
    /// How many pieces there are in the end.
    pub pieces: usize,
    /// Whether pieces that are hardly used stay where there would be fewer than that without them.
    pub exact: bool,
    /// Which strings may be pieces.
    pub rules: PieceRules,
    /// What share of the corpus's characters the pieces shall make up, from above 0 to 1; the
    /// rarest characters beyond that are unknown.
    pub character_coverage: f64,
    /// How many characters are pieces, at most; the rarest beyond that are unknown, too.
    pub limit_alphabet: Option<usize>,
    /// Characters that are pieces whether or not the corpus has them.
    pub required_chars: Vec<char>,
    /// Texts that split words and are in no piece; the pieces for them are not learnt.
    pub meta_pieces: Vec<String>,
    /// A word less frequent than this is not learnt from.
    pub min_word_count: u64,
}

impl Default for PieceOptions {
    fn default() -> Self {
        Self {
            pieces: 8_000,
            exact: true,
            rules: PieceRules::default(),
            character_coverage: 0.9995,
            limit_alphabet: None,
            required_chars: Vec::new(),
            meta_pieces: Vec::new(),
            min_word_count: 0,
        }
    }
}

/// Characters of the longest piece that may be asked for: longer ones make training slow, and are of no
/// use.
const LONGEST_PIECE: usize = 512;

impl PieceOptions {
    /// Checks that the options make sense together.
    ///
    /// # Errors
    /// The first that does not, by name.
    pub(crate) fn check(&self) -> Result<()> {
        checks::check_vocab_size(self.pieces)?;
        let longest = self.rules.max_piece_length;
        if !(1..=LONGEST_PIECE).contains(&longest) {
            return wrong(
                format!("max_piece_length cannot be {longest}"),
                "it is from 1 to 512; 16 is common",
            );
        }
        checks::check_character_coverage(self.character_coverage)?;
        if self.required_chars.contains(&'\0') {
            return wrong(
                "required_chars holds the character U+0000",
                "no piece can hold it; leave it out",
            );
        }
        Ok(())
    }

    /// Checks that there is room for the characters that must be pieces.
    ///
    /// # Errors
    /// There is not.
    pub(crate) fn check_room(&self, characters: usize) -> Result<()> {
        if characters <= self.pieces {
            return Ok(());
        }
        let meta = self.meta_pieces.len();
        Err(Error::new(
            ErrorKind::Training,
            format!(
                "vocab_size {} does not hold the {characters} characters and {meta} other pieces \
                 that there must be",
                self.pieces + meta
            ),
        )
        .hint(format!(
            "set vocab_size to at least {}, or lower character_coverage",
            characters + meta
        )))
    }
}
