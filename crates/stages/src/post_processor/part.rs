//! Tokens on their way through the post-processors, joined at the end.

use std::collections::BTreeMap;
use std::ops::Range;

use super::margins::Margins;
use crate::encoding::Encoding;
use jeton_text::interrupt::{append, filled};
use jeton_text::text::Span;

/// Tokens on their way through the post-processors: those of one text, or special tokens.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The tokens.
    pub(super) encoding: Encoding,
    /// The margins of each token.
    margins: Vec<Margins>,
    /// Which rows came from which text.
    texts: BTreeMap<u32, Range<usize>>,
}

impl Part {
    /// The tokens of a text; `margins` may be left out where nothing trims.
    pub fn new(encoding: Encoding, mut margins: Vec<Margins>) -> Self {
        if margins.is_empty() {
            margins = filled(Margins::default(), encoding.len());
        }
        Self {
            encoding,
            margins,
            texts: BTreeMap::new(),
        }
    }

    /// Says that all of these tokens came from a text.
    pub(super) fn is_text(&mut self, number: u32) {
        self.texts.insert(number, 0..self.encoding.len());
    }

    /// Puts a special token before, unless there is none, and one after the tokens, which came
    /// from the text of that number.
    pub(super) fn wrap(&mut self, number: u32, before: Option<u32>, after: u32, type_id: u32) {
        self.encoding.special_tokens_mask.fill(false);
        let start = usize::from(before.is_some());
        self.texts = BTreeMap::from([(number, start..start + self.encoding.len())]);
        if let Some(id) = before {
            self.insert_special(0, id, type_id);
        }
        self.insert_special(self.encoding.len(), after, type_id);
    }

    pub(super) fn insert_special(&mut self, row: usize, id: u32, type_id: u32) {
        let encoding = &mut self.encoding;
        encoding.ids.insert(row, id);
        encoding.spans.insert(row, Span::default());
        encoding.word_ids.insert(row, None);
        encoding.type_ids.insert(row, type_id);
        encoding.sequence_ids.insert(row, None);
        encoding.special_tokens_mask.insert(row, true);
        // It comes before or after a text, never in one.
        for (_, rows) in encoding
            .texts
            .iter_mut()
            .filter(|(_, rows)| rows.start >= row)
        {
            *rows = rows.start + 1..rows.end + 1;
        }
        self.margins.insert(row, Margins::default());
    }

    /// Leaves the margins out of the spans.
    pub(super) fn trim(&mut self, add_prefix_space: bool) {
        let rows = self.encoding.spans.iter_mut().zip(&self.margins);
        for (row, (span, margins)) in rows.enumerate() {
            margins.leave_out(span, row == 0, add_prefix_space);
        }
    }
}

/// Gives each text its number, as the type id of its tokens too.
pub fn number(parts: &mut [Part]) {
    for (number, part) in (0..).zip(parts) {
        part.encoding.type_ids.fill(number);
        part.encoding.texts = vec![(number, 0..part.encoding.len())];
        part.is_text(number);
    }
}

/// Joins the parts; rows that more than one text claims belong to the one with the greatest number.
pub fn merge(parts: Vec<Part>) -> Encoding {
    let mut joined = Encoding::default();
    let mut texts: BTreeMap<u32, Range<usize>> = BTreeMap::new();
    for Part {
        encoding,
        texts: of_part,
        ..
    } in parts
    {
        let start = joined.len();
        texts.extend(
            of_part
                .into_iter()
                .map(|(number, rows)| (number, start + rows.start..start + rows.end)),
        );
        if start == 0 {
            joined = encoding;
            continue;
        }
        append(&mut joined.ids, &encoding.ids);
        append(&mut joined.spans, &encoding.spans);
        append(&mut joined.word_ids, &encoding.word_ids);
        append(&mut joined.type_ids, &encoding.type_ids);
        let texts = encoding.texts.into_iter();
        joined
            .texts
            .extend(texts.map(|(number, rows)| (number, start + rows.start..start + rows.end)));
        append(
            &mut joined.special_tokens_mask,
            &encoding.special_tokens_mask,
        );
    }
    joined.sequence_ids = filled(None, joined.len());
    // As in `tokenizers`, texts are counted first and then looked up by number: one that a
    // template leaves out claims every row.
    for number in 0..texts.len().max(1) as u32 {
        let rows = texts.get(&number).cloned().unwrap_or(0..joined.len());
        joined.sequence_ids[rows].fill(Some(number));
    }
    joined
}
