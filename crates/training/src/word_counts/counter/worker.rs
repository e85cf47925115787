//! What one thread of a [counter](super::WordCounter) does with a text, or with a part of one.

use crate::word_counts::neighbours::{Neighbours, Stretch};
use crate::word_counts::stages::FirstStages;
use crate::word_counts::table::{CountTable, Entry, pieces};
use jeton_stages::split::scanner::{Rules, Scanner};
use jeton_stages::split::set_bits::set_bits;
use jeton_stages::split::splitter::Splitter;
use jeton_text::error::Result;

/// Numbers of places for each byte of text, to leave room for the words within.
/// Normalization that makes more words than this of one byte makes the order in which words first occur
/// uncertain, but not the counts, and not the same from run to run.
pub const PLACES_PER_BYTE: u64 = 64;

/// What a thread counts with.
pub struct Worker {
    pub scanner: Scanner,
    pub table: CountTable,
}

impl Worker {
    /// Counts the words that a splitter makes of a text.
    pub fn split(&mut self, splitter: &Splitter, text: &str, place: u64) -> Result<()> {
        let Self { scanner, table } = self;
        splitter.split(scanner, text, |offset, length, starts| {
            table.add_stretch(text, place, (offset, length), starts);
        })
    }

    /// Counts the words that a scanner makes of the lines of a text.
    pub fn split_lines(&mut self, rules: Rules, text: &str, place: u64) {
        let Self { scanner, table } = self;
        scanner.scan_lines(rules, text, |offset, length, starts| {
            table.add_stretch(text, place, (offset, length), starts);
        });
    }

    /// Counts the characters of a text.
    pub fn count_characters(&mut self, text: &str, place: u64) {
        for (at, character) in text.char_indices() {
            let place = place + at as u64;
            let mut bytes = [0; 4];
            let character = character.encode_utf8(&mut bytes).as_bytes();
            self.table.add(character, Entry { count: 1, place });
        }
    }

    /// Counts what lies between separators.
    pub fn count_between(&mut self, text: &str, place: u64, is_separator: impl Fn(u8) -> bool) {
        let mut place = place;
        for word in text.as_bytes().split(|&byte| is_separator(byte)) {
            self.table.add(word, Entry { count: 1, place });
            place += PLACES_PER_BYTE * (word.len() as u64 + 1);
        }
    }

    /// Counts the words that all stages make of a text which occurs so often, the first time there.
    pub fn stage(&mut self, stages: &FirstStages, text: &str, mut entry: Entry) -> Result<()> {
        let table = &mut self.table;
        stages.for_each_word(text, |word| {
            let Some(word) = word else { return };
            for (_, piece) in pieces(word, table.longest) {
                if piece.len() < word.len() {
                    table.cut += entry.count * u64::from(piece.as_ptr() == word.as_ptr());
                }
                table.add(piece.as_bytes(), entry);
                entry.place += 1;
            }
        })
    }

    /// Splits a text and counts its stretches of words.
    pub fn split_stretches(
        &mut self,
        splitter: &Splitter,
        text: &str,
        place: u64,
        neighbours: &Neighbours,
    ) -> Result<()> {
        let Self { scanner, table } = self;
        let mut stretch = Stretch::new(neighbours, table);
        let mut bounds = Vec::new();
        splitter.split(scanner, text, |offset, length, starts| {
            bounds.clear();
            set_bits(starts, 0, &mut bounds);
            let ends = bounds
                .iter()
                .skip(1)
                .map(|&end| end as usize)
                .chain([length]);
            for (&start, end) in bounds.iter().zip(ends) {
                let range = offset + start as usize..offset + end;
                let place = place + range.start as u64;
                stretch.word(&text[range], place);
            }
        })
    }

    /// Counts the stretches of words that all stages make of a text.
    pub fn stage_stretches(
        &mut self,
        stages: &FirstStages,
        text: &str,
        mut place: u64,
        neighbours: &Neighbours,
    ) -> Result<()> {
        let mut stretch = Stretch::new(neighbours, &mut self.table);
        stages.for_each_word(text, |word| match word {
            Some(word) => {
                stretch.word(word, place);
                place += 1;
            }
            None => stretch.end(),
        })
    }
}
