//! `\w` of Oniguruma, which is another set to `regex-syntax`, spelled out in brackets.

use regex_syntax::ast::{self, Ast};

use super::syntax::parse;

/// The characters that `\w` matches in Oniguruma. Within brackets it matches a few numbers less.
pub const WORD: &str = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾]";
pub const WORD_IN_BRACKETS: &str = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]";

fn bracketed(source: &str) -> Option<Box<ast::ClassBracketed>> {
    match &parse(source)? {
        Ast::ClassBracketed(class) => Some(class.clone()),
        _ => None,
    }
}

/// Puts [`WORD`] where `ast` has `\w`, which is yet another set to `regex-syntax`.
pub fn spell_words_out(ast: &mut Ast) -> Option<()> {
    let is_word = |class: &ast::ClassPerl| class.kind == ast::ClassPerlKind::Word;
    match ast {
        Ast::ClassPerl(class) if is_word(class) => {
            let mut word = bracketed(WORD)?;
            word.negated = class.negated;
            *ast = Ast::ClassBracketed(word);
        }
        Ast::ClassBracketed(class) => {
            if let ast::ClassSet::Item(item) = &mut class.kind {
                spell_words_of_set_out(item)?;
            }
        }
        Ast::Repetition(repetition) => spell_words_out(&mut repetition.ast)?,
        Ast::Group(group) => spell_words_out(&mut group.ast)?,
        Ast::Alternation(alternation) => {
            alternation.asts.iter_mut().try_for_each(spell_words_out)?
        }
        Ast::Concat(concat) => concat.asts.iter_mut().try_for_each(spell_words_out)?,
        _ => {}
    }
    Some(())
}

/// The same within brackets; a `\W` there is left as it is.
fn spell_words_of_set_out(item: &mut ast::ClassSetItem) -> Option<()> {
    match item {
        ast::ClassSetItem::Perl(class)
            if class.kind == ast::ClassPerlKind::Word && !class.negated =>
        {
            if let ast::ClassSet::Item(letters) = &bracketed(WORD_IN_BRACKETS)?.kind {
                *item = letters.clone();
            }
        }
        ast::ClassSetItem::Union(union) => {
            union
                .items
                .iter_mut()
                .try_for_each(spell_words_of_set_out)?;
        }
        _ => {}
    }
    Some(())
}
