//! Encodes the chunks of a SentencePiece Unigram in sequence, since the tokens of some depend on the sum of
//! the scores before them.
//!
//! Look here for how chunks are looked up, and for new long ones, which are looked up in parts.

use super::chunks::ChunksCall;
use super::raw_split_points::RawSplitPoints;
use super::score_sums::Summing;
use super::viterbi::Viterbi;
use crate::Stretch;
use crate::cache::group::GROUP;
use crate::cache::lookup::PrefetchedGroup;
use crate::cache::word_cache::{Found, LONGEST, WordCache};
use crate::sink::Sink;
use jeton_stages::split::delimiters::Chunks;
use jeton_text::interrupt::Pace;
use jeton_text::mem::short_keys::{LONG, SHORT};
use jeton_text::text::behind_space;

/// Encodes the chunks of a text, a group at a time.
pub struct Sequential<'c, 's, S: Sink> {
    call: ChunksCall<'c, Viterbi<'c>>,
    sink: Summing<'s, S>,
    /// Where what was read ends.
    done: usize,
}

impl<'c, 's, S: Sink> Sequential<'c, 's, S> {
    /// Nothing is read yet.
    pub fn new(call: ChunksCall<'c, Viterbi<'c>>, sink: Summing<'s, S>) -> Self {
        Self {
            call,
            sink,
            done: 0,
        }
    }

    /// Gives the tokens of a stretch to the sink.
    pub fn run(mut self, chunks: &mut Chunks, stretch: Stretch<'_>) {
        let (text, prefix) = self.call.bounds(stretch);
        if prefix {
            self.done = self.front(text);
        }
        let delimiters = self.call.delimiters();
        let Ok(()) = delimiters.chunks(text.as_bytes(), self.done, chunks, |starts, ends| {
            self.all(text, starts, ends);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// The first chunk, with a space in front; says where it ends.
    fn front(&mut self, text: &str) -> usize {
        let end = self.call.delimiters().chunk_end(text.as_bytes(), 0);
        if end <= SHORT {
            return self.call.front(text, &mut self.sink);
        }
        let first = behind_space(&text[..end]);
        if self.call.words().emit(first.as_bytes(), &mut self.sink) {
            return end;
        }
        let spaces = 1 + self.call.spaces(&text[..end]);
        match self.parts(&first, 0, first.len(), spaces) {
            None => end,
            Some(0) => self.call.front(text, &mut self.sink),
            Some(at) => self.call.normalized(text, at - 1, end, &mut self.sink),
        }
    }

    fn all(&mut self, text: &str, starts: &[usize], ends: &[usize]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.all_avx2(text, starts, ends) };
        }
        self.all_portable(text, starts, ends);
    }

    /// The same code, with what newer processors have for shifts and products.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn all_avx2(&mut self, text: &str, starts: &[usize], ends: &[usize]) {
        self.all_portable(text, starts, ends);
    }

    #[inline(always)]
    fn all_portable(&mut self, text: &str, starts: &[usize], ends: &[usize]) {
        for (starts, ends) in starts.chunks(GROUP).zip(ends.chunks(GROUP)) {
            let asked = PrefetchedGroup::new(self.call.words(), text.as_bytes(), starts, ends);
            let mut next = 0;
            while let Some(new) = self.emit_known(&asked, text, starts, ends, next) {
                if starts[new] >= self.done {
                    self.chunk(text, starts[new], ends[new], asked.hash(new));
                }
                next = new + 1;
            }
            self.done = ends.last().map_or(self.done, |&end| self.done.max(end));
        }
    }

    /// Gives the tokens of the pieces of a group from number `from` on, as long as they are known;
    /// says which is the first that is not, or was read before.
    #[inline(always)]
    fn emit_known(
        &mut self,
        asked: &PrefetchedGroup,
        text: &str,
        starts: &[usize],
        ends: &[usize],
        from: usize,
    ) -> Option<usize> {
        let (words, sink) = (self.call.words(), &mut self.sink);
        if from == starts.len() {
            return None;
        }
        if starts[from] < self.done {
            return Some(from);
        }
        if !sink.ready() {
            return known_one_by_one(words, sink, asked, text, starts, ends, from);
        }
        let mut end = sink.end();
        for number in from..starts.len() {
            if let Some((ids, count)) = asked.few(number, words) {
                end = sink.few(end, ids, count);
                continue;
            }
            match asked.find(number, words, text.as_bytes(), starts[number], ends[number]) {
                Some(Found::Long(ids, count)) => {
                    end = sink.few(end, ids, count);
                    continue;
                }
                Some(Found::Spilled(ids, count)) => {
                    end = sink.few(end, ids, count);
                    sink.set_end(end);
                }
                Some(found) => {
                    sink.set_end(end);
                    sink.push_all(found.as_slice());
                }
                None => {
                    sink.set_end(end);
                    let (start, end) = (starts[number], ends[number]);
                    let rest = asked.find_overflow(number, words, text.as_bytes(), start, end);
                    match rest.filter(|_| sink.may_recall_long()) {
                        Some(ids) => sink.push_all(ids),
                        None => return Some(number),
                    }
                }
            }
            if !sink.ready() {
                return known_one_by_one(words, sink, asked, text, starts, ends, number + 1);
            }
            end = sink.end();
        }
        sink.set_end(end);
        None
    }

    /// A chunk that is not known.
    #[inline(never)]
    fn chunk(&mut self, text: &str, start: usize, end: usize, hash: u64) {
        let chunk = &text[start..end];
        self.call.words().prefetch_beside(hash);
        let spaces = self.call.spaces(chunk);
        self.done = if chunk.len() > SHORT {
            match self.parts(text, start, end, spaces) {
                None => end,
                Some(at) => self.call.normalized(text, at, end, &mut self.sink),
            }
        } else if !self.call.ends_open(chunk) && self.call.keeps(chunk) {
            self.call
                .lone_new_part(chunk, spaces, false, &mut self.sink);
            end
        } else {
            self.call.normalized(text, start, end, &mut self.sink)
        };
    }

    /// A chunk that is longer than a short one and begins with this many spaces, part by part; says
    /// where something begins that is not to be split before it is normalized.
    fn parts(&mut self, text: &str, start: usize, end: usize, spaces: usize) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.parts_avx2(text, start, end, spaces) };
        }
        self.parts_portable(text, start, end, spaces)
    }

    /// The same code, with what newer processors have for shifts and products.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn parts_avx2(&mut self, text: &str, start: usize, end: usize, spaces: usize) -> Option<usize> {
        self.parts_portable(text, start, end, spaces)
    }

    #[inline(always)]
    fn parts_portable(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        mut spaces: usize,
    ) -> Option<usize> {
        let (mut starts, mut ends) = ([0; GROUP], [0; GROUP]);
        let mut at = start;
        let mut anywhere = true;
        let before = self.sink.mark();
        let mut pace = Pace::default();
        while at < end {
            pace.step();
            let RawSplitPoints {
                count,
                changed,
                stuck,
            } = self
                .call
                .raw_split_points(&text[..end], at + spaces, &mut ends);
            if count > 0 {
                starts[0] = at;
                starts[1..count].copy_from_slice(&ends[..count - 1]);
                at = ends[count - 1];
                anywhere &= self.group(text, &starts[..count], &ends[..count], spaces, changed);
                spaces = 0;
            }
            if stuck {
                return Some(at);
            }
        }
        if anywhere
            && end - start <= LONGEST
            && let Some(ids) = self.sink.behind(&before)
            && self.call.solver().changes_little(ids, end - start)
        {
            self.call.remember_whole(&text.as_bytes()[start..end], ids);
        }
        None
    }

    /// Parts of a chunk, of which the first begins with this many spaces and some are changed by the
    /// normalizer, perhaps; says whether their tokens are the same wherever they are.
    #[inline(always)]
    fn group(
        &mut self,
        text: &str,
        starts: &[usize],
        ends: &[usize],
        spaces: usize,
        changed: bool,
    ) -> bool {
        let asked = PrefetchedGroup::new(self.call.words(), text.as_bytes(), starts, ends);
        let (mut next, mut anywhere) = (0, true);
        while let Some(new) = self.emit_known(&asked, text, starts, ends, next) {
            let spaces = if new == 0 { spaces } else { 0 };
            let part = &text[starts[new]..ends[new]];
            anywhere &= self.part(part, asked.hash(new), spaces, changed);
            next = new + 1;
        }
        anywhere
    }

    /// Encodes a part that is not in the cache, or may not be taken from it here. `spaces` is how many
    /// spaces it begins with. Returns whether its tokens are the same at every place.
    #[inline(never)]
    fn part(&mut self, part: &str, hash: u64, spaces: usize, changed: bool) -> bool {
        self.call.words().prefetch_beside(hash);
        self.call
            .lone_new_part(part, spaces, changed, &mut self.sink)
    }
}

/// As [`Sequential::emit_known`], where what was remembered of a chunk is perhaps no longer true.
#[inline(never)]
fn known_one_by_one<S: Sink>(
    words: &WordCache,
    sink: &mut Summing<'_, S>,
    asked: &PrefetchedGroup,
    text: &str,
    starts: &[usize],
    ends: &[usize],
    from: usize,
) -> Option<usize> {
    (from..starts.len()).find(|&number| {
        sink.sum();
        let (start, end) = (starts[number], ends[number]);
        let bytes = text.as_bytes();
        let ids = if end - start > LONG {
            let may_recall = sink.may_recall_long();
            may_recall.then(|| asked.find_overflow(number, words, bytes, start, end))
        } else {
            let find = || {
                asked
                    .find(number, words, bytes, start, end)
                    .map(Found::as_slice)
            };
            sink.may_recall().then(find)
        };
        let ids = ids.flatten();
        ids.inspect(|ids| sink.push_all(ids)).is_none()
    })
}
