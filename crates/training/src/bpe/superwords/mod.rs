//! Training superwords: merges across the boundaries of the pattern, learnt after those within words.
//!
//! By definition: words are learnt first. Then each text is a sequence of words, of which those may join that
//! are one token and that the rule allows; between any others a stretch ends. As long as there is room, the
//! most frequent pair of neighbours in a stretch becomes one, everywhere. *Super*: after the words, so many
//! superwords are learnt. *Boundless*: merges of words and supermerges compete by their counts, a merge of
//! words being first if they are equal.
//!
//! Words may be learnt without residues: those that may join are then the ones that are one token after all
//! merges and deletions, and a superword comes after the merges that its words need.
//!
//! Boundless training needs no more than both lists, since a word that occurs so often was whole when pairs
//! were that frequent: its last merge was no rarer than the word itself. So supermerges may be learnt after all
//! merges of words, and the lists are joined by their counts.
//!
//! The corpus is read twice more, see [`neighbours`]: neighbours that occur together less often than the last
//! supermerge are in no superword, so stretches may be parted between them, and are few and short. How often
//! that is, is known beforehand if words and superwords compete, and a guess otherwise: if it was too high,
//! stretches are counted once more.

mod joined;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::pair_counts::PairCounts;
use super::parameters::{BpeTrainer, TieBreak};
use super::residues::{Residues, Run};
use super::steps::{Made, Step};
use super::tokens::{Limits, Tokens};
use super::words::Words;
use super::{Learnt, WATCH_EVERY, begin};
use crate::checks::wrong;
use crate::word_counts::WordCounts;
use crate::word_counts::neighbours::{self, MAX_NUMBERS, Neighbours, PairSketch, Reading};
use crate::{Phase, Progress, Trainer, Watch};
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::superwords::{Joining, check_pattern};
use jeton_models::model::{Model, Sampler, Sampling, Superwords};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::error::{Error, ErrorKind, Result};

/// How many times the tokens that are asked for decide how rare a pair may be that is counted at first.
const GUESSED_FROM: usize = 2;
/// By how much a guess that was too high is lowered.
const LOWERED_BY: u64 = 4;

/// How superwords are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondStage {
    /// So many tokens, after those of words.
    Super(usize),
    /// In competition with the merges of words.
    Boundless,
}

/// Trains byte pair encoding of words and superwords, with these parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SuperwordTrainer {
    /// How words are learnt, and how many tokens there are in the end, superwords included.
    pub words: BpeTrainer,
    /// When words take tokens out again, if they do.
    pub residues: Option<Residues>,
    /// How superwords are learnt.
    pub stage: SecondStage,
    /// Which words may join.
    pub joining: Joining,
    /// How many words a token may have.
    pub max_words: Option<usize>,
}

/// A supermerge of two symbols, which are words or superwords.
struct Supermerge {
    pair: (u32, u32),
    count: u64,
}

/// What the first stage has learnt, for readings of the corpus and the second stage.
#[derive(Debug)]
pub struct FirstStage {
    trainer: SuperwordTrainer,
    pattern: PreTokenizer,
    tokens: Tokens,
    /// The merges and deletions of words.
    steps: Vec<Step>,
    first: usize,
    first_id: usize,
    specials: BTreeSet<u32>,
    /// The words that may join, with their counts; a word's number is its place.
    joining: Vec<(u32, u64)>,
    sketch: Arc<PairSketch>,
    /// The count below which no pair is merged, whatever the guess.
    floor: u64,
    /// The count below which neighbours are parted; none before pairs were read.
    least: Option<u64>,
    /// What was counted in each reading.
    readings: Vec<Arc<Neighbours>>,
}

impl SuperwordTrainer {
    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub fn check(&self) -> Result<()> {
        let BpeTrainer {
            alphabet,
            continuing_subword_prefix,
            end_of_word_suffix,
            start,
            tie_break,
            ..
        } = &self.words;
        if *alphabet != Alphabet::Bytes
            || continuing_subword_prefix.is_some()
            || end_of_word_suffix.is_some()
        {
            return wrong(
                "superwords are made of bytes, without marks of words",
                "set alphabet=\"bytes\", and leave out continuing_subword_prefix and \
                 end_of_word_suffix",
            );
        }
        if start.is_some() {
            return wrong(
                "superwords are learnt after the words of the same training, which start_from \
                 does not have",
                "leave it out",
            );
        }
        if !matches!(
            tie_break,
            TieBreak::Alphabetic | TieBreak::Lexicographic | TieBreak::Spelling
        ) {
            return wrong(
                "superwords are chosen by their bytes where counts are equal",
                "set tie_break=\"alphabetic\", \"lexicographic\" or \"spelling\"",
            );
        }
        if self.max_words.is_some_and(|most| most < 2) {
            return wrong(
                "max_words_per_token must be at least 2",
                "a superword has at least two words; without superwords, leave out superwords",
            );
        }
        match self.stage {
            SecondStage::Super(0) => wrong(
                "superword_tokens cannot be 0",
                "leave out superwords for no superwords",
            ),
            SecondStage::Super(tokens) if tokens >= self.words.vocab_size => wrong(
                format!(
                    "superword_tokens={tokens} leaves no room for words in vocab_size={}",
                    self.words.vocab_size
                ),
                "it is a part of vocab_size",
            ),
            _ => match &self.residues {
                Some(residues) => self.of_words().check_residues(residues),
                None => self.of_words().check(),
            },
        }
    }

    /// The trainer of the first stage.
    fn of_words(&self) -> BpeTrainer {
        let superwords = match self.stage {
            SecondStage::Super(tokens) => tokens,
            SecondStage::Boundless => 0,
        };
        BpeTrainer {
            vocab_size: self.words.vocab_size - superwords,
            disjoint: true,
            ..self.words.clone()
        }
    }

    /// Learns the words, which `pattern` has split.
    ///
    /// # Errors
    /// As [`SuperwordTrainer::check`] and [`Trainer::train`].
    pub fn first_stage(
        &self,
        counts: &WordCounts,
        pattern: PreTokenizer,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<FirstStage> {
        self.check()?;
        check_pattern(&pattern)?;
        let training = self.of_words();
        let watch = &mut Watch(&mut watch);
        let (learnt, steps) = match &self.residues {
            Some(residues) => {
                let run = Run::learn(&training, residues, counts, watch)?;
                (run.learnt, run.steps)
            }
            None => {
                let (mut learnt, symbols) = begin(&[counts], &training)?;
                let words = symbols.words(counts, training.alphabet, |_| {});
                learnt.merge_most_frequent(words, usize::MAX, watch)?;
                learnt.finish(watch)?;
                let merges = learnt.merges.iter().zip(&learnt.frequencies);
                let step = |(&(pair, made), &count)| Step::Merge { pair, made, count };
                let steps = merges.map(step).collect();
                (learnt, steps)
            }
        };
        let size = learnt.size();
        let Learnt {
            tokens,
            first,
            first_id,
            specials,
            ..
        } = learnt;
        let made = Made::of(first_id, &steps);
        let least = training.min_frequency.max(1);
        // Rarer superwords would come after the last merge of words, when there is no room.
        let is_full = first + made.count() >= size;
        let rarest = steps.iter().filter_map(|step| match step {
            Step::Merge { count, .. } => Some(*count),
            Step::Deletion(_) => None,
        });
        let floor = match (self.stage, rarest.min()) {
            (SecondStage::Boundless, Some(rarest)) if is_full => rarest.max(least),
            _ => least,
        };
        let vocab = made.vocab(&tokens, &specials)?;
        let words = Model::from(self.word_model(&tokens, &steps, vocab)?);
        let mut sampler = Sampler::new(Sampling::default());
        let mut found = Vec::new();
        let mut joining = Vec::new();
        for (text, count) in counts.iter() {
            let id = tokens.id(text.as_bytes());
            let id = id.filter(|&id| !specials.contains(&id) && made.holds(id, &tokens));
            let Some(id) = id.filter(|_| count >= floor && self.joining.allows(text.as_bytes()))
            else {
                continue;
            };
            found.clear();
            words.tokenize(text, &mut sampler, &mut found)?;
            if found.len() == 1 {
                joining.push((id, count));
            }
        }
        if joining.len() >= MAX_NUMBERS as usize {
            let message = format!("{} words may join, more than can be counted", joining.len());
            return Err(Error::new(ErrorKind::Training, message).hint("ask for fewer tokens"));
        }
        Ok(FirstStage {
            trainer: self.clone(),
            pattern,
            tokens,
            steps,
            first,
            first_id,
            specials,
            joining,
            sketch: Arc::default(),
            floor,
            least: None,
            readings: Vec::new(),
        })
    }
}

impl FirstStage {
    /// What to count in the next reading of the corpus: pairs in the first, then stretches.
    pub fn reading(&mut self) -> Arc<Neighbours> {
        let sketch = self.sketch.clone();
        let (least, reading) = if self.readings.is_empty() {
            (self.floor, Reading::Pairs(sketch))
        } else {
            let least = *self.least.get_or_insert_with(|| match self.trainer.stage {
                SecondStage::Boundless => self.floor,
                SecondStage::Super(tokens) => {
                    self.floor.max(sketch.count_at(GUESSED_FROM * tokens))
                }
            });
            (least, Reading::Stretches(sketch, least))
        };
        let words = (0..).zip(&self.joining);
        let words = words.filter(|(_, (_, count))| *count >= least);
        let words = words.map(|(number, (id, _))| (&self.tokens.bytes[*id as usize][..], number));
        let reading = Arc::new(Neighbours::new(words, reading));
        self.readings.push(reading.clone());
        reading
    }

    /// Checks that each reading was of the same words.
    fn check_readings(&self) -> Result<()> {
        let mut words = self.readings.iter().map(|reading| reading.words());
        let first = words.next().unwrap_or(0);
        if let Some(other) = words.find(|&it| it != first) {
            let message = format!(
                "the corpus had {first} words when it was read for the first time, and {other} later"
            );
            return Err(Error::new(ErrorKind::Training, message)
                .hint("superwords need a corpus that can be read several times, as files can"));
        }
        Ok(())
    }

    /// The model, if these stretches were parted between neighbours that are rare enough; otherwise they
    /// must be counted once more.
    ///
    /// # Errors
    /// A corpus that was another one in each reading; stretches that cannot be counted; an interrupt.
    pub fn learn(
        &mut self,
        stretches: &WordCounts,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<Superwords>> {
        self.check_readings()?;
        let (symbols, supermerges) = self.supermerges(stretches, &mut Watch(&mut watch))?;
        if let Some(supermerges) = supermerges {
            return self.model(&symbols, &supermerges).map(Some);
        }
        self.least = self.least.map(|least| self.floor.max(least / LOWERED_BY));
        Ok(None)
    }

    /// The supermerges, most frequent first, and their symbols; none if rarer ones are needed than were
    /// counted.
    fn supermerges(
        &self,
        stretches: &WordCounts,
        watch: &mut Watch<'_>,
    ) -> Result<(Tokens, Option<Vec<Supermerge>>)> {
        let training = &self.trainer.words;
        let mut symbols = Tokens::default();
        for (id, _) in &self.joining {
            symbols.intern(&self.tokens.bytes[*id as usize], 1);
        }
        let mut words = Words::default();
        let mut numbers = Vec::new();
        for (stretch, count) in stretches.iter() {
            numbers.clear();
            numbers.extend(neighbours::numbers(stretch));
            words.push(&numbers, count);
        }
        let limits = Limits {
            units: self.trainer.max_words.unwrap_or(usize::MAX),
            rules: None,
            disjoint: true,
        };
        let mut pairs = PairCounts::new(words, training.order_of_ties(), limits, &symbols)?;
        let wanted = match self.trainer.stage {
            SecondStage::Super(tokens) => tokens,
            SecondStage::Boundless => training.vocab_size,
        };
        let longest = training.max_token_length.unwrap_or(usize::MAX);
        let least = self.least.unwrap_or(self.floor);
        let (mut found, mut new) = (Vec::new(), 0);
        while new < wanted {
            let best = pairs.most_frequent(&symbols);
            let Some(best) = best.filter(|best| best.count >= least) else {
                let is_done = least <= self.floor;
                return Ok((symbols, is_done.then_some(found)));
            };
            if found.len().is_multiple_of(WATCH_EVERY) {
                let done = self.tokens.count() + new;
                watch.tell(Phase::Merging, done, training.vocab_size.max(done))?;
            }
            let pair = pairs.pair(best);
            let bytes = [pair.0, pair.1]
                .map(|part| symbols.bytes[part as usize].as_slice())
                .concat();
            let known = self.tokens.id(&bytes);
            // What deletions take out again is no superword.
            let is_taken = |id| self.trainer.residues.is_some() || self.specials.contains(&id);
            if bytes.len() > longest || known.is_some_and(is_taken) {
                continue;
            }
            new += usize::from(known.is_none() && symbols.id(&bytes).is_none());
            let made = symbols.merge(pair.0, pair.1, "");
            let count = best.count;
            found.push(Supermerge { pair, count });
            pairs.merge(best, made, &symbols);
        }
        Ok((symbols, Some(found)))
    }
}

#[cfg(test)]
mod tests;
