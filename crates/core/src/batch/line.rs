//! Parts of large texts that wait in line: what was made of each by itself is settled in their order,
//! by one thread at a time, while others go on.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Part, lock};
use crate::fast::{Front, Guess, Place, Settling};
use crate::tokenizer::Tokenizer;

/// The tasks with parts of texts that have to be settled.
pub struct Line<'b> {
    parts: &'b [Part<'b>],
    tasks: &'b [Range<usize>],
    settling: Option<Settling<'b>>,
    /// The numbers of the tasks.
    order: Vec<usize>,
    /// What was made of the parts of tasks whose turn has not come.
    waiting: Mutex<BTreeMap<usize, Vec<Guess>>>,
    turn: Mutex<Turn>,
}

/// How far the line is settled.
#[derive(Default)]
struct Turn {
    front: Front,
    /// How many tokens each part of the tasks that are settled has.
    counts: Vec<Vec<usize>>,
}

impl<'b> Line<'b> {
    /// Nothing is settled yet.
    pub fn new(tokenizer: &'b Tokenizer, parts: &'b [Part<'b>], tasks: &'b [Range<usize>]) -> Self {
        let settling = tokenizer.settling();
        let has_parts = |task: &usize| parts[tasks[*task].clone()].iter().any(|part| part.cut);
        let order = match settling {
            Some(_) => (0..tasks.len()).filter(has_parts).collect(),
            None => Vec::new(),
        };
        Self {
            parts,
            tasks,
            settling,
            order,
            waiting: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// Whether nothing has to be settled.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn parts(&self, task: usize) -> &'b [Part<'b>] {
        &self.parts[self.tasks[task].clone()]
    }

    /// Does as much of a task as can be done before its turn, if it is one of the line.
    pub fn guess(&self, task: usize) -> bool {
        let Some(settling) = &self.settling else {
            return false;
        };
        if self.order.binary_search(&task).is_err() {
            return false;
        }
        let parts = self.parts(task).iter();
        let guesses = parts.map(|part| settling.guess(part.text, part.place));
        let guesses = guesses.collect();
        lock(&self.waiting).insert(task, guesses);
        true
    }

    /// Settles the tasks whose turn it is, unless another thread is at it: `take` gets the ids of each
    /// in a list from `spare`. What comes while that thread leaves off waits for the next call, and
    /// what is left when `cancelled` is set for none.
    pub fn settle(
        &self,
        cancelled: &AtomicBool,
        spare: impl Fn() -> Vec<u32>,
        take: impl Fn(usize, Vec<u32>),
    ) {
        let Some(settling) = &self.settling else {
            return;
        };
        while !cancelled.load(Ordering::Relaxed)
            && let Ok(mut turn) = self.turn.try_lock()
            && let Some(&task) = self.order.get(turn.counts.len())
            && let Some(guesses) = self.taken(task)
        {
            let mut ids = spare();
            let mut counts = Vec::with_capacity(guesses.len());
            for (part, guess) in self.parts(task).iter().zip(&guesses) {
                let before = ids.len();
                let front = match part.place {
                    Place::Inner => turn.front,
                    _ => Front::default(),
                };
                turn.front = settling.settle(part.text, part.place, guess, front, &mut ids);
                counts.push(ids.len() - before);
            }
            turn.counts.push(counts);
            take(task, ids);
        }
    }

    /// What was made of a task's parts. No other thread waits while that is settled.
    fn taken(&self, task: usize) -> Option<Vec<Guess>> {
        lock(&self.waiting).remove(&task)
    }

    /// Puts how many tokens each part of the line has among those of all tasks.
    pub fn counts(self, counts: &mut [Vec<usize>]) {
        let turn = self.turn.into_inner();
        let turn = turn.unwrap_or_else(PoisonError::into_inner);
        for (task, settled) in self.order.into_iter().zip(turn.counts) {
            if let Some(counts) = counts.get_mut(task) {
                *counts = settled;
            }
        }
    }
}
