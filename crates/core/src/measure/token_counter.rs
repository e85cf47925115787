//! How often each token of a vocabulary occurs, and how many different ones there are after so many.
//!
//! Look here for what measures of tokenizers count in every batch of ids.

use rayon::prelude::*;

use crate::interrupt::Listener;

/// Ids below which one thread counts them.
const SMALL: usize = 1 << 16;

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
/// counter.add(&[9, 2, 9], 1).unwrap();
/// assert_eq!(counter.take(), [1, 0, 2]);
/// counter.add(&[5], 1).unwrap();
/// assert_eq!(counter.take(), [0, 1, 0]);
/// assert_eq!(counter.curve(), [(4, 3)]);
/// assert_eq!(counter.add(&[2, 3], 1), Err(3));
/// ```
#[derive(Debug)]
pub struct TokenCounter {
    places: Places,
    counts: Vec<u64>,
    /// The counts of a part of a batch, for each thread; all 0 between batches.
    parts: Vec<Vec<u32>>,
    seen: Vec<bool>,
    /// How many tokens were counted, and how many different ones.
    tokens: u64,
    types: u64,
    points: Vec<(u64, u64)>,
}

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
            counts: vec![0; ids.len()],
            seen: vec![false; ids.len()],
            places: Places::of(ids),
            parts: Vec::new(),
            tokens: 0,
            types: 0,
            points: Vec::new(),
        }
    }

    /// Counts the tokens of a batch, on as many threads.
    ///
    /// # Errors
    /// The first id that stands for no token; what was counted then means nothing.
    pub fn add(&mut self, ids: &[u32], threads: usize) -> Result<(), u32> {
        let threads = if ids.len() < SMALL { 1 } else { threads.max(1) };
        let parts = self.parts.len().max(threads);
        self.parts.resize_with(parts, Vec::new);
        let size = ids.len().div_ceil(threads).max(1);
        let (places, seen) = (&self.places, &self.seen);
        // The tokens of a part that occur for the first time, with where in it.
        let count = |(counts, ids): (&mut Vec<u32>, &[u32])| {
            counts.resize(seen.len(), 0);
            let mut first = Vec::new();
            for (at, &id) in ids.iter().enumerate() {
                let place = places.of_id(id);
                let count = counts.get_mut(place).ok_or(id)?;
                if *count == 0 && !seen[place] {
                    first.push((at, place));
                }
                *count += 1;
            }
            Ok(first)
        };
        let parts = self.parts.par_iter_mut().zip(ids.par_chunks(size));
        let found: Result<Vec<Vec<(usize, usize)>>, u32> = match threads {
            1 => count((&mut self.parts[0], ids)).map(|first| vec![first]),
            _ => Listener::told(|listener| {
                let found = parts.map(|part| listener.during(|| count(part)));
                let found: Vec<_> = found.collect();
                found.into_iter().collect()
            }),
        };
        for (first, part) in found?.into_iter().zip(ids.chunks(size)) {
            for (at, place) in first {
                if !std::mem::replace(&mut self.seen[place], true) {
                    self.point_up_to(self.tokens + at as u64);
                    self.types += 1;
                }
            }
            self.tokens += part.len() as u64;
        }
        self.point_up_to(self.tokens);
        for part in &mut self.parts {
            for (sum, count) in self.counts.iter_mut().zip(part) {
                *sum += u64::from(std::mem::take(count));
            }
        }
        Ok(())
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
        let zeros = vec![0; self.counts.len()];
        std::mem::replace(&mut self.counts, zeros)
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// What a counter gives after batches, one after another.
    fn counted(counter: &mut TokenCounter, batches: &[Vec<u32>], threads: usize) -> Vec<u64> {
        for batch in batches {
            counter.add(batch, threads).unwrap();
        }
        counter.take()
    }

    proptest! {
        #[test]
        fn counts_and_curve_are_those_of_one_by_one(
            ids in prop::collection::btree_set(0..200_u32, 1..50),
            far in any::<bool>(),
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
            let found = counted(&mut counter, &batches, 1);
            prop_assert_eq!(found, expected.into_values().collect::<Vec<_>>());
            prop_assert_eq!(counter.curve(), curve);
        }
    }

    #[test]
    fn threads_do_not_matter() {
        let batches: Vec<Vec<u32>> = (1..4)
            .map(|number| {
                (0..3 * SMALL as u32)
                    .map(|at| at * number % 70_001 % 5_000)
                    .collect()
            })
            .collect();
        let of = |threads| {
            let mut counter = TokenCounter::new((0..5_000).collect());
            (counted(&mut counter, &batches, threads), counter.curve())
        };
        assert_eq!(of(1), of(3));
        assert_eq!(TokenCounter::new(Vec::new()).add(&[0; SMALL], 2), Err(0));
    }
}
