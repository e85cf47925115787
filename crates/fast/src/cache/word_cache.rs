//! The word cache: the tokens of words that were seen before, found with one memory access.
//!
//! Text repeats itself: nearly all pieces of a text are among the few thousand most frequent. A cache
//! belongs to one call at a time, so it needs no locks. It is bounded: its tables grow with the
//! new words until they have the bytes that [`limit`] allows; then new words replace
//! old ones.

use super::capacities::{Capacities, FEWEST, limit};
use super::entries::{
    Found, LONG_COUNT, LONG_IDS, Line, LongEntry, SHORT_COUNT, SHORT_IDS, SOME, ShortEntry,
};
use super::overflow::Overflow;
use crate::sink::Sink;
use jeton_text::mem::large_pages;
use jeton_text::mem::prefetch::prefetch;
use jeton_text::mem::short_keys::{LONG, LongKey, SHORT, ShortKey};

/// Bytes of the longest word that is cached.
pub const LONGEST: usize = 512;
/// Tokens of a row outside the entries, for words whose entry has no room for theirs.
const SPILL_ROW: usize = 4;
/// Times by which a table grows, until it fills the processor's second cache.
const GROWTH: usize = 4;
/// Cache lines from which on a table only doubles.
const GROWN: usize = 1 << 17;
/// Cache lines from which on a table has memory to grow as far as it may, or to [`ROOMIEST`] lines.
const ROOMY: usize = 1 << 15;
/// Cache lines, at most, for which a table has memory that it does not use: the limit may be any number.
const ROOMIEST: usize = 1 << 20;
/// Groups of four lines by which a growing table prefetches ahead.
const FOURS_AHEAD: usize = 4;
/// Entries, at most, from where its hash points to where a long word lies.
const REACH: usize = 8;

/// The cache: words of earlier text, with their tokens.
pub struct WordCache {
    limit: usize,
    capacities: Capacities,
    seed: u64,
    short: Vec<Line>,
    short_count: usize,
    long: Vec<LongEntry>,
    long_count: usize,
    /// Tokens that entries have no room for, in rows of [`SPILL_ROW`]; nothing in the last [`SOME`].
    spilled: Vec<u32>,
    /// What is too long for an entry.
    overflow: Overflow,
}

impl WordCache {
    /// An empty cache. `seed` moves the hashes, so that no text can aim words at one place.
    pub fn new(seed: u64) -> Self {
        Self::of_limit(seed, limit(), 1)
    }

    /// An empty cache that shares what the limit allows with another one.
    pub fn half(seed: u64) -> Self {
        Self::of_limit(seed, limit(), 2)
    }

    fn of_limit(seed: u64, limit: usize, caches: usize) -> Self {
        let capacities = Capacities::of(limit / caches);
        Self {
            limit,
            seed,
            short: vec![Line::EMPTY; FEWEST],
            short_count: 0,
            long: vec![LongEntry::EMPTY; FEWEST],
            long_count: 0,
            spilled: Vec::new(),
            overflow: Overflow::new(capacities.overflow),
            capacities,
        }
    }

    /// Whether the limit is still what it was made for.
    pub fn keeps_the_limit(&self) -> bool {
        self.limit == limit()
    }

    /// The hash of a short piece; prefetches the memory in which the piece would be found.
    #[inline(always)]
    pub fn prefetch_short(&self, key: ShortKey) -> u64 {
        let hash = key.hash(self.seed);
        prefetch(&self.short, hash as usize & (self.short.len() - 1));
        hash
    }

    /// The hash of a long piece; prefetches the memory in which the piece would be found.
    #[inline(always)]
    pub fn prefetch_long(&self, key: LongKey) -> u64 {
        let hash = key.hash(self.seed);
        prefetch(&self.long, (hash >> 32) as usize & (self.long.len() - 1));
        hash
    }

    /// The tokens of a short piece, if they are known.
    #[inline(always)]
    pub fn find_short(&self, key: ShortKey, hash: u64) -> Option<Found<'_>> {
        let at = hash as usize & (self.short.len() - 1);
        let entry = match self.short[at].find(key) {
            Some(entry) => entry,
            None if self.has_room(at) => return None,
            None => match self.short[at ^ 1].find(key) {
                Some(entry) => entry,
                None if self.has_room(at ^ 1) => return None,
                None => self.find_farther(key, at)?,
            },
        };
        let count = (entry.high >> SHORT_COUNT) as usize;
        Some(match count {
            ..=SHORT_IDS => Found::Short(&entry.ids, count),
            _ => self.spilled(entry.ids[0], count),
        })
    }

    /// Prefetches the memory in which a short piece would be found whose line is full, and which is read
    /// when the piece is remembered.
    #[inline(always)]
    pub fn prefetch_beside(&self, hash: u64) {
        prefetch(&self.short, (hash as usize & (self.short.len() - 1)) ^ 1);
    }

    /// Whether a line is not full, a line's first entry being taken first: then what belongs there lies
    /// nowhere else, or was forgotten.
    #[inline(always)]
    fn has_room(&self, at: usize) -> bool {
        self.short[at].0[1].high == 0
    }

    /// The entry of a short piece whose two lines are full.
    #[cold]
    fn find_farther(&self, key: ShortKey, at: usize) -> Option<&ShortEntry> {
        let [first, second] = [at ^ 2, at ^ 3].map(|line| self.short[line].find(key));
        first.or(second)
    }

    /// The tokens of a piece that is kept as a long one, if they are known.
    #[inline(always)]
    pub fn find_long(&self, key: LongKey, hash: u64) -> Option<Found<'_>> {
        let mask = self.long.len() - 1;
        let entry = (0..REACH)
            .map(|step| &self.long[((hash >> 32) as usize + step) & mask])
            .find(|entry| entry.key() == key)?;
        let count = (entry.words[3] >> LONG_COUNT) as usize;
        Some(match count {
            ..=LONG_IDS => Found::Long(&entry.ids, count),
            _ => self.spilled(entry.ids[0], count),
        })
    }

    #[inline(always)]
    fn spilled(&self, row: u32, count: usize) -> Found<'_> {
        let ids = &self.spilled[row as usize * SPILL_ROW..];
        match ids.first_chunk() {
            Some(some) if count <= SOME => Found::Spilled(some, count),
            _ => Found::Many(&ids[..count]),
        }
    }

    /// The tokens of a piece that is longer than [`LONG`], if they are known.
    pub fn find_overflow(&self, piece: &[u8]) -> Option<&[u32]> {
        (piece.len() <= LONGEST).then(|| self.overflow.find(piece))?
    }

    /// Gives the tokens of any piece to `sink`, if they are known.
    pub fn emit(&self, piece: &[u8], sink: &mut impl Sink) -> bool {
        let found = if piece.len() <= SHORT {
            let key = ShortKey::new(piece, 0, piece.len());
            self.find_short(key, key.hash(self.seed))
        } else if piece.len() <= LONG {
            let key = LongKey::new(piece, 0, piece.len());
            self.find_long(key, key.hash(self.seed))
        } else {
            self.find_overflow(piece).map(Found::Many)
        };
        found
            .inspect(|found| sink.push_all(found.as_slice()))
            .is_some()
    }

    /// Remembers the tokens of any piece.
    pub fn insert(&mut self, piece: &[u8], ids: &[u32]) {
        if piece.len() <= SHORT {
            let key = ShortKey::new(piece, 0, piece.len());
            let hash = key.hash(self.seed);
            if ids.len() <= SHORT_IDS {
                let mut few = [0; SHORT_IDS];
                few[..ids.len()].copy_from_slice(ids);
                self.insert_few(key, hash, &few, ids.len());
            } else {
                self.insert_many(key, hash, ids);
            }
        } else if piece.len() <= LONG {
            self.insert_long(LongKey::new(piece, 0, piece.len()), ids);
        } else if piece.len() <= LONGEST {
            self.overflow.insert(piece, ids);
        }
    }

    /// Remembers the tokens of a short piece, the first `count` of `ids`; `hash` is its key's.
    #[inline(always)]
    pub fn insert_few(&mut self, key: ShortKey, hash: u64, ids: &[u32; SHORT_IDS], count: usize) {
        if self.short_count * 5 > self.short.len() * 4 && self.short.len() < self.capacities.short {
            self.grow_short();
        }
        let entry = ShortEntry {
            low: key.low,
            high: key.high | (count as u64) << SHORT_COUNT,
            ids: *ids,
        };
        self.put_short(entry, hash);
    }

    /// Remembers the tokens of a short piece that are more than an entry holds; `hash` is its key's.
    pub fn insert_many(&mut self, key: ShortKey, hash: u64, ids: &[u32]) {
        // A piece has at most one token per byte, unless a normalizer makes it longer.
        if ids.len() <= SHORT {
            let row = self.spill(ids);
            self.insert_few(key, hash, &[row, 0, 0, 0], ids.len());
        }
    }

    /// A processor cannot guess which place is free, so it is computed.
    #[inline(always)]
    fn put_short(&mut self, entry: ShortEntry, hash: u64) {
        let at = hash as usize & (self.short.len() - 1);
        let free = |line: usize| {
            let Line([first, second]) = &self.short[line];
            u32::from(first.high == 0) | u32::from(second.high == 0) << 1
        };
        match free(at) | free(at ^ 1) << 2 {
            0 => self.put_farther(entry, hash, at),
            free => {
                let (beside, side) = (free.trailing_zeros() / 2, free.trailing_zeros() % 2);
                self.short[at ^ beside as usize].0[side as usize] = entry;
                self.short_count += 1;
            }
        }
    }

    /// The same, where both lines are full.
    #[cold]
    fn put_farther(&mut self, entry: ShortEntry, hash: u64, at: usize) {
        let places = [(at ^ 2, 0), (at ^ 2, 1), (at ^ 3, 0), (at ^ 3, 1)];
        let free = places
            .into_iter()
            .find(|&(line, side)| self.short[line].0[side].high == 0);
        self.short_count += usize::from(free.is_some());
        // Full as well: the newcomer takes a place that its hash chooses.
        let (line, side) = free.unwrap_or((at, (hash >> 63) as usize));
        self.short[line].0[side] = entry;
    }

    #[cold]
    fn grow_short(&mut self) {
        let (lines, grown) = (
            self.short.len(),
            grown(self.short.len(), self.capacities.short),
        );
        if grown <= self.short.capacity() {
            self.short_count = 0;
            // Fresh memory is dear, so a large table grows where it is. Of four neighbouring lines
            // the entries go back there or to other fours, which are empty yet.
            self.short.resize(grown, Line::EMPTY);
            for number in 0..lines / 4 {
                let (fours, _) = self.short[..lines].as_chunks::<4>();
                if let Some(four) = fours.get(number + FOURS_AHEAD) {
                    self.ask_for_all(four);
                }
                let (fours, _) = self.short.as_chunks_mut::<4>();
                let four = std::mem::replace(&mut fours[number], [Line::EMPTY; 4]);
                self.put_all(&four);
            }
        } else {
            let room = if grown < ROOMY {
                grown
            } else {
                grown.max(self.capacities.short.min(ROOMIEST))
            };
            let Some(mut larger) = large_pages::try_with_capacity(room) else {
                self.capacities.short = lines; // without memory for more, the newest words stay
                return;
            };
            self.short_count = 0;
            larger.resize(grown, Line::EMPTY);
            let old = std::mem::replace(&mut self.short, larger);
            let (fours, _) = old.as_chunks::<4>();
            for (number, four) in fours.iter().enumerate() {
                if let Some(four) = fours.get(number + FOURS_AHEAD) {
                    self.ask_for_all(four);
                }
                self.put_all(four);
            }
        }
    }

    #[inline(always)]
    fn put_all(&mut self, lines: &[Line; 4]) {
        for entry in lines.iter().flat_map(|Line(entries)| entries) {
            if entry.high != 0 {
                self.put_short(*entry, entry.key().hash(self.seed));
            }
        }
    }

    /// Prefetches the memory that entries of another size of the table will be put to.
    #[inline(always)]
    fn ask_for_all(&self, lines: &[Line; 4]) {
        for entry in lines.iter().flat_map(|Line(entries)| entries) {
            if entry.high != 0 {
                self.prefetch_short(entry.key());
            }
        }
    }

    /// Remembers the tokens of a piece of up to [`LONG`] bytes.
    pub fn insert_long(&mut self, key: LongKey, ids: &[u32]) {
        if ids.len() > u8::MAX.into() {
            return;
        }
        if self.long_count * 2 > self.long.len() && self.long.len() < self.capacities.long {
            self.grow_long();
        }
        let mut entry = LongEntry {
            words: key.0,
            ids: [0; LONG_IDS],
        };
        entry.words[3] |= (ids.len() as u64) << LONG_COUNT;
        if ids.len() <= LONG_IDS {
            entry.ids[..ids.len()].copy_from_slice(ids);
        } else {
            entry.ids[0] = self.spill(ids);
        }
        self.put_long(entry);
    }

    fn put_long(&mut self, entry: LongEntry) {
        let mask = self.long.len() - 1;
        let hash = entry.key().hash(self.seed);
        let first = (hash >> 32) as usize & mask;
        let free = (0..REACH)
            .map(|step| (first + step) & mask)
            .find(|&slot| self.long[slot].is_empty());
        let slot = free.unwrap_or((first + (hash >> 61) as usize % REACH) & mask);
        self.long_count += usize::from(free.is_some());
        self.long[slot] = entry;
    }

    #[cold]
    fn grow_long(&mut self) {
        let entries = grown(self.long.len(), self.capacities.long);
        let Some(mut larger) = large_pages::try_with_capacity(entries) else {
            self.capacities.long = self.long.len();
            return;
        };
        larger.resize(entries, LongEntry::EMPTY);
        let old = std::mem::replace(&mut self.long, larger);
        self.long_count = 0;
        for entry in old.into_iter().filter(|entry| !entry.is_empty()) {
            self.put_long(entry);
        }
    }

    /// Puts tokens outside; returns their first row. No room: the pieces whose tokens lie there are
    /// forgotten first.
    fn spill(&mut self, ids: &[u32]) -> u32 {
        let length = ids.len().next_multiple_of(SPILL_ROW);
        if self.spilled.len() + length > self.capacities.spilled {
            self.forget_spilled();
        }
        let start = self.spilled.len().saturating_sub(SOME);
        let end = start + length + SOME;
        if end > self.spilled.capacity() {
            // Fresh memory is dear, and room that is not used takes none.
            let room = end.max((GROWTH * end).min(self.capacities.spilled));
            let larger = large_pages::try_with_capacity(room);
            let mut larger = larger.unwrap_or_else(|| large_pages::with_capacity(end));
            larger.extend_from_slice(&self.spilled);
            self.spilled = larger;
        }
        self.spilled.resize(end, 0);
        self.spilled[start..start + ids.len()].copy_from_slice(ids);
        (start / SPILL_ROW) as u32
    }

    #[cold]
    fn forget_spilled(&mut self) {
        self.spilled.clear();
        for entry in self.short.iter_mut().flat_map(|Line(entries)| entries) {
            if entry.high >> SHORT_COUNT > SHORT_IDS as u64 {
                *entry = ShortEntry::EMPTY;
                self.short_count -= 1;
            }
        }
        for entry in &mut self.long {
            if entry.words[3] >> LONG_COUNT > LONG_IDS as u64 {
                *entry = LongEntry::EMPTY;
                self.long_count -= 1;
            }
        }
    }
}

/// How many lines a table has after it has grown.
fn grown(lines: usize, capacity: usize) -> usize {
    let growth = if lines < GROWN { GROWTH } else { 2 };
    capacity.min(lines * growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_holds_bytes_length_and_tokens() {
        let mut words = WordCache::new(7);
        let key = ShortKey::new(b" the", 0, 4);
        assert_eq!(key.bytes(), (*b" the\0\0\0\0\0\0\0\0\0\0\0\x04", 4));
        words.insert(b" the", &[262]);
        let mut entries = words.short.iter().flat_map(|Line(entries)| entries);
        let entry = entries.find(|entry| entry.high != 0).unwrap();
        assert_eq!(entry.high >> 56, 0x14);
        let mut ids = Vec::new();
        assert!(words.emit(b" the", &mut ids));
        assert_eq!(ids, [262]);
    }

    #[test]
    fn remembers_pieces_of_every_length_and_count() {
        let mut words = WordCache::new(1);
        let text: Vec<u8> = (1..=600).map(|n| n as u8).collect();
        let pieces = |length: usize| [&text[..length], &text[600 - length..]];
        let count = |length: usize| length * length % (length + 1);
        for length in 1..=LONGEST {
            for piece in pieces(length) {
                let ids: Vec<u32> = (0..count(length) as u32).collect();
                words.insert(piece, &ids);
            }
        }
        for length in 1..=LONGEST {
            for piece in pieces(length) {
                let mut ids = Vec::new();
                assert!(words.emit(piece, &mut ids), "{length}");
                assert!((0..count(length) as u32).eq(ids), "{length}");
            }
        }
        let mut ids = Vec::new();
        assert!(!words.emit(b"never seen", &mut ids));
    }

    #[test]
    fn forgets_rather_than_grow() {
        for limit in [0, 100_000, 8 << 20, usize::MAX] {
            let mut words = WordCache::of_limit(3, limit, 1);
            for n in 0..300_000u64 {
                let piece = [n.to_le_bytes(), n.to_be_bytes()].concat();
                words.insert(&piece[..8 + n as usize % 8], &[n as u32; 6]);
                words.insert(&piece, &[n as u32; 9]);
                words.insert(&piece.repeat(3), &[n as u32]);
            }
            let lines = words.short.len() + words.long.len();
            let bytes = lines * size_of::<Line>() + words.spilled.len() * size_of::<u32>();
            assert!(
                bytes + words.overflow.bytes() <= limit.max(100_000),
                "{bytes}"
            );
            let mut ids = Vec::new();
            let last = 299_999u64;
            assert!(words.emit(&[last.to_le_bytes(), last.to_be_bytes()].concat(), &mut ids));
        }
    }
}
