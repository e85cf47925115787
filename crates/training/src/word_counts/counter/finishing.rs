//! The end of counting: the tables of all threads, or what is on disk of them, become word counts.

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use super::{CountingOutcome, WordCounter};
use crate::word_counts::budget::{Fit, give_back};
use crate::word_counts::merged_words::MergedWords;
use crate::word_counts::provenance::Provenance;
use crate::word_counts::spill::Spill;
use crate::word_counts::stages::Shortcut;
use crate::word_counts::table::{self, CountTable, Entry};
use jeton_text::error::Result;

/// Bytes of the stretches that run through the stages together, at most.
const BATCH: usize = 1 << 20;
/// One in this many bytes of the memory budget may be taken by them.
const BATCHES_SHARE: u64 = 256;
/// Stretches that a thread takes at a time.
const STRETCHES: usize = 1 << 10;

/// Stretches between white space that wait to be staged.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    stretches: Vec<(Range<usize>, Entry)>,
}

impl Batch {
    fn push(&mut self, word: &[u8], entry: Entry) {
        let start = self.text.len();
        self.text.extend_from_slice(word);
        self.stretches.push((start..self.text.len(), entry));
    }
}

impl WordCounter {
    /// The counts of all words, in the order in which they first occurred.
    ///
    /// # Errors
    /// Words that need more memory than there is; a disk that fails.
    pub fn finish(self) -> Result<CountingOutcome> {
        let cutting = self.stages.cutting()?;
        let most = self.options.max_word_length;
        let is_limited = self.memory().is_some();
        let mut counted = match self.stages.shortcut {
            Shortcut::WhiteSpace => self.finish_stretches(),
            _ => self.finish_words(),
        }?;
        counted.counts.provenance = Some(Provenance {
            cutting,
            cut_at: most.filter(|_| counted.cut > 0).map(|most| most as u64),
        });
        if is_limited {
            give_back();
        }
        Ok(counted)
    }

    /// Makes words of the stretches between white space, and counts those.
    fn finish_stretches(self) -> Result<CountingOutcome> {
        let mut words = Self::new(self.stages.after_white_space(), self.options.clone());
        let (tables, spill, _) = self.into_tables()?;
        let mut batch = Batch::default();
        let most = words.memory().map_or(BATCH, |memory| {
            BATCH.min(usize::try_from(memory / BATCHES_SHARE).unwrap_or(BATCH))
        });
        let mut take = |word: &[u8], entry: Entry| {
            batch.push(word, entry);
            if batch.text.len() < most {
                Ok(())
            } else {
                words.count_batch(&mut batch)
            }
        };
        match &spill {
            Some(spill) => spill.visit(&mut take)?,
            None => {
                for table in tables {
                    for (word, entry) in table.entries() {
                        take(&word.bytes(), entry)?;
                    }
                }
            }
        }
        words.count_batch(&mut batch)?;
        let counted = words.finish_words()?;
        let spilled = counted.spilled + spill.map_or(0, |spill| spill.bytes());
        Ok(CountingOutcome { spilled, ..counted })
    }

    /// Counts the words of stretches, each as often as it occurs, and empties the batch.
    fn count_batch(&mut self, batch: &mut Batch) -> Result<()> {
        let Batch { text, stretches } = std::mem::take(batch);
        stretches.par_chunks(STRETCHES).try_for_each(|stretches| {
            self.with_worker(|worker| {
                stretches.iter().try_for_each(|(range, entry)| {
                    let text = String::from_utf8_lossy(&text[range.clone()]);
                    worker.stage(&self.stages, &text, *entry)
                })
            })
        })
    }

    fn finish_words(self) -> Result<CountingOutcome> {
        let options = self.options.clone();
        let (tables, spill, cut) = self.into_tables()?;
        let mut fit = Fit::new(options.memory.as_ref());
        let mut counted = CountingOutcome {
            cut,
            ..CountingOutcome::default()
        };
        let is_rare = |counted: &mut CountingOutcome, count: u64| {
            let is_rare = count < options.min_word_count;
            if is_rare {
                counted.rare += 1;
                counted.rare_total = counted.rare_total.saturating_add(count);
            }
            is_rare
        };
        let Some(spill) = spill else {
            counted.counts = table::in_order(&tables, |length, count| {
                !is_rare(&mut counted, count) && {
                    fit.add(length, count);
                    true
                }
            });
            fit.check()?;
            return Ok(counted);
        };
        counted.spilled = spill.bytes();
        let mut gathered = MergedWords::default();
        spill.visit(|word, entry| {
            if !is_rare(&mut counted, entry.count) {
                if fit.add(word.len(), entry.count) {
                    gathered.push(word, entry)
                } else {
                    gathered = MergedWords::default()
                }
            }
            Ok(())
        })?;
        fit.check()?;
        counted.counts = gathered.in_order();
        Ok(counted)
    }

    /// The joined tables, or all words on disk; and how many words were split.
    fn into_tables(self) -> Result<(Vec<CountTable>, Option<Spill>, u64)> {
        let workers = self.workers.into_iter().map(Mutex::into_inner);
        let mut tables: Vec<CountTable> = workers
            .map(|worker| match worker {
                Ok(worker) => worker.table,
                Err(poisoned) => poisoned.into_inner().table,
            })
            .collect();
        let cut = tables.iter().map(|table| table.cut).sum();
        match self.spill.filter(|spill| !spill.is_empty()) {
            None => Ok((table::join(tables), None, cut)),
            Some(spill) => {
                tables.iter_mut().try_for_each(|table| spill.write(table))?;
                drop(tables);
                give_back();
                Ok((Vec::new(), Some(spill), cut))
            }
        }
    }
}
