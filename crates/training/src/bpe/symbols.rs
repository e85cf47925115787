//! The alphabet of a corpus, and its words as sequences of symbols.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::parameters::{BpeTrainer, ByteOrder};
use super::tokens::Tokens;
use super::words::Words;
use crate::word_counts::WordCounts;
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::byte_token;
use jeton_text::printable;

/// The position of a unit in its word: first or not, last or not. It decides which marks the unit has.
fn position(is_first: bool, is_last: bool) -> usize {
    usize::from(!is_first) | usize::from(is_last) << 1
}

/// The alphabet: the symbol of each unit (a byte or a character) in each of the four positions.
#[derive(Default)]
pub(crate) struct InitialSymbols {
    symbols: HashMap<u32, [Option<u32>; 4], FixedState>,
    /// What ends each word, where that is a symbol of its own.
    suffix: Option<u32>,
    /// What is not in the alphabet parts a word in two; otherwise it is as if it were not there.
    unknown_parts: bool,
}

impl InitialSymbols {
    /// Makes the alphabet of a corpus: the bare units by code point, then the marked ones.
    pub fn new(counts: &[&WordCounts], training: &BpeTrainer, tokens: &mut Tokens) -> Self {
        let mut units = Self {
            unknown_parts: training.sentencepiece.is_some(),
            ..Self::default()
        };
        match training.alphabet {
            Alphabet::Bytes => {
                let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
                if training.byte_order == ByteOrder::Printable {
                    bytes.sort_by_key(|&byte| printable::to_char(byte));
                }
                for byte in bytes {
                    let id = tokens.intern(&[byte], 1);
                    units.symbols.insert(u32::from(byte), [Some(id); 4]);
                }
            }
            Alphabet::Characters => {
                if training.byte_fallback {
                    for byte in 0..=u8::MAX {
                        let id = tokens.intern(&byte_token(byte), 1);
                        tokens.reserved.insert(id);
                    }
                }
                for character in alphabet(counts, training) {
                    tokens.intern(character.to_string().as_bytes(), 1);
                }
                // A special token of one character is a unit like any other.
                for (token, id) in tokens.bytes.iter().zip(0..) {
                    let mut characters = std::str::from_utf8(token).unwrap_or("").chars();
                    if let (Some(character), None) = (characters.next(), characters.next()) {
                        units.symbols.insert(u32::from(character), [Some(id); 4]);
                    }
                }
            }
        }
        let prefix = training.continuing_subword_prefix.as_deref().unwrap_or("");
        let mut suffix = training.end_of_word_suffix.as_deref().unwrap_or("");
        if training.separate_suffix {
            units.suffix = Some(tokens.intern(suffix.as_bytes(), 0));
            suffix = "";
        }
        if prefix.is_empty() && suffix.is_empty() {
            return units;
        }
        let mut marked = BTreeSet::new();
        for (word, _) in counts.iter().flat_map(|counts| counts.iter()) {
            for_each_unit(word, training.alphabet, |unit, at| {
                if at != 0 && units.symbols.contains_key(&unit) {
                    marked.insert((unit, at));
                }
            });
        }
        let mut forms: Vec<(Vec<u8>, u32, usize)> = marked
            .into_iter()
            .map(|(unit, at)| {
                let mut form = Vec::new();
                if at & 1 != 0 {
                    form.extend_from_slice(prefix.as_bytes());
                }
                match training.alphabet {
                    Alphabet::Bytes => form.push(unit as u8),
                    Alphabet::Characters => {
                        let character = char::from_u32(unit).unwrap_or_default();
                        form.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                if at & 2 != 0 {
                    form.extend_from_slice(suffix.as_bytes());
                }
                (form, unit, at)
            })
            .collect();
        forms.sort_unstable();
        for (form, unit, at) in forms {
            let id = tokens.intern(&form, 1);
            if let Some(symbols) = units.symbols.get_mut(&unit) {
                symbols[at] = Some(id);
            }
        }
        units
    }

    /// How often each of this many symbols occurs.
    pub fn frequencies(&self, counts: &WordCounts, alphabet: Alphabet, symbols: usize) -> Vec<u64> {
        let mut frequencies = vec![0u64; symbols];
        for (word, count) in counts.iter() {
            for_each_unit(word, alphabet, |unit, at| {
                if let Some(symbol) = self.symbols.get(&unit).and_then(|forms| forms[at]) {
                    let frequency = &mut frequencies[symbol as usize];
                    *frequency = frequency.saturating_add(count);
                }
            });
        }
        frequencies
    }

    /// The words as symbols, with their counts, after `begin` has merged some. What is not in the
    /// alphabet is dropped, and so is a word without a pair.
    pub fn words(
        &self,
        counts: &WordCounts,
        alphabet: Alphabet,
        mut begin: impl FnMut(&mut Vec<u32>),
    ) -> Words {
        let mut words = Words::default();
        let mut symbols = Vec::new();
        for (word, count) in counts.iter() {
            symbols.clear();
            for_each_unit(word, alphabet, |unit, at| {
                match self.symbols.get(&unit).and_then(|forms| forms[at]) {
                    Some(symbol) => symbols.push(symbol),
                    None if self.unknown_parts => {
                        begin(&mut symbols);
                        words.push(&symbols, count);
                        symbols.clear();
                    }
                    None => {}
                }
            });
            symbols.extend(self.suffix);
            words.units += u128::from(count) * symbols.len() as u128;
            begin(&mut symbols);
            words.push(&symbols, count);
        }
        words
    }
}

/// Calls `each` with the code and the position of each unit of a word.
fn for_each_unit(word: &str, alphabet: Alphabet, mut each: impl FnMut(u32, usize)) {
    match alphabet {
        Alphabet::Bytes => {
            for (at, byte) in word.bytes().enumerate() {
                each(u32::from(byte), position(at == 0, at + 1 == word.len()));
            }
        }
        Alphabet::Characters => {
            for (at, character) in word.char_indices() {
                let end = at + character.len_utf8();
                each(u32::from(character), position(at == 0, end == word.len()));
            }
        }
    }
}

/// The characters of the corpus, and those that shall be there anyhow, by code point.
fn alphabet(counts: &[&WordCounts], training: &BpeTrainer) -> BTreeSet<char> {
    let mut frequencies: HashMap<char, u64, FixedState> = HashMap::default();
    for (word, count) in counts.iter().flat_map(|counts| counts.iter()) {
        for character in word.chars() {
            let frequency = frequencies.entry(character).or_default();
            *frequency = frequency.saturating_add(count);
        }
    }
    let commonest_first = |frequencies: HashMap<char, u64, FixedState>| {
        let mut characters: Vec<(char, u64)> = frequencies.into_iter().collect();
        characters.sort_unstable_by_key(|&(character, frequency)| (Reverse(frequency), character));
        characters
    };
    if let Some(share) = training.character_coverage {
        let all: u128 = frequencies.values().map(|&count| u128::from(count)).sum();
        let mut covered = 0;
        frequencies = commonest_first(frequencies)
            .into_iter()
            .take_while(|&(_, frequency)| {
                let is_needed = (covered as f64) < share * all as f64;
                covered += u128::from(frequency);
                is_needed
            })
            .collect();
    }
    for &character in &training.initial_alphabet {
        frequencies.insert(character, u64::MAX);
    }
    let mut characters = commonest_first(frequencies);
    characters.truncate(training.limit_alphabet.unwrap_or(usize::MAX));
    characters
        .into_iter()
        .map(|(character, _)| character)
        .collect()
}
