//! Splitting where the script changes, as SentencePiece's trainer does: Hiragana, Katakana and Han
//! are one script, and spaces belong to their neighbours.
//!
//! The scripts are those of Unicode 9, as in `tokenizers`. For the characters of Unicode 9 they are
//! today's, except for four; newer characters belong to no script, like
//! a space.

use std::ops::Range;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};
use unicode_script::{Script, UnicodeScript};

use jeton_text::mem::lazy::LazyStatic;

/// Splits `text` where a script begins, and appends where the pieces lie. What comes before the first
/// character that has a script is dropped, and so is a text without any: so does `tokenizers`.
pub(super) fn cut(text: &str, pieces: &mut Vec<Range<usize>>) {
    let mut last = None;
    let mut begins: Option<usize> = None;
    for (at, character) in text.char_indices() {
        let script = script_in_unicode_9(character);
        if script.is_some() && script != last {
            pieces.extend(begins.map(|start| start..at));
            begins = Some(at);
            last = script;
        }
    }
    pieces.extend(begins.map(|start| start..text.len()));
}

fn script_in_unicode_9(character: char) -> Option<Script> {
    match character {
        ' ' => None,
        'A'..='Z' | 'a'..='z' => Some(Script::Latin),
        '\0'..='\x7f' => Some(Script::Common),
        // The prolonged sound mark is common to Hiragana and Katakana.
        'ー' => Some(Script::Han),
        // Four that belong to another script since.
        '\u{589}' | '\u{61C}' => Some(Script::Common),
        '\u{953}' | '\u{954}' => Some(Script::Devanagari),
        _ if !is_in_unicode_9(character) => None,
        _ => match character.script() {
            Script::Hiragana | Script::Katakana => Some(Script::Han),
            Script::Unknown => None,
            script => Some(script),
        },
    }
}

static UNICODE_9: LazyStatic<ClassUnicode> =
    LazyStatic::new(
        || match regex_syntax::parse(r"\p{age:9.0}").map(|hir| hir.into_kind()) {
            Ok(HirKind::Class(Class::Unicode(class))) => class,
            _ => unreachable!("the expression is a class of characters"),
        },
    );

fn is_in_unicode_9(character: char) -> bool {
    let ranges = UNICODE_9.ranges();
    let after = ranges.partition_point(|range| range.end() < character);
    ranges
        .get(after)
        .is_some_and(|range| range.start() <= character)
}
