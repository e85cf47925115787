//! Words merged from tables and from files on disk, put into the order in which they first occurred.

use super::counts::WordCounts;
use super::table::Entry;

/// Words that come in the order of their bytes.
#[derive(Default)]
pub(super) struct MergedWords {
    text: Vec<u8>,
    /// Where each word first occurred, where it begins in `text` and how long it is, and its count.
    words: Vec<(u64, usize, usize, u64)>,
}

impl MergedWords {
    pub(super) fn push(&mut self, word: &[u8], Entry { count, place }: Entry) {
        self.words.push((place, self.text.len(), word.len(), count));
        self.text.extend_from_slice(word);
    }

    /// The counts. Words come here in the order of their bytes, which settles equal places.
    pub(super) fn in_order(mut self) -> WordCounts {
        self.words.sort_unstable();
        let mut counts = WordCounts {
            text: String::with_capacity(self.text.len()),
            ends: Vec::with_capacity(self.words.len()),
            counts: Vec::with_capacity(self.words.len()),
            provenance: None,
        };
        for (_, start, length, count) in self.words {
            let word = String::from_utf8_lossy(&self.text[start..start + length]);
            counts.push(&word, count);
        }
        counts
    }
}
