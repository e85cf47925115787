//! Unknown characters of SentencePiece models that have no bytes for them: neighbours are one token,
//! wherever text was split between them.

use crate::sink::Sink;
use jeton_text::interrupt::parts;

/// The id that a solver returns for a character that no piece covers. No vocabulary has such an id.
pub const UNKNOWN: u32 = u32::MAX;

/// Tokens that are passed on together.
const AT_ONCE: usize = 256;

/// A sink that fuses neighbouring unknown characters into one token.
pub struct Fusing<'s, S> {
    unk_id: u32,
    after_unknown: bool,
    sink: &'s mut S,
}

impl<'s, S: Sink> Fusing<'s, S> {
    /// Gives what it is given to `sink`, and `unk_id` for unknown characters.
    pub fn new(unk_id: u32, sink: &'s mut S) -> Self {
        Self {
            unk_id,
            after_unknown: false,
            sink,
        }
    }
}

impl<S: Sink> Sink for Fusing<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        let mut fused = [0; AT_ONCE];
        for ids in parts(ids).flat_map(|part| part.chunks(AT_ONCE)) {
            let mut count = 0;
            for &id in ids {
                let unknown = id == UNKNOWN;
                fused[count] = if unknown { self.unk_id } else { id };
                count += usize::from(!(unknown & self.after_unknown));
                self.after_unknown = unknown;
            }
            self.sink.push_all(&fused[..count]);
        }
    }
}
