//! Merging words that are too long to scan for the best pair: symbols know their neighbours, and pairs
//! wait in a queue.
//!
//! The models of BPE have loops of their own, since their symbols hold more.

use super::pairs::Pairs;
use crate::merge::pair_table::PairTable;
use crate::merge::queue::Queue;
use jeton_stages::tables::perfect_hash::NONE;
use jeton_text::interrupt::paced;
use jeton_text::mem::large_pages;

/// A symbol of a long piece.
#[derive(Clone, Copy)]
struct Symbol {
    /// [`NONE`] once it is a part of the symbol before it.
    id: u32,
    /// The rank of its pair with the next one.
    rank: u32,
    /// The places of its neighbours; beyond the piece where there is none.
    previous: u32,
    next: u32,
}

/// The tokens of a piece that begins as these symbols, fewer than 2³²; `rank` says the rank of the pair
/// of the symbol of a number, from 0 on, and the next.
pub fn merge<T: PairTable>(
    pairs: &Pairs<T>,
    ids: impl ExactSizeIterator<Item = u32>,
    rank: impl Fn(usize) -> u32,
) -> Vec<u32> {
    let last = ids.len().saturating_sub(1);
    let mut queue = Queue::default();
    let mut symbols = large_pages::with_capacity(ids.len());
    symbols.extend(paced((0..).zip(ids)).map(|(at, id)| Symbol {
        id,
        rank: NONE,
        previous: u32::wrapping_sub(at, 1),
        next: at + 1,
    }));
    for (at, symbol) in paced((0..).zip(&mut symbols[..last])) {
        symbol.rank = rank(at as usize);
        if symbol.rank != NONE {
            queue.push(symbol.rank, at);
        }
    }
    while let Some((rank, at)) = queue.pop() {
        let here = symbols[at as usize];
        // A place of a pair that is no more.
        if here.rank != rank {
            continue;
        }
        let right = &mut symbols[here.next as usize];
        let id = pairs.product(rank, here.id, right.id);
        let next = right.next;
        (right.id, right.rank) = (NONE, NONE);
        if let Some(left) = symbols.get_mut(here.previous as usize) {
            left.rank = pairs.rank(left.id, id);
            if left.rank != NONE {
                queue.push(left.rank, here.previous);
            }
        }
        let mut rank = NONE;
        if let Some(after) = symbols.get_mut(next as usize) {
            after.previous = at;
            rank = pairs.rank(id, after.id);
            if rank != NONE {
                queue.push(rank, at);
            }
        }
        symbols[at as usize] = Symbol {
            id,
            rank,
            next,
            ..here
        };
    }
    let ids = symbols.iter().map(|symbol| symbol.id);
    ids.filter(|&id| id != NONE).collect()
}
