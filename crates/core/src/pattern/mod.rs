//! Patterns: what splits and replacements look for, in the dialect of the library they come from.
//!
//! Look here for which engine runs a pattern. There are two kinds: the dialect's own backtracking
//! engine ([`fancy_regex`], Oniguruma), which defines the meaning, and automata for the patterns
//! that provably mean the same there (`linear`), which every well-known split pattern does. Text is
//! cut by an automaton over kinds of characters (`automaton`, `kinds`), by several where a pattern
//! looks around (`around`).

mod automaton;
mod backtracking;
mod budget;
mod character_classes;
mod linear;
mod look_around;
mod oniguruma;
mod side_thread;
mod sync_points;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::mem::lazy::Lazy;
use backtracking::{Fancy, Stop};
use budget::Budget;
use linear::Linear;
use look_around::Around;
pub(crate) use oniguruma::Expression;
use side_thread::Aside;

/// A text to look for, or a regular expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchPattern {
    /// Exactly this text.
    Literal(String),
    /// A regular expression.
    Regex(Regex),
}

impl SearchPattern {
    /// Whether a backtracking engine runs it.
    pub(crate) fn backtracks(&self) -> bool {
        matches!(self, Self::Regex(regex) if regex.backtracks())
    }

    /// All matches in `text` that do not overlap, from left to right, as ranges of bytes.
    ///
    /// The empty literal matches between any two characters and at both ends. An engine that gives
    /// up yields an error as the last item.
    pub fn matches<'t>(&'t self, text: &'t str) -> Matches<'t> {
        match self {
            Self::Literal(literal) => {
                Matches::new(Search::Literal(text.match_indices(literal)), text)
            }
            Self::Regex(regex) => regex.matches(text),
        }
    }
}

/// The library whose regular expressions these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dialect {
    /// Rust's `fancy-regex`, as tiktoken.
    Tiktoken,
    /// Oniguruma, as tokenizers.
    Oniguruma,
}

/// A compiled regular expression. Cheap to clone; equal when source and dialect are.
///
/// ```
/// use jeton_core::pattern::{Dialect, Regex};
///
/// let words = Regex::new(r"\w+", Dialect::Tiktoken)?;
/// let found: Result<Vec<_>, _> = words.matches("to be").collect();
/// assert_eq!(found?, [0..2, 3..5]);
/// # Ok::<(), jeton_core::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Source", into = "Source")]
pub struct Regex(Arc<Compiled>);

struct Compiled {
    source: Source,
    /// Made when first used, if the source is known to be valid.
    engine: Lazy<Engine>,
}

/// What a regular expression is written as; the rest is compiled from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    source: String,
    dialect: Dialect,
}

enum Engine {
    Linear(Linear),
    Around(Around),
    Backtracking(backtracking::Engine),
}

impl Regex {
    /// Compiles `source` as `dialect` reads it.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] where the dialect does not accept the source, with its reason.
    pub fn new(source: impl Into<String>, dialect: Dialect) -> Result<Self> {
        let source = source.into();
        // The dialect's own engine decides what is a valid pattern, whichever engine then runs it.
        let own = Engine::of_dialect(&source, dialect)?;
        let engine = Engine::of_automata(&source, dialect).unwrap_or(own);
        Ok(Self::with_engine(source, dialect, Lazy::of(engine)))
    }

    /// An expression that the dialect is known to accept, compiled when it is first used: most of
    /// the well-known ones never are, as text is cut by their scanners.
    pub(crate) fn known(source: &'static str, dialect: Dialect) -> Self {
        Self::with_engine(source.to_owned(), dialect, Lazy::new())
    }

    fn with_engine(source: String, dialect: Dialect, engine: Lazy<Engine>) -> Self {
        let source = Source { source, dialect };
        Self(Arc::new(Compiled { source, engine }))
    }

    fn engine(&self) -> &Engine {
        self.0.engine.get(|| {
            let Source { source, dialect } = &self.0.source;
            let automata = Engine::of_automata(source, *dialect);
            automata.unwrap_or_else(|| match Engine::of_dialect(source, *dialect) {
                Ok(own) => own,
                Err(error) => unreachable!("it is known to be valid: {error}"),
            })
        })
    }

    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.0.source.source
    }

    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.0.source.dialect
    }

    /// Whether automata run it: time is linear in the text, but where match after match is
    /// looked for far beyond its end, and given back.
    pub fn is_linear(&self) -> bool {
        matches!(self.engine(), Engine::Linear(_) | Engine::Around(_))
    }

    /// Whether a backtracking engine is known to run it. The well-known ones that are not compiled yet
    /// are run by automata.
    pub(crate) fn backtracks(&self) -> bool {
        matches!(self.0.engine.made(), Some(Engine::Backtracking(_)))
    }

    /// The backtracking engine that runs it.
    fn backtracking(&self) -> &backtracking::Engine {
        match self.engine() {
            Engine::Backtracking(engine) => engine,
            Engine::Linear(_) | Engine::Around(_) => unreachable!("automata run it"),
        }
    }

    /// All matches in `text` that do not overlap, from left to right, as ranges of bytes.
    ///
    /// An engine that gives up yields an error ([`ErrorKind::Encode`]) as the last item.
    pub fn matches<'t>(&'t self, text: &'t str) -> Matches<'t> {
        let search = match self.engine() {
            Engine::Linear(regex) => Search::Linear { regex, text, at: 0 },
            Engine::Around(regex) => Search::Around {
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

    /// Where the part of `text` that begins at `start` and has about `reach` bytes ends, so that the
    /// matches of what lies before and behind are those of the text; its end if no place is known.
    pub(crate) fn certain_end(&self, text: &str, start: usize, reach: usize) -> usize {
        let automaton = match self.engine() {
            Engine::Linear(linear) => linear.automaton(),
            Engine::Around(_) | Engine::Backtracking(_) => None,
        };
        automaton.map_or(text.len(), |it| it.certain_end(text, start, reach))
    }

    fn gave_up(&self, at: usize, reason: impl std::fmt::Display) -> Error {
        let pattern = self.source();
        Error::new(
            ErrorKind::Encode,
            format!("the pattern {pattern:?} gave up at byte {at} of the text: {reason}"),
        )
        .hint("cut the text before that place, or use a pattern that backtracks less")
    }
}

impl Engine {
    /// Automata, if there are some that mean the same in the dialect.
    fn of_automata(source: &str, dialect: Dialect) -> Option<Self> {
        let linear = Linear::new(source, dialect).map(Self::Linear);
        linear.or_else(|| Around::new(source, dialect).map(Self::Around))
    }

    fn of_dialect(source: &str, dialect: Dialect) -> Result<Self> {
        let refused = |library: &str, reason: String| {
            let message = format!("{library} does not accept the pattern {source:?}: {reason}");
            Error::new(ErrorKind::Format, message)
        };
        match dialect {
            Dialect::Tiktoken => Fancy::new(source)
                .map(backtracking::Engine::Fancy)
                .map_err(|error| refused("fancy-regex", error.to_string())),
            Dialect::Oniguruma => Expression::new(source)
                .map(backtracking::Engine::Oniguruma)
                .map_err(|error| refused("Oniguruma", error)),
        }
        .map(Self::Backtracking)
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Regex")
            .field("source", &self.source())
            .field("dialect", &self.dialect())
            .field("linear", &self.is_linear())
            .finish()
    }
}

impl TryFrom<Source> for Regex {
    type Error = Error;

    fn try_from(source: Source) -> Result<Self> {
        Self::new(source.source, source.dialect)
    }
}

impl From<Regex> for Source {
    fn from(regex: Regex) -> Self {
        regex.0.source.clone()
    }
}

/// The matches of a pattern in a text, from left to right; see [`SearchPattern::matches`].
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
    Around {
        regex: &'t Around,
        text: &'t str,
        /// What is known of each place.
        places: Vec<u8>,
        at: usize,
    },
    Backtracking(backtracking::Matches<'t>),
    Aside(Aside),
    /// An error was the last item.
    GaveUp,
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
            Search::Around {
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
                        self.step_aside();
                        return self.next();
                    }
                }
            }
            Search::Aside(matches) => return matches.next(),
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

    /// Leaves what is left of the search to a thread, if there can be one.
    fn step_aside(&mut self) {
        let (Search::Backtracking(matches), Some(regex)) = (&mut self.search, self.regex) else {
            return;
        };
        match Aside::start(regex, self.text, matches.state(), self.budget.clone()) {
            Some(aside) => self.search = Search::Aside(aside),
            None => matches.stay(),
        }
    }

    /// Takes the matches that begin where the last one ended, each right behind the one before it:
    /// sets their bits, one for each byte from `origin` on, and gives back where the last of them ends.
    ///
    /// `None` where the engine has no fast way to do so, or none follows that has a bit.
    pub(crate) fn adjoining(&mut self, origin: usize, bits: &mut [u64]) -> Option<usize> {
        let Search::Linear { regex, text, at } = &mut self.search else {
            return None;
        };
        let mut read_in_vain = 0;
        let automaton = regex.automaton()?;
        let end = automaton.mark(text, *at, origin, bits, &mut read_in_vain);
        let is_new = end > std::mem::replace(at, end);
        // What is wrong is said by the next match.
        let spent = self.budget.take(read_in_vain).and(self.budget.tick());
        (is_new && spent.is_ok()).then_some(end)
    }
}

/// What replaces a pattern by a text, for people.
pub(crate) fn replacing(pattern: &SearchPattern, content: &str) -> String {
    const SHOWN: usize = 40;
    let start = |text: &str| text.chars().take(SHOWN).collect::<String>();
    let pattern = match pattern {
        SearchPattern::Literal(literal) => start(literal),
        SearchPattern::Regex(regex) => start(regex.source()),
    };
    format!("Replace {pattern:?} by {:?}", start(content))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pre_tokenizer::named::{GPT2_ORIGINAL, NAMED};

    fn found(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
        pattern.matches(text).collect::<Result<_>>().unwrap()
    }

    /// The same, those that adjoin taken at once, with room for `room` times 64 bytes.
    fn found_at_once(pattern: &Regex, text: &str, room: usize) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> = Vec::new();
        let mut matches = pattern.matches(text);
        loop {
            let origin = all.last().map_or(0, |last| last.end);
            let mut bits = vec![0_u64; room];
            if let Some(end) = matches.adjoining(origin, &mut bits) {
                let mut begins: Vec<_> = (origin..text.len().min(origin + room * 64))
                    .filter(|at| bits[(at - origin) / 64] >> ((at - origin) % 64) & 1 == 1)
                    .collect();
                assert!(begins.iter().all(|begin| *begin < end));
                begins.push(end);
                all.extend(begins.windows(2).map(|ends| ends[0]..ends[1]));
            }
            match matches.next() {
                Some(found) => all.push(found.unwrap()),
                None => return all,
            }
        }
    }

    #[test]
    fn empty_matches_follow_the_library() {
        for dialect in [Dialect::Oniguruma, Dialect::Tiktoken] {
            let pattern = Regex::new("a*", dialect).unwrap();
            assert_eq!(found(&pattern, "baé"), [0..0, 1..2, 4..4]);
        }
        let empty = SearchPattern::Literal(String::new());
        let ends: Result<Vec<_>> = empty.matches("é€").collect();
        assert_eq!(ends.unwrap(), [0..0, 2..2, 5..5]);
    }

    #[test]
    fn an_engine_that_gives_up_says_so() {
        let text = "a".repeat(64);
        for (source, dialect) in [
            (r"(?:(a|a|a)+)+(?=b)\1", Dialect::Oniguruma),
            (r"(?:(a|a|a)+)+(?=b)\1", Dialect::Tiktoken),
        ] {
            let pattern = Regex::new(source, dialect).unwrap();
            let results: Vec<_> = pattern.matches(&text).collect();
            let error = results.last().unwrap().as_ref().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
            assert!(error.to_string().contains("at byte 0"), "{error}");
        }
    }

    #[test]
    fn what_does_not_compile_is_refused_with_the_reason() {
        for dialect in [Dialect::Oniguruma, Dialect::Tiktoken] {
            let error = Regex::new("a(b", dialect).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Format);
            assert!(error.to_string().contains("\"a(b\""), "{error}");
        }
    }

    #[test]
    fn a_regex_is_stored_as_its_source() {
        let pattern = Regex::new(r"\p{L}+", Dialect::Oniguruma).unwrap();
        let stored = serde_json::to_string(&pattern).unwrap();
        assert_eq!(stored, r#"{"source":"\\p{L}+","dialect":"Oniguruma"}"#);
        assert_eq!(serde_json::from_str::<Regex>(&stored).unwrap(), pattern);
        assert!(serde_json::from_str::<Regex>(&stored.replace("p{", "p{{")).is_err());
    }

    /// Patterns of no library: with gaps, matches that are given back, and the end of the text.
    const OTHERS: [&str; 9] = [
        r"[\p{L}\p{M}_]+|\p{N}{1,2}|[^\s\p{L}\p{M}\p{N}_]+|\s+",
        r"\p{L}+|\p{N}",
        r"'\w+| ?\w+|\W",
        r"\p{L}+'s|\p{L}| +a",
        r"(?:\p{L} )+\n|\p{Lu}{2,5}|[^\p{L}]",
        r"漢|かé|ー{3}|[aZ]+[sS]|'",
        r" ?[^\s]+|\s+(?!\S)|\s+",
        r"\n\n+|[^\n]{1,70}\n?",
        r"\p{Lu}?\p{Ll}+|\p{Lu}+|\s+(?!\S)|\s",
    ];

    /// Split patterns with sets within sets.
    const NESTED_SETS: [&str; 2] = [
        r" ?[^(\s|[.,!?…。])]+",
        r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ];

    /// Each well-known pattern in each dialect where it runs in linear time: that, and the
    /// dialect's own engine.
    fn linear_patterns() -> &'static [(Regex, Regex)] {
        static PATTERNS: crate::mem::lazy::LazyStatic<Vec<(Regex, Regex)>> =
            crate::mem::lazy::LazyStatic::new(|| {
                let named = NAMED.iter().flat_map(|known| known.sources().0);
                let dialects = [Dialect::Tiktoken, Dialect::Oniguruma];
                (named
                    .chain([GPT2_ORIGINAL])
                    .chain(NESTED_SETS)
                    .chain(OTHERS))
                .flat_map(|source| dialects.map(|dialect| (source, dialect)))
                .filter_map(|(source, dialect)| {
                    let linear = Regex::new(source, dialect).ok().filter(Regex::is_linear)?;
                    let own = Engine::of_dialect(source, dialect).unwrap();
                    Some((
                        linear,
                        Regex::with_engine(source.to_owned(), dialect, Lazy::of(own)),
                    ))
                })
                .collect()
            });
        &PATTERNS
    }

    /// Text that is hard to cut: few characters, of every class that the patterns tell apart.
    fn nasty_text() -> impl Strategy<Value = String> {
        let characters = prop_oneof![
            6 => proptest::sample::select("'sSdDtTmMlLvVeErR aZé漢かーʰǅſK١5Ⅷ²½".chars().collect::<Vec<_>>()),
            5 => proptest::sample::select(" \t\n\r\u{a0}\u{85}\u{2028}\u{3000}\u{1680}\u{c}\u{1c}".chars().collect::<Vec<_>>()),
            3 => proptest::sample::select("!.,/-_$€+<\"“…😀\u{200d}\u{200c}\u{fe0f}\u{301}\u{903}\u{ad}\u{0}\u{378}".chars().collect::<Vec<_>>()),
            1 => any::<char>(),
        ];
        let runs = (characters, prop_oneof![8 => Just(1_usize), 2 => 2..6_usize]);
        proptest::collection::vec(runs, 0..40).prop_map(|runs| {
            runs.into_iter()
                .flat_map(|(character, count)| std::iter::repeat_n(character, count))
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn linear_time_finds_what_the_own_engine_finds(text in nasty_text()) {
            for (linear, own) in linear_patterns() {
                let expected = found(own, &text);
                prop_assert_eq!(&found(linear, &text), &expected, "{:?}", own);
                for room in [1, 64] {
                    let at_once = found_at_once(linear, &text, room);
                    prop_assert_eq!(&at_once, &expected, "{:?}", own);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn text_cut_at_a_certain_end_has_the_same_matches(text in nasty_text(), aim in 0..40_usize) {
            for (linear, _) in linear_patterns() {
                let end = linear.certain_end(&text, 0, aim);
                let mut matches = found(linear, &text[..end]);
                let behind = found(linear, &text[end..]).into_iter();
                matches.extend(behind.map(|found| found.start + end..found.end + end));
                prop_assert_eq!(matches, found(linear, &text), "{:?} at {}", linear, end);
            }
        }
    }

    #[test]
    fn a_place_that_is_not_there_is_not_looked_for_everywhere() {
        for pattern in OTHERS
            .into_iter()
            .chain([r"[^\n]{1,1000}\n?", r"\p{L}{1,100}"])
        {
            for text in ["a", "1", "漢", " ", "\n"].map(|it| it.repeat(1_000_000)) {
                let pattern = Regex::new(pattern, Dialect::Tiktoken).unwrap();
                assert!(pattern.is_linear());
                let end = pattern.certain_end(&text, 0, 1);
                assert!(end == text.len() || text.is_char_boundary(end));
            }
        }
    }

    #[test]
    fn words_part_before_blanks() {
        let text = "Many words, one after another; 12 of them\nthere were.";
        let ends = |pattern: &str, aim| {
            let pattern = Regex::new(pattern, Dialect::Tiktoken).unwrap();
            pattern.certain_end(text, 0, aim)
        };
        for pattern in [GPT2_ORIGINAL, NAMED[0].sources().0[0], r"\p{L}+"] {
            assert_eq!([9, 20].map(|aim| ends(pattern, aim)), [4, 15], "{pattern}");
        }
        assert_eq!([9, 20].map(|aim| ends(OTHERS[0], aim)), [5, 16]);
        assert_eq!(ends(r"[^;]+|;", 40), 30);
        assert_eq!(ends(r"[^x]+", 9), text.len());
    }

    #[test]
    fn a_million_equal_characters_are_no_trouble() {
        let million = 1_000_000;
        let run = |text: &str| text.repeat(million / text.len());
        let texts = [
            run("a"),
            run("A"),
            run("1"),
            run(" "),
            run(" ") + "a",
            run("\n"),
            run("\n") + "a",
            run(" \n"),
            run("'"),
            run("' "),
            run("漢"),
            run("\u{301}"),
            run("a "),
            run("\r"),
            run(" ") + "\n" + &run(" ") + "a",
        ];
        let finite = |regex: &&Regex| !OTHERS.contains(&regex.source());
        for linear in linear_patterns()
            .iter()
            .map(|(linear, _)| linear)
            .filter(finite)
        {
            for text in &texts {
                assert!(
                    linear.matches(text).all(|found| found.is_ok()),
                    "{linear:?}"
                );
            }
        }
    }
}
