//! Broken UTF-8, and characters whose bytes come one by one: what becomes of bytes that are no text.

use crate::error::{Error, ErrorKind, Result};

/// What becomes of bytes of tokens that are not UTF-8, where the text is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// They stay.
    Keep,
    /// They become U+FFFD, as many as `tokenizers` writes: one for each byte of a broken run of
    /// `<0xNN>` tokens, one for each maximal broken sequence elsewhere.
    Replace,
}

/// The text of a stream's bytes, as far as characters are whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Characters {
    begun: Vec<u8>,
    /// How many bytes came before those.
    before: usize,
}

/// What becomes of bytes that are no characters, in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Error,
    Replaced,
    Dropped,
}

impl Characters {
    /// The bytes of which not all are whole characters.
    pub(crate) fn begun(&self) -> &[u8] {
        &self.begun
    }

    /// Appends to `text` the characters that are whole with some bytes more; at the end, that is all
    /// there are.
    ///
    /// # Errors
    /// Bytes that are no characters, if that is asked for.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        broken: Broken,
        is_end: bool,
        text: &mut String,
    ) -> Result<()> {
        if self.begun.is_empty()
            && let Ok(whole) = std::str::from_utf8(bytes)
        {
            self.before += bytes.len();
            text.push_str(whole);
            return Ok(());
        }
        self.begun.extend_from_slice(bytes);
        let mut rest = self.begun.as_slice();
        while !rest.is_empty() {
            let (valid, invalid) = match std::str::from_utf8(rest) {
                Ok(valid) => (valid.len(), 0),
                Err(error) => match error.error_len() {
                    None if !is_end => (error.valid_up_to(), 0),
                    None => (error.valid_up_to(), rest.len() - error.valid_up_to()),
                    Some(length) => (error.valid_up_to(), length),
                },
            };
            text.push_str(std::str::from_utf8(&rest[..valid]).unwrap_or_default());
            match broken {
                _ if invalid == 0 => {}
                Broken::Replaced => text.push(char::REPLACEMENT_CHARACTER),
                Broken::Dropped => {}
                Broken::Error => return Err(not_text(rest[valid], self.before + valid)),
            }
            if valid + invalid == 0 {
                break;
            }
            self.before += valid + invalid;
            rest = &rest[valid + invalid..];
        }
        self.begun = rest.to_vec();
        Ok(())
    }
}

/// The error of bytes that are not UTF-8 from a position on.
pub(crate) fn not_text(byte: u8, position: usize) -> Error {
    Error::new(
        ErrorKind::Decode,
        format!("the bytes of these ids are not UTF-8: byte {byte} at position {position}"),
    )
    .hint("decode with errors=\"replace\", or decode to bytes")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn characters_are_whole(bytes in prop::collection::vec(
            prop::sample::select(b"a\xC3\xA9\xE2\x96\x81\xF0\x9F\x98\x80\xFF".to_vec()), 0..12,
        ), cuts in prop::collection::vec(0usize..12, 0..4)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            for broken in [Broken::Replaced, Broken::Dropped, Broken::Error] {
                let (mut characters, mut text) = (Characters::default(), String::new());
                let mut made = Ok(());
                for cut in cuts.windows(2) {
                    let part = &bytes[cut[0]..cut[1]];
                    made = made.and_then(|()| characters.push(part, broken, false, &mut text));
                }
                made = made.and_then(|()| characters.push(b"", broken, true, &mut text));
                match (broken, std::str::from_utf8(&bytes)) {
                    (_, Ok(whole)) => prop_assert_eq!(&text, whole),
                    (Broken::Replaced, _) => {
                        prop_assert_eq!(&text, &String::from_utf8_lossy(&bytes));
                    }
                    (Broken::Dropped, _) => {
                        let valid: String = bytes.utf8_chunks().map(|chunk| chunk.valid()).collect();
                        prop_assert_eq!(&text, &valid);
                    }
                    (Broken::Error, Err(error)) => {
                        let place = format!("position {}", error.valid_up_to());
                        prop_assert!(made.unwrap_err().to_string().contains(&place));
                    }
                }
            }
        }
    }
}
