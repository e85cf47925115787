//! The pieces of a SentencePiece BPE by their spelling, with the rank of each.
//!
//! Look here for how merging, of short text and of long, checks whether two neighbours form a piece.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use jeton_models::model::SentencePiece;
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_stages::split::split_points::decode;
use jeton_stages::tables::tag_table::{AHEAD, Address, MAX_NUMBERS, NONE, TagTable};
use jeton_text::mem::short_keys::{SHORT, ShortKey};

/// A space in the model's pieces.
pub const MARK: &str = "▁";
/// A space in this index: one byte, which no piece has.
pub const SPACE: &str = " ";
/// The id returned if there is no such piece.
pub const NO_PIECE: u32 = u32::MAX;
/// Code points from which on characters are looked up as other pieces are.
const WIDE: usize = 0x1_0000;
/// Places of the table for each piece, so that hardly a line is full.
const ROOM: usize = 2;
/// Entries of a table by two characters of ASCII.
const ASCII_PAIRS: usize = 1 << 14;

/// The pieces that merging makes, by their spelling with spaces for `▁`.
///
/// Merging looks up the joined spelling of two neighbours, which is rarely a piece; then one memory access
/// says so.
pub struct PieceIndex {
    ids: TagTable,
    /// The short piece of each id; for others that of no piece.
    keys: Vec<ShortKey>,
    /// The id of each character below [`WIDE`].
    characters: Vec<u32>,
    /// The id and the rank of each two characters of ASCII.
    pairs: Vec<(u32, u32)>,
    /// The pieces of more than [`SHORT`] bytes.
    long: HashMap<Box<[u8]>, u32, RandomState>,
    /// The most bytes of a piece.
    longest: usize,
    /// How many pieces have a better score than the piece of this id.
    ranks: Vec<u32>,
    /// Moves the hashes, so that no file can aim pieces at one place.
    seed: u64,
}

impl PieceIndex {
    /// The pieces of a model, if they are not too many.
    pub fn new(model: &SentencePiece) -> Option<Self> {
        let pieces = &model.proto().pieces;
        let count = u32::try_from(pieces.len()).ok()?;
        if count >= MAX_NUMBERS {
            return None;
        }
        // Text that holds user-defined pieces is left to the model.
        let mut by_score: Vec<u32> = (0..count)
            .filter(|&id| model.kind(id) == PieceKind::Normal)
            .collect();
        let mut this = Self {
            ids: TagTable::new(by_score.len() * ROOM),
            keys: vec![ShortKey::NONE; pieces.len()],
            characters: vec![NO_PIECE; WIDE],
            pairs: vec![(NO_PIECE, NONE); ASCII_PAIRS],
            long: HashMap::default(),
            longest: 0,
            ranks: vec![NONE; pieces.len()],
            seed: RandomState::default().hash_one(0),
        };
        let mut spelling = String::new();
        for &id in &by_score {
            spelling.clear();
            let text = pieces.get(id).map_or("", |piece| piece.text);
            for (i, part) in text.split(MARK).enumerate() {
                spelling.push_str(if i > 0 { SPACE } else { "" });
                spelling.push_str(part);
            }
            let bytes = spelling.as_bytes();
            this.longest = this.longest.max(bytes.len());
            let (code_point, length) = decode(bytes, 0);
            if length == bytes.len() {
                if let Some(character) = this.characters.get_mut(code_point as usize) {
                    *character = id;
                }
            } else if let [left, right] = *bytes {
                this.pairs[ascii_pair(left, right)].0 = id;
            }
            if bytes.len() > SHORT {
                this.long.insert(bytes.into(), id);
            } else {
                this.keys[id as usize] = ShortKey::new(bytes, 0, bytes.len());
            }
        }
        for (i, &id) in by_score.iter().enumerate() {
            let key = |id: u32| this.keys[id as usize];
            if let Some(&later) = by_score.get(i + AHEAD) {
                this.ids
                    .prefetch(this.ids.place(key(later).hash(this.seed)));
            }
            if key(id) != ShortKey::NONE {
                let mut place = this.ids.place(key(id).hash(this.seed));
                while !this.ids.insert(place, id) {
                    place = this.ids.behind(place);
                }
            }
        }
        // Scores are finite: the reader refuses others.
        let score = |id: u32| model.score(id);
        by_score.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        let mut rank = 0;
        for (i, &id) in by_score.iter().enumerate() {
            if i == 0 || score(by_score[i - 1]) != score(id) {
                rank = i as u32;
            }
            this.ranks[id as usize] = rank;
        }
        for (id, rank) in this.pairs.iter_mut().filter(|(id, _)| *id != NO_PIECE) {
            *rank = this.ranks[*id as usize];
        }
        Some(this)
    }

    /// Prefetches the memory in which the piece that `text[start..end]` is would be found.
    #[inline(always)]
    pub fn ask(&self, text: &[u8], start: usize, end: usize) -> PrefetchedPair {
        let mut asked = PrefetchedPair {
            start,
            end,
            ..PrefetchedPair::default()
        };
        if end - start <= SHORT {
            asked.key = ShortKey::new(text, start, end - start);
            asked.address = self.ids.place(asked.key.hash(self.seed));
            self.ids.prefetch(asked.address);
        }
        asked
    }

    /// The piece that was requested and its rank, which is [`NONE`] if there is none. Whether there
    /// is one is nothing that a processor could guess, so the answer is chosen, not branched to.
    #[inline(always)]
    pub fn answer(&self, text: &[u8], asked: &PrefetchedPair) -> (u32, u32) {
        if asked.end - asked.start > SHORT {
            return if asked.end - asked.start > self.longest {
                (NO_PIECE, NONE)
            } else {
                self.long_piece(&text[asked.start..asked.end])
            };
        }
        let alike = self.ids.alike(asked.address);
        let id = alike.first();
        let found = self.keys[id as usize] == asked.key;
        let rank = self.ranks[id as usize];
        if !found & (alike.are_many() | alike.is_full()) {
            return self.behind(asked);
        }
        (id, rank | u32::from(found).wrapping_sub(1))
    }

    #[inline(never)]
    fn long_piece(&self, spelling: &[u8]) -> (u32, u32) {
        let id = self.long.get(spelling);
        id.map_or((NO_PIECE, NONE), |&id| (id, self.ranks[id as usize]))
    }

    /// The same as [`Self::answer`], where several look alike, or the line is full.
    #[cold]
    fn behind(&self, asked: &PrefetchedPair) -> (u32, u32) {
        let mut address = asked.address;
        loop {
            let alike = self.ids.alike(address);
            let found = alike.all().find(|&id| self.keys[id as usize] == asked.key);
            if let Some(id) = found {
                return (id, self.ranks[id as usize]);
            }
            if !alike.is_full() {
                return (NO_PIECE, NONE);
            }
            address = self.ids.behind(address);
        }
    }

    /// The piece that a character of ASCII is, or [`NO_PIECE`].
    #[inline(always)]
    pub fn ascii(&self, byte: u8) -> u32 {
        self.characters[usize::from(byte)]
    }

    /// The piece that two characters of ASCII are and its rank, as [`Self::answer`].
    #[inline(always)]
    pub fn ascii_pair(&self, left: u8, right: u8) -> (u32, u32) {
        self.pairs[ascii_pair(left, right)]
    }

    /// The piece that the character at `at` is, if it is one, and how many bytes the character has.
    #[inline(always)]
    pub fn character(&self, text: &[u8], at: usize) -> (u32, usize) {
        let (code_point, length) = decode(text, at);
        let id = match self.characters.get(code_point as usize) {
            Some(&id) => id,
            None => match self.answer(text, &self.ask(text, at, at + length)) {
                (_, NONE) => NO_PIECE,
                (id, _) => id,
            },
        };
        (id, length)
    }
}

/// The joined spelling of two neighbours, whose place in the index is prefetched. The empty one is no
/// piece.
#[derive(Clone, Copy, Default)]
pub struct PrefetchedPair {
    key: ShortKey,
    address: Address,
    start: usize,
    end: usize,
}

#[inline(always)]
fn ascii_pair(left: u8, right: u8) -> usize {
    (usize::from(left) << 7 | usize::from(right)) % ASCII_PAIRS
}
