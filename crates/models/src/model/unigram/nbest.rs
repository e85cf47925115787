//! The best segmentations of a text under a Unigram model, best first.
//!
//! By definition: all paths through the lattice of tokens, by the sum of their scores. A path is the
//! best one but for detours: at the end of a detour it comes by another token than the best path to
//! there does, which costs what the sums differ by. Each place of the text has a heap of the detours
//! that may be taken on the best path up to there, which shares all but a few nodes with the heap of
//! the place before; so a path more costs about the logarithm of the text's length, and as much
//! again to be written out.
//!
//! Source: Eppstein, "Finding the k Shortest Paths", 1998.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Unigram;
use crate::model::Token;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{Pace, paced};

/// A part of a text: what the model cuts into tokens, or a token that is there already.
pub enum Part<'t> {
    /// A piece.
    Text(&'t str),
    /// An added token.
    Token(u32),
}

/// A token between two places of the text; the places of all parts are counted through.
#[derive(Clone, Copy)]
struct Edge {
    start: u32,
    end: u32,
    /// `None` for an unknown character.
    id: Option<u32>,
    score: f64,
}

/// A node of the heaps: an edge off the best path, and two heaps of costlier ones.
#[derive(Clone, Copy)]
struct Detour {
    cost: f64,
    edge: u32,
    children: [Option<u32>; 2],
    /// The number of nodes on the way to the nearest missing child.
    rank: u32,
}

/// The lattice of a text.
struct Lattice {
    edges: Vec<Edge>,
    /// The last edge of the best path to each place.
    best: Vec<Option<u32>>,
    detours: Vec<Detour>,
    /// The heap of each place.
    heaps: Vec<Option<u32>>,
}

/// A path: what it costs beyond the best one, its last detour, and the path that is left there.
struct Path {
    cost: f64,
    number: usize,
    detour: u32,
    before: Option<usize>,
}

impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        let costs = other.cost.total_cmp(&self.cost);
        costs.then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Path {}

impl Unigram {
    /// The ids of the `size` best segmentations of these parts, best first, each with its score.
    /// The first is that of `Unigram::tokenize`. Two that give the same ids count as one.
    pub fn n_best(&self, parts: &[Part<'_>], size: usize) -> Result<Vec<(Vec<u32>, f64)>> {
        let lattice = self.lattice(parts)?;
        let mut found: Vec<(Vec<u32>, f64)> = Vec::new();
        let hasher = FixedState::default();
        let mut seen: HashMap<u64, Vec<usize>, FixedState> = HashMap::default();
        for path in lattice.paths(size.saturating_mul(PATHS_PER_RESULT)) {
            let score = path.iter().map(|edge| edge.score).sum();
            let ids = self.ids_of(parts, &path)?;
            let alike = seen.entry(hasher.hash_one(&ids)).or_default();
            if !alike.iter().any(|&at| found[at].0 == ids) {
                alike.push(found.len());
                found.push((ids, score));
            }
            if found.len() == size {
                break;
            }
        }
        Ok(found)
    }

    fn lattice(&self, parts: &[Part<'_>]) -> Result<Lattice> {
        let size = |part: &Part<'_>| match part {
            Part::Text(text) => text.len(),
            Part::Token(_) => 1,
        };
        let places = parts.iter().map(size).sum::<usize>() + 1;
        if u32::try_from(places).is_err() {
            let message = "a text of 4 GiB or more has too many segmentations";
            return Err(Error::new(ErrorKind::Unsupported, message).hint("cut the text"));
        }
        let mut lattice = Lattice {
            edges: Vec::new(),
            best: vec![None; places],
            detours: Vec::new(),
            heaps: vec![None; places],
        };
        let mut sums = vec![0.0; places];
        let mut before = 0;
        for part in parts {
            let first = lattice.edges.len();
            match part {
                Part::Token(id) => lattice.edge(before, 1, Some(*id), 0.0, &mut sums),
                Part::Text(text) => {
                    // Says what is wrong with text that no token covers.
                    self.best_path(text)?;
                    self.edges_of(text, |start, length, id, score| {
                        lattice.edge(before + start, length, id, score, &mut sums);
                    });
                }
            }
            lattice.make_heaps(first, &sums);
            before += size(part);
        }
        Ok(lattice)
    }

    /// Gives all tokens of a piece, by where they begin: its start, its length, its id and its score.
    fn edges_of(&self, text: &str, mut edge: impl FnMut(usize, usize, Option<u32>, f64)) {
        for (start, character) in paced(text.char_indices()) {
            let mut known = false;
            let rest = &text.as_bytes()[start..];
            for (id, length) in self.trie.prefixes(self.trie.root(), rest) {
                edge(start, length, Some(id), self.scores()[id as usize]);
                known |= length == character.len_utf8();
            }
            if !known && self.unk_id().is_some() {
                edge(start, character.len_utf8(), None, self.unk_score);
            }
        }
    }

    /// The ids of a path.
    fn ids_of(&self, parts: &[Part<'_>], path: &[Edge]) -> Result<Vec<u32>> {
        let mut ids = Vec::with_capacity(path.len());
        let mut tokens: Vec<Token> = Vec::new();
        let mut steps = Vec::new();
        let mut path = paced(path.iter()).peekable();
        let mut before = 0;
        for part in parts {
            match part {
                Part::Token(id) => {
                    path.next();
                    ids.push(*id);
                    before += 1;
                }
                Part::Text(text) => {
                    let end = before + text.len();
                    steps.clear();
                    while let Some(edge) = path.next_if(|edge| edge.end as usize <= end) {
                        let id = edge.id.or(self.unk_id()).unwrap_or_default();
                        steps.push((edge.end as usize - before, id));
                    }
                    tokens.clear();
                    self.emit(text, &steps, &mut tokens)?;
                    ids.extend(tokens.iter().map(|token| token.id));
                    before = end;
                }
            }
        }
        Ok(ids)
    }
}

/// Paths that are looked at, at most, for each one that is asked for: two may give the same ids.
const PATHS_PER_RESULT: usize = 8;

impl Lattice {
    /// Adds an edge; of two equally good ways to a place the first stays the best.
    fn edge(&mut self, start: usize, length: usize, id: Option<u32>, score: f64, sums: &mut [f64]) {
        let end = start + length;
        let sum = sums[start] + score;
        if self.best[end].is_none() || sum > sums[end] {
            self.best[end] = Some(self.edges.len() as u32);
            sums[end] = sum;
        }
        self.edges.push(Edge {
            start: start as u32,
            end: end as u32,
            id,
            score,
        });
    }

    /// Makes the heaps of the places that the edges from number `first` on end at.
    fn make_heaps(&mut self, first: usize, sums: &[f64]) {
        let mut by_end: Vec<u32> = (first as u32..self.edges.len() as u32).collect();
        by_end.sort_by_key(|&edge| self.edges[edge as usize].end);
        for edge in paced(by_end.into_iter()) {
            let Edge {
                start, end, score, ..
            } = self.edges[edge as usize];
            let (start, end) = (start as usize, end as usize);
            let Some(best) = self.best[end] else { continue };
            // The first edge that ends here finds the heap of the place before.
            let heap = match self.heaps[end] {
                Some(heap) => Some(heap),
                None => self.heaps[self.edges[best as usize].start as usize],
            };
            self.heaps[end] = if edge == best {
                heap
            } else {
                Some(self.insert(heap, sums[end] - (sums[start] + score), edge))
            };
        }
    }

    /// The heap with one detour more; the old one stays as it is.
    fn insert(&mut self, heap: Option<u32>, cost: f64, edge: u32) -> u32 {
        let new = |children, rank| Detour {
            cost,
            edge,
            children,
            rank,
        };
        let node = match heap.map(|at| self.detours[at as usize]) {
            None => new([None, None], 1),
            Some(root) if cost < root.cost => new([heap, None], 1),
            Some(root) => {
                let right = self.insert(root.children[1], cost, edge);
                let mut children = [root.children[0], Some(right)];
                children.sort_by_key(|child| std::cmp::Reverse(self.rank(*child)));
                Detour {
                    children,
                    rank: self.rank(children[1]) + 1,
                    ..root
                }
            }
        };
        self.detours.push(node);
        self.detours.len() as u32 - 1
    }

    fn rank(&self, heap: Option<u32>) -> u32 {
        heap.map_or(0, |at| self.detours[at as usize].rank)
    }

    /// The paths, best first, at most `most`.
    fn paths(&self, most: usize) -> impl Iterator<Item = Vec<Edge>> {
        let mut waiting = BinaryHeap::new();
        let mut number = 0;
        let mut offer = move |waiting: &mut BinaryHeap<Path>, cost, detour, before| {
            if let Some(detour) = detour {
                let cost = cost + self.detours[detour as usize].cost;
                number += 1;
                waiting.push(Path {
                    cost,
                    number,
                    detour,
                    before,
                });
            }
        };
        let last = self.heaps.len() - 1;
        offer(&mut waiting, 0.0, self.heaps[last], None);
        // The last detour of each path that was given, and the path that is left there.
        let mut given: Vec<(u32, Option<usize>)> = Vec::new();
        let mut pace = Pace::default();
        let detoured = std::iter::from_fn(move || {
            let Path {
                cost,
                detour,
                before,
                ..
            } = waiting.pop()?;
            let here = given.len();
            given.push((detour, before));
            let Detour {
                cost: own,
                edge,
                children,
                ..
            } = self.detours[detour as usize];
            let without = cost - own;
            for child in children {
                offer(&mut waiting, without, child, before);
            }
            let start = self.edges[edge as usize].start as usize;
            offer(&mut waiting, cost, self.heaps[start], Some(here));
            let mut detours = Vec::new();
            let mut next = Some(here);
            while let Some((detour, before)) = next.map(|at| given[at]) {
                pace.step();
                detours.push(self.detours[detour as usize].edge);
                next = before;
            }
            detours.reverse();
            Some(self.path(&detours))
        });
        std::iter::once_with(|| self.path(&[]))
            .chain(detoured)
            .take(most)
    }

    /// The path with these detours, the one nearest to the end first.
    fn path(&self, detours: &[u32]) -> Vec<Edge> {
        let mut path = Vec::new();
        let mut detours = detours.iter().peekable();
        let mut place = self.best.len() - 1;
        let mut pace = Pace::default();
        while let Some(best) = self.best[place] {
            pace.step();
            let here = |edge: &&u32| self.edges[**edge as usize].end as usize == place;
            let edge = detours.next_if(here).copied().unwrap_or(best);
            let edge = self.edges[edge as usize];
            place = edge.start as usize;
            path.push(edge);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// All segmentations of the text, with their scores.
    fn all(model: &Unigram, text: &str) -> Vec<(Vec<u32>, f64)> {
        let mut edges = Vec::new();
        model.edges_of(text, |start, length, id, score| {
            edges.push((start, start + length, id, score));
        });
        let mut paths = vec![(0, Vec::new(), 0.0)];
        let mut whole: Vec<(Vec<u32>, f64)> = Vec::new();
        while let Some((at, path, score)) = paths.pop() {
            if at == text.len() {
                let mut tokens = Vec::new();
                model.emit(text, &path, &mut tokens).unwrap();
                let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
                match whole.iter_mut().find(|(other, _)| *other == ids) {
                    Some((_, best)) => *best = best.max(score),
                    None => whole.push((ids, score)),
                }
                continue;
            }
            for &(_, end, id, own) in edges.iter().filter(|edge| edge.0 == at) {
                let id = id.or(model.unk_id()).unwrap();
                let mut path: Vec<(usize, u32)> = path.clone();
                path.push((end, id));
                paths.push((end, path, score + own));
            }
        }
        whole.sort_by(|a, b| b.1.total_cmp(&a.1));
        whole
    }

    #[test]
    fn they_are_the_best_of_all() {
        let mut numbers = ChaCha8Rng::seed_from_u64(5);
        let tokens = ["a", "b", "ab", "ba", "aba", "bab", "aa", "bb", "abab", "c"];
        for round in 0..200 {
            let own = tokens
                .into_iter()
                .filter(|token| token.len() > 1 || round % 3 > 0);
            let scored = own.map(|token| {
                let score = f64::from(numbers.random_range(-40i32..-1));
                (token, score / 8.0)
            });
            let pieces: Vec<(&str, f64)> = [("<unk>", 0.0)].into_iter().chain(scored).collect();
            let model = Unigram::new(pieces, Some(0), false).unwrap();
            let length = numbers.random_range(0..9);
            let text: String = (0..length)
                .map(|_| ['a', 'b', 'x'][numbers.random_range(0..3)])
                .collect();
            let expected = all(&model, &text);
            let mut tokens = Vec::new();
            model.tokenize(&text, &mut tokens).unwrap();
            let best: Vec<u32> = tokens.iter().map(|token| token.id).collect();
            for size in [1, 2, 7, 512] {
                let found = model.n_best(&[Part::Text(&text)], size).unwrap();
                assert_eq!(found.len(), size.min(expected.len()), "{text} {size}");
                assert_eq!(found[0].0, best, "{text}");
                for ((ids, score), (_, other)) in found.iter().zip(&expected) {
                    assert!((score - other).abs() < 1e-9, "{text}: {ids:?}");
                    assert!(expected.iter().any(|(known, _)| known == ids));
                }
            }
        }
    }

    #[test]
    fn parts_are_cut_by_themselves() {
        let pieces = [("<unk>", 0.0), ("a", -2.0), ("aa", -3.0)];
        let model = Unigram::new(pieces, Some(0), false).unwrap();
        let parts = [Part::Text("aa"), Part::Token(9), Part::Text("aa")];
        let found = model.n_best(&parts, 9).unwrap();
        let ids: Vec<&[u32]> = found.iter().map(|(ids, _)| ids.as_slice()).collect();
        let all: [&[u32]; 4] = [&[2, 9, 2], &[2, 9, 1, 1], &[1, 1, 9, 2], &[1, 1, 9, 1, 1]];
        assert_eq!(ids.len(), 4);
        assert!(all.iter().all(|one| ids.contains(one)));
        assert_eq!((ids[0], ids[3]), (all[0], all[3]));
        assert_eq!(model.n_best(&[], 3).unwrap(), [(Vec::new(), 0.0)]);
    }

    #[test]
    fn a_long_text_with_many_equals_takes_no_quadratic_time() {
        let pieces = [("<unk>", 0.0), ("a", -1.0), ("aa", -2.0), ("aaaa", -4.0)];
        let model = Unigram::new(pieces, Some(0), false).unwrap();
        let text = "a".repeat(20_000);
        let found = model.n_best(&[Part::Text(&text)], 64).unwrap();
        assert_eq!(found.len(), 64);
        assert!(found.iter().all(|(_, score)| *score == -20_000.0));
    }
}
