//! A file of ranks, read and written.
//!
//! Sound files are read in one pass; others again, line by line, for what is wrong with them.

use std::cell::Cell;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use jeton_stages::vocab::{ABSENT, MAX_ID, Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// The ranks in a file.
///
/// Lines end as tiktoken reads them (`\n`, `\r\n` or `\r`), and empty ones are passed over. The
/// base64 must be whole and canonical, so that a damaged file is refused rather than misread.
///
/// ```
/// use jeton_formats::tiktoken;
///
/// let ranks = tiktoken::read_ranks(b"YQ== 0\nYg== 1\nYWI= 2\n")?;
/// assert_eq!(ranks.id(b"ab"), Some(2));
///
/// let error = tiktoken::read_ranks(b"YQ== 0\nYg==\n").unwrap_err();
/// assert_eq!(error.to_string(), "line 2: no rank after the token \"Yg==\"");
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// The first line that is not a token and a rank, or that contradicts one before it.
pub fn read_ranks(data: &[u8]) -> Result<Vocab> {
    match read_plain(data) {
        Some(vocab) => Ok(vocab),
        None => read_lines(data),
    }
}

/// The ranks in a file whose lines are all as the published files have them, which is most quickly
/// read: a token, a space, a rank, `\n`. `None` for any other file, broken ones too.
fn read_plain(data: &[u8]) -> Option<Vocab> {
    let mut bytes = vec![0; data.len() / 4 * 3 + 4];
    let mut ranges = Vec::with_capacity(data.len() / 16);
    let (mut start, mut rest) = (0, data);
    while !rest.is_empty() {
        let mut end = start;
        let last = loop {
            let (letters, behind) = rest.split_first_chunk()?;
            let value = sextets(letters);
            if value >= NO_LETTER {
                break letters;
            }
            bytes[end..end + 4].copy_from_slice(&(value << 8).to_be_bytes());
            (end, rest) = (end + 3, behind);
        };
        if let &[a, b, c, b'='] = last {
            let (value, length) = match c {
                b'=' => (sextets(&[a, b, b'A', b'A']), 1),
                _ => (sextets(&[a, b, c, b'A']), 2),
            };
            if value >= NO_LETTER || value << (8 + 8 * length) != 0 {
                return None;
            }
            bytes[end..end + 4].copy_from_slice(&(value << 8).to_be_bytes());
            (end, rest) = (end + length, &rest[4..]);
        }
        let behind = rest.strip_prefix(b" ")?;
        let digits = behind
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (number, behind) = behind.split_at(digits);
        if !(1..=8).contains(&digits) || end == start {
            return None;
        }
        let rank = number
            .iter()
            .fold(0, |rank, digit| 10 * rank + usize::from(digit - b'0'));
        if rank >= ranges.len() {
            if rank > MAX_ID as usize {
                return None;
            }
            ranges.resize(rank + 1, ABSENT);
        }
        if std::mem::replace(&mut ranges[rank], (start as u32, end as u32)) != ABSENT {
            return None;
        }
        start = end;
        rest = match behind.split_first() {
            Some((b'\n', next)) => next,
            None => behind,
            _ => return None,
        };
    }
    bytes.truncate(start);
    Vocab::of_ranges(bytes, ranges)
}

/// What [`sextets`] of anything else than four letters is no less than.
const NO_LETTER: u32 = 1 << 24;

/// The 24 bits that four letters of base64 encode.
#[inline(always)]
fn sextets(letters: &[u8; 4]) -> u32 {
    /// The six bits of each letter.
    const BITS: [u32; 256] = {
        let mut bits = [NO_LETTER; 256];
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut value = 0;
        while value < letters.len() {
            bits[letters[value] as usize] = value as u32;
            value += 1;
        }
        bits
    };
    let [a, b, c, d] = letters.map(|letter| BITS[usize::from(letter)]);
    // A byte outside the alphabet is found at any of the four positions, although shifts may drop its bit.
    (a << 18 | b << 12 | c << 6 | d) | (a | b | c | d) & NO_LETTER
}

/// The ranks in any file, line by line.
fn read_lines(data: &[u8]) -> Result<Vocab> {
    let mut bytes = Vec::with_capacity(data.len());
    let mut entries = Vec::with_capacity(data.len() / 16);
    let mut failure = None;
    for (number, line) in lines(data).filter(|(_, line)| !line.is_empty()) {
        match read_line(line, &mut bytes) {
            Ok(rank) => entries.push((bytes.len(), rank, number)),
            Err(error) => {
                failure = Some(error.at(format!("line {number}")));
                break;
            }
        }
    }
    let at = Cell::new(0);
    let mut start = 0;
    let vocab = Vocab::new(entries.iter().map(|&(end, rank, number)| {
        at.set(number);
        (&bytes[std::mem::replace(&mut start, end)..end], rank)
    }));
    // Lines that contradict each other come before the one that ended the reading.
    let vocab = vocab.map_err(|error| error.at(format!("line {}", at.get())))?;
    failure.map_or(Ok(vocab), Err)
}

/// Appends the token of a line to `bytes`; returns its rank.
fn read_line(line: &[u8], bytes: &mut Vec<u8>) -> Result<u32> {
    let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
    let mut fields = line
        .split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty());
    let Some(base64) = fields.next() else {
        return broken("no token and no rank".to_owned());
    };
    let Some(rank) = fields.next() else {
        return broken(format!("no rank after the token {}", excerpt(base64)));
    };
    if let Some(more) = fields.next() {
        return broken(format!("{} after the rank", excerpt(more)));
    }
    let start = bytes.len();
    if BASE64_STANDARD.decode_vec(base64, bytes).is_err() {
        return broken(format!("the token {} is not base64", excerpt(base64)));
    }
    if bytes.len() == start {
        return broken("the token is empty".to_owned());
    }
    let digits = rank.iter().all(u8::is_ascii_digit);
    match std::str::from_utf8(rank)
        .ok()
        .filter(|_| digits)
        .map(str::parse)
    {
        Some(Ok(rank)) => Ok(rank),
        Some(Err(_)) => broken(format!("the rank {} is too large", excerpt(rank))),
        None => broken(format!("the rank {} is not a number", excerpt(rank))),
    }
}

/// The lines of a file with their numbers from 1, without their ends.
fn lines(data: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = data;
    let mut number = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        number += 1;
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after
            .strip_prefix(b"\r\n")
            .unwrap_or_else(|| after.get(1..).unwrap_or_default());
        Some((number, line))
    })
}

/// A field as messages show it: no more than the beginning.
fn excerpt(field: &[u8]) -> String {
    /// Characters that are shown.
    const MAX_SHOWN: usize = 40;
    match field.get(..MAX_SHOWN) {
        Some(beginning) if field.len() > MAX_SHOWN => format!("{}…", show(beginning)),
        _ => show(field),
    }
}

/// Ranks as a file, byte for byte as the published files are laid out. Those that a tokenizer has as
/// special tokens are not among them: who reads the file says them.
pub fn write_ranks(ranks: &Vocab) -> Vec<u8> {
    let mut data = Vec::new();
    for (token, rank) in ranks.texts() {
        data.extend_from_slice(BASE64_STANDARD.encode(token).as_bytes());
        data.extend_from_slice(format!(" {rank}\n").as_bytes());
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_tiktoken_reads_them() {
        let ranks = read_ranks(b"YQ== 0\r\n\r\nYg==\t1\rYw==  2\n\n ZA== 3").unwrap();
        let tokens: Vec<_> = ranks.iter().map(|(token, _)| token.to_vec()).collect();
        assert_eq!(tokens, [b"a", b"b", b"c", b"d"]);
    }

    #[test]
    fn written_files_equal_the_files_read() {
        let file = b"YQ== 0\nYg== 1\nYWI= 7\n4oI= 9\n";
        assert_eq!(write_ranks(&read_ranks(file).unwrap()), file);
    }

    #[test]
    fn plain_files_are_read_as_line_by_line() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = bytes.chain(["ab", "the", "abcd", " token", "ein Wort"].map(Vec::from));
        let file = write_ranks(&Vocab::new(tokens.zip(0..)).unwrap());
        assert_eq!(read_plain(&file), read_lines(&file).ok());
        let mut plain = 0;
        for at in 0..file.len() {
            for byte in *b"\n\r \t=A/+0917\xff" {
                let mut file = file.clone();
                file[at] = byte;
                let Some(ranks) = read_plain(&file) else {
                    continue;
                };
                plain += 1;
                assert_eq!(Some(ranks), read_lines(&file).ok(), "{byte} at {at}");
            }
        }
        assert!(plain > file.len(), "{plain}");
        assert!(read_plain(b"YQ== 0\nYWI= 1").is_some());
        for no_plain in [
            "YQ== 0\r\n",
            "YQ==  0\n",
            "\nYQ== 0\n",
            "YR== 0\n",
            "YWJ= 0\n",
            "YQ 0\n",
        ] {
            assert!(read_plain(no_plain.as_bytes()).is_none(), "{no_plain}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let cases: &[(&str, &[u8], &str)] = &[
            (
                "bad base64",
                b"YQ== 0\n?? 1\n",
                "line 2: the token \"??\" is not base64",
            ),
            (
                "cut base64",
                b"YQ 0\n",
                "line 1: the token \"YQ\" is not base64",
            ),
            (
                "missing rank",
                b"\n\nYQ==\n",
                "line 3: no rank after the token \"YQ==\"",
            ),
            (
                "truncated",
                b"YQ== 0\r\nYg",
                "line 2: no rank after the token \"Yg\"",
            ),
            ("no token", b"YQ== 0\n   \n", "line 2: no token and no rank"),
            (
                "words",
                b"YQ== one\n",
                "line 1: the rank \"one\" is not a number",
            ),
            (
                "negative",
                b"YQ== -1\n",
                "line 1: the rank \"-1\" is not a number",
            ),
            (
                "huge",
                b"YQ== 99999999999\n",
                "line 1: the rank \"99999999999\" is too large",
            ),
            (
                "past the limit",
                b"YQ== 16777216\n",
                "line 1: token \"a\" has id 16777216, past the largest supported id 16777215",
            ),
            (
                "three fields",
                b"YQ== 0 x\n",
                "line 1: \"x\" after the rank",
            ),
            (
                "not UTF-8",
                b"YQ== 0\n\xff\xfe 1\n",
                "line 2: the token b\"\\xff\\xfe\" is not base64",
            ),
            (
                "twice a rank",
                b"YQ== 0\nYg== 0\nYw==",
                "line 2: id 0 is used for both \"a\" and \"b\"",
            ),
            (
                "twice a token",
                b"YQ== 0\nYg== 1\nYQ== 2\n",
                "line 3: token \"a\" has two ids, 0 and 2",
            ),
        ];
        for (name, file, message) in cases {
            let error = read_ranks(file).expect_err(name);
            assert_eq!(error.to_string(), *message, "{name}");
            assert_eq!(error.kind(), ErrorKind::Format, "{name}");
        }
    }
}
