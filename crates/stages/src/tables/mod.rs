//! Tables that find tokens: a trie, a double array, a perfect hash, a tag table.

pub mod double_array;
pub mod perfect_hash;
pub mod trie;
