//! The fast path: the ids of the stages in less time, for tokenizers whose stages one of its strategies
//! knows.
//!
//! The stages, run one after another, say what a tokenizer means, and property tests hold the two equal.
//! `plan` chooses the strategy. One file or folder a strategy: `byte_level`, `sentencepiece`, `metaspace`,
//! `whitespace_words`, `cached_pieces`; `fallback` gives new words to the stages for the last three. They
//! share `cache`, which holds the tokens of words that earlier text had, and `split`, which says where words
//! lie.

mod byte_level;
mod cache;
mod cached_pieces;
mod fallback;
mod metaspace;
mod place;
mod plan;
mod sentencepiece;
mod sink;
mod unsupported_stage;
mod whitespace_words;

pub use cache::word_cache::{limit as cache_limit, set_limit as set_cache_limit};
pub use place::{Place, Stretch};
pub use plan::{Compiled, Plan, Strategy};
pub use sink::{Count, Sink};
pub use unsupported_stage::{StageName, UnsupportedStage};
