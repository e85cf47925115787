//! Training: word counts in, merges out.
//!
//! By definition: every word is a row of symbols, bytes or characters; as long as the vocabulary
//! is too small, the most frequent pair of neighbouring symbols becomes a new one, everywhere.
//! The worked example: in `low`×5 `lower`×2 `newest`×6 `widest`×3, each with `</w>` at its end,
//! `es` comes first (9 times), then `est`, `est</w>`, `lo` and `low`.
//!
//! Here are the parameters and the steps. `corpus` knows the pairs and where they occur, `words`
//! holds the words, `changes` what a merge does to the pairs around it, and `queue` tells which
//! pair comes next.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::str::FromStr;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

mod changes;
mod corpus;
mod queue;
mod words;

use self::corpus::Corpus;
use self::words::Words;
use super::{Alphabet, Bpe, BpeOptions};
use crate::error::{Error, ErrorKind, Result, by_name, did_you_mean};
use crate::model::Vocab;
use crate::printable;
use crate::word_counts::WordCounts;

/// Which of equally frequent pairs is merged first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The one with the smallest left id, then the smallest right id.
    ///
    /// Counts, too, are as Hugging Face `tokenizers` keeps them. They are exact but where two
    /// merges make one token, say `a`+`bc` and `ab`+`c`: a pair with that token that was there
    /// before the second merge then counts anew for what the second merge adds, on top of the
    /// old, and both parts of it are merged each at its own time.
    #[default]
    HuggingFace,
    /// The greatest pair of byte strings.
    Lexicographic,
    /// The smallest pair of byte strings.
    Alphabetic,
    /// The one met first in the corpus.
    First,
}

impl TieBreak {
    const NAMES: [(&str, Self); 4] = [
        ("huggingface", Self::HuggingFace),
        ("lexicographic", Self::Lexicographic),
        ("alphabetic", Self::Alphabetic),
        ("first", Self::First),
    ];
}

impl FromStr for TieBreak {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("tie_break", name, &Self::NAMES)
    }
}

impl FromStr for Alphabet {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [("bytes", Self::Bytes), ("characters", Self::Characters)];
        by_name("alphabet", name, &names)
    }
}

/// In which order the 256 bytes have their ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// By GPT-2's printable characters, as Hugging Face `tokenizers` has them: `!` comes first.
    #[default]
    Printable,
    /// By value.
    Value,
}

/// What a byte pair encoding is trained for.
#[derive(Clone, Debug, PartialEq)]
pub struct BpeTraining {
    /// How many tokens there are in the end, special ones and alphabet included.
    pub vocab_size: usize,
    /// A pair less frequent than this is not merged.
    pub min_frequency: u64,
    /// Two symbols are merged only if they have fewer units (bytes or characters) than this
    /// together; those of one unit each always.
    pub max_token_length: Option<usize>,
    /// What a word is before the first merge. Bytes are always all 256.
    pub alphabet: Alphabet,
    /// The order of the 256 bytes.
    pub byte_order: ByteOrder,
    /// Characters that are in the alphabet whether or not the corpus has them.
    pub initial_alphabet: Vec<char>,
    /// How many characters the alphabet may have; the rarest are dropped, of equally rare ones
    /// those of the highest code points.
    pub limit_alphabet: Option<usize>,
    /// What share of the corpus's characters the alphabet shall make up, from above 0 to 1; the
    /// rarest beyond that are dropped.
    pub character_coverage: Option<f64>,
    /// The first ids, in this order.
    pub special_tokens: Vec<String>,
    /// What stands for a character outside the alphabet; one of the special tokens.
    pub unk_token: Option<String>,
    /// Put before each character but the first of a word.
    pub continuing_subword_prefix: Option<String>,
    /// Put after the last character of a word.
    pub end_of_word_suffix: Option<String>,
    /// The suffix is a symbol of its own and not a part of the last character; see
    /// [`BpeOptions::separate_suffix`].
    pub separate_suffix: bool,
    /// Which of equally frequent pairs is merged first.
    pub tie_break: TieBreak,
}

impl Default for BpeTraining {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            min_frequency: 0,
            max_token_length: None,
            alphabet: Alphabet::Bytes,
            byte_order: ByteOrder::default(),
            initial_alphabet: Vec::new(),
            limit_alphabet: None,
            character_coverage: None,
            special_tokens: Vec::new(),
            unk_token: None,
            continuing_subword_prefix: None,
            end_of_word_suffix: None,
            separate_suffix: false,
            tie_break: TieBreak::default(),
        }
    }
}

impl BpeTraining {
    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub fn check(&self) -> Result<()> {
        let wrong =
            |message: String, hint: &str| Err(Error::new(ErrorKind::Argument, message).hint(hint));
        if self.vocab_size > crate::model::MAX_ID as usize {
            return wrong(
                format!("vocab_size {} is past the largest id", self.vocab_size),
                "real vocabularies have 1,000 to 300,000 tokens",
            );
        }
        if self.separate_suffix && self.end_of_word_suffix.as_deref().unwrap_or("").is_empty() {
            return wrong(
                "separate_suffix is set, and there is no end_of_word_suffix".to_owned(),
                "set end_of_word_suffix=\"</w>\"",
            );
        }
        if self.max_token_length == Some(0) {
            return wrong(
                "max_token_length cannot be 0".to_owned(),
                "leave it out for tokens of any length",
            );
        }
        if let Some(share) = self.character_coverage
            && !(share > 0.0 && share <= 1.0)
        {
            return wrong(
                format!("character_coverage cannot be {share}"),
                "it is a share, above 0 and at most 1; 0.9995 is common",
            );
        }
        if self.alphabet == Alphabet::Bytes {
            if self.character_coverage.is_some() {
                return wrong(
                    "character_coverage is for characters, and this alphabet is bytes".to_owned(),
                    "bytes cover every text; leave it out, or set alphabet=\"characters\"",
                );
            }
            if !self.initial_alphabet.is_empty() {
                return wrong(
                    "initial_alphabet is for characters, and this alphabet is bytes".to_owned(),
                    "all 256 bytes are always there; leave it out, or set alphabet=\"characters\"",
                );
            }
            if self.unk_token.is_some() {
                return wrong(
                    "unk_token is for characters, and this alphabet is bytes".to_owned(),
                    "no byte is ever unknown; leave it out, or set alphabet=\"characters\"",
                );
            }
            if self.limit_alphabet.is_some() {
                return wrong(
                    "limit_alphabet is for characters, and this alphabet is bytes".to_owned(),
                    "leave it out, or set alphabet=\"characters\"",
                );
            }
        }
        let mut seen = BTreeSet::new();
        for token in &self.special_tokens {
            if token.is_empty() {
                return wrong(
                    "special_tokens holds an empty string".to_owned(),
                    "a special token is found in text by its spelling",
                );
            }
            if !seen.insert(token) {
                return wrong(
                    format!("special_tokens holds {token:?} twice"),
                    "name each special token once",
                );
            }
        }
        if let Some(unk) = self.unk_token.as_ref().filter(|unk| !seen.contains(unk)) {
            let hint = match did_you_mean(unk, seen.iter().map(|token| token.as_str())) {
                Some(close) => format!("did you mean {close:?}?"),
                None => format!("add {unk:?} to special_tokens"),
            };
            return wrong(format!("unk_token {unk:?} is no special token"), &hint);
        }
        Ok(())
    }
}

/// How far training has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many tokens there are so far.
    pub tokens: usize,
    /// How many there shall be.
    pub goal: usize,
    /// How frequent the pair is that is merged next.
    pub frequency: u64,
}

/// How many merges lie between two calls of the caller's `watch`.
const WATCH_EVERY: usize = 64;

/// The byte pair encoding that `training` asks for, from these words.
///
/// Special tokens have the first ids. A model of characters knows them as tokens of its own, a
/// model of bytes leaves their ids to the added tokens of the tokenizer.
///
/// Calls `watch` every now and then; a `Break` from it ends training with an error.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_core::model::bpe::Alphabet;
/// use jeton_core::model::bpe::train::{BpeTraining, TieBreak, train_bpe};
/// use jeton_core::word_counts::WordCounts;
///
/// let words = "a refrain from rain in a train".split(' ').map(|word| (word, 1));
/// let training = BpeTraining {
///     vocab_size: 12,
///     alphabet: Alphabet::Characters,
///     tie_break: TieBreak::First,
///     ..BpeTraining::default()
/// };
/// let bpe = train_bpe(&WordCounts::from_words(words), &training, |_| ControlFlow::Continue(()))?;
/// let tokens: Vec<_> = (9..12).filter_map(|id| bpe.vocab().token(id)).collect();
/// assert_eq!(tokens, [b"in".as_slice(), b"ra", b"rain"]);
/// # Ok::<(), jeton_core::Error>(())
/// ```
///
/// # Errors
/// What [`BpeTraining::check`] says; a `vocab_size` that does not hold the special tokens and the
/// alphabet; counts whose sum does not fit; a `Break` from `watch`.
pub fn train_bpe(
    counts: &WordCounts,
    training: &BpeTraining,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Bpe> {
    Trained::new(counts, training, watch)?.model(training.vocab_size)
}

/// What training has made: every token and every merge, of which smaller vocabularies are a part.
pub struct Trained<'t> {
    training: &'t BpeTraining,
    tokens: Tokens,
    merges: Vec<((u32, u32), u32)>,
    /// How many special tokens and units of the alphabet there are.
    first: usize,
}

impl<'t> Trained<'t> {
    /// Trains once, as [`train_bpe`] does.
    ///
    /// # Errors
    /// As [`train_bpe`].
    pub fn new(
        counts: &WordCounts,
        training: &'t BpeTraining,
        watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        training.check()?;
        train(counts, training, watch)
    }

    /// The model with `vocab_size` tokens, or as many as there are: the one that training for that
    /// size gives.
    ///
    /// # Errors
    /// A size that does not hold the special tokens and the alphabet.
    pub fn model(&self, vocab_size: usize) -> Result<Bpe> {
        let training = self.training;
        if vocab_size < self.first {
            return Err(too_small(training, vocab_size, self.first));
        }
        let options = BpeOptions {
            alphabet: training.alphabet,
            unk_token: training.unk_token.clone(),
            continuing_subword_prefix: training.continuing_subword_prefix.clone(),
            end_of_word_suffix: training.end_of_word_suffix.clone(),
            separate_suffix: training.separate_suffix,
            ..BpeOptions::default()
        };
        // Training ends with the merge that makes the last token.
        let is_last = |(_, id): &((u32, u32), u32)| *id as usize + 1 == vocab_size;
        let end = match self.merges.iter().position(is_last) {
            _ if vocab_size == self.first => 0,
            Some(last) => last + 1,
            None => self.merges.len(),
        };
        let merges = &self.merges[..end];
        // Special tokens are no bytes of text: unless bytes make the same token, a model of bytes
        // does not know them.
        let specials = match training.alphabet {
            Alphabet::Bytes => training.special_tokens.len(),
            Alphabet::Characters => 0,
        };
        let made: BTreeSet<u32> = merges.iter().map(|(_, id)| *id).collect();
        let known = |token: &[u8], id: u32| {
            id as usize >= specials || token.len() == 1 || made.contains(&id)
        };
        let entries = self.tokens.bytes.iter().zip(0..).take(vocab_size);
        let vocab = Vocab::new(entries.filter(|(token, id)| known(token, *id)))?;
        Ok(Bpe::by_ids(vocab, merges.to_vec(), options))
    }
}

fn train<'t>(
    counts: &WordCounts,
    training: &'t BpeTraining,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Trained<'t>> {
    let mut tokens = Tokens::default();
    for special in &training.special_tokens {
        tokens.intern(special.as_bytes(), special.chars().count());
    }
    let units = Units::new(counts, training, &mut tokens);
    if tokens.len() > training.vocab_size {
        return Err(too_small(training, training.vocab_size, tokens.len()));
    }
    let first = tokens.len();
    let words = units.words(counts, training.alphabet);
    let mut corpus = Corpus::new(words, training, &tokens)?;
    let prefix = training.continuing_subword_prefix.as_deref().unwrap_or("");
    let mut merges = Vec::with_capacity(training.vocab_size - tokens.len());
    while tokens.len() < training.vocab_size {
        let Some(best) = corpus.most_frequent(&tokens) else {
            break;
        };
        if best.count < training.min_frequency {
            break;
        }
        if merges.len() % WATCH_EVERY == 0 {
            let progress = Progress {
                tokens: tokens.len(),
                goal: training.vocab_size,
                frequency: best.count,
            };
            if watch(progress).is_break() {
                return Err(Error::new(ErrorKind::Training, "training was interrupted")
                    .hint("the word counts can be trained from again"));
            }
        }
        let (left, right) = corpus.pair(best);
        let id = tokens.merge(left, right, prefix);
        merges.push(((left, right), id));
        corpus.merge(best, id, &tokens);
    }
    Ok(Trained {
        training,
        tokens,
        merges,
        first,
    })
}

fn too_small(training: &BpeTraining, vocab_size: usize, needed: usize) -> Error {
    let specials = training.special_tokens.len();
    let message = format!(
        "vocab_size {vocab_size} does not hold the {specials} special tokens and an alphabet of {}",
        needed - specials
    );
    Error::new(ErrorKind::Training, message).hint(match training.alphabet {
        Alphabet::Bytes => "the 256 bytes are always there; ask for more",
        Alphabet::Characters => "ask for more, or set limit_alphabet",
    })
}

/// The tokens made so far.
#[derive(Default)]
struct Tokens {
    bytes: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u32, FixedState>,
    /// How many units each has, without prefix and suffix.
    lengths: Vec<usize>,
}

impl Tokens {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The id of a token, which is new unless it is known.
    fn intern(&mut self, token: &[u8], length: usize) -> u32 {
        if let Some(&id) = self.ids.get(token) {
            return id;
        }
        let id = self.bytes.len() as u32;
        self.ids.insert(token.to_vec(), id);
        self.bytes.push(token.to_vec());
        self.lengths.push(length);
        id
    }

    /// The token that two tokens make.
    fn merge(&mut self, left: u32, right: u32, prefix: &str) -> u32 {
        let (left, right) = (left as usize, right as usize);
        let rest = &self.bytes[right];
        let rest = rest.strip_prefix(prefix.as_bytes()).unwrap_or(rest);
        let token = [&self.bytes[left], rest].concat();
        self.intern(&token, self.lengths[left] + self.lengths[right])
    }

    /// Whether two tokens together have fewer units than `limit`.
    fn fit(&self, left: u32, right: u32, limit: usize) -> bool {
        self.lengths[left as usize] + self.lengths[right as usize] < limit
    }
}

/// Where in its word a unit stands: first or not, last or not. It decides over the marks.
fn position(is_first: bool, is_last: bool) -> usize {
    usize::from(!is_first) | usize::from(is_last) << 1
}

/// The alphabet: the symbol of each unit in each of the four positions.
#[derive(Default)]
struct Units {
    symbols: HashMap<u32, [Option<u32>; 4], FixedState>,
    /// What ends each word, where that is a symbol of its own.
    suffix: Option<u32>,
}

impl Units {
    /// Makes the alphabet of a corpus: the bare units by code point, then the marked ones.
    fn new(counts: &WordCounts, training: &BpeTraining, tokens: &mut Tokens) -> Self {
        let mut units = Self::default();
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

    /// The words as symbols, with their counts. What is not in the alphabet is dropped, and so
    /// is a word without a pair.
    fn words(&self, counts: &WordCounts, alphabet: Alphabet) -> Words {
        let mut words = Words::default();
        let mut symbols = Vec::new();
        for (word, count) in counts.iter() {
            symbols.clear();
            for_each_unit(word, alphabet, |unit, at| {
                symbols.extend(self.symbols.get(&unit).and_then(|forms| forms[at]));
            });
            symbols.extend(self.suffix);
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
fn alphabet(counts: &WordCounts, training: &BpeTraining) -> BTreeSet<char> {
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

#[cfg(test)]
mod tests;
