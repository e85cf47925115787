//! New pieces of a byte-level BPE, merged by the tables of the compiled path one at a time.

use crate::compiled::byte_level::{Merges, SCANNED, Work};
use crate::model::Bpe;

/// The merges of a byte-level BPE.
pub struct BytePieces {
    merges: Merges,
    /// Whether a piece that is a token as a whole is that token, though its merges make something else.
    whole: bool,
}

impl BytePieces {
    /// The merges of `bpe`, if its symbols are bytes and nothing else.
    pub fn new(bpe: &Bpe) -> Option<Self> {
        Some(Self {
            merges: bpe.merges_bytes_only().then(|| Merges::new(bpe))??,
            whole: bpe.takes_whole_pieces() && !bpe.merges_make_all_tokens(),
        })
    }

    /// Appends the tokens of a piece of `bpe`, which is not empty.
    pub fn merge(&self, bpe: &Bpe, piece: &[u8], work: &mut Work, ids: &mut Vec<u32>) {
        let start = ids.len();
        if piece.len() <= SCANNED {
            self.merges.merge(piece, work);
            ids.extend_from_slice(work.tokens());
        } else {
            ids.extend(self.merges.merge_long(piece));
        }
        if self.whole
            && ids.len() > start + 1
            && let Some(id) = bpe.vocab().id(piece)
        {
            ids.truncate(start);
            ids.push(id);
        }
    }
}

impl std::fmt::Debug for BytePieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BytePieces").finish_non_exhaustive()
    }
}
