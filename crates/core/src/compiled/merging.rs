//! SentencePiece's BPE on the words that are new: the same merges as the model's, without a heap.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::sentencepiece::Solver;
use super::unknown::UNKNOWN;
use super::waiting::Few;
use super::words::{SHORT, ShortKey, WordCache};
use crate::format::sentencepiece::PieceKind;
use crate::lazy::Lazy;
use crate::model::{Sampler, Sampling, SentencePiece};

/// Text of more symbols than this goes to the model itself, which has a heap for it.
const SCANNED: usize = 64;
/// The score of neighbours that make no piece.
const NONE: f32 = f32::NEG_INFINITY;
/// The id of what is no piece.
const NO_PIECE: u32 = u32::MAX;

/// The pieces of a BPE by their spelling, for short spellings: most of those that merging asks for
/// are none, which one look at memory says.
pub struct PieceIndex {
    /// Open addressing: 32 bits of the hash, and the id; [`NO_PIECE`] where there is none.
    slots: Vec<(u32, u32)>,
    /// Moves the hashes, so that no file can aim pieces at one place.
    seed: u64,
}

impl PieceIndex {
    fn new(model: &SentencePiece) -> Self {
        let pieces = || {
            let pieces = model.proto().pieces.iter().zip(0..);
            pieces.filter(|(piece, _)| {
                matches!(piece.kind, PieceKind::Normal | PieceKind::UserDefined)
                    && piece.text.len() <= SHORT
            })
        };
        let mut slots = vec![(0, NO_PIECE); (pieces().count() * 2).next_power_of_two().max(2)];
        let mask = slots.len() - 1;
        let seed = RandomState::default().hash_one(0);
        for (piece, id) in pieces() {
            let key = ShortKey::new(piece.text.as_bytes(), 0, piece.text.len());
            let hash = key.hash(seed);
            let mut slot = hash as usize & mask;
            while slots[slot].1 != NO_PIECE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = ((hash >> 32) as u32, id);
        }
        Self { slots, seed }
    }

    /// The piece that `text[start..end]` is, or [`NO_PIECE`].
    #[inline(always)]
    fn id(&self, model: &SentencePiece, text: &str, start: usize, end: usize) -> u32 {
        let bytes = text.as_bytes();
        if end - start > SHORT {
            return model.piece_id(&text[start..end]).unwrap_or(NO_PIECE);
        }
        let hash = ShortKey::new(bytes, start, end - start).hash(self.seed);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (tag, id) = self.slots[slot];
            if id == NO_PIECE
                || tag == (hash >> 32) as u32 && model.vocab().token(id) == Some(&bytes[start..end])
            {
                return id;
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// A SentencePiece BPE that merges by scanning.
pub struct Merging<'m> {
    /// The model, which has no unused pieces.
    pub model: &'m SentencePiece,
    /// Made when the first word is new.
    pub index: &'m Lazy<PieceIndex>,
}

impl<S: Few> Solver<S> for Merging<'_> {
    #[inline(always)]
    fn may_recall(&self, _: &S) -> bool {
        true
    }

    fn solve(&mut self, text: &str, _: &mut WordCache, ids: &mut Vec<u32>, sink: &mut S) -> bool {
        let first = ids.len();
        if text.len() > 4 * SCANNED || !self.scan(text, ids) {
            let mut sampler = Sampler::new(Sampling::default());
            for (range, id) in self.model.merge(text, &mut sampler) {
                self.push(text, range, id.unwrap_or(NO_PIECE), ids);
            }
        }
        sink.push_all(&ids[first..]);
        true
    }
}

impl Merging<'_> {
    /// Appends the tokens of `text`, unless there are too many symbols.
    fn scan(&self, text: &str, ids: &mut Vec<u32>) -> bool {
        let model = self.model;
        let index = self.index.get(|| PieceIndex::new(model));
        // Symbol `i` is `text[bounds[i]..bounds[i + 1]]`; `scores[i]` and `made[i]` are those of the
        // piece that it makes with the next.
        let mut bounds = [0u16; SCANNED + 1];
        let mut known = [NO_PIECE; SCANNED];
        let mut frozen = [false; SCANNED];
        let mut scores = [NONE; SCANNED];
        let mut made = [NO_PIECE; SCANNED];
        let mut count = 0;
        for (range, is_frozen) in model.symbols(text) {
            if count == SCANNED {
                return false;
            }
            frozen[count] = is_frozen;
            count += 1;
            bounds[count] = range.end as u16;
        }
        let pair = |bounds: &[u16], frozen: &[bool], left: usize| {
            if frozen[left] || frozen[left + 1] {
                return (NONE, NO_PIECE);
            }
            let id = index.id(model, text, bounds[left].into(), bounds[left + 2].into());
            match id {
                NO_PIECE => (NONE, NO_PIECE),
                id => (model.score(id), id),
            }
        };
        for left in 0..count.saturating_sub(1) {
            (scores[left], made[left]) = pair(&bounds, &frozen, left);
        }
        while count > 1 {
            let (mut best, mut at) = (NONE, 0);
            for (i, &score) in scores[..count - 1].iter().enumerate() {
                if score > best {
                    (best, at) = (score, i);
                }
            }
            if best == NONE {
                break;
            }
            known[at] = made[at];
            known.copy_within(at + 2..count, at + 1);
            frozen.copy_within(at + 2..count, at + 1);
            bounds.copy_within(at + 2..count + 1, at + 1);
            scores.copy_within(at + 1..count - 1, at);
            made.copy_within(at + 1..count - 1, at);
            count -= 1;
            if at + 1 < count {
                (scores[at], made[at]) = pair(&bounds, &frozen, at);
            }
            if at > 0 {
                (scores[at - 1], made[at - 1]) = pair(&bounds, &frozen, at - 1);
            }
        }
        for (symbol, &id) in known[..count].iter().enumerate() {
            let (start, end) = (bounds[symbol].into(), bounds[symbol + 1].into());
            let id = match id {
                NO_PIECE => index.id(model, text, start, end),
                id => id,
            };
            self.push(text, start..end, id, ids);
        }
        true
    }

    fn push(&self, text: &str, range: Range<usize>, id: u32, ids: &mut Vec<u32>) {
        match (id, self.model.byte_ids()) {
            (NO_PIECE, None) => ids.push(UNKNOWN),
            (NO_PIECE, Some(bytes)) => {
                let unknown = &text.as_bytes()[range];
                ids.extend(unknown.iter().map(|&byte| bytes[usize::from(byte)]));
            }
            (id, _) => ids.push(id),
        }
    }
}
