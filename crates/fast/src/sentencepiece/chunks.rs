//! The chunks of one text on their way through a SentencePiece model: how a new one is normalized and split
//! into parts, and what is remembered.
//!
//! Look here for open chunks: if the character map turns something else into a space, the result of a chunk
//! may depend on the next one. Segmenting is in [`Solver`].

use super::{NORMALIZED, SPACE, SentencePiece};
use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup::NewChunks;
use crate::cache::word_cache::{LONGEST, WordCache};
use crate::sink::Sink;
use crate::{Place, Stretch};
use jeton_models::model;
use jeton_stages::normalizer::SentencePieceNormalizer;
use jeton_stages::split::delimiters::Delimiters;
use jeton_stages::split::split_points::SplitPoints;
use jeton_text::error::Result;
use jeton_text::interrupt::{Pace, position, rposition};
use jeton_text::mem::short_keys::{LONG, SHORT};
use jeton_text::text::behind_space;

/// Segments normalized text between places that no piece crosses.
pub trait Solver<S: Sink> {
    /// As [`NewChunks::may_recall`].
    fn may_recall(&self, sink: &mut BufferedSink<'_, S>, chunks: usize) -> bool;

    /// Adds the tokens of `text`, which are the next for `sink`, to `ids` and gives them to `sink`;
    /// says whether they are the same wherever the text is.
    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut BufferedSink<'_, S>) -> bool;

    /// Whether a chunk may be remembered whose parts have these tokens wherever they are.
    fn may_remember(&self, ids: &[u32]) -> bool;
}

/// The state of a call while it encodes one text.
pub struct ChunksCall<'c, V> {
    pub compiled: &'c SentencePiece,
    pub solver: V,
    pub model: &'c model::SentencePiece,
    pub normalizer: &'c SentencePieceNormalizer,
    pub words: &'c mut WordCache,
    /// Whether the text ends with the stretch that is read.
    pub is_last: bool,
    /// Room for the tokens of a chunk, for normalized text and for keys.
    pub ids: Vec<u32>,
    pub normalized: String,
    pub key: Vec<u8>,
}

impl<V: Solver<S>, S: Sink> NewChunks<S> for ChunksCall<'_, V> {
    #[inline(always)]
    fn words(&self) -> &WordCache {
        self.words
    }

    #[inline(always)]
    fn may_recall(&self, sink: &mut BufferedSink<'_, S>, chunks: usize) -> bool {
        self.solver.may_recall(sink, chunks)
    }

    #[inline(never)]
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_, S>,
    ) -> Result<usize> {
        let chunk = &text[start..end];
        if !self.ends_open(chunk) && self.keeps(chunk) {
            self.parts(text, start, end, sink);
            return Ok(end);
        }
        Ok(self.normalized(text, start, end, sink))
    }
}

impl<V> ChunksCall<'_, V> {
    /// Gives the tokens of the first chunk to `sink`, if it is another one than it would be
    /// elsewhere; says where it ends, and what of the text counts.
    pub fn begin<'t, S: Sink>(
        &mut self,
        stretch: Stretch<'t>,
        sink: &mut BufferedSink<'_, S>,
    ) -> (&'t str, usize)
    where
        V: Solver<S>,
    {
        let (compiled, mut text) = (self.compiled, stretch.text);
        if compiled.collapses && stretch.is_last {
            let is_space = |byte: u8| compiled.delimiters.is_space(byte);
            let last = rposition(text.as_bytes(), |byte| !is_space(byte));
            text = &text[..last.map_or(0, |last| last + 1)];
        }
        let prefix = compiled.prefix && stretch.place == Place::First && !text.is_empty();
        let start = if prefix { self.front(text, sink) } else { 0 };
        (text, start)
    }

    fn delimiters(&self) -> &Delimiters {
        &self.compiled.delimiters
    }

    /// Whether a chunk that the character map leaves as it is ends in a space, and more spaces may
    /// follow. After a chunk of nothing but spaces there is no space.
    fn ends_open(&self, chunk: &str) -> bool {
        chunk.ends_with(SPACE)
    }

    /// With how many spaces a chunk begins, or what is one once it is normalized.
    fn spaces(&self, chunk: &str) -> usize {
        let first = position(chunk.as_bytes(), |byte| !self.delimiters().is_space(byte));
        first.unwrap_or(chunk.len())
    }

    /// Whether the character map leaves a chunk as it is, spaces apart.
    fn keeps(&self, chunk: &str) -> bool {
        let Some(map) = self.normalizer.charsmap() else {
            return true;
        };
        let rest = &chunk[self.spaces(chunk)..];
        let is_odd = |byte| !matches!(byte, b'!'..=b'~');
        self.compiled.keeps_ascii && position(rest.as_bytes(), is_odd).is_none() || map.keeps(rest)
    }

    /// The first chunk, with a space in front; says where it ends.
    fn front<S: Sink>(&mut self, text: &str, sink: &mut BufferedSink<'_, S>) -> usize
    where
        V: Solver<S>,
    {
        let end = self.delimiters().chunk_end(text.as_bytes(), 0);
        let first = behind_space(&text[..end]);
        if self.words.emit(first.as_bytes(), sink) {
            return end;
        }
        if !self.ends_open(&first) && self.keeps(&first) {
            self.parts(&first, 0, first.len(), sink);
            return end;
        }
        let whole = behind_space(text);
        self.normalized(&whole, 0, end + 1, sink) - 1
    }

    /// A chunk that the character map leaves as it is, part by part.
    fn parts<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_, S>,
    ) where
        V: Solver<S>,
    {
        let bytes = text.as_bytes();
        let spaces = self.spaces(&text[start..end]);
        self.ids.clear();
        let (mut part, mut from) = (start, start + spaces);
        let mut anywhere = true;
        let mut pace = Pace::default();
        let mut normalized = std::mem::take(&mut self.normalized);
        while part < end {
            pace.step();
            let next = if end - part <= SHORT || from == end {
                end
            } else {
                self.split_points().first_split_point(bytes, from, end)
            };
            let key = &bytes[part..next];
            // That the whole chunk is not known was found out before, if it is no longer than this.
            let is_new = key.len() == end - start && key.len() <= LONG;
            if is_new || !self.recall(key, sink) {
                normalized.clear();
                let one = self.compiled.collapses && from > part;
                let spaces = if one { 1 } else { from - part };
                normalized.extend(std::iter::repeat_n(SPACE, spaces));
                normalized.push_str(&text[from..next]);
                anywhere &= self.solve(&normalized, key, sink);
            }
            if next == end && part > start {
                self.remember::<S>(&bytes[start..end], anywhere);
            }
            (part, from) = (next, next);
        }
        self.normalized = normalized;
    }

    /// Gives the tokens of a part, if they are known.
    fn recall<S: Sink>(&mut self, key: &[u8], sink: &mut BufferedSink<'_, S>) -> bool
    where
        V: Solver<S>,
    {
        // A part is never split, so it is no chunk that was remembered as a whole, whose tokens change the
        // sum by more.
        let first = self.ids.len();
        let is_known = key.len() <= LONGEST
            && self.solver.may_recall(sink, 1)
            && self.words.emit(key, &mut self.ids);
        sink.push_all(&self.ids[first..]);
        is_known
    }

    /// Gives the tokens of a part, and remembers them under `key` if they are the same anywhere; says
    /// whether they are.
    fn solve<S: Sink>(&mut self, part: &str, key: &[u8], sink: &mut BufferedSink<'_, S>) -> bool
    where
        V: Solver<S>,
    {
        let first = self.ids.len();
        let anywhere = self.solver.solve(part, &mut self.ids, sink);
        // A part that ends in a space is not to be taken for a chunk, whose next may begin in one.
        let kept = key.len() <= LONGEST
            && (!part.ends_with(SPACE) || key.iter().all(|byte| self.delimiters().is_space(*byte)));
        if anywhere && kept {
            self.words.insert(key, &self.ids[first..]);
        }
        anywhere
    }

    /// Remembers the tokens of a chunk that has several parts, unless it is so long that its parts serve as
    /// well, or they are more than a normalizer makes of what an entry of the cache has room for.
    fn remember<S: Sink>(&mut self, chunk: &[u8], anywhere: bool)
    where
        V: Solver<S>,
    {
        if anywhere
            && chunk.len() <= LONG
            && self.ids.len() <= LONG
            && self.solver.may_remember(&self.ids)
        {
            self.words.insert(chunk, &self.ids);
        }
    }

    /// Any chunk, made longer until what it becomes does not depend on what follows; says where it
    /// ends.
    fn normalized<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_, S>,
    ) -> usize
    where
        V: Solver<S>,
    {
        let bytes = text.as_bytes();
        let mut longer = end;
        let mut more = 1;
        let (normalized, open) = loop {
            let normalized = self.normalizer.normalize_part(&text[start..longer], false);
            let open = normalized.is_empty() || normalized.ends_with(SPACE);
            match bytes.get(longer) {
                None if open => {
                    let trimmed = self.normalizer.normalize_part(&text[start..], self.is_last);
                    break (trimmed, open);
                }
                Some(next) if open && !self.delimiters().is_alone(*next) => {}
                _ => break (normalized, open),
            }
            for _ in 0..more {
                longer = self.delimiters().chunk_end(bytes, longer);
            }
            more *= 2;
        };
        let new = normalized.as_bytes();
        let spaces = new.len() - normalized.trim_start_matches(SPACE).len();
        self.ids.clear();
        let (mut part, mut from) = (0, spaces);
        let mut anywhere = !open;
        let mut key = std::mem::take(&mut self.key);
        let mut pace = Pace::default();
        while part < new.len() {
            pace.step();
            let next = if from == new.len() {
                new.len()
            } else {
                self.split_points().first_split_point(new, from, new.len())
            };
            key.clear();
            key.push(NORMALIZED);
            key.extend_from_slice(&new[part..next]);
            if !self.recall(&key, sink) {
                anywhere &= self.solve(&normalized[part..next], &key, sink);
            }
            (part, from) = (next, next);
        }
        self.key = key;
        self.remember::<S>(&bytes[start..longer], anywhere);
        longer
    }

    /// Where long chunks may be split.
    fn split_points(&self) -> &SplitPoints {
        (self.compiled.split_points).get(|| SplitPoints::new(self.model.vocab()))
    }
}
