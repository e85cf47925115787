//! All segmentations of a text at once: the pieces at each place, from which [`super::nbest`] and
//! [`super::sampling`] take their paths.

use std::ops::Range;

use super::spec::PieceKind;
use super::{Segment, SentencePiece};
use jeton_text::interrupt::{filled, paced};

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

impl Lattice {
    pub fn new(model: &SentencePiece, text: &str) -> Self {
        let mut lattice = Self {
            nodes: Vec::new(),
            ending_at: filled(Vec::new(), text.len() + 1),
        };
        let trie = model.trie();
        for (start, character) in text.char_indices() {
            let mut covered = false;
            let rest = &text.as_bytes()[start..];
            for (id, length) in trie.prefixes(trie.root(), rest) {
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
    pub fn best_scores(&self) -> Vec<f32> {
        let mut best_at = filled(f32::NEG_INFINITY, self.ending_at.len());
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
    pub fn best_path(&self, best_scores: &[f32]) -> (Vec<Segment>, f32) {
        let mut path = Vec::new();
        let mut best = 0.0;
        let mut end = self.ending_at.len() - 1;
        while end > 0 {
            let mut nodes = self.ending_at[end].iter().copied();
            let Some(first) = nodes.next() else { break };
            let node = nodes.fold(first, |best, node| {
                if best_scores[node] > best_scores[best] {
                    node
                } else {
                    best
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

impl SentencePiece {
    /// What a segment adds to the score of a path through the lattice.
    pub(super) fn segment_score(&self, text: &str, (range, id): &Segment) -> f32 {
        match id {
            None => self.unk_score(),
            Some(id) if self.kind(*id) == PieceKind::UserDefined => {
                Self::bonus(text[range.clone()].chars().count())
            }
            Some(id) => self.score(*id),
        }
    }
}
