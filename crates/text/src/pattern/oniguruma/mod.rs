//! Oniguruma's regular expressions, as far as patterns need them.
//!
//! Look here for builds without C. The library is written in C, which a build for WebAssembly has no
//! compiler for: there nothing compiles (`absent`), and a pattern that no automaton runs is refused.

#[cfg(target_family = "wasm")]
mod absent;
#[cfg(not(target_family = "wasm"))]
mod library;

use std::ops::Range;

#[cfg(target_family = "wasm")]
pub(crate) use self::absent::Expression;
#[cfg(target_family = "wasm")]
pub(super) use self::absent::Searcher;
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::library::Expression;
#[cfg(not(target_family = "wasm"))]
pub(super) use self::library::Searcher;

/// Whether this build has the library.
pub(super) const IS_LINKED: bool = !cfg!(target_family = "wasm");

/// The result of a try.
pub(super) enum Tried {
    /// It was made; a match, if there is one.
    Done(Option<Range<usize>>),
    /// It was given up when it reached its limit of steps.
    GivenUp,
    /// It was given up when it reached its limit of places to come back to.
    #[cfg_attr(
        target_family = "wasm",
        expect(dead_code, reason = "no library says so")
    )]
    Full,
    /// It went wrong, in the words of the library.
    Failed(String),
}
