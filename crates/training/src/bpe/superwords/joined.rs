//! Merges of words and supermerges in one list, by their counts, as far as there is room; and their model.

use std::collections::BTreeSet;

use super::{FirstStage, SecondStage, Supermerge, SuperwordTrainer};
use crate::bpe::steps::{self, Made, Step};
use crate::bpe::tokens::Tokens;
use jeton_models::model::Superwords;
use jeton_models::model::superwords::WordModel;
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;

/// A supermerge of two tokens, and what it makes.
type Joined = ((u32, u32), u32);

impl SuperwordTrainer {
    /// What encodes words.
    pub(super) fn word_model(
        &self,
        tokens: &Tokens,
        steps: &[Step],
        vocab: Vocab,
    ) -> Result<WordModel> {
        Ok(match &self.residues {
            Some(residues) => steps::picky_bpe(tokens, steps, vocab, residues.become_what)?.into(),
            None => steps::bpe(tokens, steps, vocab).into(),
        })
    }
}

impl FirstStage {
    /// The model of both lists.
    pub(super) fn model(&self, symbols: &Tokens, supermerges: &[Supermerge]) -> Result<Superwords> {
        let trainer = &self.trainer;
        let size = trainer.words.vocab_size - trainer.words.last_tokens();
        let mut tokens = self.tokens.first(self.tokens.ids());
        let mut made = Made::new(self.first_id);
        let mut joined: Vec<Joined> = Vec::new();
        let mut taken = 0;
        let mut others = supermerges.iter().peekable();
        while self.first + made.count() < size {
            let word = self.steps.get(taken);
            let parts = others.peek().and_then(|other| {
                let parts = [other.pair.0, other.pair.1];
                let [left, right] = parts.map(|part| {
                    let id = tokens.id(&symbols.bytes[part as usize]);
                    id.filter(|&id| made.holds(id, &tokens))
                });
                left.zip(right)
            });
            let is_word = match (word, others.peek()) {
                (None, None) => break,
                (Some(Step::Merge { count, .. }), Some(other)) => {
                    let is_first = trainer.stage == SecondStage::Boundless && *count < other.count;
                    !(is_first && parts.is_some())
                }
                (word, _) => word.is_some(),
            };
            if is_word {
                let rest = &self.steps[taken..];
                let is_deletion = |step: &&Step| matches!(step, Step::Deletion(_));
                let deletions = rest.iter().skip(1).take_while(is_deletion).count();
                let group = &rest[..=deletions];
                taken += group.len();
                for step in group {
                    made.take(step);
                    if let Step::Deletion(word) = step {
                        part(&mut joined, &mut made, *word);
                    }
                }
                continue;
            }
            others.next();
            if let Some((left, right)) = parts {
                let id = tokens.merge(left, right, "");
                made.add(id);
                joined.push(((left, right), id));
            }
        }
        let vocab = made.vocab(&tokens, &self.specials)?;
        let id_of = |token: u32| vocab.id(&tokens.bytes[token as usize]);
        let ids = |&((left, right), id): &Joined| Some(((id_of(left)?, id_of(right)?), id_of(id)?));
        let supermerges = joined.iter().filter_map(ids).collect();
        let words = trainer.word_model(&tokens, &self.steps[..taken], vocab)?;
        Superwords::new(words, self.pattern.clone(), trainer.joining, supermerges)
    }
}

/// Takes out the superwords that a deleted word is a part of.
fn part(joined: &mut Vec<Joined>, made: &mut Made, word: u32) {
    let mut gone = BTreeSet::from([word]);
    joined.retain(|&((left, right), id)| {
        let stays = !gone.contains(&left) && !gone.contains(&right);
        if !stays {
            gone.insert(id);
            made.remove(id);
        }
        stays
    });
}
