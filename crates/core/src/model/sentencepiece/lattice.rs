//! All segmentations of a text at once: the n best of them, and one drawn at random.
//!
//! Look here for sampling and n-best; the single best segmentation needs no lattice, and what is drawn
//! with its probability is in [`super::drawing`].
//!
//! Sources: Kudo, "Subword Regularization", 2018; Nagata, "A Stochastic Japanese Morphological
//! Analyzer Using a Forward-DP Backward-A* N-Best Search Algorithm", 1994.

use std::ops::Range;

use super::drawing::Weighted;
use super::{Segment, SentencePiece};
use crate::interrupt::{Pace, paced};
use crate::model::Sampler;
use crate::model::sentencepiece::spec::PieceKind;

/// A piece at a place of the text.
pub(super) struct Node {
    pub start: usize,
    end: usize,
    /// Unset for an unknown character.
    id: Option<u32>,
    pub score: f32,
}

/// The pieces that cover a text, by where they end.
pub(super) struct Lattice {
    pub nodes: Vec<Node>,
    /// For each byte, the nodes that end there, the longest first.
    pub ending_at: Vec<Vec<usize>>,
}

/// The most segmentations that are ever searched for.
pub const MOST_PATHS: usize = 512;

/// The search keeps this many hypotheses when it has grown to `AGENDA_LIMIT`, and gives up when it
/// has done so `MOST_SHRINKS` times. The numbers are SentencePiece's: they are part of the meaning.
const AGENDA_KEPT: usize = 512;
const AGENDA_LIMIT: usize = 10_000;
const MOST_SHRINKS: usize = 10;

impl Lattice {
    pub fn new(model: &SentencePiece, text: &str) -> Self {
        let mut lattice = Self {
            nodes: Vec::new(),
            ending_at: vec![Vec::new(); text.len() + 1],
        };
        for (start, character) in paced(text.char_indices()) {
            let mut covered = false;
            let rest = &text.as_bytes()[start..];
            for (id, length) in model.trie.prefixes(model.trie.root(), rest) {
                if model.kind(id) == PieceKind::Unused {
                    continue;
                }
                covered |= length == character.len_utf8();
                lattice.insert(model, text, (start..start + length, Some(id)));
            }
            if !covered {
                lattice.insert(model, text, (start..start + character.len_utf8(), None));
            }
        }
        lattice
    }

    fn insert(&mut self, model: &SentencePiece, text: &str, segment: Segment) {
        let score = model.segment_score(text, &segment);
        let (Range { start, end }, id) = segment;
        self.ending_at[end].push(self.nodes.len());
        self.nodes.push(Node {
            start,
            end,
            id,
            score,
        });
    }

    pub fn segment(&self, node: usize) -> Segment {
        let Node { start, end, id, .. } = self.nodes[node];
        (start..end, id)
    }

    /// For each node, the best score of a path from the front that ends with it.
    fn best_scores(&self) -> Vec<f32> {
        let mut best_at = vec![f32::NEG_INFINITY; self.ending_at.len()];
        best_at[0] = 0.0;
        let mut scores = Vec::with_capacity(self.nodes.len());
        // Nodes are in the order of where they begin, so all that end there came before.
        for node in paced(self.nodes.iter()) {
            let score = best_at[node.start] + node.score;
            best_at[node.end] = best_at[node.end].max(score);
            scores.push(score);
        }
        scores
    }

    /// The best path and its score: of equals, the one whose last piece is the longest.
    fn best_path(&self, best_scores: &[f32]) -> (Vec<Segment>, f32) {
        let mut path = Vec::new();
        let mut best = 0.0;
        let mut end = self.ending_at.len() - 1;
        while end > 0 {
            let mut nodes = self.ending_at[end].iter().copied();
            let Some(first) = nodes.next() else { break };
            let node = nodes.fold(first, |best, node| {
                match best_scores[node] > best_scores[best] {
                    true => node,
                    false => best,
                }
            });
            if path.is_empty() {
                best = best_scores[node];
            }
            path.push(self.segment(node));
            end = self.nodes[node].start;
        }
        path.reverse();
        (path, best)
    }
}

/// A path from the end of the text back to a node.
#[derive(Clone, Copy)]
struct Hypothesis {
    /// The node, or the front of the text.
    node: Option<usize>,
    /// Where the rest of the path begins.
    start: usize,
    /// The path after this node.
    next: Option<usize>,
    /// The score of the path, plus the best score from its front to the front of the text.
    estimate: f32,
    /// The score of the path.
    score: f32,
}

impl SentencePiece {
    /// What a segment adds to the score of a path through the lattice.
    fn segment_score(&self, text: &str, (range, id): &Segment) -> f32 {
        match id {
            None => self.unk_score(),
            Some(id) if self.kind(*id) == PieceKind::UserDefined => {
                Self::bonus(text[range.clone()].chars().count())
            }
            Some(id) => self.score(*id),
        }
    }

    /// The `size` best segmentations, best first, with their scores; only the very best where the
    /// search for more takes too long.
    pub(crate) fn best_paths(&self, text: &str, size: usize) -> Vec<(Vec<Segment>, f32)> {
        let size = size.clamp(1, MOST_PATHS);
        if size == 1 || text.is_empty() {
            let path = self.best_path(text);
            let score = path
                .iter()
                .fold(0.0, |sum, segment| sum + self.segment_score(text, segment));
            return vec![(path, score)];
        }
        let lattice = Lattice::new(self, text);
        let best_scores = lattice.best_scores();
        let (best_path, best) = lattice.best_path(&best_scores);
        let mut hypotheses = vec![Hypothesis {
            node: None,
            start: text.len(),
            next: None,
            estimate: best,
            score: 0.0,
        }];
        let mut agenda = Agenda::default();
        agenda.push(best, 0);
        let mut paths = Vec::new();
        let mut shrinks = 0;
        let mut pace = Pace::default();
        while let Some(top) = agenda.pop() {
            pace.step();
            let hypothesis = hypotheses[top];
            if hypothesis.start == 0 && hypothesis.node.is_none() {
                let mut path = Vec::new();
                let mut rest = hypothesis.next;
                while let Some(Hypothesis { node, next, .. }) = rest.map(|at| hypotheses[at]) {
                    pace.step();
                    path.extend(node.map(|node| lattice.segment(node)));
                    rest = next;
                }
                paths.push((path, hypothesis.estimate));
                if paths.len() == size {
                    break;
                }
                continue;
            }
            let front = (hypothesis.start == 0).then_some(None);
            let nodes = lattice.ending_at[hypothesis.start]
                .iter()
                .map(|node| Some(*node));
            for node in front.into_iter().chain(nodes) {
                let (start, score, best) = match node {
                    Some(node) => {
                        let Node { start, score, .. } = lattice.nodes[node];
                        (start, score, best_scores[node])
                    }
                    None => (0, 0.0, 0.0),
                };
                let estimate = best + hypothesis.score;
                agenda.push(estimate, hypotheses.len());
                hypotheses.push(Hypothesis {
                    node,
                    start,
                    next: Some(top),
                    estimate,
                    score: score + hypothesis.score,
                });
            }
            if agenda.len() >= AGENDA_LIMIT {
                if shrinks == MOST_SHRINKS {
                    return vec![(best_path, best)];
                }
                shrinks += 1;
                (hypotheses, agenda) = shrink(&hypotheses, agenda, AGENDA_KEPT.min(size * 10));
            }
        }
        paths
    }

    /// A segmentation drawn at random. Its probability is that of the model to the power of
    /// `alpha`, made to sum to one over all segmentations, or over the best of them.
    pub(super) fn sample_path(
        &self,
        text: &str,
        alpha: f32,
        sampler: &mut Sampler,
    ) -> Vec<Segment> {
        match sampler.nbest_size() {
            None => self.sample_lattice(text, f64::from(alpha), sampler),
            Some(0 | 1) => self.best_path(text),
            Some(size) => {
                let mut paths = self.best_paths(text, size);
                let logs: Vec<f64> = paths
                    .iter()
                    .map(|(_, score)| f64::from(alpha) * f64::from(*score))
                    .collect();
                let chosen = choose(&logs, sampler);
                paths.swap_remove(chosen).0
            }
        }
    }

    fn sample_lattice(&self, text: &str, alpha: f64, sampler: &mut Sampler) -> Vec<Segment> {
        let lattice = Weighted::new(self, text, alpha);
        let mut path = Vec::new();
        let mut end = text.len();
        let mut pace = Pace::default();
        while end > 0 {
            pace.step();
            let node = lattice.ending_at(end)[choose(&lattice.weights(end), sampler)];
            path.push(lattice.segment(node));
            end = lattice.start(node);
        }
        path.reverse();
        path
    }
}

/// Keeps the `size` best of the agenda, and of the hypotheses those that they go on with.
fn shrink(hypotheses: &[Hypothesis], mut agenda: Agenda, size: usize) -> (Vec<Hypothesis>, Agenda) {
    let mut kept = Vec::new();
    let mut new_places = vec![None; hypotheses.len()];
    let mut best = Agenda::default();
    for _ in 0..size {
        let Some(top) = agenda.pop() else { break };
        let mut path = Vec::new();
        let mut rest = Some(top);
        while let Some(at) = rest.filter(|at| new_places[*at].is_none()) {
            path.push(at);
            rest = hypotheses[at].next;
        }
        for at in path.into_iter().rev() {
            new_places[at] = Some(kept.len());
            kept.push(Hypothesis {
                next: hypotheses[at].next.and_then(|next| new_places[next]),
                ..hypotheses[at]
            });
        }
        best.push(hypotheses[top].estimate, new_places[top].unwrap_or(0));
    }
    (kept, best)
}

/// The hypotheses that wait, the best first.
///
/// Among equals the order is that of C++'s binary heap, as which of two equally good segmentations
/// is the better one is decided by it.
#[derive(Default)]
struct Agenda(Vec<(f32, usize)>);

impl Agenda {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn push(&mut self, estimate: f32, hypothesis: usize) {
        self.0.push((estimate, hypothesis));
        self.rise(self.0.len() - 1);
    }

    /// The last entry fills the hole that the first leaves: the hole sinks to a leaf, always to
    /// the greater child, and the entry rises from there.
    fn pop(&mut self) -> Option<usize> {
        let last = self.0.pop()?;
        let Some(&first) = self.0.first() else {
            return Some(last.1);
        };
        let mut hole = 0;
        let length = self.0.len();
        while 2 * hole + 1 < length {
            let (left, right) = (2 * hole + 1, 2 * hole + 2);
            let child = match right < length && self.0[right].0 >= self.0[left].0 {
                true => right,
                false => left,
            };
            self.0[hole] = self.0[child];
            hole = child;
        }
        self.0[hole] = last;
        self.rise(hole);
        Some(first.1)
    }

    fn rise(&mut self, mut at: usize) {
        let entry = self.0[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.0[parent].0 >= entry.0 {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = entry;
    }
}

/// One of the weights, which are logarithms, with a probability in proportion.
pub(super) fn choose(logs: &[f64], sampler: &mut Sampler) -> usize {
    let total = log_sum(logs);
    let mut left = f64::from(sampler.draw());
    for (at, log) in logs.iter().enumerate() {
        left -= (log - total).exp();
        if left < 0.0 {
            return at;
        }
    }
    logs.len() - 1
}

/// The logarithm of a sum, of logarithms.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - greatest).exp()).sum();
    greatest + sum.ln()
}
