//! SentencePiece's BPE on long new text: the same merges as the model's, with pairs in a heap or, if
//! there are thousands, in lists by rank.
//!
//! Look here for text of more than some dozen bytes; shorter text is merged in `short_merge`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::pieces::{NO_PIECE, PieceIndex};
use jeton_models::merge::queue::{HEAPED, Lists, Queue};
use jeton_stages::tables::tag_table::NONE;
use jeton_text::interrupt::{Pace, filled};

/// Gives the symbols to `each` that `text` becomes, where they lie and which piece each is. Text has
/// spaces for `▁`, no user-defined pieces, and fewer than 2³² bytes.
pub fn merge(index: &PieceIndex, text: &[u8], each: impl FnMut(Range<usize>, u32)) {
    if text.len() <= HEAPED {
        let heap: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        Symbols::new(index, text, heap).merge(each);
    } else {
        Symbols::new(index, text, Lists::default()).merge(each);
    }
}

/// The symbols of a text while it is merged. A symbol's place is its first byte; what tables hold at
/// other places means nothing.
struct Symbols<'t, Q> {
    index: &'t PieceIndex,
    text: &'t [u8],
    /// The piece that each symbol is.
    ids: Vec<u32>,
    /// Where each symbol ends, and where the one before it begins.
    ends: Vec<u32>,
    before: Vec<u32>,
    /// What each symbol and the next one make, and its rank.
    made: Vec<u32>,
    ranks: Vec<u32>,
    queue: Q,
}

impl<'t, Q: Queue> Symbols<'t, Q> {
    /// The characters of a text.
    fn new(index: &'t PieceIndex, text: &'t [u8], queue: Q) -> Self {
        let table = |value| filled(value, text.len());
        let mut this = Self {
            index,
            text,
            ids: table(NO_PIECE),
            ends: table(0),
            before: table(NONE),
            made: table(NO_PIECE),
            ranks: table(NONE),
            queue,
        };
        let (mut at, mut before) = (0, NONE);
        let mut pace = Pace::default();
        while at < text.len() {
            pace.step();
            let (id, length) = index.character(text, at);
            this.ids[at] = id;
            this.ends[at] = (at + length) as u32;
            this.before[at] = before;
            if before != NONE {
                this.pair(before);
            }
            before = at as u32;
            at += length;
        }
        this
    }

    /// Looks up what the symbol at `at` makes with the next one.
    #[inline]
    fn pair(&mut self, at: u32) {
        let here = at as usize;
        self.ranks[here] = NONE;
        // A text ends where its last symbol ends, and no symbol follows it.
        let Some(&end) = self.ends.get(self.ends[here] as usize) else {
            return;
        };
        let asked = self.index.ask(self.text, here, end as usize);
        let (id, rank) = self.index.answer(self.text, &asked);
        if rank != NONE {
            self.made[here] = id;
            self.ranks[here] = rank;
            self.queue.push(rank, at);
        }
    }

    fn merge(mut self, mut each: impl FnMut(Range<usize>, u32)) {
        let mut pace = Pace::default();
        while let Some((rank, at)) = self.queue.pop() {
            pace.step();
            let here = at as usize;
            // A place of a pair that is no more.
            if self.ranks[here] != rank {
                continue;
            }
            let right = self.ends[here] as usize;
            let end = self.ends[right];
            self.ids[here] = self.made[here];
            self.ends[here] = end;
            self.ranks[right] = NONE;
            if let Some(before) = self.before.get_mut(end as usize) {
                *before = at;
            }
            // From left to right, as the queue likes it.
            if self.before[here] != NONE {
                self.pair(self.before[here]);
            }
            self.pair(at);
        }
        let mut at = 0;
        while at < self.text.len() {
            pace.step();
            let end = self.ends[at] as usize;
            each(at..end, self.ids[at]);
            at = end;
        }
    }
}
