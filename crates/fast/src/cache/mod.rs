//! The word cache, and what surrounds it: groups of words that are looked up together, buffers for output
//! tokens, and the pool of workspaces.

pub mod buffered_sink;
pub mod capacities;
pub mod entries;
pub mod group;
pub mod lookup;
mod overflow;
pub mod pending;
pub mod word_cache;
pub mod workspace_pool;
