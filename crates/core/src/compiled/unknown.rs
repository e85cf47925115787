//! Unknown characters of SentencePiece models that have no bytes for them: neighbours are one token,
//! wherever text was cut between them.

use super::sink::Sink;
use super::waiting::Few;
use super::words::SHORT_IDS;

/// What a solver gives for a character that no piece covers. No vocabulary has such an id.
pub const UNKNOWN: u32 = u32::MAX;

/// Makes one token of neighbouring unknown characters.
pub struct Fusing<'s, S> {
    unk_id: u32,
    after_unknown: bool,
    sink: &'s mut S,
}

impl<'s, S: Few> Fusing<'s, S> {
    /// Gives what it is given to `sink`, and `unk_id` for unknown characters.
    pub fn new(unk_id: u32, sink: &'s mut S) -> Self {
        Self {
            unk_id,
            after_unknown: false,
            sink,
        }
    }

    fn push(&mut self, id: u32) {
        match id {
            UNKNOWN if self.after_unknown => {}
            UNKNOWN => self.sink.push_all(&[self.unk_id]),
            id => self.sink.push_all(&[id]),
        }
        self.after_unknown = id == UNKNOWN;
    }
}

impl<S: Few> Sink for Fusing<'_, S> {
    fn push_all(&mut self, ids: &[u32]) {
        for &id in ids {
            self.push(id);
        }
    }
}

impl<S: Few> Few for Fusing<'_, S> {
    #[inline(always)]
    fn push_few(&mut self, ids: &[u32; SHORT_IDS], count: usize) {
        if ids.contains(&UNKNOWN) {
            self.push_all(&ids[..count]);
        } else {
            self.after_unknown = false;
            self.sink.push_few(ids, count);
        }
    }
}
