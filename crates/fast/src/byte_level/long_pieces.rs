//! Pieces that are too long for an entry of the cache: split between tokens, or merged as they are.

use super::ByteLevelCall;
use super::joining::Joining;
use crate::cache::group::{GROUP, Group};
use crate::sink::Sink;
use jeton_models::merge::merges::SCANNED;
use jeton_text::interrupt::tick;
use jeton_text::mem::short_keys::{LONG, ShortKey};

impl<'t> ByteLevelCall<'_, 't> {
    /// A piece longer than [`LONG`]: split where no token spans, else merged as it is.
    #[inline(never)]
    pub(super) fn very_long(
        &mut self,
        text: &'t [u8],
        start: usize,
        end: usize,
        sink: &mut dyn Sink,
    ) {
        if (self.compiled.joining.as_ref()).is_some_and(Joining::joins_words) {
            // A part would look like a whole word.
            return self.uncut(&text[start..end], sink);
        }
        let split_points = &self.compiled.split_points;
        let mut ends = [0; GROUP];
        let mut count = split_points.first_split_points(text, start, end, &mut ends);
        if count == 1 {
            return self.uncut(&text[start..end], sink);
        }
        let mut group = Group::NONE;
        let mut bounds = [start as u32; GROUP + 1];
        loop {
            tick();
            for (bound, &end) in bounds[1..].iter_mut().zip(&ends[..count]) {
                *bound = end as u32;
            }
            if self.compiled.whole_piece_tokens.is_empty() {
                group.ask_between(self.words, text, &bounds[..=count]);
                self.group(&group, text, &bounds[..=count], 0, sink);
            } else {
                self.parts(&mut group, text, &bounds[..=count], sink);
            }
            let last = ends[count - 1];
            if last == end {
                return;
            }
            bounds[0] = last as u32;
            count = split_points.first_split_points(text, last, end, &mut ends);
        }
    }

    /// The parts of a piece, between neighbours in `bounds`. One that is a token only when it is a piece
    /// is neither looked up nor remembered.
    #[inline(never)]
    fn parts(&mut self, group: &mut Group, text: &'t [u8], bounds: &[u32], sink: &mut dyn Sink) {
        let compiled = self.compiled;
        let part = |bounds: &[u32]| &text[bounds[0] as usize..bounds[1] as usize];
        let is_token = |bounds: &&[u32]| compiled.whole_piece_tokens.token(part(bounds)).is_some();
        let mut first = 0;
        while first + 1 < bounds.len() {
            let odd = bounds[first..]
                .windows(2)
                .position(|bounds| is_token(&bounds));
            let last = odd.map_or(bounds.len() - 1, |count| first + count);
            if first < last {
                group.ask_between(self.words, text, &bounds[first..=last]);
                self.group(group, text, &bounds[first..=last], 0, sink);
            }
            if odd.is_some() {
                self.fill(sink);
                sink.push_all(&compiled.merges.merge_long(part(&bounds[last..])));
            }
            first = last + usize::from(odd.is_some());
        }
    }

    /// A piece that is longer than [`LONG`] and not split.
    fn uncut(&mut self, piece: &'t [u8], sink: &mut dyn Sink) {
        if let Some(ids) = self.words.find_overflow(piece) {
            if self.pending.has_room(ids.len() + GROUP * LONG) {
                return self.pending.many(ids);
            }
            // What is remembered meanwhile may have these forgotten.
            let ids = ids.to_vec();
            self.fill(sink);
            return sink.push_all(&ids);
        }
        if piece.len() <= SCANNED {
            return self.new_piece(piece, ShortKey::NONE, 0, sink);
        }
        self.fill(sink);
        let Self {
            compiled, words, ..
        } = self;
        let whole = compiled.whole_piece_tokens.token(piece);
        let mut ids = whole.map_or_else(|| compiled.merges.merge_long(piece), |id| vec![id]);
        if let Some(joining) = &compiled.joining {
            joining.mark(&mut ids);
        }
        sink.push_all(&ids);
        words.insert(piece, &ids);
    }
}
