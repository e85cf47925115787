//! How often each token of a vocabulary occurs, and how many different ones there are after so many.
//!
//! Look here for how texts are encoded and counted in one go: the ids of a part are counted by the
//! thread that made them, while they are in its cache, and kept nowhere.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::batch::Failure;
use crate::error::{Error, ErrorKind};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Ids up to which a table tells where the token of an id stands.
const LARGEST: u32 = 1 << 24;

/// Tokens after which the curve has its first point; it has one after each doubling.
const FIRST_POINT: u64 = 1 << 6;

const ABSENT: u32 = u32::MAX;

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
    places: Places,
    /// A thread takes whichever is free.
    shares: [Mutex<Share>; 16],
    /// Whether each token occurred before this batch.
    seen: Vec<bool>,
    /// How many tokens were counted, and how many different ones.
    tokens: u64,
    types: u64,
    points: Vec<(u64, u64)>,
    /// How many tasks there were that had as much text as a task may have.
    tasks: usize,
}

/// What a thread has counted.
#[derive(Debug, Default)]
struct Share {
    /// Small numbers, of which the processor's cache holds more; as many tokens as `counted`.
    counts: Vec<u32>,
    counted: u32,
    /// What was counted before.
    sums: Vec<u64>,
    /// Where tokens that are not in `seen` occur in this batch: the first place is among them.
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

/// Where the tokens of ids stand among all.
#[derive(Debug)]
enum Places {
    /// Each at its id.
    Ids,
    /// By ids; [`ABSENT`] where there is no token.
    Table(Vec<u32>),
    /// Among these.
    Search(Vec<u32>),
}

impl Places {
    fn of(ids: Vec<u32>) -> Self {
        match ids.last() {
            Some(&last) if last as usize + 1 == ids.len() => Self::Ids,
            Some(&last) if last < LARGEST => {
                let mut table = vec![ABSENT; last as usize + 1];
                for (place, &id) in ids.iter().enumerate() {
                    table[id as usize] = place as u32;
                }
                Self::Table(table)
            }
            _ => Self::Search(ids),
        }
    }

    /// The place of an id; one that is out of range where there is none.
    #[inline(always)]
    fn of_id(&self, id: u32) -> usize {
        match self {
            Self::Ids => id as usize,
            Self::Table(table) => table.get(id as usize).map_or(usize::MAX, |&at| at as usize),
            Self::Search(ids) => ids.binary_search(&id).unwrap_or(usize::MAX),
        }
    }
}

impl TokenCounter {
    /// Counts tokens of these ids, which rise.
    pub fn new(ids: Vec<u32>) -> Self {
        Self {
            seen: vec![false; ids.len()],
            places: Places::of(ids),
            shares: Default::default(),
            tokens: 0,
            types: 0,
            points: Vec::new(),
            tasks: 0,
        }
    }

    /// Counts the tokens of texts, on as many threads of the pool that this runs in; `cancelled` is
    /// that of [`Tokenizer::encode_batch`].
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`], and an id that stands for no token; what was counted then means
    /// nothing.
    pub fn add(
        &mut self,
        tokenizer: &Tokenizer,
        texts: &[&str],
        options: &EncodeOptions,
        threads: usize,
        cancelled: &AtomicBool,
    ) -> Result<(), Failure> {
        let see = |task: usize, ids: &[u32]| {
            self.see(task, ids).map_err(|id| {
                Error::new(ErrorKind::Argument, format!("id {id} stands for no token"))
            })
        };
        let mut tasks = self.tasks;
        let lengths =
            tokenizer.encode_tasks(texts, &mut tasks, options, threads, cancelled, see)?;
        self.tasks = tasks;
        self.end(&lengths);
        Ok(())
    }

    /// Counts the tokens of a part of a batch; other threads may count other parts.
    ///
    /// # Errors
    /// The first id that stands for no token; what was counted then means nothing.
    pub fn see(&self, part: usize, ids: &[u32]) -> Result<(), u32> {
        let free = self.shares.iter().find_map(|share| share.try_lock().ok());
        let mut share = free.unwrap_or_else(|| lock(&self.shares[0]));
        share.counts.resize(self.seen.len(), 0);
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
        let part = part as u32;
        match (&self.places, in_order) {
            (Places::Ids, true) => {
                self.see_by(ids, counts, |id| id as usize, |count| count == 0, part, new)
            }
            (places, true) => self.see_by(
                ids,
                counts,
                |id| places.of_id(id),
                |count| count == 0,
                part,
                new,
            ),
            (places, false) => self.see_by(ids, counts, |id| places.of_id(id), |_| true, part, new),
        }
    }

    /// Counts ids, and notes where a token occurs that is not in `seen` and whose count so far `is_new`
    /// accepts.
    #[inline(always)]
    fn see_by(
        &self,
        ids: &[u32],
        counts: &mut [u32],
        place: impl Fn(u32) -> usize,
        is_new: impl Fn(u32) -> bool,
        part: u32,
        new: &mut Vec<(Occurrence, usize)>,
    ) -> Result<(), u32> {
        for (&id, at) in ids.iter().zip(0..) {
            let token = place(id);
            let count = counts.get_mut(token).ok_or(id)?;
            if is_new(*count) && !self.seen[token] {
                new.push(((part, at), token));
            }
            *count += 1;
        }
        Ok(())
    }

    /// Ends a batch, of which each part has so many tokens.
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
                if !std::mem::replace(&mut self.seen[token], true) {
                    self.point_up_to(self.tokens + u64::from(at));
                    self.types += 1;
                }
            }
            self.tokens += length as u64;
        }
        self.point_up_to(self.tokens);
    }

    /// Notes the points of the curve up to so many tokens, before which no other type was met.
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
        let mut sums = vec![0; self.seen.len()];
        for share in &mut self.shares {
            let share = share.get_mut().unwrap_or_else(PoisonError::into_inner);
            share.sum_up();
            for (sum, more) in sums.iter_mut().zip(&mut share.sums) {
                *sum += std::mem::take(more);
            }
        }
        sums
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
    use crate::Stages;
    use crate::model::{Bpe, Model};
    use crate::vocab::Vocab;

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
                ids.push(u32::MAX);
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

    #[test]
    fn texts_are_counted_as_they_are_encoded() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = bytes.chain([b"in".to_vec(), b"ra".to_vec(), b"rain".to_vec()]);
        let bpe = Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap();
        let tokenizer = Tokenizer::new(Stages::of_model(Model::Bpe(bpe))).unwrap();
        let texts = ["rain in spain, ".repeat(20_000), "brain".to_owned()];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (options, cancelled) = (EncodeOptions::default(), AtomicBool::new(false));
        let batch = tokenizer.encode_batch(&texts, &options, 1, &cancelled);
        let ids = batch.unwrap().ids;
        let of_ids =
            |counter: &mut TokenCounter| counted(counter, std::slice::from_ref(&ids), 1 << 20, 0);
        let of_texts = |threads| {
            move |counter: &mut TokenCounter| {
                let added = counter.add(&tokenizer, &texts, &options, threads, &cancelled);
                added.unwrap();
                counter.take()
            }
        };
        let result = |count: &mut dyn FnMut(&mut TokenCounter) -> Vec<u64>| {
            let mut counter = TokenCounter::new((0..259).collect());
            (count(&mut counter), counter.curve())
        };
        let expected = result(&mut { of_ids });
        assert_eq!(result(&mut of_texts(3)), expected);
    }
}
