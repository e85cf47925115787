//! A hash table from words to how often each occurs and where it first occurred.
//!
//! Words of up to 15 bytes, nearly all, are two numbers in a flat table with open addressing, found
//! with one memory access; the bytes of longer ones are in one buffer.

mod joined;
mod word;

pub use joined::{WordAndCount, by_count, in_order, join};
pub use word::{Bytes, TableWord};

use std::hash::BuildHasher;
use std::io;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use jeton_text::mem::large_pages;
use jeton_text::mem::prefetch::prefetch;
pub use jeton_text::mem::short_keys::{SHORT, ShortKey};

/// Words that are looked up together, so that their memory is fetched at the same time.
pub(crate) const GROUP: usize = 32;
const FEWEST: usize = 1 << 12;

/// How often a word occurs, and where it first occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// How often it occurs.
    pub count: u64,
    /// Number of the word at which it was first seen.
    pub place: u64,
}

impl Entry {
    pub(super) fn join(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.place = self.place.min(other.place);
    }
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// [`ShortKey::EMPTY`] where there is no word.
    key: ShortKey,
    entry: Entry,
}

struct LongWord {
    start: usize,
    end: usize,
    hash: u64,
    entry: Entry,
}

/// Words with their entries.
pub struct CountTable {
    seed: u64,
    /// How many characters a word has at most.
    pub(super) longest: usize,
    /// How often a word had more.
    pub(super) cut: u64,
    slots: Vec<Slot>,
    used: usize,
    text: Vec<u8>,
    long: Vec<LongWord>,
    index: HashTable<usize>,
}

impl CountTable {
    /// An empty table. Tables that shall be joined have the same `seed`.
    pub fn new(seed: u64, longest: usize) -> Self {
        Self {
            seed,
            longest,
            cut: 0,
            slots: vec![Slot::default(); FEWEST],
            used: 0,
            text: Vec::new(),
            long: Vec::new(),
            index: HashTable::new(),
        }
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.used + self.long.len()
    }

    /// How much memory the words take, about; the table itself may have three times that.
    pub(super) fn size(&self) -> usize {
        let (slot, long) = (size_of::<Slot>(), size_of::<LongWord>() + 16);
        self.used * slot + self.long.len() * long + self.text.len()
    }

    /// Adds to the entry of a word, which must not be too long.
    pub(crate) fn add(&mut self, word: &[u8], entry: Entry) {
        match word.len() {
            0 => {}
            1..=SHORT => self.add_short(ShortKey::new(word, 0, word.len()), entry),
            _ => self.add_long(word, long_hash(word, self.seed), entry),
        }
    }

    /// Counts one occurrence of a word that may be too long.
    #[cold]
    fn add_pieces(&mut self, word: &str, place: u64) {
        for (start, piece) in pieces(word, self.longest) {
            if start == 0 && piece.len() < word.len() {
                self.cut += 1;
            }
            let place = place + start as u64;
            self.add(piece.as_bytes(), Entry { count: 1, place });
        }
    }

    /// The words with their entries.
    pub fn entries(&self) -> impl Iterator<Item = (TableWord<'_>, Entry)> {
        let short = self.slots.iter().filter(|slot| slot.key != ShortKey::EMPTY);
        let short = short.map(|slot| (TableWord::Short(slot.key), slot.entry));
        let long = self.long.iter().map(|word| {
            let bytes = &self.text[word.start..word.end];
            (TableWord::Long(bytes), word.entry)
        });
        short.chain(long)
    }

    /// Calls `each` with the words in the order of their bytes, and empties the table.
    pub(super) fn drain_sorted(
        &mut self,
        mut each: impl FnMut(&[u8], Entry) -> io::Result<()>,
    ) -> io::Result<()> {
        let empty = Self {
            cut: self.cut,
            ..Self::new(self.seed, self.longest)
        };
        let Self {
            mut slots,
            text,
            mut long,
            ..
        } = std::mem::replace(self, empty);
        slots.retain(|slot| slot.key != ShortKey::EMPTY);
        slots.sort_unstable_by_key(|slot| (TableWord::Short(slot.key).first(), slot.key.bytes().1));
        long.sort_unstable_by(|a, b| text[a.start..a.end].cmp(&text[b.start..b.end]));
        let mut long = long.iter().peekable();
        for Slot { key, entry } in slots {
            let (bytes, length) = key.bytes();
            let short = &bytes[..length];
            while let Some(word) = long.next_if(|word| text[word.start..word.end] < *short) {
                each(&text[word.start..word.end], word.entry)?;
            }
            each(short, entry)?;
        }
        long.try_for_each(|word| each(&text[word.start..word.end], word.entry))
    }

    /// Counts the words of `text` that begin where `starts` has bits, counted from `offset`, the
    /// last of which ends `length` bytes after that.
    pub(super) fn add_stretch(
        &mut self,
        text: &str,
        place: u64,
        (offset, length): (usize, usize),
        starts: &[u64],
    ) {
        let surely_whole = self.longest.min(SHORT);
        let mut batch = InsertionBatch::of(self);
        let mut word = |start: usize, end: usize| {
            let place = place + start as u64;
            if end - start > surely_whole {
                batch.table.add_pieces(&text[start..end], place);
            } else {
                let key = ShortKey::new(text.as_bytes(), start, end - start);
                batch.add_short(key, Entry { count: 1, place });
            }
        };
        let mut start = offset;
        for (block, &bits) in starts.iter().enumerate() {
            let mut rest = bits;
            while rest != 0 {
                let next = offset + block * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if next > start {
                    word(start, next);
                }
                start = next;
            }
        }
        word(start, offset + length);
        batch.end();
    }

    /// Fetches the memory in which a short word would be found.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: ShortKey) {
        prefetch(
            &self.slots,
            key.hash(self.seed) as usize & (self.slots.len() - 1),
        );
    }

    /// Adds to the entry of a short word.
    #[inline(always)]
    pub(crate) fn add_short(&mut self, key: ShortKey, entry: Entry) {
        let mask = self.slots.len() - 1;
        let mut at = key.hash(self.seed) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.key == key {
                return slot.entry.join(entry);
            }
            if slot.key == ShortKey::EMPTY {
                *slot = Slot { key, entry };
                self.used += 1;
                if 4 * self.used > 3 * self.slots.len() {
                    self.grow(2 * self.slots.len());
                }
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        let larger = large_pages::filled(Slot::default(), slots);
        let old = std::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for slot in old.into_iter().filter(|slot| slot.key != ShortKey::EMPTY) {
            self.add_short(slot.key, slot.entry);
        }
    }

    /// Makes room for this many short words more.
    pub fn make_room(&mut self, words: usize) {
        let words = self.used + words;
        let slots = (words + words / 2).next_power_of_two();
        if slots > self.slots.len() {
            self.grow(slots);
        }
    }

    fn add_long(&mut self, word: &[u8], hash: u64, entry: Entry) {
        let Self {
            text, long, index, ..
        } = self;
        let same = |&at: &usize| {
            let known: &LongWord = &long[at];
            known.hash == hash && text[known.start..known.end] == *word
        };
        if let Some(&at) = index.find(hash, same) {
            return long[at].entry.join(entry);
        }
        index.insert_unique(hash, long.len(), |&at| long[at].hash);
        let start = text.len();
        text.extend_from_slice(word);
        long.push(LongWord {
            start,
            end: text.len(),
            hash,
            entry,
        });
    }

    /// Adds the words of `tables` whose hashes fall to `part` of this many parts.
    fn absorb_part(&mut self, tables: &[Self], part: usize) {
        let (parts, seed) = (tables.len(), self.seed);
        let falls_here = |hash: u64| ((hash >> 48) as usize * parts) >> 16 == part;
        for table in tables {
            let mut group = InsertionBatch::of(self);
            for slot in &table.slots {
                if slot.key != ShortKey::EMPTY && falls_here(slot.key.hash(seed)) {
                    group.add_short(slot.key, slot.entry);
                }
            }
            group.end();
            for word in &table.long {
                if falls_here(word.hash) {
                    self.add_long(&table.text[word.start..word.end], word.hash, word.entry);
                }
            }
        }
    }
}

/// Words on their way into a table: the memory of short ones is fetched before they are added.
pub struct InsertionBatch<'t> {
    table: &'t mut CountTable,
    waiting: [(ShortKey, Entry); GROUP],
    number: usize,
}

impl<'t> InsertionBatch<'t> {
    /// No words on their way into `table`.
    pub fn of(table: &'t mut CountTable) -> Self {
        Self {
            table,
            waiting: [(ShortKey::EMPTY, Entry::default()); GROUP],
            number: 0,
        }
    }

    /// Adds `text[start..end]`, which must not be too long.
    #[inline(always)]
    pub fn add(&mut self, text: &[u8], start: usize, end: usize, entry: Entry) {
        match end - start {
            0 => {}
            1..=SHORT => self.add_short(ShortKey::new(text, start, end - start), entry),
            _ => self.table.add(&text[start..end], entry),
        }
    }

    /// Adds a short word.
    #[inline(always)]
    fn add_short(&mut self, key: ShortKey, entry: Entry) {
        self.table.prefetch(key);
        self.waiting[self.number] = (key, entry);
        self.number += 1;
        if self.number == GROUP {
            self.number = 0;
            for (key, entry) in self.waiting {
                self.table.add_short(key, entry);
            }
        }
    }

    /// Adds the words that are still in flight.
    pub fn end(self) {
        for &(key, entry) in &self.waiting[..self.number] {
            self.table.add_short(key, entry);
        }
    }
}

/// A word split into pieces of this many characters and a rest, with where each begins.
pub(super) fn pieces(word: &str, longest: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = &word[start..];
        let end = if rest.len() <= longest {
            rest.len()
        } else {
            let cut = rest.char_indices().nth(longest);
            cut.map_or(rest.len(), |(at, _)| at)
        };
        let piece = (start, &rest[..end]);
        start += end;
        (end > 0).then_some(piece)
    })
}

/// The hash of a word that is no short one.
fn long_hash(word: &[u8], seed: u64) -> u64 {
    FixedState::with_seed(seed).hash_one(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_counts::WordCounts;
    use std::collections::BTreeMap;

    #[test]
    fn tables_count_short_and_long_words() {
        let words: Vec<String> = (0..10_000)
            .map(|n| format!("{}{}", "x".repeat(n % 20), n / 3))
            .collect();
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        let mut tables = [0; 3].map(|_| CountTable::new(7, usize::MAX));
        for (word, place) in words.iter().chain(&words).zip(0..) {
            tables[place as usize % 3].add(word.as_bytes(), Entry { count: 1, place });
            *expected.entry(word).or_default() += 1;
        }
        let counts = in_order(&join(tables.into()), |_, _| true);
        assert_eq!(counts.iter().collect::<BTreeMap<_, _>>(), expected);
        let mut met: Vec<&str> = words.iter().map(String::as_str).collect();
        met.dedup();
        let order: Vec<&str> = counts.iter().map(|(word, _)| word).collect();
        assert_eq!(
            order,
            WordCounts::from_words(met.into_iter().map(|word| (word, 1)))
                .iter()
                .map(|(word, _)| word)
                .collect::<Vec<_>>()
        );
    }
}
