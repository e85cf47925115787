//! The search for added tokens: automata over their spellings.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Match, MatchKind};

use super::{AddedToken, AddedTokens};
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt;

/// What finds the tokens: first in the original text, then in what the normalizer makes of the
/// stretches between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Searches {
    pub original: Option<Search>,
    pub normalized: Option<Search>,
}

/// An automaton over the spellings of some tokens.
#[derive(Clone, Debug)]
pub(super) struct Search {
    pub automaton: AhoCorasick,
    /// The index of the token that each pattern belongs to.
    pub owners: Vec<usize>,
    /// Whether each of them is a special token.
    pub all_special: bool,
}

/// Bytes of one spelling above which the automaton is not made deterministic: that takes time in
/// the square of a spelling that repeats itself.
const LONG: usize = 512;

/// Bytes that are searched for tokens in one go.
pub(super) const STRETCH: usize = 1 << 20;

impl AddedTokens {
    /// What finds those tokens that `wanted` accepts.
    pub(super) fn searches(&self, wanted: impl Fn(&AddedToken) -> bool) -> Result<Searches> {
        let search = |normalized: bool| {
            let mut patterns = Vec::new();
            let mut owners = Vec::new();
            let mut seen = HashSet::new();
            for (index, token) in self.tokens.iter().enumerate() {
                if token.normalized != normalized || !wanted(token) {
                    continue;
                }
                let pattern = self.normalized.get(&index).unwrap_or(&token.content);
                if seen.insert(pattern) {
                    patterns.push(pattern);
                    owners.push(index);
                }
            }
            if patterns.is_empty() {
                return Ok(None);
            }
            let has_long = patterns.iter().any(|pattern| pattern.len() > LONG);
            let automaton = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .kind(has_long.then_some(AhoCorasickKind::ContiguousNFA))
                .build(&patterns)
                .map_err(|error| {
                    Error::new(
                        ErrorKind::Unsupported,
                        format!(
                            "{} added tokens cannot be searched for: {error}",
                            owners.len()
                        ),
                    )
                })?;
            let all_special = owners.iter().all(|index| self.tokens[*index].special);
            Ok(Some(Search {
                automaton,
                owners,
                all_special,
            }))
        };
        Ok(Searches {
            original: search(false)?,
            normalized: search(true)?,
        })
    }
}

/// The hits of an automaton in a text, from left to right and beside each other: those of its
/// `find_iter`, which hears no interrupt while it finds nothing, so it goes over `stretch` bytes at a time.
pub(super) fn hits<'s>(
    automaton: &'s AhoCorasick,
    text: &'s str,
    stretch: usize,
) -> impl Iterator<Item = Match> + 's {
    let longest = automaton.max_pattern_len();
    // What is empty is found between any two bytes, which takes no time.
    let mut all = (automaton.min_pattern_len() == 0).then(|| automaton.find_iter(text));
    let mut at = 0;
    std::iter::from_fn(move || {
        if let Some(all) = &mut all {
            return all.next();
        }
        while at < text.len() {
            // A hit that begins before `sure` ends before `seen`.
            let sure = text.len().min(at.saturating_add(stretch));
            let seen = text.len().min(sure.saturating_add(longest));
            let hit = automaton.find(Input::new(text).range(at..seen));
            if let Some(hit) = hit.filter(|hit| hit.start() < sure) {
                at = hit.end();
                return Some(hit);
            }
            interrupt::poll();
            at = sure;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_the_same_in_stretches() {
        let text = "aab<ab>ababa<a<ab>abcé<ab";
        for patterns in [
            &["ab", "<ab>", "a"][..],
            &["aba", "bab", "ababa"],
            &["é", "", "ab"],
            &["x"],
        ] {
            let builder = &mut AhoCorasick::builder();
            let builder = builder.match_kind(MatchKind::LeftmostLongest);
            let automaton = builder.build(patterns).unwrap();
            let expected: Vec<_> = automaton.find_iter(text).collect();
            for stretch in 1..text.len() + 2 {
                let found: Vec<_> = hits(&automaton, text, stretch).collect();
                assert_eq!(found, expected, "{patterns:?}, {stretch} bytes at a time");
            }
        }
    }
}
