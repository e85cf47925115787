//! An automaton that finds any of many spellings in one pass over the text: the one that begins first, and
//! of those that begin together the longest.
//!
//! Look here for why there are two automata. The one of the crate `aho-corasick` is faster, and
//! serves the usual few tokens; but ordering its states may take quadratic time, which is
//! half a minute for 200,000 added tokens. That of `daachorse` is built in time proportional to the spellings.

use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Match, MatchKind};
use daachorse::{DoubleArrayAhoCorasick, DoubleArrayAhoCorasickBuilder};

use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{poll, tick};

/// Bytes of all spellings from which on the automaton of `daachorse` finds them.
const MANY_FROM: usize = 1 << 14;

/// Bytes of one spelling above which the automaton of the crate is not made deterministic: that takes
/// time in the square of a spelling that repeats itself.
const MAX_DETERMINISTIC: usize = 512;

/// Bytes that are searched in one go.
const STRETCH: usize = 1 << 20;

/// An automaton over some spellings.
#[derive(Clone)]
pub(super) struct Automaton {
    kind: Kind,
    /// Bytes of the longest spelling.
    longest: usize,
    /// One of the spellings is empty, as a normalizer may make it.
    has_empty: bool,
}

#[derive(Clone)]
enum Kind {
    Few(AhoCorasick),
    Many(DoubleArrayAhoCorasick<u32>),
}

/// An occurrence of a spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub spelling: usize,
    pub range: Range<usize>,
}

impl From<Match> for Hit {
    fn from(hit: Match) -> Self {
        Self {
            spelling: hit.pattern().as_usize(),
            range: hit.range(),
        }
    }
}

impl Automaton {
    /// The automaton of these spellings, no two of which are equal.
    ///
    /// # Errors
    /// There are too many.
    pub fn new(spellings: &[&str]) -> Result<Self> {
        let lengths = || spellings.iter().map(|spelling| spelling.len());
        let has_empty = lengths().any(|length| length == 0);
        let kind = match lengths().sum::<usize>() {
            MANY_FROM.. if !has_empty => Kind::Many(many(spellings)?),
            _ => Kind::Few(few(
                spellings,
                lengths().any(|length| length > MAX_DETERMINISTIC),
            )?),
        };
        Ok(Self {
            kind,
            longest: lengths().max().unwrap_or(0),
            has_empty,
        })
    }

    /// Bytes of the longest spelling.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The first hit in a part of `text`.
    pub fn find(&self, text: &[u8], part: Range<usize>) -> Option<Hit> {
        match &self.kind {
            Kind::Few(automaton) => automaton.find(Input::new(text).range(part)).map(Hit::from),
            Kind::Many(automaton) => {
                let hit = automaton.leftmost_find_iter(&text[part.clone()]).next()?;
                Some(Hit {
                    spelling: hit.value() as usize,
                    range: part.start + hit.start()..part.start + hit.end(),
                })
            }
        }
    }

    /// The hits in a text, from left to right, without overlap. Interrupts are noticed between them,
    /// and where there is none.
    pub fn hits<'s>(&'s self, text: &'s str) -> impl Iterator<Item = Hit> + 's {
        self.hits_by(text, STRETCH)
    }

    /// The hits, where `stretch` bytes are searched in one go.
    fn hits_by<'s>(&'s self, text: &'s str, stretch: usize) -> impl Iterator<Item = Hit> + 's {
        let bytes = text.as_bytes();
        // What is empty is found between any two bytes, which takes no time.
        let mut all = match &self.kind {
            Kind::Few(automaton) if self.has_empty => Some(automaton.find_iter(text)),
            _ => None,
        };
        let mut at = 0;
        std::iter::from_fn(move || {
            tick();
            if let Some(all) = &mut all {
                return all.next().map(Hit::from);
            }
            while at < bytes.len() {
                // A hit that begins before `sure` ends before `seen`.
                let sure = bytes.len().min(at.saturating_add(stretch));
                let seen = bytes.len().min(sure.saturating_add(self.longest));
                let hit = self.find(bytes, at..seen);
                if let Some(hit) = hit.filter(|hit| hit.range.start < sure) {
                    at = hit.range.end;
                    return Some(hit);
                }
                poll();
                at = sure;
            }
            None
        })
    }
}

impl fmt::Debug for Automaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Automaton").finish_non_exhaustive()
    }
}

fn few(spellings: &[&str], has_long: bool) -> Result<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(has_long.then_some(AhoCorasickKind::ContiguousNFA))
        .build(spellings)
        .map_err(|error| too_many(spellings, &error.to_string()))
}

fn many(spellings: &[&str]) -> Result<DoubleArrayAhoCorasick<u32>> {
    DoubleArrayAhoCorasickBuilder::new()
        .match_kind(daachorse::MatchKind::LeftmostLongest)
        .build(spellings)
        .map_err(|error| too_many(spellings, &error.to_string()))
}

fn too_many(spellings: &[&str], why: &str) -> Error {
    let message = format!(
        "{} added tokens cannot be searched for: {why}",
        spellings.len()
    );
    Error::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_many(spellings: &[&str]) -> Automaton {
        Automaton {
            kind: Kind::Many(many(spellings).unwrap()),
            longest: spellings.iter().map(|it| it.len()).max().unwrap_or(0),
            has_empty: false,
        }
    }

    /// What the crate finds in one go.
    fn expected(spellings: &[&str], text: &str) -> Vec<Hit> {
        let automaton = few(spellings, false).unwrap();
        automaton.find_iter(text).map(Hit::from).collect()
    }

    #[test]
    fn both_find_the_same_in_any_stretches() {
        let text = "aab<ab>ababa<a<ab>abcé<ab";
        for spellings in [
            &["ab", "<ab>", "a"][..],
            &["aba", "bab", "ababa"],
            &["ababc", "bab", "abab<"],
            &["b<ab>abd", "<ab", "a"],
            &["é", "", "ab"],
            &[""],
            &["x"],
        ] {
            let expected = expected(spellings, text);
            let mut automata = vec![Automaton::new(spellings).unwrap()];
            if !spellings.contains(&"") {
                automata.push(of_many(spellings));
            }
            for automaton in automata {
                for stretch in 1..text.len() + 2 {
                    let found: Vec<_> = automaton.hits_by(text, stretch).collect();
                    assert_eq!(found, expected, "{spellings:?}, {stretch} bytes at a time");
                }
            }
        }
    }

    #[test]
    fn both_find_the_same_of_all_spellings_of_few_letters() {
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for round in 0..2_000 {
            let mut word = |longest: u32| -> String {
                let length = 1 + draw(longest);
                (0..length)
                    .map(|_| ["a", "b", "é"][draw(3) as usize])
                    .collect()
            };
            let mut spellings: Vec<String> = (0..round % 12 + 1).map(|_| word(6)).collect();
            let text = word(40);
            spellings.sort();
            spellings.dedup();
            let spellings: Vec<&str> = spellings.iter().map(String::as_str).collect();
            let found: Vec<_> = of_many(&spellings).hits(&text).collect();
            assert_eq!(
                found,
                expected(&spellings, &text),
                "{spellings:?} in {text:?}"
            );
        }
    }

    #[test]
    fn shared_starts_of_spellings_take_no_quadratic_time() {
        // The square of the number of states is some minutes.
        let spellings: Vec<String> = (0..400_000).map(|number| format!("▁{number}")).collect();
        let spellings: Vec<&str> = spellings.iter().map(String::as_str).collect();
        let automaton = Automaton::new(&spellings).unwrap();
        let hits: Vec<_> = automaton.hits("▁399999▁4000000").collect();
        let found: Vec<_> = hits.into_iter().map(|hit| hit.spelling).collect();
        assert_eq!(found, [399_999, 40_000]);
    }

    #[test]
    fn ends_of_each_other_take_no_memory_in_the_square() {
        let spellings: Vec<String> = (1..2_000).map(|length| "a".repeat(length)).collect();
        let spellings: Vec<&str> = spellings.iter().map(String::as_str).collect();
        let automaton = Automaton::new(&spellings).unwrap();
        let text = "a".repeat(1_000_000);
        assert_eq!(automaton.hits(&text).count(), 1_000_000 / 1_999 + 1);
    }
}
