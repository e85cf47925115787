//! The search for added tokens: which automata run, over which spellings.

use std::collections::HashSet;

use super::automaton::Automaton;
use super::{AddedToken, AddedTokens};
use jeton_text::error::Result;

/// The search for some added tokens: in the original text first, then in the normalized text of the
/// stretches between those found.
#[derive(Clone, Debug, Default)]
pub(super) struct Searches {
    pub original: Option<Search>,
    pub normalized: Option<Search>,
}

/// An automaton over the spellings of some tokens.
#[derive(Clone, Debug)]
pub(super) struct Search {
    pub automaton: Automaton,
    /// The index of the token that each spelling belongs to.
    pub owners: Vec<usize>,
    /// Whether each of them is a special token.
    pub all_special: bool,
}

impl AddedTokens {
    /// The search for the tokens that `wanted` accepts.
    pub(super) fn searches(&self, wanted: impl Fn(&AddedToken) -> bool) -> Result<Searches> {
        let search = |normalized: bool| {
            let mut spellings = Vec::new();
            let mut owners = Vec::new();
            let mut seen = HashSet::new();
            for (index, token) in self.tokens.iter().enumerate() {
                if token.normalized != normalized || !wanted(token) {
                    continue;
                }
                let spelling = self.normalized.get(&index).unwrap_or(&token.content);
                if seen.insert(spelling) {
                    spellings.push(spelling.as_str());
                    owners.push(index);
                }
            }
            if spellings.is_empty() {
                return Ok(None);
            }
            let automaton = Automaton::new(&spellings)?;
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
