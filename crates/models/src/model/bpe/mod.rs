//! Byte pair encoding: neighbouring symbols are merged, the best pair first.
//!
//! Two meanings share one algorithm, because both say how early a pair of tokens is merged
//! and what it becomes:
//!
//! - [`MergeRule::Ranks`] (tiktoken): any pair whose concatenation is a token may be merged, the
//!   one with the lowest id first; a piece that is a token as a whole is not merged at all.
//! - [`MergeRule::Merges`] (GPT-2, Hugging Face): only the listed pairs, in the order of the list.
//!
//! Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword
//! Units", 2016. Dropout: Provilkov, Emelianenko and Voita, "BPE-Dropout", 2020.

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

mod derive;
pub mod merge;
mod stored;
mod tokenize;
mod withheld;

use self::merge::{Merge, Pairs, merge};
use self::stored::Parts;
use crate::merge::{GrowingPairs, Merges};
use crate::model::token::byte_token;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result, by_name};
use jeton_text::mem::lazy::Lazy;
use jeton_text::threads::{LARGE, both};

/// Which pairs may be merged, and in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MergeRule {
    /// Every pair whose concatenation is in the vocabulary; the lowest id first.
    Ranks,
    /// These pairs of ids, first to last.
    Merges(Vec<(u32, u32)>),
}

/// What a piece is before the first merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Alphabet {
    /// Its bytes.
    Bytes,
    /// Its characters.
    Characters,
}

impl FromStr for Alphabet {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [("bytes", Self::Bytes), ("characters", Self::Characters)];
        by_name("alphabet", name, &names)
    }
}

/// How a model reads and merges, beside its vocabulary and merges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BpeOptions {
    /// What a piece is before the first merge.
    pub alphabet: Alphabet,
    /// The token of characters that are not in the vocabulary; without one they are dropped.
    pub unk_token: Option<String>,
    /// Neighbouring unknown characters are one token.
    pub fuse_unk: bool,
    /// A character that is not in the vocabulary is written as `<0xNN>` tokens, if all are there.
    pub byte_fallback: bool,
    /// A piece that is in the vocabulary as a whole is that token at once.
    pub ignore_merges: bool,
    /// Put before each character but the first of a piece.
    pub continuing_subword_prefix: Option<String>,
    /// Put after the last character of a piece.
    pub end_of_word_suffix: Option<String>,
    /// The suffix is a symbol of its own, which merges may join to the last character, as in
    /// Sennrich's paper, and not a part of the last character, as in `tokenizers`.
    pub separate_suffix: bool,
    /// The probability of leaving a merge out, as the file says it. Encoding does not read this: a call
    /// says what it drops. It is kept for the caller and for writing the file again.
    pub dropout: Option<f32>,
}

impl BpeOptions {
    /// Whether tokens are marked by where in a word they are; an empty mark is none.
    pub fn has_affixes(&self) -> bool {
        let is_set = |affix: &Option<String>| affix.as_ref().is_some_and(|it| !it.is_empty());
        is_set(&self.continuing_subword_prefix)
            || is_set(&self.end_of_word_suffix)
            || self.separate_suffix
    }
}

impl Default for BpeOptions {
    fn default() -> Self {
        Self {
            alphabet: Alphabet::Bytes,
            unk_token: None,
            fuse_unk: false,
            byte_fallback: false,
            ignore_merges: false,
            continuing_subword_prefix: None,
            end_of_word_suffix: None,
            separate_suffix: false,
            dropout: None,
        }
    }
}

/// A byte pair encoding.
///
/// ```
/// use jeton_models::model::{Bpe, Sampler, Sampling, bpe::BpeOptions};
/// use jeton_stages::vocab::Vocab;
///
/// let vocab = Vocab::new([("a", 0), ("b", 1), ("ab", 2), ("abab", 3)])?;
/// let merges = [("a", "b"), ("ab", "ab")].map(|(a, b)| (a.into(), b.into()));
/// let bpe = Bpe::by_merges(vocab, merges, BpeOptions::default())?;
/// let mut tokens = Vec::new();
/// bpe.tokenize("ababa", &mut Sampler::new(Sampling::default()), &mut tokens)?;
/// assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [3, 0]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Bpe {
    vocab: Vocab,
    rule: MergeRule,
    options: BpeOptions,
    /// For a list of merges: what each makes.
    made: Vec<u32>,
    unk_id: Option<u32>,
    /// What merging stage by stage looks pairs up in; the fast path has a table of its own.
    pairs: Lazy<Pairs>,
    /// For ranks: the merges that they imply.
    derived: Lazy<MergeList>,
}

/// The merges that make each token of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeList {
    /// Pairs of ids, first merge first.
    pub merges: Vec<(u32, u32)>,
    /// Tokens of more than one byte that no pair makes: their own bytes, merged by all other
    /// ranks, do not end in two tokens. They are only ever found as whole pieces.
    pub underivable: Vec<u32>,
}

impl Bpe {
    /// The encoding of a tiktoken file: ids are ranks, the alphabet is bytes.
    ///
    /// # Errors
    /// A vocabulary that lacks one of the 256 bytes.
    pub fn by_ranks(vocab: Vocab) -> Result<Self> {
        let missing: Vec<u8> = (0..=u8::MAX)
            .filter(|&byte| vocab.id(&[byte]).is_none())
            .collect();
        if let Some(first) = missing.first() {
            return Err(Error::new(
                ErrorKind::Format,
                format!(
                    "{} of the 256 bytes have no rank, 0x{first:02X} first",
                    missing.len()
                ),
            )
            .hint("a rank file holds every single byte; is this one cut short?"));
        }
        Ok(Self {
            vocab,
            rule: MergeRule::Ranks,
            options: BpeOptions::default(),
            made: Vec::new(),
            unk_id: None,
            pairs: Lazy::new(),
            derived: Lazy::new(),
        })
    }

    /// The encoding of a merge list, first merge first. Of a merge that is listed twice, the later
    /// place counts.
    ///
    /// # Errors
    /// A merge of tokens, or into a token, that the vocabulary lacks; a dropout outside 0 to 1.
    pub fn by_merges(
        vocab: Vocab,
        merges: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
        options: BpeOptions,
    ) -> Result<Self> {
        if let Some(dropout) = options.dropout {
            check_dropout(dropout)?;
        }
        let prefix = options.continuing_subword_prefix.as_deref().unwrap_or("");
        let id_of = |token: &[u8]| {
            vocab.id(token).ok_or_else(|| {
                Error::new(
                    ErrorKind::Format,
                    format!("{} is not in the vocabulary", show(token)),
                )
            })
        };
        let merges: Vec<(Vec<u8>, Vec<u8>)> = merges.into_iter().collect();
        let resolve = |(left, right): &(Vec<u8>, Vec<u8>), whole: &mut Vec<u8>| {
            let pair = (id_of(left)?, id_of(right)?);
            let Some(rest) = right.get(prefix.len()..) else {
                return Err(Error::new(
                    ErrorKind::Format,
                    format!("{} is shorter than the prefix {prefix:?}", show(right)),
                ));
            };
            whole.clear();
            whole.extend_from_slice(left);
            whole.extend_from_slice(rest);
            Ok((pair, id_of(whole)?))
        };
        let resolve_some = |ranks: Range<usize>| {
            let mut whole = Vec::new();
            let resolved = merges[ranks.clone()]
                .iter()
                .zip(ranks)
                .map(|(merge, rank)| {
                    resolve(merge, &mut whole).map_err(|error: Error| {
                        let (left, right) = merge;
                        error.at(format!("merges[{rank}] ({} {})", show(left), show(right)))
                    })
                });
            resolved.collect::<Result<Vec<_>>>()
        };
        let middle = merges.len() / 2;
        let (first, second) = both(
            merges.len() >= LARGE,
            || resolve_some(0..middle),
            || resolve_some(middle..merges.len()),
        );
        let mut resolved = first?;
        resolved.extend(second?);
        Ok(Self::by_ids(vocab, resolved, options))
    }

    /// As [`Bpe::by_merges`], of pairs of ids and what they become, all known to be right.
    ///
    /// # Errors
    /// A dropout outside 0 to 1.
    pub fn of_ids(
        vocab: Vocab,
        merges: Vec<((u32, u32), u32)>,
        options: BpeOptions,
    ) -> Result<Self> {
        if let Some(dropout) = options.dropout {
            check_dropout(dropout)?;
        }
        Ok(Self::by_ids(vocab, merges, options))
    }

    /// As [`Bpe::of_ids`], of options that are known to be right too.
    pub fn by_ids(vocab: Vocab, mut merges: Vec<((u32, u32), u32)>, options: BpeOptions) -> Self {
        // What is listed twice makes the same twice.
        let mut made = vec![false; vocab.max_id().map_or(0, |last| last as usize + 1)];
        let mut ids = merges.iter().map(|(_, id)| *id as usize);
        if ids.any(|id| std::mem::replace(&mut made[id], true)) {
            let mut seen = hashbrown::HashSet::with_capacity(merges.len());
            merges.reverse();
            merges.retain(|(pair, _)| seen.insert(*pair));
            merges.reverse();
        }
        let (merges, made) = merges.into_iter().unzip();
        let unk_token = options.unk_token.as_deref();
        Self {
            unk_id: unk_token.and_then(|token| vocab.id(token.as_bytes())),
            vocab,
            rule: MergeRule::Merges(merges),
            options,
            made,
            pairs: Lazy::new(),
            derived: Lazy::new(),
        }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Which pairs may be merged, and in which order.
    pub fn rule(&self) -> &MergeRule {
        &self.rule
    }

    /// How the model reads and merges.
    pub fn options(&self) -> &BpeOptions {
        &self.options
    }

    /// The merges, first to last. Those of a rank file are derived: the pair that the ranks
    /// themselves merge last to make each token.
    ///
    /// One pair a token is enough. Whenever a token is made inside a longer piece, nothing has
    /// been merged across its ends, so what happened between them is what happens to its bytes
    /// alone. Either part may rank after the token itself.
    pub fn merges(&self) -> MergeList {
        match &self.rule {
            MergeRule::Merges(merges) => MergeList {
                merges: merges.clone(),
                underivable: Vec::new(),
            },
            MergeRule::Ranks => self.derived().clone(),
        }
    }

    /// The merges that ranks imply.
    fn derived(&self) -> &MergeList {
        self.derived.get(|| self.derive().0)
    }

    /// The merges that ranks imply, in the form in which they were found, if nobody has used
    /// them before.
    pub fn newly_derived(&self) -> Option<Merges<GrowingPairs>> {
        if self.rule != MergeRule::Ranks || self.derived.value().is_some() {
            return None;
        }
        let (list, merges) = self.derive();
        self.derived.get(|| list);
        merges
    }

    fn derive(&self) -> (MergeList, Option<Merges<GrowingPairs>>) {
        match derive::by_length(&self.vocab) {
            Some((list, merges)) => (list, Some(merges)),
            None => (self.derived_by_definition(), None),
        }
    }

    fn derived_by_definition(&self) -> MergeList {
        let pairs = self.pairs();
        let mut list = MergeList {
            merges: Vec::with_capacity(self.vocab.len()),
            underivable: Vec::new(),
        };
        for (token, rank) in self.vocab.texts().filter(|(token, _)| token.len() > 1) {
            // No token is made of a withheld byte.
            let mut symbols = self.bytes_as_symbols(token, &mut ()).unwrap_or_default();
            if symbols.len() < u32::MAX as usize {
                merge(&mut symbols, pairs, rank)
            } else {
                symbols.clear()
            }
            match symbols.as_slice() {
                [left, right] => list.merges.push((left.id, right.id)),
                _ => list.underivable.push(rank),
            }
        }
        list
    }

    /// Whether it begins with the bytes of a piece as they are.
    pub fn merges_bytes_only(&self) -> bool {
        let options = &self.options;
        options.alphabet == Alphabet::Bytes && !options.has_affixes()
    }

    /// Whether unknown characters become tokens of their bytes, whatever these are.
    pub fn falls_back_to_bytes(&self) -> bool {
        let is_there = |byte| self.vocab.id(&byte_token(byte)).is_some();
        self.options.byte_fallback && (0..=u8::MAX).all(is_there)
    }

    /// Whether unknown characters are left out.
    pub fn drops_unknown(&self) -> bool {
        self.options.unk_token.is_none() && !self.falls_back_to_bytes()
    }

    /// All pairs that may be merged.
    fn pairs(&self) -> &Pairs {
        self.pairs.get(|| {
            let MergeRule::Merges(merges) = &self.rule else {
                return pairs_by_rank(&self.vocab);
            };
            let mut pairs = Pairs::with_capacity(merges.len());
            for (rank, (&(left, right), &id)) in (0..).zip(merges.iter().zip(&self.made)) {
                if !self.vocab.withheld().contains(id) {
                    pairs.insert(left, right, Merge { rank, id });
                }
            }
            pairs
        })
    }

    /// Whether a piece that is a token as a whole is that token at once.
    pub fn takes_whole_pieces(&self) -> bool {
        self.rule == MergeRule::Ranks || self.options.ignore_merges
    }

    /// Whether merging the units of a token makes that token, for every token: then it does not
    /// matter whether a piece is taken whole or merged.
    pub fn merges_make_all_tokens(&self) -> bool {
        match self.rule {
            MergeRule::Ranks => self.derived().underivable.is_empty(),
            MergeRule::Merges(_) => !self.options.ignore_merges,
        }
    }

    /// The pairs that can ever be side by side and be merged, each with its rank and what it
    /// becomes.
    ///
    /// For ranks this is one pair a token. While two tokens are side by side, nothing has been
    /// merged across their ends, so what lies between was merged as it would be alone; and alone,
    /// the bytes of a token pass through exactly one pair.
    pub fn reachable_merges(&self) -> Vec<((u32, u32), u32, u32)> {
        let merges = match &self.rule {
            MergeRule::Merges(merges) => merges,
            MergeRule::Ranks => {
                let MergeList {
                    merges,
                    underivable,
                } = self.derived();
                let tokens = self.vocab.texts().filter(|(token, id)| {
                    token.len() > 1 && underivable.binary_search(id).is_err()
                });
                let pairs = merges.iter().zip(tokens);
                return pairs.map(|(&pair, (_, id))| (pair, id, id)).collect();
            }
        };
        let made = merges.iter().zip(&self.made);
        (0..)
            .zip(made)
            .filter(|(_, (_, id))| !self.vocab.withheld().contains(**id))
            .map(|(rank, (&pair, &id))| (pair, rank, id))
            .collect()
    }
}

fn check_dropout(dropout: f32) -> Result<()> {
    if (0.0..=1.0).contains(&dropout) {
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::Argument,
            format!("dropout is a probability, 0 to 1, not {dropout}"),
        ))
    }
}

/// Each way to split a token in two tokens is a pair that merges into it.
fn pairs_by_rank(vocab: &Vocab) -> Pairs {
    let longest = vocab.texts().map(|(token, _)| token.len()).max();
    let mut lengths = vec![false; longest.unwrap_or(0) + 1];
    for (token, _) in vocab.texts() {
        lengths[token.len()] = true;
    }
    let mut pairs = Pairs::with_capacity(2 * vocab.len());
    for (token, rank) in vocab.texts() {
        for cut in 1..token.len() {
            if !(lengths[cut] && lengths[token.len() - cut]) {
                continue;
            }
            let (left, right) = token.split_at(cut);
            let Some(left) = vocab.text_id(left) else {
                continue;
            };
            let Some(right) = vocab.text_id(right) else {
                continue;
            };
            pairs.insert(left, right, Merge { rank, id: rank });
        }
    }
    pairs
}

impl PartialEq for Bpe {
    fn eq(&self, other: &Self) -> bool {
        self.vocab == other.vocab && self.rule == other.rule && self.options == other.options
    }
}

impl std::fmt::Debug for Bpe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let merges = match &self.rule {
            MergeRule::Ranks => "ranks".to_owned(),
            MergeRule::Merges(merges) => format!("{} merges", merges.len()),
        };
        write!(f, "Bpe({} tokens, {merges}, ", self.vocab.len())?;
        write!(f, "{:?})", self.options)
    }
}

#[cfg(test)]
mod tests;
