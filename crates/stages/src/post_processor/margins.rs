//! White space at the ends of tokens, which trimming leaves out of their spans.

use jeton_text::text::Span;

/// White space at the ends of a token, which trimming leaves out of its span: how many characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    /// At the front.
    pub leading: usize,
    /// At the back.
    pub trailing: usize,
}

impl Margins {
    /// The margins of a token of raw bytes: only a space counts, since in GPT-2's printable
    /// characters no other byte is white space.
    pub fn of_bytes(token: &[u8]) -> Self {
        let spaces = |count: Option<usize>| count.unwrap_or(token.len());
        Self {
            leading: spaces(token.iter().position(|byte| *byte != b' ')),
            trailing: spaces(token.iter().rev().position(|byte| *byte != b' ')),
        }
    }

    /// The margins of a token whose spaces may be written as GPT-2 writes them.
    pub fn of_spelling(token: &[u8]) -> Self {
        // The second is GPT-2's spelling.
        const SPACES: [&[u8]; 2] = [b" ", "Ġ".as_bytes()];
        let (mut front, mut back) = (token, token);
        let (mut leading, mut trailing) = (0, 0);
        while let Some(rest) = SPACES.iter().find_map(|space| front.strip_prefix(*space)) {
            (front, leading) = (rest, leading + 1);
        }
        while let Some(rest) = SPACES.iter().find_map(|space| back.strip_suffix(*space)) {
            (back, trailing) = (rest, trailing + 1);
        }
        Self { leading, trailing }
    }

    /// The margins of a token of characters.
    pub fn of_text(token: &str) -> Self {
        let is_space = |c: &char| *c == jeton_text::printable::to_char(b' ') || c.is_whitespace();
        Self {
            leading: token.chars().take_while(is_space).count(),
            trailing: token.chars().rev().take_while(is_space).count(),
        }
    }

    /// Leaves them out of a token's span, in characters. One space in front of the first token, and of
    /// a token at the very start of the text, is the one that `add_prefix_space` put there: it has no
    /// place in the text, so nothing is split.
    pub fn leave_out(&self, span: &mut Span, is_first: bool, add_prefix_space: bool) {
        let first = is_first || span.start == 0;
        if !(first && add_prefix_space && self.leading == 1) {
            span.start = (span.start + self.leading).min(span.end);
        }
        if span.end >= self.trailing {
            span.end = (span.end - self.trailing).max(span.start);
        }
    }
}

/// Which white space at the ends of tokens is left out of their spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trimming {
    /// None.
    None,
    /// All white space.
    All,
    /// All but the space that was put in front of the text.
    BehindPrefix,
}
