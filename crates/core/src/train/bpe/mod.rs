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

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::str::FromStr;

mod changes;
mod corpus;
mod queue;
mod start;
mod units;
mod words;

pub use self::start::Start;
pub(crate) use self::units::{Tokens, Units};
pub(crate) use self::words::{Words, merge_in_word};

use self::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result, by_name};
use crate::model::bpe::{Alphabet, Bpe, BpeOptions};
use crate::model::unless_interrupted;
use crate::train::special_tokens;
use crate::train::word_counts::WordCounts;
use crate::vocab::Vocab;

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

/// In which order the 256 bytes have their ids, and where those of special tokens are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// By GPT-2's printable characters, as Hugging Face `tokenizers` has them: `!` comes first, and
    /// special tokens come before it.
    #[default]
    Printable,
    /// By value, as minbpe and rustbpe have them: the ids 0 to 255 are the bytes, and special tokens
    /// come after the merges.
    Value,
}

impl FromStr for ByteOrder {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [("printable", Self::Printable), ("value", Self::Value)];
        by_name("byte_order", name, &names)
    }
}

/// What a byte pair encoding is trained for.
#[derive(Clone, Debug, PartialEq)]
pub struct BpeTraining {
    /// How many tokens there are in the end, special ones and alphabet included.
    pub vocab_size: usize,
    /// A pair less frequent than this is not merged.
    pub min_frequency: u64,
    /// A token that is merged has fewer units (bytes or characters) than this; two units always make
    /// one.
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
    /// The first ids, in this order; or the last, as [`ByteOrder`] says.
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
    /// As SentencePiece has it: a character outside the alphabet is written as `<0xNN>` tokens,
    /// and every pair of tokens that makes a token is merged. The alphabet is characters.
    pub sentencepiece: bool,
    /// What there is already.
    pub start: Option<Start>,
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
            sentencepiece: false,
            start: None,
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
        if self.vocab_size > crate::vocab::MAX_ID as usize {
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
        if self.sentencepiece {
            if self.alphabet != Alphabet::Characters || self.unk_token.is_none() {
                return wrong(
                    "SentencePiece's alphabet is characters, with an unk_token".to_owned(),
                    "set unk_token=\"<unk>\"",
                );
            }
            let marks = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
            if marks.iter().any(|mark| mark.is_some()) {
                return wrong(
                    "SentencePiece marks the beginning of words with ▁ and nothing else".to_owned(),
                    "leave out continuing_subword_prefix and end_of_word_suffix",
                );
            }
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
        if self.byte_order == ByteOrder::Value && self.alphabet != Alphabet::Bytes {
            return wrong(
                "byte_order is for bytes, and this alphabet is characters".to_owned(),
                "leave it out, or set alphabet=\"bytes\"",
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
        special_tokens::check(&self.special_tokens)?;
        if self.alphabet == Alphabet::Bytes && self.start.is_none() {
            let longer = self.longer_specials();
            if self.vocab_size < 256 + longer {
                return wrong(
                    format!(
                        "vocab_size {} does not hold {} special token{} and an alphabet of 256",
                        self.vocab_size,
                        self.special_tokens.len(),
                        if self.special_tokens.len() == 1 {
                            ""
                        } else {
                            "s"
                        },
                    ),
                    "the 256 bytes are always there; ask for more",
                );
            }
        }
        let started = |unk: &String| {
            let start = self.start.as_ref();
            start.is_some_and(|start| start.tokens.iter().any(|(t, _)| t == unk.as_bytes()))
        };
        match self.unk_token.as_ref().filter(|unk| !started(unk)) {
            Some(unk) => special_tokens::check_unk(unk, &self.special_tokens),
            None => Ok(()),
        }
    }

    /// Whether the ids of special tokens come after all others.
    fn specials_are_last(&self) -> bool {
        let is_continued = (self.start.as_ref()).is_some_and(|start| !start.tokens.is_empty());
        self.byte_order == ByteOrder::Value && !is_continued
    }

    /// How many tokens come after the merges: the special ones, but for those that are a byte's.
    fn last_tokens(&self) -> usize {
        match self.specials_are_last() {
            true => self.longer_specials(),
            false => 0,
        }
    }

    /// How many special tokens there are beside those that are spelled as one byte, which are that
    /// byte's token.
    fn longer_specials(&self) -> usize {
        let specials = self.special_tokens.iter();
        let spelled = specials.map(|token| units::spelling(token, self.alphabet));
        spelled.filter(|token| token.len() > 1).count()
    }

    /// Whether a `vocab_size` below the tokens that there are before the first merge is an error. An
    /// alphabet of characters is as large as the corpus asks for, so that a smaller size asks for no
    /// merges.
    fn refuses_less(&self) -> bool {
        self.alphabet == Alphabet::Bytes || self.start.is_some()
    }
}

/// How far training has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many tokens there are so far.
    pub tokens: usize,
    /// How many there shall be; in the end, how many there are.
    pub goal: usize,
    /// How frequent the pair is that is merged next; 0 in the end.
    pub frequency: u64,
}

impl Progress {
    /// In the end, when there are so many tokens.
    pub(crate) fn last(tokens: usize) -> Progress {
        Progress {
            tokens,
            goal: tokens,
            frequency: 0,
        }
    }
}

/// How many merges lie between two calls of the caller's `watch`.
const WATCH_EVERY: usize = 64;

/// The byte pair encoding that `training` asks for, from these words.
///
/// Special tokens have the first ids, or the last, as [`ByteOrder`] says. A model of characters knows them as tokens of its own, a
/// model of bytes leaves their ids to the added tokens of the tokenizer.
///
/// Calls `watch` every now and then; a `Break` from it ends training with an error.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_core::model::bpe::Alphabet;
/// use jeton_core::train::bpe::{BpeTraining, TieBreak, train_bpe};
/// use jeton_core::train::word_counts::WordCounts;
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
/// What [`BpeTraining::check`] says; a `vocab_size` that does not hold the 256 bytes and the special
/// tokens, or the tokens to start from; counts whose sum does not fit; a `Break` from `watch`.
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
    /// How many tokens there are before the first new merge, and how many ids, gaps included.
    first: usize,
    first_id: usize,
    /// How many merges were given.
    given: usize,
    /// The ids of special tokens.
    specials: BTreeSet<u32>,
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
    /// A size that does not hold the 256 bytes and the special tokens, or the tokens to start from.
    pub fn model(&self, vocab_size: usize) -> Result<Bpe> {
        let training = self.training;
        let needed = self.first + training.last_tokens();
        if vocab_size < needed && training.refuses_less() {
            return Err(too_small(training, vocab_size, needed));
        }
        let vocab_size = vocab_size.max(needed) - training.last_tokens();
        let options = BpeOptions {
            alphabet: training.alphabet,
            unk_token: training.unk_token.clone(),
            continuing_subword_prefix: training.continuing_subword_prefix.clone(),
            end_of_word_suffix: training.end_of_word_suffix.clone(),
            separate_suffix: training.separate_suffix,
            fuse_unk: training.sentencepiece,
            byte_fallback: training.sentencepiece,
            ..BpeOptions::default()
        };
        // New tokens have the ids after all others. Training ends with the merge that makes the
        // last of them.
        let ids = self.first_id + (vocab_size - self.first);
        let is_last = |(_, id): &((u32, u32), u32)| *id as usize + 1 == ids;
        let new = &self.merges[self.given..];
        let end = match new.iter().position(is_last) {
            _ if vocab_size == self.first => self.given,
            Some(last) => self.given + last + 1,
            None => self.merges.len(),
        };
        let merges = &self.merges[..end];
        // Special tokens are no bytes of text: unless bytes make the same token, a model of bytes
        // does not know them.
        let made: BTreeSet<u32> = merges.iter().map(|(_, id)| *id).collect();
        let known = |token: &[u8], id: u32| {
            let is_text = match training.alphabet {
                Alphabet::Bytes => !self.specials.contains(&id) || token.len() == 1,
                Alphabet::Characters => true,
            };
            !token.is_empty() && (is_text || made.contains(&id))
        };
        let entries = self.tokens.bytes.iter().zip(0..).take(ids);
        let vocab = Vocab::new(entries.filter(|(token, id)| known(token, *id)))?;
        let merges = match training.sentencepiece {
            true => self.all_pairs(merges, ids),
            false => merges.to_vec(),
        };
        Ok(Bpe::by_ids(vocab, merges, options))
    }

    /// All pairs of tokens with ids below `ids` that make a token, the first token first, and of one
    /// token the longest left part first.
    fn all_pairs(&self, merges: &[((u32, u32), u32)], ids: usize) -> Vec<((u32, u32), u32)> {
        let part = |bytes: &[u8]| {
            let id = self.tokens.id(bytes)?;
            let is_text = !self.specials.contains(&id) && !self.tokens.reserved.contains(&id);
            (is_text && (id as usize) < ids).then_some(id)
        };
        let mut seen = BTreeSet::new();
        let mut all = Vec::with_capacity(2 * merges.len());
        for &(_, id) in merges.iter().filter(|(_, id)| seen.insert(*id)) {
            let token = &self.tokens.bytes[id as usize];
            let pairs = (1..token.len()).rev().filter_map(|at| {
                let (left, right) = token.split_at(at);
                Some(((part(left)?, part(right)?), id))
            });
            all.extend(pairs);
        }
        all
    }
}

fn train<'t>(
    counts: &WordCounts,
    training: &'t BpeTraining,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Trained<'t>> {
    let mut tokens = Tokens::default();
    let mut specials = BTreeSet::new();
    if let Some(start) = &training.start {
        specials.extend(start.place(training, &mut tokens)?);
    }
    if !training.specials_are_last() {
        for special in &training.special_tokens {
            specials.insert(tokens.intern_special(special, training.alphabet));
        }
    }
    let units = Units::new(counts, training, &mut tokens);
    if training.sentencepiece {
        tokens.reserved.extend(&specials);
        let unk = training.unk_token.as_deref().unwrap_or("");
        tokens.reserved.extend(tokens.id(unk.as_bytes()));
    }
    let prefix = training.continuing_subword_prefix.as_deref().unwrap_or("");
    let mut merges = match &training.start {
        Some(start) => start.merges(&mut tokens, prefix)?,
        None => Vec::new(),
    };
    tokens.check_room(training)?;
    let (first, first_id, given) = (tokens.count(), tokens.ids(), merges.len());
    let words = units.words(counts, training.alphabet, start::merging(&merges));
    let mut corpus = Corpus::new(words, training, &tokens)?;
    let last = training.last_tokens();
    let size = training.vocab_size.saturating_sub(last);
    merges.reserve(size.saturating_sub(tokens.count()));
    while tokens.count() < size {
        let Some(best) = corpus.most_frequent(&tokens) else {
            break;
        };
        if best.count < training.min_frequency {
            break;
        }
        if merges.len() % WATCH_EVERY == 0 {
            let progress = Progress {
                tokens: tokens.count() + last,
                goal: training.vocab_size,
                frequency: best.count,
            };
            unless_interrupted(watch(progress))?;
        }
        let (left, right) = corpus.pair(best);
        if tokens.make_reserved(left, right, prefix) {
            continue;
        }
        let id = tokens.merge(left, right, prefix);
        merges.push(((left, right), id));
        corpus.merge(best, id, &tokens);
    }
    unless_interrupted(watch(Progress::last(tokens.count() + last)))?;
    Ok(Trained {
        training,
        tokens,
        merges,
        first,
        first_id,
        given,
        specials,
    })
}

/// The error of a vocabulary that does not hold the `needed` tokens that there are before the first
/// merge.
fn too_small(training: &BpeTraining, vocab_size: usize, needed: usize) -> Error {
    let specials = training.special_tokens.len();
    let (parts, hint) = match (&training.start, training.alphabet) {
        (Some(start), _) if start.count() == 0 => {
            let merges = start.merges.len();
            let parts = vec![format!(
                "the {needed} tokens of the alphabet and the {merges} merges to start from"
            )];
            (parts, "ask for more".to_owned())
        }
        (Some(start), alphabet) => {
            let known = start.count();
            let is_new = |token: &&String| !start.holds(token.as_bytes());
            let named = training.special_tokens.iter().filter(is_new).count();
            let units = needed.saturating_sub(known + named);
            let mut parts = vec![format!("the {known} tokens to start from")];
            if named > 0 {
                parts.push(format!("{named} new special tokens"));
            }
            let hint = match alphabet {
                Alphabet::Characters if units > 0 => {
                    parts.push(format!("{units} characters of the corpus that are new"));
                    format!(
                        "ask for at least {needed}, or leave characters out: limit_alphabet=0 adds \
                         none, character_coverage=0.9995 only common ones"
                    )
                }
                Alphabet::Bytes if units > 0 => {
                    parts.push(format!("{units} bytes that it has no token for"));
                    format!("ask for at least {needed}; the tokens keep their ids")
                }
                _ => format!("ask for at least {needed}; the tokens keep their ids"),
            };
            (parts, hint)
        }
        (None, _) => {
            let parts = vec![
                format!("the {specials} special tokens"),
                format!("an alphabet of {}", needed - specials),
            ];
            (
                parts,
                "the 256 bytes are always there; ask for more".to_owned(),
            )
        }
    };
    let message = match parts.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parts => parts.concat(),
    };
    let message = format!("vocab_size {vocab_size} does not hold {message}");
    Error::new(ErrorKind::Training, message).hint(hint)
}

#[cfg(test)]
mod tests;
