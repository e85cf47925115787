//! The characters of the words: which of them must be pieces, and what the rules know of each.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::parameters::PieceTrainer;
use super::rules::Class;
use crate::word_counts::WordCounts;
use jeton_text::error::{Error, ErrorKind, Result};

/// The required characters in the order of code points. Symbols are their places, from 1 on; 0 is
/// the end of a fragment.
pub(super) struct Alphabet {
    required: Vec<char>,
    classes: Vec<Class>,
    /// Symbols of characters below this many by their code points; of the others by search.
    direct: Vec<u32>,
}

/// Code points below which symbols are looked up directly.
const DIRECT_BELOW: usize = 0x3000;

impl Alphabet {
    /// The most frequent characters, as many as make up the coverage, and those asked for.
    pub(super) fn new(words: &WordCounts, training: &PieceTrainer) -> Result<Self> {
        let mut rows: Vec<(bool, u64, char)> = count(words, training.min_word_count)?
            .into_iter()
            .map(|(character, count)| (false, count, character))
            .collect();
        rows.sort_unstable_by_key(|row| row.2);
        for &character in &training.required_chars {
            match rows.binary_search_by_key(&character, |row| row.2) {
                Ok(at) => rows[at].0 = true,
                Err(at) => rows.insert(at, (true, 0, character)),
            }
        }
        let total: u128 = rows.iter().map(|row| u128::from(row.1)).sum();
        rows.sort_unstable_by_key(|&(asked, count, character)| {
            (std::cmp::Reverse((asked, count)), character)
        });
        let mut covered = 0_u128;
        let mut required = Vec::new();
        for (asked, count, character) in rows {
            let share = covered as f64 / total.max(1) as f64;
            if !asked && share >= training.character_coverage {
                break;
            }
            covered += u128::from(count);
            required.push(character);
        }
        let mut buffer = [0; 4];
        required.retain(|character| {
            let text = &*character.encode_utf8(&mut buffer);
            *character != '\0' && training.meta_pieces.iter().all(|meta| meta != text)
        });
        required.sort_unstable();
        let mut alphabet = Self {
            classes: required
                .iter()
                .map(|&character| training.rules.class(character))
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

    /// The characters that must be pieces.
    pub(super) fn required(&self) -> &[char] {
        &self.required
    }

    /// The symbol of a character; 0 for one that is unknown.
    pub(super) fn symbol(&self, character: char) -> u32 {
        match self.direct.get(character as usize) {
            Some(&symbol) => symbol,
            None => match self.required.binary_search(&character) {
                Ok(at) => at as u32 + 1,
                Err(_) => 0,
            },
        }
    }

    /// What the rules know of a symbol.
    pub(super) fn class(&self, symbol: u32) -> Class {
        self.classes[symbol as usize - 1]
    }

    /// The text of symbols.
    pub(super) fn spell(&self, symbols: &[u32]) -> String {
        symbols
            .iter()
            .map(|&symbol| self.required[symbol as usize - 1])
            .collect()
    }
}

/// How often each character occurs; all together, with room for products with lengths, fit.
fn count(words: &WordCounts, min_word_count: u64) -> Result<HashMap<char, u64, FixedState>> {
    let rows: Vec<(&str, u64)> = words
        .iter()
        .filter(|(_, count)| *count >= min_word_count)
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
    let tally = |part: &[(&str, u64)]| {
        let mut frequent = [0_u64; 128];
        let mut counts: HashMap<char, u64, FixedState> = HashMap::default();
        for (word, count) in part {
            for character in word.chars() {
                match frequent.get_mut(character as usize) {
                    Some(known) => *known += count,
                    None => *counts.entry(character).or_default() += count,
                }
            }
        }
        for (count, byte) in frequent
            .into_iter()
            .zip(0_u8..)
            .filter(|(count, _)| *count > 0)
        {
            counts.insert(byte.into(), count);
        }
        counts
    };
    let join = |mut a: HashMap<_, _, _>, b: HashMap<_, _, _>| {
        // Sums do not depend on the order.
        for (character, count) in b {
            *a.entry(character).or_default() += count;
        }
        a
    };
    Ok(rows
        .par_chunks(1 << 14)
        .map(tally)
        .reduce(HashMap::default, join))
}
