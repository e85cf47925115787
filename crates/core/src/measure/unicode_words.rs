//! The words of a text by Unicode's rules, with how often each occurs: the basis of fertility.
//!
//! Look here for what a word is, independently of any tokenizer: the segments of UAX #29 that contain a
//! letter or a digit; in scripts without spaces between words, each character.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use rayon::prelude::*;
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

use jeton_stages::split::delimiters::{Chunks, Delimiters};
use jeton_training::word_counts::table::{
    CountTable, Entry, InsertionBatch, WordAndCount, by_count, join,
};

/// Bytes up to which a run without white space is kept whole, to be split once however often it occurs.
const LONGEST_RUN: usize = 40;

/// Different runs that are kept until they are split.
const RUNS: usize = if cfg!(test) { 8 } else { 1 << 20 };

/// One occurrence; its place does not matter.
const ONCE: Entry = Entry { count: 1, place: 0 };

/// The words of texts with how often each occurs.
///
/// A word right after a space is another than the same word elsewhere, and is given
/// with its space.
///
/// ```
/// use jeton_core::measure::unicode_words::UnicodeWords;
///
/// let words = UnicodeWords::default();
/// words.add(&["the cat can't, the cat"]);
/// let counted = words.finish(100);
/// let expected = [(" cat", 2), (" can't", 1), (" the", 1), ("the", 1)];
/// assert_eq!(counted.common, expected.map(|(word, count)| (word.to_owned(), count)));
/// assert_eq!((counted.kinds, counted.total), (4, 5));
/// ```
pub struct UnicodeWords {
    seed: u64,
    /// A thread takes whichever is free.
    tables: [Mutex<Option<WordTables>>; 16],
}

/// Words that were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedWords {
    /// The most common ones with how often each occurs, the most common first, of equals the smaller.
    pub common: Vec<(String, u64)>,
    /// Of all others every so many, in the same order; none if the common ones are all.
    pub others: Vec<(String, u64)>,
    /// How many kinds of words there are.
    pub kinds: usize,
    /// How many words there are.
    pub total: u64,
}

/// What a thread has counted.
struct WordTables {
    seed: u64,
    spaces: Delimiters,
    /// Runs between white space, each with the space before it, if it is one.
    runs: CountTable,
    words: CountTable,
}

impl Default for UnicodeWords {
    fn default() -> Self {
        Self {
            seed: RandomState::default().hash_one(0),
            tables: Default::default(),
        }
    }
}

impl UnicodeWords {
    /// Counts the words of texts, each separately; other threads may count others.
    pub fn add(&self, texts: &[&str]) {
        let free = self.tables.iter().find_map(|table| table.try_lock().ok());
        let mut tables = free.unwrap_or_else(|| lock(&self.tables[0]));
        let tables = tables.get_or_insert_with(|| WordTables::new(self.seed));
        texts.iter().for_each(|text| tables.add(text));
    }

    /// The words that were counted, of which about `most` kinds are given.
    pub fn finish(self, most: usize) -> CountedWords {
        let tables = self.tables.into_iter();
        let tables =
            tables.filter_map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
        // A run that several threads saw is split by each: joining them first takes longer.
        let words = tables.collect::<Vec<_>>().into_par_iter();
        let words = words.map(WordTables::words_of_all).collect();
        let tables = join(words);
        let words = by_count(&tables);
        let kinds = words.len();
        let total = words.iter().map(|counted| counted.count).sum();
        let common = if kinds <= most { kinds } else { most / 2 };
        let step = (kinds - common)
            .div_ceil((most - common.min(most)).max(1))
            .max(1);
        let text = |counted: &WordAndCount<'_>| {
            let word = String::from_utf8(counted.word.bytes().to_vec());
            (word.expect("words are split at characters"), counted.count)
        };
        let (first, rest) = words.split_at(common);
        CountedWords {
            common: first.iter().map(text).collect(),
            others: rest.iter().step_by(step).map(text).collect(),
            kinds,
            total,
        }
    }
}

impl WordTables {
    fn new(seed: u64) -> Self {
        let spaces = vec![b'\t'..=b'\n', b'\x0c'..=b'\r', b' '..=b' '];
        Self {
            seed,
            spaces: Delimiters::new(spaces, true, Vec::new()),
            runs: CountTable::new(seed, usize::MAX),
            words: CountTable::new(seed, usize::MAX),
        }
    }

    /// Counts the words of a text. No word goes across white space of ASCII, and none begins
    /// otherwise after it than at the start of a text.
    fn add(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let Self { runs, words, .. } = self;
        let (mut runs, mut words) = (InsertionBatch::of(runs), InsertionBatch::of(words));
        let mut chunks = Chunks::default();
        let counted = self.spaces.chunks(bytes, 0, &mut chunks, |starts, ends| {
            for (&start, &end) in starts.iter().zip(ends) {
                let with_space = start - usize::from(start > 0 && bytes[start - 1] == b' ');
                if end - start <= LONGEST_RUN {
                    runs.add(bytes, with_space, end, ONCE)
                } else {
                    cut(&text[with_space..end], 1, &mut words)
                }
            }
            Ok::<(), std::convert::Infallible>(())
        });
        match counted {
            Ok(()) => {}
        }
        runs.end();
        words.end();
        if self.runs.words() >= RUNS {
            let tables = std::mem::replace(self, Self::new(self.seed));
            self.words = tables.words_of_all();
        }
    }

    /// The words, those of the runs too.
    fn words_of_all(self) -> CountTable {
        let mut words = self.words;
        // Many runs are a word by themselves.
        words.make_room(self.runs.words() / 2);
        let mut group = InsertionBatch::of(&mut words);
        for (run, entry) in self.runs.entries() {
            let run = run.bytes();
            let run = str::from_utf8(&run).expect("runs are split at white space");
            cut(run, entry.count, &mut group);
        }
        group.end();
        words
    }
}

/// Counts the words of a run that occurs so often, and may begin with a space.
fn cut(run: &str, times: u64, words: &mut InsertionBatch<'_>) {
    let first = usize::from(run.starts_with(' '));
    // The first word of a run has the space before it.
    let start_of = |at: usize| if at == first { 0 } else { at };
    for (at, segment) in run[first..].unicode_word_indices() {
        let start = first + at;
        if segment.is_ascii() || !segment.chars().any(stands_alone) {
            count(words, run, start_of(start)..start + segment.len(), times);
            continue;
        }
        // Digits of these scripts join letters of others into one segment.
        let mut rest = 0;
        let mut word = |from: usize, to: usize| {
            if segment[from..to].contains(char::is_alphanumeric) {
                count(words, run, start_of(start + from)..start + to, times);
            }
        };
        for (inner, character) in segment.grapheme_indices(true) {
            if character.chars().any(stands_alone) {
                word(rest, inner);
                rest = inner + character.len();
                word(inner, rest);
            }
        }
        word(rest, segment.len());
    }
}

fn lock(tables: &Mutex<Option<WordTables>>) -> MutexGuard<'_, Option<WordTables>> {
    tables.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a character is of a script that writes no space between words.
fn stands_alone(character: char) -> bool {
    matches!(
        character.script(),
        Script::Han
            | Script::Hiragana
            | Script::Katakana
            | Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar
    )
}

fn count(words: &mut InsertionBatch<'_>, run: &str, place: Range<usize>, times: u64) {
    let entry = Entry {
        count: times,
        place: 0,
    };
    words.add(run.as_bytes(), place.start, place.end, entry);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn counted(texts: &[&str]) -> Vec<(String, u64)> {
        let words = UnicodeWords::default();
        words.add(texts);
        words.finish(1 << 20).common
    }

    #[test]
    fn of_many_kinds_the_common_and_some_others_are_given() {
        let words = UnicodeWords::default();
        words.add(&["a a a b b c d e f g h i"]);
        let counted = words.finish(4);
        let names = |words: &[(String, u64)]| -> Vec<String> {
            words
                .iter()
                .map(|(word, _)| word.trim().to_owned())
                .collect()
        };
        assert_eq!(names(&counted.common), ["a", "b"]);
        assert_eq!(names(&counted.others), ["c", "g"]);
        assert_eq!((counted.kinds, counted.total), (10, 12));
    }

    #[test]
    fn scripts_without_spaces_are_cut_by_character() {
        let found = counted(&["東京タワーへ ไทย"]);
        let words: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, [" ไ", "ท", "ย", "へ", "タ", "ワ", "ー", "京", "東"]);
    }

    #[test]
    fn text_between_such_characters_is_a_word() {
        let found = counted(&["\u{e50}ab\u{e51}"]);
        let words: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["ab", "\u{e50}", "\u{e51}"]);
    }

    #[test]
    fn words_are_those_of_unicode() {
        let found = counted(&["The quick (\"brown\") fox can't jump 32.3 feet, right?"]);
        let mut words: Vec<&str> = found.iter().map(|(word, _)| word.trim()).collect();
        words.sort_unstable();
        let expected = [
            "32.3", "The", "brown", "can't", "feet", "fox", "jump", "quick", "right",
        ];
        assert_eq!(words, expected);
        assert!(
            found.contains(&("brown".to_owned(), 1)),
            "a quotation mark stands before it"
        );
    }

    proptest! {
        /// Runs are split one by one, but give the words of the whole text.
        #[test]
        fn words_of_runs_are_words_of_the_text(texts in prop::collection::vec(
            "([a-c',.:_1-3\u{301}\u{200d}é🙂 \n\u{a0}]|\\PC){0,60}", 0..4,
        )) {
            prop_assume!(!texts.iter().any(|text| text.chars().any(stands_alone)));
            let mut expected = BTreeMap::new();
            for text in &texts {
                for word in text.unicode_words() {
                    // A mark after a space is one word with it.
                    let word = word.trim_start_matches(' ');
                    *expected.entry(word.to_owned()).or_insert(0) += 1;
                }
            }
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut found = BTreeMap::new();
            for (word, count) in counted(&texts) {
                *found.entry(word.trim_start_matches(' ').to_owned()).or_insert(0) += count;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
