//! Word counts: the distinct pieces of a corpus and how often each occurs.
//!
//! Look here for the input of every trainer. [`WordCounter`] counts the words of texts;
//! counts can be saved, loaded, merged, filtered, and used for any number of trainings.

mod budget;
mod compatibility;
mod counter;
mod counts;
mod merged_words;
pub mod neighbours;
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
