//! A vocabulary: from ids to byte strings, and back.

mod withheld;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use serde::{Deserialize, Serialize};
use std::hash::BuildHasher;

use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::tick;
use jeton_text::mem::short_keys::{SHORT, ShortKey};
use withheld::Withheld;

/// The largest id of a token. With larger ones, a table from ids to tokens would not fit in memory.
pub const MAX_ID: u32 = (1 << 24) - 1;

/// The tokens of a model: byte strings, each with one id. Ids may have gaps.
///
/// All bytes lie in one buffer; the index of their hashes holds ids only.
///
/// ```
/// use jeton_stages::vocab::Vocab;
///
/// let vocab = Vocab::new([(b"a".as_slice(), 0), (b"ab".as_slice(), 5)])?;
/// assert_eq!(vocab.id(b"ab"), Some(5));
/// assert_eq!(vocab.token(5), Some(b"ab".as_slice()));
/// assert_eq!(vocab.token(1), None);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Entries", into = "Entries")]
pub struct Vocab {
    bytes: Vec<u8>,
    /// Where each id's token lies in `bytes`; `ABSENT` for a gap.
    ranges: Vec<(u32, u32)>,
    index: Index,
    /// The tokens that text never becomes. The tokenizer sets them; they are no part of the vocabulary's value.
    withheld: Withheld,
}

/// The range of an id without a token.
pub const ABSENT: (u32, u32) = (u32::MAX, u32::MAX);

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

    /// The vocabulary of a list in which a token may occur twice, as in lists that `tokenizers`
    /// trained: both ids decode to the token, and the token encodes to the later id.
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
        vocab.index = Index::with_room(count);
        for (token, id) in entries {
            vocab.insert(token.as_ref(), id, twice)?;
        }
        Ok(vocab)
    }

    /// The vocabulary of tokens that lie in `bytes`, one after the other in the order of ids, by
    /// where they end. `None` where [`Vocab::new`] would refuse them.
    pub fn of_ends(bytes: Vec<u8>, ends: &[usize]) -> Option<Self> {
        u32::try_from(bytes.len()).ok()?;
        let mut start = 0;
        let ranges = ends
            .iter()
            .map(|end| (std::mem::replace(&mut start, *end as u32), start));
        Self::of_ranges(bytes, ranges.collect())
    }

    /// The vocabulary of tokens that lie in `bytes`, by their ids, each once; [`ABSENT`] where there
    /// is none. `None` where [`Vocab::new`] would refuse them.
    pub fn of_ranges(bytes: Vec<u8>, ranges: Vec<(u32, u32)>) -> Option<Self> {
        if u32::try_from(bytes.len()).is_err() || ranges.len() > MAX_ID as usize + 1 {
            return None;
        }
        let there = |range: &&(u32, u32)| **range != ABSENT;
        let mut index = Index::with_room(ranges.iter().filter(there).count());
        let Index { ids, hashes } = &mut index;
        let hash = |&id: &u32| hashes.of_range(&bytes, ranges[id as usize]);
        for (&(start, end), id) in ranges.iter().zip(0..).filter(|(range, _)| there(range)) {
            let token = &bytes[start as usize..end as usize];
            let is = |&other: &u32| {
                let (start, end) = ranges[other as usize];
                bytes[start as usize..end as usize] == *token
            };
            match ids.entry(hash(&id), is, hash) {
                Entry::Occupied(_) => return None,
                Entry::Vacant(free) => drop(free.insert(id)),
            }
        }
        Some(Self {
            bytes,
            ranges,
            index,
            withheld: Withheld::default(),
        })
    }

    /// Takes a token in; `twice` says whether it may be there already, under another id.
    fn insert(&mut self, token: &[u8], id: u32, twice: bool) -> Result<()> {
        let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
        let hash = self.index.hashes.of(token, 0, token.len());
        let known = self
            .index
            .ids
            .find(hash, |other| self.token(*other) == Some(token));
        let known = known.copied();
        if let Some(other) = known
            && !twice
        {
            let token = show(token);
            return broken(format!("token {token} has two ids, {other} and {id}"));
        }
        if id > MAX_ID {
            return broken(format!(
                "token {} has id {id}, past the largest supported id {MAX_ID}",
                show(token)
            ));
        }
        if let Some(other) = self.token(id) {
            let other = show(other);
            return broken(format!(
                "id {id} is used for both {other} and {}",
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
            ..
        } = self;
        let Index { ids, hashes } = index;
        match known.and_then(|other| ids.find_mut(hash, |it| *it == other)) {
            Some(other) => *other = id,
            None => {
                let hash_of = |id: &u32| hashes.of_range(bytes, ranges[*id as usize]);
                ids.insert_unique(hash, id, hash_of);
            }
        }
        Ok(())
    }

    /// The id of a token.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        tick();
        self.id_of_part(token, 0, token.len())
    }

    /// The id of the token `text[start..start + length]`: sooner than [`Self::id`] where text goes on
    /// after it.
    #[inline]
    pub fn id_of_part(&self, text: &[u8], start: usize, length: usize) -> Option<u32> {
        let hash = self.index.hashes.of(text, start, length);
        let token = &text[start..start + length];
        let id = self
            .index
            .ids
            .find(hash, |id| self.token(*id) == Some(token));
        id.copied()
    }

    /// The id of the token that text of this spelling is: no withheld one.
    pub fn text_id(&self, text: &[u8]) -> Option<u32> {
        self.id(text).filter(|id| !self.withheld.contains(*id))
    }

    /// Withholds those of these ids that have a token, and no others.
    pub fn withhold(&mut self, ids: &[u32]) {
        let known = ids.iter().copied().filter(|id| self.token(*id).is_some());
        self.withheld = Withheld::new(&known.collect::<Vec<_>>());
    }

    /// The ids of the tokens that text never becomes.
    pub fn withheld(&self) -> &Withheld {
        &self.withheld
    }

    /// The tokens that text may become with their ids, in the order of ids.
    pub fn texts(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.iter().filter(|(_, id)| !self.withheld.contains(*id))
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
        self.index.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest id.
    pub fn max_id(&self) -> Option<u32> {
        self.ranges.len().checked_sub(1).map(|id| id as u32)
    }

    /// Tokens with their ids, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        (0..self.ranges.len() as u32).filter_map(|id| Some((self.token(id)?, id)))
    }
}

/// Ids by the hash of their tokens.
#[derive(Clone)]
struct Index {
    ids: HashTable<u32>,
    hashes: Hashes,
}

/// The hashes of tokens.
#[derive(Clone)]
struct Hashes {
    /// Moves the hashes of short tokens, so that no file can aim them at one place.
    seed: u64,
    /// The same for others.
    long: RandomState,
}

impl Default for Index {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl Index {
    /// An empty one with room for this many ids.
    fn with_room(count: usize) -> Self {
        let long = RandomState::default();
        Self {
            ids: HashTable::with_capacity(count),
            hashes: Hashes {
                seed: long.hash_one(0),
                long,
            },
        }
    }
}

impl Hashes {
    /// The hash of `text[start..start + length]`.
    #[inline]
    fn of(&self, text: &[u8], start: usize, length: usize) -> u64 {
        match length {
            ..=SHORT => ShortKey::new(text, start, length).hash(self.seed),
            _ => self.long.hash_one(&text[start..start + length]),
        }
    }

    /// The hash of what lies between two places.
    #[inline]
    fn of_range(&self, text: &[u8], (start, end): (u32, u32)) -> u64 {
        self.of(text, start as usize, (end - start) as usize)
    }
}

/// A token as messages show it: as text where it is text, escaped where it is not.
pub fn show(token: &[u8]) -> String {
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
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn contradictions_are_refused() {
        let twice = Vocab::new([("a", 0), ("b", 0)]).unwrap_err();
        assert_eq!(twice.to_string(), "id 0 is used for both \"a\" and \"b\"");
        let doubled = Vocab::new([("a", 0), ("a", 1)]).unwrap_err();
        assert_eq!(doubled.to_string(), "token \"a\" has two ids, 0 and 1");
        assert!(Vocab::new([("a", u32::MAX)]).is_err());
    }

    #[test]
    fn every_token_is_found_and_no_other() {
        for count in [0, 1, 2, 300, 20_000] {
            let tokens: Vec<Vec<u8>> = (0..count)
                .map(|n: u32| n.to_string().repeat(n as usize % 7 + 1).into_bytes())
                .collect();
            let entries = || tokens.iter().zip((0..).step_by(3));
            let taken = Vocab::new(entries()).unwrap();
            let bytes: Vec<u8> = tokens.concat();
            let mut ranges = vec![ABSENT; 3 * tokens.len()];
            let mut start = 0;
            for (token, id) in entries() {
                ranges[id as usize] = (start, start + token.len() as u32);
                start += token.len() as u32;
            }
            let placed = Vocab::of_ranges(bytes.clone(), ranges.clone()).unwrap();
            assert_eq!(taken, placed);
            let mut start = 0;
            for (token, id) in entries() {
                assert_eq!((taken.id(token), placed.id(token)), (Some(id), Some(id)));
                assert_eq!(taken.id_of_part(&bytes, start, token.len()), Some(id));
                assert_eq!(taken.id(&[token, &b"-"[..]].concat()), None);
                start += token.len();
            }
            assert_eq!((taken.len(), taken.id(b"")), (count as usize, None));
            if count > 1 {
                ranges[2] = ranges[0];
                assert!(Vocab::of_ranges(bytes, ranges).is_none());
            }
        }
    }

    #[test]
    fn of_a_token_listed_twice_the_later_id_is_found() {
        let vocab = Vocab::of_list([("a", 0), ("b", 1), ("a", 2)]).unwrap();
        assert_eq!((vocab.id(b"a"), vocab.len()), (Some(2), 2));
        assert_eq!(vocab.token(0), vocab.token(2));
    }

    /// Tokens of which one half would make the product of both nothing but the other, if the seed moved
    /// one factor only. With one seed in two hundred, places are shared by chance, so the median of five counts.
    #[test]
    fn no_file_aims_tokens_at_one_place() {
        let endings: [&[u8]; 2] = [
            b"\x15\x7c\x4a\x7f\xb9\x79\x37",
            b"\xdd\x50\x7c\xc9\xb7\x29\xac\xc0\xdd\x50\x7c\xc9\xb7\x29\xac\xc0",
        ];
        for ending in endings {
            let homes = || {
                let hashes = Index::default().hashes;
                (0..4_000u64)
                    .map(|number| [&number.to_be_bytes(), ending].concat())
                    .map(|token| hashes.of(&token, 0, token.len()) % (1 << 13))
                    .collect::<HashSet<u64>>()
                    .len()
            };
            let mut counts = [(); 5].map(|()| homes());
            counts.sort_unstable();
            assert!(counts[2] > 2_000, "{counts:?}");
        }
    }
}
