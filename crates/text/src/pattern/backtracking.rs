//! Patterns that only a backtracking engine runs: the matches of a text, within a budget.
//!
//! Look here for how an engine that does not count its steps is kept within a limit. It searches with a low
//! limit; if that is reached, it tries each place separately, with a limit that rises until the place is
//! known to begin a match or not. Steps of tries that were given up are charged to the budget; the work
//! that is not charged is small, or less than eight times the charged work. A try that may take long runs
//! on a side thread (`side_thread`), where it can be interrupted.
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fancy_regex::{Error as FancyError, RegexBuilder, RegexInput, RuntimeError};

use super::budget::{Budget, Spent};
use super::oniguruma::{Expression, Searcher, Tried};
use crate::mem::lazy::Lazy;

/// Steps that a try may take, one limit after another, of an engine that is compiled for each; of the
/// other, each time twice as many.
const LIMITS: [u32; 7] = [
    256,
    2 << 10,
    16 << 10,
    128 << 10,
    1 << 20,
    8 << 20,
    MAX_STEPS,
];
/// Steps that any try may take: a second or so, and three times what Oniguruma allows by itself.
const MAX_STEPS: u32 = 30_000_000;

/// Places that are tried by themselves before the engine searches on.
const PLACES_ALONE: usize = 64;

/// Places to come back to that Oniguruma may have at first. It may look through all of them at
/// each step, which is no step back: so that it comes back to say so, the limit rises by two.
const FIRST_PLACES: u32 = 4 << 10;

/// Bytes from which on a try may take tenths of a second: those that it may read if each of its steps
/// goes over the rest of the text.
const LONG_TRY: u64 = 1 << 28;

/// A backtracking engine with a pattern.
pub(super) enum Engine {
    Fancy(Fancy),
    Oniguruma(Expression),
}

/// The engine of tiktoken's dialect, which knows its limit when it compiles.
pub(super) struct Fancy {
    source: String,
    by_limit: [Lazy<fancy_regex::Regex>; LIMITS.len()],
}

impl Fancy {
    /// Compiles `source`.
    ///
    /// # Errors
    /// What the library finds wrong with it; a call of a group, whose depth no limit of steps bounds.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let tree = without_panic(|| fancy_regex::Expr::parse_tree(source))?;
        if tree.is_ok_and(|tree| tree.contains_subroutines) {
            return Err("it calls a group, as \\g<1> does".to_owned());
        }
        let mut by_limit = [const { Lazy::new() }; LIMITS.len()];
        let first = without_panic(|| compiled(source, LIMITS[0]))?;
        by_limit[0] = Lazy::of(first.map_err(|error| error.to_string())?);
        Ok(Self {
            source: source.to_owned(),
            by_limit,
        })
    }

    fn with_limit(&self, number: usize) -> &fancy_regex::Regex {
        self.by_limit[number].get(|| match compiled(&self.source, LIMITS[number]) {
            Ok(regex) => regex,
            Err(error) => unreachable!("it was compiled before: {error}"),
        })
    }

    fn find(&self, text: &str, at: Start, number: usize) -> Tried {
        let input = RegexInput::new(text)
            .from_pos(at.place)
            .anchored(at.is_alone)
            .continue_from_previous_match_end(at.continues);
        match without_panic(|| self.with_limit(number).find_input(input)) {
            Ok(Ok(found)) => Tried::Done(found.map(|found| found.start()..found.end())),
            Ok(Err(FancyError::RuntimeError(RuntimeError::BacktrackLimitExceeded))) => {
                Tried::GivenUp
            }
            Ok(Err(error)) => Tried::Failed(error.to_string()),
            Err(reason) => Tried::Failed(reason),
        }
    }
}

/// What the library gives; a panic of its own is an error.
fn without_panic<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "its library panics".to_owned())
}

fn compiled(source: &str, limit: u32) -> Result<fancy_regex::Regex, FancyError> {
    RegexBuilder::new(source)
        .backtrack_limit(limit as usize)
        .allow_input_assertion_overrides(continues(source))
        .build()
}

/// Whether a pattern may ask where the last match ended.
fn continues(source: &str) -> bool {
    source.contains(r"\G")
}

/// Where the search for a match starts.
#[derive(Clone, Copy)]
struct Start {
    place: usize,
    /// There, and nowhere after it.
    is_alone: bool,
    /// The last match ended there.
    continues: bool,
}

/// The matches of a text, from left to right.
pub(super) struct Matches<'t> {
    engine: &'t Engine,
    text: &'t str,
    /// What Oniguruma searches in.
    searcher: Option<Searcher>,
    /// How many places to come back to it may have.
    places: u32,
    /// Whether places may be tried by themselves.
    may_try_alone: bool,
    state: SearchState,
    /// Whether tries may take long here.
    may_take_long: bool,
}

/// How far the matches of a text are found.
#[derive(Clone, Copy)]
pub(super) struct SearchState {
    at: usize,
    last_end: Option<usize>,
    continues: bool,
}

/// Why there is no next match.
pub(super) enum Stop {
    /// The engine gave up, for this reason.
    GaveUp(String),
    /// A try may take long.
    Long,
}

impl<'t> Matches<'t> {
    pub(super) fn new(engine: &'t Engine, source: &str, text: &'t str) -> Self {
        let state = SearchState {
            at: 0,
            last_end: None,
            continues: true,
        };
        Self {
            may_take_long: false,
            ..Self::at_last(engine, source, text, state)
        }
    }

    /// From a state on, however long a try takes.
    pub(super) fn at_last(
        engine: &'t Engine,
        source: &str,
        text: &'t str,
        state: SearchState,
    ) -> Self {
        Self {
            engine,
            text,
            searcher: matches!(engine, Engine::Oniguruma(_)).then(Searcher::new),
            places: FIRST_PLACES,
            may_try_alone: !continues(source),
            state,
            may_take_long: true,
        }
    }

    /// How far the matches are found.
    pub(super) fn state(&self) -> SearchState {
        self.state
    }

    /// Makes the tries here, however long they take.
    pub(super) fn stay(&mut self) {
        self.may_take_long = true;
    }

    /// Where the next match is looked for.
    pub(super) fn at(&self) -> usize {
        self.state.at.min(self.text.len())
    }

    /// The next match.
    ///
    /// # Errors
    /// Why there is none; after [`Stop::Long`], the search goes on from its state.
    pub(super) fn next(&mut self, budget: &mut Budget) -> Result<Option<Range<usize>>, Stop> {
        while self.state.at <= self.text.len() {
            let Some(Range { start, end }) = self.find(budget)? else {
                break;
            };
            // `\K` may move the beginning before what is matched already, or after the end.
            if start < self.state.last_end.unwrap_or(0) || start > end {
                self.state.at = self.behind(end.max(self.state.at));
                continue;
            }
            let is_empty = start == end;
            let at = if is_empty && matches!(self.engine, Engine::Fancy(_)) {
                self.behind(end)
            } else {
                end
            };
            let state = &mut self.state;
            // To tiktoken's engine no match continues an empty one that took no place.
            state.continues = !(is_empty && end == state.at);
            state.at = at;
            // An empty match right after a match does not count: step over one character.
            if is_empty && state.last_end == Some(end) {
                if matches!(self.engine, Engine::Oniguruma(_)) {
                    self.state.at = self.behind(at);
                }
                continue;
            }
            state.last_end = Some(end);
            return Ok(Some(start..end));
        }
        self.state.at = self.text.len() + 1;
        Ok(None)
    }

    /// Where the next character begins.
    fn behind(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.chars().next().map_or(1, char::len_utf8)
    }

    /// The leftmost match from here on.
    fn find(&mut self, budget: &mut Budget) -> Result<Option<Range<usize>>, Stop> {
        if !self.may_try_alone {
            let here = self.place(self.state.at, false);
            return self.rising(here, budget);
        }
        let mut place = self.state.at;
        loop {
            match self.tried(self.place(place, false), 0, budget)? {
                Some(found) => return Ok(found),
                None => spend(budget.take(LIMITS[0].into()))?,
            }
            for _ in 0..PLACES_ALONE {
                if let Some(found) = self.rising(self.place(place, true), budget)? {
                    return Ok(Some(found));
                }
                spend(budget.tick())?;
                place = self.behind(place);
                if place > self.text.len() {
                    return Ok(None);
                }
            }
        }
    }

    fn place(&self, place: usize, is_alone: bool) -> Start {
        Start {
            place,
            is_alone,
            continues: self.state.continues,
        }
    }

    /// What is found at a place with limits that rise.
    fn rising(&mut self, at: Start, budget: &mut Budget) -> Result<Option<Range<usize>>, Stop> {
        let mut number = 0;
        loop {
            let limit = self.limit(number);
            spend(budget.has(limit.into()))?;
            if let Some(found) = self.tried(at, number, budget)? {
                return Ok(found);
            }
            spend(budget.take(limit.into()))?;
            spend(budget.look())?;
            if limit == MAX_STEPS {
                let millions = MAX_STEPS / 1_000_000;
                return Err(Stop::GaveUp(format!(
                    "{millions} million steps for one match are not enough"
                )));
            }
            number += 1;
        }
    }

    /// How many steps the try of a number may take.
    fn limit(&self, number: usize) -> u32 {
        match self.engine {
            Engine::Fancy(_) => LIMITS[number],
            Engine::Oniguruma(_) => MAX_STEPS.min(LIMITS[0] << number),
        }
    }

    /// What is found with the limit of a number; nothing if that was reached.
    fn tried(
        &mut self,
        at: Start,
        number: usize,
        budget: &mut Budget,
    ) -> Result<Option<Option<Range<usize>>>, Stop> {
        let rest = (self.text.len() - at.place.min(self.text.len())) as u64;
        if !self.may_take_long && rest * u64::from(self.limit(number)) >= LONG_TRY {
            return Err(Stop::Long);
        }
        loop {
            let tried = match self.engine {
                Engine::Fancy(fancy) => fancy.find(self.text, at, number),
                Engine::Oniguruma(expression) => {
                    let limit = self.limit(number);
                    let searcher = self.searcher.get_or_insert_with(Searcher::new);
                    searcher.set_limits(limit, self.places);
                    searcher.find(expression, self.text, at.place, at.is_alone)
                }
            };
            match tried {
                Tried::Done(found) => return Ok(Some(found)),
                Tried::GivenUp => return Ok(None),
                Tried::Failed(reason) => return Err(Stop::GaveUp(reason)),
                Tried::Full => {
                    spend(budget.look())?;
                    self.places = self.places.saturating_mul(2);
                }
            }
        }
    }
}

fn spend(spent: Result<(), Spent>) -> Result<(), Stop> {
    spent.map_err(|spent| Stop::GaveUp(spent.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matches as the library itself gives them.
    fn theirs(engine: &Engine, source: &str, text: &str) -> Vec<Range<usize>> {
        match engine {
            Engine::Fancy(_) => {
                let regex = fancy_regex::Regex::new(source).unwrap();
                let found = regex.find_iter(text).map(|found| found.unwrap().range());
                found.collect()
            }
            Engine::Oniguruma(_) => {
                let regex = onig::Regex::new(source).unwrap();
                let found = regex.find_iter(text).map(|(start, end)| start..end);
                found.collect()
            }
        }
    }

    #[test]
    fn matches_are_those_of_the_library_whatever_they_take() {
        let texts = [
            "",
            "a",
            "aab aa b",
            "äaaé\n\naa  bb",
            &"a".repeat(700),
            &"ab".repeat(400),
            &(" ".repeat(600) + "x" + &"é".repeat(300) + "b"),
            &("a".repeat(300) + "b" + &"a".repeat(40)),
        ];
        let sources = [
            r"(a)\1*\1*b|.",
            r"(a|é)\1*b",
            r"(a)?\1",
            r"(\w)\1|(?<=b)|x?",
            r"(?:(a)\1|b)*",
            r"\Ga|(b)\1?",
            r"\G(a)?\1?",
            r"(.)\Ka|(é)\2",
            r"(\s)\1*$|(?<=a)(b)",
            r"(a)\1?c|a",
        ];
        for source in sources {
            let engines = [
                Engine::Fancy(Fancy::new(source).unwrap()),
                Engine::Oniguruma(Expression::new(source).unwrap()),
            ];
            for engine in &engines {
                for text in texts {
                    let mut matches = Matches::new(engine, source, text);
                    let mut budget = Budget::of(&"a".repeat(1 << 20));
                    let mut found = Vec::new();
                    matches.stay();
                    while let Some(range) = matches.next(&mut budget).ok().unwrap() {
                        found.push(range);
                    }
                    assert_eq!(found, theirs(engine, source, text), "{source} {text:?}");
                }
            }
        }
    }

    #[test]
    fn a_match_that_begins_in_the_last_one_is_none() {
        let source = r"(?<=\Ka)";
        let engine = Engine::Oniguruma(Expression::new(source).unwrap());
        let mut matches = Matches::new(&engine, source, "aaab");
        let mut budget = Budget::of("aaab");
        let mut found = Vec::new();
        while let Some(range) = matches.next(&mut budget).ok().unwrap() {
            found.push(range);
        }
        assert_eq!(found, [0..1, 1..2, 2..3]);
    }

    #[test]
    fn calls_of_groups_are_refused() {
        for source in [
            r"((a\g<1>?)\g<1>?)b",
            r"(?i)(é\g<1>?)b",
            r"a(?R)?b",
            r"(?<n>a\g<n>?)",
        ] {
            assert!(Fancy::new(source).is_err(), "{source}");
        }
        // Its own assertions fail for this one.
        let odd = r"(?:(?<n>\h|\1|(?:[\w--a]){1,3}?)é|((((?(1)(((\k<n>)))|\x41))))){5,2}+";
        if let Ok(fancy) = Fancy::new(odd) {
            let engine = Engine::Fancy(fancy);
            let mut matches = Matches::new(&engine, odd, "AéAAéh");
            matches.stay();
            let mut budget = Budget::of("AéAAéh");
            while let Ok(Some(_)) = matches.next(&mut budget) {}
        }
    }

    #[test]
    fn tries_in_vain_are_charged() {
        let source = r"(?:(a|a|a)+)+(?=b)\1|.";
        let text = "a".repeat(64);
        for engine in [
            Engine::Fancy(Fancy::new(source).unwrap()),
            Engine::Oniguruma(Expression::new(source).unwrap()),
        ] {
            let mut matches = Matches::new(&engine, source, &text);
            matches.stay();
            let mut budget = Budget::of(&text);
            let reason = loop {
                match matches.next(&mut budget) {
                    Ok(found) => assert!(found.is_some()),
                    Err(Stop::GaveUp(reason)) => break reason,
                    Err(Stop::Long) => unreachable!("tries may take long"),
                }
            };
            assert!(reason.contains("4096 steps"), "{reason}");
        }
    }
}
