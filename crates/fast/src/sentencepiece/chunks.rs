//! The chunks of one text on their way through a SentencePiece model: how a new one is normalized and split
//! into parts, and what is remembered.
//!
//! Look here for open chunks: if the character map turns something else into a space, the result of a chunk
//! may depend on the next one. Segmenting is in [`Solver`].

use std::borrow::Cow;
use std::ops::Range;

use super::{NORMALIZED, SPACE, SentencePiece};
use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup::NewChunks;
use crate::cache::word_cache::WordCache;
use crate::sink::Sink;
use crate::{Place, Stretch};
use jeton_models::model;
use jeton_stages::normalizer::{SPACE_MARK, SentencePieceNormalizer};
use jeton_stages::split::delimiters::Delimiters;
use jeton_stages::split::split_points::SplitPoints;
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::mem::short_keys::{LONG, SHORT};

/// Segments normalized text between places that no piece crosses.
pub trait Solver {
    /// As [`NewChunks::may_recall`].
    fn may_recall(&self, sink: &mut BufferedSink<'_>) -> bool;

    /// Adds the tokens of `text`, which are the next for `sink`, to `ids` and gives them to `sink`;
    /// says whether they are the same wherever the text is.
    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut BufferedSink<'_>) -> bool;

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
    /// Room for the tokens of a chunk, and for keys.
    pub ids: Vec<u32>,
    pub key: Vec<u8>,
}

impl<V: Solver> NewChunks for ChunksCall<'_, V> {
    #[inline(always)]
    fn words(&self) -> &WordCache {
        self.words
    }

    #[inline(always)]
    fn may_recall(&self, sink: &mut BufferedSink<'_>) -> bool {
        self.solver.may_recall(sink)
    }

    #[inline(never)]
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_>,
    ) -> Result<usize> {
        Ok(self.new_chunk(text, start..end, false, sink))
    }
}

impl<V: Solver> ChunksCall<'_, V> {
    /// Gives the tokens of the first chunk to `sink`, if it is another one than it would be
    /// elsewhere; says where it ends, and what of the text counts.
    pub fn begin<'t>(
        &mut self,
        stretch: Stretch<'t>,
        sink: &mut BufferedSink<'_>,
    ) -> (&'t str, usize) {
        let (compiled, mut text) = (self.compiled, stretch.text);
        if compiled.collapses && stretch.is_last {
            let is_space = |byte: u8| compiled.delimiters.is_space(byte);
            let last = text.bytes().rposition(|byte| !is_space(byte));
            text = &text[..last.map_or(0, |last| last + 1)];
        }
        let prefix = compiled.prefix && stretch.place == Place::First && !text.is_empty();
        let start = if prefix { self.front(text, sink) } else { 0 };
        (text, start)
    }

    fn delimiters(&self) -> &Delimiters {
        &self.compiled.delimiters
    }

    /// Normalizes a chunk.
    fn normalize(&self, chunk: &str) -> String {
        let spaces = chunk
            .bytes()
            .position(|byte| !self.delimiters().is_space(byte));
        let (spaces, rest) = chunk.split_at(spaces.unwrap_or(chunk.len()));
        if !self.keeps(rest) {
            return self.normalizer.normalize_part(chunk, false);
        }
        let collapses = self.compiled.collapses && !spaces.is_empty();
        let spaces = if collapses { 1 } else { spaces.len() };
        let mut normalized = String::with_capacity(spaces * SPACE.len() + rest.len());
        normalized.extend(std::iter::repeat_n(SPACE, spaces));
        normalized.push_str(rest);
        normalized
    }

    /// Whether the character map leaves text as it is that does not begin with spaces.
    fn keeps(&self, text: &str) -> bool {
        let Some(map) = self.normalizer.charsmap() else {
            return true;
        };
        let is_odd = |byte| !matches!(byte, b'!'..=b'~');
        self.compiled.keeps_ascii && !text.bytes().any(is_odd) || map.keeps(text)
    }

    /// The first chunk, with a space in front; says where it ends.
    fn front(&mut self, text: &str, sink: &mut BufferedSink<'_>) -> usize {
        let end = self.delimiters().chunk_end(text.as_bytes(), 0);
        if self
            .words
            .emit(format!(" {}", &text[..end]).as_bytes(), sink)
        {
            return end;
        }
        self.new_chunk(text, 0..end, true, sink)
    }

    /// Gives the tokens of a chunk, maybe with a space in front, to `sink`. The chunk is made longer until what
    /// it becomes does not depend on what follows; says where it ends.
    fn new_chunk(
        &mut self,
        text: &str,
        chunk: Range<usize>,
        behind_a_space: bool,
        sink: &mut BufferedSink<'_>,
    ) -> usize {
        let bytes = text.as_bytes();
        let Range { start, mut end } = chunk;
        let mut more = 1;
        let (chunk, normalized, open) = loop {
            let chunk: Cow<'_, str> = if behind_a_space {
                format!(" {}", &text[start..end]).into()
            } else {
                text[start..end].into()
            };
            let normalized = match more {
                1 => self.normalize(&chunk),
                _ => self.normalizer.normalize_part(&chunk, false),
            };
            // After a chunk of nothing but spaces there is no space.
            let is_space = self.delimiters().is_space(bytes[end - 1]);
            let open = !is_space && (normalized.is_empty() || normalized.ends_with(SPACE));
            match bytes.get(end) {
                None if open => {
                    let trimmed = self.normalizer.normalize_part(&chunk, self.is_last);
                    break (chunk, trimmed, open);
                }
                Some(next) if open && !self.delimiters().is_alone(*next) => {}
                _ => break (chunk, normalized, open),
            }
            for _ in 0..more {
                end = self.delimiters().chunk_end(bytes, end);
            }
            more *= 2;
        };
        let is_short = chunk.len() <= LONG;
        let anywhere = self.parts(&normalized, is_short, sink);
        // Of a chunk that is longer, the parts serve as well.
        if anywhere && !open && is_short && self.solver.may_remember(&self.ids) {
            self.words.insert(chunk.as_bytes(), &self.ids);
        }
        end
    }

    /// Gives the tokens of normalized text to `sink`, part by part if no token spans some place; says whether
    /// they are the same anywhere. If it is one part and `is_new`, it was looked for before.
    fn parts(&mut self, normalized: &str, is_new: bool, sink: &mut BufferedSink<'_>) -> bool {
        let bytes = normalized.as_bytes();
        let length = bytes.len();
        let (mut start, mut from) = (0, length - normalized.trim_start_matches(SPACE_MARK).len());
        let mut anywhere = true;
        self.ids.clear();
        while start < length {
            tick();
            let end = if length - from <= SHORT {
                length
            } else {
                self.split_points().first_split_point(bytes, from, length)
            };
            let part = &normalized[start..end];
            let first = self.ids.len();
            if is_new && part.len() == length {
                return self.solver.solve(part, &mut self.ids, sink);
            }
            self.key.clear();
            self.key.push(NORMALIZED);
            self.key.extend_from_slice(part.as_bytes());
            if self.solver.may_recall(sink) && self.words.emit(&self.key, &mut self.ids) {
                sink.push_all(&self.ids[first..]);
            } else if self.solver.solve(part, &mut self.ids, sink) {
                self.words.insert(&self.key, &self.ids[first..]);
            } else {
                anywhere = false;
            }
            (start, from) = (end, end);
        }
        anywhere
    }

    /// Where long chunks may be split.
    fn split_points(&self) -> &SplitPoints {
        (self.compiled.split_points).get(|| SplitPoints::new(self.model.vocab()))
    }
}
