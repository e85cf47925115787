//! The words of a corpus as symbols, and one merge in one word.

use jeton_text::mem::room;

/// No word, no segment.
pub(super) const NONE: u32 = u32::MAX;

/// Words of at least two symbols, with their counts, all in one list of numbers: the length of a word, the
/// two halves of its count, its symbols. A word is identified by where it begins.
#[derive(Default)]
pub(crate) struct Words {
    pub row: Vec<u32>,
    /// How many symbols all words have, each occurrence of a word counted, shorter ones too.
    pub sum: u128,
    /// How many they had before anything was merged.
    pub units: u128,
}

/// Numbers before the symbols of a word.
const HEAD: usize = 3;

impl Words {
    pub(crate) fn push(&mut self, symbols: &[u32], count: u64) {
        self.sum += u128::from(count) * symbols.len() as u128;
        if symbols.len() < 2 {
            return;
        }
        let head = [symbols.len() as u32, count as u32, (count >> 32) as u32];
        room::reserve(&mut self.row, HEAD + symbols.len());
        self.row.extend_from_slice(&head);
        self.row.extend_from_slice(symbols);
    }

    /// Adds the words of another list.
    pub(crate) fn append(&mut self, mut other: Self) {
        room::reserve(&mut self.row, other.row.len());
        self.row.append(&mut other.row);
        self.sum += other.sum;
        self.units += other.units;
    }

    /// Where each word begins, as long as none has changed.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u32> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let length = *self.row.get(next)?;
            let start = next as u32;
            next += HEAD + length as usize;
            Some(start)
        })
    }

    /// The symbols and the count of a word.
    pub(crate) fn word(&self, start: u32) -> (&[u32], i64) {
        word_of(&self.row[start as usize..])
    }

    /// Replaces the symbols of a word, which has never more of them than at first.
    pub(super) fn set(&mut self, start: u32, symbols: &[u32]) {
        let (head, rest) = self.row[start as usize..].split_at_mut(HEAD);
        head[0] = symbols.len() as u32;
        rest[..symbols.len()].copy_from_slice(symbols);
    }
}

/// The symbols and the count of the word that begins `row`.
pub(super) fn word_of(row: &[u32]) -> (&[u32], i64) {
    let (head, rest) = row.split_at(HEAD);
    (&rest[..head[0] as usize], count_of(head))
}

/// Asks for the memory of the word that begins at `start`, to have it at hand soon.
#[inline(always)]
pub(super) fn prefetch(row: &[u32], start: usize) {
    if start < row.len() {
        jeton_text::mem::prefetch::prefetch(row, start);
    }
}

fn count_of(head: &[u32]) -> i64 {
    (u64::from(head[1]) | u64::from(head[2]) << 32) as i64
}

/// Merges `pair` into `id` in the word that begins `row`, left to right.
///
/// Calls `before` with each symbol to the left of a merge and `after` with each to the right, as
/// they are at that moment, and with the count of the word. Returns how many occurrences were merged,
/// each as often as the word occurs.
pub(crate) fn merge_in_word(
    row: &mut [u32],
    (a, b): (u32, u32),
    id: u32,
    mut before: impl FnMut(u32, i64),
    mut after: impl FnMut(u32, i64),
) -> i64 {
    let (head, rest) = row.split_at_mut(HEAD);
    let count = count_of(head);
    let symbols = &mut rest[..head[0] as usize];
    // Up to the first merge, everything stays where it is.
    let first = symbols.windows(2).position(|symbols| symbols == [a, b]);
    let Some(mut read) = first else { return 0 };
    let mut written = read;
    while read < symbols.len() {
        if symbols[read] != a || symbols.get(read + 1) != Some(&b) {
            symbols[written] = symbols[read];
            (read, written) = (read + 1, written + 1);
            continue;
        }
        if written > 0 {
            before(symbols[written - 1], count);
        }
        symbols[written] = id;
        (read, written) = (read + 2, written + 1);
        if let Some(&symbol) = symbols.get(read) {
            after(symbol, count);
        }
    }
    let merged = (read - written) as i64 * count;
    head[0] = written as u32;
    merged
}
