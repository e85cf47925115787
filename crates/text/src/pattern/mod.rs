//! Patterns: the expressions of splits and replacements, in the dialect of the library that they come from.
//!
//! Look here for which engine runs a pattern. There are two kinds: the dialect's own backtracking
//! engine ([`fancy_regex`], Oniguruma), which defines the meaning, and automata for the patterns
//! that provably mean the same there (`dialects`, `possessive`, `oniguruma_words`), including every well-known split pattern: one
//! (`linear`), or several if a pattern looks around (`look_around`). An automaton reads character
//! classes (`automaton`, `character_classes`), and repeats no failed search (`dead_ends`); the
//! order of branches stays as written (`branch_order`). `regex` chooses the engine; `matches` runs
//! it, match after match.

mod automaton;
mod backtracking;
mod branch_order;
mod budget;
mod character_classes;
mod dead_ends;
mod dialects;
mod linear;
mod look_around;
mod matches;
mod oniguruma;
mod oniguruma_words;
mod possessive;
mod regex;
mod side_thread;
mod syntax;
#[cfg(test)]
mod tests;

pub use self::automaton::{AutomatonStep, steps_over};
pub use self::character_classes::CharacterClasses;
pub use self::dialects::Dialect;
pub use self::matches::Matches;
pub(crate) use self::oniguruma::Expression;
pub use self::regex::replacing;
pub use self::regex::{Regex, SearchPattern};
