//! Rewriting the text of a token. Bytes that are not UTF-8 stay as they are.

use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::pattern::SearchPattern;

/// Rewrites each stretch of text in `token`.
pub(super) fn in_text(token: &mut Vec<u8>, mut rewrite: impl FnMut(&str) -> String) {
    tick();
    if let Ok(text) = std::str::from_utf8(token) {
        *token = rewrite(text).into_bytes();
        return;
    }
    let mut rewritten = Vec::with_capacity(token.len());
    for chunk in token.utf8_chunks() {
        rewritten.extend_from_slice(rewrite(chunk.valid()).as_bytes());
        rewritten.extend_from_slice(chunk.invalid());
    }
    *token = rewritten;
}

/// Replaces each match of `pattern` by `content`, no further than until there are more than `max_bytes`
/// bytes; text without characters has no matches.
pub(super) fn replace_matches(
    token: &mut Vec<u8>,
    pattern: &SearchPattern,
    content: &str,
    max_bytes: usize,
) -> Result<()> {
    let mut failed = Ok(());
    let mut written = 0;
    in_text(token, |text| {
        let mut replaced = String::with_capacity(text.len());
        let mut done = 0;
        for found in pattern.matches(text).take_while(|_| !text.is_empty()) {
            match found {
                Ok(range) => {
                    replaced.push_str(&text[done..range.start]);
                    replaced.push_str(content);
                    done = range.end;
                    if written + replaced.len() > max_bytes {
                        break;
                    }
                }
                Err(error) => failed = Err(error),
            }
        }
        replaced.push_str(&text[done..]);
        written += replaced.len();
        replaced
    });
    failed
}

/// The space before punctuation and English contractions removed.
pub(super) fn clean_up(text: &str) -> String {
    const CHANGES: [(&str, &str); 11] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" do not", " don't"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    CHANGES.iter().fold(text.to_owned(), |text, (from, to)| {
        if text.contains(from) {
            text.replace(from, to)
        } else {
            text
        }
    })
}

/// Removes `content` at both ends, up to `start` and `stop` times.
pub(super) fn strip(token: &mut Vec<u8>, content: char, start: usize, stop: usize) {
    let mut buffer = [0; 4];
    let content = content.encode_utf8(&mut buffer).as_bytes();
    let mut rest = token.as_slice();
    for _ in 0..stop {
        match rest.strip_suffix(content) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    for _ in 0..start {
        match rest.strip_prefix(content) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    *token = rest.to_vec();
}
