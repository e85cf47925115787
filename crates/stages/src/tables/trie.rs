//! A trie over byte strings: which tokens does this text begin with?
//!
//! Look here for the look-up behind WordPiece and Unigram. Children of a node are side by side,
//! sorted by byte, in one flat array; building is linear in the bytes of the tokens.

use crate::vocab::Vocab;
use jeton_text::interrupt::tick;

/// No token ends at this node.
const NO_TOKEN: u32 = u32::MAX;

/// A trie from byte strings to ids.
#[derive(Clone, Default)]
pub struct Trie {
    nodes: Vec<Node>,
    /// The byte that leads to each node from its parent.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Node {
    /// Its children are the nodes `first..first + count`.
    first: u32,
    count: u16,
    id: u32,
}

/// A place in a trie: what has been read so far is the beginning of some token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrieNode(u32);

impl Trie {
    /// The trie of these tokens; of two equal tokens one counts.
    pub fn new<'a>(tokens: impl IntoIterator<Item = (&'a [u8], u32)>) -> Self {
        let tokens: Vec<(&[u8], u32)> = tokens.into_iter().collect();
        let fronts = tokens.iter().map(|(token, _)| front(token));
        // The front of a token, and which it is: numbers are sorted sooner than what has to be
        // compared by parts.
        let mut sorted: Vec<u128> = fronts.zip(0..).map(|(front, at)| front | at).collect();
        sorted.sort_unstable();
        let token_of = |front: u128| tokens[front as u32 as usize];
        for alike in sorted.chunk_by_mut(|a, b| a >> u32::BITS == b >> u32::BITS) {
            alike.sort_unstable_by_key(|front| token_of(*front));
        }
        let token = |at: usize| token_of(sorted[at]);
        let byte = |at: usize, depth: usize| match depth {
            ..COMPARED_BYTES => sorted[at].to_be_bytes()[depth],
            _ => token(at).0[depth],
        };
        // How many bytes each token begins with that the one before begins with too.
        let shared: Vec<u32> = (0..tokens.len())
            .map(|at| match at {
                0 => 0,
                _ => shared([at - 1, at].map(|at| (sorted[at], token(at).0))),
            })
            .collect();
        let mut trie = Self {
            nodes: Vec::with_capacity(4 * tokens.len() + 1),
            bytes: Vec::with_capacity(4 * tokens.len() + 1),
        };
        trie.push(0);
        // Breadth first, so that the children of each node are made together. Each entry is a
        // node, the tokens below it, and how many bytes lead to it.
        let mut queue = std::collections::VecDeque::from([(0, 0..tokens.len(), 0)]);
        while let Some((node, mut below, depth)) = queue.pop_front() {
            if below.len() == 1 {
                let (token, id) = token(below.start);
                trie.grow(node, &token[depth..], id);
                continue;
            }
            while below.start < below.end {
                let (token, id) = token(below.start);
                if token.len() > depth {
                    break;
                }
                trie.nodes[node].id = id;
                below.start += 1;
            }
            trie.nodes[node].first = trie.nodes.len() as u32;
            while below.start < below.end {
                let others = &shared[below.start + 1..below.end];
                let alike = others.iter().position(|shared| *shared as usize == depth);
                let end = alike.map_or(below.end, |alike| below.start + 1 + alike);
                trie.nodes[node].count += 1;
                queue.push_back((trie.nodes.len(), below.start..end, depth + 1));
                trie.push(byte(below.start, depth));
                below.start = end;
            }
        }
        trie
    }

    /// A new node without children, which this byte leads to.
    fn push(&mut self, byte: u8) {
        self.nodes.push(Node {
            first: 0,
            count: 0,
            id: NO_TOKEN,
        });
        self.bytes.push(byte);
    }

    /// Takes in the only token below a node, these bytes from there.
    fn grow(&mut self, mut node: usize, bytes: &[u8], id: u32) {
        for &byte in bytes {
            let child = self.nodes.len();
            self.push(byte);
            (self.nodes[node].first, self.nodes[node].count) = (child as u32, 1);
            node = child;
        }
        self.nodes[node].id = id;
    }

    /// Withholds these tokens of the vocabulary that the trie was made of, and no others, in both.
    pub fn withhold(&mut self, vocab: &mut Vocab, ids: &[u32]) {
        self.put_back(vocab, &vocab.withheld().ids());
        vocab.withhold(ids);
        self.take_out(vocab, &vocab.withheld().ids());
    }

    /// Takes out these tokens of `vocab`, which the trie was made of.
    pub fn take_out(&mut self, vocab: &Vocab, ids: &[u32]) {
        for &id in ids {
            self.replace(vocab, id, id, NO_TOKEN);
        }
    }

    /// Puts back the tokens that [`Self::take_out`] took out.
    pub fn put_back(&mut self, vocab: &Vocab, ids: &[u32]) {
        // Of two equal tokens the later one counts.
        for &id in ids.iter().rev() {
            self.replace(vocab, id, NO_TOKEN, id);
        }
    }

    /// Where the token of an id ends, `new` takes the place of `old`.
    fn replace(&mut self, vocab: &Vocab, id: u32, old: u32, new: u32) {
        let mut bytes = vocab.token(id).unwrap_or_default().iter();
        let end = bytes.try_fold(self.root(), |place, byte| self.step(place, *byte));
        let node = end.map(|TrieNode(node)| &mut self.nodes[node as usize].id);
        if let Some(id) = node.filter(|id| **id == old) {
            *id = new;
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, each before its children: the token that ends there, the number of its first
    /// child, which the others follow, and the bytes that lead to them, sorted.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (Option<u32>, usize, &[u8])> {
        self.nodes.iter().map(|node| {
            let id = (node.id != NO_TOKEN).then_some(node.id);
            let first = node.first as usize;
            (
                id,
                first,
                &self.bytes[first..first + usize::from(node.count)],
            )
        })
    }

    /// Before the first byte.
    pub fn root(&self) -> TrieNode {
        TrieNode(0)
    }

    /// One byte on, if a token continues with it.
    pub fn step(&self, place: TrieNode, byte: u8) -> Option<TrieNode> {
        let Node { first, count, .. } = *self.nodes.get(place.0 as usize)?;
        let children = &self.bytes[first as usize..first as usize + usize::from(count)];
        let child = match count {
            256 => usize::from(byte),
            ..=8 => children.iter().position(|&other| other == byte)?,
            _ => children.binary_search(&byte).ok()?,
        };
        Some(TrieNode(first + child as u32))
    }

    /// The token that ends here.
    pub(crate) fn id(&self, place: TrieNode) -> Option<u32> {
        let id = self.nodes.get(place.0 as usize)?.id;
        (id != NO_TOKEN).then_some(id)
    }

    /// The tokens that continue from `place` with a beginning of `text`: their ids and how many
    /// bytes of `text` they took, shortest first.
    pub fn prefixes(&self, place: TrieNode, text: &[u8]) -> impl Iterator<Item = (u32, usize)> {
        tick();
        let mut bytes = text.iter().zip(1..);
        let mut place = Some(place);
        std::iter::from_fn(move || {
            loop {
                let (&byte, length) = bytes.next()?;
                place = self.step(place?, byte);
                if let Some(id) = self.id(place?) {
                    return Some((id, length));
                }
            }
        })
    }
}

/// Bytes of a token that are compared at once.
const COMPARED_BYTES: usize = 12;

/// The first bytes of a token, in the upper bits: tokens with other fronts are in their order.
fn front(token: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let length = token.len().min(COMPARED_BYTES);
    bytes[..length].copy_from_slice(&token[..length]);
    u128::from_be_bytes(bytes)
}

/// With how many bytes two tokens begin alike, each given with its front.
fn shared([(front, token), (other_front, other)]: [(u128, &[u8]); 2]) -> u32 {
    let most = token.len().min(other.len());
    let alike = match (front ^ other_front).leading_zeros() as usize / 8 {
        COMPARED_BYTES.. => (token.iter().zip(other))
            .take_while(|(a, b)| a == b)
            .count(),
        alike => alike,
    };
    alike.min(most) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_come_shortest_first() {
        let all: Vec<[u8; 1]> = (0..=u8::MAX).map(|byte| [byte]).collect();
        let bytes = all.iter().map(|byte| byte.as_slice()).zip(10..);
        let words = [("ab", 1), ("abcd", 2), ("b", 99), ("", 3)];
        let words = words.iter().map(|(word, id)| (word.as_bytes(), *id));
        let trie = Trie::new(bytes.filter(|(byte, _)| *byte != b"b").chain(words));
        let found: Vec<_> = trie.prefixes(trie.root(), b"abcde").collect();
        assert_eq!(found, [(107, 1), (1, 2), (2, 4)]);
        let found: Vec<_> = trie.prefixes(trie.root(), b"bc").collect();
        assert_eq!(found, [(99, 1)]);
        assert_eq!(trie.id(trie.root()), Some(3));
        assert_eq!(trie.prefixes(trie.root(), b"").count(), 0);
        let long = b"a token of more than sixteen bytes";
        let cuts = [long.len(), 16, 17, 20, 15].into_iter().zip(0..);
        let odd: [(&[u8], u32); 3] = [(b"a\0", 7), (b"a", 6), (b"a\0\0b", 8)];
        let trie = Trie::new(cuts.map(|(end, id)| (&long[..end], id)).chain(odd));
        let found: Vec<_> = trie.prefixes(trie.root(), long).collect();
        assert_eq!(found, [(6, 1), (4, 15), (1, 16), (2, 17), (3, 20), (0, 34)]);
        let found: Vec<_> = trie.prefixes(trie.root(), b"a\0\0bc").collect();
        assert_eq!(found, [(6, 1), (7, 2), (8, 4)]);
        let empty = Trie::new([]);
        assert_eq!(empty.prefixes(empty.root(), b"a").count(), 0);
    }
}
