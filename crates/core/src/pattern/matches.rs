//! The matches of a pattern in a text, one after another, whichever engine finds them.

use std::ops::Range;
use std::sync::Arc;

use super::backtracking::{self, Stop};
use super::budget::Budget;
use super::linear::Linear;
use super::look_around::LookAround;
use super::regex::{Engine, Regex, SearchPattern};
use super::side_thread::SideSearch;
use crate::error::Result;

/// The matches of a pattern in a text, from left to right; see `SearchPattern::matches`.
pub struct Matches<'t> {
    search: Search<'t>,
    text: &'t str,
    budget: Budget,
    /// Whose matches they are; none of a text to look for.
    regex: Option<&'t Regex>,
}

enum Search<'t> {
    Literal(std::str::MatchIndices<'t, &'t str>),
    Linear {
        regex: &'t Linear,
        text: &'t str,
        at: usize,
    },
    LookAround {
        regex: &'t LookAround,
        text: &'t str,
        /// What is known of each place.
        places: Vec<u8>,
        at: usize,
    },
    Backtracking(backtracking::Matches<'t>),
    OnSideThread(SideSearch),
    /// An error was the last item.
    GaveUp,
}

impl SearchPattern {
    /// All matches in `text` that do not overlap, from left to right, as ranges of bytes.
    ///
    /// The empty literal matches between any two characters and at both ends. An engine that gives
    /// up yields an error as the last item.
    pub fn matches<'t>(&'t self, text: &'t str) -> Matches<'t> {
        match self {
            Self::Literal(literal) => {
                Matches::new(Search::Literal(text.match_indices(literal.as_str())), text)
            }
            Self::Regex(regex) => regex.matches(text),
        }
    }
}

impl Regex {
    /// All matches in `text` that do not overlap, from left to right, as ranges of bytes.
    ///
    /// An engine that gives up yields an error ([`ErrorKind::Encode`](crate::ErrorKind::Encode)) as
    /// the last item.
    pub fn matches<'t>(&'t self, text: &'t str) -> Matches<'t> {
        let search = match self.engine() {
            Engine::Linear(regex) => Search::Linear { regex, text, at: 0 },
            Engine::LookAround(regex) => Search::LookAround {
                places: regex.places(text),
                regex,
                text,
                at: 0,
            },
            Engine::Backtracking(engine) => {
                let matches = backtracking::Matches::new(engine, self.source(), text);
                Search::Backtracking(matches)
            }
        };
        Matches {
            regex: Some(self),
            ..Matches::new(search, text)
        }
    }
}

impl Iterator for Matches<'_> {
    type Item = Result<Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut read_in_vain = 0;
        let (found, at) = match &mut self.search {
            Search::Literal(matches) => {
                let (start, found) = matches.next()?;
                (Ok(start..start + found.len()), start)
            }
            Search::Linear { regex, text, at } => {
                let found = regex.find_from(text, *at, &mut read_in_vain)?;
                *at = found.end;
                (Ok(found), *at)
            }
            Search::LookAround {
                regex,
                text,
                places,
                at,
            } => {
                let found = regex.find_from(text, places, *at, &mut read_in_vain)?;
                *at = found.end + usize::from(found.is_empty());
                (Ok(found), *at)
            }
            Search::Backtracking(matches) => {
                let at = matches.at();
                match matches.next(&mut self.budget) {
                    Ok(found) => (Ok(found?), at),
                    Err(Stop::GaveUp(reason)) => (Err(reason), at),
                    Err(Stop::Long) => {
                        self.move_to_side_thread();
                        return self.next();
                    }
                }
            }
            Search::OnSideThread(matches) => return matches.next(),
            Search::GaveUp => return None,
        };
        let spent = self.budget.take(read_in_vain).and(self.budget.tick());
        let Some(regex) = self.regex else {
            return found.ok().map(Ok);
        };
        let found = found.and_then(|found| match spent {
            Ok(()) => Ok(found),
            Err(spent) => Err(spent.to_string()),
        });
        if found.is_err() {
            self.search = Search::GaveUp;
        }
        Some(found.map_err(|reason| regex.gave_up(at, reason)))
    }
}

impl<'t> Matches<'t> {
    fn new(search: Search<'t>, text: &'t str) -> Self {
        Self {
            search,
            text,
            budget: Budget::of(text),
            regex: None,
        }
    }

    #[cfg(test)]
    pub(super) fn is_on_side_thread(&self) -> bool {
        matches!(self.search, Search::OnSideThread(_))
    }

    /// Leaves what is left of the search to a side thread, if there can be one.
    fn move_to_side_thread(&mut self) {
        let (Search::Backtracking(matches), Some(regex)) = (&mut self.search, self.regex) else {
            return;
        };
        let (state, budget) = (matches.state(), self.budget.clone());
        let (regex, text): (_, Arc<str>) = (regex.clone(), self.text.into());
        let search = SideSearch::start(move |outlet| {
            let engine = regex.backtracking();
            let matches = backtracking::Matches::at_last(engine, regex.source(), &text, state);
            outlet.send_all(Matches {
                search: Search::Backtracking(matches),
                text: &text,
                budget,
                regex: Some(&regex),
            });
        });
        match search {
            Some(search) => self.search = Search::OnSideThread(search),
            None => matches.stay(),
        }
    }
}
