//! Training byte pair encoding: word counts in, merges out.
//!
//! By definition: every word is a sequence of symbols, bytes or characters; as long as the vocabulary
//! is too small, the most frequent pair of neighbouring symbols becomes a new one, everywhere.
//! The worked example: in `low`×5 `lower`×2 `newest`×6 `widest`×3, each with `</w>` at its end,
//! `es` comes first (9 times), then `est`, `est</w>`, `lo` and `low`.
//!
//! The steps of training are here. `parameters` has what can be set, `pair_counts` the pairs and where they
//! occur, `words` the words, `changes` what a merge does to the pairs around it, and `queue` which pair
//! comes next; `languages` learns from several corpora, and is fair to each; `residues` takes tokens out again;
//! `superwords` joins whole words; `steps` has the merges and deletions of these two.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

mod changes;
mod languages;
mod pair_counts;
mod parameters;
mod pieces;
mod queue;
mod residues;
mod start;
mod steps;
mod superwords;
mod symbols;
mod tokens;
mod words;

pub use self::languages::{Balance, Languages};
pub use self::parameters::{BpeTrainer, ByteOrder, TieBreak};
pub use self::pieces::{BpePieces, MergedPieces};
pub use self::residues::Residues;
pub use self::start::Start;
pub use self::superwords::{FirstStage, SecondStage, SuperwordTrainer};
pub(crate) use self::symbols::InitialSymbols;
pub(crate) use self::tokens::{Limits, Tokens};
pub(crate) use self::words::{Words, merge_in_word};

use self::pair_counts::PairCounts;
use self::parameters::too_small;
use crate::word_counts::WordCounts;
use crate::{Phase, Progress, Trainer, Watch};
use jeton_models::model::bpe::{Alphabet, Bpe, BpeOptions};
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;

/// Merges between two calls of the caller's `watch`.
const WATCH_EVERY: usize = 64;

/// Learns the byte pair encoding of words.
///
/// Special tokens have the first ids, or the last, as [`ByteOrder`] says. A model of characters knows
/// them as tokens of its own, a model of bytes leaves their ids to the added tokens of the tokenizer.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_models::model::bpe::Alphabet;
/// use jeton_training::Trainer;
/// use jeton_training::bpe::{BpeTrainer, TieBreak};
/// use jeton_training::word_counts::WordCounts;
///
/// let words = "a refrain from rain in a train".split(' ').map(|word| (word, 1));
/// let trainer = BpeTrainer {
///     vocab_size: 12,
///     alphabet: Alphabet::Characters,
///     tie_break: TieBreak::First,
///     ..BpeTrainer::default()
/// };
/// let bpe = trainer.train(&WordCounts::from_words(words), |_| ControlFlow::Continue(()))?;
/// let tokens: Vec<_> = (9..12).filter_map(|id| bpe.vocab().token(id)).collect();
/// assert_eq!(tokens, [b"in".as_slice(), b"ra", b"rain"]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// Beside those of [`Trainer::train`], a `vocab_size` that does not hold the 256 bytes and the special
/// tokens, or the tokens to start from; counts whose sum does not fit.
impl Trainer for BpeTrainer {
    type Trained = Bpe;

    fn check(&self) -> Result<()> {
        self.check_parameters()
    }

    fn fit(&self, words: &WordCounts, watch: &mut Watch<'_>) -> Result<Bpe> {
        learn(words, self, watch)?.model(self.vocab_size)
    }
}

impl BpeTrainer {
    /// The models of several sizes, from one run: each is what training for that size gives. None is
    /// larger than `vocab_size`.
    ///
    /// # Errors
    /// As [`Trainer::train`], of each size.
    pub fn train_sizes(
        &self,
        words: &WordCounts,
        sizes: &[usize],
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Bpe>> {
        self.check()?;
        let learnt = learn(words, self, &mut Watch(&mut watch))?;
        sizes.iter().map(|&size| learnt.model(size)).collect()
    }
}

/// What training has made: every token and every merge, of which smaller vocabularies are a part.
struct Learnt<'t> {
    training: &'t BpeTrainer,
    tokens: Tokens,
    merges: Vec<((u32, u32), u32)>,
    /// How often the pairs of the merges that were learnt from one corpus occurred, when they were merged.
    frequencies: Vec<u64>,
    /// How many tokens there are before the first new merge, and how many ids, gaps included.
    first: usize,
    first_id: usize,
    /// How many merges were given.
    given: usize,
    /// The ids of special tokens.
    specials: BTreeSet<u32>,
}

impl Learnt<'_> {
    /// The model with `vocab_size` tokens, or as many as there are: the one that training for that
    /// size gives.
    ///
    /// # Errors
    /// A size that does not hold the 256 bytes and the special tokens, or the tokens to start from.
    fn model(&self, vocab_size: usize) -> Result<Bpe> {
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
            fuse_unk: training.sentencepiece.is_some(),
            byte_fallback: training.byte_fallback,
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
            Some(_) => self.all_pairs(merges, ids),
            None => merges.to_vec(),
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

/// What there is before the first new merge, of which training makes the rest; and the alphabet of the
/// corpora, by which their words become symbols.
fn begin<'t>(
    counts: &[&WordCounts],
    training: &'t BpeTrainer,
) -> Result<(Learnt<'t>, InitialSymbols)> {
    let mut tokens = Tokens::default();
    let mut specials = BTreeSet::new();
    if let Some(start) = &training.start {
        let affixes = (
            training.prefix(),
            training.end_of_word_suffix.as_deref().unwrap_or(""),
        );
        specials.extend(start.place(training.alphabet, affixes, &mut tokens)?);
    }
    if !training.specials_are_last() {
        for special in &training.special_tokens {
            specials.insert(tokens.intern_special(special, training.alphabet));
        }
    }
    let symbols = InitialSymbols::new(counts, training, &mut tokens);
    if training.sentencepiece.is_some() {
        tokens.reserved.extend(&specials);
        let unk = training.unk_token.as_deref().unwrap_or("");
        tokens.reserved.extend(tokens.id(unk.as_bytes()));
    }
    let merges = match &training.start {
        Some(start) => start.merges(&mut tokens, training.prefix())?,
        None => Vec::new(),
    };
    training.check_room(tokens.count())?;
    let learnt = Learnt {
        training,
        first: tokens.count(),
        first_id: tokens.ids(),
        given: merges.len(),
        tokens,
        merges,
        frequencies: Vec::new(),
        specials,
    };
    Ok((learnt, symbols))
}

/// Merges the most frequent pair until there are enough tokens.
fn learn<'t>(
    counts: &WordCounts,
    training: &'t BpeTrainer,
    watch: &mut Watch<'_>,
) -> Result<Learnt<'t>> {
    let (mut learnt, symbols) = begin(&[counts], training)?;
    let words = symbols.words(counts, training.alphabet, start::merging(&learnt.merges));
    learnt.merge_most_frequent(words, usize::MAX, watch)?;
    learnt.finish(watch)?;
    Ok(learnt)
}

impl Learnt<'_> {
    /// How many tokens there are to be, but for those that come after the merges.
    fn size(&self) -> usize {
        let training = self.training;
        training.vocab_size.saturating_sub(training.last_tokens())
    }

    /// Makes the token of a pair.
    fn merge(&mut self, (left, right): (u32, u32)) -> u32 {
        let id = self.tokens.merge(left, right, self.training.prefix());
        self.merges.push(((left, right), id));
        id
    }

    /// Reports how many tokens there are, every now and then.
    fn tell(&self, watch: &mut Watch<'_>) -> Result<()> {
        if !self.merges.len().is_multiple_of(WATCH_EVERY) {
            return Ok(());
        }
        let count = self.tokens.count() + self.training.last_tokens();
        watch.tell(Phase::Merging, count, self.training.vocab_size)
    }

    /// Reports that training is over.
    fn finish(&self, watch: &mut Watch<'_>) -> Result<()> {
        let count = self.tokens.count() + self.training.last_tokens();
        watch.tell(Phase::Merging, count, count)
    }

    /// Merges the most frequent pair of words until there are enough tokens, or this many more merges.
    fn merge_most_frequent(
        &mut self,
        words: Words,
        merges: usize,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let training = self.training;
        let ties = training.order_of_ties();
        let mut pairs = PairCounts::new(words, ties, training.limits(), &self.tokens)?;
        let size = self.size();
        self.merges
            .reserve(merges.min(size.saturating_sub(self.tokens.count())));
        let end = self.merges.len().saturating_add(merges);
        while self.tokens.count() < size && self.merges.len() < end {
            let Some(best) = pairs.most_frequent(&self.tokens) else {
                break;
            };
            if best.count < training.min_frequency {
                break;
            }
            self.tell(watch)?;
            let (left, right) = pairs.pair(best);
            let is_left_out = match training.sentencepiece {
                // Two merges never make one piece.
                Some(_) => self.tokens.make_known(left, right, training.prefix()),
                None => self.tokens.make_reserved(left, right, training.prefix()),
            };
            if is_left_out {
                continue;
            }
            let id = self.merge((left, right));
            self.frequencies.push(best.count);
            pairs.merge(best, id, &self.tokens);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
