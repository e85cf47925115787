//! Stands in for the library where it is not linked: no expression compiles, so none is searched for.

use super::Tried;

/// An expression, of which there is none.
pub(crate) enum Expression {}

impl Expression {
    pub(crate) fn initialize() {}

    pub(in crate::pattern) fn new(_: &str) -> Result<Self, String> {
        Err("it is not part of this build".to_owned())
    }

    pub(in crate::pattern) fn is_accepted_by_oniguruma(_: &str) -> bool {
        false
    }
}

/// What would search for an expression.
pub(in crate::pattern) struct Searcher;

impl Searcher {
    pub(in crate::pattern) fn new() -> Self {
        Self
    }

    pub(in crate::pattern) fn set_limits(&mut self, _: u32, _: u32) {}

    pub(in crate::pattern) fn find(
        &mut self,
        expression: &Expression,
        _: &str,
        _: usize,
        _: bool,
    ) -> Tried {
        match *expression {}
    }
}
