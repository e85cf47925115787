//! Pieces that are too long for an entry of the word cache, with their tokens, one after another in
//! one list of numbers; an index that can be prefetched says where each piece is.

use jeton_text::mem::large_pages;
use jeton_text::mem::prefetch::prefetch;
use jeton_text::mem::short_keys::{MIX, fold};

/// Places of a line. A piece lies in the line that its hash chooses, or in the one beside it
/// if the first was full.
const PLACES: usize = 8;
/// A place of no record: none begins with the first word.
const FREE: u64 = 0;
/// Lines at first.
const FIRST_LINES: usize = 8;
/// Bytes of which one is for lines, at most; the others are for the records.
const LINES_SHARE: usize = 4;
/// Places of which one is taken when lines grow.
const PLACES_PER_RECORD: usize = 3;
/// Times by which lines, and the room for records, grow.
const GROWTH: usize = 4;
/// Words of 32 bits of all records, at most: places are numbers of 32 bits.
const MAX_WORDS: usize = u32::MAX as usize;
/// Words of records for which there is room at first.
const FEWEST_WORDS: usize = 1 << 10;

/// Places of records: the hash of the piece, and below it the number of the record's first word, or
/// [`FREE`].
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; PLACES]);

impl Line {
    const EMPTY: Self = Self([FREE; PLACES]);

    /// A bit for each place of this hash. Which one it is cannot be guessed.
    #[inline(always)]
    fn alike(&self, hash: u64) -> u32 {
        let Self(places) = self;
        let bits =
            (places.iter().zip(0..)).map(|(&place, at)| u32::from(hash_of(place) == hash) << at);
        bits.fold(0, |alike, bit| alike | bit)
    }
}

/// The cache of long pieces.
pub struct Overflow {
    seed: u64,
    lines: Vec<Line>,
    /// How many places are taken.
    count: usize,
    /// Records: the length of a piece and how many tokens it has, the piece, and the tokens. The first
    /// word is no record's.
    records: Vec<u32>,
    /// How many lines there are at most, and how many words of records.
    max_lines: usize,
    max_words: usize,
}

impl Overflow {
    /// No pieces, and room for this many bytes of lines and records.
    pub fn new(seed: u64, bytes: usize) -> Self {
        let lines = (bytes / LINES_SHARE / size_of::<Line>()).checked_ilog2();
        let max_lines = lines.map_or(FIRST_LINES, |bits| FIRST_LINES.max(1 << bits));
        let left = bytes.saturating_sub(max_lines * size_of::<Line>());
        Self {
            seed,
            lines: vec![Line::EMPTY; FIRST_LINES],
            count: 0,
            records: vec![0],
            max_lines,
            max_words: (left / size_of::<u32>()).min(MAX_WORDS),
        }
    }

    /// How many bytes it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + size_of_val(&*self.records)
    }

    /// The hash of a piece, in the upper half; the lower half is zero, as a long key's.
    #[inline]
    pub fn hash(&self, piece: &[u8]) -> u64 {
        let word = |at: usize| {
            let bytes = piece.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let both = |hash: u64, at: usize| fold(word(at) ^ hash, word(at + 8) ^ self.seed);
        let last = piece.len().saturating_sub(16);
        let first = piece.len() as u64 ^ MIX ^ self.seed.rotate_left(32);
        let front = (0..last).step_by(16).fold(first, both);
        hash_of(both(front, last))
    }

    /// Prefetches the line in which a piece of this hash would be found.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.lines, self.line(hash));
    }

    /// Prefetches what lies in that line's first place of this hash.
    #[inline(always)]
    pub fn prefetch_record(&self, hash: u64) {
        let start = self.alike(hash).next().unwrap_or(0);
        prefetch(&self.records, start);
        prefetch(&self.records, (start + 16).min(self.records.len() - 1));
    }

    #[inline(always)]
    fn line(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.lines.len() - 1)
    }

    /// Where the records of pieces of this hash begin.
    #[inline(always)]
    fn alike(&self, hash: u64) -> impl Iterator<Item = usize> {
        let line = self.line(hash);
        let mut alike = self.lines[line].alike(hash);
        if self.lines[line].0[PLACES - 1] != FREE {
            alike |= self.lines[line ^ 1].alike(hash) << PLACES;
        }
        std::iter::from_fn(move || {
            let at = (alike != 0).then(|| alike.trailing_zeros() as usize)?;
            alike &= alike - 1;
            let Line(places) = &self.lines[line ^ (at / PLACES)];
            Some(places[at % PLACES] as u32 as usize)
        })
    }

    /// The tokens of a piece of this hash, if they are known.
    #[inline]
    pub fn find(&self, piece: &[u8], hash: u64) -> Option<&[u32]> {
        self.alike(hash).find_map(|start| self.tokens(start, piece))
    }

    /// The tokens of the record that begins at `start`, if it is this piece's.
    #[inline(always)]
    fn tokens(&self, start: usize, piece: &[u8]) -> Option<&[u32]> {
        let (&head, record) = self.records[start..].split_first()?;
        let (length, count) = (head & 0xFFFF, head >> 16);
        if length as usize != piece.len() {
            return None;
        }
        let (key, ids) = record.split_at_checked(piece.len().div_ceil(size_of::<u32>()))?;
        let differ = words(piece)
            .zip(key)
            .fold(0, |differ, (word, key)| differ | (word ^ key));
        (differ == 0).then(|| &ids[..count as usize])
    }

    /// Remembers the tokens of a piece. No room: all others are forgotten first.
    pub fn insert(&mut self, piece: &[u8], ids: &[u32]) {
        let (Ok(length), Ok(count)) = (u16::try_from(piece.len()), u16::try_from(ids.len())) else {
            return;
        };
        let hash = self.hash(piece);
        let known = (self.alike(hash)).find(|&start| self.tokens(start, piece).is_some());
        if known.is_some_and(|start| self.tokens(start, piece) == Some(ids)) {
            return;
        }
        if 1 + record_words(piece, ids) > self.max_words {
            return;
        }
        let mut old = known.map_or(FREE, |start| hash | start as u64);
        if self.records.len() + record_words(piece, ids) > self.max_words {
            self.forget();
            old = FREE;
        }
        if PLACES_PER_RECORD * self.count > PLACES * self.lines.len()
            && self.lines.len() < self.max_lines
        {
            self.grow();
        }
        self.put(hash | self.records.len() as u64, old);
        self.record(u32::from(length) | u32::from(count) << 16, piece, ids);
    }

    /// Whether a piece leaves half of the room to others.
    pub fn leaves_half(&self, piece: &[u8], ids: &[u32]) -> bool {
        self.records.len() + record_words(piece, ids) <= self.max_words / 2
    }

    fn record(&mut self, head: u32, piece: &[u8], ids: &[u32]) {
        let end = self.records.len() + record_words(piece, ids);
        if end > self.records.capacity() {
            // Fresh memory is dear, and room that is not used takes none.
            let room = (GROWTH * end).max(FEWEST_WORDS).min(self.max_words);
            let mut larger = large_pages::with_capacity(room);
            larger.extend_from_slice(&self.records);
            self.records = larger;
        }
        self.records.push(head);
        self.records.extend(words(piece));
        self.records.extend_from_slice(ids);
    }

    /// Puts the place of a record where `old` is, which has the same hash or is free.
    fn put(&mut self, place: u64, old: u64) {
        let line = self.line(place);
        let places = [line, line ^ 1].map(|line| (0..PLACES).map(move |side| (line, side)));
        let found =
            (places.into_iter().flatten()).find(|&(line, side)| self.lines[line].0[side] == old);
        self.count += usize::from(found.is_some() && old == FREE);
        // Full: the newcomer takes a place that its hash chooses.
        let (line, side) = found.unwrap_or((line, (place >> 61) as usize));
        self.lines[line].0[side] = place;
    }

    #[cold]
    fn grow(&mut self) {
        let lines = self.max_lines.min(self.lines.len() * GROWTH);
        let larger = large_pages::filled(Line::EMPTY, lines);
        let old = std::mem::replace(&mut self.lines, larger);
        self.count = 0;
        for place in old.into_iter().flat_map(|Line(places)| places) {
            if place != FREE {
                self.put(place, FREE);
            }
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.lines.fill(Line::EMPTY);
        self.count = 0;
        self.records.truncate(1);
    }
}

/// The hash above the number of a record's first word.
#[inline(always)]
fn hash_of(place: u64) -> u64 {
    place >> 32 << 32
}

/// How many words the record of a piece has.
fn record_words(piece: &[u8], ids: &[u32]) -> usize {
    1 + piece.len().div_ceil(size_of::<u32>()) + ids.len()
}

/// The words of a piece, which is longer than one; the last may begin inside the one before it.
#[inline(always)]
fn words(piece: &[u8]) -> impl Iterator<Item = u32> {
    let (fours, rest) = piece.as_chunks();
    let last = piece.last_chunk().filter(|_| !rest.is_empty());
    (fours.iter().chain(last)).map(|four| u32::from_le_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let mut rest = Overflow::new(7, 1 << 20);
        let piece = b"thirty-three bytes make nine words";
        rest.insert(&piece[..33], &[5, 6]);
        assert_eq!(rest.records[1], 33 | 2 << 16);
        assert_eq!(rest.records[2], u32::from_le_bytes(*b"thir"));
        assert_eq!(rest.records[10..], [u32::from_le_bytes(*b"word"), 5, 6]);
        let hash = rest.hash(&piece[..33]);
        assert_eq!(rest.lines[rest.line(hash)].0[0], hash | 1);
        assert_eq!(rest.find(&piece[..33], hash), Some(&[5, 6][..]));
        assert_eq!(rest.find(piece, rest.hash(piece)), None);
    }

    #[test]
    fn holds_the_last_tokens_of_a_piece_once() {
        let mut rest = Overflow::new(3, 1 << 20);
        let piece = b"a piece that no entry of the cache holds";
        for ids in [&[1, 2][..], &[1, 2], &[3], &[], &[4; 70]] {
            rest.insert(piece, ids);
            assert_eq!(rest.find(piece, rest.hash(piece)), Some(ids));
            assert_eq!(rest.count, 1);
        }
        let before = rest.bytes();
        rest.insert(piece, &[4; 70]);
        rest.insert(piece, &[4; 1 << 16]);
        assert_eq!(rest.bytes(), before);
    }

    #[test]
    fn pieces_of_one_hash_are_told_apart() {
        let mut rest = Overflow::new(3, 1 << 20);
        let (piece, other) = ([1; 40], [2; 40]);
        let hash = rest.hash(&piece);
        rest.insert(&other, &[2]);
        rest.insert(&piece, &[1]);
        let line = rest.line(hash);
        rest.lines[line].0.rotate_right(1);
        rest.lines[line].0[0] = hash | 1;
        assert_eq!(rest.alike(hash).count(), 2);
        assert_eq!(rest.find(&piece, hash), Some(&[1][..]));
        assert_eq!(rest.find(&other, hash), Some(&[2][..]));
        assert_eq!(rest.find(&[3; 40], hash), None);
    }

    #[test]
    fn two_full_lines() {
        let mut rest = Overflow::new(3, 1 << 20);
        let line = rest.line(rest.hash(&[0; 40]));
        let pieces: Vec<[u8; 40]> = (0..=u8::MAX).map(|n| [n; 40]).collect();
        let beside = |piece: &[u8; 40]| rest.line(rest.hash(piece)) / 2 == line / 2;
        let pieces: Vec<_> = pieces.iter().filter(|piece| beside(piece)).collect();
        assert!(pieces.len() > 2 * PLACES);
        rest.max_lines = FIRST_LINES;
        for (n, piece) in pieces.iter().enumerate() {
            rest.insert(*piece, &[n as u32]);
            assert_eq!(rest.find(*piece, rest.hash(*piece)), Some(&[n as u32][..]));
            assert!(rest.count <= (n + 1).min(2 * PLACES));
        }
        let kept = pieces
            .iter()
            .filter(|piece| rest.find(**piece, rest.hash(**piece)).is_some());
        assert_eq!(kept.count(), rest.count);
    }

    #[test]
    fn keeps_to_its_room() {
        for most in [0, 511, 1 << 12, 1 << 20] {
            let mut rest = Overflow::new(5, most);
            for n in 0..50_000_u32 {
                let piece = n.to_le_bytes().repeat(8 + n as usize % 30);
                rest.insert(&piece, &[n; 3]);
                assert!(rest.bytes() <= most.max(516), "{n}");
                let found = rest.find(&piece, rest.hash(&piece));
                assert_eq!(found, (most > 511).then_some(&[n; 3][..]));
            }
        }
    }
}
