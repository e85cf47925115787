//! The tables and queues of byte pair encoding: merges by their pair, the symbols of a piece, and queues
//! for text that is too long to scan for the best pair.
//!
//! Look here for how a piece of bytes becomes tokens. The BPE model derives its merges with these
//! tables, and the fast path merges new words with them.

pub mod long_words;
pub mod merges;
pub mod pair_table;
pub mod pairs;
pub mod queue;
pub(crate) mod row;
pub mod short_word;
pub(crate) mod token_reachability;

pub use merges::{Merges, SCANNED};
pub(crate) use pair_table::GrowingPairs;
pub use pairs::Pairs;
pub use short_word::ShortWord;
