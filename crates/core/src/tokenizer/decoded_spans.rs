//! Where each token is in a decoded text, to show probabilities and colours next to the text.
//!
//! Look here for ids that no encoder returned, such as those that a model wrote: the text is the decoded
//! ids, and the span of each token is the part that it adds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Tokenizer;
use super::decoding::DecodeOptions;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::paced;
use jeton_text::mem::room;
use jeton_text::text::{InvalidUtf8, Span, Unit};

impl Tokenizer {
    /// The span of each of these ids in the text that [`Tokenizer::decode`] makes of them, with U+FFFD
    /// for what is no UTF-8. A token that holds part of a character has the span of the whole character;
    /// one that is left out, an empty one.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`]; a decoder by which tokens do not add up to the text.
    pub fn spans_of(&self, ids: &[u32], options: &DecodeOptions, unit: Unit) -> Result<Vec<Span>> {
        let bytes = self.decode_bytes(ids, options)?;
        let text = self.decode(ids, options, InvalidUtf8::Replace)?;
        // What each token adds in the midst of others; at the ends of a text it may be less.
        let mut all = room::with_capacity(bytes.len());
        let mut ends = room::with_capacity(ids.len());
        let nothing = self.between_neighbours(None)?;
        let mut surfaces: HashMap<u32, Vec<u8>> = HashMap::new();
        for (position, &id) in paced(ids.iter().enumerate()) {
            if let Some(token) = self.kept_input(id, position, options)? {
                let surface = match surfaces.entry(id) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => {
                        unknown.insert(self.surface_beside(&nothing, &token)?)
                    }
                };
                room::reserve(&mut all, surface.len());
                all.extend_from_slice(surface);
            }
            ends.push(all.len());
        }
        let more = all.len().checked_sub(bytes.len());
        let front = more.and_then(|more| {
            let mut places = paced(0..=more);
            places.find(|front| all[*front..].starts_with(&bytes))
        });
        let (Some(front), Some(places)) = (front, places_of(&bytes, &text, unit)) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "the tokens of this decoder do not add up to its text, so they have no places in it",
            ));
        };
        let mut start = 0;
        let mut spans = room::with_capacity(ids.len());
        spans.extend(ends.into_iter().map(|end| {
            let [from, to] = [start, end].map(|at| at.saturating_sub(front).min(bytes.len()));
            start = end;
            if from < to {
                Span::new(places[from].start, places[to - 1].end)
            } else {
                let at = places.get(from).map_or_else(
                    || places.last().map_or(0, |last| last.end),
                    |place| place.start,
                );
                Span::new(at, at)
            }
        }));
        Ok(spans)
    }
}

/// For each byte, where its character is in the text; neighbouring bytes that are not UTF-8 have the
/// place of all that replaces them. `None` if that is not known.
fn places_of(bytes: &[u8], text: &str, unit: Unit) -> Option<Vec<Span>> {
    let mut places = room::with_capacity(bytes.len());
    let (mut rest, mut at) = (text, 0);
    // Bytes that are no UTF-8 and have no place yet.
    let mut invalid = 0;
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if !valid.is_empty() {
            let begins = match invalid {
                0 => 0,
                _ => rest.find(|c| c != char::REPLACEMENT_CHARACTER)?,
            };
            let end = at + unit.count(&rest.as_bytes()[..begins]);
            places.resize(places.len() + invalid, Span::new(at, end));
            (rest, at, invalid) = (rest[begins..].strip_prefix(valid)?, end, 0);
            for length in paced(valid.chars().map(char::len_utf8)) {
                let next = at + unit.of_length(length);
                places.resize(places.len() + length, Span::new(at, next));
                at = next;
            }
        }
        invalid += chunk.invalid().len();
    }
    let end = at + unit.count(rest.as_bytes());
    let is_shown =
        rest.chars().all(|c| c == char::REPLACEMENT_CHARACTER) && (invalid > 0 || rest.is_empty());
    places.resize(places.len() + invalid, Span::new(at, end));
    is_shown.then_some(places)
}
