//! Merges the new chunks of a SentencePiece BPE in batches: each leaves a gap among the tokens, and all
//! are merged side by side.
//!
//! Look here for chunks and parts that the normalizer does not change. Others, which are rare,
//! are merged at once, by `sentencepiece`.

use std::ops::Range;

use super::chunks::ChunksCall;
use super::short_merge::{MergeState, Merging};
use crate::cache::group::GROUP;
use crate::cache::lookup::PrefetchedGroup;
use crate::cache::pending::{MAX_NEW, MAX_PENDING, Pending};
use crate::cache::word_cache::{Found, LONGEST};
use crate::sink::Sink;
use jeton_stages::split::delimiters::Chunks;
use jeton_text::interrupt::Pace;
use jeton_text::mem::short_keys::{LONG, SHORT, ShortKey};

/// The working memory of [`BatchMerge`].
pub struct MergeRoom {
    tokens: Box<[u32; MAX_PENDING]>,
    holes: Vec<(usize, usize)>,
    works: Vec<MergeState>,
    merged: Merged,
}

/// The tokens of the chunks that were merged together, one after another.
#[derive(Default)]
struct Merged {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl Default for MergeRoom {
    fn default() -> Self {
        Self {
            tokens: Box::new([0; MAX_PENDING]),
            holes: Vec::new(),
            works: Vec::new(),
            merged: Merged::default(),
        }
    }
}

impl Merged {
    /// Where the tokens of the chunk of this number begin.
    fn start(&self, number: usize) -> usize {
        match number {
            0 => 0,
            number => self.ends[number - 1],
        }
    }

    /// The tokens of the chunk of this number.
    fn tokens(&self, number: usize) -> &[u32] {
        &self.ids[self.start(number)..self.ends[number]]
    }
}

/// Merges the chunks of a text, a group at a time.
pub struct BatchMerge<'c, 't> {
    call: ChunksCall<'c, Merging<'c>>,
    pending: Pending<'c, 't>,
    works: &'c mut Vec<MergeState>,
    merged: &'c mut Merged,
    /// Where what was read ends.
    done: usize,
}

impl<'c, 't> BatchMerge<'c, 't> {
    /// Nothing is gathered yet.
    pub fn new(call: ChunksCall<'c, Merging<'c>>, room: &'c mut MergeRoom) -> Self {
        Self {
            call,
            pending: Pending::new(&mut room.tokens, &mut room.holes),
            works: &mut room.works,
            merged: &mut room.merged,
            done: 0,
        }
    }

    /// Gives the tokens of the chunks of `text` from `start` on to `sink`.
    pub fn run(mut self, chunks: &mut Chunks, text: &'t str, start: usize, sink: &mut impl Sink) {
        self.done = start;
        let delimiters = self.call.delimiters();
        let Ok(()) = delimiters.chunks(text.as_bytes(), start, chunks, |starts, ends| {
            self.all(text, starts, ends, sink);
            Ok::<(), std::convert::Infallible>(())
        });
        self.fill(sink);
    }

    fn all(&mut self, text: &'t str, starts: &[usize], ends: &[usize], sink: &mut impl Sink) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features that the function is compiled for.
            unsafe { self.all_avx2(text, starts, ends, sink) };
            return;
        }
        self.all_portable(text, starts, ends, sink);
    }

    /// The same code, with what newer processors have for shifts and products.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn all_avx2(&mut self, text: &'t str, starts: &[usize], ends: &[usize], sink: &mut impl Sink) {
        self.all_portable(text, starts, ends, sink);
    }

    #[inline(always)]
    fn all_portable(
        &mut self,
        text: &'t str,
        starts: &[usize],
        ends: &[usize],
        sink: &mut impl Sink,
    ) {
        for (starts, ends) in starts.chunks(GROUP).zip(ends.chunks(GROUP)) {
            let asked = PrefetchedGroup::new(self.call.words(), text.as_bytes(), starts, ends);
            self.make_room(sink);
            for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
                if start >= self.done && !self.take_known(&asked, i, text, start, end) {
                    self.chunk(text, start, end, asked.hash(i), sink);
                    self.make_room(sink);
                }
            }
        }
    }

    /// Takes the tokens of a piece of a group, for which there is room, if they are known.
    #[inline(always)]
    fn take_known(
        &mut self,
        asked: &PrefetchedGroup,
        number: usize,
        text: &'t str,
        start: usize,
        end: usize,
    ) -> bool {
        match asked.find(number, self.call.words(), text.as_bytes(), start, end) {
            None => false,
            // A character without a piece is one token per byte, a space then three; that is rare, and
            // there may be no room.
            Some(Found::Many(ids)) if ids.len() > LONG => false,
            Some(found) => {
                self.pending.push_found(found);
                true
            }
        }
    }

    /// Makes room for the tokens of a group: none of more than [`LONG`] tokens is taken from the cache.
    #[inline(always)]
    fn make_room(&mut self, sink: &mut impl Sink) {
        if !self.pending.has_room(GROUP * LONG) {
            self.fill(sink);
        }
    }

    /// A chunk that is not known if it is no longer than [`LONG`].
    #[inline(never)]
    fn chunk(&mut self, text: &'t str, start: usize, end: usize, hash: u64, sink: &mut impl Sink) {
        let chunk = &text[start..end];
        if self.known_long(chunk, hash, sink) {
            return;
        }
        let (kept, spaces) = match self.call.kept_behind_spaces(chunk) {
            Some(spaces) => (true, spaces),
            None => (false, self.call.spaces(chunk)),
        };
        let left = if chunk.len() > SHORT && spaces < chunk.len() {
            self.parts(text, start..end, spaces, kept, hash, sink)
        } else if kept {
            self.part(chunk, spaces, kept, hash, sink);
            None
        } else {
            Some(start)
        };
        if let Some(at) = left {
            self.fill(sink);
            self.done = self.call.chunk(text, at, end, sink);
        }
    }

    /// A chunk that is longer than a short one and begins with this many spaces, part by part; `kept`
    /// says that the normalizer leaves it as it is. Says where something begins that is not to be split
    /// before it is normalized.
    fn parts(
        &mut self,
        text: &'t str,
        Range { start, end }: Range<usize>,
        mut spaces: usize,
        kept: bool,
        hash: u64,
        sink: &mut impl Sink,
    ) -> Option<usize> {
        let bytes = text.as_bytes();
        let (mut starts, mut ends) = ([0; GROUP], [0; GROUP]);
        let mut at = start;
        let mut all_found = true;
        self.make_room(sink);
        let before = self.pending.end();
        let mut pace = Pace::default();
        while at < end {
            pace.step();
            let (count, stuck) = if kept {
                let split_points = self.call.split_points();
                (
                    split_points.first_split_points(bytes, at + spaces, end, &mut ends),
                    false,
                )
            } else {
                let found = self
                    .call
                    .raw_split_points(&text[..end], at + spaces, &mut ends);
                (found.count, found.stuck)
            };
            if count == 1 && at == start && ends[0] == end {
                self.part(&text[start..end], spaces, kept, hash, sink);
                return None;
            }
            if count > 0 {
                starts[0] = at;
                starts[1..count].copy_from_slice(&ends[..count - 1]);
                at = ends[count - 1];
                all_found &= self.pending.has_room(GROUP * LONG);
                self.make_room(sink);
                all_found &= self.group(text, &starts[..count], &ends[..count], spaces, kept, sink);
                spaces = 0;
            }
            if stuck {
                return Some(at);
            }
        }
        // All parts were known, and none was given away.
        if all_found && end - start <= LONGEST {
            let ids = self.pending.behind(before);
            // What `take_known` refuses would be remembered again each time.
            if end - start > LONG || ids.len() <= LONG {
                self.call.remember_whole(&bytes[start..end], ids);
            }
        }
        None
    }

    /// Parts of a chunk, of which the first begins with this many spaces; says whether their tokens
    /// were known.
    fn group(
        &mut self,
        text: &'t str,
        starts: &[usize],
        ends: &[usize],
        mut spaces: usize,
        kept: bool,
        sink: &mut impl Sink,
    ) -> bool {
        let asked = PrefetchedGroup::new(self.call.words(), text.as_bytes(), starts, ends);
        let mut all_found = true;
        for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
            if !self.take_known(&asked, i, text, start, end) {
                self.part(&text[start..end], spaces, kept, asked.hash(i), sink);
                all_found = false;
            }
            spaces = 0;
        }
        all_found
    }

    /// Encodes a part as a whole. It begins with `spaces` spaces; a part of up to [`LONG`] bytes must be new
    /// to the cache. `kept` says that the normalizer leaves it as it is.
    fn part(&mut self, part: &'t str, spaces: usize, kept: bool, hash: u64, sink: &mut impl Sink) {
        if self.known_long(part, hash, sink) {
            return;
        }
        self.call.words().prefetch_beside(hash);
        let bytes = part.as_bytes();
        if !kept && self.call.kept_behind_spaces(part).is_none() {
            self.fill(sink);
            self.call.lone_part(part, spaces, true, sink);
        } else if !self.call.may_be_merged_together(part) {
            self.fill(sink);
            self.call.lone_part(part, spaces, false, sink);
        } else if !self.pending.hole(bytes, ShortKey::NONE, hash) {
            self.fill(sink);
            self.pending.hole(bytes, ShortKey::NONE, hash);
        }
    }

    /// Takes the tokens of a chunk or a part of this hash, if it is longer than [`LONG`] and they are known.
    fn known_long(&mut self, text: &str, hash: u64, sink: &mut impl Sink) -> bool {
        if text.len() <= LONG {
            return false;
        }
        let Some(ids) = self.call.words().find_overflow(text.as_bytes(), hash) else {
            return false;
        };
        if self.pending.has_room(ids.len() + GROUP * LONG) {
            self.pending.many(ids);
        } else {
            let ids = ids.to_vec();
            self.fill(sink);
            sink.push_all(&ids);
        }
        true
    }

    /// Merges all parts that are new, remembers them, and gives all tokens away.
    #[inline(never)]
    fn fill(&mut self, sink: &mut impl Sink) {
        let Self {
            call,
            pending,
            works,
            merged,
            ..
        } = self;
        let new = pending.new_pieces().pieces();
        if works.is_empty() && !new.is_empty() {
            works.resize_with(MAX_NEW, MergeState::default);
        }
        let merging = *call.solver();
        merging.merge_together(new, works);
        merged.ids.clear();
        merged.ends.clear();
        for (number, (part, work)) in new.iter().zip(works.iter()).enumerate() {
            merging.tokens(work, &mut merged.ids);
            merged.ends.push(merged.ids.len());
            if part.len() > LONG || merged.tokens(number).len() <= LONG {
                call.remember(part, merged.tokens(number));
            }
        }
        pending.give(
            |number| {
                (
                    &merged.ids[merged.start(number)..],
                    merged.tokens(number).len(),
                )
            },
            sink,
        );
    }
}
