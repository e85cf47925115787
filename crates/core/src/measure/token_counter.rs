//! How often each token of a vocabulary occurs, and how many different tokens the first n tokens have.
//!
//! Look here for how texts are encoded and counted in one go: the thread that encoded a part counts its
//! ids while they are in its cache, and stores them nowhere.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::batch::{Buffers, Job};
use crate::tokenizer::{EncodeOptions, Tokenizer};
use jeton_text::error::{Error, ErrorKind};

/// Tokens after which the curve has its first point; it has one after each doubling.
const FIRST_POINT: u64 = 1 << 6;

/// Counts tokens.
///
/// ```
/// use jeton_core::measure::token_counter::TokenCounter;
///
/// let mut counter = TokenCounter::new(vec![2, 5, 9]);
/// counter.see(0, &[9, 2, 9]).unwrap();
/// counter.end(&[3]);
/// assert_eq!(counter.take(), [1, 0, 2]);
/// counter.see(0, &[5]).unwrap();
/// counter.end(&[1]);
/// assert_eq!(counter.take(), [0, 1, 0]);
/// assert_eq!(counter.curve(), [(4, 3)]);
/// assert_eq!(counter.see(0, &[2, 3]), Err(3));
/// ```
#[derive(Debug)]
pub struct TokenCounter {
    /// Those of all tokens, which rise.
    ids: Vec<u32>,
    /// A thread takes its own, or whichever is free.
    shares: [Mutex<Share>; 16],
    /// The state of each id.
    states: Vec<State>,
    /// How many tokens were counted, and how many different ones.
    tokens: u64,
    types: u64,
    points: Vec<(u64, u64)>,
    /// How many tasks there were that had as much text as a task may have.
    pub(super) full_tasks: usize,
}

/// What a thread has counted.
#[derive(Debug, Default)]
struct Share {
    /// Small numbers, of which the processor's cache holds more; as many tokens as `counted`.
    counts: Vec<u32>,
    counted: u32,
    /// What was counted before.
    sums: Vec<u64>,
    /// Where tokens occur in this batch that are in none before: the first place is among them.
    new: Vec<(Occurrence, usize)>,
    /// The last part that was counted.
    last: usize,
}

impl Share {
    /// Adds `counts` to `sums`.
    fn sum_up(&mut self) {
        self.sums.resize(self.counts.len(), 0);
        for (sum, count) in self.sums.iter_mut().zip(&mut self.counts) {
            *sum += u64::from(std::mem::take(count));
        }
        self.counted = 0;
    }
}

/// Which part of a batch, and which token of it.
type Occurrence = (u32, u32);

/// Whether an id has a token, and whether it was counted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No token.
    Absent,
    /// A token that did not occur before this batch.
    New,
    /// One that did.
    Seen,
}

impl TokenCounter {
    /// Counts tokens of these ids, which rise.
    pub fn new(ids: Vec<u32>) -> Self {
        let mut states = Vec::new();
        for &id in &ids {
            states.resize(id as usize, State::Absent);
            states.push(State::New);
        }
        Self {
            ids,
            states,
            shares: Default::default(),
            tokens: 0,
            types: 0,
            points: Vec::new(),
            full_tasks: 0,
        }
    }

    /// The work of counting the tokens of a batch of texts, which ends with [`Self::end`], and how many
    /// full tasks it has. The job fails as [`Tokenizer::encode_batch`] does, and at an id that stands for
    /// no token; what was counted then means nothing.
    pub(super) fn job<'j>(
        &'j self,
        tokenizer: &'j Tokenizer,
        texts: &[&'j str],
        options: &'j EncodeOptions,
        threads: usize,
        buffers: &'j Buffers,
    ) -> (Job<'j, usize>, usize) {
        let see = |task: usize, ids: &[u32]| {
            self.see(task, ids)
                .map_err(|id| Error::new(ErrorKind::Argument, format!("id {id} has no token")))
        };
        tokenizer.encoding_job(texts, self.full_tasks, options, threads, buffers, see)
    }

    /// Counts the tokens of a part of a batch; other threads may count other parts.
    ///
    /// # Errors
    /// The first id that has no token; what was counted then means nothing.
    pub fn see(&self, part: usize, ids: &[u32]) -> Result<(), u32> {
        // A thread comes with its parts in order for as long as it has some of its own.
        let own = rayon::current_thread_index().unwrap_or(0) % self.shares.len();
        let (others, shares) = self.shares.split_at(own);
        let free = shares
            .iter()
            .chain(others)
            .find_map(|share| share.try_lock().ok());
        let mut share = free.unwrap_or_else(|| lock(&self.shares[own]));
        share.counts.resize(self.states.len(), 0);
        let length = u32::try_from(ids.len()).expect("a part is no larger than a text's memory");
        match share.counted.checked_add(length) {
            Some(counted) => share.counted = counted,
            None => {
                share.sum_up();
                share.counted = length;
            }
        }
        // Counted in order, a token that was counted before did not occur first in this part.
        let in_order = part >= share.last;
        share.last = share.last.max(part);
        let Share { counts, new, .. } = &mut *share;
        let (counts, part) = (counts.as_mut_slice(), part as u32);
        let mut note = |token: usize, at: u32| new.push(((part, at), token));
        if in_order {
            return self.see_by(ids, counts, true, note);
        }
        let mut met = HashSet::new();
        let note_once = |token, at| {
            if met.insert(token) {
                note(token, at);
            }
        };
        self.see_by(ids, counts, false, note_once)
    }

    /// Counts ids, and notes where tokens occur that are new; `in_order`, where they are counted first.
    #[inline(always)]
    fn see_by(
        &self,
        ids: &[u32],
        counts: &mut [u32],
        in_order: bool,
        mut note: impl FnMut(usize, u32),
    ) -> Result<(), u32> {
        for (&id, at) in ids.iter().zip(0..) {
            let token = id as usize;
            let count = counts.get_mut(token).ok_or(id)?;
            if !in_order || *count == 0 {
                match self.states[token] {
                    State::Absent => return Err(id),
                    State::New => note(token, at),
                    State::Seen => {}
                }
            }
            *count += 1;
        }
        Ok(())
    }

    /// Ends a batch, of which each part has this many tokens.
    pub fn end(&mut self, lengths: &[usize]) {
        let mut firsts = Vec::new();
        for share in &mut self.shares {
            let share = share.get_mut().unwrap_or_else(PoisonError::into_inner);
            share.last = 0;
            firsts.append(&mut share.new);
        }
        firsts.sort_unstable();
        let mut firsts = firsts.into_iter().peekable();
        for (part, &length) in lengths.iter().enumerate() {
            while let Some(((_, at), token)) = firsts.next_if(|((of, _), _)| *of as usize == part) {
                if std::mem::replace(&mut self.states[token], State::Seen) == State::New {
                    self.point_up_to(self.tokens + u64::from(at));
                    self.types += 1;
                }
            }
            self.tokens += length as u64;
        }
        self.point_up_to(self.tokens);
    }

    /// Notes the points of the curve up to this many tokens, before which no other type occurred.
    fn point_up_to(&mut self, tokens: u64) {
        loop {
            let last = self.points.last();
            let next = last.map_or(FIRST_POINT, |(point, _)| point * 2);
            if next > tokens {
                break;
            }
            self.points.push((next, self.types));
        }
    }

    /// How often each token was counted since the last time, in the order of the ids.
    pub fn take(&mut self) -> Vec<u64> {
        let mut sums = vec![0; self.states.len()];
        for share in &mut self.shares {
            let share = share.get_mut().unwrap_or_else(PoisonError::into_inner);
            share.sum_up();
            for (sum, more) in sums.iter_mut().zip(&mut share.sums) {
                *sum += std::mem::take(more);
            }
        }
        let of_token = |&id: &u32| sums[id as usize];
        self.ids.iter().map(of_token).collect()
    }

    /// How many different tokens there were after 64, 128, 256 … tokens, and after all.
    pub fn curve(&self) -> Vec<(u64, u64)> {
        let last = (self.tokens, self.types);
        let mut points = self.points.clone();
        if self.tokens > 0 && points.last() != Some(&last) {
            points.push(last);
        }
        points
    }
}

fn lock(share: &Mutex<Share>) -> MutexGuard<'_, Share> {
    share.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// What a counter gives after batches, each seen in parts of a size, in an order by a seed.
    fn counted(
        counter: &mut TokenCounter,
        batches: &[Vec<u32>],
        size: usize,
        seed: usize,
    ) -> Vec<u64> {
        for batch in batches {
            let mut parts: Vec<_> = batch.chunks(size).enumerate().collect();
            let lengths: Vec<usize> = parts.iter().map(|(_, part)| part.len()).collect();
            parts.sort_by_key(|(number, _)| number * seed % 7);
            for (number, part) in parts {
                counter.see(number, part).unwrap();
            }
            counter.end(&lengths);
        }
        counter.take()
    }

    proptest! {
        #[test]
        fn counts_and_curve_are_those_of_one_by_one(
            ids in prop::collection::btree_set(0..200_u32, 1..50),
            far in any::<bool>(),
            size in 1..200_usize,
            seed in 0..7_usize,
            picks in prop::collection::vec(prop::collection::vec(0..1000_usize, 0..300), 0..6),
        ) {
            let mut ids: Vec<u32> = ids.into_iter().collect();
            if far {
                ids.push(100_000);
            }
            let batches: Vec<Vec<u32>> = picks
                .iter()
                .map(|picks| picks.iter().map(|pick| ids[pick % ids.len()]).collect())
                .collect();
            let all: Vec<u32> = batches.concat();
            let mut expected: BTreeMap<u32, u64> = ids.iter().map(|&id| (id, 0)).collect();
            for id in &all {
                *expected.get_mut(id).unwrap() += 1;
            }
            let ends = (6..20).map(|power| 1 << power).take_while(|&end| end < all.len());
            let mut ends: Vec<usize> = ends.collect();
            ends.extend(Some(all.len()).filter(|&end| end > 0));
            let types = |end: usize| all[..end].iter().collect::<BTreeSet<_>>().len() as u64;
            let curve: Vec<_> = ends.iter().map(|&end| (end as u64, types(end))).collect();
            let mut counter = TokenCounter::new(ids);
            let found = counted(&mut counter, &batches, size, seed);
            prop_assert_eq!(found, expected.into_values().collect::<Vec<_>>());
            prop_assert_eq!(counter.curve(), curve);
        }
    }
}
