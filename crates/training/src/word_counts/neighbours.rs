//! Counting stretches of neighbouring words, from which superwords are learnt.
//!
//! A stretch is a run of words that may join, each by its number. It is counted like a word: as a text
//! with a character per number, so that stretches too go to disk beyond a budget of memory. Where two neighbours
//! occur together so rarely that no superword will hold both, the stretch ends between them. How often they do
//! is known from a reading before, by [`PairSketch`]: never less than it is, and in a memory that is fixed.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashMap;

use super::table::{CountTable, Entry};

/// Cells of a sketch: 64 MB, in which the pairs of a gigabyte of text hardly disturb each other.
const CELLS: usize = if cfg!(test) { 1 << 4 } else { 1 << 24 };

/// The last of a stretch's words if there is none, which no word has as its number.
const NONE: u32 = u32::MAX;

/// How often two neighbours occur together: never less than they do, more if they share a cell with others.
#[derive(Debug)]
pub struct PairSketch {
    cells: Vec<AtomicU32>,
    state: RandomState,
}

impl Default for PairSketch {
    fn default() -> Self {
        Self {
            cells: (0..CELLS).map(|_| AtomicU32::new(0)).collect(),
            state: RandomState::default(),
        }
    }
}

impl PairSketch {
    fn cell(&self, left: u32, right: u32) -> &AtomicU32 {
        let hash = self.state.hash_one((left, right));
        &self.cells[hash as usize % self.cells.len()]
    }

    fn add(&self, left: u32, right: u32) {
        let cell = self.cell(left, right);
        // Far from the end, so that no thread adds past it.
        if cell.load(Ordering::Relaxed) < u32::MAX / 2 {
            cell.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// At least how often these two occur together.
    fn bound(&self, left: u32, right: u32) -> u64 {
        match self.cell(left, right).load(Ordering::Relaxed) {
            count if count >= u32::MAX / 2 => u64::MAX,
            count => u64::from(count),
        }
    }

    /// The count of the cell with this rank, the largest count first; 0 if fewer cells are used.
    pub fn count_at(&self, rank: usize) -> u64 {
        let cells = self.cells.iter().map(|cell| cell.load(Ordering::Relaxed));
        let mut counts: Vec<u32> = cells.filter(|&count| count > 0).collect();
        if rank >= counts.len() {
            return 0;
        }
        let (_, &mut count, _) = counts.select_nth_unstable_by(rank, |a, b| b.cmp(a));
        u64::from(count)
    }
}

/// What a reading of the corpus counts.
#[derive(Clone, Debug)]
pub enum Reading {
    /// Pairs of neighbours.
    Pairs(Arc<PairSketch>),
    /// Stretches, parted between neighbours that occur together less often than this.
    Stretches(Arc<PairSketch>, u64),
}

/// The words that may join, and what is counted of them.
#[derive(Debug)]
pub struct Neighbours {
    numbers: HashMap<Box<[u8]>, u32, FixedState>,
    reading: Reading,
    words: AtomicU64,
}

impl Neighbours {
    /// Words with their numbers, all different and below [`MAX_NUMBERS`].
    pub fn new<'w>(words: impl IntoIterator<Item = (&'w [u8], u32)>, reading: Reading) -> Self {
        Self {
            numbers: words
                .into_iter()
                .map(|(word, it)| (word.into(), it))
                .collect(),
            reading,
            words: AtomicU64::new(0),
        }
    }

    /// How many words were read so far, those that may not join too.
    pub fn words(&self) -> u64 {
        self.words.load(Ordering::Relaxed)
    }
}

/// The numbers that a character of a stretch can hold: all but surrogates.
pub const MAX_NUMBERS: u32 = 0x11_0000 - 0x800;

/// The character of a number.
fn character(number: u32) -> char {
    let code = if number < 0xD800 {
        number
    } else {
        number + 0x800
    };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The numbers of the words of a stretch.
pub fn numbers(stretch: &str) -> impl Iterator<Item = u32> {
    let codes = stretch.chars().map(u32::from);
    codes.map(|code| if code < 0xD800 { code } else { code - 0x800 })
}

/// The current stretch of a text.
pub(super) struct Stretch<'n, 't> {
    neighbours: &'n Neighbours,
    table: &'t mut CountTable,
    text: String,
    /// How many words it has.
    length: usize,
    place: u64,
    last: u32,
    words: u64,
}

impl<'n, 't> Stretch<'n, 't> {
    pub fn new(neighbours: &'n Neighbours, table: &'t mut CountTable) -> Self {
        Self {
            neighbours,
            table,
            text: String::new(),
            length: 0,
            place: 0,
            last: NONE,
            words: 0,
        }
    }

    /// The next word, and its place in the corpus.
    pub fn word(&mut self, word: &str, place: u64) {
        self.words += 1;
        let Some(&number) = self.neighbours.numbers.get(word.as_bytes()) else {
            return self.end();
        };
        match &self.neighbours.reading {
            Reading::Pairs(sketch) => {
                if self.last != NONE {
                    sketch.add(self.last, number);
                }
            }
            Reading::Stretches(sketch, least) => {
                if self.last != NONE && sketch.bound(self.last, number) < *least {
                    self.end();
                }
                if self.length == 0 {
                    self.place = place;
                }
                self.text.push(character(number));
                self.length += 1;
            }
        }
        self.last = number;
    }

    /// No word follows that could join the last one.
    pub fn end(&mut self) {
        if self.length > 1 {
            let (count, place) = (1, self.place);
            self.table.add(self.text.as_bytes(), Entry { count, place });
        }
        self.text.clear();
        (self.length, self.last) = (0, NONE);
    }
}

impl Drop for Stretch<'_, '_> {
    fn drop(&mut self) {
        self.end();
        self.neighbours
            .words
            .fetch_add(self.words, Ordering::Relaxed);
    }
}
