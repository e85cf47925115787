//! `<0xNN>` tokens, which spell the bytes of characters that a vocabulary lacks.

use super::invalid::Invalid;
use jeton_text::interrupt::paced;

/// Makes each run of byte tokens one token, if it is UTF-8.
pub(super) fn join_runs(tokens: Vec<Vec<u8>>, invalid: Invalid) -> Vec<Vec<u8>> {
    let mut joined = Vec::with_capacity(tokens.len());
    let mut run = Vec::new();
    for token in paced(tokens.into_iter()) {
        match byte_of(&token) {
            Some(byte) => run.push(byte),
            None => {
                end_run(&mut run, &mut joined, invalid);
                joined.push(token);
            }
        }
    }
    end_run(&mut run, &mut joined, invalid);
    joined
}

fn end_run(run: &mut Vec<u8>, joined: &mut Vec<Vec<u8>>, invalid: Invalid) {
    let run = std::mem::take(run);
    match std::str::from_utf8(&run) {
        Ok("") => {}
        Ok(_) => joined.push(run),
        Err(_) => joined.extend(run.into_iter().map(|byte| match invalid {
            Invalid::Keep => vec![byte],
            Invalid::Replace => "\u{FFFD}".into(),
        })),
    }
}

/// The byte that a token spells. A sign counts as a digit, as it does in `tokenizers`: `<0x+A>`
/// is byte 10.
pub(super) fn byte_of(token: &[u8]) -> Option<u8> {
    let digits = token.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let digits = std::str::from_utf8(digits).ok().filter(|d| d.len() == 2)?;
    u8::from_str_radix(digits, 16).ok()
}
