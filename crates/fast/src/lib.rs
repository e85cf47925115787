//! The fast path: the same ids as the stages give, in less time, for stages that a strategy knows.
//!
//! The stages, run one after another, say what a tokenizer means, and property tests compare the two.
//!
//! ```
//! use jeton_fast::compile;
//! use jeton_models::Stages;
//! use jeton_models::model::{Bpe, Model};
//! use jeton_stages::pre_tokenizer::named;
//! use jeton_stages::vocab::Vocab;
//!
//! let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
//! let bpe = Bpe::by_ranks(Vocab::new(bytes.zip(0..))?)?;
//! let mut stages = Stages::of_model(Model::Bpe(bpe));
//! stages.pre_tokenizer = Some(named::find("gpt2")?.pre_tokenizer());
//! let (compiled, plan) = compile(&stages);
//! assert!(compiled.is_some(), "{}", plan.name());
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! The modules in the order in which a tokenizer and then its texts pass them:
//!
//! - `plan` chooses the strategy, and `unsupported_stage` says why not a faster one;
//! - `compiled`: what each strategy answers;
//! - `place`: where in its text a separately encoded stretch is;
//! - `byte_level`, `sentencepiece`, `words`, `cached_pieces`: the strategies, which
//!   find words by `jeton_stages::split`;
//! - `cache` holds the tokens of words that were seen before;
//! - `fallback`: how new words become tokens in the last three strategies;
//! - `sink` receives the tokens.

mod byte_level;
mod cache;
mod cached_pieces;
mod compiled;
mod fallback;
mod place;
mod plan;
mod sentencepiece;
mod sink;
mod unsupported_stage;
mod words;

pub use cache::capacities::{limit as cache_limit, set_limit as set_cache_limit};
pub use cache::word_cache::WordCache;
pub use cache::workspace_pool::{Reusable, Taken, WorkspacePool};
pub use compiled::Compiled;
pub use place::{Place, Spanning, Stretch};
pub use plan::{Plan, Strategy, compile};
pub use sink::{Count, Sink};
pub use unsupported_stage::{StageName, UnsupportedStage};
