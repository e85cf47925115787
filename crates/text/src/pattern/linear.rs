//! Patterns that one automaton runs in linear time, with the meaning of the dialect.
//!
//! A pattern qualifies if its constructs mean the same to the dialect and to the automaton
//! ([`super::dialects`]), except for one that is removed here: **the tail `|\s+(?!\S)|\s+`** (or
//! `…|\s`). At white space that no earlier branch takes, it takes the whole run at the end of the text,
//! else the run without its last character, else (the run is one character) that character. So the
//! automaton takes the run, and then the rule is applied to it.
//!
//! A pattern that can match the empty string does not qualify: engines differ in how they step
//! over empty matches.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Hir, Look};

use super::automaton::{Automaton, TAIL, before_last};
use super::dead_ends::DeadEnds;
use super::dialects::{Dialect, branches};
use super::syntax::{parse, to_hir};
use crate::mem::lazy::Lazy;

const TAILS: [&str; 2] = [r"|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s"];

/// Bytes for the states of the lazy automaton. Text in many scripts visits thousands of them; the
/// default of 2 MB is thrown away and filled again many times over.
const CACHE_BYTES: usize = 16 << 20;

/// Bytes that the engine searches in one call if interrupts must be noticed. In the worst case, where its
/// automaton is discarded again and again, they take some hundredths of a second.
pub(super) const AT_ONCE: usize = 1 << 20;

/// The error of a search that would take long without noticing an interrupt.
#[derive(Debug)]
pub(super) struct Long;

/// A pattern that runs as an automaton.
pub(super) struct Linear {
    /// The branches, and the white space of the tail if there is one.
    patterns: Vec<Hir>,
    automaton: Option<Automaton>,
    /// The engine for matches that the automaton would have to look for too long, or that is too
    /// large for it; made when the first text needs it.
    engine: Lazy<Option<meta::Regex>>,
}

impl Linear {
    /// The automaton that means what `source` means in `dialect`, if there is one.
    pub(super) fn new(source: &str, dialect: Dialect) -> Option<Self> {
        let tail = TAILS.iter().find(|tail| source.ends_with(**tail));
        let head = &source[..source.len() - tail.map_or(0, |tail| tail.len())];
        let mut patterns = vec![branches(head, dialect, tail.is_some())?];
        if tail.is_some() {
            patterns.push(to_hir(r"\s+", &parse(r"\s+")?)?);
        }
        let linear = Self {
            automaton: Automaton::new(&patterns),
            patterns,
            engine: Lazy::new(),
        };
        (linear.automaton.is_some() || linear.engine().is_some()).then_some(linear)
    }

    /// The branches, and the white space of the tail if there is one.
    pub(super) fn patterns(&self) -> &[Hir] {
        &self.patterns
    }

    fn engine(&self) -> Option<&meta::Regex> {
        let build = || {
            meta::Builder::new()
                .configure(
                    meta::Config::new()
                        .hybrid_cache_capacity(CACHE_BYTES)
                        .which_captures(WhichCaptures::Implicit),
                )
                .build_many_from_hir(&self.patterns)
                .ok()
        };
        self.engine.get(build).as_ref()
    }

    /// The leftmost match that begins at `at` or later.
    ///
    /// # Errors
    /// The engine has to look for it in more bytes than `max_bytes`, which it does in one go.
    pub(super) fn find_from(
        &self,
        text: &str,
        mut at: usize,
        dead_ends: &mut DeadEnds,
        max_bytes: usize,
    ) -> Result<Option<Range<usize>>, Long> {
        if let Some(automaton) = &self.automaton {
            loop {
                match automaton.find_from(text, at, dead_ends) {
                    Ok(found) => return Ok(found),
                    Err(reached) => at = reached,
                }
                if self.engine().is_some() {
                    break;
                }
            }
        }
        if text.len() - at > max_bytes {
            return Err(Long);
        }
        let input = Input::new(text).span(at..text.len());
        let found = self.engine().and_then(|engine| engine.search(&input));
        Ok(found.map(|found| {
            let mut range = found.range();
            if found.pattern() == TAIL && range.end < text.len() {
                range.end = before_last(text, range.start, range.end);
            }
            range
        }))
    }
}

/// The pattern of an expression of Oniguruma's that ends in `$`, which is the end of a line there.
pub(super) fn before_line_end(source: &str) -> Option<Hir> {
    use regex_syntax::ast::{AssertionKind, Ast};
    let ast = parse(source)?;
    let Ast::Concat(concat) = &ast else {
        return None;
    };
    let is_line_end =
        |last: &Ast| matches!(last, Ast::Assertion(it) if it.kind == AssertionKind::EndLine);
    // What is possessive gives nothing back for the sake of the line end.
    let is_possessive = ["++", "*+", "?+"].iter().any(|it| source.contains(it));
    let head = source.strip_suffix('$')?;
    let found = concat.asts.last().is_some_and(is_line_end) && !is_possessive;
    let head = found.then(|| branches(head, Dialect::Oniguruma, false))??;
    Some(Hir::concat(vec![head, Hir::look(Look::EndLF)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_leaves_one_white_space_character_to_the_next_word() {
        let words = Linear::new(r" ?\p{L}+|\s+(?!\S)|\s+", Dialect::Oniguruma).unwrap();
        let cut = |text: &str| {
            let mut dead_ends = DeadEnds::default();
            let mut find_from = |at| {
                let found = words.find_from(text, at, &mut dead_ends, usize::MAX);
                found.unwrap()
            };
            std::iter::successors(find_from(0), |last| find_from(last.end))
                .map(|range| text[range].to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(cut("a   b"), ["a", "  ", " b"]);
        assert_eq!(
            cut("a\u{3000}\u{3000}b"),
            ["a", "\u{3000}", "\u{3000}", "b"]
        );
        assert_eq!(cut("a   "), ["a", "   "]);
        assert_eq!(cut("\tb"), ["\t", "b"]);
    }
}
