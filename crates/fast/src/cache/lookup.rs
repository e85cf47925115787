//! Looks up the chunks of a text in the word cache, 32 at a time, and passes new ones to their
//! strategy.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::group::{AHEAD, GROUP};
use super::word_cache::{Found, WordCache};
use crate::cache::buffered_sink::{BUFFER_TOKENS, BufferedSink};
use crate::sink::Sink;
use jeton_stages::split::delimiters::{Chunks, Delimiters};
use jeton_text::error::Result;
use jeton_text::interrupt::paced;
use jeton_text::mem::short_keys::{LONG, LongKey, SHORT, ShortKey};

/// Where chunks lie, which of them are cached, and room for tokens on their way.
pub struct ChunkWorkspace {
    /// Where chunks lie.
    pub chunks: Chunks,
    /// The chunks whose tokens are cached.
    pub words: WordCache,
    /// Room for tokens on their way.
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
pub trait NewChunks<S: Sink> {
    /// The chunks whose tokens are cached.
    fn words(&self) -> &WordCache;

    /// Whether the next `chunks` chunks have the tokens that are remembered of them.
    #[inline(always)]
    fn may_recall(&self, _sink: &mut BufferedSink<'_, S>, _chunks: usize) -> bool {
        true
    }

    /// Gives the tokens of `text[start..end]`, which are not remembered or may not be recalled, to `sink` and says where what
    /// was read ends: at `end`, or at the end of a later chunk if the tokens of this one depend on what
    /// follows.
    ///
    /// # Errors
    /// As the stages.
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_, S>,
    ) -> Result<usize>;
}

/// Gives the tokens of the chunks of `text` from `start` on to `sink`.
///
/// # Errors
/// As the stages.
pub fn tokens<S: Sink>(
    family: &mut impl NewChunks<S>,
    delimiters: &Delimiters,
    chunks: &mut Chunks,
    text: &str,
    start: usize,
    sink: &mut BufferedSink<'_, S>,
) -> Result<()> {
    let mut done = start;
    delimiters.chunks(text.as_bytes(), start, chunks, |starts, ends| {
        for (starts, ends) in starts.chunks(GROUP).zip(ends.chunks(GROUP)) {
            group(family, text, starts, ends, &mut done, sink)?;
        }
        Ok(())
    })
}

/// Gives the tokens of the pieces of `text` that lie at `pieces`, one after the other, to `sink`.
///
/// # Errors
/// As the stages.
pub fn tokens_of<S: Sink>(
    family: &mut impl NewChunks<S>,
    text: &str,
    pieces: &[Range<usize>],
    sink: &mut BufferedSink<'_, S>,
) -> Result<()> {
    let mut done = 0;
    for pieces in paced(pieces.chunks(GROUP)) {
        let (mut starts, mut ends) = ([0; GROUP], [0; GROUP]);
        for ((piece, start), end) in pieces.iter().zip(&mut starts).zip(&mut ends) {
            (*start, *end) = (piece.start, piece.end);
        }
        let count = pieces.len();
        group(
            family,
            text,
            &starts[..count],
            &ends[..count],
            &mut done,
            sink,
        )?;
    }
    Ok(())
}

/// As [`tokens`], of one group; `done` is where what was read ends.
#[inline(always)]
fn group<S: Sink>(
    family: &mut impl NewChunks<S>,
    text: &str,
    starts: &[usize],
    ends: &[usize],
    done: &mut usize,
    sink: &mut BufferedSink<'_, S>,
) -> Result<()> {
    let bytes = text.as_bytes();
    let asked = PrefetchedGroup::new(family.words(), bytes, starts, ends);
    let mut all = family.may_recall(sink, GROUP);
    for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        if start < *done {
            continue;
        }
        let found = if all || family.may_recall(sink, 1) {
            asked.find(i, family.words(), bytes, start, end)
        } else {
            None
        };
        match found {
            Some(Found::Short(ids, count)) => sink.push_entry(ids, count),
            Some(Found::Long(ids, count)) => sink.push_all(&ids[..count]),
            Some(Found::Spilled(ids, count)) => sink.push_all(&ids[..count]),
            Some(Found::Many(ids)) => sink.push_all(ids),
            None => {
                if let Some(&hash) = asked.hashes.get(i + AHEAD) {
                    family.words().prefetch_beside(hash);
                }
                *done = family.chunk(text, start, end, sink)?;
                all = family.may_recall(sink, GROUP);
            }
        }
    }
    Ok(())
}

/// Pieces of a group whose memory is prefetched.
struct PrefetchedGroup {
    keys: [ShortKey; GROUP],
    hashes: [u64; GROUP],
}

impl PrefetchedGroup {
    /// Prefetches the memory of up to [`GROUP`] pieces.
    #[inline(always)]
    fn new(words: &WordCache, text: &[u8], starts: &[usize], ends: &[usize]) -> Self {
        let mut keys = [ShortKey::NONE; GROUP];
        let mut hashes = [0; GROUP];
        for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
            if end - start <= SHORT {
                keys[i] = ShortKey::new(text, start, end - start);
                hashes[i] = words.prefetch_short(keys[i]);
            } else if end - start <= LONG {
                hashes[i] = words.prefetch_long(LongKey::new(text, start, end - start));
            }
        }
        Self { keys, hashes }
    }

    /// The tokens of the piece of this number, `text[start..end]`, if they are known and it is no
    /// longer than [`LONG`].
    #[inline(always)]
    fn find<'w>(
        &self,
        number: usize,
        words: &'w WordCache,
        text: &[u8],
        start: usize,
        end: usize,
    ) -> Option<Found<'w>> {
        let hash = self.hashes[number];
        if end - start <= SHORT {
            words.find_short(self.keys[number], hash)
        } else if end - start <= LONG {
            words.find_long(LongKey::new(text, start, end - start), hash)
        } else {
            None
        }
    }
}
