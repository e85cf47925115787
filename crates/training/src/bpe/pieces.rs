//! Learning pieces by merging pairs, as SentencePiece does.
//!
//! Look here for how its training differs from that of other byte pair encodings. The characters of the
//! alphabet are always pieces, and come last. Words are split where no piece may cross, and
//! the most frequent pair that forms a valid piece is merged. If two merges would form one piece, as
//! `ab`+`c` and `a`+`bc`, only the first is done: the other pair stays two pieces in the words.
//! When no pair occurs any more, pairs that occurred earlier become pieces, the shortest first.

use super::WATCH_EVERY;
use super::pair_counts::PairCounts;
use super::parameters::TieBreak;
use super::tokens::{Limits, Tokens};
use super::words::Words;
use crate::pieces::{Alphabet, END, Fragments, PieceOptions, ScoredPiece};
use crate::word_counts::WordCounts;
use crate::{Phase, Trainer, Watch};
use jeton_text::error::Result;

/// Learns pieces by merging pairs, with these parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BpePieces {
    /// Which pieces, and from which words.
    pub options: PieceOptions,
    /// A pair less frequent than this is not merged.
    pub min_frequency: u64,
    /// Which of equally frequent pairs is merged first; SentencePiece has its own.
    pub tie_break: TieBreak,
}

/// The pieces that were learnt.
pub struct MergedPieces {
    /// Those of several characters, the first merged first.
    merged: Vec<String>,
    /// Those of one, the most frequent first.
    characters: Vec<char>,
}

impl MergedPieces {
    /// How many of them are single characters.
    pub fn characters(&self) -> usize {
        self.characters.len()
    }

    /// The pieces of a model that has `pieces` of them, or as many as there are: those that learning so
    /// many gives. Each scores one less than the one before.
    pub fn first(&self, pieces: usize) -> Vec<ScoredPiece> {
        let merged = self
            .merged
            .iter()
            .take(pieces.saturating_sub(self.characters.len()));
        let characters = self.characters.iter().map(char::to_string);
        let texts = merged.cloned().chain(characters);
        let scored = |(at, text)| ScoredPiece {
            text,
            score: -(at as f64),
        };
        texts.enumerate().map(scored).collect()
    }
}

/// Learns the pieces from words as the model would see them: normalized, with `▁` for spaces.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_training::Trainer;
/// use jeton_training::bpe::{BpePieces, TieBreak};
/// use jeton_training::pieces::PieceOptions;
/// use jeton_training::word_counts::WordCounts;
///
/// let words = WordCounts::from_words([("▁low,", 5), ("▁lower", 2), ("▁newest", 6), ("▁widest", 3)]);
/// let trainer = BpePieces {
///     options: PieceOptions { pieces: 16, character_coverage: 1.0, ..PieceOptions::default() },
///     tie_break: TieBreak::SentencePiece,
///     ..BpePieces::default()
/// };
/// let pieces = trainer.train(&words, |_| ControlFlow::Continue(()))?.first(16);
/// let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
/// assert_eq!(texts[..4], ["es", "est", "lo", "low"]);
/// assert_eq!(texts[4..7], ["e", "w", "▁"]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// Beside those of [`Trainer::train`]: fewer pieces than there must be characters; counts whose sum does
/// not fit.
impl Trainer for BpePieces {
    type Trained = MergedPieces;

    fn check(&self) -> Result<()> {
        self.options.check()
    }

    fn fit(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<MergedPieces> {
        let options = &self.options;
        let alphabet = Alphabet::new(words, options)?;
        options.check_room(alphabet.required().len())?;
        let mut tokens = Tokens::default();
        for character in alphabet.required() {
            tokens.intern(character.encode_utf8(&mut [0; 4]).as_bytes(), 1);
        }
        let words = symbols(&Fragments::new(words, &alphabet, options)?);
        let limits = Limits::of_pieces(options.rules.clone());
        let mut pairs = PairCounts::new(words, self.tie_break, limits, &tokens)?;
        let first = tokens.count();
        while tokens.count() < options.pieces {
            let Some(best) = pairs.most_frequent(&tokens) else {
                break;
            };
            if best.count < self.min_frequency {
                break;
            }
            let (left, right) = pairs.pair(best);
            if tokens.make_known(left, right, "") {
                continue;
            }
            if (tokens.count() - first) % WATCH_EVERY == 0 {
                watch.tell(Phase::Merging, tokens.count(), options.pieces)?;
            }
            let id = tokens.merge(left, right, "");
            pairs.merge(best, id, &tokens);
        }
        if self.tie_break == TieBreak::SentencePiece && self.min_frequency == 0 {
            for (left, right) in pairs.of_earlier(&tokens) {
                if tokens.count() == options.pieces {
                    break;
                }
                tokens.merge(left, right, "");
            }
        }
        watch.tell(Phase::Merging, tokens.count(), tokens.count())?;
        let text = |token: &Vec<u8>| String::from_utf8_lossy(token).into_owned();
        Ok(MergedPieces {
            merged: tokens.bytes[first..].iter().map(text).collect(),
            characters: alphabet.by_frequency().to_vec(),
        })
    }
}

/// Fragments as words of symbols: the characters of the alphabet have the first ids.
fn symbols(fragments: &Fragments) -> Words {
    let mut words = Words::default();
    let mut symbols = Vec::new();
    for (bounds, &count) in fragments.starts.windows(2).zip(&fragments.weights) {
        let text = &fragments.symbols[bounds[0] as usize..bounds[1] as usize];
        symbols.clear();
        symbols.extend(
            text.iter()
                .filter(|&&symbol| symbol != END)
                .map(|symbol| symbol - 1),
        );
        words.push(&symbols, count);
    }
    words
}
