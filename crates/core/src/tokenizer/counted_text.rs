//! The number of tokens of a text that grows at either end, and of its ranges, without encoding all of it
//! again.
//!
//! The text is kept in parts that end at safe split points, each with its count. A split point is known by
//! the text around it that was looked at, so it holds in every range that has that text.

use std::collections::VecDeque;
use std::ops::Range;

use super::streams::Cuts;
use super::{EncodeOptions, Tokenizer};
use jeton_fast::Place;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::paced;
use jeton_text::mem::room;
use jeton_text::text::boundary_before;

/// Bytes of a part, about.
const PART: usize = if cfg!(test) { 48 } else { 1 << 10 };

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
    cuts: Cuts,
    /// Without special tokens around the text, which `frame` counts.
    options: EncodeOptions,
    frame: usize,
    /// Each ends at a split point.
    parts: VecDeque<Part>,
    /// What stands behind them.
    tail: String,
    /// Bytes of the first part, and of the tail, from which on they are cut: where no place was found, it is
    /// tried again once they have twice the length.
    head_room: usize,
    tail_room: usize,
    /// The tokens of the first part at the front of the text, and of the tail at its end, if they are known.
    head_count: Option<usize>,
    tail_count: Option<usize>,
}

#[derive(Debug)]
struct Part {
    text: String,
    characters: usize,
    /// How many bytes were looked at in front of the split point at its end, and behind.
    before: usize,
    behind: usize,
    /// Its tokens between other parts, if they are known.
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
    /// An empty text, in which special tokens are what `special` says.
    ///
    /// # Errors
    /// No safe split points are known for this tokenizer, or special tokens are to be an error.
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
        let cuts = Cuts::new(
            tokenizer,
            &options,
            "this tokenizer cannot count a text in parts",
        )?;
        let frame = tokenizer.count("", &options)?;
        options.add_special_tokens = false;
        Ok(Self {
            cuts,
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

    /// How many characters the text has.
    pub fn characters(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.characters).sum();
        parts + self.tail.chars().count()
    }

    /// The text.
    pub fn text(&self) -> String {
        self.slice(0..self.bytes())
    }

    /// Puts `text` behind the text.
    pub fn append(&mut self, tokenizer: &Tokenizer, text: &str) {
        // The whole is copied once where it is cut.
        room::ask((self.tail.len() + text.len()).saturating_mul(3));
        self.tail.push_str(text);
        self.tail_count = None;
        if self.tail.len() >= self.tail_room {
            let tail = std::mem::take(&mut self.tail);
            let (parts, rest) = self.cut(tokenizer, &tail);
            self.parts.extend(parts);
            tail[rest..].clone_into(&mut self.tail);
            self.tail_room = 2 * self.tail.len().max(PART);
        }
    }

    /// Puts `text` in front of the text.
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
        let is_cut = first.text.len() >= self.head_room;
        if is_cut {
            let (cut, rest) = self.cut(tokenizer, &first.text);
            parts = cut;
            first.text.drain(..rest);
        }
        first.characters = first.text.chars().count();
        if !first.text.is_empty() {
            parts.push(first);
        }
        if is_cut {
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

    /// The number of tokens of a range of characters by itself, with the special tokens around it.
    ///
    /// # Errors
    /// A range that ends behind the text or before it begins; as [`Tokenizer::count`].
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
                    format!("{start}..{end} is no range of the {length} characters of the text"),
                ));
            }
        };
        let mut known: Option<Known> = None;
        let mut at = 0;
        for (number, part) in self.parts.iter().enumerate() {
            at += part.text.len();
            if at + part.behind > bytes.end {
                break;
            }
            if at >= bytes.start + part.before {
                let first = known.as_ref().map_or((number + 1, at), |known| known.first);
                known = Some(Known {
                    first,
                    last: (number + 1, at),
                });
            }
        }
        let Some(Known { first, last }) = known else {
            let text = self.slice(bytes);
            let count = tokenizer.count_part(&text, Place::First, true, &self.options)?;
            return Ok(self.frame + count);
        };
        let head = self.slice(bytes.start..first.1);
        let head = tokenizer.count_part(&head, Place::First, false, &self.options)?;
        let inner = self.count_parts(tokenizer, first.0..last.0)?;
        let tail = self.slice(last.1..bytes.end);
        let tail = tokenizer.count_part(&tail, Place::Inner, true, &self.options)?;
        Ok(self.frame + head + inner + tail)
    }

    /// The tokens of these parts, each of which stands between others.
    fn count_parts(&mut self, tokenizer: &Tokenizer, parts: Range<usize>) -> Result<usize> {
        let mut sum = 0;
        for part in paced(self.parts.range_mut(parts)) {
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

    /// The parts that a text begins with, and where the rest begins.
    fn cut(&self, tokenizer: &Tokenizer, text: &str) -> (Vec<Part>, usize) {
        let mut parts = Vec::new();
        let mut start = 0;
        while text.len() - start >= 2 * PART {
            let Some((end, seen)) = self.split_point(tokenizer, &text[start..]) else {
                break;
            };
            parts.push(Part::new(&text[start..start + end], end, seen - end));
            start += end;
        }
        (parts, start)
    }

    /// A place where the first part of a text may end, and how much of the text was looked at.
    fn split_point(&self, tokenizer: &Tokenizer, text: &str) -> Option<(usize, usize)> {
        let mut size = PART;
        loop {
            let window = &text[..boundary_before(text, size)];
            // The fast path asks what stands before a place from the last space on.
            let space = window.bytes().skip(1).position(|byte| byte == b' ');
            let near = match self.cuts {
                Cuts::Stages(_) => Some(0),
                Cuts::Compiled => space.map(|space| (space + 2).max(window.len() / 2)),
            };
            let found = near.and_then(|near| {
                let near = boundary_before(window, near);
                self.cuts.find(tokenizer, window, near, &self.options)
            });
            match found.filter(|&at| at > 0 && self.is_far_enough(tokenizer, at)) {
                Some(at) => return Some((at, window.len())),
                None if window.len() == text.len() => return None,
                None => size *= 2,
            }
        }
    }

    /// Whether so much of a text tells that no added token, which may begin in front of it, ends behind it.
    fn is_far_enough(&self, tokenizer: &Tokenizer, at: usize) -> bool {
        let added = &tokenizer.added_tokens;
        added.finds_nothing(&self.options.special) || at >= added.reach()
    }

    /// Where a character begins, in bytes; the end of the text for the one behind the last.
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

    /// The text between two places, in bytes.
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

/// The split points of a range: the number of the part behind each, and the byte where that begins.
struct Known {
    first: (usize, usize),
    last: (usize, usize),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokenizer::streams::tests::TOKENIZERS;

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
        // Around added tokens more of a text is looked at than these have.
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
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        let reversed = 2..1;
        assert!(counted.count_range(tokenizer, reversed).is_err());
    }
}
