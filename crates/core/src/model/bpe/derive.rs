//! From ranks to merges: which two tokens each token of a rank file is made of.
//!
//! By definition these are the two parts that the token's own bytes end in when all other ranks
//! merge them (`Bpe::merges`). Nearly every token is made by ranks below its own, so one pass finds
//! its pair: in the order of ranks, each token's bytes are merged by the pairs found so far. Where
//! that leaves tokens in more than two parts, all tokens are done again with all pairs, until
//! nothing changes.
//!
//! Why pairs under which nothing changes are the only ones that are ever merged: take the first
//! merge, in any text, of another pair into a token. Inside that token's bytes only found pairs
//! were merged before, in the order in which they are merged in the token alone; so the token
//! alone ends in that other pair, and it would have been found. Look here for why loading ranks
//! needs no table of all pairs.
//!
//! Worked example: of the ranks `a b c ab abc`, `ab` is made of `a` and `b`; with that pair known,
//! the bytes of `abc` end in `ab` and `c`.

use aho_corasick::AhoCorasick;

use super::MergeList;
use crate::model::Vocab;

/// Tokens of more bytes than this are left to the definition, which has a heap for them.
const LONGEST: usize = 128;
/// How many bits an id has in the table.
const ID_BITS: u32 = 21;
const NONE: u32 = u32::MAX;

/// How often all tokens are done again before they are left to the definition.
const ROUNDS: usize = 8;

/// The pairs that make the tokens of more than one byte, in the order of ids. `None` where a
/// token is too long or there twice, the table does not hold the ids, or pairs keep changing.
pub(super) fn by_settling(vocab: &Vocab) -> Option<MergeList> {
    let twice = vocab.iter().count() > vocab.len();
    if twice || vocab.max_id()? >= 1 << ID_BITS {
        return None;
    }
    let mut of_byte = [0; 256];
    for (byte, id) in of_byte.iter_mut().enumerate() {
        *id = vocab.id(&[byte as u8])?;
    }
    let tokens = || vocab.iter().filter(|(token, _)| token.len() > 1);
    let mut found = Found::new(of_byte, vocab.len());
    let mut pairs = Vec::with_capacity(vocab.len());
    for (token, rank) in tokens() {
        if token.len() > LONGEST {
            return None;
        }
        let pair = found.parts(token);
        if let Some(pair) = pair {
            found.insert(token, pair, rank);
        }
        pairs.push(pair);
    }
    let unmade = pairs
        .iter()
        .zip(tokens())
        .filter(|(pair, _)| pair.is_none());
    let now_made: Vec<&[u8]> = unmade
        .map(|(_, (token, _))| token)
        .filter(|token| found.parts(token).is_some())
        .collect();
    if !now_made.is_empty() {
        settle(vocab, &mut pairs, now_made, of_byte)?;
    }
    let underivable = pairs
        .iter()
        .zip(tokens())
        .filter(|(pair, _)| pair.is_none());
    Some(MergeList {
        underivable: underivable.map(|(_, (_, rank))| rank).collect(),
        merges: pairs.into_iter().flatten().collect(),
    })
}

/// Does tokens again with all pairs until nothing changes: first those that hold a token of
/// `again`, then those that hold one that changed, since only pairs inside a token have a say in it.
fn settle<'v>(
    vocab: &'v Vocab,
    pairs: &mut [Option<(u32, u32)>],
    mut again: Vec<&'v [u8]>,
    of_byte: [u32; 256],
) -> Option<()> {
    let tokens = || vocab.iter().filter(|(token, _)| token.len() > 1);
    for _ in 0..ROUNDS {
        let mut found = Found::new(of_byte, vocab.len());
        for (pair, (token, rank)) in pairs.iter().zip(tokens()) {
            if let Some(pair) = *pair {
                found.insert(token, pair, rank);
            }
        }
        let inside = AhoCorasick::new(&again).ok()?;
        again.clear();
        for (pair, (token, _)) in pairs.iter_mut().zip(tokens()) {
            if inside.is_match(token) {
                let parts = found.parts(token);
                if parts != *pair {
                    *pair = parts;
                    again.push(token);
                }
            }
        }
        if again.is_empty() {
            return Some(());
        }
    }
    None
}

/// The pairs that were found.
struct Found {
    of_byte: [u32; 256],
    /// The ranks of pairs of bytes, again; most looks are for them.
    of_bytes: Vec<u32>,
    pairs: PairTable,
}

impl Found {
    /// No pairs yet, and room for `count`.
    fn new(of_byte: [u32; 256], count: usize) -> Self {
        Self {
            of_byte,
            of_bytes: vec![NONE; 1 << 16],
            pairs: PairTable::new(count),
        }
    }

    fn insert(&mut self, token: &[u8], pair: (u32, u32), rank: u32) {
        if let &[first, second] = token {
            self.of_bytes[usize::from(first) << 8 | usize::from(second)] = rank;
        }
        self.pairs.insert(pair, rank);
    }

    /// The two parts that the bytes of a token, 2 to [`LONGEST`], end in, if they are two.
    fn parts(&self, token: &[u8]) -> Option<(u32, u32)> {
        let (mut ids, mut ranks) = ([0; LONGEST], [NONE; LONGEST]);
        let mut count = token.len();
        for (id, &byte) in ids.iter_mut().zip(token) {
            *id = self.of_byte[usize::from(byte)];
        }
        for (rank, pair) in ranks.iter_mut().zip(token.windows(2)) {
            *rank = self.of_bytes[usize::from(pair[0]) << 8 | usize::from(pair[1])];
        }
        while count > 2 {
            let (mut best, mut at) = (NONE, 0);
            for (i, &rank) in ranks[..count - 1].iter().enumerate() {
                if rank < best {
                    (best, at) = (rank, i);
                }
            }
            if best == NONE {
                return None;
            }
            ids[at] = best;
            ids.copy_within(at + 2..count, at + 1);
            ranks.copy_within(at + 1..count - 1, at);
            count -= 1;
            if at + 1 < count {
                ranks[at] = self.pairs.rank((best, ids[at + 1]));
            }
            if at > 0 {
                ranks[at - 1] = self.pairs.rank((ids[at - 1], best));
            }
        }
        Some((ids[0], ids[1]))
    }
}

/// Pairs of ids with their ranks: open addressing, both ids and the rank in one word.
struct PairTable {
    entries: Vec<u64>,
    shift: u32,
}

impl PairTable {
    const EMPTY: u64 = u64::MAX;

    /// A table for up to `count` pairs.
    fn new(count: usize) -> Self {
        let size = (2 * count).next_power_of_two().max(2);
        Self {
            entries: vec![Self::EMPTY; size],
            shift: 64 - size.trailing_zeros(),
        }
    }

    #[inline(always)]
    fn key((left, right): (u32, u32)) -> u64 {
        u64::from(left) << (2 * ID_BITS) | u64::from(right) << ID_BITS
    }

    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    fn insert(&mut self, pair: (u32, u32), rank: u32) {
        let key = Self::key(pair);
        let mut slot = self.slot(key);
        while self.entries[slot] != Self::EMPTY {
            slot = (slot + 1) & (self.entries.len() - 1);
        }
        self.entries[slot] = key | u64::from(rank);
    }

    #[inline(always)]
    fn rank(&self, pair: (u32, u32)) -> u32 {
        const RANK: u64 = (1 << ID_BITS) - 1;
        let key = Self::key(pair);
        let mut slot = self.slot(key);
        loop {
            let entry = self.entries[slot];
            if entry & !RANK == key {
                return (entry & RANK) as u32;
            }
            if entry == Self::EMPTY {
                return NONE;
            }
            slot = (slot + 1) & (self.entries.len() - 1);
        }
    }
}
