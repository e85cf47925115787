//! The parameters of BPE training, and which are refused.

use std::str::FromStr;

use super::start::Start;
use super::tokens::{Limits, spelling};
use crate::checks::{self, wrong};
use crate::pieces::PieceRules;
use jeton_models::model::bpe::Alphabet;
use jeton_text::error::{Error, ErrorKind, Result, by_name};

/// Which of equally frequent pairs is merged first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The one with the smallest left id, then the smallest right id.
    ///
    /// Counts, too, are as Hugging Face `tokenizers` keeps them. They are exact but where two
    /// merges make one token, say `a`+`bc` and `ab`+`c`: a pair with that token that was there
    /// before the second merge then counts again for what the second merge adds, on top of the
    /// old, and both parts of it are merged each at its own time.
    #[default]
    HuggingFace,
    /// The greatest pair of byte strings.
    Lexicographic,
    /// The smallest pair of byte strings.
    Alphabetic,
    /// The greatest pair, each byte as its character in GPT-2's printable alphabet; of an alphabet of
    /// characters as [`Lexicographic`](Self::Lexicographic).
    Spelling,
    /// The one that occurs first in the corpus.
    First,
    /// The one that makes the shortest token, and of equally short ones the smallest.
    SentencePiece,
}

impl TieBreak {
    const NAMES: [(&str, Self); 6] = [
        ("huggingface", Self::HuggingFace),
        ("lexicographic", Self::Lexicographic),
        ("alphabetic", Self::Alphabetic),
        ("spelling", Self::Spelling),
        ("first", Self::First),
        ("sentencepiece", Self::SentencePiece),
    ];
}

impl FromStr for TieBreak {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("tie_break", name, &Self::NAMES)
    }
}

/// The order in which the 256 bytes get their ids, and where the ids of special tokens are.
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

/// Trains byte pair encoding, with these parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct BpeTrainer {
    /// How many tokens there are in the end, special ones and alphabet included.
    pub vocab_size: usize,
    /// A pair less frequent than this is not merged.
    pub min_frequency: u64,
    /// A token that is merged has at most this many units (bytes or characters).
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
    /// The token of a character outside the alphabet; one of the special tokens.
    pub unk_token: Option<String>,
    /// Put before each character but the first of a word.
    pub continuing_subword_prefix: Option<String>,
    /// Put after the last character of a word.
    pub end_of_word_suffix: Option<String>,
    /// The suffix is a symbol of its own and not a part of the last character; see
    /// `BpeOptions::separate_suffix`.
    pub separate_suffix: bool,
    /// As SentencePiece has it: every pair of tokens that makes a token is merged, and tokens keep to these
    /// rules. The alphabet is characters.
    pub sentencepiece: Option<PieceRules>,
    /// With SentencePiece's rules: whether a character outside the alphabet is written as `<0xNN>` tokens.
    pub byte_fallback: bool,
    /// What there is already.
    pub start: Option<Start>,
    /// Which of equally frequent pairs is merged first.
    pub tie_break: TieBreak,
    /// Whether pairs are counted without overlap in a run of equal symbols: `ppp` has one `pp`.
    pub disjoint: bool,
}

impl Default for BpeTrainer {
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
            sentencepiece: None,
            byte_fallback: false,
            start: None,
            tie_break: TieBreak::default(),
            disjoint: false,
        }
    }
}

impl BpeTrainer {
    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub(super) fn check_parameters(&self) -> Result<()> {
        checks::check_vocab_size(self.vocab_size)?;
        if self.separate_suffix && self.end_of_word_suffix.as_deref().unwrap_or("").is_empty() {
            return wrong(
                "separate_suffix is set, and there is no end_of_word_suffix",
                "set end_of_word_suffix=\"</w>\"",
            );
        }
        if self.sentencepiece.is_some() {
            if self.alphabet != Alphabet::Characters || self.unk_token.is_none() {
                return wrong(
                    "SentencePiece's alphabet is characters, with an unk_token",
                    "set unk_token=\"<unk>\"",
                );
            }
            let marks = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
            if marks.iter().any(|mark| mark.is_some()) {
                return wrong(
                    "SentencePiece marks the beginning of words with ▁ and nothing else",
                    "leave out continuing_subword_prefix and end_of_word_suffix",
                );
            }
        }
        if self.max_token_length == Some(0) {
            return wrong(
                "max_token_length cannot be 0",
                "leave it out for tokens of any length",
            );
        }
        if let Some(share) = self.character_coverage {
            checks::check_character_coverage(share)?;
        }
        if self.byte_order == ByteOrder::Value && self.alphabet != Alphabet::Bytes {
            return wrong(
                "byte_order is for bytes, and this alphabet is characters",
                "leave it out, or set alphabet=\"bytes\"",
            );
        }
        if self.alphabet == Alphabet::Bytes {
            if self.character_coverage.is_some() {
                return wrong(
                    "character_coverage is for characters, and this alphabet is bytes",
                    "bytes cover every text; leave it out, or set alphabet=\"characters\"",
                );
            }
            if !self.initial_alphabet.is_empty() {
                return wrong(
                    "initial_alphabet is for characters, and this alphabet is bytes",
                    "all 256 bytes are always there; leave it out, or set alphabet=\"characters\"",
                );
            }
            if self.unk_token.is_some() {
                return wrong(
                    "unk_token is for characters, and this alphabet is bytes",
                    "no byte is ever unknown; leave it out, or set alphabet=\"characters\"",
                );
            }
            if self.limit_alphabet.is_some() {
                return wrong(
                    "limit_alphabet is for characters, and this alphabet is bytes",
                    "leave it out, or set alphabet=\"characters\"",
                );
            }
        }
        checks::check_special_tokens(&self.special_tokens)?;
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
            Some(unk) => checks::check_unk(unk, &self.special_tokens),
            None => Ok(()),
        }
    }

    /// What is put before each character but the first of a word.
    pub(super) fn prefix(&self) -> &str {
        self.continuing_subword_prefix.as_deref().unwrap_or("")
    }

    /// The order of equally frequent pairs, where the tokens are spelled as they are.
    pub(super) fn order_of_ties(&self) -> TieBreak {
        match (self.tie_break, self.alphabet) {
            (TieBreak::Spelling, Alphabet::Characters) => TieBreak::Lexicographic,
            (tie_break, _) => tie_break,
        }
    }

    /// Which tokens may be made.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            units: self.max_token_length.unwrap_or(usize::MAX),
            rules: self.sentencepiece.clone(),
            disjoint: self.disjoint,
        }
    }

    /// Whether the ids of special tokens come after all others.
    pub(super) fn specials_are_last(&self) -> bool {
        let is_continued = (self.start.as_ref()).is_some_and(|start| !start.tokens.is_empty());
        self.byte_order == ByteOrder::Value && !is_continued
    }

    /// How many tokens come after the merges: the special ones, but for those that are a byte's.
    pub(super) fn last_tokens(&self) -> usize {
        if self.specials_are_last() {
            self.longer_specials()
        } else {
            0
        }
    }

    /// How many special tokens there are beside those that are spelled as one byte, which are that
    /// byte's token.
    fn longer_specials(&self) -> usize {
        let specials = self.special_tokens.iter();
        let spelled = specials.map(|token| spelling(token, self.alphabet));
        spelled.filter(|token| token.len() > 1).count()
    }

    /// Checks that there is room for the tokens that there are before the first merge.
    ///
    /// # Errors
    /// There are more than `vocab_size` allows, and that is no way to ask for no merges.
    pub(crate) fn check_room(&self, tokens: usize) -> Result<()> {
        let needed = tokens + self.last_tokens();
        if needed > self.vocab_size && self.refuses_less() {
            Err(too_small(self, self.vocab_size, needed))
        } else {
            Ok(())
        }
    }

    /// Whether a `vocab_size` below the tokens that there are before the first merge is an error. An
    /// alphabet of characters is as large as the corpus asks for, so that a smaller size asks for no
    /// merges.
    pub(super) fn refuses_less(&self) -> bool {
        self.alphabet == Alphabet::Bytes || self.start.is_some()
    }
}

/// The error of a vocabulary that does not hold the `needed` tokens that there are before the first
/// merge.
pub(super) fn too_small(training: &BpeTrainer, vocab_size: usize, needed: usize) -> Error {
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
