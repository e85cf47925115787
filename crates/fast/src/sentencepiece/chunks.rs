//! The chunks of one text on their way through a SentencePiece model: how a new one is normalized and split
//! into parts, and what is remembered.
//!
//! Look here for open chunks: if the character map turns something else into a space, the result of a chunk
//! may depend on the next one. Segmenting is in [`Solver`].

use super::raw_split_points::{self, KeptCharacters};
use super::{NORMALIZED, SPACE, SentencePiece};
use crate::cache::group::GROUP;
use crate::cache::word_cache::{LONGEST, WordCache};
use crate::sink::Sink;
use crate::{Place, Stretch};
use jeton_models::model;
use jeton_stages::normalizer::SentencePieceNormalizer;
use jeton_stages::split::delimiters::Delimiters;
use jeton_stages::split::split_points::SplitPoints;
use jeton_text::interrupt::{Pace, position, rposition};
use jeton_text::mem::short_keys::{LONG, SHORT};
use jeton_text::text::behind_space;

/// Segments normalized text between places that no piece crosses.
pub trait Solver<S: Sink> {
    /// Whether what was remembered is true at this place of the text.
    fn may_recall(&self, sink: &S) -> bool;

    /// Adds the tokens of `text`, which are the next for `sink`, to `ids` and gives them to `sink`;
    /// says whether they are the same wherever the text is.
    fn solve(&mut self, text: &str, ids: &mut Vec<u32>, sink: &mut S) -> bool;

    /// Whether a chunk may be remembered whose parts have these tokens wherever they are.
    fn may_remember(&self, _ids: &[u32]) -> bool {
        true
    }
}

/// The state of a call while it encodes one text.
pub struct ChunksCall<'c, V> {
    pub(super) compiled: &'c SentencePiece,
    pub(super) solver: V,
    pub(super) model: &'c model::SentencePiece,
    pub(super) normalizer: &'c SentencePieceNormalizer,
    pub(super) words: &'c mut WordCache,
    /// Whether the text ends with the stretch that is read.
    pub(super) is_last: bool,
    /// Room for tokens, for normalized text and for keys.
    pub(super) gathered: Gathered,
    pub(super) normalized: String,
    pub(super) key: Vec<u8>,
}

/// The tokens of the parts of a chunk.
pub struct Gathered {
    pub(super) ids: Vec<u32>,
    /// How many of them the sink has got.
    pub(super) given: usize,
    /// Whether they are the same wherever the chunk is.
    pub(super) anywhere: bool,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            given: 0,
            anywhere: true,
        }
    }
}

impl Gathered {
    /// None yet, with the room that there is.
    pub(super) fn take(&mut self) -> Self {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        Self {
            ids,
            ..Self::default()
        }
    }

    /// Whether they are the same anywhere, and not more than a normalizer makes of text that is as
    /// long as an entry of the cache has room for; other chunks are remembered part by part.
    pub(super) fn fits(&self) -> bool {
        self.anywhere && self.ids.len() <= LONG
    }

    pub(super) fn give(&mut self, sink: &mut impl Sink) {
        if self.given < self.ids.len() {
            sink.push_all(&self.ids[self.given..]);
            self.given = self.ids.len();
        }
    }
}

impl<'c, V> ChunksCall<'c, V> {
    /// The same call with another solver.
    pub(super) fn with<W>(self, solver: W) -> ChunksCall<'c, W> {
        let Self {
            compiled,
            model,
            normalizer,
            words,
            is_last,
            gathered,
            normalized,
            key,
            ..
        } = self;
        ChunksCall {
            compiled,
            solver,
            model,
            normalizer,
            words,
            is_last,
            gathered,
            normalized,
            key,
        }
    }

    /// Gives the tokens of the first chunk to `sink`, if it is another one than it would be
    /// elsewhere; says where it ends, and what of the text counts.
    pub(super) fn begin<'t, S: Sink>(
        &mut self,
        stretch: Stretch<'t>,
        sink: &mut S,
    ) -> (&'t str, usize)
    where
        V: Solver<S>,
    {
        let (text, prefix) = self.bounds(stretch);
        let start = if prefix { self.front(text, sink) } else { 0 };
        (text, start)
    }

    /// What of a stretch counts, and whether a space is put in front.
    pub(super) fn bounds<'t>(&mut self, stretch: Stretch<'t>) -> (&'t str, bool) {
        let Stretch {
            text,
            place,
            is_last,
            ..
        } = stretch;
        self.is_last = is_last;
        let compiled = self.compiled;
        let is_space = |byte: u8| compiled.delimiters.is_space(byte);
        let text = if compiled.collapses && is_last {
            let last = rposition(text.as_bytes(), |byte| !is_space(byte));
            &text[..last.map_or(0, |last| last + 1)]
        } else {
            text
        };
        let prefix = compiled.prefix && place == Place::First && !text.is_empty();
        (text, prefix)
    }

    /// Any chunk; says where what was read ends.
    pub(super) fn chunk<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut S,
    ) -> usize
    where
        V: Solver<S>,
    {
        let chunk = &text[start..end];
        if !self.ends_open(chunk) && self.keeps(chunk) {
            self.parts(text, start, end, sink);
            return end;
        }
        self.normalized(text, start, end, sink)
    }

    /// What makes tokens.
    pub(super) fn solver(&self) -> &V {
        &self.solver
    }

    /// The chunks whose tokens are cached.
    #[inline(always)]
    pub(super) fn words(&self) -> &WordCache {
        self.words
    }

    /// Remembers the tokens of a chunk.
    pub(super) fn remember(&mut self, chunk: &[u8], ids: &[u32]) {
        self.words.insert(chunk, ids);
    }

    /// Remembers the tokens of a chunk whose parts are remembered.
    pub(super) fn remember_whole(&mut self, chunk: &[u8], ids: &[u32]) {
        self.words.insert_whole(chunk, ids);
    }

    /// Where text is split.
    pub(super) fn delimiters(&self) -> &'c Delimiters {
        &self.compiled.delimiters
    }

    /// Whether a chunk that the character map leaves as it is ends in a space, and more spaces may
    /// follow. After a chunk of nothing but spaces there is no space.
    pub(super) fn ends_open(&self, chunk: &str) -> bool {
        chunk.ends_with(SPACE)
    }

    /// With how many spaces a chunk begins, or what is one once it is normalized.
    pub(super) fn spaces(&self, chunk: &str) -> usize {
        let first = position(chunk.as_bytes(), |byte| !self.delimiters().is_space(byte));
        first.unwrap_or(chunk.len())
    }

    /// Whether the character map leaves a chunk as it is, spaces apart.
    pub(super) fn keeps(&self, chunk: &str) -> bool {
        let Some(map) = self.normalizer.charsmap() else {
            return true;
        };
        let rest = &chunk[self.spaces(chunk)..];
        let is_odd = |byte| !matches!(byte, b'!'..=b'~');
        self.compiled.keeps_ascii && position(rest.as_bytes(), is_odd).is_none() || map.keeps(rest)
    }

    /// With how many spaces a chunk begins, if nothing becomes of it but that these are `▁`.
    pub(super) fn kept_behind_spaces(&self, chunk: &str) -> Option<usize> {
        let spaces = position(chunk.as_bytes(), |byte| byte != b' ').unwrap_or(chunk.len());
        let word = &chunk[spaces..];
        let is_space = |c| u8::try_from(c).is_ok_and(|c| self.delimiters().is_space(c));
        let is_changed = self.compiled.collapses && spaces > 1
            || word.starts_with(is_space)
            || self.ends_open(chunk)
            || !self.keeps(chunk);
        (!is_changed).then_some(spaces)
    }

    /// The first chunk, with a space in front; says where it ends.
    pub(super) fn front<S: Sink>(&mut self, text: &str, sink: &mut S) -> usize
    where
        V: Solver<S>,
    {
        let end = self.delimiters().chunk_end(text.as_bytes(), 0);
        let first = behind_space(&text[..end]);
        if self.words.emit(first.as_bytes(), sink) {
            return end;
        }
        if end == text.len() || !self.ends_open(&first) && self.keeps(&first) {
            self.chunk(&first, 0, first.len(), sink);
            return end;
        }
        let whole = behind_space(text);
        self.normalized(&whole, 0, end + 1, sink) - 1
    }

    /// A chunk that the character map leaves as it is, part by part.
    pub(super) fn parts<S: Sink>(&mut self, text: &str, start: usize, end: usize, sink: &mut S)
    where
        V: Solver<S>,
    {
        let bytes = text.as_bytes();
        let spaces = self.spaces(&text[start..end]);
        let mut gathered = self.gathered.take();
        let (mut part, mut from) = (start, start + spaces);
        let mut cut = false;
        let mut pace = Pace::default();
        while part < end {
            pace.step();
            let next = if end - part <= SHORT || from == end {
                end
            } else {
                self.split_points().first_split_point(bytes, from, end)
            };
            self.part(&text[part..next], from - part, false, &mut gathered, sink);
            cut |= next != end;
            (part, from) = (next, next);
        }
        gathered.give(sink);
        // A part that is the whole chunk is remembered already.
        if cut && gathered.fits() && self.solver.may_remember(&gathered.ids) && end - start <= LONG
        {
            self.words.insert(&bytes[start..end], &gathered.ids);
        }
        self.gathered = gathered;
    }

    /// A part of a chunk that begins with this many spaces; whether the normalizer changes the rest,
    /// perhaps.
    pub(super) fn part<S: Sink>(
        &mut self,
        part: &str,
        spaces: usize,
        changed: bool,
        gathered: &mut Gathered,
        sink: &mut S,
    ) where
        V: Solver<S>,
    {
        if !self.recall(part.as_bytes(), gathered, sink) {
            self.new_part(part, spaces, changed, gathered, sink);
        }
    }

    /// A part that begins with this many spaces, of which nothing is remembered; whether the normalizer
    /// changes the rest, perhaps.
    pub(super) fn new_part<S: Sink>(
        &mut self,
        part: &str,
        spaces: usize,
        changed: bool,
        gathered: &mut Gathered,
        sink: &mut S,
    ) where
        V: Solver<S>,
    {
        let mut normalized = std::mem::take(&mut self.normalized);
        normalized.clear();
        let one = self.compiled.collapses && spaces > 0;
        for _ in 0..if one { 1 } else { spaces } {
            normalized.push_str(SPACE);
        }
        match &part[spaces..] {
            rest if changed => normalized.push_str(&self.normalizer.normalize_part(rest, false)),
            rest => normalized.push_str(rest),
        }
        self.solve(&normalized, part.as_bytes(), gathered, sink);
        self.normalized = normalized;
    }

    /// Adds the tokens of a part to `ids`, if they are known.
    pub(super) fn recall<S: Sink>(&self, part: &[u8], gathered: &mut Gathered, sink: &mut S) -> bool
    where
        V: Solver<S>,
    {
        // The sink says what may be recalled, so it has to know of all parts so far. A part is never split,
        // so it is no chunk that was remembered as a whole, whose tokens change the sum by more.
        gathered.give(sink);
        let ids = &mut gathered.ids;
        self.solver.may_recall(sink) && part.len() <= LONGEST && self.words.emit(part, ids)
    }

    /// Adds the tokens of a part, and remembers them under `key` if they are the same anywhere.
    pub(super) fn solve<S: Sink>(
        &mut self,
        part: &str,
        key: &[u8],
        gathered: &mut Gathered,
        sink: &mut S,
    ) where
        V: Solver<S>,
    {
        gathered.give(sink);
        let first = gathered.ids.len();
        let anywhere = self.solver.solve(part, &mut gathered.ids, sink);
        // A part that ends in a space is not to be taken for a chunk, whose next may begin in one.
        let kept = key.len() <= LONGEST
            && (!part.ends_with(SPACE) || key.iter().all(|byte| self.delimiters().is_space(*byte)));
        gathered.anywhere &= anywhere;
        if anywhere && kept {
            self.words.insert(key, &gathered.ids[first..]);
        }
        gathered.given = gathered.ids.len();
    }

    /// Any chunk, made longer until what it becomes does not depend on what follows; says where it
    /// ends.
    pub(super) fn normalized<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut S,
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
        let whole = longer - start <= LONG;
        let mut gathered = self.gathered.take();
        let (mut part, mut from) = (0, spaces);
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
            if !self.recall(&key, &mut gathered, sink) {
                self.solve(&normalized[part..next], &key, &mut gathered, sink);
            }
            (part, from) = (next, next);
        }
        self.key = key;
        gathered.give(sink);
        if gathered.fits() && whole && !open && self.solver.may_remember(&gathered.ids) {
            self.words.insert(&bytes[start..longer], &gathered.ids);
        }
        self.gathered = gathered;
        longer
    }

    /// Where long chunks may be split.
    pub(super) fn split_points(&self) -> &'c SplitPoints {
        (self.compiled.split_points).get(|| SplitPoints::new(self.model.vocab()))
    }

    /// Where the first parts of a chunk, the end of `text` from `start` on, end before it is
    /// normalized.
    #[inline(always)]
    pub(super) fn raw_split_points(
        &self,
        text: &str,
        start: usize,
        ends: &mut [usize; GROUP],
    ) -> raw_split_points::RawSplitPoints {
        let kept = (self.compiled.kept).get(|| KeptCharacters::new(self.normalizer));
        kept.raw_split_points(self.normalizer, self.split_points(), text, start, ends)
    }

    /// Gives the tokens of a part of which nothing is remembered to `sink`; says whether they are the
    /// same wherever it is.
    pub(super) fn lone_new_part<S: Sink>(
        &mut self,
        part: &str,
        spaces: usize,
        changed: bool,
        sink: &mut S,
    ) -> bool
    where
        V: Solver<S>,
    {
        let mut gathered = self.gathered.take();
        self.new_part(part, spaces, changed, &mut gathered, sink);
        let anywhere = gathered.anywhere;
        self.gathered = gathered;
        anywhere
    }
}
