//! What was met before, and what is new: the word cache, the groups that look pieces up in it, and the
//! tokens that wait until the new ones among them are known.

pub mod group;
pub mod lookup;
pub mod output_buffer;
mod overflow;
pub mod pending;
pub mod words;
pub mod workspace_pool;
