//! A chunk of text that goes to the stages by itself, to ask them for the places of its tokens.

use std::borrow::Cow;
use std::ops::Range;

use super::Walk;
use crate::tokenizer::spans::spelled::Spanned;
use jeton_fast::Place;
use jeton_models::stages::Stages;
use jeton_text::text::{AlignedText, Span};

/// First byte of the key of a chunk at an end of a text, before a code for its ends is added. Not in UTF-8.
const AT_AN_END: u8 = 0xF5;

/// A stretch of text with the same result anywhere inside a text. At the ends of a text it may differ.
pub struct Chunk<'t> {
    pub text: &'t str,
    pub begins_with_space: bool,
    pub place: Place,
    pub end: End,
}

/// What follows a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Another chunk.
    Inner,
    /// An added token.
    Section,
    /// Nothing.
    Text,
}

impl Chunk<'_> {
    /// Its key in the cache.
    pub fn key(&self) -> Cow<'_, [u8]> {
        let place = match self.place {
            Place::Inner => 0,
            Place::First => 1,
            Place::Section => 2,
        };
        match place + 3 * self.end as u8 {
            0 => self.text.as_bytes().into(),
            ends => [&[AT_AN_END + ends][..], self.text.as_bytes()]
                .concat()
                .into(),
        }
    }

    /// Fills `found` with the tokens of the chunk and their places in it, if these are the first of `ids`.
    pub fn ask(
        &self,
        walk: &Walk,
        stages: &Stages,
        ids: &[u32],
        found: &mut Vec<Spanned>,
    ) -> Option<()> {
        let before = match self.place {
            Place::First => "",
            Place::Inner if !self.begins_with_space => "x\n",
            Place::Inner | Place::Section => "x",
        };
        let behind = match self.end {
            End::Inner => " x",
            End::Section => "x",
            End::Text => "",
        };
        let whole = [before, self.text, behind].concat();
        // The last character, `x`, takes the place of an added token, and is removed again.
        let start = usize::from(self.place == Place::Section);
        let end = whole.len() - usize::from(self.end == End::Section);
        let text = AlignedText::original(&whole).slice(start..end);
        let pieces = stages.before_model().pieces(text).ok()?;
        let within = before.len()..before.len() + self.text.len();
        let parts = pieces.iter().map(|it| (it, part_of(it, &within)));
        let parts = parts.filter(|(_, part)| !part.is_empty());
        found.clear();
        for (piece, part) in parts {
            let rest = &ids[found.len()..];
            walk.place(stages, piece, part, rest, found)?;
        }
        for (_, span) in found {
            let [start, end] = [span.start, span.end].map(|it| it.checked_sub(within.start));
            *span = Span::new(start?, end?);
        }
        Some(())
    }
}

/// The bytes of a piece that came from a part of the original.
fn part_of(piece: &AlignedText, within: &Range<usize>) -> Range<usize> {
    let is_before = |at: usize, place: usize| piece.span_of(at..at + 1).start < place;
    let mut places = 0..piece.as_str().len();
    while !places.is_empty() && is_before(places.start, within.start) {
        places.start += 1;
    }
    while !places.is_empty() && !is_before(places.end - 1, within.end) {
        places.end -= 1;
    }
    places
}
