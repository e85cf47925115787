//! A perfect hash: a table of numbers by keys that are all known beforehand. Each key has a place of its
//! own, so a look-up is one comparison.
//!
//! Keys are divided into small buckets by their hash. Each bucket, the largest first, takes the first
//! displacement that moves all of its keys to free places (Pagh, "Hash
//! and displace", 1999; Belazzougui, Botelho and Dietzfelbinger, "Hash, displace, and compress",
//! 2009).

use std::hash::BuildHasher;
use std::hint::select_unpredictable;

use foldhash::fast::RandomState;

use jeton_text::mem::prefetch::prefetch;
use jeton_text::mem::short_keys::{MIX, fold};

/// Bits of a number, below those of the key.
const NUMBER_BITS: u32 = 20;
/// What a look-up returns if there is no number.
pub const NONE: u32 = u32::MAX;
/// All numbers are below this.
pub const MAX_NUMBERS: u32 = (1 << NUMBER_BITS) - 1;
/// All keys are below this.
pub const MAX_KEYS: u64 = (1 << (u64::BITS - NUMBER_BITS)) - 1;
/// A place without a key.
const EMPTY: u64 = u64::MAX;
/// Keys of a bucket, on the average and at most.
const BUCKET: usize = 3;

/// A table of numbers below [`MAX_NUMBERS`].
pub struct PerfectHash {
    /// Moves the hashes, so that no file knows which keys fall into one bucket.
    seed: u64,
    /// How far the top bits of a hash, which say its bucket, are from the bottom.
    shift: u32,
    displacements: Vec<u8>,
    /// Keys and numbers.
    places: Vec<u64>,
}

impl PerfectHash {
    /// These keys with these numbers; of equal keys the first counts.
    pub fn new(entries: &[(u64, u32)]) -> Self {
        let mut places = entries.len() + entries.len() / 3 + 1;
        let mut buckets = (entries.len() / BUCKET).max(2).next_power_of_two();
        loop {
            if let Some(full) = Self::empty(buckets, places).filled(entries) {
                return full;
            }
            // Keys that are like each other may fall into too few buckets.
            places += places / 8 + 1;
            buckets *= 2;
        }
    }

    fn empty(buckets: usize, places: usize) -> Self {
        Self {
            seed: RandomState::default().hash_one(0),
            shift: u64::BITS - buckets.ilog2(),
            displacements: vec![0; buckets],
            places: vec![EMPTY; places],
        }
    }

    /// With these entries, if each bucket has a displacement.
    fn filled(mut self, entries: &[(u64, u32)]) -> Option<Self> {
        let mut ends = vec![0; self.displacements.len() + 1];
        for &(key, _) in entries {
            ends[self.bucket(self.hash(key)) + 1] += 1;
        }
        let largest = ends.iter().copied().max().unwrap_or(0);
        for bucket in 1..ends.len() {
            ends[bucket] += ends[bucket - 1];
        }
        let mut by_bucket = vec![(0, 0); entries.len()];
        for &(key, number) in entries.iter().rev() {
            // What was where a bucket begins becomes where it ends, and the other way round.
            let hash = self.hash(key);
            let end = &mut ends[self.bucket(hash) + 1];
            *end -= 1;
            by_bucket[*end] = (hash, Self::entry(key, number));
        }
        ends.push(entries.len());
        let mut by_size = vec![Vec::new(); largest + 1];
        for bucket in 0..self.displacements.len() {
            by_size[ends[bucket + 2] - ends[bucket + 1]].push(bucket);
        }
        let mut taken = vec![false; self.places.len()];
        for &bucket in by_size.iter().skip(1).rev().flatten() {
            let keys = &by_bucket[ends[bucket + 1]..ends[bucket + 2]];
            self.displacements[bucket] =
                (0..=u8::MAX).find(|&by| self.take(keys, by, &mut taken))?;
            for &(hash, entry) in keys.iter().rev() {
                let place = self.displaced(hash, self.displacements[bucket]);
                self.places[place] = entry;
            }
        }
        Some(self)
    }

    /// Takes the places of a bucket's keys under a displacement, if all are free.
    fn take(&self, keys: &[(u64, u64)], displacement: u8, taken: &mut [bool]) -> bool {
        // A processor cannot guess which key clashes; that some key does, it often can.
        let clash = keys.iter().fold(false, |clash, &(hash, _)| {
            clash | taken[self.displaced(hash, displacement)]
        });
        if clash {
            return false;
        }
        for (i, &(hash, entry)) in keys.iter().enumerate() {
            let place = self.displaced(hash, displacement);
            if !std::mem::replace(&mut taken[place], true) {
                continue;
            }
            let same = |&(_, before): &(u64, u64)| before >> NUMBER_BITS == entry >> NUMBER_BITS;
            if keys[..i].iter().rev().any(same) {
                continue;
            }
            for &(hash, _) in &keys[..i] {
                taken[self.displaced(hash, displacement)] = false;
            }
            return false;
        }
        true
    }

    #[inline(always)]
    fn entry(key: u64, number: u32) -> u64 {
        debug_assert!(key < MAX_KEYS && number < MAX_NUMBERS);
        key << NUMBER_BITS | u64::from(number)
    }

    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        fold(key ^ self.seed, MIX)
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    #[inline(always)]
    fn displaced(&self, hash: u64, displacement: u8) -> usize {
        // Each key has steps of its own, so that no two keys of a bucket fall together for ever.
        let steps = u32::from(displacement).wrapping_mul((hash >> 16) as u32);
        let place = (hash as u32).wrapping_add(steps);
        ((u64::from(place) * self.places.len() as u64) >> u32::BITS) as usize
    }

    /// Where a key belongs.
    #[inline(always)]
    pub fn place(&self, key: u64) -> u32 {
        let hash = self.hash(key);
        let displacement = self.displacements[self.bucket(hash)];
        self.displaced(hash, displacement) as u32
    }

    /// Prefetches the memory of a place.
    #[inline(always)]
    pub fn prefetch(&self, place: u32) {
        prefetch(&self.places, place as usize);
    }

    /// The number of a key that belongs there, or [`NONE`]. A processor cannot guess whether
    /// there is one, so the answer is selected without a branch.
    #[inline(always)]
    pub fn number_at(&self, place: u32, key: u64) -> u32 {
        let number = self.places[place as usize] ^ key << NUMBER_BITS;
        let found = number >> NUMBER_BITS == 0;
        select_unpredictable(found, number as u32, NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(table: &PerfectHash, key: u64) -> u32 {
        table.number_at(table.place(key), key)
    }

    #[test]
    fn every_key_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 100, 30_000] {
            let entries: Vec<(u64, u32)> = (0..count).map(|n| (n * n, n as u32 % 999)).collect();
            let table = PerfectHash::new(&entries);
            for &(key, expected) in &entries {
                assert_eq!(number(&table, key), expected);
            }
            let next = |n: u64| n * n + 1;
            let others = (1..count).map(next).chain([2, MAX_KEYS - 1]);
            for key in others {
                assert_eq!(number(&table, key), NONE, "{key}");
            }
        }
    }

    #[test]
    fn keys_that_are_like_each_other() {
        let grid = (0..320).flat_map(|left| (0..400).map(move |right| left << 20 | right));
        let entries: Vec<(u64, u32)> = grid.zip(0..).collect();
        let table = PerfectHash::new(&entries);
        assert!(entries.iter().all(|&(key, n)| number(&table, key) == n));
        assert!(table.places.len() < 4 * entries.len());
    }

    #[test]
    fn of_equal_keys_the_first_counts() {
        let entries: Vec<(u64, u32)> = (0..400).map(|n| (u64::from(n) % 100, n)).collect();
        let table = PerfectHash::new(&entries);
        assert!((0..100).all(|key| number(&table, u64::from(key)) == key));
    }
}
