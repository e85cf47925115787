//! The steps of training, merges and deletions in their order: the tokens that they leave, and the model.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::tokens::Tokens;
use jeton_models::model::bpe::{Alphabet, Bpe, BpeOptions};
use jeton_models::model::picky_bpe::{Event, PickyBpe, Residue};
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;

/// A merge, with the number of times that its pair occurred, or a deletion.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Merge {
        pair: (u32, u32),
        made: u32,
        count: u64,
    },
    Deletion(u32),
}

/// The tokens that merges made and no deletion took out again, each with the number of the step that made it.
#[derive(Debug)]
pub(super) struct Made {
    numbers: HashMap<u32, usize, FixedState>,
    steps: usize,
    /// The first token that was not there before all steps, and how many of those made come after it.
    first_id: usize,
    new: usize,
}

impl Made {
    pub fn new(first_id: usize) -> Self {
        Self {
            numbers: HashMap::default(),
            steps: 0,
            first_id,
            new: 0,
        }
    }

    pub fn of(first_id: usize, steps: &[Step]) -> Self {
        let mut made = Self::new(first_id);
        for step in steps {
            made.take(step);
        }
        made
    }

    /// How many tokens are new.
    pub fn count(&self) -> usize {
        self.new
    }

    pub fn take(&mut self, step: &Step) {
        match *step {
            Step::Merge { made, .. } => self.add(made),
            Step::Deletion(token) => self.remove(token),
        }
    }

    /// Adds a token, which keeps its place if it is there.
    pub fn add(&mut self, token: u32) {
        self.steps += 1;
        if let Entry::Vacant(place) = self.numbers.entry(token) {
            place.insert(self.steps);
            self.new += usize::from(token as usize >= self.first_id);
        }
    }

    pub fn remove(&mut self, token: u32) {
        if self.numbers.remove(&token).is_some() {
            self.new -= usize::from(token as usize >= self.first_id);
        }
    }

    /// Whether text may become a token: a byte, or one that was made. A special token is neither, unless
    /// merges make the same.
    pub fn holds(&self, token: u32, tokens: &Tokens) -> bool {
        tokens.bytes[token as usize].len() == 1 || self.numbers.contains_key(&token)
    }

    /// The tokens of before, and the new ones after them, in the order in which they were made.
    pub fn vocab(&self, tokens: &Tokens, specials: &BTreeSet<u32>) -> Result<Vocab> {
        let first = self.first_id as u32;
        let old = 0..first;
        let old = old.filter(|id| !specials.contains(id) || self.holds(*id, tokens));
        let new = self.numbers.iter().filter(|(token, _)| **token >= first);
        let mut new: Vec<(usize, u32)> = new.map(|(token, number)| (*number, *token)).collect();
        new.sort_unstable();
        let new = new.into_iter().map(|(_, token)| token).zip(first..);
        let all = old.map(|id| (id, id)).chain(new);
        Vocab::new(all.map(|(token, id)| (&tokens.bytes[token as usize][..], id)))
    }
}

/// The BPE of steps without deletions.
pub(super) fn bpe(tokens: &Tokens, steps: &[Step], vocab: Vocab) -> Bpe {
    let id_of = |token: u32| vocab.id(&tokens.bytes[token as usize]);
    let merge = |step: &Step| match *step {
        Step::Merge { pair, made, .. } => Some(((id_of(pair.0)?, id_of(pair.1)?), id_of(made)?)),
        Step::Deletion(_) => None,
    };
    let merges = steps.iter().filter_map(merge).collect();
    let options = BpeOptions {
        alphabet: Alphabet::Bytes,
        ..BpeOptions::default()
    };
    Bpe::by_ids(vocab, merges, options)
}

/// The model of merges and deletions.
pub(super) fn picky_bpe(
    tokens: &Tokens,
    steps: &[Step],
    vocab: Vocab,
    residue: Residue,
) -> Result<PickyBpe> {
    let bytes = |token: u32| tokens.bytes[token as usize].clone();
    let events = steps.iter().map(|step| match *step {
        Step::Merge { pair, .. } => Event::Merge(bytes(pair.0), bytes(pair.1)),
        Step::Deletion(token) => Event::Deletion(bytes(token)),
    });
    PickyBpe::new(vocab, events, residue)
}
