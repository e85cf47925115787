//! A word of a table, short or long.

use super::{SHORT, ShortKey};

/// A word of a table.
#[derive(Clone, Copy)]
pub enum TableWord<'t> {
    /// A word that fits a key.
    Short(ShortKey),
    /// Any other word.
    Long(&'t [u8]),
}

impl TableWord<'_> {
    /// Its bytes.
    pub fn bytes(&self) -> Bytes<'_> {
        match *self {
            Self::Short(key) => {
                let (bytes, length) = key.bytes();
                Bytes::Here(bytes, length)
            }
            Self::Long(bytes) => Bytes::There(bytes),
        }
    }

    /// Its first bytes as a number, zeros after the end of a short word, so that it is before what
    /// it begins.
    pub(super) fn first(self) -> u128 {
        let bytes = self.bytes();
        let bytes = &bytes[..bytes.len().min(SHORT + 1)];
        let mut first = [0; SHORT + 1];
        first[..bytes.len()].copy_from_slice(bytes);
        u128::from_be_bytes(first)
    }

    /// The order of words whose first bytes are the same.
    pub(super) fn order_behind_first(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Long(a), Self::Long(b)) => a.cmp(b),
            _ => self.bytes().len().cmp(&other.bytes().len()),
        }
    }
}

/// The bytes of a word.
pub enum Bytes<'t> {
    /// In this array, and how many.
    Here([u8; SHORT + 1], usize),
    /// In a table.
    There(&'t [u8]),
}

impl std::ops::Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Here(bytes, length) => &bytes[..*length],
            Self::There(bytes) => bytes,
        }
    }
}
