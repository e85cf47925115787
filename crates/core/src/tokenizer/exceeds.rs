//! Whether a text has more than a given number of tokens, which its beginning may decide.

use super::{EncodeOptions, Tokenizer};
use jeton_fast::Place;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_text::error::Result;

/// Bytes of text that are encoded at a time, at least and at most and about; and bytes for each token
/// that is still missing.
const MIN_BYTES: usize = 1 << 10;
const MAX_BYTES: usize = 1 << 16;
const BYTES_PER_TOKEN: usize = 4;

impl Tokenizer {
    /// Whether a text has more than `most` tokens. The text is read up to where that is known, or
    /// whole where its tokens are not known part by part.
    ///
    /// # Errors
    /// As [`Tokenizer::count`], of what is read.
    pub fn exceeds(&self, text: &str, most: usize, options: &EncodeOptions) -> Result<bool> {
        let frames = (
            self.frame(options.add_special_tokens),
            self.frame(false)
                .map(|(before, after)| before.len() + after.len()),
        );
        let (Some((before, after)), Some(0)) = frames else {
            return Ok(self.count(text, options)? > most);
        };
        let around = before.len() + after.len();
        let own = EncodeOptions {
            add_special_tokens: false,
            ..options.clone()
        };
        // What is wrong with a text is said whatever is around it.
        let exceeds = self.text_exceeds(text, most.saturating_sub(around), &own)?;
        Ok(exceeds || around > most)
    }

    /// As [`Tokenizer::exceeds`], with nothing around the text.
    fn text_exceeds(&self, text: &str, most: usize, options: &EncodeOptions) -> Result<bool> {
        let raises = matches!(
            options.special,
            SpecialPolicy::Raise | SpecialPolicy::Only(_)
        );
        let compiled = self.compiled.as_ref();
        if text.len() <= most
            && !raises
            && compiled.is_some_and(|compiled| compiled.tokens_are_bytes_of_text())
        {
            return Ok(false);
        }
        let (mut start, mut count) = (0, 0);
        loop {
            let missing = (most - count).saturating_add(1);
            let reach = missing
                .saturating_mul(BYTES_PER_TOKEN)
                .clamp(MIN_BYTES, MAX_BYTES);
            let end = if text.len() - start <= 2 * reach {
                text.len()
            } else {
                self.split_point(text, start, reach, options)
            };
            let place = match start {
                0 => Place::First,
                _ => Place::Inner,
            };
            let part = &text[start..end];
            count += self.count_part(part, place, end == text.len(), options)?;
            if count > most || end == text.len() {
                return Ok(count > most);
            }
            start = end;
        }
    }
}
