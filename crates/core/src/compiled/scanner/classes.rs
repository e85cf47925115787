//! What the scanners know of a character: one byte of class bits for each code point.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// `\p{L}`
pub const LETTER: u8 = 1;
/// `\p{N}`
pub const NUMBER: u8 = 1 << 1;
/// `\s`
pub const SPACE: u8 = 1 << 2;
/// `[\r\n]`
pub const NEWLINE: u8 = 1 << 3;
/// The space U+0020 itself.
pub const BLANK: u8 = 1 << 4;
/// `[\p{Lu}\p{Lt}]`
pub const UPPER: u8 = 1 << 5;
/// `\p{Ll}`
pub const LOWER: u8 = 1 << 6;
/// `\p{M}`
pub const MARK: u8 = 1 << 7;
/// In [`DEEPSEEK`] only: Chinese characters and kana, runs of which are cut out first.
pub const HAN: u8 = UPPER;
/// In [`DEEPSEEK`] only: what is no letter, mark, number, punctuation, symbol or white space.
pub const UNPRINTED: u8 = LOWER;

/// Class bits by code point, for all of Unicode.
pub struct Classes(Box<[u8]>);

/// The classes as Rust's `regex-syntax` has them, which is what tiktoken's patterns mean.
pub static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes::new(UNICODE));

const UNICODE: &[(&str, u8)] = &[
    (r"\p{L}", LETTER),
    (r"\p{N}", NUMBER),
    (r"\s", SPACE),
    (r"[\r\n]", NEWLINE),
    (r"[ ]", BLANK),
    (r"[\p{Lu}\p{Lt}]", UPPER),
    (r"\p{Ll}", LOWER),
    (r"\p{M}", MARK),
];

/// The same, but that numbers are what [`char::is_numeric`] calls so, which knows more of them.
pub static NUMERIC: LazyLock<Classes> = LazyLock::new(|| {
    let mut classes = Classes::new(UNICODE);
    for character in ('\0'..=char::MAX).filter(|character| character.is_numeric()) {
        classes.0[character as usize] = NUMBER;
    }
    classes
});

/// The classes of patterns in which marks are letters.
pub static MARKED: LazyLock<Classes> = LazyLock::new(|| {
    Classes::new(&[
        (r"[\p{L}\p{M}]", LETTER),
        (r"\p{N}", NUMBER),
        (r"\s", SPACE),
        (r"[\r\n]", NEWLINE),
        (r"[ ]", BLANK),
    ])
});

/// The classes of DeepSeek's pattern, in which marks are letters.
pub static DEEPSEEK: LazyLock<Classes> = LazyLock::new(|| {
    Classes::new(&[
        (r"[\p{L}\p{M}]", LETTER),
        (r"\p{N}", NUMBER),
        (r"\s", SPACE),
        (r"[\r\n]", NEWLINE),
        (r"[ ]", BLANK),
        (r"[一-龥぀-ヿ]", HAN),
        (r"[^\s\p{L}\p{M}\p{N}\p{P}\p{S}]", UNPRINTED),
    ])
});

/// The code points of a class, as ranges.
fn ranges(pattern: &str) -> Vec<(u32, u32)> {
    let hir = regex_syntax::parse(pattern).expect("a class that regex-syntax knows");
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class
            .iter()
            .map(|range| (range.start() as u32, range.end() as u32))
            .collect(),
        HirKind::Literal(literal) => vec![(u32::from(literal.0[0]), u32::from(literal.0[0]))],
        _ => unreachable!("{pattern} is a class"),
    }
}

impl Classes {
    fn new(bits: &[(&str, u8)]) -> Self {
        let mut table = vec![0u8; 0x110000].into_boxed_slice();
        for (pattern, bits) in bits {
            for (first, last) in ranges(pattern) {
                for entry in &mut table[first as usize..=last as usize] {
                    *entry |= bits;
                }
            }
        }
        Self(table)
    }

    /// The class bits of a code point.
    #[inline(always)]
    pub fn of(&self, code_point: u32) -> u8 {
        self.0[code_point as usize]
    }

    /// The class bits of ASCII.
    pub fn ascii(&self) -> &[u8; 128] {
        self.0[..128].try_into().expect("the table is longer")
    }

    /// The class bits and the length of the character that begins at `at`; nothing at the end.
    #[inline(always)]
    pub fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        match text.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.0[byte as usize], 1),
            Some(_) => {
                let (code_point, length) = decode(text, at);
                (self.of(code_point), length)
            }
        }
    }
}

/// The code point and the length of the non-ASCII character that begins at `at` of valid UTF-8.
#[inline(always)]
pub fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let tail = |n: usize| u32::from(text[at + n] & 0x3F);
    match text[at] {
        lead @ ..0xE0 => ((u32::from(lead) & 0x1F) << 6 | tail(1), 2),
        lead @ ..0xF0 => ((u32::from(lead) & 0x0F) << 12 | tail(1) << 6 | tail(2), 3),
        lead => (
            (u32::from(lead) & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3),
            4,
        ),
    }
}
