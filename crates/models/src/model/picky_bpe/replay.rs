//! A piece on its way through merges and deletions: only the events are looked at that it has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{PickyBpe, Residue, Step};
use jeton_text::interrupt::tick;

impl PickyBpe {
    /// The symbols of a piece after all events, each where it begins.
    pub(super) fn replay(&self, bytes: &[u8]) -> Vec<Place> {
        let mut run = Run {
            model: self,
            places: bytes
                .iter()
                .map(|&byte| Place::of(u32::from(byte)))
                .collect(),
            queue: BinaryHeap::new(),
        };
        for start in 1..bytes.len() {
            run.expect_merge(start, 0);
        }
        while let Some(Reverse((event, start))) = run.queue.pop() {
            tick();
            match self.steps[event as usize] {
                Step::Merge { pair, made } => run.merge(start, pair, made, event),
                Step::Deletion { deleted, pair } => run.delete(start, deleted, pair, event),
            }
        }
        run.places
    }
}

/// A byte of a piece.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The symbol that begins here, or `NONE`.
    pub symbol: u32,
    /// Where the symbol begins that ends with this byte, counted back from here.
    back: u32,
}

const NONE: u32 = u32::MAX;

impl Place {
    fn of(symbol: u32) -> Self {
        Self { symbol, back: 0 }
    }
}

/// A piece on its way through the events.
struct Run<'m> {
    model: &'m PickyBpe,
    places: Vec<Place>,
    /// Events to come, with the place of their symbol, or of their left one. Some no longer fit when their
    /// turn comes.
    queue: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Run<'_> {
    fn end(&self, start: usize) -> usize {
        let symbol = self.places[start].symbol;
        start + self.model.symbols[symbol as usize].bytes.len()
    }

    /// Queues the first merge from event `from` on of the symbol at `start`, if there is one, and the one
    /// before it.
    fn expect_merge(&mut self, start: usize, from: u32) {
        tick();
        let Some(at) = self.places.get(start).filter(|_| start > 0) else {
            return;
        };
        let left = start - 1 - self.places[start - 1].back as usize;
        let pair = [self.places[left].symbol, at.symbol];
        let merges = &self.model.merges;
        let next = merges.partition_point(|merge| *merge < (pair, from));
        if let Some(&(found, event)) = merges.get(next)
            && found == pair
        {
            self.queue.push(Reverse((event, left)));
        }
    }

    /// Puts a symbol at `start`, and queues its first deletion after `event`.
    fn put(&mut self, start: usize, symbol: u32, event: u32) {
        self.places[start].symbol = symbol;
        let last = self.end(start) - 1;
        self.places[last].back = (last - start) as u32;
        let deletions = &self.model.deletions;
        let next = deletions.partition_point(|deletion| *deletion <= (symbol, event));
        if let Some(&(found, event)) = deletions.get(next)
            && found == symbol
        {
            self.queue.push(Reverse((event, start)));
        }
    }

    fn merge(&mut self, start: usize, pair: [u32; 2], made: u32, event: u32) {
        if self.places[start].symbol != pair[0] {
            return;
        }
        let middle = self.end(start);
        if self
            .places
            .get(middle)
            .is_none_or(|it| it.symbol != pair[1])
        {
            return;
        }
        self.places[middle].symbol = NONE;
        self.put(start, made, event);
        self.expect_merge(start, event + 1);
        self.expect_merge(self.end(start), event + 1);
    }

    fn delete(&mut self, start: usize, deleted: u32, pair: [u32; 2], event: u32) {
        if self.places[start].symbol != deleted {
            return;
        }
        let end = self.end(start);
        match self.model.residue {
            Residue::Pair => {
                self.put(start, pair[0], event);
                self.put(self.end(start), pair[1], event);
            }
            Residue::Bytes => {
                for at in start..end {
                    let byte = &self.model.symbols[deleted as usize].bytes[at - start];
                    self.put(at, u32::from(*byte), event);
                }
            }
        }
        let mut at = start;
        while at < end {
            self.expect_merge(at, event + 1);
            at = self.end(at);
        }
        self.expect_merge(end, event + 1);
    }
}
