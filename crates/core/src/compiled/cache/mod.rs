//! What was met before, and what is new: the word cache, the groups that look pieces up in it, and the
//! tokens that wait until the new ones among them are known.

pub mod group;
pub mod keys;
pub mod lookup;
pub mod pending;
mod rest;
pub mod spare;
pub mod waiting;
pub mod words;
