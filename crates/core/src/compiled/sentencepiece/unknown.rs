//! Unknown characters of SentencePiece models that have no bytes for them: neighbours are one token,
//! wherever text was cut between them.

use crate::compiled::sink::Sink;

/// What a solver gives for a character that no piece covers. No vocabulary has such an id.
pub const UNKNOWN: u32 = u32::MAX;

/// Makes one token of neighbouring unknown characters.
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
        for run in ids.chunk_by(|a, b| (*a == UNKNOWN) == (*b == UNKNOWN)) {
            let unknown = run[0] == UNKNOWN;
            match unknown {
                false => self.sink.push_all(run),
                true if self.after_unknown => {}
                true => self.sink.push_all(&[self.unk_id]),
            }
            self.after_unknown = unknown;
        }
    }
}
