//! Pieces that are too long for an entry of the word cache, with their tokens: a map that forgets all when it
//! is full.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Bytes that a piece takes besides its own and those of its tokens: its place in the map, and what an
/// allocator adds to two blocks.
const PER_PIECE: usize = 80;

/// The cache of long pieces.
pub struct Overflow {
    pieces: HashMap<Box<[u8]>, Box<[u32]>, RandomState>,
    bytes: usize,
    max_bytes: usize,
}

impl Overflow {
    /// No pieces, and room for this many bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            pieces: HashMap::default(),
            bytes: 0,
            max_bytes,
        }
    }

    /// How many bytes it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The tokens of a piece, if they are known.
    pub fn find(&self, piece: &[u8]) -> Option<&[u32]> {
        self.pieces.get(piece).map(|ids| &**ids)
    }

    /// Remembers the tokens of a piece. No room: all others are forgotten first.
    pub fn insert(&mut self, piece: &[u8], ids: &[u32]) {
        let bytes = piece.len() + size_of_val(ids) + PER_PIECE;
        if bytes > self.max_bytes {
            return;
        }
        if self.bytes + bytes > self.max_bytes {
            self.pieces.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        if let Some(old) = self.pieces.insert(piece.into(), ids.into()) {
            self.bytes -= piece.len() + size_of_val(&*old) + PER_PIECE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tokens_of_a_piece_are_found_and_all_fit_the_room() {
        for max_bytes in [0, 200, 1 << 12, 1 << 20] {
            let mut overflow = Overflow::new(max_bytes);
            for n in 0..20_000_u32 {
                let piece = n.to_le_bytes().repeat(8 + n as usize % 30);
                for ids in [[n; 3], [n + 1; 3]] {
                    overflow.insert(&piece, &ids);
                    assert!(overflow.bytes() <= max_bytes, "{n}");
                    let fits = piece.len() + size_of_val(&ids) + PER_PIECE <= max_bytes;
                    assert_eq!(overflow.find(&piece), fits.then_some(&ids[..]));
                }
            }
        }
        assert_eq!(Overflow::new(1 << 20).find(b"never seen"), None);
    }
}
