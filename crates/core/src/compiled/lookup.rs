//! Chunks to tokens: looked up in groups among those that were met before, and the others given to
//! the family that they belong to.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::delimiters::{Chunks, Delimiters};
use super::spare::Reusable;
use super::waiting::{Few, MOST_WAITING};
use super::words::{Found, LONG, LongKey, SHORT, ShortKey, WordCache};
use crate::error::Result;

/// How many chunks are looked up together, so that their memory is fetched at the same time.
const GROUP: usize = 32;

/// What one call works with.
pub struct Workspace {
    /// Where chunks lie.
    pub chunks: Chunks,
    /// The chunks met before.
    pub words: WordCache,
    /// Room for tokens on their way.
    pub tokens: [u32; MOST_WAITING],
}

impl Reusable for Workspace {
    fn new() -> Box<Self> {
        Box::new(Self {
            chunks: Chunks::default(),
            words: WordCache::new(RandomState::default().hash_one(0)),
            tokens: [0; MOST_WAITING],
        })
    }

    fn is_current(&self) -> bool {
        self.words.keeps_the_limit()
    }
}

/// What makes tokens of a chunk that is not among those met before.
pub trait Family<S: Few> {
    /// The chunks met before.
    fn words(&self) -> &WordCache;

    /// Whether what was remembered is true at this place of the text.
    fn may_recall(&self, sink: &S) -> bool;

    /// Gives the tokens of `text[start..end]`, which are not remembered, to `sink` and says where what was read ends: at `end`,
    /// or at the end of a later chunk if the tokens of this one depend on what follows.
    ///
    /// # Errors
    /// As the stages.
    fn chunk(&mut self, text: &str, start: usize, end: usize, sink: &mut S) -> Result<usize>;
}

/// Gives the tokens of the chunks of `text` from `start` on to `sink`.
///
/// # Errors
/// As the stages.
pub fn tokens<S: Few>(
    family: &mut impl Family<S>,
    delimiters: &Delimiters,
    chunks: &mut Chunks,
    text: &str,
    start: usize,
    sink: &mut S,
) -> Result<()> {
    let mut done = start;
    delimiters.chunks(text.as_bytes(), start, chunks, |starts, ends| {
        for (starts, ends) in starts.chunks(GROUP).zip(ends.chunks(GROUP)) {
            group(family, text, starts, ends, &mut done, sink)?;
        }
        Ok(())
    })
}

/// As [`tokens`], of one group; `done` is where what was read ends.
#[inline(always)]
fn group<S: Few>(
    family: &mut impl Family<S>,
    text: &str,
    starts: &[usize],
    ends: &[usize],
    done: &mut usize,
    sink: &mut S,
) -> Result<()> {
    let bytes = text.as_bytes();
    let mut keys = [ShortKey::NONE; GROUP];
    let mut hashes = [0; GROUP];
    let words = family.words();
    for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        if end - start <= SHORT {
            keys[i] = ShortKey::new(bytes, start, end - start);
            hashes[i] = words.prefetch_short(keys[i]);
        } else if end - start <= LONG {
            hashes[i] = words.prefetch_long(LongKey::new(bytes, start, end - start));
        }
    }
    for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        if start < *done {
            continue;
        }
        let words = family.words();
        let found = if !family.may_recall(sink) || end - start > LONG {
            None
        } else if end - start <= SHORT {
            words.find_short(keys[i], hashes[i])
        } else {
            words.find_long(LongKey::new(bytes, start, end - start), hashes[i])
        };
        match found {
            Some(Found::Short(ids, count)) => sink.push_few(ids, count),
            Some(Found::Long(ids, count)) => sink.push_all(&ids[..count]),
            Some(Found::Spilled(ids)) => sink.push_all(ids),
            None => *done = family.chunk(text, start, end, sink)?,
        }
    }
    Ok(())
}
