//! Dead ends: the places from which an automaton found no end of a match, so that no failed search is
//! repeated.
//!
//! Look here for why `a+b|a` takes linear time on one letter a million times. Each of its matches is the
//! first letter, which is certain only at the end of the text. But what an automaton finds from a
//! place on depends on its state and the place alone: if it once found nothing, it finds nothing
//! again. So text that was read far beyond the end of a match is recorded, one place in each block.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::interrupt::tick;

/// Bytes of a block. Their first character is where the automaton looks whether it has been there.
const LOOK_EVERY: usize = 64;
/// Bytes that may be read in vain, as often as it happens.
const MAX_IN_VAIN: usize = 512;
/// Places that are kept at least.
const MIN_PLACES: usize = 1 << 12;
/// States that are kept for each block of a long text. A pattern that comes there in more of them, as
/// `(?:aaa)+b|a` does, reads on until the budget of a text is spent.
const STATES: usize = 2;

/// The dead ends of one text, as far as they are known.
#[derive(Default)]
pub(super) struct DeadEnds {
    /// States, by their row, and places from which no match ends.
    known: HashSet<(usize, usize), RandomState>,
    /// The last of these places.
    last: usize,
    /// The looks of the match that is being read, after the last place where one ends.
    looks: Vec<(usize, usize)>,
    /// Where the next look is due.
    due: usize,
    /// Bytes that were read and belong to no match.
    read_in_vain: u64,
}

impl DeadEnds {
    /// A match is read from here on.
    #[inline(always)]
    pub(super) fn start(&mut self, at: usize) {
        self.due = behind_block(at);
        self.looks.clear();
    }

    /// Whether reading on is known to be in vain, in the state of `row` before the character at `at`;
    /// `end` is the last place at which a match was seen to end.
    #[inline(always)]
    pub(super) fn ends(&mut self, row: usize, at: usize, end: Option<usize>) -> bool {
        at >= self.due && self.look(row, at, end)
    }

    #[inline(never)]
    fn look(&mut self, row: usize, at: usize, end: Option<usize>) -> bool {
        self.due = behind_block(at);
        tick();
        if at <= self.last && self.known.contains(&(row, at)) {
            return true;
        }
        if self
            .looks
            .last()
            .is_some_and(|&(_, last)| end >= Some(last))
        {
            self.looks.clear();
        }
        self.looks.push((row, at));
        false
    }

    /// The match that began at `start` was read up to `read`, and `end` is the last place at which one
    /// was seen to end. `length` is that of the text.
    #[inline(always)]
    pub(super) fn stop(&mut self, start: usize, read: usize, end: Option<usize>, length: usize) {
        let in_vain = read - end.unwrap_or(start);
        self.read_in_vain += in_vain as u64;
        if in_vain >= MAX_IN_VAIN {
            self.keep(start, end, length);
        }
    }

    #[cold]
    fn keep(&mut self, start: usize, end: Option<usize>, length: usize) {
        if self.last < start {
            // Clearing takes time for all that it was made for.
            if self.known.capacity() > 8 * MIN_PLACES.max(self.known.len()) {
                self.known = HashSet::default()
            } else {
                self.known.clear()
            }
        }
        let room = MIN_PLACES.max(length / LOOK_EVERY * STATES);
        let looks = self.looks.iter().filter(|(_, at)| Some(*at) > end);
        for &(row, at) in looks.take(room.saturating_sub(self.known.len())) {
            self.known.insert((row, at));
            self.last = self.last.max(at);
        }
    }

    /// How many bytes were read in vain since this was asked before.
    #[inline(always)]
    pub(super) fn take_read_in_vain(&mut self) -> u64 {
        std::mem::take(&mut self.read_in_vain)
    }
}

/// Where the next block begins.
#[inline(always)]
fn behind_block(at: usize) -> usize {
    (at | (LOOK_EVERY - 1)) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::pattern::{Dialect, Regex};

    /// Texts that are read far in vain, with characters of one to four bytes.
    fn texts() -> Vec<String> {
        let long = |text: &str| text.repeat(2_500 / text.len());
        vec![
            long("a"),
            long("a") + "b" + &long("a"),
            long("é"),
            long("aé漢😀"),
            long("a") + "é" + &long("aab") + &long("a"),
            long("ab") + &"a".repeat(700) + "c" + &long("ab"),
            long(" ") + "\n" + &long(" \n ") + "a" + &long(" "),
        ]
    }

    #[test]
    fn matches_are_those_of_the_library() {
        let sources = [
            r"a+b|a",
            r"\w+b|\w",
            r"\w+😀b|\w+é|\w",
            r"(?:ab)+c|a|b",
            r"(?:a|ab)+c|a",
            r"a{1,150}b|a{3}|a+c",
            r"(?:aaa)+b|(?:aa)+c|a",
            r"a+(?=b)|\w",
            r"(?:\w(?=a))+c|a+(?!a)|\w",
            r"(?<=a)a+b|a",
            r"\s+a|\s",
            r" +\n| (?! )|\s+$",
        ];
        for dialect in [Dialect::Tiktoken, Dialect::Oniguruma] {
            for source in sources {
                let regex = Regex::new(source, dialect).unwrap();
                assert!(regex.is_linear(), "{source}");
                for text in texts() {
                    let found: Result<Vec<_>> = regex.matches(&text).collect();
                    let expected: Vec<_> = match dialect {
                        Dialect::Tiktoken => {
                            let theirs = fancy_regex::Regex::new(source).unwrap();
                            theirs
                                .find_iter(&text)
                                .map(|it| it.unwrap().range())
                                .collect()
                        }
                        Dialect::Oniguruma => {
                            let theirs = onig::Regex::new(source).unwrap();
                            theirs
                                .find_iter(&text)
                                .map(|(start, end)| start..end)
                                .collect()
                        }
                    };
                    assert_eq!(found.unwrap(), expected, "{source} {:?}", &text[..8]);
                }
            }
        }
    }

    #[test]
    fn reading_in_vain_is_in_proportion_to_the_text() {
        let text = "a".repeat(300_000);
        for source in ["a+b|a", "a+b(?=c)|a", "(?:aa)+b|a"] {
            let regex = Regex::new(source, Dialect::Tiktoken).unwrap();
            let mut matches = regex.matches(&text);
            assert_eq!(matches.by_ref().filter_map(Result::ok).count(), text.len());
            assert!(
                matches.read_in_vain() < (MAX_IN_VAIN * text.len()) as u64,
                "{source}"
            );
        }
    }

    #[test]
    fn little_is_kept_of_a_text() {
        let text = "a".repeat(20_000);
        let mut dead_ends = DeadEnds::default();
        for start in 0..10_000 {
            dead_ends.start(start);
            // Each time in another state.
            let mut places = start..text.len();
            assert!(places.all(|at| !dead_ends.ends(start, at, None)));
            dead_ends.stop(start, text.len(), None, text.len());
        }
        assert!(dead_ends.known.len() <= MIN_PLACES);
    }
}
