//! The patterns of SuperBPE, which leave the words of a phrase together, and split numbers and runs of signs
//! from them.
//!
//! In most of a text neither pattern finds anything: that is skipped, eight bytes at a time. The rest is
//! matched by hand.

use super::scanner::{CLASSES, Classes, LETTER, NUMBER, SPACE};
use super::stretch::Stretches;
use crate::pre_tokenizer::named;
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::pattern::{Dialect, Regex};

/// What the second stage of SuperBPE is trained with: its phrases have no numbers, no runs of signs, and no
/// more than one space between words.
const SIGNS: &str = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)";

const ONES: u64 = u64::MAX / 0xFF;
const TOPS: u64 = 0x80 * ONES;
const SPACES: u64 = 0x20 * ONES;

/// A pattern of phrases.
#[derive(Clone, Debug)]
pub enum Phrases {
    /// `\p{N}+`, then this expression on each piece, which groups digits from the right. What has no digits it
    /// leaves whole.
    Numbers(Regex),
    /// [`SIGNS`].
    Signs,
}

impl Phrases {
    /// The pattern that finds what these expressions find, one after another.
    pub fn of(regexes: &[&Regex]) -> Option<Self> {
        match regexes {
            [_, digits] if named::of_splits(regexes)?.name == "superbpe" => {
                Some(Self::Numbers((*digits).clone()))
            }
            [regex] if regex.source() == SIGNS && regex.dialect() == Dialect::Oniguruma => {
                Some(Self::Signs)
            }
            _ => None,
        }
    }

    /// Calls `visit` with stretches of pieces, as a scanner does.
    ///
    /// # Errors
    /// An expression that gave up on a number.
    pub fn split(&self, text: &str, visit: impl FnMut(usize, usize, &[u64])) -> Result<()> {
        let (classes, bytes) = (&*CLASSES, text.as_bytes());
        let mut stretches = Stretches::new(visit);
        let mut at = 0;
        stretches.begin(0, u64::from(!bytes.is_empty()));
        while at < bytes.len() {
            tick();
            at = self.quiet_end(bytes, at);
            if at == bytes.len() {
                break;
            }
            let end = match self {
                Self::Numbers(_) => numbers_end(classes, bytes, at, usize::MAX),
                Self::Signs => signs_end(classes, bytes, at),
            };
            if end == at {
                let next = at + classes.at(bytes, at).1;
                at = run_end(classes, bytes, next, usize::MAX, |class| {
                    class & LETTER != 0
                });
                continue;
            }
            stretches.begin(at, 1);
            if let Self::Numbers(digits) = self {
                let number = &text[at..end];
                if number.is_ascii() {
                    let first = at + (number.len() - 1) % 3 + 1;
                    (first..end)
                        .step_by(3)
                        .for_each(|at| stretches.begin(at, 1));
                } else {
                    for found in digits.matches(number) {
                        stretches.begin(at + found?.start, 1);
                    }
                }
            }
            at = end;
            stretches.begin(at, u64::from(at < bytes.len()));
        }
        stretches.end(bytes.len());
        Ok(())
    }

    /// A place after `at` before which no match begins: of a number, of what is not ASCII, of two signs or a
    /// space and white space.
    #[inline(always)]
    fn quiet_end(&self, text: &[u8], at: usize) -> usize {
        // The top bit of each byte says what the byte is; of what is no ASCII, anything.
        let (mut end, mut last_sign, mut last_space) = (at, 0, 0);
        while let Some(eight) = text.get(end..).and_then(<[u8]>::first_chunk) {
            let bytes = u64::from_le_bytes(*eight);
            let within = |bytes: u64, first: u8, last: u8| {
                let at_least = |least: u8| (bytes & !TOPS) + u64::from(0x80 - least) * ONES;
                at_least(first) & !at_least(last + 1) & TOPS
            };
            let digits = within(bytes, b'0', b'9');
            let mut found = digits | (bytes & TOPS);
            if matches!(self, Self::Signs) {
                let letters = within(bytes | SPACES, b'a', b'z');
                let spaces = within(bytes, b' ', b' ');
                let white = spaces | within(bytes, b'\t', b'\r');
                let signs = !(digits | letters | white) & TOPS;
                found |= signs & ((signs << 8) | last_sign);
                found |= white & ((spaces << 8) | last_space);
                (last_sign, last_space) = (signs >> 56, spaces >> 56);
            }
            end += found.trailing_zeros() as usize / 8;
            if found != 0 {
                break;
            }
        }
        if matches!(self, Self::Signs) {
            // What was found may belong to a sign before it, and that to a space.
            let is_sign = |byte: u8| !(byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace());
            end -= usize::from(end > at && text[end - 1].is_ascii() && is_sign(text[end - 1]));
            end -= usize::from(end > at && text[end - 1] == b' ');
        }
        end
    }
}

/// Where the characters end, `most` of them, that belong together from `start` on.
#[inline(always)]
fn run_end(
    classes: &Classes,
    text: &[u8],
    start: usize,
    most: usize,
    belongs: impl Fn(u8) -> bool,
) -> usize {
    let (mut end, mut count) = (start, 0);
    while end < text.len() && count < most {
        let (class, length) = classes.at(text, end);
        if !belongs(class) {
            break;
        }
        (end, count) = (end + length, count + 1);
    }
    end
}

#[inline(always)]
fn numbers_end(classes: &Classes, text: &[u8], at: usize, most: usize) -> usize {
    run_end(classes, text, at, most, |class| class & NUMBER != 0)
}

/// Where the match of [`SIGNS`] that begins at `at` ends; `at` if none does.
#[inline]
fn signs_end(classes: &Classes, text: &[u8], at: usize) -> usize {
    let end = numbers_end(classes, text, at, 3);
    if end > at {
        return end;
    }
    let is_sign = |class: u8| class & (LETTER | NUMBER | SPACE) == 0;
    let body = at + usize::from(text[at] == b' ');
    let first = run_end(classes, text, body, 1, is_sign);
    if first > body {
        let end = run_end(classes, text, first, usize::MAX, is_sign);
        if end > first {
            let more = text[end..].iter();
            return end + more.take_while(|byte| b"\r\n/".contains(byte)).count();
        }
    }
    let spaces = text[at..].iter().take_while(|&&byte| byte == b' ').count();
    let end = at + spaces;
    let is_before_space = end == text.len() || classes.at(text, end).0 & SPACE != 0;
    // The last one belongs to what follows it.
    end - usize::from(spaces > 0 && !is_before_space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Where the pieces begin that expressions isolate, one after another.
    fn starts(regexes: &[&Regex], text: &str) -> Vec<usize> {
        let mut starts = vec![0, text.len()];
        for regex in regexes {
            let mut more = Vec::new();
            for piece in starts.windows(2) {
                for found in regex.matches(&text[piece[0]..piece[1]]) {
                    let found = found.unwrap();
                    more.extend([piece[0] + found.start, piece[0] + found.end]);
                }
            }
            starts.append(&mut more);
            starts.sort_unstable();
            starts.dedup();
        }
        starts.pop();
        starts
    }

    #[test]
    fn pieces_are_those_of_the_expressions() {
        let regex = |source: &str| Regex::new(source, Dialect::Oniguruma).unwrap();
        let [runs, digits] = [r"\p{N}+", r"(?=(\d{3})+(?!\d))"].map(regex);
        let signs = regex(SIGNS);
        let mut numbers = ChaCha8Rng::seed_from_u64(3);
        let parts = [
            "of the tree",
            " ",
            "  ",
            " a",
            "abcdefgh",
            "ü",
            "\n",
            "\r\n",
            ".",
            "...",
            "/",
            "1",
            "12345",
            "½",
            "٣٤٥٦",
            "12345678901",
            "\u{a0}",
            "e\u{301}",
            "漢字",
            "\t",
        ];
        for regexes in [&[&runs, &digits][..], &[&signs]] {
            let phrases = Phrases::of(regexes).unwrap();
            for _ in 0..3_000 {
                let count = numbers.random_range(1..20);
                let text: String = (0..count)
                    .map(|_| *parts.choose(&mut numbers).unwrap())
                    .collect();
                let mut found = Vec::new();
                let visit = |start: usize, length: usize, bits: &[u64]| {
                    let is_start = |at: &usize| {
                        bits.get(at / 64)
                            .is_some_and(|word| word >> (at % 64) & 1 == 1)
                    };
                    found.extend((0..length).filter(is_start).map(|at| start + at));
                };
                phrases.split(&text, visit).unwrap();
                assert_eq!(found, starts(regexes, &text), "{text:?}");
            }
        }
    }
}
