//! A trie over byte strings: which tokens does this text begin with?
//!
//! Look here for the look-up behind WordPiece and Unigram. Children of a node lie side by side,
//! sorted by byte, in one flat array; building is linear in the bytes of the tokens.

/// No token ends at this node.
const NO_TOKEN: u32 = u32::MAX;

/// A trie from byte strings to ids.
#[derive(Clone, Default)]
pub(crate) struct Trie {
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
pub(crate) struct Place(u32);

impl Trie {
    /// The trie of these tokens; of two equal tokens one counts.
    pub(crate) fn new<'a>(tokens: impl IntoIterator<Item = (&'a [u8], u32)>) -> Self {
        let tokens = tokens.into_iter();
        let mut tokens: Vec<_> = tokens
            .map(|(token, id)| (front(token), token, id))
            .collect();
        tokens.sort_unstable();
        let mut trie = Self {
            nodes: Vec::with_capacity(4 * tokens.len() + 1),
            bytes: Vec::with_capacity(4 * tokens.len() + 1),
        };
        trie.push(0);
        // Breadth first, so that the children of each node are made together. Each entry is a
        // node, the tokens below it, and how many bytes lead to it.
        let mut queue = std::collections::VecDeque::from([(0, tokens.as_slice(), 0)]);
        while let Some((node, mut below, depth)) = queue.pop_front() {
            if let [(_, token, id)] = below {
                trie.grow(node, &token[depth..], *id);
                continue;
            }
            while let Some((&(_, token, id), rest)) = below.split_first() {
                if token.len() > depth {
                    break;
                }
                trie.nodes[node].id = id;
                below = rest;
            }
            trie.nodes[node].first = trie.nodes.len() as u32;
            for group in below.chunk_by(|(_, a, _), (_, b, _)| a[depth] == b[depth]) {
                trie.nodes[node].count += 1;
                queue.push_back((trie.nodes.len(), group, depth + 1));
                trie.push(group[0].1[depth]);
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
    pub(crate) fn root(&self) -> Place {
        Place(0)
    }

    /// One byte on, if a token goes on with it.
    pub(crate) fn step(&self, place: Place, byte: u8) -> Option<Place> {
        let Node { first, count, .. } = *self.nodes.get(place.0 as usize)?;
        let children = &self.bytes[first as usize..first as usize + usize::from(count)];
        let child = match count {
            256 => usize::from(byte),
            ..=8 => children.iter().position(|&other| other == byte)?,
            _ => children.binary_search(&byte).ok()?,
        };
        Some(Place(first + child as u32))
    }

    /// The token that ends here.
    pub(crate) fn id(&self, place: Place) -> Option<u32> {
        let id = self.nodes.get(place.0 as usize)?.id;
        (id != NO_TOKEN).then_some(id)
    }

    /// The tokens that go on from `place` with a beginning of `text`: their ids and how many
    /// bytes of `text` they took, shortest first.
    pub(crate) fn prefixes(&self, place: Place, text: &[u8]) -> impl Iterator<Item = (u32, usize)> {
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

/// The first bytes of a token as a number: tokens with other numbers are in their order.
fn front(token: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = token.len().min(8);
    bytes[..length].copy_from_slice(&token[..length]);
    u64::from_be_bytes(bytes)
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
        let empty = Trie::new([]);
        assert_eq!(empty.prefixes(empty.root(), b"a").count(), 0);
    }
}
