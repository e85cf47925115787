//! Builds an encoding with its columns, token by token.

use jeton_stages::encoding::Encoding;
use jeton_stages::post_processor::Margins;
use jeton_text::text::{Span, Unit, UnitIndex};

/// An encoding to which tokens are added.
pub(super) struct EncodingBuilder {
    pub(super) encoding: Encoding,
    /// The margins of each token, where they are requested.
    pub(super) margins: Vec<Margins>,
    unit: Unit,
    index: UnitIndex,
    /// The end of the text, in bytes.
    end: usize,
    word: u32,
    /// The number of the word that the whole text is, if the caller split it into words.
    whole_word: Option<u32>,
}

impl EncodingBuilder {
    pub(super) fn new(unit: Unit) -> Self {
        Self {
            encoding: Encoding::default(),
            margins: Vec::new(),
            unit,
            index: UnitIndex::new("", unit),
            end: 0,
            word: 0,
            whole_word: None,
        }
    }

    /// Begins a text: the tokens that follow are its.
    pub(super) fn begin(&mut self, text: &str, whole_word: Option<u32>) {
        self.index = UnitIndex::new(text, self.unit);
        self.end = text.len();
        self.whole_word = whole_word;
    }

    pub(super) fn push(&mut self, id: u32, span: Span) {
        // The bytes of an end-of-word suffix that the vocabulary lacks count as text.
        let span = Span::new(span.start.min(self.end), span.end.min(self.end));
        self.encoding.ids.push(id);
        self.encoding.spans.push(self.index.of(span));
        let word = self.whole_word.unwrap_or(self.word);
        self.encoding.word_ids.push(Some(word));
        self.encoding.type_ids.push(0);
        self.encoding.sequence_ids.push(Some(0));
        self.encoding.special_tokens_mask.push(false);
    }

    pub(super) fn end_word(&mut self) {
        self.word += 1;
    }
}
