//! Looks up the chunks of a text in the word cache, 32 at a time, and passes new ones to their
//! strategy.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::entries::Found;
use super::group::{GROUP, Group};
use super::word_cache::WordCache;
use crate::cache::buffered_sink::{BUFFER_TOKENS, BufferedSink};
use crate::sink::Sink;
use jeton_stages::split::delimiters::{Chunks, Delimiters};
use jeton_text::error::Result;
use jeton_text::interrupt::paced;

/// Where chunks lie, which of them are cached, and a buffer for tokens in flight.
pub struct ChunkWorkspace {
    /// Where chunks lie.
    pub chunks: Chunks,
    /// The chunks whose tokens are cached.
    pub words: WordCache,
    /// A buffer for tokens in flight.
    pub tokens: [u32; BUFFER_TOKENS],
}

impl Default for ChunkWorkspace {
    fn default() -> Self {
        Self {
            chunks: Chunks::default(),
            words: WordCache::new(RandomState::default().hash_one(0)),
            tokens: [0; BUFFER_TOKENS],
        }
    }
}

/// What makes tokens of a chunk that the cache does not hold.
pub trait NewChunks {
    /// The chunks whose tokens are cached.
    fn words(&self) -> &WordCache;

    /// Whether the cached tokens of the next chunk are right.
    #[inline(always)]
    fn may_recall(&self, _sink: &mut BufferedSink<'_>) -> bool {
        true
    }

    /// Gives the tokens of `text[start..end]`, which are not remembered or may not be recalled, to `sink` and
    /// says where what was read ends: at `end`, or at the end of a later chunk if the tokens of this one
    /// depend on what follows.
    ///
    /// # Errors
    /// As the stages.
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_>,
    ) -> Result<usize>;
}

/// Gives the tokens of the chunks of `text` from `start` on to `sink`.
///
/// # Errors
/// As the stages.
pub fn tokens(
    family: &mut impl NewChunks,
    delimiters: &Delimiters,
    chunks: &mut Chunks,
    text: &str,
    start: usize,
    sink: &mut BufferedSink<'_>,
) -> Result<()> {
    let mut done = start;
    delimiters.chunks(text.as_bytes(), start, chunks, |starts, ends| {
        for (starts, ends) in starts.chunks(GROUP).zip(ends.chunks(GROUP)) {
            let pieces = starts.iter().copied().zip(ends.iter().copied());
            group(family, text, pieces, &mut done, sink)?;
        }
        Ok(())
    })
}

/// Gives the tokens of the pieces of `text` that lie at `pieces`, one after the other, to `sink`.
///
/// # Errors
/// As the stages.
pub fn tokens_of(
    family: &mut impl NewChunks,
    text: &str,
    pieces: &[Range<usize>],
    sink: &mut BufferedSink<'_>,
) -> Result<()> {
    let mut done = 0;
    for pieces in paced(pieces.chunks(GROUP)) {
        let pieces = pieces.iter().map(|piece| (piece.start, piece.end));
        group(family, text, pieces, &mut done, sink)?;
    }
    Ok(())
}

/// As [`tokens`], of one group; `done` is where what was read ends.
#[inline(always)]
fn group(
    family: &mut impl NewChunks,
    text: &str,
    pieces: impl Iterator<Item = (usize, usize)> + Clone,
    done: &mut usize,
    sink: &mut BufferedSink<'_>,
) -> Result<()> {
    let bytes = text.as_bytes();
    let mut asked = Group::NONE;
    asked.ask(family.words(), bytes, pieces.clone());
    for (i, (start, end)) in pieces.enumerate() {
        if start < *done {
            continue;
        }
        let found = asked.find(i, family.words(), bytes, start, end);
        match found.filter(|_| family.may_recall(sink)) {
            Some(Found::Short(ids, count)) => sink.push_entry(ids, count),
            Some(Found::Long(ids, count)) => sink.push_all(&ids[..count]),
            Some(Found::Spilled(ids, count)) => sink.push_all(&ids[..count]),
            Some(Found::Many(ids)) => sink.push_all(ids),
            None => {
                asked.prefetch_new(family.words(), i);
                *done = family.chunk(text, start, end, sink)?;
            }
        }
    }
    Ok(())
}
