//! The words of several tables: joined, and in order.

use rayon::prelude::*;

use super::{CountTable, Entry, TableWord};
use crate::word_counts::counts::WordCounts;
use jeton_text::mem::large_pages;
use jeton_text::mem::room;

/// The words of all tables, which have the same seed, each in one table only.
pub fn join(mut tables: Vec<CountTable>) -> Vec<CountTable> {
    tables.retain(|table| table.words() > 0);
    if tables.len() > 1 {
        let parts = (0..tables.len()).into_par_iter();
        tables = parts
            .map(|part| {
                let mut joined = CountTable::new(tables[0].seed, usize::MAX);
                // Each part gets about as much as each table has, if no word is in two of them.
                joined.make_room(tables.iter().map(|table| table.used).max().unwrap_or(0));
                joined.absorb_part(&tables, part);
                joined
            })
            .collect();
    }
    tables
}

/// The words of joined tables that `keep` accepts, by length and count, in the order in which they
/// first occurred.
pub fn in_order(tables: &[CountTable], mut keep: impl FnMut(usize, u64) -> bool) -> WordCounts {
    let mut words = room::with_capacity(tables.iter().map(CountTable::words).sum());
    let all = tables.iter().flat_map(CountTable::entries);
    words.extend(all.filter(|(word, entry)| keep(word.bytes().len(), entry.count)));
    words.par_sort_unstable_by(|(a, first), (b, second)| {
        let places = first.place.cmp(&second.place);
        places.then_with(|| a.bytes().cmp(&b.bytes()))
    });
    let size = words.iter().map(|(word, _)| word.bytes().len()).sum();
    let mut text = room::with_capacity(size);
    let mut ends = room::with_capacity(words.len());
    for (word, _) in &words {
        text.extend_from_slice(&word.bytes());
        ends.push(text.len());
    }
    WordCounts {
        text: String::from_utf8(text).expect("words are split between characters"),
        ends,
        counts: words.iter().map(|(_, entry)| entry.count).collect(),
        provenance: None,
    }
}

/// The words of joined tables with how often each occurs, what occurs most first, of equals the
/// smaller.
pub fn by_count(tables: &[CountTable]) -> Vec<WordAndCount<'_>> {
    let mut words = large_pages::with_capacity(tables.iter().map(CountTable::words).sum());
    let all = tables.iter().flat_map(CountTable::entries);
    words.extend(all.map(|(word, Entry { count, .. })| WordAndCount {
        count,
        first: word.first(),
        word,
    }));
    words.par_sort_unstable_by(|a, b| {
        let firsts = b.count.cmp(&a.count).then_with(|| a.first.cmp(&b.first));
        firsts.then_with(|| a.word.order_behind_first(&b.word))
    });
    words
}

/// A word of a table with how often it occurs.
#[derive(Clone, Copy)]
pub struct WordAndCount<'t> {
    /// How often the word occurs.
    pub count: u64,
    /// The word.
    pub word: TableWord<'t>,
    /// Nearly all words are distinguished by their first bytes, which are not made again for each
    /// comparison.
    first: u128,
}
