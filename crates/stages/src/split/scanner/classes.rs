//! Character classes for the scanners: one byte of class bits per code point, by the tables of Unicode in
//! `regex-syntax`.

use regex_syntax::hir::{Class, HirKind};

use jeton_text::mem::lazy::LazyStatic;

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
/// In [`DEEPSEEK`] only: Chinese characters and kana, runs of which are split off first.
pub const HAN: u8 = UPPER;
/// In [`DEEPSEEK`] only: what is no letter, mark, number, punctuation, symbol or white space.
pub const UNPRINTED: u8 = LOWER;

/// What is in a [`Row`] where the last bytes of a character decide. No character has all bits.
pub const MIXED: u8 = !0;

/// Class bits by the low six bits of a byte: one line of the cache, one permutation.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Row(pub [u8; 64]);

/// Rows that hold all of Unicode.
const ROWS: usize = 0x11_0000 >> 6;

/// Class bits by code point, for all of Unicode.
///
/// UTF-8 has six bits in each byte but the first, so the classes are rows of 64 for the last byte
/// of a character, and for the bytes before it rows of what 64 such rows have in common: a block of
/// text names few rows, and a processor looks up all of a block's bytes in one row at a time.
pub struct Classes {
    ascii: [u8; 128],
    /// By the bits above the low six of a code point.
    last: Box<[Row; ROWS]>,
    /// By the first byte of three, for the second: the class if the third does not matter.
    middle: [Row; 16],
    /// For the first byte of several: the class if the others do not matter.
    first: Row,
}

/// The classes as Rust's `regex-syntax` has them, which is what tiktoken's patterns mean.
pub static CLASSES: LazyStatic<Classes> = LazyStatic::new(|| Classes::new(UNICODE));

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
pub static NUMERIC: LazyStatic<Classes> = LazyStatic::new(|| {
    let mut rows = rows(UNICODE);
    for character in ('\0'..=char::MAX).filter(|character| character.is_numeric()) {
        rows[character as usize >> 6].0[character as usize & 63] = NUMBER;
    }
    Classes::of_rows(rows)
});

/// The classes of patterns in which marks are letters.
pub static MARKED: LazyStatic<Classes> = LazyStatic::new(|| {
    Classes::new(&[
        (r"[\p{L}\p{M}]", LETTER),
        (r"\p{N}", NUMBER),
        (r"\s", SPACE),
        (r"[\r\n]", NEWLINE),
        (r"[ ]", BLANK),
    ])
});

/// The classes of DeepSeek's pattern, in which marks are letters.
pub static DEEPSEEK: LazyStatic<Classes> = LazyStatic::new(|| {
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

impl Row {
    /// The class that all entries have, else [`MIXED`].
    fn shared(&self) -> u8 {
        let class = self.0[0];
        if self.0.iter().all(|&other| other == class) {
            class
        } else {
            MIXED
        }
    }
}

/// The rows of all of Unicode, each character with the bits of the classes that have it.
fn rows(classes: &[(&str, u8)]) -> Box<[Row; ROWS]> {
    let rows = vec![Row([0; 64]); ROWS].into_boxed_slice();
    let Ok(mut rows) = <Box<[Row; ROWS]>>::try_from(rows) else {
        unreachable!("there are so many rows")
    };
    for (pattern, bits) in classes {
        for (first, last) in ranges(pattern) {
            for code_point in first as usize..=last as usize {
                rows[code_point >> 6].0[code_point & 63] |= bits;
            }
        }
    }
    rows
}

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
    fn new(classes: &[(&str, u8)]) -> Self {
        Self::of_rows(rows(classes))
    }

    fn of_rows(last: Box<[Row; ROWS]>) -> Self {
        let mut middle = [Row([0; 64]); 16];
        for (row, below) in middle.iter_mut().zip(last.chunks_exact(64)) {
            row.0 = std::array::from_fn(|i| below[i].shared());
        }
        // Two bytes begin with 0xC0 to 0xDF, three with 0xE0 to 0xEF; four are looked up by `of`.
        let mut first = Row([MIXED; 64]);
        for (i, row) in last[..32].iter().chain(&middle).enumerate() {
            first.0[i] = row.shared();
        }
        let mut ascii = [0; 128];
        ascii[..64].copy_from_slice(&last[0].0);
        ascii[64..].copy_from_slice(&last[1].0);
        Self {
            ascii,
            last,
            middle,
            first,
        }
    }

    /// The class bits of a code point.
    #[inline(always)]
    pub fn of(&self, code_point: u32) -> u8 {
        self.last[code_point as usize >> 6].0[code_point as usize & 63]
    }

    /// The class bits of ASCII.
    pub fn ascii(&self) -> &[u8; 128] {
        &self.ascii
    }

    /// By the low six bits of the first byte of two or three: the class bits of all characters that
    /// it begins, or [`MIXED`].
    #[inline(always)]
    pub fn by_first(&self) -> &Row {
        &self.first
    }

    /// By the low six bits of the second byte of three, of which the first is `first`: the class bits
    /// of all 64 characters that they begin, or [`MIXED`].
    #[inline(always)]
    pub fn by_second_of_three(&self, first: u8) -> &Row {
        &self.middle[usize::from(first & 0x0F)]
    }

    /// By the low six bits of the second byte of two, of which the first is `first`.
    #[inline(always)]
    pub fn by_second(&self, first: u8) -> &Row {
        &self.last[usize::from(first & 0x1F)]
    }

    /// By the low six bits of the third byte of three, of which the others are `first` and `second`.
    #[inline(always)]
    pub fn by_third(&self, first: u8, second: u8) -> &Row {
        &self.last[usize::from(first & 0x0F) << 6 | usize::from(second & 0x3F)]
    }

    /// The class bits and the length of the character that begins at `at`; nothing at the end.
    #[inline(always)]
    pub fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        match text.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[byte as usize], 1),
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
