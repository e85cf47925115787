//! Searches in text and copies of it, which can be interrupted.

use std::str::MatchIndices;

use crate::interrupt::{paced, poll};

/// The last place up to `at` where a character begins or the text ends.
pub fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Bytes that are searched for a text in one go.
const STRETCH: usize = 1 << 20;

/// The places of a text in another, from left to right, without overlap: as `match_indices`, but a stretch
/// at a time, so that interrupts are noticed while nothing is found.
pub struct Occurrences<'t> {
    text: &'t str,
    wanted: &'t str,
    stretch: usize,
    /// Where the stretch begins that is searched; what begins before `sure` ends in it.
    start: usize,
    sure: usize,
    found: MatchIndices<'t, &'t str>,
    /// Where the last occurrence ends.
    done: usize,
}

impl<'t> Occurrences<'t> {
    /// The occurrences of `wanted`, which is not empty, in `text`.
    pub(crate) fn new(text: &'t str, wanted: &'t str) -> Self {
        Self::by(text, wanted, STRETCH)
    }

    /// The same, which goes over this many bytes at a time.
    fn by(text: &'t str, wanted: &'t str, stretch: usize) -> Self {
        let mut new = Self {
            text,
            wanted,
            stretch,
            start: 0,
            sure: 0,
            found: "".match_indices(wanted),
            done: 0,
        };
        new.search(0);
        new
    }

    fn search(&mut self, start: usize) {
        let Self { text, wanted, .. } = *self;
        let sure = boundary_before(text, start.saturating_add(self.stretch.max(4)));
        let seen = boundary_before(text, sure.saturating_add(wanted.len()));
        (self.start, self.sure) = (start, sure);
        self.found = text[start..seen].match_indices(wanted);
    }
}

impl Iterator for Occurrences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            match self.found.next() {
                Some((at, _)) if self.start + at < self.sure => {
                    self.done = self.start + at + self.wanted.len();
                    return Some(self.start + at);
                }
                _ if self.sure == self.text.len() => return None,
                _ => {
                    poll();
                    self.search(self.sure.max(self.done));
                }
            }
        }
    }
}

/// The same text, copied part by part.
pub fn copied(text: &str) -> String {
    let mut copy = String::with_capacity(text.len());
    push(&mut copy, text);
    copy
}

/// The same text after a space, copied part by part.
pub fn behind_space(text: &str) -> String {
    let mut copy = String::with_capacity(text.len() + 1);
    copy.push(' ');
    push(&mut copy, text);
    copy
}

/// Adds a text to another, part by part.
fn push(to: &mut String, text: &str) {
    let mut rest = text;
    while rest.len() > STRETCH {
        poll();
        let (part, others) = rest.split_at(boundary_before(rest, STRETCH));
        to.push_str(part);
        rest = others;
    }
    to.push_str(rest);
}

/// How often `wanted`, which is not empty, is in a text.
pub fn count(text: &str, wanted: &str) -> usize {
    paced(Occurrences::new(text, wanted)).count()
}

/// `text` with another in place of each occurrence of `from`, which is not empty; `capacity` is how
/// long about it becomes.
pub fn replaced(text: &str, from: &str, to: &str, capacity: usize) -> String {
    let mut new = String::with_capacity(capacity);
    let mut done = 0;
    for at in paced(Occurrences::new(text, from)) {
        push(&mut new, &text[done..at]);
        new.push_str(to);
        done = at + from.len();
    }
    push(&mut new, &text[done..]);
    new
}

/// How many bytes of white space these characters begin with.
pub fn white_space(characters: impl Iterator<Item = char>) -> usize {
    let spaces = paced(characters).take_while(|c| c.is_whitespace());
    spaces.map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_are_the_same_in_stretches() {
        let text = "aaaab▁▁ab▁aaé▁";
        for wanted in ["a", "aa", "aab", "▁", "▁▁", "b▁▁a", "é▁", "x"] {
            let expected: Vec<_> = text.match_indices(wanted).map(|(at, _)| at).collect();
            for stretch in 0..text.len() + 2 {
                let found: Vec<_> = Occurrences::by(text, wanted, stretch).collect();
                assert_eq!(found, expected, "{wanted:?}, {stretch} bytes at a time");
            }
            assert_eq!(replaced(text, wanted, "--", 0), text.replace(wanted, "--"));
        }
        assert_eq!(Occurrences::new("", "a").next(), None);
        let long = "aé漢".repeat(STRETCH / 2);
        assert!(copied(&long) == long && copied("").is_empty());
    }
}
