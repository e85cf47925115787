//! SentencePiece's BPE: of all neighbours that together spell a piece, those whose piece has the best score
//! are merged first, the leftmost among equals.
//!
//! There are no words: merges run through the whole text, so the candidates wait in a heap and a
//! text of n characters takes O(n log n).

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use super::{Segment, SentencePiece};
use crate::model::Sampler;
use crate::model::sentencepiece::spec::PieceKind;
use crate::model::steps::{MergeStep, Observer, Priority};
use jeton_text::interrupt::tick;

/// A stretch of text in the list of what is not merged yet.
struct Symbol {
    start: usize,
    /// Zero once it has been merged into the symbol before it.
    length: usize,
    previous: usize,
    next: usize,
    /// Split off as a whole, and never merged.
    frozen: bool,
}

/// No symbol.
const NONE: usize = usize::MAX;

/// Two neighbours that make a piece. Later merges make it stale; then its length tells.
#[derive(PartialEq)]
struct Candidate {
    score: f32,
    left: usize,
    right: usize,
    length: usize,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // Scores are finite: the reader refuses others.
        self.score
            .partial_cmp(&other.score)
            .unwrap_or(Ordering::Equal)
            .then_with(|| Reverse(self.left).cmp(&Reverse(other.left)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A merging under way.
struct Merging<'a> {
    model: &'a SentencePiece,
    text: &'a str,
    symbols: Vec<Symbol>,
    candidates: BinaryHeap<Candidate>,
    /// For each unused piece that may have been made: how long its left part was, the last time.
    unused: HashMap<u32, usize>,
}

impl SentencePiece {
    /// The segmentation that merging leads to. Each merge is left out with the sampler's
    /// probability.
    pub fn merge(
        &self,
        text: &str,
        sampler: &mut Sampler,
        observer: &mut impl Observer,
    ) -> Vec<Segment> {
        let mut merging = Merging {
            model: self,
            text,
            symbols: Vec::new(),
            candidates: BinaryHeap::new(),
            unused: HashMap::new(),
        };
        for (range, frozen) in self.symbols(text) {
            observer.symbol(text[range.clone()].as_bytes());
            let position = merging.symbols.len();
            merging.symbols.push(Symbol {
                start: range.start,
                length: range.len(),
                previous: position.checked_sub(1).unwrap_or(NONE),
                next: if range.end == text.len() {
                    NONE
                } else {
                    position + 1
                },
                frozen,
            });
        }
        for right in 1..merging.symbols.len() {
            merging.consider(right - 1, right);
        }
        merging.run(sampler, observer);
        merging.segments()
    }
}

impl Merging<'_> {
    /// Makes a candidate of two neighbours, if together they are a piece.
    fn consider(&mut self, left: usize, right: usize) {
        if left == NONE || right == NONE {
            return;
        }
        let (first, second) = (&self.symbols[left], &self.symbols[right]);
        if first.frozen || second.frozen {
            return;
        }
        let length = first.length + second.length;
        let together = &self.text[first.start..first.start + length];
        let Some(id) = self.model.piece_id(together) else {
            return;
        };
        if self.model.kind(id) == PieceKind::Unused {
            self.unused.insert(id, first.length);
        }
        self.candidates.push(Candidate {
            score: self.model.score(id),
            left,
            right,
            length,
        });
    }

    fn run<O: Observer>(&mut self, sampler: &mut Sampler, observer: &mut O) {
        let dropout = sampler.dropout().or(sampler.alpha()).unwrap_or(0.0);
        while let Some(candidate) = self.candidates.pop() {
            tick();
            let Candidate {
                score,
                left,
                right,
                length,
            } = candidate;
            let (first, second) = (&self.symbols[left], &self.symbols[right]);
            let stale =
                first.length == 0 || second.length == 0 || first.length + second.length != length;
            if stale || dropout >= 1.0 || (dropout > 0.0 && sampler.draw() < dropout) {
                continue;
            }
            if O::HEARS {
                let together = &self.text[first.start..][..length];
                let (one, other) = together.as_bytes().split_at(first.length);
                if let Some(id) = self.model.piece_id(together) {
                    observer.merge(MergeStep {
                        at: left,
                        parts: [one, other],
                        id,
                        priority: Priority::Score(score),
                    });
                }
            }
            let next = second.next;
            self.symbols[right].length = 0;
            self.symbols[left].length = length;
            self.symbols[left].next = next;
            if next != NONE {
                self.symbols[next].previous = left;
            }
            self.consider(self.symbols[left].previous, left);
            self.consider(left, next);
        }
    }

    fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::with_capacity(self.symbols.len());
        let mut rest = Vec::new();
        for symbol in self.symbols.iter().filter(|symbol| symbol.length > 0) {
            rest.push(symbol.start..symbol.start + symbol.length);
            // An unused piece falls apart into what it was made of, and so do its parts.
            while let Some(range) = rest.pop() {
                let id = self.model.piece_id(&self.text[range.clone()]);
                let unused = id.filter(|id| self.model.kind(*id) == PieceKind::Unused);
                match unused.map(|id| self.unused.get(&id)) {
                    None => segments.push((range, id)),
                    Some(None) => segments.push((range, None)),
                    Some(Some(left)) => {
                        let middle = range.start + left;
                        rest.push(middle..range.end);
                        rest.push(range.start..middle);
                    }
                }
            }
        }
        segments
    }
}
