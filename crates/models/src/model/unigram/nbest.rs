//! The best segmentations of a text under a Unigram model, best first.
//!
//! By definition: all paths through the lattice of tokens, by the sum of their scores. A path is the
//! best path plus detours: at the end of a detour it arrives by another token than the best path to
//! there does, which costs the difference of the sums. So each path but the best is another path plus one
//! detour, in front of that path's detours, and they leave a queue in the order of their costs.
//!
//! SentencePiece's own search (`sentencepiece/nbest.rs`) differs: it adds scores in 32 bits, and the
//! order among equals and where it gives up are part of what such a model means. Heaps of detours that
//! neighbouring places share (Eppstein, "Finding the k Shortest Paths", 1998) were here before. They take less
//! time per path, but each path has to be written out anyway, which takes as long as finding it this way.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Unigram;
use crate::model::Token;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{filled, paced, tick};

/// A part of a text: what the model splits into tokens, or a token that is there already.
pub enum LatticePart<'t> {
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

/// The lattice of a text.
struct Lattice {
    edges: Vec<Edge>,
    /// The last edge of the best path to each place.
    best: Vec<Option<u32>>,
    /// The other edges that end at each place, with what they cost.
    detours: Vec<Vec<(u32, f64)>>,
}

/// A path: what it costs beyond the best one, its first detour, and the path that has the others.
struct Path {
    cost: f64,
    number: usize,
    detour: Option<u32>,
    others: Option<usize>,
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
    pub fn n_best(&self, parts: &[LatticePart<'_>], size: usize) -> Result<Vec<(Vec<u32>, f64)>> {
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

    fn lattice(&self, parts: &[LatticePart<'_>]) -> Result<Lattice> {
        let size = |part: &LatticePart<'_>| match part {
            LatticePart::Text(text) => text.len(),
            LatticePart::Token(_) => 1,
        };
        let places = parts.iter().map(size).sum::<usize>() + 1;
        if u32::try_from(places).is_err() {
            let message = "a text of 4 GiB or more has too many segmentations";
            return Err(Error::new(ErrorKind::Unsupported, message).hint("split the text"));
        }
        let mut lattice = Lattice {
            edges: Vec::new(),
            best: filled(None, places),
            detours: filled(Vec::new(), places),
        };
        let mut sums = filled(0.0, places);
        let mut before = 0;
        for part in parts {
            let first = lattice.edges.len();
            match part {
                LatticePart::Token(id) => lattice.edge(before, 1, Some(*id), 0.0, &mut sums),
                LatticePart::Text(text) => {
                    // Says what is wrong with text that no token covers.
                    self.best_path(text, &mut ())?;
                    self.edges_of(text, |start, length, id, score| {
                        lattice.edge(before + start, length, id, score, &mut sums);
                    });
                }
            }
            lattice.find_detours(first, &sums);
            before += size(part);
        }
        Ok(lattice)
    }

    /// Gives all tokens of a piece, by where they begin: its start, its length, its id and its score.
    fn edges_of(&self, text: &str, mut edge: impl FnMut(usize, usize, Option<u32>, f64)) {
        for (start, character) in text.char_indices() {
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
    fn ids_of(&self, parts: &[LatticePart<'_>], path: &[Edge]) -> Result<Vec<u32>> {
        let mut ids = Vec::with_capacity(path.len());
        let mut tokens: Vec<Token> = Vec::new();
        let mut steps = Vec::new();
        let mut path = path.iter().peekable();
        let mut before = 0;
        for part in parts {
            match part {
                LatticePart::Token(id) => {
                    path.next();
                    ids.push(*id);
                    before += 1;
                }
                LatticePart::Text(text) => {
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

/// Paths that are looked at, at most, for each one that is requested: two may give the same ids.
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

    /// Finds the detours among the edges from number `first` on, after all that lead to their ends are there.
    fn find_detours(&mut self, first: usize, sums: &[f64]) {
        for (number, edge) in paced(self.edges.iter().enumerate().skip(first)) {
            let end = edge.end as usize;
            if self.best[end] != Some(number as u32) {
                let cost = sums[end] - (sums[edge.start as usize] + edge.score);
                self.detours[end].push((number as u32, cost));
            }
        }
    }

    /// The paths, best first, at most `most`.
    fn paths(&self, most: usize) -> impl Iterator<Item = Vec<Edge>> {
        let mut waiting = BinaryHeap::from([Path {
            cost: 0.0,
            number: 0,
            detour: None,
            others: None,
        }]);
        let mut number = 0;
        // Costlier paths are not among the `most` best.
        let mut limit = f64::INFINITY;
        // The first detour of each path that was found, and the path that has the others.
        let mut found: Vec<(Option<u32>, Option<usize>)> = Vec::new();
        let paths = std::iter::from_fn(move || {
            let path = waiting.pop()?;
            let here = found.len();
            found.push((path.detour, path.others));
            let mut place = path.detour.map_or(self.best.len() - 1, |edge| {
                self.edges[edge as usize].start as usize
            });
            while let Some(best) = self.best[place] {
                tick();
                for &(edge, cost) in &self.detours[place] {
                    let cost = path.cost + cost;
                    if cost < limit {
                        number += 1;
                        waiting.push(Path {
                            cost,
                            number,
                            detour: Some(edge),
                            others: Some(here),
                        });
                    }
                }
                if waiting.len() / 2 > most {
                    let mut sorted = std::mem::take(&mut waiting).into_sorted_vec();
                    waiting = sorted.split_off(sorted.len() - most).into();
                    limit = sorted.last().map_or(limit, |worst| worst.cost);
                }
                place = self.edges[best as usize].start as usize;
            }
            let mut detours = Vec::new();
            let mut next = Some(here);
            while let Some((detour, others)) = next.map(|at| found[at]) {
                detours.extend(detour);
                next = others;
            }
            detours.reverse();
            Some(self.path(&detours))
        });
        paths.take(most)
    }

    /// The path with these detours, the one nearest to the end first.
    fn path(&self, detours: &[u32]) -> Vec<Edge> {
        let mut path = Vec::new();
        let mut detours = detours.iter().peekable();
        let mut place = self.best.len() - 1;
        while let Some(best) = self.best[place] {
            tick();
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
    fn the_segmentations_are_the_best_of_all() {
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
            model.tokenize(&text, &mut tokens, &mut ()).unwrap();
            let best: Vec<u32> = tokens.iter().map(|token| token.id).collect();
            for size in [1, 2, 7, 512] {
                let found = model.n_best(&[LatticePart::Text(&text)], size).unwrap();
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
        let parts = [
            LatticePart::Text("aa"),
            LatticePart::Token(9),
            LatticePart::Text("aa"),
        ];
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
        let found = model.n_best(&[LatticePart::Text(&text)], 64).unwrap();
        assert_eq!(found.len(), 64);
        assert!(found.iter().all(|(_, score)| *score == -20_000.0));
    }
}
