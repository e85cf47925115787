//! The matches of a pattern in a text, one after another, whichever engine finds them.

use std::ops::Range;
use std::str::MatchIndices;

use super::backtracking::{self, Stop};
use super::budget::Budget;
use super::dead_ends::DeadEnds;
use super::linear::{self, Linear, Long};
use super::look_around::LookAround;
use super::regex::{Engine, Regex, SearchPattern};
use super::side_thread::SideSearch;
use crate::error::Result;

/// The matches of a pattern in a text, from left to right; see `SearchPattern::matches`.
pub struct Matches<'t> {
    search: Search<'t>,
    text: &'t str,
    budget: Budget,
    dead_ends: DeadEnds,
    /// Whose matches they are; none of a text to look for.
    regex: Option<&'t Regex>,
}

enum Search<'t> {
    Literal(MatchIndices<'t, &'t str>),
    Linear {
        regex: &'t Linear,
        text: &'t str,
        at: usize,
        /// How many bytes may be searched in one go.
        max_bytes: usize,
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
        let search = match self {
            Self::Literal(literal) => Search::Literal(text.match_indices(literal.as_str())),
            Self::Regex(regex) => return regex.matches(text),
        };
        Matches::new(search, text)
    }
}

impl Regex {
    /// All matches in `text` that do not overlap, from left to right, as ranges of bytes.
    ///
    /// An engine that gives up yields an error ([`ErrorKind::Encode`](crate::ErrorKind::Encode)) as
    /// the last item.
    pub fn matches<'t>(&'t self, text: &'t str) -> Matches<'t> {
        let search = match self.engine() {
            Engine::Linear(regex) => Search::Linear {
                regex,
                text,
                at: 0,
                max_bytes: linear::AT_ONCE,
            },
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
        let dead_ends = &mut self.dead_ends;
        let (found, at) = match &mut self.search {
            Search::Literal(matches) => {
                let (start, literal) = matches.next()?;
                (Ok(start..start + literal.len()), start)
            }
            Search::Linear {
                regex,
                text,
                at,
                max_bytes,
            } => match regex.find_from(text, *at, dead_ends, *max_bytes) {
                Ok(found) => {
                    let found = found?;
                    *at = found.end;
                    (Ok(found), *at)
                }
                Err(Long) => {
                    self.move_to_side_thread();
                    return self.next();
                }
            },
            Search::LookAround {
                regex,
                text,
                places,
                at,
            } => {
                let found = regex.find_from(text, places, *at, dead_ends)?;
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
        let read_in_vain = self.dead_ends.take_read_in_vain();
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
            dead_ends: DeadEnds::default(),
            regex: None,
        }
    }

    #[cfg(test)]
    pub(super) fn is_on_side_thread(&self) -> bool {
        matches!(self.search, Search::OnSideThread(_))
    }

    #[cfg(test)]
    pub(super) fn read_in_vain(&self) -> u64 {
        self.budget.taken()
    }

    /// Leaves what is left of the search to a side thread, if there can be one.
    fn move_to_side_thread(&mut self) {
        let Some(regex) = self.regex else {
            return;
        };
        let left = match &self.search {
            Search::Backtracking(matches) => Left::Backtracking(matches.state()),
            Search::Linear { at, .. } => Left::Linear(*at),
            _ => return,
        };
        let budget = self.budget.clone();
        let (regex, text) = (regex.clone(), self.text.to_owned());
        let search = SideSearch::start(move |outlet| {
            outlet.send_all(Matches {
                budget,
                regex: Some(&regex),
                ..Matches::new(left.search(&regex, &text), &text)
            });
        });
        match (search, &mut self.search) {
            (Some(search), _) => self.search = Search::OnSideThread(search),
            (None, Search::Backtracking(matches)) => matches.stay(),
            (None, Search::Linear { max_bytes, .. }) => *max_bytes = usize::MAX,
            (None, _) => {}
        }
    }
}

/// What is left of a search, for another thread.
enum Left {
    Backtracking(backtracking::SearchState),
    /// From this place on.
    Linear(usize),
}

impl Left {
    /// The search, however long it takes.
    fn search<'t>(self, regex: &'t Regex, text: &'t str) -> Search<'t> {
        match (self, regex.engine()) {
            (Self::Backtracking(state), Engine::Backtracking(engine)) => Search::Backtracking(
                backtracking::Matches::at_last(engine, regex.source(), text, state),
            ),
            (Self::Linear(at), Engine::Linear(regex)) => Search::Linear {
                regex,
                text,
                at,
                max_bytes: usize::MAX,
            },
            _ => unreachable!("the engine of an expression stays the same"),
        }
    }
}
