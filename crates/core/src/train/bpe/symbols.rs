//! The alphabet of a corpus, the tokens made of it, and words as rows of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::parameters::too_small;
use super::words::Words;
use super::{BpeTrainer, ByteOrder};
use crate::error::Result;
use crate::model::bpe::Alphabet;
use crate::model::byte_token;
use crate::printable;
use crate::train::word_counts::WordCounts;

/// The tokens made so far.
#[derive(Default)]
pub(crate) struct Tokens {
    pub bytes: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u32, FixedState>,
    /// How many units each has, without prefix and suffix.
    pub lengths: Vec<usize>,
    /// Tokens that no merge may make.
    pub reserved: BTreeSet<u32>,
    /// How many ids stand for a token; the others are gaps.
    count: usize,
}

impl Tokens {
    /// The special tokens of a training.
    pub fn of_specials(training: &BpeTrainer) -> Self {
        let mut tokens = Self::default();
        for special in &training.special_tokens {
            tokens.intern(special.as_bytes(), special.chars().count());
        }
        tokens
    }

    /// The id of a special token, which is new unless a token of text is spelled so.
    pub fn intern_special(&mut self, special: &str, alphabet: Alphabet) -> u32 {
        self.intern(&spelling(special, alphabet), special.chars().count())
    }

    /// # Errors
    /// There are more tokens than `vocab_size` allows, before the first merge, and that is no way to
    /// ask for none.
    pub fn check_room(&self, training: &BpeTrainer) -> Result<()> {
        let needed = self.count + training.last_tokens();
        match needed > training.vocab_size && training.refuses_less() {
            true => Err(too_small(training, training.vocab_size, needed)),
            false => Ok(()),
        }
    }

    /// How many ids there are, gaps between them included.
    pub fn ids(&self) -> usize {
        self.bytes.len()
    }

    /// How many tokens there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The id of a token, which is new unless it is known.
    pub fn intern(&mut self, token: &[u8], length: usize) -> u32 {
        if let Some(&id) = self.ids.get(token) {
            return id;
        }
        let id = self.bytes.len() as u32;
        self.ids.insert(token.to_vec(), id);
        self.bytes.push(token.to_vec());
        self.lengths.push(length);
        self.count += 1;
        id
    }

    /// Gives a token an id that is not taken; the ids before it may stay without a token.
    pub fn place(&mut self, token: &[u8], id: u32, length: usize) {
        let needed = (id as usize + 1).max(self.bytes.len());
        self.bytes.resize(needed, Vec::new());
        self.lengths.resize(needed, 0);
        self.count += usize::from(self.bytes[id as usize].is_empty());
        self.bytes[id as usize] = token.to_vec();
        self.lengths[id as usize] = length;
        self.ids.entry(token.to_vec()).or_insert(id);
    }

    /// The id of a token, if it is known.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// The bytes that two tokens make.
    fn joined(&self, left: u32, right: u32, prefix: &str) -> Vec<u8> {
        let rest = &self.bytes[right as usize];
        let rest = rest.strip_prefix(prefix.as_bytes()).unwrap_or(rest);
        [&self.bytes[left as usize], rest].concat()
    }

    /// Whether two tokens make one that text must not become, such as `<0x41>`.
    pub fn make_reserved(&self, left: u32, right: u32, prefix: &str) -> bool {
        !self.reserved.is_empty() && {
            let token = self.joined(left, right, prefix);
            self.id(&token)
                .is_some_and(|id| self.reserved.contains(&id))
        }
    }

    /// The token that two tokens make.
    pub fn merge(&mut self, left: u32, right: u32, prefix: &str) -> u32 {
        let token = self.joined(left, right, prefix);
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        self.intern(&token, length)
    }

    /// Whether two tokens together have fewer units than `limit`.
    pub fn fit(&self, left: u32, right: u32, limit: usize) -> bool {
        self.lengths[left as usize] + self.lengths[right as usize] < limit
    }
}

/// What a special token is among the tokens. Where tokens are bytes and a file would spell these bytes in
/// other characters, it is no token of text: behind a byte that no text holds.
pub(super) fn spelling(special: &str, alphabet: Alphabet) -> Vec<u8> {
    let mut bytes = special.as_bytes().to_vec();
    if alphabet == Alphabet::Bytes && !bytes.iter().all(u8::is_ascii_graphic) {
        bytes.insert(0, 0xFF);
    }
    bytes
}

/// Where in its word a unit stands: first or not, last or not. It decides over the marks.
fn position(is_first: bool, is_last: bool) -> usize {
    usize::from(!is_first) | usize::from(is_last) << 1
}

/// The alphabet: the symbol of each unit in each of the four positions.
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
    pub fn new(counts: &WordCounts, training: &BpeTrainer, tokens: &mut Tokens) -> Self {
        let mut units = Self {
            unknown_parts: training.sentencepiece,
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
                if training.sentencepiece {
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
        for (word, _) in counts.iter() {
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

    /// How often each of so many symbols occurs.
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
fn alphabet(counts: &WordCounts, training: &BpeTrainer) -> BTreeSet<char> {
    let mut frequencies: HashMap<char, u64, FixedState> = HashMap::default();
    for (word, count) in counts.iter() {
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
