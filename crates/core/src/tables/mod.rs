//! Tables in which tokens are found: a trie, a double array, a perfect hash, a tag table.

pub(crate) mod double_array;
pub(crate) mod perfect_hash;
pub(crate) mod tag_table;
pub(crate) mod trie;
