//! What one merge changes: the neighbours of the pair become neighbours of the new token.
//!
//! Changes are summed up by neighbour, so that the tables of pairs are updated once per distinct
//! neighbour and not once per occurrence.

use super::words::{NONE, merge_in_word, prefetch, word_of};

/// Words ahead of which memory is prefetched: about as many as are done while it comes.
const AHEAD: usize = 12;

/// The changes to one neighbour of the merged pair, on one side.
#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    /// How often it was next to the pair.
    pub lost: i64,
    /// How often it is next to the new token.
    pub won: i64,
    /// In how many words it is.
    words: u32,
    /// The last of them.
    last_word: u32,
    /// Where the next of them goes among all places, if anywhere.
    next_place: usize,
}

impl Neighbour {
    const NEW: Self = Self {
        lost: 0,
        won: 0,
        words: 0,
        last_word: NONE,
        next_place: usize::MAX,
    };
}

/// The changes to all neighbours on one side.
#[derive(Default)]
pub(super) struct Side {
    /// By symbol.
    neighbours: Vec<Neighbour>,
    /// The symbols that are neighbours.
    touched: Vec<u32>,
    /// Neighbours and words in which they are next to the new token, in the order of the words.
    words: Vec<(u32, u32)>,
}

impl Side {
    /// The neighbours in the order of meeting.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Neighbour)> {
        let neighbour = |&symbol| (symbol, &self.neighbours[symbol as usize]);
        self.touched.iter().map(neighbour)
    }

    fn at(&mut self, symbol: u32) -> &mut Neighbour {
        let neighbour = &mut self.neighbours[symbol as usize];
        if neighbour.lost == 0 && neighbour.won == 0 {
            self.touched.push(symbol);
        }
        neighbour
    }

    fn win(&mut self, symbol: u32, word: u32, count: i64) {
        let neighbour = self.at(symbol);
        neighbour.won += count;
        if neighbour.last_word != word {
            neighbour.last_word = word;
            neighbour.words += 1;
            self.words.push((symbol, word));
        }
    }

    /// Makes the words of a neighbour go to `place` and on; returns how many they are.
    pub(super) fn words_go_to(&mut self, symbol: u32, place: usize) -> usize {
        let neighbour = &mut self.neighbours[symbol as usize];
        neighbour.next_place = place;
        neighbour.words as usize
    }

    /// Puts the words where they go, and forgets everything.
    pub(super) fn finish(&mut self, places: &mut [u32]) {
        for (symbol, word) in self.words.drain(..) {
            let next = &mut self.neighbours[symbol as usize].next_place;
            if let Some(place) = places.get_mut(*next) {
                *place = word;
                *next += 1;
            }
        }
        self.forget();
    }

    fn forget(&mut self) {
        for symbol in self.touched.drain(..) {
            self.neighbours[symbol as usize] = Neighbour::NEW;
        }
    }
}

/// The changes that one merge makes.
#[derive(Default)]
pub(super) struct Changes {
    pub left: Side,
    pub right: Side,
    /// How many occurrences of the pair were merged.
    pub merged: i64,
}

impl Changes {
    /// Makes room for this many symbols.
    pub(super) fn make_room(&mut self, symbols: usize) {
        for side in [&mut self.left, &mut self.right] {
            side.neighbours.resize(symbols, Neighbour::NEW);
        }
    }

    /// Merges a pair in words of `row`, which is the part of all words that begins at `offset`. With
    /// `disjoint`, pairs of equal symbols do not overlap.
    pub(super) fn merge(
        &mut self,
        row: &mut [u32],
        offset: u32,
        words: &[u32],
        (pair, id): ((u32, u32), u32),
        disjoint: bool,
    ) {
        let Self {
            left,
            right,
            merged,
        } = self;
        for (at, &word) in words.iter().enumerate() {
            if let Some(&later) = words.get(at + AHEAD) {
                prefetch(row, (later - offset) as usize);
            }
            let row = &mut row[(word - offset) as usize..];
            if disjoint {
                *merged += merge_in_runs(row, word, pair, id, left, right);
                continue;
            }
            // What comes before a new token loses and wins at once. What follows it, too;
            // but twice the new token is one pair, whichever side it is seen from.
            let mut twice = 0;
            let before = |symbol, count| {
                left.at(symbol).lost += count;
                left.win(symbol, word, count);
            };
            let after = |symbol, count| {
                right.at(symbol).lost += count;
                if symbol == id {
                    twice += count
                } else {
                    right.win(symbol, word, count)
                }
            };
            *merged += merge_in_word(row, pair, id, before, after);
            if twice > 0 {
                left.win(id, word, twice);
            }
        }
    }

    /// Adds the changes in later words, and empties `other`.
    pub(super) fn absorb(&mut self, other: &mut Self) {
        let sides = [
            (&mut self.left, &mut other.left),
            (&mut self.right, &mut other.right),
        ];
        for (side, other) in sides {
            for &symbol in &other.touched {
                let Neighbour {
                    lost, won, words, ..
                } = other.neighbours[symbol as usize];
                let neighbour = side.at(symbol);
                neighbour.lost += lost;
                neighbour.won += won;
                neighbour.words += words;
            }
            side.words.append(&mut other.words);
            other.forget();
        }
        self.merged += std::mem::take(&mut other.merged);
    }
}

/// Merges a pair in one word, where a pair of equal symbols is counted by how many of them a run holds side
/// by side: the runs of the symbols that change are counted before and after.
fn merge_in_runs(
    row: &mut [u32],
    word: u32,
    (a, b): (u32, u32),
    id: u32,
    left: &mut Side,
    right: &mut Side,
) -> i64 {
    let (symbols, count) = word_of(row);
    let [old_a, old_b, old_id] = [a, b, id].map(|symbol| twins(symbols, symbol));
    let before = |symbol, count| {
        if symbol != a {
            left.at(symbol).lost += count;
        }
        if symbol != id {
            left.win(symbol, word, count);
        }
    };
    let after = |symbol, count| {
        if symbol != b {
            right.at(symbol).lost += count;
        }
        if symbol != id {
            right.win(symbol, word, count);
        }
    };
    let merged = merge_in_word(row, (a, b), id, before, after);
    let (symbols, _) = word_of(row);
    if a != b {
        for (side, symbol, old) in [(&mut *left, a, old_a), (right, b, old_b)] {
            let lost = old - twins(symbols, symbol);
            if lost > 0 {
                side.at(symbol).lost += lost * count;
            }
        }
    }
    let won = twins(symbols, id) - old_id;
    if won > 0 {
        left.win(id, word, won * count);
    }
    merged
}

/// How many pairs of this symbol there are side by side, without overlap.
fn twins(symbols: &[u32], symbol: u32) -> i64 {
    let runs = symbols.chunk_by(|one, next| one == next);
    let of_symbol = runs.filter(|run| run[0] == symbol);
    of_symbol.map(|run| run.len() as i64 / 2).sum()
}
