//! The tree that the crate `regex-syntax` reads a pattern as, and the plainer form that automata are built from.

use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::Translator;

pub(super) fn parse(source: &str) -> Option<Ast> {
    ast::parse::Parser::new().parse(source).ok()
}

/// The plainer form of `ast`, which is all of `source` or a part of it.
pub(super) fn to_hir(source: &str, ast: &Ast) -> Option<Hir> {
    Translator::new().translate(source, ast).ok()
}
