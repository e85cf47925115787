//! Training that leaves no residues: a token that occurs almost only inside a longer one is removed again.
//!
//! By definition: the most frequent pair is merged, of equally frequent ones the smallest pair of byte
//! strings. Then each of its two tokens, the left one first, is deleted if it is longer than a byte and at
//! least the share `threshold` of its occurrences was in this pair: the others become the two tokens that it
//! was last merged from, or its bytes. So it goes on until there are enough tokens. In a run of equal tokens
//! pairs do not overlap: `aaa` has one `aa`.
//!
//! Later merges may make a deleted token again. It may also come back as part of another deleted token; words
//! then hold a token that is not in the vocabulary. `PickyBpe` says how these are encoded.

mod occurrences;

use std::ops::ControlFlow;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use self::occurrences::Corpus;
use super::parameters::{BpeTrainer, TieBreak, too_small};
use super::steps::{self, Made, Step};
use super::{Learnt, begin};
use crate::checks::wrong;
use crate::word_counts::WordCounts;
use crate::{Phase, Progress, Trainer, Watch};
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::picky_bpe::{PickyBpe, Residue};
use jeton_text::error::Result;

/// When a token is taken out again, and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residues {
    /// The share of a token's occurrences in a merged pair from which on it is deleted; above 0, at most 1.
    pub threshold: f64,
    /// What the other occurrences become.
    pub become_what: Residue,
}

impl BpeTrainer {
    /// Checks that the parameters make sense for training without residues.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub fn check_residues(&self, residues: &Residues) -> Result<()> {
        self.check()?;
        let threshold = residues.threshold;
        if !(threshold > 0.0 && threshold <= 1.0) {
            return wrong(
                format!("drop_residues cannot be {threshold}"),
                "it is a share above 0, at most 1; 0.9 is usual",
            );
        }
        let marks = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
        if self.alphabet != Alphabet::Bytes || marks.iter().any(|mark| mark.is_some()) {
            return wrong(
                "drop_residues is for words of bytes, without prefix or suffix",
                "leave out alphabet, continuing_subword_prefix and end_of_word_suffix",
            );
        }
        if self.start.is_some() {
            return wrong(
                "drop_residues and start_from do not go together: it would delete given tokens",
                "leave out one of them",
            );
        }
        if self.tie_break != TieBreak::Alphabetic {
            return wrong(
                "drop_residues has an order of its own for equally frequent pairs",
                "leave out tie_break, or set tie_break=\"alphabetic\"",
            );
        }
        Ok(())
    }

    /// The models of several sizes, from one run that leaves no residues: each is what training for that
    /// size gives.
    ///
    /// # Errors
    /// As [`BpeTrainer::check_residues`] and [`Trainer::train`], of each size.
    pub fn train_without_residues(
        &self,
        residues: &Residues,
        counts: &WordCounts,
        sizes: &[usize],
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<PickyBpe>> {
        self.check_residues(residues)?;
        let run = Run::learn(self, residues, counts, &mut Watch(&mut watch))?;
        sizes.iter().map(|&size| run.model(size)).collect()
    }
}

/// What there is while training goes on.
pub(super) struct Run<'t> {
    pub learnt: Learnt<'t>,
    /// The merges and deletions so far.
    pub steps: Vec<Step>,
    corpus: Corpus,
    made: Made,
    /// The two tokens that a token was last merged from.
    pairs_of: HashMap<u32, (u32, u32), FixedState>,
    /// How many tokens there are after the steps so far, whenever a merge and its deletions are done.
    ends: Vec<(usize, usize)>,
    residue: Residue,
}

impl<'t> Run<'t> {
    /// Merges and deletes until there are enough tokens.
    pub fn learn(
        training: &'t BpeTrainer,
        residues: &Residues,
        counts: &WordCounts,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let (learnt, symbols) = begin(&[counts], training)?;
        let words = symbols.words(counts, training.alphabet, |_| ());
        let mut run = Self {
            corpus: Corpus::new(words, &learnt.tokens),
            made: Made::new(learnt.first_id),
            pairs_of: HashMap::default(),
            steps: Vec::new(),
            ends: Vec::new(),
            residue: residues.become_what,
            learnt,
        };
        run.go_on(residues.threshold, watch)?;
        Ok(run)
    }

    fn count(&self) -> usize {
        self.learnt.first + self.made.count()
    }

    fn go_on(&mut self, threshold: f64, watch: &mut Watch<'_>) -> Result<()> {
        let training = self.learnt.training;
        let size = self.learnt.size();
        self.ends.push((self.count(), 0));
        while self.count() < size {
            let limit = training.max_token_length.unwrap_or(usize::MAX);
            let best = self.corpus.most_frequent(&self.learnt.tokens, limit);
            let Some((pair, count)) = best.filter(|best| best.1 >= training.min_frequency) else {
                break;
            };
            if self.ends.len().is_multiple_of(super::WATCH_EVERY) {
                let done = self.count() + training.last_tokens();
                watch.tell(Phase::Merging, done, training.vocab_size)?;
            }
            let (left, right) = pair;
            let parts = if left == right {
                vec![left]
            } else {
                vec![left, right]
            };
            let is_residue = |&part: &u32| {
                let all = self.corpus.frequency(part);
                self.learnt.tokens.bytes[part as usize].len() > 1
                    && count as f64 / all as f64 >= threshold
            };
            let residues: Vec<u32> = parts.into_iter().filter(is_residue).collect();
            let made = self.learnt.tokens.merge(left, right, "");
            self.pairs_of.insert(made, pair);
            self.take(Step::Merge { pair, made, count });
            self.corpus.merge(pair, made, &self.learnt.tokens);
            for residue in residues {
                self.take(Step::Deletion(residue));
                let become_what = self.parts(residue);
                self.corpus
                    .split(residue, &become_what, &self.learnt.tokens);
            }
            self.ends.push((self.count(), self.steps.len()));
        }
        let count = self.count() + training.last_tokens();
        watch.tell(Phase::Merging, count, count)
    }

    fn take(&mut self, step: Step) {
        self.made.take(&step);
        self.steps.push(step);
    }

    /// What a deleted token becomes.
    fn parts(&self, token: u32) -> Vec<u32> {
        match (self.residue, self.pairs_of.get(&token)) {
            (Residue::Pair, Some(&(left, right))) => vec![left, right],
            _ => {
                let bytes = self.learnt.tokens.bytes[token as usize].iter();
                bytes
                    .filter_map(|&byte| self.learnt.tokens.id(&[byte]))
                    .collect()
            }
        }
    }

    /// The model with `vocab_size` tokens, or as many as there are.
    fn model(&self, vocab_size: usize) -> Result<PickyBpe> {
        let training = self.learnt.training;
        let needed = self.learnt.first + training.last_tokens();
        if vocab_size < needed {
            return Err(too_small(training, vocab_size, needed));
        }
        let size = vocab_size - training.last_tokens();
        let end = self.ends.iter().find(|(live, _)| *live >= size);
        let steps = &self.steps[..end.map_or(self.steps.len(), |end| end.1)];
        let Learnt {
            tokens,
            first_id,
            specials,
            ..
        } = &self.learnt;
        let vocab = Made::of(*first_id, steps).vocab(tokens, specials)?;
        steps::picky_bpe(tokens, steps, vocab, self.residue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::picky_bpe::Event;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeMap;

    type Text = Vec<(Vec<Vec<u8>>, u64)>;

    fn pairs(text: &Text) -> BTreeMap<(Vec<u8>, Vec<u8>), u64> {
        let mut pairs = BTreeMap::new();
        for (word, count) in text {
            let mut at = 0;
            while at + 1 < word.len() {
                *pairs
                    .entry((word[at].clone(), word[at + 1].clone()))
                    .or_default() += count;
                let run = word[at] == word[at + 1] && word.get(at + 2) == Some(&word[at]);
                at += if run { 2 } else { 1 };
            }
        }
        pairs
    }

    fn frequency(text: &Text, token: &[u8]) -> u64 {
        let of_word = |(word, n): &(Vec<Vec<u8>>, u64)| {
            word.iter().filter(|it| *it == token).count() as u64 * n
        };
        text.iter().map(of_word).sum()
    }

    /// The definition, counted again for each merge.
    fn plain(residues: &Residues, mut text: Text, tokens: usize) -> Vec<Event> {
        let mut events = Vec::new();
        let mut live = std::collections::BTreeSet::new();
        let mut made_of = BTreeMap::new();
        while live.len() < tokens {
            let all = pairs(&text).into_iter();
            let best = all.max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)));
            let Some(((left, right), count)) = best else {
                break;
            };
            let is_residue = |part: &Vec<u8>| {
                let share = count as f64 / frequency(&text, part) as f64;
                part.len() > 1 && share >= residues.threshold
            };
            let mut parts = vec![left.clone(), right.clone()];
            parts.dedup();
            parts.retain(is_residue);
            let token = [left.clone(), right.clone()].concat();
            for (word, _) in &mut text {
                let mut at = 0;
                while at + 1 < word.len() {
                    if word[at] == left && word[at + 1] == right {
                        word[at] = token.clone();
                        word.remove(at + 1);
                    }
                    at += 1;
                }
            }
            live.insert(token.clone());
            made_of.insert(token, (left.clone(), right.clone()));
            events.push(Event::Merge(left, right));
            for part in parts {
                live.remove(&part);
                let by = match residues.become_what {
                    Residue::Bytes => part.iter().map(|&byte| vec![byte]).collect(),
                    Residue::Pair => {
                        let (left, right) = made_of[&part].clone();
                        vec![left, right]
                    }
                };
                for (word, _) in &mut text {
                    let each = std::mem::take(word).into_iter();
                    *word = each
                        .flat_map(|it| if it == part { by.clone() } else { vec![it] })
                        .collect();
                }
                events.push(Event::Deletion(part));
            }
        }
        events
    }

    #[test]
    fn events_are_those_of_the_definition() {
        let mut numbers = ChaCha8Rng::seed_from_u64(11);
        let mut deletions = 0;
        for round in 0..300 {
            let letters = 2 + round as u32 % 3;
            let mut word = || -> (String, u64) {
                let length = numbers.random_range(1..14);
                let letter = |n: u32| char::from(b"abcd"[n as usize]);
                let word = (0..length).map(|_| letter(numbers.random_range(0..letters)));
                (word.collect(), numbers.random_range(1..9))
            };
            let words: Vec<(String, u64)> = (0..12).map(|_| word()).collect();
            let counts = WordCounts::from_words(words.iter().map(|(w, n)| (w.as_str(), *n)));
            let residues = Residues {
                threshold: [0.5, 0.6, 0.9][round % 3],
                become_what: [Residue::Pair, Residue::Bytes][round % 2],
            };
            let text = counts
                .iter()
                .map(|(word, n)| (word.bytes().map(|b| vec![b]).collect(), n));
            let text: Text = text.collect();
            let training = BpeTrainer {
                vocab_size: 276,
                tie_break: TieBreak::Alphabetic,
                ..BpeTrainer::default()
            };
            let go_on = |_| ControlFlow::Continue(());
            let models = training
                .train_without_residues(&residues, &counts, &[262, 276], go_on)
                .unwrap();
            for (model, tokens) in models.iter().zip([6, 20]) {
                let expected = plain(&residues, text.clone(), tokens);
                let found: Vec<Event> = model.events().collect();
                assert_eq!(found, expected, "round {round}: {words:?}");
                deletions += found
                    .iter()
                    .filter(|it| matches!(it, Event::Deletion(_)))
                    .count();
            }
        }
        assert!(deletions > 100);
    }

    #[test]
    fn parameters_that_do_not_go_together_are_refused() {
        let fits = BpeTrainer {
            tie_break: TieBreak::Alphabetic,
            ..BpeTrainer::default()
        };
        let residues = Residues {
            threshold: 0.9,
            become_what: Residue::Pair,
        };
        assert!(fits.check_residues(&residues).is_ok());
        for threshold in [0.0, 1.1, f64::NAN] {
            let residues = Residues {
                threshold,
                ..residues
            };
            assert!(fits.check_residues(&residues).is_err());
        }
        let characters = BpeTrainer {
            alphabet: Alphabet::Characters,
            ..fits.clone()
        };
        let other_ties = BpeTrainer {
            tie_break: TieBreak::First,
            ..fits.clone()
        };
        for other in [characters, other_ties] {
            let error = other.check_residues(&residues).unwrap_err();
            assert!(error.to_string().contains("drop_residues"), "{error}");
        }
    }
}
