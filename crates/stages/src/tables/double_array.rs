//! A double array of tokens and their scores. It finds the tokens that a text begins with, at one memory
//! access per byte.
//!
//! Look here for the trie behind Viterbi's algorithm and the longest match. It is built from the
//! model's own trie, which is smaller and faster to build, at the first new word.

use crate::tables::trie::Trie;
use jeton_text::interrupt::tick;

/// No token ends at this node.
const NO_TOKEN: u32 = u32::MAX;
/// The owner of a node that is not in use.
const FREE: u32 = u32::MAX;
/// The owner of the root.
const NOBODY: u32 = u32::MAX - 1;
/// Places that are tried for the children of a node before they go to the end.
const GAPS_TRIED: usize = 16;

/// A trie whose node for the byte `c` after a node is the one at that node's `base + c`, if that
/// node is its owner.
pub struct DoubleArray {
    nodes: Vec<Node>,
}

/// A node: the bytes read so far are the beginning of some token.
#[derive(Clone, Copy, Debug)]
pub struct ArrayNode(u32);

#[derive(Clone, Copy)]
struct Node {
    owner: u32,
    base: u32,
    id: u32,
    score: f32,
}

impl Node {
    const FREE: Self = Self {
        owner: FREE,
        base: 0,
        id: NO_TOKEN,
        score: 0.0,
    };
}

impl ArrayNode {
    /// Before the first byte.
    pub const ROOT: Self = Self(0);
}

impl DoubleArray {
    /// The same trie as `trie`, without the tokens that have no score.
    pub fn new(trie: &Trie, score: impl Fn(u32) -> Option<f32>) -> Self {
        let mut nodes = vec![Node::FREE; 2 * trie.len()];
        nodes[0].owner = NOBODY;
        let mut room = Room {
            taken: vec![1],
            first_free: 1,
            tried: 1,
            end: 1,
        };
        // Where each of the trie's nodes lies. Parents come before their children.
        let mut places = vec![0; trie.len()];
        for (node, (id, first, bytes)) in trie.nodes().enumerate() {
            let place = places[node];
            if let Some((id, score)) = id.and_then(|id| Some((id, score(id)?))) {
                (nodes[place as usize].id, nodes[place as usize].score) = (id, score);
            }
            if bytes.is_empty() {
                continue;
            }
            let base = room.take(bytes);
            nodes[place as usize].base = base;
            if room.end > nodes.len() {
                nodes.resize(room.end.max(nodes.len() / 2 * 3), Node::FREE);
            }
            for (child, &byte) in places[first..].iter_mut().zip(bytes) {
                *child = base.wrapping_add(byte.into());
                nodes[*child as usize].owner = place;
            }
        }
        nodes.truncate(room.end);
        nodes.shrink_to_fit();
        Self { nodes }
    }

    /// Calls `found` with the tokens that `text` begins with, shortest first: the length of each in
    /// bytes, its id and its score.
    #[inline(always)]
    pub fn prefixes(&self, text: &[u8], found: impl FnMut(usize, u32, f32)) {
        self.prefixes_behind(ArrayNode::ROOT, text, found);
    }

    /// The same, for the tokens that continue from `place` with a beginning of `text`.
    #[inline(always)]
    pub fn prefixes_behind(
        &self,
        place: ArrayNode,
        text: &[u8],
        mut found: impl FnMut(usize, u32, f32),
    ) {
        tick();
        let ArrayNode(mut place) = place;
        let mut base = self.nodes[place as usize].base;
        for (&byte, length) in text.iter().zip(1..) {
            let Some(next) = self.step(place, base, byte) else {
                return;
            };
            let node = &self.nodes[next as usize];
            if node.id != NO_TOKEN {
                found(length, node.id, node.score);
            }
            (place, base) = (next, node.base);
        }
    }

    /// Where `text` leads, if a token begins with it.
    pub fn place(&self, text: &[u8]) -> Option<ArrayNode> {
        let ArrayNode(root) = ArrayNode::ROOT;
        let place = text.iter().try_fold(root, |place, &byte| {
            self.step(place, self.nodes[place as usize].base, byte)
        });
        place.map(ArrayNode)
    }

    /// The node for `byte` after a node and its base.
    #[inline(always)]
    fn step(&self, place: u32, base: u32, byte: u8) -> Option<u32> {
        let next = base.wrapping_add(byte.into());
        let node = self.nodes.get(next as usize)?;
        (node.owner == place).then_some(next)
    }
}

/// Which places of a double array are taken.
struct Room {
    /// A bit for each place.
    taken: Vec<u64>,
    /// No place before this one is free.
    first_free: usize,
    /// Where the search for places for several nodes continues.
    tried: usize,
    /// All places from here on are free.
    end: usize,
}

impl Room {
    /// Takes places for the nodes of these bytes, and says what their base is. A single node fills
    /// the first gap; several are tried at some gaps only, so that each search is short.
    fn take(&mut self, bytes: &[u8]) -> u32 {
        let first = usize::from(bytes[0]);
        let places = |at: usize| (bytes.iter()).map(move |&byte| at + usize::from(byte) - first);
        let mut at;
        if bytes.len() == 1 {
            at = self.free_from(self.first_free);
            self.first_free = at;
        } else {
            at = self.free_from(self.tried.max(self.first_free));
            let mut tries = 0;
            while places(at).any(|place| self.is_taken(place)) {
                tries += 1;
                at = match tries {
                    GAPS_TRIED => self.end,
                    _ => self.free_from(at + 1),
                };
            }
            self.tried = at.min(self.end);
        }
        for place in places(at) {
            if place / 64 >= self.taken.len() {
                self.taken.resize(2 * (place / 64 + 1), 0);
            }
            self.taken[place / 64] |= 1 << (place % 64);
            self.end = self.end.max(place + 1);
        }
        (at as u32).wrapping_sub(first as u32)
    }

    fn is_taken(&self, place: usize) -> bool {
        (self.taken.get(place / 64)).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    /// The first free place from `at` on.
    fn free_from(&self, at: usize) -> usize {
        let mut word = at / 64;
        let mut free = !self.taken.get(word).copied().unwrap_or(0) & !0 << (at % 64);
        while free == 0 {
            word += 1;
            free = !self.taken.get(word).copied().unwrap_or(0);
        }
        word * 64 + free.trailing_zeros() as usize
    }
}

impl std::fmt::Debug for DoubleArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DoubleArray({} nodes)", self.nodes.len())
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn finds_what_the_trie_finds() {
        let mut numbers = ChaCha8Rng::seed_from_u64(5);
        for round in 0..200 {
            let kinds = [2, 5, 256][round % 3];
            let random = |numbers: &mut ChaCha8Rng, length: usize| -> Vec<u8> {
                (0..length)
                    .map(|_| (numbers.random_range(0..kinds) * 255 / (kinds - 1)) as u8)
                    .collect()
            };
            let pieces: Vec<Vec<u8>> = (0..numbers.random_range(1..400))
                .map(|_| {
                    let length = numbers.random_range(1..6);
                    random(&mut numbers, length)
                })
                .collect();
            let trie = Trie::new(pieces.iter().map(Vec::as_slice).zip(0..));
            let score = |id: u32| (!id.is_multiple_of(7)).then_some(id as f32);
            let array = DoubleArray::new(&trie, score);
            for _ in 0..100 {
                let text = random(&mut numbers, 8);
                let mut found = Vec::new();
                array.prefixes(&text, |length, id, score| {
                    assert_eq!(score, id as f32);
                    found.push((id, length));
                });
                let expected = trie.prefixes(trie.root(), &text);
                let expected: Vec<_> = expected.filter(|(id, _)| !id.is_multiple_of(7)).collect();
                assert_eq!(found, expected);
                let (front, rest) = text.split_at(1);
                let behind = trie.step(trie.root(), front[0]);
                let place = array.place(front);
                assert_eq!(place.is_some(), behind.is_some());
                let (Some(place), Some(behind)) = (place, behind) else {
                    continue;
                };
                found.clear();
                array.prefixes_behind(place, rest, |length, id, _| found.push((id, length)));
                let expected = trie.prefixes(behind, rest);
                let expected: Vec<_> = expected.filter(|(id, _)| !id.is_multiple_of(7)).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
