//! Which two neighbouring tokens may end up in one, so that most of a text is joined without a look at the
//! supermerges.
//!
//! A token that spans the boundary between `a` and `b` was merged there from a left part that ends with `a`
//! and a right part that begins with `b`. Pairs of such an end and such a beginning are collected beforehand,
//! for all merges. Any other boundary stays, and what is on its two sides is merged separately.

use std::collections::BTreeMap;

use jeton_models::merge::pairs::Merge;
use jeton_text::mem::short_keys::MIX;

/// Bits per pair: one of so many pairs that never link seems to.
const BITS: usize = 16;
/// Pairs and steps that are collected at most. A vocabulary that needs more links all tokens.
const MOST: usize = 1 << 21;

/// A set of pairs, by their hashes: a pair that is not in it may seem to be.
pub(super) struct Links {
    bits: Vec<u64>,
    shift: u32,
}

impl Links {
    /// Those of the merges `late`, which find the tokens that the merges `early` have made, and single bytes.
    pub fn new(early: &[Merge], late: &[Merge]) -> Self {
        let mut makers: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        for &(pair, _, id) in late {
            makers.entry(id).or_default().push(pair);
        }
        let mut found: Vec<u32> = early.iter().map(|&(_, _, id)| id).collect();
        found.sort_unstable();
        let mut left = MOST;
        let mut ends = |of: u32, side: fn((u32, u32)) -> u32| {
            let (mut ends, mut open) = (Vec::new(), vec![of]);
            while let Some(id) = open.pop() {
                left = left.checked_sub(1)?;
                let parts = makers.get(&id).into_iter().flatten();
                open.extend(parts.map(|&pair| side(pair)));
                if !makers.contains_key(&id) || found.binary_search(&id).is_ok() {
                    ends.push(id);
                }
            }
            Some(ends)
        };
        let mut pairs = Vec::new();
        for &((left, right), _, _) in late {
            let sides = (ends(left, |pair| pair.1), ends(right, |pair| pair.0));
            let (Some(lefts), Some(rights)) = sides else {
                return Self::all();
            };
            if pairs.len() + lefts.len() * rights.len() > MOST {
                return Self::all();
            }
            for left in lefts {
                pairs.extend(rights.iter().map(|&right| (left, right)));
            }
        }
        let bits = (BITS * pairs.len()).next_power_of_two().max(64);
        let mut links = Self {
            bits: vec![0; bits / 64],
            shift: u64::BITS - bits.ilog2(),
        };
        for (left, right) in pairs {
            let place = links.place(left, right);
            links.bits[place / 64] |= 1 << (place % 64);
        }
        links
    }

    fn all() -> Self {
        Self {
            bits: vec![u64::MAX],
            shift: u64::BITS - u64::BITS.ilog2(),
        }
    }

    #[inline(always)]
    fn place(&self, left: u32, right: u32) -> usize {
        let pair = u64::from(left) << u32::BITS | u64::from(right);
        (pair.wrapping_mul(MIX) >> self.shift) as usize
    }

    /// 1 if the two may end up in one token, else 0, for most.
    #[inline(always)]
    pub fn links(&self, left: u32, right: u32) -> u64 {
        let place = self.place(left, right);
        self.bits[place / 64] >> (place % 64) & 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the tokens below 20 link to which.
    fn linked(early: &[Merge], late: &[Merge]) -> Vec<(u32, u32)> {
        let links = Links::new(early, late);
        let pairs = (0..20).flat_map(|left| (0..20).map(move |right| (left, right)));
        let linked = pairs.filter(|&(left, right)| links.links(left, right) == 1);
        linked.collect()
    }

    #[test]
    fn ends_link_to_beginnings() {
        let late = [((1, 2), 7, 10), ((10, 3), 8, 11), ((4, 10), 9, 12)];
        let found = linked(&[], &late);
        for pair in [(1, 2), (2, 3), (4, 1)] {
            assert!(found.contains(&pair), "{pair:?}");
        }
        assert!(found.len() < 40, "{found:?}");
    }

    #[test]
    fn a_token_of_both_kinds_of_merges_is_an_end_too() {
        let late = [((1, 2), 7, 10), ((10, 3), 8, 11), ((4, 10), 9, 12)];
        let found = linked(&[((0, 5), 1, 10)], &late);
        for pair in [(1, 2), (2, 3), (10, 3), (4, 1), (4, 10)] {
            assert!(found.contains(&pair), "{pair:?}");
        }
    }

    #[test]
    fn all_tokens_link_where_there_are_too_many_ways() {
        let twice = |id| [((id, id), id, id + 1), ((id, 0), id, id + 1)];
        let late: Vec<Merge> = (0..60).flat_map(twice).collect();
        assert_eq!(linked(&[], &late).len(), 400);
    }
}
