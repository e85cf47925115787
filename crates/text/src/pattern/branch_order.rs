//! The order of branches that begin alike, which `regex-syntax` loses where it joins their
//! beginnings.
//!
//! `regex-syntax` reads `X?A|X?B` as `X?(?:A|B)`. That is the same if `X` can match in only one way. But
//! in `ab` the first branch of `a?a|a?b` finds `a` without its `a?`, while `a?(?:a|b)` takes the `a` and finds
//! `ab`. If the backtracking engine does not join branches, they are kept apart here: each branch goes into a
//! group of its own, and groups are never alike.

use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::{Hir, HirKind};

use super::syntax::to_hir;

/// Above the numbers of groups that a pattern has.
const FIRST_GROUP: u32 = 1 << 20;

/// Keeps the branches of all alternations in `ast`, which `source` spells, in their order.
pub(super) fn keep_all(source: &str, ast: &mut Ast) -> Option<()> {
    within(ast, &mut |alternation| keep(source, alternation))
}

/// Keeps the branches of this alternation in their order, but not of those in them.
pub(super) fn keep(source: &str, alternation: &mut ast::Alternation) -> Option<()> {
    if !would_change(source, alternation)? {
        return Some(());
    }
    for (group, branch) in (FIRST_GROUP..).zip(&mut alternation.asts) {
        let span = *branch.span();
        let inside = std::mem::replace(branch, Ast::empty(span));
        *branch = Ast::group(ast::Group {
            span,
            kind: ast::GroupKind::CaptureIndex(group),
            ast: Box::new(inside),
        });
    }
    Some(())
}

/// Whether `regex-syntax` may change which branch of some alternation in `ast` matches first.
pub(super) fn would_change_some(source: &str, ast: &Ast) -> Option<bool> {
    let mut some = false;
    within(&mut ast.clone(), &mut |alternation| {
        some |= would_change(source, alternation)?;
        Some(())
    })?;
    Some(some)
}

/// Whether the branches begin with the same, and with more than characters.
fn would_change(source: &str, alternation: &ast::Alternation) -> Option<bool> {
    let mut branches = Vec::with_capacity(alternation.asts.len());
    for branch in &alternation.asts {
        match to_hir(source, branch)?.into_kind() {
            HirKind::Alternation(inner) => branches.extend(inner.iter().map(items)),
            kind => branches.push(match kind {
                HirKind::Concat(items) => items,
                _ => return Some(false),
            }),
        }
    }
    let Some((first, others)) = branches.split_first() else {
        return Some(false);
    };
    let shared = (0..first.len()).take_while(|&at| {
        let is_shared = |branch: &Vec<Hir>| branch.get(at) == first.get(at);
        others.iter().all(is_shared)
    });
    let is_character = |hir: &Hir| matches!(hir.kind(), HirKind::Literal(_) | HirKind::Class(_));
    Some(shared.into_iter().any(|at| !is_character(&first[at])))
}

/// What a branch is made of; nothing where it is one thing.
fn items(branch: &Hir) -> Vec<Hir> {
    match branch.kind() {
        HirKind::Concat(items) => items.clone(),
        _ => Vec::new(),
    }
}

/// Goes through the alternations in `ast`, the innermost first.
fn within(
    ast: &mut Ast,
    visit: &mut impl FnMut(&mut ast::Alternation) -> Option<()>,
) -> Option<()> {
    match ast {
        Ast::Group(group) => within(&mut group.ast, visit),
        Ast::Repetition(repetition) => within(&mut repetition.ast, visit),
        Ast::Concat(concat) => concat.asts.iter_mut().try_for_each(|it| within(it, visit)),
        Ast::Alternation(alternation) => {
            (alternation.asts.iter_mut()).try_for_each(|branch| within(branch, visit))?;
            visit(alternation)
        }
        _ => Some(()),
    }
}

/// Whether a quantifier follows another somewhere in `ast`, as possessive ones are read.
pub(super) fn repeats_twice(ast: &Ast) -> bool {
    match ast {
        Ast::Group(group) => repeats_twice(&group.ast),
        Ast::Repetition(repetition) => {
            matches!(*repetition.ast, Ast::Repetition(_)) || repeats_twice(&repetition.ast)
        }
        Ast::Concat(concat) => concat.asts.iter().any(repeats_twice),
        Ast::Alternation(alternation) => alternation.asts.iter().any(repeats_twice),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::mem::lazy::Lazy;
    use crate::pattern::regex::Engine;
    use crate::pattern::{Dialect, Regex};

    /// What the automata find, and what the dialect's own engine finds; nothing if no automaton runs it.
    fn found_by_both(source: &str, dialect: Dialect, text: &str) -> Option<[Vec<usize>; 2]> {
        let linear = Regex::new(source, dialect).ok().filter(Regex::is_linear)?;
        let own = Engine::of_dialect(source, dialect).unwrap();
        let own = Regex::with_engine(source.to_owned(), dialect, Lazy::of(own));
        let ends = |pattern: &Regex| {
            let found = pattern.matches(text).map(Result::unwrap);
            found.flat_map(|found| [found.start, found.end]).collect()
        };
        Some([ends(&linear), ends(&own)])
    }

    #[test]
    fn the_first_branch_that_matches_is_taken() {
        for (source, text, cuts) in [
            ("a?a|a?b", "ab", &[0, 1, 1, 2][..]),
            ("(?:a?a|a?b)|c", "ab", &[0, 1, 1, 2]),
            ("a*a|a*b", "aab", &[0, 2, 2, 3]),
            ("a+[ab]|a+c", "aac", &[0, 2]),
            ("(?:a?a|a?b)(?!c)", "ab", &[0, 1, 1, 2]),
            ("x(?:xa?a|xa?b)+", "xxab", &[0, 3]),
            (
                r" ?[^\S\n]+| ?\w+|\s+(?!\S)|\s+",
                "a b",
                &[0, 1, 1, 2, 2, 3],
            ),
        ] {
            let found = found_by_both(source, Dialect::Oniguruma, text);
            assert_eq!(found, Some([cuts.to_vec(), cuts.to_vec()]), "{source}");
        }
    }

    #[test]
    fn a_pattern_of_the_crate_regex_puts_branches_together() {
        for (source, text, cuts) in [
            ("a?a|a?b", "ab", &[0, 2][..]),
            (r"a?a|a?b|\s+(?!\S)|\s+", "ab", &[0, 1, 1, 2]),
            (r"(?:a?a|a?b)|\s+(?!\S)|\s+", "ab", &[0, 2]),
        ] {
            let found = found_by_both(source, Dialect::Tiktoken, text);
            assert_eq!(found, Some([cuts.to_vec(), cuts.to_vec()]), "{source}");
        }
        for source in ["(?:a?a|a?b)(?!c)", "(?:a?a|a?b)b++"] {
            assert_eq!(
                found_by_both(source, Dialect::Tiktoken, "ab"),
                None,
                "{source}"
            );
        }
    }

    /// Branches that often begin alike, beside each other and in each other.
    fn branches() -> impl Strategy<Value = String> {
        let first =
            proptest::sample::select(vec!["a?", "a*", "a+", "b?", "[ab]?", "a", "[ab]{1,2}"]);
        let second = proptest::sample::select(vec!["a", "b", "[ab]", "c", "a+", "b?c", "[^a]", ""]);
        let branch = (first, second).prop_map(|(first, second)| format!("{first}{second}"));
        let some = proptest::collection::vec(branch, 1..4).prop_map(|it| it.join("|"));
        some.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 2..4).prop_map(|it| it.join("|")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("a?(?:{a})|a?(?:{b})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a})+b?|(?:{b})")),
                (inner.clone(), inner).prop_map(|(a, b)| format!("(?:{a})(?!c)|(?:{b})")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn branches_come_in_the_order_of_the_own_engine(
            branches in branches(),
            tail in proptest::sample::select(vec!["", r"|\s+(?!\S)|\s+", "|b++"]),
            text in "[abc ]{0,12}",
        ) {
            let source = format!("{branches}{tail}");
            for dialect in [Dialect::Oniguruma, Dialect::Tiktoken] {
                if let Some([linear, own]) = found_by_both(&source, dialect, &text) {
                    prop_assert_eq!(linear, own, "{:?} {}", dialect, source);
                }
            }
        }
    }
}
