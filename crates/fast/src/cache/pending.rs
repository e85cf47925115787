//! The tokens of a text that are not passed on yet, in order, with a gap for each new word until it is
//! merged.
//!
//! A new piece is merged step by step, and each step waits for memory; so new pieces are collected
//! and merged side by side, while the text after them is looked up.

use super::entries::Found;
use crate::sink::{FEW, Sink};
use jeton_text::mem::short_keys::ShortKey;

/// The most tokens and gaps that wait.
pub const MAX_PENDING: usize = 2048;
/// The most new words that are collected.
pub const MAX_NEW: usize = 32;
/// Lists that new words are kept in, by their hashes.
const LISTS: usize = 64;
/// The number of no piece.
const NO_PIECE: u8 = u8::MAX;

/// A gap: before which token it is, and the number of its new piece.
type Hole = (usize, usize);

/// New pieces, each once.
pub struct New<'t> {
    pieces: [&'t [u8]; MAX_NEW],
    keys: [ShortKey; MAX_NEW],
    hashes: [u64; MAX_NEW],
    count: usize,
    /// For each beginning of a hash the piece seen last, and for each piece the one before it.
    last: [u8; LISTS],
    before: [u8; MAX_NEW],
}

impl<'t> New<'t> {
    const NONE: Self = Self {
        pieces: [&[]; MAX_NEW],
        keys: [ShortKey::NONE; MAX_NEW],
        hashes: [0; MAX_NEW],
        count: 0,
        last: [NO_PIECE; LISTS],
        before: [NO_PIECE; MAX_NEW],
    };

    /// The number of a piece, if there is room for it.
    #[inline(always)]
    fn number(&mut self, piece: &'t [u8], key: ShortKey, hash: u64) -> Option<usize> {
        let list = (hash >> (64 - LISTS.ilog2())) as usize;
        let mut number = self.last[list];
        while number != NO_PIECE {
            let at = usize::from(number);
            if self.hashes[at] == hash && self.pieces[at] == piece {
                return Some(at);
            }
            number = self.before[at];
        }
        let number = self.count;
        *self.pieces.get_mut(number)? = piece;
        self.keys[number] = key;
        self.hashes[number] = hash;
        self.before[number] = std::mem::replace(&mut self.last[list], number as u8);
        self.count += 1;
        Some(number)
    }

    /// The pieces.
    pub fn pieces(&self) -> &[&'t [u8]] {
        &self.pieces[..self.count]
    }

    /// The keys of the pieces; that of no piece for those that are not short.
    pub fn keys(&self) -> &[ShortKey] {
        &self.keys[..self.count]
    }

    /// The hashes of the pieces.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes[..self.count]
    }

    fn clear(&mut self) {
        self.count = 0;
        self.last = [NO_PIECE; LISTS];
    }
}

/// Tokens with gaps, and the new pieces that belong into the gaps.
pub struct Pending<'w, 't> {
    tokens: &'w mut [u32; MAX_PENDING],
    count: usize,
    holes: &'w mut Vec<Hole>,
    /// Made when the first one comes: most short texts have none.
    new: Option<New<'t>>,
}

impl<'w, 't> Pending<'w, 't> {
    /// Nothing is pending, and there is room.
    pub fn new(tokens: &'w mut [u32; MAX_PENDING], holes: &'w mut Vec<Hole>) -> Self {
        holes.clear();
        Self {
            tokens,
            count: 0,
            holes,
            new: None,
        }
    }

    /// Returns whether `tokens` more tokens fit.
    #[inline(always)]
    pub fn has_room(&self, tokens: usize) -> bool {
        self.count + tokens <= MAX_PENDING
    }

    /// Index of the next token.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.count
    }

    /// Sets the index of the next token.
    #[inline(always)]
    pub fn set_end(&mut self, end: usize) {
        self.count = end;
    }

    /// Appends the first `count` of `ids` at `end` and returns the index after them. Copying all of `ids` is
    /// faster than copying some.
    #[inline(always)]
    pub fn few<const N: usize>(&mut self, end: usize, ids: &[u32; N], count: usize) -> usize {
        self.tokens[end..end + N].copy_from_slice(ids);
        end + count
    }

    /// Appends all of `ids`.
    pub fn many(&mut self, ids: &[u32]) {
        self.tokens[self.count..self.count + ids.len()].copy_from_slice(ids);
        self.count += ids.len();
    }

    /// Appends the tokens of a piece that the cache holds.
    #[inline(always)]
    pub fn push_found(&mut self, found: Found) {
        self.count = self.found_at(self.count, found);
    }

    /// As [`Self::push_found`], at `end`; returns the index after them.
    #[inline(always)]
    pub fn found_at(&mut self, end: usize, found: Found) -> usize {
        match found {
            Found::Short(ids, count) => self.few(end, ids, count),
            Found::Long(ids, count) => self.few(end, ids, count),
            Found::Spilled(ids, count) => self.few(end, ids, count),
            Found::Many(ids) => {
                self.tokens[end..end + ids.len()].copy_from_slice(ids);
                end + ids.len()
            }
        }
    }

    /// Leaves a hole for a new piece; returns whether there was room for it. `key` is that
    /// of a short piece, or of no piece; `hash` is the same for the same piece.
    #[inline(always)]
    pub fn hole(&mut self, piece: &'t [u8], key: ShortKey, hash: u64) -> bool {
        if self.holes.len() == MAX_PENDING {
            return false;
        }
        let new = match &mut self.new {
            Some(new) => new,
            none => none.insert(New::NONE),
        };
        let number = new.number(piece, key, hash);
        self.holes.extend(number.map(|number| (self.count, number)));
        number.is_some()
    }

    /// The pieces that are new.
    pub fn new_pieces(&self) -> &New<'t> {
        self.new.as_ref().unwrap_or(&New::NONE)
    }

    /// Gives all tokens to `sink`. `tokens` returns those of the new piece with a number: a slice and how
    /// many of its first tokens count.
    pub fn give<'n>(&mut self, tokens: impl Fn(usize) -> (&'n [u32], usize), sink: &mut dyn Sink) {
        let mut given = 0;
        for &(place, number) in &*self.holes {
            push_first(&self.tokens[given..], place - given, sink);
            let (ids, count) = tokens(number);
            push_first(ids, count, sink);
            given = place;
        }
        sink.push_all(&self.tokens[given..self.count]);
        self.holes.clear();
        self.count = 0;
        if let Some(new) = &mut self.new {
            new.clear();
        }
    }
}

/// Gives the first `count` of `ids` to `sink`.
#[inline(always)]
fn push_first(ids: &[u32], count: usize, sink: &mut dyn Sink) {
    match ids.first_chunk() {
        Some(few) if count <= FEW => sink.push_few(few, count),
        _ => sink.push_all(&ids[..count]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_in_the_order_of_the_text() {
        let (mut room, mut holes) = ([0; MAX_PENDING], Vec::new());
        let mut pending = Pending::new(&mut room, &mut holes);
        pending.many(&[1, 2]);
        assert!(pending.hole(b"new", ShortKey::NONE, 7));
        assert!(pending.hole(b"newer", ShortKey::NONE, 7));
        pending.many(&[3]);
        assert!(pending.hole(b"new", ShortKey::NONE, 7));
        assert_eq!(pending.new_pieces().pieces(), [&b"new"[..], b"newer"]);
        let mut ids: Vec<u32> = Vec::new();
        let new = [[10, 11, 0, 0, 0, 0, 0, 0], [20, 0, 0, 0, 0, 0, 0, 0]];
        pending.give(|number| (&new[number], 2 - number), &mut ids);
        assert_eq!(ids, [1, 2, 10, 11, 20, 3, 10, 11]);
        assert!(pending.has_room(MAX_PENDING));
        let holes = (0..).take_while(|_| pending.hole(b"new", ShortKey::NONE, 7));
        assert_eq!(holes.count(), MAX_PENDING);
    }
}
