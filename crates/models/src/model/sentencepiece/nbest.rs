//! The n best segmentations of a text, best first.
//!
//! The single best segmentation needs no lattice, and is in [`super::unigram`]. Source: Nagata, "A
//! Stochastic Japanese Morphological Analyzer Using a Forward-DP Backward-A* N-Best Search
//! Algorithm", 1994.

use super::lattice::{Lattice, Node};
use super::{Segment, SentencePiece};
use jeton_text::interrupt::tick;

/// Segmentations that are searched for, at most.
pub const MAX_PATHS: usize = 512;

/// Hypotheses that the search keeps when it has grown to `AGENDA_LIMIT`, and gives up when it
/// has done so `MAX_SHRINKS` times. The numbers are SentencePiece's: they are part of the meaning.
const AGENDA_KEPT: usize = 512;
const AGENDA_LIMIT: usize = 10_000;
const MAX_SHRINKS: usize = 10;

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
    /// The `size` best segmentations, best first, with their scores; only the very best where the
    /// search for more takes too long.
    pub fn best_paths(&self, text: &str, size: usize) -> Vec<(Vec<Segment>, f32)> {
        let size = size.clamp(1, MAX_PATHS);
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
        while let Some(top) = agenda.pop() {
            tick();
            let hypothesis = hypotheses[top];
            if hypothesis.start == 0 && hypothesis.node.is_none() {
                let mut path = Vec::new();
                let mut rest = hypothesis.next;
                while let Some(Hypothesis { node, next, .. }) = rest.map(|at| hypotheses[at]) {
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
                if shrinks == MAX_SHRINKS {
                    return vec![(best_path, best)];
                }
                shrinks += 1;
                (hypotheses, agenda) = shrink(&hypotheses, agenda, AGENDA_KEPT.min(size * 10));
            }
        }
        paths
    }
}

/// Keeps the `size` best of the agenda, and of the hypotheses those that they continue with.
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
            let child = if right < length && self.0[right].0 >= self.0[left].0 {
                right
            } else {
                left
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
