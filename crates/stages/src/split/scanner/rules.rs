//! The known patterns as rules, and the scalar scanner that says where a piece ends.
//!
//! The published patterns are variations on one theme. A [`Rules`] value says which; the scalar
//! scanner [`Rules::piece_end`] follows it character by character, and is what the block scanner is
//! checked against and falls back on.

use super::bits::Bits;
use super::blocks::{Block, previous};
use super::classes::{
    BLANK, CLASSES, Classes, DEEPSEEK, HAN, LETTER, LOWER, MARK, MARKED, NEWLINE, NUMBER, NUMERIC,
    SPACE, UNPRINTED, UPPER,
};

/// Which characters may come before a word and belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// A blank, before letters, numbers and the rest alike (GPT-2).
    Blank,
    /// Any character but a newline, a letter or a number, before letters; a blank before the rest.
    Any,
    /// Any character but a newline, a letter, a number, punctuation or a symbol, before letters; ASCII
    /// punctuation, before ASCII letters; a blank before the rest (DeepSeek).
    Unprinted,
}

/// The greatest number of digits (`\p{N}`) in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// One.
    One,
    /// Three.
    Three,
    /// As many as are adjacent.
    All,
}

/// The table by which a pattern classes characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// As Unicode does.
    Unicode,
    /// Numbers are what Rust's own, newer tables call so.
    Numeric,
    /// Marks are letters.
    Marked,
    /// Marks are letters, and runs of kana and Chinese characters are split off first.
    DeepSeek,
}

/// Where `'s` and its like are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    /// A piece of its own; lower case only.
    Alone,
    /// A piece of its own, in either case.
    AloneAnyCase,
    /// The end of the word before it, in either case.
    Suffix,
    /// Nowhere: it is punctuation before a word.
    None,
}

/// One known pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What may come before a word.
    pub prefix: Prefix,
    /// Where contractions are split.
    pub contraction: Contraction,
    /// How characters are classed.
    pub alphabet: Alphabet,
    /// How many numbers one piece holds at most.
    pub numbers: Numbers,
    /// Numbers are split off first, so nothing else sees what is beyond them: none takes the blank
    /// before it, and white space before one stands at an end.
    pub numbers_apart: bool,
    /// Words end where a capital follows a small letter, and marks are letters.
    pub cased: bool,
    /// Slashes, like newlines, belong to the punctuation before them.
    pub slashes: bool,
    /// White space at the end of the text is one piece even if newlines are in it.
    pub final_space_whole: bool,
}

impl Rules {
    /// `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    pub const GPT2: Self = Self {
        prefix: Prefix::Blank,
        contraction: Contraction::Alone,
        alphabet: Alphabet::Unicode,
        numbers: Numbers::All,
        numbers_apart: false,
        cased: false,
        slashes: false,
        final_space_whole: true,
    };
    /// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
    pub const CL100K: Self = Self {
        prefix: Prefix::Any,
        contraction: Contraction::AloneAnyCase,
        numbers: Numbers::Three,
        ..Self::GPT2
    };
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    pub const LLAMA3: Self = Self {
        final_space_whole: false,
        ..Self::CL100K
    };
    /// As [`Self::LLAMA3`], with each number alone: `\p{N}`.
    pub const QWEN2: Self = Self {
        numbers: Numbers::One,
        ..Self::LLAMA3
    };
    /// As [`Self::QWEN2`], with marks as letters: `[\p{L}\p{M}]` for `\p{L}`.
    pub const QWEN3_5: Self = Self {
        alphabet: Alphabet::Marked,
        ..Self::QWEN2
    };
    /// o200k's: words by case, contractions at their end, `[\r\n/]*` after punctuation.
    pub const O200K: Self = Self {
        contraction: Contraction::Suffix,
        cased: true,
        slashes: true,
        ..Self::LLAMA3
    };
    /// As [`Self::O200K`], with each number alone and without contractions.
    pub const TEKKEN: Self = Self {
        contraction: Contraction::None,
        numbers: Numbers::One,
        ..Self::O200K
    };
    /// First `\p{N}{1,3}`, then `[一-龥぀-ゟ゠-ヿ]+`, then
    /// `[!-/:-@\[-\x60{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    pub const DEEPSEEK_V3: Self = Self {
        prefix: Prefix::Unprinted,
        contraction: Contraction::None,
        alphabet: Alphabet::DeepSeek,
        numbers_apart: true,
        ..Self::LLAMA3
    };

    /// As [`Self::GPT2`], for what is left after each number was split off.
    pub const GPT2_DIGITS: Self = Self {
        alphabet: Alphabet::Numeric,
        ..Self::GPT2.after_numbers(Numbers::One)
    };

    /// These rules, with this many numbers in a piece.
    pub const fn with_numbers(self, numbers: Numbers) -> Self {
        Self { numbers, ..self }
    }

    /// These rules for text whose numbers were split off before, in pieces of `numbers`.
    pub const fn after_numbers(self, numbers: Numbers) -> Self {
        Self {
            numbers,
            numbers_apart: true,
            ..self
        }
    }

    /// The classes of characters that these rules speak of.
    pub fn classes(&self) -> &'static Classes {
        match self.alphabet {
            Alphabet::Unicode => &CLASSES,
            Alphabet::Numeric => &NUMERIC,
            Alphabet::Marked => &MARKED,
            Alphabet::DeepSeek => &DEEPSEEK,
        }
    }

    /// Characters that words are made of.
    #[inline(always)]
    pub(super) fn word<B: Bits>(&self, block: &Block<B>) -> B {
        if self.cased {
            block.letter | block.mark
        } else {
            block.letter
        }
    }

    /// Characters that are punctuation and the like.
    #[inline(always)]
    pub(super) fn other<B: Bits>(&self, block: &Block<B>) -> B {
        match (self.alphabet, self.cased) {
            (Alphabet::DeepSeek, _) => block.other() & !block.unprinted(),
            (_, true) => block.other() & !block.mark,
            (_, false) => block.other(),
        }
    }

    /// Characters that are split off first: numbers, and runs of kana and Chinese characters.
    #[inline(always)]
    pub(super) fn cut_first<B: Bits>(&self, block: &Block<B>) -> B {
        if self.numbers_apart {
            block.number | self.han(block)
        } else {
            self.han(block)
        }
    }

    /// Kana and Chinese characters, if runs of them are split off first.
    #[inline(always)]
    pub(super) fn han<B: Bits>(&self, block: &Block<B>) -> B {
        match self.alphabet {
            Alphabet::DeepSeek => block.han(),
            _ => block.lead.none(),
        }
    }

    /// Where a run of kana and Chinese characters that is split off first begins, and what follows one.
    #[inline(always)]
    pub(super) fn edges<B: Bits>(&self, block: &Block<B>, before: &Block<B>) -> B {
        match self.alphabet {
            Alphabet::DeepSeek => {
                block.lead & (block.han() ^ previous(block, block.han(), before, before.han()))
            }
            _ => block.lead.none(),
        }
    }

    /// Where the piece that begins at `start` ends. `text` is valid UTF-8, `start < text.len()`.
    #[inline(always)]
    pub fn piece_end(&self, text: &[u8], start: usize) -> usize {
        let view = self.view(text, start);
        let (class, length) = view.at(start);
        if self.contraction != Contraction::Suffix
            && let Some(end) = self.contraction_end(text, start)
        {
            return end;
        }
        if class & NUMBER != 0 {
            return self.numbers_end(&view, start);
        }
        let after_blank = start + usize::from(class & BLANK != 0);
        match self.prefix {
            Prefix::Blank => {
                let (body_class, _) = view.at(after_blank);
                if body_class & LETTER != 0 {
                    return view.run_end(after_blank, is_letter);
                }
                if body_class & NUMBER != 0 {
                    return self.numbers_end(&view, after_blank);
                }
            }
            Prefix::Any => {
                if let Some(end) = self.word_end(&view, start, class, length) {
                    return end;
                }
            }
            Prefix::Unprinted => {
                if let Some(end) = unprinted_or_word_end(&view, start, class, length) {
                    return end;
                }
            }
        }
        let end = view.run_end(after_blank, |class| self.is_other(class));
        if end > after_blank {
            return end + self.attached(&view, end);
        }
        self.space_end(&view, start, length)
    }

    fn view<'t>(&self, text: &'t [u8], start: usize) -> View<'t> {
        let classes = self.classes();
        let numbers = if self.numbers_apart { NUMBER } else { 0 };
        let cut_first = match self.alphabet {
            Alphabet::DeepSeek => numbers | HAN,
            _ => numbers,
        };
        View {
            text,
            classes,
            cut_first,
            own: classes.at(text, start).0 & cut_first,
        }
    }

    /// Whether a character is punctuation or the like.
    fn is_other(&self, class: u8) -> bool {
        let others = match self.alphabet {
            Alphabet::DeepSeek => LETTER | NUMBER | SPACE | UNPRINTED,
            _ => LETTER | NUMBER | SPACE,
        };
        class & others == 0
    }

    /// How many bytes belong to the punctuation that ends at `end`.
    fn attached(&self, view: &View, end: usize) -> usize {
        let belongs = |byte: u8| match byte {
            b'\r' | b'\n' => self.prefix != Prefix::Blank,
            b'/' => self.slashes,
            _ => false,
        };
        match view.at(end) {
            (_, 0) => 0,
            _ => view.text[end..]
                .iter()
                .take_while(|&&byte| belongs(byte))
                .count(),
        }
    }

    fn numbers_end(&self, view: &View, start: usize) -> usize {
        let most = match self.numbers {
            Numbers::One => 1,
            Numbers::Three => 3,
            Numbers::All => usize::MAX,
        };
        let mut end = start;
        for _ in 0..most {
            let (class, length) = view.at(end);
            if class & NUMBER == 0 {
                break;
            }
            end += length;
        }
        end
    }

    /// Where the word at `start` ends, with the character before it that may belong to it.
    #[inline(always)]
    fn word_end(&self, view: &View, start: usize, class: u8, length: usize) -> Option<usize> {
        let may_prefix = class & (LETTER | NUMBER | NEWLINE) == 0;
        if !self.cased {
            let body = start + if may_prefix { length } else { 0 };
            let end = view.run_end(body, is_letter);
            return (end > body).then_some(end);
        }
        let after_prefix = may_prefix.then_some(start + length);
        let bodies = [after_prefix, Some(start)];
        let end = bodies
            .iter()
            .flatten()
            .find_map(|&body| mixed_case_end(view, body))
            .or_else(|| {
                bodies.iter().flatten().find_map(|&body| {
                    let end = view.run_end(body, may_be_upper);
                    (end > body).then_some(end)
                })
            })?;
        Some(self.contraction_end(view.text, end).unwrap_or(end))
    }

    /// Where the contraction that begins at `start` ends, if there is one.
    pub fn contraction_end(&self, text: &[u8], start: usize) -> Option<usize> {
        if self.contraction == Contraction::None || text.get(start) != Some(&b'\'') {
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

    fn space_end(&self, view: &View, start: usize, length: usize) -> usize {
        let (mut end, mut last, mut after_newline) = (start, start, None);
        let at_end = loop {
            let (class, length) = view.at(end);
            if class & SPACE == 0 {
                break length == 0;
            }
            last = end;
            end += length;
            if class & NEWLINE != 0 {
                after_newline = Some(end);
            }
        };
        match after_newline {
            _ if self.final_space_whole && at_end => end,
            Some(after_newline) if self.prefix != Prefix::Blank => after_newline,
            _ if at_end => end,
            _ if last > start => last,
            _ => start + length,
        }
    }
}

/// What an expression sees of a text from one place on: nothing beyond what is split off first.
struct View<'t> {
    text: &'t [u8],
    classes: &'static Classes,
    /// The classes of what is split off first.
    cut_first: u8,
    /// Those of them that are seen here.
    own: u8,
}

impl View<'_> {
    /// The class bits and the length of the character that begins at `at`; nothing at the end.
    #[inline(always)]
    fn at(&self, at: usize) -> (u8, usize) {
        match self.classes.at(self.text, at) {
            (class, _) if class & self.cut_first != self.own => (0, 0),
            found => found,
        }
    }

    /// Where the characters end that belong together from `start` on.
    #[inline(always)]
    fn run_end(&self, start: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let mut end = start;
        loop {
            let (class, length) = self.at(end);
            if length == 0 || !belongs(class) {
                return end;
            }
            end += length;
        }
    }
}

fn is_letter(class: u8) -> bool {
    class & LETTER != 0
}

/// Where the piece ends that begins at `start` under [`Prefix::Unprinted`], if it is a word with what
/// belongs to it, or something unprinted.
fn unprinted_or_word_end(view: &View, start: usize, class: u8, length: usize) -> Option<usize> {
    if view.text[start].is_ascii_punctuation() {
        let letters = view.text[start + 1..].iter();
        let count = letters
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        return (count > 0).then_some(start + 1 + count);
    }
    let may_prefix = class & (SPACE | UNPRINTED) != 0 && class & NEWLINE == 0;
    let body = start + if may_prefix { length } else { 0 };
    let end = view.run_end(body, is_letter);
    if end > body {
        return Some(end);
    }
    (class & UNPRINTED != 0).then(|| {
        let end = view.run_end(start, |class| class & UNPRINTED != 0);
        if !is_letter(view.at(end).0) {
            return end;
        }
        // The last one belongs to the word.
        let begins = |at: &usize| view.text[*at] & 0xC0 != 0x80;
        (start..end).rev().find(begins).unwrap_or(start)
    })
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
fn mixed_case_end(view: &View, start: usize) -> Option<usize> {
    let mut end = start;
    let mut after_either = None;
    loop {
        let (class, length) = view.at(end);
        if length == 0 || !may_be_upper(class) {
            break;
        }
        end += length;
        if may_be_lower(class) {
            after_either = Some(end);
        }
    }
    let lower_end = view.run_end(end, may_be_lower);
    if lower_end > end {
        return Some(lower_end);
    }
    after_either
}
