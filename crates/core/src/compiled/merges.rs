//! Merging for words that are new: the same algorithm as the model's, over flat tables.

use crate::model::Bpe;

/// Ids below this fit into a packed entry, and so do ranks.
const MOST_IDS: u32 = 1 << 20;
/// Pieces of more bytes than this go to the model itself, which has a heap for them.
pub const SCANNED: usize = 64;
const NONE: u32 = u32::MAX;

/// The merges of a byte-level BPE.
pub struct Merges {
    /// The id of each byte.
    bytes: [u32; 256],
    /// The rank of each pair of bytes.
    byte_pairs: Vec<u32>,
    /// Open addressing: left id, right id and rank in one word; all ones when empty.
    table: Vec<u64>,
    /// What each merge makes.
    made: Vec<u32>,
}

impl Merges {
    /// The merges of `bpe`, if every byte is a token and all ids fit.
    pub fn new(bpe: &Bpe) -> Option<Self> {
        let vocab = bpe.vocab();
        if vocab.max_id()? >= MOST_IDS {
            return None;
        }
        let mut bytes = [0; 256];
        for (byte, id) in bytes.iter_mut().enumerate() {
            *id = vocab.id(&[byte as u8])?;
        }
        let merges = bpe.reachable_merges();
        if merges.len() >= MOST_IDS as usize {
            return None;
        }
        let mut made = vec![0; merges.iter().map(|m| m.1 + 1).max().unwrap_or(0) as usize];
        let mut table = vec![u64::MAX; (merges.len() * 2).next_power_of_two().max(2)];
        let mask = table.len() - 1;
        for &((left, right), rank, id) in &merges {
            made[rank as usize] = id;
            let mut slot = Self::hash(left, right) & mask;
            while table[slot] != u64::MAX {
                slot = (slot + 1) & mask;
            }
            table[slot] = Self::key(left, right) | u64::from(rank);
        }
        let mut this = Self {
            bytes,
            byte_pairs: Vec::new(),
            table,
            made,
        };
        this.byte_pairs = (0..1usize << 16)
            .map(|pair| this.rank(bytes[pair >> 8], bytes[pair & 0xFF]))
            .collect();
        Some(this)
    }

    #[inline(always)]
    fn key(left: u32, right: u32) -> u64 {
        u64::from(left) << 44 | u64::from(right) << 24
    }

    #[inline(always)]
    fn hash(left: u32, right: u32) -> usize {
        let mixed = Self::key(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize
    }

    /// The rank of a pair, or [`NONE`].
    #[inline(always)]
    fn rank(&self, left: u32, right: u32) -> u32 {
        let mask = self.table.len() - 1;
        let key = Self::key(left, right);
        let mut slot = Self::hash(left, right) & mask;
        loop {
            let entry = self.table[slot];
            if entry & !0xFF_FFFF == key {
                return (entry & 0xFF_FFFF) as u32;
            }
            if entry == u64::MAX {
                return NONE;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The tokens of a piece of 1 to [`SCANNED`] bytes.
    pub fn merge<'i>(&self, piece: &[u8], ids: &'i mut [u32; SCANNED]) -> &'i [u32] {
        let mut count = piece.len();
        let mut ranks = [NONE; SCANNED];
        for (id, &byte) in ids.iter_mut().zip(piece) {
            *id = self.bytes[byte as usize];
        }
        for (rank, pair) in ranks.iter_mut().zip(piece.windows(2)) {
            *rank = self.byte_pairs[usize::from(pair[0]) << 8 | usize::from(pair[1])];
        }
        loop {
            let (mut best, mut at) = (NONE, 0);
            for (i, &rank) in ranks[..count - 1].iter().enumerate() {
                if rank < best {
                    (best, at) = (rank, i);
                }
            }
            if best == NONE {
                return &ids[..count];
            }
            ids[at] = self.made[best as usize];
            ids.copy_within(at + 2..count, at + 1);
            ranks.copy_within(at + 1..count - 1, at);
            count -= 1;
            ranks[count - 1] = NONE;
            if at + 1 < count {
                ranks[at] = self.rank(ids[at], ids[at + 1]);
            }
            if at > 0 {
                ranks[at - 1] = self.rank(ids[at - 1], ids[at]);
            }
        }
    }
}
