//! Possessive quantifiers, made greedy where that changes nothing.
//!
//! `X++` differs from `X+` only if giving back a character of `X` lets the rest of its branch match. It
//! cannot where the rest matches the empty string (then nothing is ever given back), and where the rest can
//! begin with no character of `X`.

use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use super::syntax::to_hir;

/// Makes the possessive quantifiers of a branch of `source` greedy; `None` where that may change it.
/// `takes_counts` says whether `{1,3}+` is one; it may be a quantifier after a quantifier.
pub fn make_greedy(source: &str, takes_counts: bool, branch: &mut Ast) -> Option<()> {
    let items = match branch {
        Ast::Concat(concat) => concat.asts.as_mut_slice(),
        item => std::slice::from_mut(item),
    };
    for at in 0..items.len() {
        let Some(greedy) = possessive(takes_counts, &items[at]) else {
            continue;
        };
        let Ast::Repetition(repeated) = &greedy else {
            return None;
        };
        let taken = to_hir(source, &repeated.ast)?;
        let HirKind::Class(Class::Unicode(taken)) = taken.kind() else {
            return None;
        };
        let rest: Vec<Hir> = items[at + 1..]
            .iter()
            .map(|item| {
                let item = possessive(takes_counts, item).unwrap_or_else(|| item.clone());
                to_hir(source, &item)
            })
            .collect::<Option<_>>()?;
        keeps_what_it_took(taken, &rest).then_some(())?;
        items[at] = greedy;
    }
    Some(())
}

/// The greedy form of a possessive quantifier, which `regex-syntax` reads as two quantifiers.
fn possessive(takes_counts: bool, item: &Ast) -> Option<Ast> {
    use ast::RepetitionKind::{OneOrMore, Range, ZeroOrMore, ZeroOrOne};
    let Ast::Repetition(outer) = item else {
        return None;
    };
    let Ast::Repetition(inner) = &*outer.ast else {
        return None;
    };
    let possessive = match inner.op.kind {
        ZeroOrOne | ZeroOrMore | OneOrMore => true,
        Range(_) => takes_counts,
    };
    (possessive && inner.greedy && outer.greedy && outer.op.kind == OneOrMore)
        .then(|| (*outer.ast).clone())
}

/// Whether `X`, repeated greedily before `rest`, never gives back a character that it took.
fn keeps_what_it_took(taken: &ClassUnicode, rest: &[Hir]) -> bool {
    let is_empty_match = |hir: &Hir| {
        hir.properties().minimum_len() == Some(0) && hir.properties().look_set().is_empty()
    };
    if rest.iter().all(is_empty_match) {
        return true;
    }
    for item in rest {
        if *item.kind() == HirKind::Look(Look::End) {
            return true;
        }
        let Some(mut begins) = first_characters(item) else {
            return false;
        };
        begins.intersect(taken);
        if !begins.ranges().is_empty() {
            return false;
        }
        if item.properties().minimum_len() > Some(0) {
            return true;
        }
    }
    false
}

/// The characters that a match of `hir` can begin with; `None` if there are assertions.
fn first_characters(hir: &Hir) -> Option<ClassUnicode> {
    let union = |mut all: ClassUnicode, hir: &Hir| {
        all.union(&first_characters(hir)?);
        Some(all)
    };
    match hir.kind() {
        HirKind::Empty => Some(ClassUnicode::empty()),
        HirKind::Look(_) => None,
        HirKind::Literal(literal) => {
            let first = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(first, first)]))
        }
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        HirKind::Repetition(repetition) => first_characters(&repetition.sub),
        HirKind::Capture(capture) => first_characters(&capture.sub),
        HirKind::Alternation(branches) => branches.iter().try_fold(ClassUnicode::empty(), union),
        HirKind::Concat(items) => {
            let optional = |hir: &&Hir| hir.properties().minimum_len() == Some(0);
            let reached = items.iter().take_while(optional).count() + 1;
            items
                .iter()
                .take(reached)
                .try_fold(ClassUnicode::empty(), union)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::dialects::Dialect;
    use crate::pattern::linear::Linear;

    #[test]
    fn quantifiers_that_might_give_back_stay_possessive() {
        let linear = |source| Linear::new(source, Dialect::Tiktoken).is_some();
        assert!(linear(r"\p{L}++\p{N}"));
        assert!(linear(r"\p{L}?+\p{N}*+\s"));
        assert!(linear(r"\s++$|a"));
        assert!(!linear(r"\p{L}++a"));
        assert!(!linear(r"\p{L}++\p{N}*a"));
        assert!(!linear(r"(?:\p{L}\p{N})++\s"));
        assert!(!linear(r"(?:\p{L}++|a)\p{N}"));
    }
}
