//! What stands before text that is encoded by itself, which says whether a space is put in front of it.

/// Where text stands that is encoded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the front of its text.
    First,
    /// Behind an added token.
    Section,
    /// Behind another part; see [`Compiled::split_point`](super::Compiled::split_point).
    Inner,
}
