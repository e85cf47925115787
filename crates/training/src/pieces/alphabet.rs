//! The characters of the words: which of them must be pieces, and the class of each by the rules.

use std::cmp::Reverse;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::boundaries::Boundaries;
use super::parameters::PieceOptions;
use super::rules::Class;
use crate::word_counts::WordCounts;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{Listener, paced};

/// The required characters in the order of code points. A symbol is the place of a character in this order,
/// from 1 on; 0 is the end of a fragment.
pub(crate) struct Alphabet {
    required: Vec<char>,
    by_frequency: Vec<char>,
    classes: Vec<Class>,
    /// Symbols of characters below this many by their code points; of the others by search.
    direct: Vec<u32>,
}

/// Code points below which symbols are looked up directly.
const DIRECT_BELOW: usize = 0x3000;

impl Alphabet {
    /// The most frequent characters, as many as make up the coverage, and those asked for.
    pub(crate) fn new(words: &WordCounts, options: &PieceOptions) -> Result<Self> {
        let Frequencies {
            characters,
            boundaries,
        } = frequencies(words, options)?;
        let mut rows: Vec<(bool, u64, char)> = characters
            .into_iter()
            .map(|(character, count)| (false, count, character))
            .collect();
        rows.sort_unstable_by_key(|row| row.2);
        for &character in &options.required_chars {
            match rows.binary_search_by_key(&character, |row| row.2) {
                Ok(at) => rows[at].0 = true,
                Err(at) => rows.insert(at, (true, 0, character)),
            }
        }
        // SentencePiece counts a boundary as a character, and compares shares of 32 bits.
        let counted: u128 = rows.iter().map(|row| u128::from(row.1)).sum();
        let total = (counted + u128::from(boundaries)).max(1);
        if boundaries > 0 {
            rows.push((false, boundaries, '\0'));
        }
        rows.sort_unstable_by_key(|&(asked, count, character)| {
            (Reverse((asked, count)), character)
        });
        let mut covered = 0_u128;
        let mut buffer = [0; 4];
        let mut required = Vec::new();
        for (asked, count, character) in rows {
            let share = (covered as f64 / total as f64) as f32;
            let is_full = options
                .limit_alphabet
                .is_some_and(|limit| required.len() >= limit);
            if !asked && (share >= options.character_coverage as f32 || is_full) {
                break;
            }
            covered += u128::from(count);
            let text = &*character.encode_utf8(&mut buffer);
            if !matches!(character, '\0' | '\u{1F}')
                && options.meta_pieces.iter().all(|meta| meta != text)
            {
                required.push((character, count));
            }
        }
        let mut by_frequency = required.clone();
        by_frequency.sort_by_key(|&(character, count)| (Reverse(count), character));
        required.sort_unstable();
        let required: Vec<char> = required
            .into_iter()
            .map(|(character, _)| character)
            .collect();
        let mut alphabet = Self {
            by_frequency: by_frequency
                .into_iter()
                .map(|(character, _)| character)
                .collect(),
            classes: required
                .iter()
                .map(|&character| options.rules.class(character))
                .collect(),
            direct: vec![0; DIRECT_BELOW],
            required,
        };
        for (&character, symbol) in alphabet.required.iter().zip(1..) {
            if let Some(direct) = alphabet.direct.get_mut(character as usize) {
                *direct = symbol;
            }
        }
        Ok(alphabet)
    }

    /// The characters that must be pieces, the most frequent first, of equally frequent ones that of
    /// the lowest code point.
    pub(crate) fn by_frequency(&self) -> &[char] {
        &self.by_frequency
    }

    /// The characters that must be pieces.
    pub(crate) fn required(&self) -> &[char] {
        &self.required
    }

    /// The symbol of a character; 0 for one that is unknown.
    pub(crate) fn symbol(&self, character: char) -> u32 {
        match self.direct.get(character as usize) {
            Some(&symbol) => symbol,
            None => match self.required.binary_search(&character) {
                Ok(at) => at as u32 + 1,
                Err(_) => 0,
            },
        }
    }

    /// What the rules know of a symbol.
    pub(crate) fn class(&self, symbol: u32) -> Class {
        self.classes[symbol as usize - 1]
    }

    /// The text of symbols.
    pub(crate) fn spell(&self, symbols: &[u32]) -> String {
        symbols
            .iter()
            .map(|&symbol| self.required[symbol as usize - 1])
            .collect()
    }
}

/// How often each character occurs, and how often a boundary.
#[derive(Default)]
struct Frequencies {
    characters: HashMap<char, u64, FixedState>,
    boundaries: u64,
}

/// Counts the characters outside boundaries; all together, with room for products with lengths, fit.
fn frequencies(words: &WordCounts, options: &PieceOptions) -> Result<Frequencies> {
    let rows: Vec<(&str, u64)> = words
        .iter()
        .filter(|(_, count)| *count >= options.min_word_count)
        .collect();
    let mut total = 0_u128;
    for (word, count) in &rows {
        total += word.len() as u128 * u128::from(*count);
    }
    if total >= 1 << 54 {
        return Err(Error::new(
            ErrorKind::Training,
            format!("the words have {total} bytes, each occurrence counted: too many to sum up"),
        )
        .hint("divide all counts by the same number"));
    }
    let boundaries = Boundaries::new(&options.meta_pieces);
    let tally = |part: &[(&str, u64)]| {
        let mut ascii = [0_u64; 128];
        let mut counts = Frequencies::default();
        for &(word, count) in paced(part.iter()) {
            let found = boundaries.between(word, |text| {
                for character in text.chars() {
                    match ascii.get_mut(character as usize) {
                        Some(known) => *known += count,
                        None => *counts.characters.entry(character).or_default() += count,
                    }
                }
            });
            counts.boundaries += found * count;
        }
        for (count, byte) in ascii
            .into_iter()
            .zip(0_u8..)
            .filter(|(count, _)| *count > 0)
        {
            counts.characters.insert(byte.into(), count);
        }
        counts
    };
    let join = |mut a: Frequencies, b: Frequencies| {
        // Sums do not depend on the order.
        for (character, count) in b.characters {
            *a.characters.entry(character).or_default() += count;
        }
        a.boundaries += b.boundaries;
        a
    };
    Ok(Listener::lend(|listener| {
        rows.par_chunks(1 << 14)
            .map(|part| listener.during(|| tally(part)))
            .reduce(Frequencies::default, join)
    }))
}
