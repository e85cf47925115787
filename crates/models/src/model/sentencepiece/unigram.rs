//! SentencePiece's Unigram: the segmentation with the greatest sum of scores, in 32-bit floats.
//!
//! Only rounding decides between segmentations that are otherwise equally good, so the order of
//! additions is part of the meaning: from the front, each sum rounded; and of equal sums the first
//! stays, which is the one whose last piece is the longest.

use super::{Segment, SentencePiece, UNK_PENALTY};
use crate::model::sentencepiece::spec::{Algorithm, PieceKind};
use crate::model::steps::Observer;
use jeton_text::interrupt::filled;

/// The best segmentation of the text up to some byte.
#[derive(Clone, Copy)]
struct Best {
    score: f32,
    /// Where its last piece begins; `UNREACHED` where nothing ends here.
    start: usize,
    /// Its last piece; `UNKNOWN` for an unknown character.
    id: u32,
}

/// Sum past which it is made zero, and the pending ones are changed along, so that rounding does not
/// drown the scores in a long text.
const REBASE_ABOVE: f32 = 100_000.0;

const UNREACHED: usize = usize::MAX;
const UNKNOWN: u32 = u32::MAX;

impl SentencePiece {
    /// The best segmentation.
    pub(super) fn best_path(&self, text: &str) -> Vec<Segment> {
        self.best_path_after(0.0, text, &mut ()).0
    }

    /// The best segmentation of text that follows other text, from the sum of the scores of
    /// that; and the sum at the end. No piece spans the place between the two.
    pub fn best_path_after(
        &self,
        before: f32,
        text: &str,
        observer: &mut impl Observer,
    ) -> (Vec<Segment>, f32) {
        let unreached = Best {
            score: 0.0,
            start: UNREACHED,
            id: UNKNOWN,
        };
        let mut best = filled(unreached, text.len() + 1);
        best[0].score = before;
        let mut farthest = 0;
        for (start, character) in text.char_indices() {
            if best[start].score.abs() > REBASE_ABOVE {
                let base = best[start].score;
                for pending in &mut best[start..=farthest] {
                    pending.score -= base;
                }
            }
            let before = best[start].score;
            let mut covered = false;
            for (id, length, score) in self.pieces_at(&text[start..]) {
                covered |= length == character.len_utf8();
                let (end, sum) = (start + length, before + score);
                farthest = farthest.max(end);
                best[end].offer(sum, start, id);
                observer.edge(start..end, Some(id), score.into(), sum.into());
            }
            if !covered {
                let end = start + character.len_utf8();
                farthest = farthest.max(end);
                let (score, sum) = (self.unk_score(), before + self.unk_score());
                best[end].offer(sum, start, UNKNOWN);
                observer.edge(start..end, None, score.into(), sum.into());
            }
        }

        let mut segments = Vec::new();
        let mut end = text.len();
        while end > 0 {
            let Best { start, id, .. } = best[end];
            segments.push((start..end, (id != UNKNOWN).then_some(id)));
            observer.path(end);
            end = start;
        }
        segments.reverse();
        let score = best[text.len()].score;
        observer.score(score.into());
        (segments, score)
    }

    /// The pieces that `text` begins with, shortest first: with each its length and its score.
    pub fn pieces_at(&self, text: &str) -> impl Iterator<Item = (u32, usize, f32)> {
        let trie = self.trie();
        trie.prefixes(trie.root(), text.as_bytes())
            .filter(|(id, _)| self.kind(*id) != PieceKind::Unused)
            .map(|(id, length)| (id, length, self.path_score(id, length)))
    }

    /// What each piece adds to the score of a path, by id; nothing where it is for a byte.
    pub fn path_scores(&self) -> Vec<f32> {
        let pieces = &self.proto.pieces;
        let mut scores = pieces.scores().to_vec();
        for (_, id) in pieces.of_kind(PieceKind::Byte) {
            scores[id as usize] = 0.0;
        }
        for (piece, id) in pieces.of_kind(PieceKind::UserDefined) {
            scores[id as usize] = self.path_score(id, piece.text.len());
        }
        scores
    }

    /// The score of a piece on a path; `length` is in bytes.
    fn path_score(&self, id: u32, length: usize) -> f32 {
        match self.kind(id) {
            PieceKind::UserDefined => Self::bonus(length),
            _ => self.score(id),
        }
    }

    /// The sum of the scores of pieces that are joined by spaces, by which SentencePiece holds two
    /// segmentations to be equivalent; only a Unigram model has it.
    pub fn score_of(&self, pieces: &str) -> Option<f32> {
        if self.proto.trainer().algorithm != Algorithm::Unigram {
            return None;
        }
        let score = |piece: &str| match self.piece_id(piece) {
            None => self.unk_score(),
            Some(id) if self.kind(id) == PieceKind::UserDefined => Self::bonus(piece.len()),
            Some(id) => self.score(id),
        };
        Some(
            pieces
                .split(' ')
                .map(score)
                .fold(0.0, |sum, score| sum + score),
        )
    }

    /// The score of a user-defined piece of this length, in bytes here and in characters in the
    /// lattice, as SentencePiece 0.2.3 has it (before, it did not depend on the length but for a
    /// model with scores above zero). It is above those of all other pieces as long as these are
    /// below zero.
    pub fn bonus(length: usize) -> f32 {
        (0.1 * (length as f64 - 1.0)) as f32
    }

    /// The score of a character that no piece covers.
    pub fn unk_score(&self) -> f32 {
        self.min_score() - UNK_PENALTY
    }
}

impl Best {
    /// Keeps the better.
    fn offer(&mut self, score: f32, start: usize, id: u32) {
        if self.start == UNREACHED || score > self.score {
            *self = Self { score, start, id };
        }
    }
}
