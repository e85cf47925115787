//! A vocabulary: ids to byte strings, and back.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use serde::{Deserialize, Serialize};
use std::hash::BuildHasher;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// Ids past this are refused: a table from ids to tokens would not fit in memory.
pub const MAX_ID: u32 = (1 << 24) - 1;

/// The tokens of a model: byte strings, each with one id. Ids may have gaps.
///
/// All bytes lie in one buffer; the hash index holds ids only.
///
/// ```
/// use jeton_core::model::Vocab;
///
/// let vocab = Vocab::new([(b"a".as_slice(), 0), (b"ab".as_slice(), 5)])?;
/// assert_eq!(vocab.id(b"ab"), Some(5));
/// assert_eq!(vocab.token(5), Some(b"ab".as_slice()));
/// assert_eq!(vocab.token(1), None);
/// # Ok::<(), jeton_core::Error>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Entries", into = "Entries")]
pub struct Vocab {
    bytes: Vec<u8>,
    /// Where each id's token lies in `bytes`; `ABSENT` for a gap.
    ranges: Vec<(u32, u32)>,
    index: HashTable<u32>,
    hasher: FixedState,
}

/// What a gap in the ids looks like.
pub(crate) const ABSENT: (u32, u32) = (u32::MAX, u32::MAX);

/// A vocabulary as it is stored: pairs in the order of ids.
#[derive(Serialize, Deserialize)]
struct Entries(Vec<(Vec<u8>, u32)>);

impl Vocab {
    /// The vocabulary of these tokens.
    ///
    /// # Errors
    /// Two tokens with one id, one token with two ids, an id past [`MAX_ID`], or more than 4 GiB
    /// of tokens.
    pub fn new<T: AsRef<[u8]>>(entries: impl IntoIterator<Item = (T, u32)>) -> Result<Self> {
        Self::of_entries(entries, false)
    }

    /// The vocabulary of a list in which a token may stand twice, as lists that `tokenizers`
    /// trained do: both ids stand for the token, and the token is the later one.
    ///
    /// # Errors
    /// As [`Vocab::new`], but for one token with two ids.
    pub fn of_list<T: AsRef<[u8]>>(entries: impl IntoIterator<Item = (T, u32)>) -> Result<Self> {
        Self::of_entries(entries, true)
    }

    fn of_entries<T: AsRef<[u8]>>(
        entries: impl IntoIterator<Item = (T, u32)>,
        twice: bool,
    ) -> Result<Self> {
        let entries = entries.into_iter();
        let mut vocab = Self::default();
        let (count, _) = entries.size_hint();
        vocab.ranges.reserve(count);
        vocab.index.reserve(count, |_| 0);
        for (token, id) in entries {
            vocab.insert(token.as_ref(), id, twice)?;
        }
        Ok(vocab)
    }

    /// The vocabulary of tokens that lie in `bytes`, one behind the other in the order of ids, by
    /// where they end. `None` where [`Vocab::new`] would refuse them.
    pub(crate) fn of_ends(bytes: Vec<u8>, ends: &[usize]) -> Option<Self> {
        u32::try_from(bytes.len()).ok()?;
        let mut start = 0;
        let ranges = ends
            .iter()
            .map(|end| (std::mem::replace(&mut start, *end as u32), start));
        Self::of_ranges(bytes, ranges.collect())
    }

    /// The vocabulary of tokens that lie in `bytes`, by their ids, each once; [`ABSENT`] where there
    /// is none. `None` where [`Vocab::new`] would refuse them.
    pub(crate) fn of_ranges(bytes: Vec<u8>, ranges: Vec<(u32, u32)>) -> Option<Self> {
        if u32::try_from(bytes.len()).is_err() || ranges.len() > MAX_ID as usize + 1 {
            return None;
        }
        let hasher = FixedState::default();
        let tokens = ranges.iter().filter(|range| **range != ABSENT).count();
        let mut index = HashTable::with_capacity(tokens);
        let token_of = |id: u32| {
            let (start, end) = ranges[id as usize];
            &bytes[start as usize..end as usize]
        };
        for id in (0..ranges.len() as u32).filter(|id| ranges[*id as usize] != ABSENT) {
            let token = token_of(id);
            let hash = |token: &[u8]| hasher.hash_one(token);
            match index.entry(
                hash(token),
                |&id| token_of(id) == token,
                |&id| hash(token_of(id)),
            ) {
                Entry::Vacant(place) => place.insert(id),
                Entry::Occupied(_) => return None,
            };
        }
        Some(Self {
            bytes,
            ranges,
            index,
            hasher,
        })
    }

    /// Takes a token in; `twice` says whether it may be there already, under another id.
    fn insert(&mut self, token: &[u8], id: u32, twice: bool) -> Result<()> {
        let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
        let hash = self.hasher.hash_one(token);
        let other = self
            .index
            .find(hash, |&other| self.token(other) == Some(token));
        if let Some(other) = other.filter(|_| !twice) {
            let token = show(token);
            return broken(format!("token {token} has two ids, {other} and {id}"));
        }
        let known = other.is_some();
        if id > MAX_ID {
            return broken(format!(
                "token {} has id {id}, past the largest supported id {MAX_ID}",
                show(token)
            ));
        }
        if let Some(other) = self.token(id) {
            let other = show(other);
            return broken(format!(
                "id {id} stands for both {other} and {}",
                show(token)
            ));
        }
        let start = self.bytes.len();
        let Ok(end) = u32::try_from(start + token.len()) else {
            return broken("the tokens take more than 4 GiB".to_owned());
        };
        self.bytes.extend_from_slice(token);
        if self.ranges.len() <= id as usize {
            self.ranges.resize(id as usize + 1, ABSENT);
        }
        self.ranges[id as usize] = (start as u32, end);
        let Self {
            bytes,
            ranges,
            index,
            hasher,
        } = self;
        let token_of = |id: u32| {
            let (start, end) = ranges[id as usize];
            &bytes[start as usize..end as usize]
        };
        match known {
            true => {
                if let Some(other) = index.find_mut(hash, |&other| token_of(other) == token) {
                    *other = id;
                }
            }
            false => {
                index.insert_unique(hash, id, |&id| hasher.hash_one(token_of(id)));
            }
        }
        Ok(())
    }

    /// The id of a token.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        self.index
            .find(self.hasher.hash_one(token), |&id| {
                self.token(id) == Some(token)
            })
            .copied()
    }

    /// The token of an id.
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        match self.ranges.get(id as usize) {
            None | Some(&ABSENT) => None,
            Some(&(start, end)) => Some(&self.bytes[start as usize..end as usize]),
        }
    }

    /// How many distinct tokens there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The largest id.
    pub fn max_id(&self) -> Option<u32> {
        self.ranges.len().checked_sub(1).map(|id| id as u32)
    }

    /// The bytes of all tokens, and where in them each lies that is there, with its id and in the order
    /// of ids.
    pub(crate) fn places(&self) -> (&[u8], impl Iterator<Item = (Range<usize>, u32)>) {
        let there = |(&(start, end), id)| match (start, end) {
            ABSENT => None,
            _ => Some((start as usize..end as usize, id)),
        };
        (&self.bytes, self.ranges.iter().zip(0..).filter_map(there))
    }

    /// Tokens with their ids, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        (0..self.ranges.len() as u32).filter_map(|id| Some((self.token(id)?, id)))
    }
}

/// A token as messages show it: as text where it is text, escaped where it is not.
pub(crate) fn show(token: &[u8]) -> String {
    match std::str::from_utf8(token) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("b\"{}\"", token.escape_ascii()),
    }
}

impl PartialEq for Vocab {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for Vocab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vocab({} tokens)", self.len())
    }
}

impl TryFrom<Entries> for Vocab {
    type Error = Error;

    fn try_from(entries: Entries) -> Result<Self> {
        Self::of_list(entries.0)
    }
}

impl From<Vocab> for Entries {
    fn from(vocab: Vocab) -> Self {
        Self(
            vocab
                .iter()
                .map(|(token, id)| (token.to_vec(), id))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_refused() {
        let twice = Vocab::new([("a", 0), ("b", 0)]).unwrap_err();
        assert_eq!(twice.to_string(), "id 0 stands for both \"a\" and \"b\"");
        let doubled = Vocab::new([("a", 0), ("a", 1)]).unwrap_err();
        assert_eq!(doubled.to_string(), "token \"a\" has two ids, 0 and 1");
        assert!(Vocab::new([("a", u32::MAX)]).is_err());
    }

    #[test]
    fn of_a_token_listed_twice_the_later_id_is_found() {
        let vocab = Vocab::of_list([("a", 0), ("b", 1), ("a", 2)]).unwrap();
        assert_eq!((vocab.id(b"a"), vocab.len()), (Some(2), 2));
        assert_eq!(vocab.token(0), vocab.token(2));
    }
}
