//! Patterns: what splits and replacements look for, in the dialect of the library they come from.
//!
//! Look here for which engine runs a pattern. There are two kinds: the dialect's own backtracking
//! engine ([`fancy_regex`], Oniguruma), which defines the meaning, and automata for the patterns
//! that provably mean the same there (`dialects`), which every well-known split pattern does: one
//! (`linear`), or several where a pattern looks around (`look_around`). An automaton reads character
//! classes (`automaton`, `character_classes`), and nothing twice in vain (`dead_ends`); which branch
//! comes first stays as it is written (`branch_order`). `regex` chooses the engine; `matches` asks it
//! for match after match.

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
