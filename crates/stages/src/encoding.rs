//! The result of encoding with more than ids: one column per attribute, one entry per token.

use std::ops::Range;

use jeton_text::text::Span;

/// The tokens of a text, each with its span in the text.
///
/// All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The ids.
    pub ids: Vec<u32>,
    /// Where each token came from, in the unit that was requested.
    pub spans: Vec<Span>,
    /// Which piece of the text each token belongs to; `None` for tokens the post-processor added.
    pub word_ids: Vec<Option<u32>>,
    /// 0 for the first text and 1 for the second, or as a template says.
    pub type_ids: Vec<u32>,
    /// Which text each token came from; `None` for tokens the post-processor added.
    pub sequence_ids: Vec<Option<u32>>,
    /// Whether the post-processor added the token.
    pub special_tokens_mask: Vec<bool>,
    /// Not a column: which tokens came from which text, in order. A template may hold a text twice, and
    /// `sequence_ids` have the last occurrence only, as those of `tokenizers`.
    pub texts: Vec<(u32, Range<usize>)>,
}

impl Encoding {
    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
