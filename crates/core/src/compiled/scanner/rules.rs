//! The known patterns as rules, and the scalar scanner that says where a piece ends.
//!
//! The published patterns are variations on one theme. A [`Rules`] value says which; the scalar
//! scanner [`Rules::piece_end`] follows it character by character, and is what the block scanner is
//! checked against and falls back on.

use super::classes::{BLANK, CLASSES, Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, SPACE, UPPER};

/// Which characters may stand before a word and belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// A blank, before letters, numbers and the rest alike (GPT-2).
    Blank,
    /// Any character but a newline, a letter or a number, before letters; a blank before the rest.
    Any,
}

/// Where `'s` and its like are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    /// A piece of its own; lower case only.
    Alone,
    /// A piece of its own, in either case.
    AloneAnyCase,
    /// The end of the word before it, in either case.
    Suffix,
}

/// One known pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What may stand before a word.
    pub prefix: Prefix,
    /// Where contractions are cut.
    pub contraction: Contraction,
    /// The most numbers that one piece holds.
    pub numbers: usize,
    /// Words end where a capital follows a small letter, and marks are letters.
    pub cased: bool,
    /// Slashes, like newlines, belong to the punctuation before them.
    pub slashes: bool,
    /// White space at the end of the text is one piece even if newlines stand in it.
    pub final_space_whole: bool,
}

impl Rules {
    /// `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    pub const GPT2: Self = Self {
        prefix: Prefix::Blank,
        contraction: Contraction::Alone,
        numbers: usize::MAX,
        cased: false,
        slashes: false,
        final_space_whole: true,
    };
    /// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
    pub const CL100K: Self = Self {
        prefix: Prefix::Any,
        contraction: Contraction::AloneAnyCase,
        numbers: 3,
        ..Self::GPT2
    };
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    pub const LLAMA3: Self = Self {
        final_space_whole: false,
        ..Self::CL100K
    };
    /// As [`Self::LLAMA3`], with each number alone: `\p{N}`.
    pub const QWEN2: Self = Self {
        numbers: 1,
        ..Self::LLAMA3
    };
    /// o200k's: words by case, contractions at their end, `[\r\n/]*` after punctuation.
    pub const O200K: Self = Self {
        contraction: Contraction::Suffix,
        cased: true,
        slashes: true,
        ..Self::LLAMA3
    };

    /// Where the piece that begins at `start` ends. `text` is valid UTF-8, `start < text.len()`.
    pub fn piece_end(&self, text: &[u8], start: usize) -> usize {
        let classes = &*CLASSES;
        let (class, length) = classes.at(text, start);
        if self.contraction != Contraction::Suffix
            && let Some(end) = self.contraction_end(text, start)
        {
            return end;
        }
        match self.prefix {
            Prefix::Blank => {
                let body = start + usize::from(class & BLANK != 0);
                let (body_class, _) = classes.at(text, body);
                for kind in [LETTER, NUMBER] {
                    if body_class & kind != 0 {
                        return run_end(classes, text, body, |class| class & kind != 0);
                    }
                }
                if body < text.len() && body_class & SPACE == 0 {
                    return run_end(classes, text, body, is_other);
                }
            }
            Prefix::Any => {
                if let Some(end) = self.word_end(classes, text, start, class, length) {
                    return end;
                }
                if class & NUMBER != 0 {
                    return self.numbers_end(classes, text, start);
                }
                let body = start + usize::from(class & BLANK != 0);
                if body < text.len() && is_other(classes.at(text, body).0) {
                    let end = run_end(classes, text, body, is_other);
                    return end + self.attached(&text[end..]);
                }
            }
        }
        self.space_end(classes, text, start, length)
    }

    /// How many of the first bytes of `rest` belong to punctuation before it.
    fn attached(&self, rest: &[u8]) -> usize {
        rest.iter()
            .take_while(|&&byte| matches!(byte, b'\r' | b'\n') || self.slashes && byte == b'/')
            .count()
    }

    fn numbers_end(&self, classes: &Classes, text: &[u8], start: usize) -> usize {
        let mut end = start;
        for _ in 0..self.numbers {
            let (class, length) = classes.at(text, end);
            if class & NUMBER == 0 {
                break;
            }
            end += length;
        }
        end
    }

    /// Where the word at `start` ends, with the character before it that may belong to it.
    fn word_end(
        &self,
        classes: &Classes,
        text: &[u8],
        start: usize,
        class: u8,
        length: usize,
    ) -> Option<usize> {
        let may_prefix = class & (LETTER | NUMBER | NEWLINE) == 0;
        if !self.cased {
            let body = start + if may_prefix { length } else { 0 };
            return (classes.at(text, body).0 & LETTER != 0)
                .then(|| run_end(classes, text, body, |class| class & LETTER != 0));
        }
        let after_prefix = may_prefix.then_some(start + length);
        let bodies = [after_prefix, Some(start)];
        let end = bodies
            .iter()
            .flatten()
            .find_map(|&body| mixed_case_end(classes, text, body))
            .or_else(|| {
                bodies.iter().flatten().find_map(|&body| {
                    let end = run_end(classes, text, body, may_be_upper);
                    (end > body).then_some(end)
                })
            })?;
        Some(self.contraction_end(text, end).unwrap_or(end))
    }

    /// Where the contraction that begins at `start` ends, if there is one.
    pub fn contraction_end(&self, text: &[u8], start: usize) -> Option<usize> {
        if text.get(start) != Some(&b'\'') {
            return None;
        }
        let any_case = self.contraction != Contraction::Alone;
        let letter = |n: usize| {
            let byte = text.get(start + n).copied().unwrap_or(0);
            if any_case {
                byte.to_ascii_lowercase()
            } else {
                byte
            }
        };
        match (letter(1), letter(2)) {
            (b's' | b'd' | b'm' | b't', _) => Some(start + 2),
            (b'l', b'l') | (b'v', b'e') | (b'r', b'e') => Some(start + 3),
            // U+017F, the long s, is an s in either case.
            (0xC5, 0xBF) if any_case => Some(start + 3),
            _ => None,
        }
    }

    fn space_end(&self, classes: &Classes, text: &[u8], start: usize, length: usize) -> usize {
        let (mut end, mut last, mut after_newline) = (start, start, None);
        loop {
            let (class, length) = classes.at(text, end);
            if class & SPACE == 0 {
                break;
            }
            last = end;
            end += length;
            if class & NEWLINE != 0 {
                after_newline = Some(end);
            }
        }
        let at_end = end == text.len();
        match after_newline {
            _ if self.final_space_whole && at_end => end,
            Some(after_newline) if self.prefix == Prefix::Any => after_newline,
            _ if at_end => end,
            _ if last > start => last,
            _ => start + length,
        }
    }
}

fn is_other(class: u8) -> bool {
    class & (LETTER | NUMBER | SPACE) == 0
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
fn may_be_upper(class: u8) -> bool {
    class & (LETTER | MARK) != 0 && class & LOWER == 0
}

/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
fn may_be_lower(class: u8) -> bool {
    class & (LETTER | MARK) != 0 && class & UPPER == 0
}

/// Where `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` ends, if it matches.
fn mixed_case_end(classes: &Classes, text: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    let mut after_either = None;
    loop {
        let (class, length) = classes.at(text, end);
        if length == 0 || !may_be_upper(class) {
            break;
        }
        end += length;
        if may_be_lower(class) {
            after_either = Some(end);
        }
    }
    let lower_end = run_end(classes, text, end, may_be_lower);
    if lower_end > end {
        return Some(lower_end);
    }
    after_either
}

#[inline(always)]
fn run_end(classes: &Classes, text: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let mut end = start;
    loop {
        let (class, length) = classes.at(text, end);
        if length == 0 || !belongs(class) {
            return end;
        }
        end += length;
    }
}
