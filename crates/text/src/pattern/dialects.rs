//! Dialects of patterns, and which patterns have the same meaning in a dialect and as an automaton.
//!
//! Besides their tail ([`super::linear`]), two things keep the well-known split patterns from being an
//! automaton, and each is removed only where the result is provably the same:
//!
//! - **Possessive quantifiers**, in [`super::possessive`].
//! - **Dialects.** A pattern qualifies if it is made of constructs that `regex-syntax` and the
//!   dialect read alike. For Oniguruma these are listed one by one, and a test compares the
//!   character classes of the two over all of Unicode.
//!
//! Look here for which version of Unicode `\p{L}` has: that of the libraries, 16.0 in `regex-syntax` and
//! in Oniguruma. That test fails when an update changes only one of them.

use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::Hir;
use serde::{Deserialize, Serialize};

use super::branch_order::{self, would_change_some};
use super::oniguruma_words::spell_words_out;
use super::possessive::make_greedy;
use super::syntax::{parse, to_hir};

/// The library that a regular expression was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dialect {
    /// Rust's `fancy-regex`, as tiktoken.
    Tiktoken,
    /// Oniguruma, as tokenizers.
    Oniguruma,
}

/// The branches in `source` with their possessive quantifiers made greedy, if all of it is known
/// to mean the same in `dialect` and none of it matches the empty string. `beside` says whether there
/// are other branches, which look around.
pub(super) fn branches(source: &str, dialect: Dialect, beside: bool) -> Option<Hir> {
    let ast = parse(source)?;
    let gives_back = !branch_order::repeats_twice(&ast);
    let mut ast = alike(source, ast, dialect)?;
    // `fancy-regex` leaves what neither looks around nor is possessive to the crate `regex`, which puts
    // branches together as `regex-syntax` does: a whole pattern, or a whole branch.
    match &mut ast {
        _ if dialect != Dialect::Tiktoken => {}
        ast if !gives_back && would_change_some(source, ast)? => return None,
        Ast::Alternation(branches) if beside => branch_order::keep(source, branches)?,
        _ => {}
    }
    let hir = to_hir(source, &ast)?;
    (hir.properties().minimum_len()? > 0).then_some(hir)
}

/// What `ast` of `source` is to `regex-syntax`, with its possessive quantifiers made greedy, if all of
/// it is known to mean the same in `dialect`. To Oniguruma branches come in the order in which they
/// are written.
pub(super) fn alike(source: &str, mut ast: Ast, dialect: Dialect) -> Option<Ast> {
    let scope = Scope { source, dialect };
    if dialect == Dialect::Oniguruma {
        spell_words_out(&mut ast)?;
    }
    // To Oniguruma, `{1,3}+` is a quantifier after a quantifier.
    let takes_counts = dialect == Dialect::Tiktoken;
    match &mut ast {
        Ast::Alternation(alternation) => alternation
            .asts
            .iter_mut()
            .try_for_each(|branch| make_greedy(source, takes_counts, branch))?,
        branch => make_greedy(source, takes_counts, branch)?,
    }
    if dialect == Dialect::Oniguruma {
        branch_order::keep_all(source, &mut ast)?;
    }
    scope.reads_alike(&ast).then_some(ast)
}

struct Scope<'s> {
    source: &'s str,
    dialect: Dialect,
}

impl Scope<'_> {
    /// Whether the dialect reads all of `ast` as `regex-syntax` does.
    fn reads_alike(&self, ast: &Ast) -> bool {
        match ast {
            Ast::Literal(literal) => reads_literal_alike(literal),
            // To Oniguruma `$` is the end of a line.
            Ast::Assertion(assertion) => {
                self.dialect == Dialect::Tiktoken && assertion.kind == ast::AssertionKind::EndLine
            }
            Ast::ClassUnicode(class) => self.reads_property_alike(class),
            Ast::ClassPerl(class) => self.reads_perl_alike(class),
            Ast::ClassBracketed(set) => self.reads_set_alike(set),
            Ast::Repetition(repetition) => {
                let inner = to_hir(self.source, &repetition.ast);
                repetition.greedy
                    && reads_count_alike(self.source, &repetition.op)
                    && !matches!(*repetition.ast, Ast::Repetition(_))
                    && inner.is_some_and(|inner| inner.properties().minimum_len() > Some(0))
                    && self.reads_alike(&repetition.ast)
            }
            Ast::Group(group) => match &group.kind {
                ast::GroupKind::CaptureIndex(_) => self.reads_alike(&group.ast),
                ast::GroupKind::NonCapturing(flags) if flags.items.is_empty() => {
                    self.reads_alike(&group.ast)
                }
                ast::GroupKind::NonCapturing(_) => self.reads_caseless_alike(group),
                ast::GroupKind::CaptureName { .. } => false,
            },
            Ast::Alternation(alternation) => alternation.asts.iter().all(|a| self.reads_alike(a)),
            Ast::Concat(concat) => concat.asts.iter().all(|a| self.reads_alike(a)),
            Ast::Empty(_) | Ast::Flags(_) | Ast::Dot(_) => false,
        }
    }

    /// Sets within sets are left to the class parser of `regex-syntax` by `fancy-regex` too. Of those that
    /// Oniguruma has, these are known to be the same: unions of items and of sets of items, and the
    /// intersection of two such sets; others go wrong there now and then.
    fn reads_set_alike(&self, set: &ast::ClassBracketed) -> bool {
        use ast::ClassSet::{BinaryOp, Item};
        match (self.dialect, &set.kind) {
            (Dialect::Tiktoken, kind) => self.reads_any_set_alike(kind),
            (Dialect::Oniguruma, Item(items)) => {
                self.reads_item_alike(items)
                    || (items_of(items).iter()).all(|item| match item {
                        ast::ClassSetItem::Bracketed(set) => !set.negated && self.is_simple(set),
                        item => self.is_simple_item(item),
                    })
            }
            (Dialect::Oniguruma, BinaryOp(operation)) => {
                let is_shared = operation.kind == ast::ClassSetBinaryOpKind::Intersection;
                let operands = [&operation.lhs, &operation.rhs];
                is_shared
                    && !set.negated
                    && operands.iter().all(|operand| match &***operand {
                        Item(ast::ClassSetItem::Bracketed(set)) => self.is_simple(set),
                        Item(items) => items_of(items).iter().all(|it| self.is_simple_item(it)),
                        BinaryOp(_) => false,
                    })
            }
        }
    }

    fn reads_any_set_alike(&self, set: &ast::ClassSet) -> bool {
        match set {
            ast::ClassSet::Item(item) => self.reads_item_alike(item),
            ast::ClassSet::BinaryOp(operation) => {
                self.reads_any_set_alike(&operation.lhs) && self.reads_any_set_alike(&operation.rhs)
            }
        }
    }

    fn reads_item_alike(&self, item: &ast::ClassSetItem) -> bool {
        use ast::ClassSetItem as Item;
        match item {
            Item::Literal(literal) => reads_class_literal_alike(literal),
            Item::Range(range) => {
                reads_class_literal_alike(&range.start) && reads_class_literal_alike(&range.end)
            }
            Item::Unicode(class) => self.reads_property_alike(class),
            Item::Perl(class) => self.reads_perl_alike(class),
            Item::Union(union) => union.items.iter().all(|item| self.reads_item_alike(item)),
            Item::Bracketed(set) => {
                self.dialect == Dialect::Tiktoken && self.reads_any_set_alike(&set.kind)
            }
            Item::Empty(_) | Item::Ascii(_) => false,
        }
    }

    /// Whether a set holds simple items only.
    fn is_simple(&self, set: &ast::ClassBracketed) -> bool {
        match &set.kind {
            ast::ClassSet::Item(items) => items_of(items).iter().all(|it| self.is_simple_item(it)),
            ast::ClassSet::BinaryOp(_) => false,
        }
    }

    /// Whether an item is all ASCII, or all beyond it, or a named class.
    fn is_simple_item(&self, item: &ast::ClassSetItem) -> bool {
        use ast::ClassSetItem as Item;
        let is_named = match item {
            Item::Literal(_) => true,
            Item::Range(range) => range.start.c.is_ascii() == range.end.c.is_ascii(),
            Item::Unicode(class) => !class.is_negated(),
            Item::Perl(class) => !class.negated,
            Item::Union(_) | Item::Bracketed(_) | Item::Empty(_) | Item::Ascii(_) => false,
        };
        is_named && self.reads_item_alike(item)
    }

    fn reads_property_alike(&self, class: &ast::ClassUnicode) -> bool {
        match &class.kind {
            ast::ClassUnicodeKind::OneLetter(_) => self.dialect == Dialect::Tiktoken,
            ast::ClassUnicodeKind::Named(name) => PROPERTIES.contains(&name.as_str()),
            ast::ClassUnicodeKind::NamedValue { .. } => false,
        }
    }

    /// To Oniguruma words are another set, and those that were spelled out are no longer here.
    fn reads_perl_alike(&self, class: &ast::ClassPerl) -> bool {
        self.dialect == Dialect::Tiktoken || class.kind != ast::ClassPerlKind::Word
    }

    /// Case folding differs between the engines; for these groups it was compared.
    fn reads_caseless_alike(&self, group: &ast::Group) -> bool {
        let span = group.span;
        let source = &self.source[span.start.offset..span.end.offset];
        CASELESS_GROUPS.contains(&source)
    }
}

/// Whether a count is written without blanks, which `regex-syntax` alone reads over.
pub(super) fn reads_count_alike(source: &str, op: &ast::RepetitionOp) -> bool {
    let span = op.span;
    !source[span.start.offset..span.end.offset].contains(char::is_whitespace)
}

fn items_of(item: &ast::ClassSetItem) -> &[ast::ClassSetItem] {
    match item {
        ast::ClassSetItem::Union(union) => &union.items,
        item => std::slice::from_ref(item),
    }
}

/// The properties whose code points are the same in Oniguruma and in `regex-syntax`.
const PROPERTIES: [&str; 45] = [
    "L",
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "M",
    "Mn",
    "Mc",
    "Me",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "S",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Z",
    "Zs",
    "Zl",
    "Zp",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Latin",
    "Greek",
    "Cyrillic",
    "Arabic",
    "Hebrew",
    "Thai",
    "Devanagari",
    "Letter",
    "Number",
    "Alphabetic",
];

/// The groups without case in the well-known patterns.
const CASELESS_GROUPS: [&str; 2] = [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"(?i:[sdmt]|ll|ve|re)"];

fn reads_literal_alike(literal: &ast::Literal) -> bool {
    use ast::{LiteralKind, SpecialLiteralKind as Special};
    matches!(
        literal.kind,
        LiteralKind::Verbatim
            | LiteralKind::Meta
            | LiteralKind::Special(Special::Tab | Special::LineFeed | Special::CarriageReturn)
    )
}

/// Within brackets, what opens a nested class or an operation in any of the engines is refused.
fn reads_class_literal_alike(literal: &ast::Literal) -> bool {
    let verbatim = literal.kind == ast::LiteralKind::Verbatim;
    reads_literal_alike(literal) && !(verbatim && matches!(literal.c, '[' | ']' | '-'))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::pattern::dead_ends::DeadEnds;
    use crate::pattern::linear::Linear;
    use crate::pattern::oniguruma_words::{WORD, WORD_IN_BRACKETS};
    use regex_automata::meta;

    /// What each of the two engines finds in `text`.
    fn found_by_both(pattern: &str, text: &str) -> [Vec<(usize, usize)>; 2] {
        let ours = meta::Regex::new(pattern).unwrap();
        let oniguruma = onig::Regex::new(pattern).unwrap();
        let found = ours
            .find_iter(text)
            .map(|found| (found.start(), found.end()));
        [found.collect(), oniguruma.find_iter(text).collect()]
    }

    #[test]
    fn properties_are_the_same_sets_in_both_libraries() {
        let all: String = (char::MIN..=char::MAX).collect();
        let properties = PROPERTIES.map(|name| format!(r"\p{{{name}}}"));
        let others = [r"\s", r"\d", r"[^\s\p{L}\p{N}]", r"[^\r\n\p{L}\p{P}\p{S}]"];
        for class in properties.iter().map(String::as_str).chain(others) {
            let [ours, theirs] = found_by_both(&format!("{class}+"), &all);
            assert!(ours == theirs, "{class}");
        }
    }

    #[test]
    fn words_are_not_but_can_be_spelled_out() {
        let text = "a\u{200c}\u{200d}²³¹¼½¾";
        let [ours, theirs] = found_by_both(r"\w+", text);
        assert_eq!(
            (ours, theirs),
            (vec![(0, 7)], vec![(0, 1), (7, text.len())])
        );
        let all: String = (char::MIN..=char::MAX).collect();
        for (source, spelled) in [
            (r"\w+", format!("{WORD}+")),
            (r"\W+", format!("[^{}+", &WORD[1..])),
            (r"[^\w\s]+", format!("[^\\s{}+", &WORD_IN_BRACKETS[1..])),
            (r"[\w.]+", format!("[.{}+", &WORD_IN_BRACKETS[1..])),
        ] {
            let [_, expected] = found_by_both(source, &all);
            let [ours, _] = found_by_both(&spelled, &all);
            assert!(ours == expected, "{spelled}");
            let linear = Linear::new(source, Dialect::Oniguruma).unwrap();
            let (mut found, mut at, mut dead_ends) = (Vec::new(), 0, DeadEnds::default());
            let mut next = |at| linear.find_from(&all, at, &mut dead_ends, usize::MAX);
            while let Some(next) = next(at).unwrap() {
                found.push((next.start, next.end));
                at = next.end;
            }
            assert!(found == expected, "{source}");
        }
    }

    /// Items of a set, and sets of items if there shall be some.
    fn random_items(numbers: &mut ChaCha8Rng, sets: f64) -> String {
        const ITEMS: [&str; 18] = [
            "a",
            "b",
            "(",
            ")",
            "|",
            "é",
            "漢",
            "。",
            "a-f",
            "à-ÿ",
            "\0-\u{7f}",
            "\u{80}-\u{10ffff}",
            r"\s",
            r"\d",
            r"\p{L}",
            r"\p{Lu}",
            r"\p{Han}",
            r"\p{N}",
        ];
        let mut items = String::new();
        for _ in 0..numbers.random_range(1..5) {
            if numbers.random_bool(sets) {
                items.push_str(&format!("[{}]", random_items(numbers, 0.0)))
            } else {
                items.push_str(ITEMS[numbers.random_range(0..ITEMS.len())])
            }
        }
        items
    }

    /// A set of the forms that qualify: a union, or two that intersect.
    fn random_set(numbers: &mut ChaCha8Rng) -> String {
        let not = |numbers: &mut ChaCha8Rng| ["", "^"][usize::from(numbers.random_bool(0.5))];
        if numbers.random_bool(0.5) {
            return format!("[{}{}]", not(numbers), random_items(numbers, 0.4));
        }
        let mut operand = || {
            if numbers.random_bool(0.5) {
                format!("[{}{}]", not(numbers), random_items(numbers, 0.0))
            } else {
                random_items(numbers, 0.0)
            }
        };
        format!("[{}&&{}]", operand(), operand())
    }

    #[test]
    fn sets_within_sets_are_the_same_sets() {
        let mut numbers = ChaCha8Rng::seed_from_u64(5);
        let mut text: String = ('\0'..'\u{250}').collect();
        text.push_str("中文漢かﾔ한жЖ٣½Ⅷ。،…“\u{301}\u{3000}\u{2028}🙂𠀀\u{10ffff}");
        for _ in 0..3_000 {
            let set = random_set(&mut numbers);
            let [ours, theirs] = found_by_both(&set, &text);
            assert_eq!(ours, theirs, "{set}");
            let qualifies = Linear::new(&set, Dialect::Oniguruma).is_some();
            assert!(qualifies || theirs.is_empty(), "{set}");
        }
    }

    #[test]
    fn only_the_same_characters_fold_into_contractions() {
        let text: String = (char::MIN..=char::MAX)
            .map(|c| format!("{c}s '{c} '{c}e '{c}l 'r{c} 'v{c} 'l{c} {c}{c} "))
            .collect();
        for group in CASELESS_GROUPS {
            let [ours, theirs] = found_by_both(group, &text);
            assert!(ours == theirs, "{group}");
        }
    }

    #[test]
    fn expressions_that_dialects_read_differently_do_not_qualify() {
        for source in [
            r"\p{N}{1,3}+",
            r"[^\W\s]+",
            r"a$",
            r"[a--[b]]",
            r"[a~~[b]]",
            r"[a[^b]]",
            r"[^a&&[b]]",
            r"[a[b&&[a]]]",
            r"[a-é&&[b]]",
            r"[\S&&[a]]",
            r"(?i:ss)",
            r"a*",
            r"a+?",
            r"a{ 2 }b",
        ] {
            assert!(
                Linear::new(source, Dialect::Oniguruma).is_none(),
                "{source}"
            );
        }
    }
}
