//! Word counts: the distinct pieces of a corpus and how often each occurs.
//!
//! Look here for what every trainer starts from. [`WordCounter`] makes word counts from texts;
//! they can be saved, loaded, merged and filtered, and trained from many times.

mod budget;
mod compatibility;
mod counter;
mod counts;
mod merged_words;
mod provenance;
mod spill;
mod stages;
mod storage;
pub mod table;

pub use budget::{MemoryBudget, WordMemory};
pub use counter::{CountingOptions, CountingOutcome, WordCounter};
pub use counts::WordCounts;
pub use provenance::{Cutting, Provenance};
pub use stages::FirstStages;
pub use storage::MARK;

pub(crate) use budget::{amount, give_back};

#[cfg(test)]
mod counting_tests;
