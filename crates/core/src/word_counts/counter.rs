//! Counting: texts in, word counts out, on all threads, with the same result for any number.
//!
//! Each thread has a table of its own, in which a word carries its count and where it was first
//! met; the tables are joined at the end and sorted by that place. Where only a known pattern cuts
//! the text, the scanner of the compiled path does, and long texts are cut for all threads.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Mutex;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::WordCounts;
use super::table::{self, Table};
use crate::added_tokens::{AddedToken, AddedTokens, Cut, SpecialPolicy};
use crate::compiled::{Scanner, Splitter};
use crate::error::Result;
use crate::normalizer::Normalizer;
use crate::pre_tokenizer::PreTokenizer;
use crate::text::{AlignedText, Pieces};

/// The stages that training shares with encoding: everything before the model.
#[derive(Clone, Debug, Default)]
pub struct FirstStages {
    added_tokens: AddedTokens,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    /// What cuts as the pre-tokenizer does, where that and added tokens are all there is.
    splitter: Option<Splitter>,
}

impl FirstStages {
    /// These stages. Added tokens, special ones too, are boundaries and belong to no word.
    ///
    /// # Errors
    /// Added tokens that contradict each other.
    pub fn new(
        added_tokens: Vec<AddedToken>,
        normalizer: Option<Normalizer>,
        pre_tokenizer: Option<PreTokenizer>,
    ) -> Result<Self> {
        let splitter = match normalizer {
            Some(_) => None,
            None => pre_tokenizer.as_ref().and_then(Splitter::of),
        };
        Ok(Self {
            added_tokens: AddedTokens::new(added_tokens, normalizer.as_ref())?,
            normalizer,
            pre_tokenizer,
            splitter,
        })
    }

    /// Calls `word` with each piece that the model would see of `text`.
    fn for_each_word(&self, text: &str, mut word: impl FnMut(&str)) -> Result<()> {
        for cut in self.cuts(text)? {
            let Cut::Text(text) = cut else { continue };
            let mut pieces = Pieces::new(text);
            if let Some(pre_tokenizer) = &self.pre_tokenizer {
                pre_tokenizer.cut(&mut pieces)?;
            }
            pieces.iter().for_each(|piece| word(piece.as_str()));
        }
        Ok(())
    }

    /// The parts of `text` that lie between added tokens, where nothing else changes it.
    fn parts(&self, text: &str) -> Result<Vec<Range<usize>>> {
        if self.added_tokens.finds_nothing(&SpecialPolicy::Allow) {
            return Ok(std::iter::once(0..text.len()).collect());
        }
        let parts = self.cuts(text)?.into_iter().filter_map(|cut| match cut {
            Cut::Text(text) => {
                let start = text.original_start();
                Some(start..start + text.as_str().len())
            }
            Cut::Token(..) => None,
        });
        Ok(parts.collect())
    }

    fn cuts(&self, text: &str) -> Result<Vec<Cut>> {
        self.added_tokens.cut(
            AlignedText::original(text),
            self.normalizer.as_ref(),
            &SpecialPolicy::Allow,
        )
    }
}

/// Counts the words of texts, batch after batch.
///
/// ```
/// use jeton_core::word_counts::{FirstStages, WordCounter};
///
/// let mut counter = WordCounter::new(FirstStages::default());
/// counter.count(&["one", "two"])?;
/// counter.count(&["one"])?;
/// assert_eq!(counter.finish().iter().collect::<Vec<_>>(), [("one", 2), ("two", 1)]);
/// # Ok::<(), jeton_core::Error>(())
/// ```
pub struct WordCounter {
    stages: FirstStages,
    /// One a thread.
    workers: Vec<Mutex<Worker>>,
    /// The place of the next text.
    place: u64,
}

/// Places of texts lie this far apart for each byte of text, to leave room for the words within.
/// Normalization that makes more words than this of one byte makes the order of first meeting
/// uncertain, but not the counts, and not the same from run to run.
const PLACES_PER_BYTE: u64 = 64;

/// About how many bytes a thread takes at a time.
const PART: usize = if cfg!(test) { 64 } else { 1 << 19 };

impl WordCounter {
    /// A counter of the words that these stages make.
    pub fn new(stages: FirstStages) -> Self {
        let threads = rayon::current_num_threads().max(1);
        let seed = RandomState::default().hash_one(0);
        let worker = || Worker {
            scanner: Scanner::default(),
            table: Table::new(seed),
        };
        Self {
            stages,
            workers: (0..threads).map(|_| Mutex::new(worker())).collect(),
            place: 0,
        }
    }

    /// Counts the words of `texts`.
    ///
    /// # Errors
    /// A pattern that gave up on a text.
    pub fn count<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<()> {
        // Short texts go to a thread together, long ones in parts.
        let mut together = Vec::new();
        let mut first = 0;
        let mut bytes = 0;
        let mut place = self.place;
        for (at, text) in texts.iter().enumerate() {
            bytes += text.as_ref().len();
            if bytes >= PART || at + 1 == texts.len() {
                let texts = &texts[first..=at];
                together.push((texts, place));
                place += texts.iter().map(places).sum::<u64>();
                (first, bytes) = (at + 1, 0);
            }
        }
        self.place = place;
        together.into_par_iter().try_for_each(|(texts, mut place)| {
            for text in texts {
                self.count_one(text.as_ref(), place)?;
                place += places(text);
            }
            Ok(())
        })
    }

    /// Counts the words of the texts that `text_of` finds in the lines of `block`; it is told, too,
    /// where in the block a line begins. A line has its newline.
    ///
    /// A text must have no more bytes than its line.
    ///
    /// # Errors
    /// What `text_of` says; a pattern that gave up on a text.
    pub fn count_lines<'b>(
        &mut self,
        block: &'b str,
        text_of: impl Fn(&'b str, usize) -> Result<Cow<'b, str>> + Sync,
    ) -> Result<()> {
        let mut parts = Vec::new();
        let mut start = 0;
        while start < block.len() {
            let near = block.as_bytes().get(start + PART..).unwrap_or(&[]);
            let newline = near.iter().position(|&byte| byte == b'\n');
            let end = newline.map_or(block.len(), |at| start + PART + at + 1);
            parts.push(std::mem::replace(&mut start, end)..end);
        }
        let place = self.place;
        self.place += places(&block);
        parts.into_par_iter().try_for_each(|part| {
            let mut at = part.start;
            for line in block[part].split_inclusive('\n') {
                let text = text_of(line, at)?;
                self.count_one(&text, place + PLACES_PER_BYTE * at as u64)?;
                at += line.len();
            }
            Ok(())
        })
    }

    fn count_one(&self, text: &str, place: u64) -> Result<()> {
        let Some(splitter) = &self.stages.splitter else {
            let mut next = place;
            return self.with_worker(|Worker { table, .. }| {
                self.stages.for_each_word(text, |word| {
                    table.add(word, next);
                    next += 1;
                })
            });
        };
        let count_part = |part: Range<usize>| {
            let place = place + part.start as u64;
            let text = &text[part];
            self.with_worker(|Worker { scanner, table }| {
                splitter.split(scanner, text, |offset, length, starts| {
                    table.add_stretch(text, place, (offset, length), starts);
                })
            })
        };
        if text.len() <= PART
            && self
                .stages
                .added_tokens
                .finds_nothing(&SpecialPolicy::Allow)
        {
            return count_part(0..text.len());
        }
        for part in self.stages.parts(text)? {
            let (mut start, mut parts) = (part.start, Vec::new());
            while part.end - start > 2 * PART {
                let end = start + splitter.part_end(&text[start..part.end], 0, PART);
                parts.push(std::mem::replace(&mut start, end)..end);
            }
            parts.push(start..part.end);
            match parts.len() {
                1 => count_part(start..part.end)?,
                _ => parts.into_par_iter().try_for_each(count_part)?,
            }
        }
        Ok(())
    }

    /// Calls `work` with the worker of this thread.
    fn with_worker<T>(&self, work: impl FnOnce(&mut Worker) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        match self.workers[thread % self.workers.len()].lock() {
            Ok(mut worker) => work(&mut worker),
            Err(poisoned) => work(&mut poisoned.into_inner()),
        }
    }

    /// How many distinct words there are so far, each counted once for every thread that met it.
    pub fn distinct(&self) -> usize {
        let length = |worker: &Mutex<Worker>| worker.lock().map_or(0, |worker| worker.table.len());
        self.workers.iter().map(length).sum()
    }

    /// The counts of all words, in the order in which they were first met.
    pub fn finish(self) -> WordCounts {
        let workers = self.workers.into_iter().map(Mutex::into_inner);
        let tables = workers.map(|worker| match worker {
            Ok(worker) => worker.table,
            Err(poisoned) => poisoned.into_inner().table,
        });
        table::join(tables.collect())
    }
}

/// How many places a text has.
fn places<T: AsRef<str>>(text: &T) -> u64 {
    PLACES_PER_BYTE * (text.as_ref().len() as u64 + 1)
}

/// What a thread counts with.
struct Worker {
    scanner: Scanner,
    table: Table,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pre_tokenizer::named;

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let texts: Vec<String> = (0..500)
            .map(|n| format!("w{} the w{} {}", n * 7 % 91, n % 13, "long".repeat(n % 9)))
            .collect();
        let words = texts.iter().flat_map(|text| text.split(' '));
        let expected = WordCounts::from_words(words.map(|word| (word, 1)));
        let split = Some(PreTokenizer::WhitespaceSplit);
        let stages = FirstStages::new(vec![], None, split).unwrap();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let counts = pool.build().unwrap().install(|| {
                let mut counter = WordCounter::new(stages.clone());
                let (first, second) = texts.split_at(threads * 30);
                counter.count(first).unwrap();
                counter.count(second).unwrap();
                counter.finish()
            });
            assert_eq!(counts, expected);
        }
    }

    #[test]
    fn special_tokens_are_boundaries() {
        let special = AddedToken {
            id: 0,
            content: "<s>".to_owned(),
            special: true,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
        };
        let mut counter = WordCounter::new(FirstStages::new(vec![special], None, None).unwrap());
        counter.count(&["one<s>two<s>"]).unwrap();
        assert_eq!(
            counter.finish(),
            WordCounts::from_words([("one", 1), ("two", 1)])
        );
    }

    #[test]
    fn the_scanner_makes_the_words_of_the_stages() {
        let special = AddedToken {
            id: 0,
            content: "<s>".to_owned(),
            special: true,
            single_word: false,
            lstrip: false,
            rstrip: true,
            normalized: false,
        };
        let atoms = [
            "a",
            "Word",
            " ",
            "  ",
            "\n",
            " the",
            "'s",
            "12345",
            "é",
            "中文",
            "한",
            "<s>",
            "!?",
            "\u{a0}",
            "\u{301}",
            "\r\n",
            "incomprehensibilities",
            "🙂",
            "\t",
        ];
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for pattern in ["gpt2", "cl100k", "o200k", "llama3", "qwen2"] {
            let pattern = named::find(pattern).unwrap().pre_tokenizer().unwrap();
            for specials in [vec![], vec![special.clone()]] {
                let stages = FirstStages::new(specials, None, Some(pattern.clone())).unwrap();
                assert!(stages.splitter.is_some());
                let staged = FirstStages {
                    splitter: None,
                    ..stages.clone()
                };
                for _ in 0..50 {
                    let texts: Vec<String> = (0..next() % 5)
                        .map(|_| {
                            (0..next() % 400)
                                .map(|_| atoms[next() % atoms.len()])
                                .collect()
                        })
                        .collect();
                    let counted = |stages: &FirstStages| {
                        let mut counter = WordCounter::new(stages.clone());
                        counter.count(&texts).unwrap();
                        counter.finish()
                    };
                    assert_eq!(counted(&stages), counted(&staged));
                }
            }
        }
    }
}
