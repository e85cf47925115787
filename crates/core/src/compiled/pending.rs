//! Tokens in the order of the text, with holes where pieces are new.
//!
//! A new piece is merged step by step, and each step waits for memory; so new pieces are gathered
//! and merged side by side, while what follows them in the text is looked up.

use super::sink::Sink;
use super::words::{Found, LONG_IDS, SHORT_IDS};

/// How many tokens wait, at most.
pub const MOST_PENDING: usize = 2048;
/// How many new pieces are gathered, at most.
pub const MOST_NEW: usize = 32;

/// Where a hole is: before the token of this place, for the new piece of this number.
type Hole = (usize, usize);

/// Tokens and holes, and the pieces that the holes are for.
pub struct Pending<'w, 't> {
    tokens: &'w mut [u32; MOST_PENDING],
    count: usize,
    holes: &'w mut Vec<Hole>,
    new: [&'t [u8]; MOST_NEW],
    hashes: [u64; MOST_NEW],
    new_count: usize,
}

impl<'w, 't> Pending<'w, 't> {
    /// Nothing is pending, and there is room.
    pub fn new(tokens: &'w mut [u32; MOST_PENDING], holes: &'w mut Vec<Hole>) -> Self {
        holes.clear();
        Self {
            tokens,
            count: 0,
            holes,
            new: [&[]; MOST_NEW],
            hashes: [0; MOST_NEW],
            new_count: 0,
        }
    }

    /// Whether so many more tokens may be taken.
    #[inline(always)]
    pub fn has_room(&self, tokens: usize) -> bool {
        self.count + tokens <= MOST_PENDING
    }

    /// Takes the first `count` of `ids`; copying all of them is faster than copying some.
    #[inline(always)]
    fn few<const N: usize>(&mut self, ids: &[u32; N], count: usize) {
        self.tokens[self.count..self.count + N].copy_from_slice(ids);
        self.count += count;
    }

    /// Takes all of `ids`.
    pub fn many(&mut self, ids: &[u32]) {
        self.tokens[self.count..self.count + ids.len()].copy_from_slice(ids);
        self.count += ids.len();
    }

    /// Takes the tokens of a piece that is known.
    #[inline(always)]
    pub fn found(&mut self, found: Found) {
        match found {
            Found::Short(ids, count) => self.few::<SHORT_IDS>(ids, count),
            Found::Long(ids, count) => self.few::<LONG_IDS>(ids, count),
            Found::Spilled(ids) => self.many(ids),
        }
    }

    /// Leaves a hole for a piece that is new; says whether there was room for one more. `hash` is
    /// the same for the same piece.
    pub fn hole(&mut self, piece: &'t [u8], hash: u64) -> bool {
        let mut gathered = self.hashes[..self.new_count].iter().zip(&self.new);
        let met = gathered.position(|(&other, &new)| other == hash && new == piece);
        let number = match met {
            Some(number) => number,
            None if self.new_count == MOST_NEW => return false,
            None => {
                self.new[self.new_count] = piece;
                self.hashes[self.new_count] = hash;
                self.new_count += 1;
                self.new_count - 1
            }
        };
        self.holes.push((self.count, number));
        true
    }

    /// The pieces that are new.
    pub fn new_pieces(&self) -> &[&'t [u8]] {
        &self.new[..self.new_count]
    }

    /// Gives all tokens to `sink`; those of the new piece of a number are what `tokens` says.
    pub fn give<'n>(&mut self, tokens: impl Fn(usize) -> &'n [u32], sink: &mut impl Sink) {
        let mut given = 0;
        for &(place, number) in &*self.holes {
            sink.push_all(&self.tokens[given..place]);
            sink.push_all(tokens(number));
            given = place;
        }
        sink.push_all(&self.tokens[given..self.count]);
        self.holes.clear();
        (self.count, self.new_count) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let (mut room, mut holes) = ([0; MOST_PENDING], Vec::new());
        let mut pending = Pending::new(&mut room, &mut holes);
        pending.many(&[1, 2]);
        assert!(pending.hole(b"new", 7) && pending.hole(b"newer", 7));
        pending.many(&[3]);
        assert!(pending.hole(b"new", 7));
        assert_eq!(pending.new_pieces(), [&b"new"[..], b"newer"]);
        let mut ids: Vec<u32> = Vec::new();
        pending.give(|number| [&[10, 11][..], &[20]][number], &mut ids);
        assert_eq!(ids, [1, 2, 10, 11, 20, 3, 10, 11]);
        assert!(pending.has_room(MOST_PENDING));
    }
}
