//! Token counts of a text that grows at either end, and of its ranges, without encoding all of it again.
//!
//! The text is kept in parts that end at safe split points, each with its count. A split point depends only
//! on the text that the search looked at around it, so it is one in every range that contains that text.

use std::collections::VecDeque;
use std::ops::Range;

use super::split_point_search::{PART, SplitPointSearch};
use super::{EncodeOptions, Tokenizer};
use jeton_fast::Place;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::mem::room;

/// A text that grows at either end, with the counts of its parts.
///
/// ```no_run
/// # fn example(tokenizer: &jeton_core::Tokenizer) -> jeton_core::Result<()> {
/// use jeton_core::{CountedText, EncodeOptions};
/// use jeton_core::added_tokens::SpecialPolicy;
///
/// let mut text = CountedText::new(tokenizer, SpecialPolicy::Ignore, false)?;
/// text.append(tokenizer, "to be or");
/// text.append(tokenizer, " not to be");
/// let plain = EncodeOptions::PLAIN;
/// let whole = tokenizer.encode_ids("to be or not to be", &plain)?;
/// assert_eq!(text.count(tokenizer)?, whole.len());
/// assert_eq!(text.count_range(tokenizer, 3..5)?, tokenizer.encode_ids("be", &plain)?.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CountedText {
    split_points: SplitPointSearch,
    /// They add no special tokens around the text: `frame` counts those.
    options: EncodeOptions,
    frame: usize,
    /// Each ends at a split point.
    parts: VecDeque<Part>,
    /// The text after the parts.
    tail: String,
    /// Lengths in bytes at which the first part, and the tail, are split. Where no split point is found, the
    /// next attempt waits until the length has doubled.
    head_room: usize,
    tail_room: usize,
    /// Tokens of the first part as the front of the text, and of the tail as its end, once counted.
    head_count: Option<usize>,
    tail_count: Option<usize>,
}

#[derive(Debug)]
struct Part {
    text: String,
    characters: usize,
    /// Bytes in front of the split point at its end, and after it, that the search looked at.
    before: usize,
    behind: usize,
    /// Its tokens between other parts, once counted.
    tokens: Option<usize>,
}

impl Part {
    fn new(text: &str, before: usize, behind: usize) -> Self {
        Self {
            text: text.to_owned(),
            characters: text.chars().count(),
            before,
            behind,
            tokens: None,
        }
    }
}

impl CountedText {
    /// An empty text; `special` says what becomes of special tokens in it.
    ///
    /// # Errors
    /// No safe split points are known for this tokenizer; `special` is [`SpecialPolicy::Raise`].
    pub fn new(
        tokenizer: &Tokenizer,
        special: SpecialPolicy,
        add_special_tokens: bool,
    ) -> Result<Self> {
        let mut options = EncodeOptions {
            special,
            add_special_tokens,
            ..EncodeOptions::PLAIN
        };
        let split_points = SplitPointSearch::new(
            tokenizer,
            &options,
            "this tokenizer cannot count a text in parts",
        )?;
        let frame = tokenizer.count("", &options)?;
        options.add_special_tokens = false;
        Ok(Self {
            split_points,
            options,
            frame,
            parts: VecDeque::new(),
            tail: String::new(),
            head_room: 2 * PART,
            tail_room: 2 * PART,
            head_count: None,
            tail_count: None,
        })
    }

    /// The number of characters of the text.
    pub fn characters(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.characters).sum();
        parts + self.tail.chars().count()
    }

    /// The text.
    pub fn text(&self) -> String {
        self.slice(0..self.bytes())
    }

    /// Appends `text`.
    pub fn append(&mut self, tokenizer: &Tokenizer, text: &str) {
        // Splitting copies the whole once.
        room::ask((self.tail.len() + text.len()).saturating_mul(3));
        self.tail.push_str(text);
        self.tail_count = None;
        if self.tail.len() >= self.tail_room {
            let tail = std::mem::take(&mut self.tail);
            let (parts, rest) = self.split(tokenizer, &tail);
            self.parts.extend(parts);
            tail[rest..].clone_into(&mut self.tail);
            self.tail_room = 2 * self.tail.len().max(PART);
        }
    }

    /// Prepends `text`.
    pub fn prepend(&mut self, tokenizer: &Tokenizer, text: &str) {
        self.head_count = None;
        room::ask(text.len().saturating_mul(3));
        let Some(mut first) = self.parts.pop_front() else {
            self.tail.insert_str(0, text);
            return self.append(tokenizer, "");
        };
        first.text.insert_str(0, text);
        first.tokens = None;
        let mut parts = Vec::new();
        let is_split = first.text.len() >= self.head_room;
        if is_split {
            let (first_parts, rest) = self.split(tokenizer, &first.text);
            parts = first_parts;
            first.text.drain(..rest);
        }
        first.characters = first.text.chars().count();
        if !first.text.is_empty() {
            parts.push(first);
        }
        if is_split {
            let head = parts.first().map_or(0, |part| part.text.len());
            self.head_room = 2 * head.max(PART);
        }
        for part in parts.into_iter().rev() {
            self.parts.push_front(part);
        }
    }

    /// The number of tokens of the text.
    ///
    /// # Errors
    /// As [`Tokenizer::count`].
    pub fn count(&mut self, tokenizer: &Tokenizer) -> Result<usize> {
        let Some(first) = self.parts.front() else {
            let text = &self.tail;
            let count = tokenizer.count_part(text, Place::First, true, &self.options)?;
            return Ok(self.frame + count);
        };
        let head = match self.head_count {
            Some(known) => known,
            None => tokenizer.count_part(&first.text, Place::First, false, &self.options)?,
        };
        self.head_count = Some(head);
        let tail = match self.tail_count {
            Some(known) => known,
            None => tokenizer.count_part(&self.tail, Place::Inner, true, &self.options)?,
        };
        self.tail_count = Some(tail);
        let inner = self.count_parts(tokenizer, 1..self.parts.len())?;
        Ok(self.frame + head + inner + tail)
    }

    /// The number of tokens of a range of characters as a text of its own, special tokens around it included.
    ///
    /// # Errors
    /// A range that ends after the text or before its own start; as [`Tokenizer::count`].
    pub fn count_range(
        &mut self,
        tokenizer: &Tokenizer,
        characters: Range<usize>,
    ) -> Result<usize> {
        let Range { start, end } = characters;
        let bytes = match (start <= end, self.byte_of(start), self.byte_of(end)) {
            (true, Some(first), Some(last)) => first..last,
            _ => {
                let length = self.characters();
                return Err(Error::new(
                    ErrorKind::Argument,
                    format!("{start}..{end} is not a range of a text of {length} characters"),
                ));
            }
        };
        let mut inside: Option<(SplitPoint, SplitPoint)> = None;
        let mut at = 0;
        for (number, part) in self.parts.iter().enumerate() {
            at += part.text.len();
            if at + part.behind > bytes.end {
                break;
            }
            if at >= bytes.start + part.before {
                let last = SplitPoint {
                    part: number + 1,
                    byte: at,
                };
                inside = Some((inside.map_or(last, |(first, _)| first), last));
            }
        }
        let Some((first, last)) = inside else {
            let text = self.slice(bytes);
            let count = tokenizer.count_part(&text, Place::First, true, &self.options)?;
            return Ok(self.frame + count);
        };
        let head = self.slice(bytes.start..first.byte);
        let head = tokenizer.count_part(&head, Place::First, false, &self.options)?;
        let inner = self.count_parts(tokenizer, first.part..last.part)?;
        let tail = self.slice(last.byte..bytes.end);
        let tail = tokenizer.count_part(&tail, Place::Inner, true, &self.options)?;
        Ok(self.frame + head + inner + tail)
    }

    /// The tokens of these parts, all of which have neighbours on both sides.
    fn count_parts(&mut self, tokenizer: &Tokenizer, parts: Range<usize>) -> Result<usize> {
        let mut sum = 0;
        for part in self.parts.range_mut(parts) {
            sum += match part.tokens {
                Some(known) => known,
                None => {
                    let options = &self.options;
                    let count = tokenizer.count_part(&part.text, Place::Inner, false, options)?;
                    *part.tokens.insert(count)
                }
            };
        }
        Ok(sum)
    }

    /// Splits parts off the front of a text; returns them, and where the rest begins.
    fn split(&self, tokenizer: &Tokenizer, text: &str) -> (Vec<Part>, usize) {
        let mut parts = Vec::new();
        let mut start = 0;
        while text.len() - start >= 2 * PART {
            let found = self
                .split_points
                .find_within(tokenizer, &text[start..], &self.options);
            let Some((end, seen)) = found else {
                break;
            };
            parts.push(Part::new(&text[start..start + end], end, seen - end));
            start += end;
        }
        (parts, start)
    }

    /// The byte at which a character begins; for the one after the last, the end of the text.
    fn byte_of(&self, character: usize) -> Option<usize> {
        let (mut left, mut at) = (character, 0);
        for part in &self.parts {
            if left < part.characters {
                return part
                    .text
                    .char_indices()
                    .nth(left)
                    .map(|(byte, _)| at + byte);
            }
            left -= part.characters;
            at += part.text.len();
        }
        let ends = std::iter::once(self.tail.len());
        let mut places = self.tail.char_indices().map(|(byte, _)| byte).chain(ends);
        places.nth(left).map(|byte| at + byte)
    }

    fn bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.text.len()).sum();
        parts + self.tail.len()
    }

    /// The text of a range of bytes.
    fn slice(&self, bytes: Range<usize>) -> String {
        room::ask(bytes.len());
        let mut text = String::with_capacity(bytes.len());
        let mut at = 0;
        let parts = self.parts.iter().map(|part| &part.text);
        for part in parts.chain([&self.tail]) {
            let within = |place: usize| place.saturating_sub(at).min(part.len());
            text.push_str(&part[within(bytes.start)..within(bytes.end)]);
            at += part.len();
        }
        text
    }
}

/// A split point between parts: the number of the part after it, and the byte where that begins.
#[derive(Clone, Copy)]
struct SplitPoint {
    part: usize,
    byte: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokenizer::encode_stream::tests::TOKENIZERS;

    #[derive(Clone, Debug)]
    enum Change {
        Append(String),
        Prepend(String),
    }

    fn change() -> impl Strategy<Value = Change> {
        let text = prop_oneof![
            "( | the|the|e|\n|  |é|\u{301}|\u{323}|ᄀ|ᅡ|ᆨ|가|ﬁ|>|\u{338}|1|'ll|🙂|\u{A0}|[?!]){0,40}",
            "( the| e| he|\nthe){0,40}",
            "[the]{0,200}",
        ];
        (any::<bool>(), text).prop_map(|(appended, text)| {
            if appended {
                Change::Append(text)
            } else {
                Change::Prepend(text)
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn counts_are_those_of_the_text(
            changes in prop::collection::vec(change(), 1..30),
            places in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 8),
            allowed in any::<bool>(),
        ) {
            let special = if allowed { SpecialPolicy::Allow } else { SpecialPolicy::Ignore };
            for (number, tokenizer) in TOKENIZERS.iter().enumerate() {
                for framed in [false, true] {
                    let Ok(mut counted) = CountedText::new(tokenizer, special.clone(), framed) else {
                        continue;
                    };
                    let options = EncodeOptions {
                        special: special.clone(),
                        add_special_tokens: framed,
                        ..EncodeOptions::PLAIN
                    };
                    let mut whole = String::new();
                    for change in &changes {
                        match change {
                            Change::Append(text) => {
                                counted.append(tokenizer, text);
                                whole.push_str(text);
                            }
                            Change::Prepend(text) => {
                                counted.prepend(tokenizer, text);
                                whole.insert_str(0, text);
                            }
                        }
                        let expected = tokenizer.count(&whole, &options)?;
                        prop_assert_eq!(counted.count(tokenizer)?, expected, "{}: {:?}", number, whole);
                    }
                    prop_assert_eq!(counted.text(), &whole[..]);
                    let characters: Vec<char> = whole.chars().collect();
                    prop_assert_eq!(counted.characters(), characters.len());
                    for (a, b) in &places {
                        let place = |at: f64| (at * (characters.len() + 1) as f64) as usize;
                        let (start, end) = (place(a.min(*b)), place(a.max(*b)));
                        let range: String = characters[start..end].iter().collect();
                        let expected = tokenizer.count(&range, &options)?;
                        let found = counted.count_range(tokenizer, start..end)?;
                        prop_assert_eq!(found, expected, "{}: {}..{} of {:?}", number, start, end, whole);
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_text_has_parts() {
        let text = "the cat and the hat\n".repeat(50);
        // Near added tokens the search looks at more text than these parts have.
        let special = SpecialPolicy::Ignore;
        let is_plain = |(_, it): &(usize, &Tokenizer)| it.added_tokens.finds_nothing(&special);
        for (number, tokenizer) in TOKENIZERS.iter().enumerate().filter(is_plain) {
            let mut counted = CountedText::new(tokenizer, special.clone(), false).unwrap();
            counted.append(tokenizer, &text);
            assert!(counted.parts.len() > 5, "{number}: {}", counted.parts.len());
            for letter in "the cat and the hat ".chars().cycle().take(1000) {
                counted.prepend(tokenizer, &letter.to_string());
            }
            let longest = counted.parts.iter().map(|part| part.text.len()).max();
            assert!(longest < Some(8 * PART), "{number}: {longest:?}");
        }
    }

    #[test]
    fn a_range_lies_in_the_text() {
        let tokenizer = &TOKENIZERS[0];
        let mut counted = CountedText::new(tokenizer, SpecialPolicy::Ignore, false).unwrap();
        counted.append(tokenizer, "é1");
        let error = counted.count_range(tokenizer, 1..3).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains("1..3"), "{error}");
        #[expect(clippy::reversed_empty_ranges, reason = "the call refuses it")]
        let reversed = 2..1;
        assert!(counted.count_range(tokenizer, reversed).is_err());
    }
}
