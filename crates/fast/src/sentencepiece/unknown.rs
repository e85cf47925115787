//! Unknown characters of SentencePiece models that have no bytes for them: neighbours are one token,
//! wherever text was split between them.

use crate::sink::Sink;

/// The id that a solver returns for a character that no piece covers. No vocabulary has such an id.
pub const UNKNOWN: u32 = u32::MAX;

/// A sink that fuses neighbouring unknown characters into one token.
pub struct Fusing<'s> {
    unk_id: u32,
    after_unknown: bool,
    sink: &'s mut dyn Sink,
}

impl<'s> Fusing<'s> {
    /// Gives what it is given to `sink`, and `unk_id` for unknown characters; without one there are none.
    pub fn new(unk_id: Option<u32>, sink: &'s mut dyn Sink) -> Self {
        Self {
            unk_id: unk_id.unwrap_or(UNKNOWN),
            after_unknown: false,
            sink,
        }
    }
}

impl Sink for Fusing<'_> {
    fn push_all(&mut self, ids: &[u32]) {
        // Between two unknown tokens a chunk of known ones passes as it is.
        for ids in ids.chunk_by(|one, next| (*one == UNKNOWN) == (*next == UNKNOWN)) {
            if ids[0] != UNKNOWN {
                self.sink.push_all(ids);
            } else if !self.after_unknown {
                self.sink.push_all(&[self.unk_id]);
            }
            self.after_unknown = ids[0] == UNKNOWN;
        }
    }
}
