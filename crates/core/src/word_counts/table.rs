//! A hash table from words to how often each occurs and where it was first met.
//!
//! Words of up to 15 bytes, nearly all, are two numbers in a flat table with open addressing, which
//! one look at memory finds; the bytes of longer ones stand in one row.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use rayon::prelude::*;

use super::WordCounts;
use crate::compiled::{SHORT, ShortKey};

/// How many words are looked up together, so that their memory is fetched at the same time.
const GROUP: usize = 32;
const FEWEST: usize = 1 << 12;

/// How often a word occurs, and where it was first met.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    count: u64,
    place: u64,
}

impl Entry {
    fn join(&mut self, other: Self) {
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
pub(super) struct Table {
    seed: u64,
    slots: Vec<Slot>,
    used: usize,
    text: Vec<u8>,
    long: Vec<LongWord>,
    index: HashTable<usize>,
}

impl Table {
    /// An empty table. Tables that shall be joined have the same `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            slots: vec![Slot::default(); FEWEST],
            used: 0,
            text: Vec::new(),
            long: Vec::new(),
            index: HashTable::new(),
        }
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.used + self.long.len()
    }

    /// Counts one occurrence of a word.
    pub(super) fn add(&mut self, word: &str, place: u64) {
        let entry = Entry { count: 1, place };
        let word = word.as_bytes();
        match word.len() {
            0 => {}
            1..=SHORT => self.add_short(ShortKey::new(word, 0, word.len()), entry),
            _ => self.add_long(word, long_hash(word, self.seed), entry),
        }
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
        let text = text.as_bytes();
        let mut keys = [(ShortKey::EMPTY, 0); GROUP];
        let mut waiting = 0;
        let mut word = |table: &mut Self, start: usize, end: usize| {
            let place = place + start as u64;
            if end - start > SHORT {
                let word = &text[start..end];
                let entry = Entry { count: 1, place };
                return table.add_long(word, long_hash(word, table.seed), entry);
            }
            let key = ShortKey::new(text, start, end - start);
            table.prefetch(key);
            keys[waiting] = (key, place);
            waiting += 1;
            if waiting == GROUP {
                waiting = 0;
                for (key, place) in keys {
                    table.add_short(key, Entry { count: 1, place });
                }
            }
        };
        let mut start = offset;
        for (block, &bits) in starts.iter().enumerate() {
            let mut rest = bits;
            while rest != 0 {
                let next = offset + block * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if next > start {
                    word(self, start, next);
                }
                start = next;
            }
        }
        word(self, start, offset + length);
        for (key, place) in &keys[..waiting] {
            let place = *place;
            self.add_short(*key, Entry { count: 1, place });
        }
    }

    #[inline(always)]
    fn prefetch(&self, key: ShortKey) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the slot is inside the table; prefetching has no other precondition.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let slot = key.hash(self.seed) as usize & (self.slots.len() - 1);
            _mm_prefetch(self.slots.as_ptr().add(slot).cast(), _MM_HINT_T0);
        }
    }

    #[inline(always)]
    fn add_short(&mut self, key: ShortKey, entry: Entry) {
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
                    self.grow();
                }
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Slot::default(); 2 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for slot in old.into_iter().filter(|slot| slot.key != ShortKey::EMPTY) {
            self.add_short(slot.key, slot.entry);
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

    /// Adds the words of `tables` whose hashes fall to `part` of so many parts.
    fn absorb_part(&mut self, tables: &[Self], part: usize) {
        let parts = tables.len();
        let falls_here = |hash: u64| ((hash >> 48) as usize * parts) >> 16 == part;
        for table in tables {
            for slot in &table.slots {
                if slot.key != ShortKey::EMPTY && falls_here(slot.key.hash(self.seed)) {
                    self.add_short(slot.key, slot.entry);
                }
            }
            for word in &table.long {
                if falls_here(word.hash) {
                    self.add_long(&table.text[word.start..word.end], word.hash, word.entry);
                }
            }
        }
    }
}

/// The words of all tables, which have the same seed, in the order in which they were first met.
pub(super) fn join(mut tables: Vec<Table>) -> WordCounts {
    tables.retain(|table| table.len() > 0);
    if tables.len() > 1 {
        let parts = (0..tables.len()).into_par_iter();
        tables = parts
            .map(|part| {
                let mut joined = Table::new(tables[0].seed);
                joined.absorb_part(&tables, part);
                joined
            })
            .collect();
    }
    let mut met: Vec<Met> = Vec::with_capacity(tables.iter().map(Table::len).sum());
    for (table, number) in tables.iter_mut().zip(0..) {
        for Slot { key, entry } in std::mem::take(&mut table.slots) {
            if key != ShortKey::EMPTY {
                let word = Word::Short(key);
                met.push(Met { entry, word });
            }
        }
        for (LongWord { entry, .. }, at) in table.long.iter().zip(0..) {
            let (entry, word) = (*entry, Word::Long(number, at));
            met.push(Met { entry, word });
        }
    }
    met.par_sort_unstable_by(|a, b| {
        let places = a.entry.place.cmp(&b.entry.place);
        places.then_with(|| a.word.bytes(&tables).cmp(&b.word.bytes(&tables)))
    });
    let size = met.iter().map(|met| met.word.bytes(&tables).len()).sum();
    let mut text = Vec::with_capacity(size);
    let mut ends = Vec::with_capacity(met.len());
    for Met { word, .. } in &met {
        text.extend_from_slice(&word.bytes(&tables));
        ends.push(text.len());
    }
    WordCounts {
        text: String::from_utf8(text).expect("words are cut out of text between characters"),
        ends,
        counts: met.iter().map(|met| met.entry.count).collect(),
    }
}

/// A word on its way from the tables into order.
struct Met {
    entry: Entry,
    word: Word,
}

enum Word {
    Short(ShortKey),
    /// The number of its table, and its own in there.
    Long(u32, usize),
}

impl Word {
    fn bytes<'t>(&self, tables: &'t [Table]) -> Bytes<'t> {
        match *self {
            Self::Short(key) => {
                let (bytes, length) = key.bytes();
                Bytes::Here(bytes, length)
            }
            Self::Long(table, at) => {
                let table = &tables[table as usize];
                let word = &table.long[at];
                Bytes::There(&table.text[word.start..word.end])
            }
        }
    }
}

/// The bytes of a word.
enum Bytes<'t> {
    Here([u8; SHORT + 1], usize),
    There(&'t [u8]),
}

impl std::ops::Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Here(bytes, length) => &bytes[..*length],
            Self::There(bytes) => bytes,
        }
    }
}

/// The hash of a word that is no short one.
fn long_hash(word: &[u8], seed: u64) -> u64 {
    FixedState::with_seed(seed).hash_one(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn tables_count_short_and_long_words() {
        let words: Vec<String> = (0..10_000)
            .map(|n| format!("{}{}", "x".repeat(n % 20), n / 3))
            .collect();
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        let mut tables = [Table::new(7), Table::new(7), Table::new(7)];
        for (word, place) in words.iter().chain(&words).zip(0..) {
            tables[place as usize % 3].add(word, place);
            *expected.entry(word).or_default() += 1;
        }
        let counts = join(tables.into());
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
