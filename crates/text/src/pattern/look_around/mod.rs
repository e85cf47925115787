//! Patterns with look-around, run by several automata in linear time.
//!
//! Look here for how such a pattern runs in time that is linear in the text. Whether a look-around succeeds
//! is computed for all places of the text at once, by an automaton that reads it from one end to
//! the other: a look-behind from the front, a look-ahead from the back. The results
//! become part of the letters that the next automaton reads (`letters`), so look-arounds may be nested.
//! The last pass is that of the pattern itself, from the back, and says where matches can
//! begin; from there its automaton reads on to where one ends.
//!
//! Named patterns need no more than the tail that `linear` knows; this is for the patterns of callers and
//! files, such as one that groups digits from the right. On the backtracking engine these take two to five
//! times as long, and a million digits are refused after 14 seconds in place of 11 ms
//! (`docs/experiments.md`).

mod graph;
mod letters;
mod source;

use std::collections::HashMap;
use std::ops::Range;

use regex_automata::MatchKind;
use regex_automata::dfa::Automaton as _;

use super::automaton::{AutomatonStep, steps};
use super::dead_ends::DeadEnds;
use super::dialects::Dialect;
use graph::Graph;
use letters::Letters;
use source::Node;

use crate::interrupt::paced;

/// A pattern with look-around that runs by automata.
pub struct LookAround {
    letters: Letters,
    /// What is found out from the front, and what from the back, in this order.
    behind: Vec<Pass>,
    ahead: Vec<Pass>,
    /// One row a state: a step for each letter, and one for the end after the last of them.
    steps: Vec<AutomatonStep>,
    /// Whether matches are places, and take no characters.
    is_look: bool,
}

/// The bit of a place where a match begins.
const BEGINS: u8 = 1 << 7;

/// Bytes in which most matches begin.
const NEARBY_BYTES: usize = 256;

/// A pass over a text that sets one bit of each place.
struct Pass {
    /// The bit, set where the look succeeds or the match begins.
    bit: u8,
    /// A step for each state and letter: the row of the next state, and [`IS`] if the bit is set there.
    steps: Vec<u32>,
    start: u32,
}

/// The bit of a step at whose place the bit of the pass is set; the row lies below.
const IS: u32 = 1 << 31;

impl LookAround {
    /// The automata that mean what `source` means in `dialect`, if there are some.
    pub fn new(source: &str, dialect: Dialect) -> Option<Self> {
        let pattern = Node::read(source, dialect)?;
        let letters = Letters::of(&pattern)?;
        let (mut behind, mut ahead) = (Vec::new(), Vec::new());
        for (number, look) in letters.looks().iter().enumerate() {
            let bit = letters.bit(number);
            match look {
                Node::Ahead(inside, _) => ahead.push(Pass::ahead(inside, &letters, bit)?),
                Node::Behind(inside, _) => behind.push(Pass::behind(inside, &letters, bit)?),
                _ => return None,
            }
        }
        ahead.push(Pass::ahead(&pattern, &letters, BEGINS)?);
        let graph = Graph::of(&pattern, &letters)?;
        let (dfa, start) = graph.automaton(letters.count(), MatchKind::LeftmostFirst)?;
        Some(Self {
            behind,
            ahead,
            steps: steps(&dfa, start, letters.count()),
            letters,
            is_look: pattern.is_look(),
        })
    }

    /// What is known of the places of `text`: a byte for each, and for the one at its end.
    pub fn places(&self, text: &str) -> Vec<u8> {
        let text = text.as_bytes();
        let mut places = vec![0; text.len() + 1];
        let mut at = 0;
        while at < text.len() {
            let (class, length) = self.letters.classes.at(text, at);
            places[at] = class;
            at += length;
        }
        places[text.len()] = self.letters.end();
        // What comes before a place is known before its letter is read, what follows after.
        run(
            &self.behind,
            text,
            &mut places,
            0..=text.len(),
            |before, _| before,
        );
        run(
            &self.ahead,
            text,
            &mut places,
            (0..=text.len()).rev(),
            |_, after| after,
        );
        places
    }

    /// The leftmost match that begins at `from` or later; `places` is what is known of those of `text`.
    pub fn find_from(
        &self,
        text: &str,
        places: &[u8],
        from: usize,
        dead_ends: &mut DeadEnds,
    ) -> Option<Range<usize>> {
        let begins = |place: u8| place & BEGINS != 0;
        let rest = places.get(from..)?;
        let (near, far) = rest.split_at(rest.len().min(NEARBY_BYTES));
        let start = match near.iter().position(|&place| begins(place)) {
            Some(at) => from + at,
            None => from + near.len() + far.iter().copied().position(begins)?,
        };
        let end = if self.is_look {
            start
        } else {
            self.end(text.as_bytes(), places, start, dead_ends)?
        };
        Some(start..end)
    }

    /// Where the match that begins at `start` ends.
    fn end(
        &self,
        text: &[u8],
        places: &[u8],
        start: usize,
        dead_ends: &mut DeadEnds,
    ) -> Option<usize> {
        let (mut row, mut before, mut at) = (0, start, start);
        // Where it ends, and where that was seen.
        let (mut end, mut seen) = (None, None);
        dead_ends.start(start);
        loop {
            if dead_ends.ends(row, at, seen) {
                break;
            }
            let letter = places.get(at).map(|place| usize::from(place & !BEGINS));
            let step = self.steps[row + letter.unwrap_or(self.letters.count())];
            if step.has(AutomatonStep::MATCH) {
                end = Some(if step.has(AutomatonStep::TAIL) {
                    before
                } else {
                    at
                });
                seen = Some(at);
            }
            if step.has(AutomatonStep::DEAD) || letter.is_none() {
                break;
            }
            row = step.row();
            before = at;
            at += text
                .get(at)
                .map_or(1, |first| first.leading_ones().max(1) as usize);
        }
        dead_ends.stop(start, at, seen, text.len());
        end
    }
}

impl Pass {
    /// What finds the places that `inside` follows.
    fn ahead(inside: &Node, letters: &Letters, bit: u8) -> Option<Self> {
        let graph = Graph::of(inside, letters)?.reversed();
        Self::of(&graph.anywhere(), letters, bit)
    }

    /// What finds the places that `inside` comes before; `None` if it looks around itself.
    fn behind(inside: &Node, letters: &Letters, bit: u8) -> Option<Self> {
        if inside.looks() {
            return None;
        }
        let graph = Graph::of(inside, letters)?;
        Self::of(&graph.anywhere(), letters, bit)
    }

    fn of(graph: &Graph, letters: &Letters, bit: u8) -> Option<Self> {
        let (dfa, start) = graph.automaton(letters.count(), MatchKind::All)?;
        let mut pass = Self {
            bit,
            steps: Vec::new(),
            start: 0,
        };
        let (mut numbers, mut states) = (HashMap::new(), Vec::new());
        let mut row = |state, states: &mut Vec<_>| {
            let number = *numbers.entry(state).or_insert_with(|| {
                states.push(state);
                states.len() - 1
            });
            let is = dfa.is_match_state(dfa.next_eoi_state(state));
            (number * letters.count()) as u32 | if is { IS } else { 0 }
        };
        pass.start = row(start, &mut states);
        let mut done = 0;
        while let Some(&state) = states.get(done) {
            for letter in 0..letters.count() as u8 {
                let next = row(dfa.next_state(state, letter), &mut states);
                pass.steps.push(next);
            }
            done += 1;
        }
        Some(pass)
    }
}

/// Sets the bits of the places where what the passes ask is so. Side by side, as one waits for memory
/// while another goes on; `known` says which of two states tells, that before a letter or that after.
#[inline(always)]
fn run(
    passes: &[Pass],
    text: &[u8],
    places: &mut [u8],
    order: impl Iterator<Item = usize>,
    known: impl Fn(u32, u32) -> u32,
) {
    if passes.is_empty() {
        return;
    }
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut states: Vec<u32> = passes.iter().map(|pass| pass.start).collect();
    for at in paced(order) {
        if is_inside(at) {
            continue;
        }
        let mut place = places[at];
        for (pass, state) in passes.iter().zip(&mut states) {
            let letter = usize::from(place & !BEGINS);
            let next = pass.steps[(*state & !IS) as usize + letter];
            let is = known(*state, next) & IS != 0;
            place |= if is { pass.bit } else { 0 };
            *state = next;
        }
        places[at] = place;
    }
}

#[cfg(test)]
mod tests {
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::linear::Linear;
    use super::*;

    type Ranges = Vec<(usize, usize)>;

    /// The matches by automata.
    fn ours(around: &LookAround, text: &str) -> Ranges {
        let (places, mut at) = (around.places(text), 0);
        let mut dead_ends = DeadEnds::default();
        let next = || {
            let found = around.find_from(text, &places, at, &mut dead_ends)?;
            at = found.end + usize::from(found.is_empty());
            Some((found.start, found.end))
        };
        std::iter::from_fn(next).collect()
    }

    /// The matches of the library.
    fn theirs(source: &str, dialect: Dialect, text: &str) -> Ranges {
        match dialect {
            Dialect::Oniguruma => {
                let regex = onig::Regex::new(source).unwrap();
                regex.find_iter(text).collect()
            }
            Dialect::Tiktoken => {
                let regex = fancy_regex::Regex::new(source).unwrap();
                let found = regex.find_iter(text).map(|found| found.unwrap());
                found.map(|found| (found.start(), found.end())).collect()
            }
        }
    }

    fn is_valid(source: &str, dialect: Dialect) -> bool {
        match dialect {
            Dialect::Oniguruma => onig::Regex::new(source).is_ok(),
            Dialect::Tiktoken => fancy_regex::Regex::new(source).is_ok(),
        }
    }

    /// A pattern, `depth` groups deep at most.
    fn random_pattern(numbers: &mut ChaCha8Rng, depth: u32) -> String {
        let branches = numbers.random_range(1..=2 + u32::from(depth > 1));
        let branches: Vec<String> = (0..branches)
            .map(|_| {
                let items = numbers.random_range(1..=3);
                (0..items).map(|_| random_item(numbers, depth)).collect()
            })
            .collect();
        branches.join("|")
    }

    fn random_item(numbers: &mut ChaCha8Rng, depth: u32) -> String {
        const ATOMS: [&str; 14] = [
            "a", "b", "1", " ", "\\n", "[ab]", "[^a]", "\\d", "\\p{L}", "\\s", "\\S", "\\w", "\\W",
            "é",
        ];
        const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
        const PLACES: [&str; 4] = ["$", "\\b", "\\B", "\\z"];
        let atom = match numbers.random_range(0..10) {
            0 | 1 if depth > 0 => {
                let look = LOOKS.choose(numbers).unwrap();
                return format!("{look}{})", random_pattern(numbers, depth - 1));
            }
            2 => return (*PLACES.choose(numbers).unwrap()).to_owned(),
            3 if depth > 0 => format!("(?:{})", random_pattern(numbers, depth - 1)),
            _ => (*ATOMS.choose(numbers).unwrap()).to_owned(),
        };
        let times = [
            "", "", "", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}", "++", "?+", "*+", "{1,3}+",
            "{2}+",
        ];
        atom + times.choose(numbers).unwrap()
    }

    /// `fancy-regex` 0.20 finds `a+b?a+` in `a`; where Oniguruma agrees with us, that is no mistake.
    #[test]
    fn random_patterns_find_what_the_library_finds() {
        let mut numbers = ChaCha8Rng::seed_from_u64(11);
        let (mut compared, mut differ) = ([0; 2], 0);
        while compared.iter().any(|count| *count < 500) {
            let source = random_pattern(&mut numbers, 3);
            let [tiktoken, oniguruma] = [Dialect::Tiktoken, Dialect::Oniguruma];
            for dialect in [tiktoken, oniguruma] {
                let is_other =
                    is_valid(&source, dialect) && Linear::new(&source, dialect).is_none();
                let around = is_other
                    .then(|| LookAround::new(&source, dialect))
                    .flatten();
                let Some(around) = around else { continue };
                for _ in 0..12 {
                    let text: String = (0..numbers.random_range(0..14))
                        .map(|_| {
                            ['a', 'b', '1', ' ', '\n', 'é', '²']
                                .choose(&mut numbers)
                                .unwrap()
                        })
                        .collect();
                    let (ours, theirs) = (ours(&around, &text), theirs(&source, dialect, &text));
                    if ours != theirs {
                        let is_known = dialect == tiktoken
                            && is_valid(&source, oniguruma)
                            && ours == self::theirs(&source, oniguruma, &text);
                        assert!(is_known, "{source} {dialect:?} {text:?}");
                        differ += 1;
                    }
                }
                compared[dialect as usize] += 1;
            }
        }
        assert!(differ < compared[0] / 20, "{differ} of {compared:?}");
    }

    #[test]
    fn places_are_those_of_the_library_in_all_of_unicode() {
        let all: String = (char::MIN..=char::MAX)
            .map(|character| format!("{character}a {character}. "))
            .collect();
        for source in [
            r"\b",
            r"\B",
            "$",
            r"(?=\w)",
            r"(?<!\s)(?=\p{L})",
            r"\w++(?!a)",
        ] {
            for dialect in [Dialect::Tiktoken, Dialect::Oniguruma] {
                let around = LookAround::new(source, dialect).unwrap();
                let equal = ours(&around, &all) == theirs(source, dialect, &all);
                assert!(equal, "{source} {dialect:?}");
            }
        }
    }

    #[test]
    fn large_or_ambiguous_expressions_have_no_automata() {
        let deep = format!("{}a{}", "(?=".repeat(20), ")".repeat(20));
        let few_states = format!("(?:{}b){{250}}", "(?=b)".repeat(60));
        let empty = "a{0}".repeat(20_000) + "b$";
        let many = "(?:".repeat(4) + "a" + &"{99999}b)".repeat(4) + "(?=c)";
        for source in [
            "(?:a(?=b)){600}",
            "a{1,100000}(?=b)",
            &deep,
            "(?=a",
            "a(?=b))",
            "[]a](?=b)",
            "(?<=(?=a)b)c",
            "(?:(?=a))*b",
            "(?=a)|b",
            r"a(?=b)\1",
            "a+?(?=b)",
            "(?>a)b",
            "^a",
            "a(?=\u{10f001})",
            "a++?b",
            "a{1,3}+?(?=b)",
            "a{ 2 }(?=b)",
            &few_states,
            &empty,
            &many,
        ] {
            for dialect in [Dialect::Tiktoken, Dialect::Oniguruma] {
                assert!(LookAround::new(source, dialect).is_none(), "{source}");
            }
        }
    }

    #[test]
    fn digits_in_threes_from_the_right() {
        let around = LookAround::new(r"\d(?=(?:\d{3})*\b)", Dialect::Oniguruma).unwrap();
        assert_eq!(
            ours(&around, "1234567 12"),
            [(0, 1), (3, 4), (6, 7), (9, 10)]
        );
        let between = LookAround::new(r"(?=(?:\d{3})+(?!\d))", Dialect::Tiktoken).unwrap();
        assert_eq!(ours(&between, "1234567"), [(1, 1), (4, 4)]);
    }

    #[test]
    fn a_million_equal_characters_take_one_pass() {
        for (source, count) in [
            (r"\s+$|a", 0),
            (r"\s+(?=b)|\d+(?!\s)", 0),
            (r"\s++b|\Ba", 0),
        ] {
            let around = LookAround::new(source, Dialect::Tiktoken).unwrap();
            assert_eq!(ours(&around, &(" ".repeat(1_000_000) + "é")).len(), count);
        }
    }
}
