//! SentencePiece's precompiled character map: a trie from UTF-8 strings to what they become.
//!
//! Look here for the blob's format: a little-endian `u32` that says how many bytes the trie has,
//! the trie as an array of `u32` units (Darts-clone's double array), then the replacements, each
//! ended by NUL. The value of a key is where its replacement begins.
//!
//! A unit of the double array, reached from a node whose children lie at `base`, for the byte `c`,
//! is the one at `base ^ c`:
//!
//! ```text
//! bits 0–7    c; with bit 31 set, the unit is a value and not a node
//! bit 8       whether a key ends here; its value is the unit at this node's own base
//! bits 9–30   this node's base, relative to the node: bits 10–30, times 256 if bit 9 is set
//! ```

use std::collections::HashSet;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::paced;
use jeton_text::length_limit::LONGEST_REPLACEMENT;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::AlignedText;

/// A precompiled character map that was checked when it was read.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct Charsmap {
    units: Vec<u32>,
    replacements: String,
    /// Which bytes are in keys of more than one byte, at the front or after it.
    inner_bytes: Box<[bool; 256]>,
    /// The characters that it may change, found on first use.
    changed: Lazy<CharacterSet>,
}

impl PartialEq for Charsmap {
    fn eq(&self, other: &Self) -> bool {
        (&self.units, &self.replacements) == (&other.units, &other.replacements)
    }
}

/// Bytes above which a key is refused, so that a lookup takes bounded time. SentencePiece's own keys
/// have fewer than 40.
const LONGEST_KEY: u32 = 1024;

/// Bytes of all keys together above which they are not listed. NFKC's have two million.
const KEY_BYTES: usize = 1 << 26;

/// States above which the characters of keys are not distinguished. NFKC's keys need some 80,000.
const MAX_STATES: usize = 1 << 20;

/// No code point.
const NO_CHARACTER: u32 = u32::MAX;

/// Bytes from which on `tokenizers` does not look up a grapheme cluster as a whole.
const WHOLE_GRAPHEME_LIMIT: usize = 6;

impl Charsmap {
    /// Reads the blob that a model file or a `tokenizer.json` (there in base64) holds.
    ///
    /// # Errors
    /// A blob that is cut short, that is not UTF-8 where it should be, or whose trie points
    /// outside of it or back at itself.
    pub fn new(blob: &[u8]) -> Result<Self> {
        let (size, rest) = blob
            .split_first_chunk()
            .ok_or_else(|| broken("it ends before the size of its trie"))?;
        let size = u32::from_le_bytes(*size) as usize;
        if size == 0 || !size.is_multiple_of(4) {
            return Err(broken(format!(
                "its trie has {size} bytes, not a positive multiple of 4"
            )));
        }
        let (trie, replacements) = rest.split_at_checked(size).ok_or_else(|| {
            broken(format!(
                "its trie should have {size} bytes, and only {} are there",
                rest.len()
            ))
        })?;
        let (units, _) = trie.as_chunks();
        let replacements = std::str::from_utf8(replacements)
            .map_err(|error| broken(format!("its replacements are not UTF-8: {error}")))?;
        let mut charsmap = Self {
            units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
            replacements: replacements.to_owned(),
            inner_bytes: Box::new([false; 256]),
            changed: Lazy::new(),
        };
        *charsmap.inner_bytes = charsmap.check()?;
        Ok(charsmap)
    }

    /// Refuses what SentencePiece refuses, though nothing may come of it: units that no
    /// key leads to, a trie that is not made of blocks of 256 units, replacements without an end.
    ///
    /// # Errors
    /// A unit, by number, or what else is broken.
    pub fn check_all(&self) -> Result<()> {
        let units = self.units.len();
        if !units.is_multiple_of(256) {
            return Err(broken(format!(
                "its trie has {} bytes, not a multiple of 1024",
                4 * units
            )));
        }
        if !self.replacements.ends_with('\0') {
            return Err(broken("its replacements do not end in a NUL"));
        }
        let is_value = |unit: u32| unit >> 31 == 1;
        let root = self.units[0];
        if is_value(root) || root & 0x1FF != 0 || base(0, root) == 0 {
            return Err(broken("its trie begins with a unit that is not a root"));
        }
        for (at, &unit) in self.units.iter().enumerate() {
            if is_value(unit) {
                if value(unit) >= self.replacements.len() {
                    return Err(broken(format!(
                        "unit {at} of its trie points past the replacements"
                    )));
                }
                continue;
            }
            let Some(&child) = self.units.get(base(at, unit)) else {
                return Err(broken(format!("unit {at} of its trie points past the end")));
            };
            if ends_key(unit) && !is_value(child) {
                return Err(broken(format!("unit {at} of its trie has no value")));
            }
        }
        Ok(())
    }

    /// The blob that this was read from.
    pub fn blob(&self) -> Vec<u8> {
        let size = 4 * self.units.len() as u32;
        let mut blob = size.to_le_bytes().to_vec();
        blob.extend(self.units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.extend(self.replacements.as_bytes());
        blob
    }

    /// How many bytes of `text` the longest key at its front takes, and what they become.
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, &str)> {
        self.prefixes(text).last()
    }

    /// Which bytes are in keys of more than one byte, at the front or after it.
    pub fn inner_bytes(&self) -> &[bool; 256] {
        &self.inner_bytes
    }

    /// Whether no key stands anywhere in `text`, so that it is left as it is. A key may begin where
    /// a character does.
    pub fn keeps(&self, text: &str) -> bool {
        let mut starts = paced(text.char_indices()).map(|(at, _)| &text.as_bytes()[at..]);
        starts.all(|rest| self.prefixes(rest).next().is_none())
    }

    /// Whether text of printable ASCII characters is always left as it is.
    pub fn keeps_ascii(&self) -> bool {
        let root = base(0, self.units[0]);
        (b'!'..=b'~').all(|byte| {
            let at = root ^ usize::from(byte);
            match self.units.get(at) {
                Some(&unit) if label(unit) == Some(byte) => {
                    !ends_key(unit) && !self.goes_on(at, |byte| byte.is_ascii())
                }
                _ => true,
            }
        })
    }

    /// Whether keys continue from the unit at `at` with a byte that `wanted` accepts.
    fn goes_on(&self, at: usize, wanted: impl Fn(u8) -> bool) -> bool {
        let base = base(at, self.units[at]);
        (1..=u8::MAX).filter(|byte| wanted(*byte)).any(|byte| {
            let unit = self.units.get(base ^ usize::from(byte));
            unit.is_some_and(|unit| label(*unit) == Some(byte))
        })
    }

    /// What `text` becomes in the eyes of `tokenizers`: what its *shortest* prefix that is a key
    /// becomes, the rest being lost.
    pub fn replacement(&self, text: &str) -> Option<&str> {
        self.prefixes(text.as_bytes())
            .next()
            .map(|(_, replacement)| replacement)
    }

    /// The keys at the front of `text`, shortest first: how many bytes each takes, and what it
    /// becomes.
    fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = (usize, &str)> {
        let mut base = base(0, self.units[0]);
        let steps = text.iter().map_while(move |&byte| {
            let at = base ^ usize::from(byte);
            let unit = *self.units.get(at)?;
            base = self::base(at, unit);
            (label(unit) == Some(byte)).then_some((unit, base))
        });
        let keys = steps.zip(1..).filter(|((unit, _), _)| ends_key(*unit));
        keys.map(|((_, base), length)| {
            let rest = &self.replacements[value(self.units[base])..];
            let (replacement, _) = rest.split_once('\0').unwrap_or((rest, ""));
            (length, replacement)
        })
    }

    /// The keys of several characters, or of parts of one, in no order; `None` if they have more
    /// than `KEY_BYTES` together, as they may where several ways lead to one unit.
    pub fn long_keys(&self) -> Option<Vec<Vec<u8>>> {
        self.keys(|key| !is_character(key))
    }

    /// All keys in their order, and what each becomes; `None` as for `long_keys`, or where a key is no
    /// UTF-8.
    pub fn rules(&self) -> Option<Vec<(String, &str)>> {
        let mut keys = self.keys(|_| true)?;
        keys.sort_unstable();
        let rules = keys.into_iter().map(|key| {
            let (_, replacement) = self.longest_prefix(&key)?;
            Some((String::from_utf8(key).ok()?, replacement))
        });
        rules.collect()
    }

    /// The keys that are wanted, in no order.
    fn keys(&self, is_wanted: impl Fn(&[u8]) -> bool) -> Option<Vec<Vec<u8>>> {
        let children = Children::of(&self.units);
        let mut keys = Vec::new();
        let mut waiting = vec![(0, Vec::new())];
        let mut bytes = 0;
        while let Some((node, key)) = waiting.pop() {
            for &child in children.of_node(node) {
                let unit = self.units[child as usize];
                let mut longer: Vec<u8> = key.clone();
                longer.extend(label(unit));
                bytes += longer.len();
                if bytes > KEY_BYTES {
                    return None;
                }
                if ends_key(unit) && is_wanted(&longer) {
                    keys.push(longer.clone());
                }
                waiting.push((child as usize, longer));
            }
        }
        Some(keys)
    }

    /// Whether a character is left as it is wherever it follows others that are.
    pub(super) fn keeps_character(&self, character: char) -> bool {
        let changed = self.changed.get(|| self.changed().unwrap_or_default());
        !changed.may_have(character.into())
    }

    /// The characters that are keys, or follow others in one. `None` if a key begins or ends inside
    /// a character, or if very many ways lead through the trie.
    fn changed(&self) -> Option<CharacterSet> {
        let children = Children::of(&self.units);
        let mut changed = CharacterSet(vec![0; CharacterSet::KNOWN / 64].into());
        // Many ways may lead to one unit.
        let mut met = HashSet::with_hasher(RandomState::default());
        let mut waiting = vec![(0, KeyFront::NONE)];
        while let Some((node, front)) = waiting.pop() {
            for &child in children.of_node(node) {
                let child = child as usize;
                let unit = self.units[child];
                let front = front.and(label(unit)?)?;
                if ends_key(unit) && front.missing > 0 {
                    return None;
                }
                if front.missing == 0 && (ends_key(unit) || !front.is_first) {
                    changed.add(front.last);
                }
                if met.insert((child, front.state())) {
                    waiting.push((child, front));
                }
                if met.len() > MAX_STATES {
                    return None;
                }
            }
        }
        Some(changed)
    }

    /// Walks all that a lookup can reach, and says which bytes are in keys of more than one.
    fn check(&self) -> Result<[bool; 256]> {
        let all_children = Children::of(&self.units);
        let children = |node| all_children.of_node(node);
        let mut inner_bytes = [false; 256];
        let mut state = vec![State::New; self.units.len()];
        // From the root down: each node, those of its children that are still to come, and the
        // longest way down from it so far.
        let mut path = vec![(0, children(0), 0)];
        state[0] = State::OnPath;
        while let Some((node, rest, longest)) = path.last_mut() {
            let (node, longest_here) = (*node, *longest);
            let Some(&child) = rest.next() else {
                path.pop();
                if longest_here > LONGEST_KEY {
                    return Err(broken(format!("a key has more than {LONGEST_KEY} bytes")));
                }
                state[node] = State::Done(longest_here);
                if let Some((_, _, longest)) = path.last_mut() {
                    *longest = (*longest).max(longest_here + 1);
                }
                continue;
            };
            let child = child as usize;
            if let Some(byte) = label(self.units[child])
                && (node != 0 || !children(child).as_slice().is_empty())
            {
                inner_bytes[usize::from(byte)] = true;
            }
            match state[child] {
                State::Done(length) => *longest = longest_here.max(length + 1),
                State::OnPath => {
                    return Err(broken(format!("unit {child} of its trie leads to itself")));
                }
                State::New => {
                    self.check_value(child)?;
                    state[child] = State::OnPath;
                    path.push((child, children(child), 0));
                }
            }
        }
        Ok(inner_bytes)
    }

    fn check_value(&self, node: usize) -> Result<()> {
        let unit = self.units[node];
        if !ends_key(unit) {
            return Ok(());
        }
        let at = base(node, unit);
        let offset = match self.units.get(at) {
            Some(unit) => value(*unit),
            None => {
                return Err(broken(format!(
                    "the value of unit {node} should be at {at}, and its trie has {} units",
                    self.units.len()
                )));
            }
        };
        if !self.replacements.is_char_boundary(offset) {
            return Err(broken(format!(
                "unit {node} of its trie points at byte {offset} of the replacements, where no character begins"
            )));
        }
        let most = self.replacements.as_bytes()[offset..]
            .iter()
            .take(LONGEST_REPLACEMENT + 1);
        if most.clone().all(|byte| *byte != 0) && most.len() > LONGEST_REPLACEMENT {
            Err(broken(format!(
                "it replaces something by more than {LONGEST_REPLACEMENT} bytes, which is the limit"
            )))
        } else {
            Ok(())
        }
    }

    /// Normalizes as `tokenizers` does: grapheme cluster by grapheme cluster, a short one first
    /// as a whole and else each of its characters by itself.
    pub(super) fn normalize(&self, text: &mut AlignedText) -> Result<()> {
        let old = text.clone();
        let mut new = String::with_capacity(old.as_str().len());
        let mut origins = Vec::new();
        let mut changed = false;
        let room = text.room();
        let mut add = |at: usize, part: &str, replacement: Option<&str>| {
            changed |= replacement.is_some();
            let replacement = replacement.unwrap_or(part);
            // What is removed at the front counts as part of the first text that is left.
            let from = if new.is_empty() { 0 } else { at };
            new.push_str(replacement);
            origins.push((from..at + part.len(), replacement.len()));
            new.len() <= room
        };
        for (start, grapheme) in paced(old.as_str().grapheme_indices(true)) {
            let whole = if grapheme.len() < WHOLE_GRAPHEME_LIMIT {
                self.replacement(grapheme)
            } else {
                None
            };
            let goes_on = match whole {
                Some(_) => add(start, grapheme, whole),
                None => grapheme.char_indices().all(|(at, character)| {
                    let character = &grapheme[at..at + character.len_utf8()];
                    add(start + at, character, self.replacement(character))
                }),
            };
            if !goes_on {
                break;
            }
        }
        if changed {
            text.replace(new, origins)
        } else {
            Ok(())
        }
    }
}

impl std::fmt::Debug for Charsmap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Charsmap")
            .field("units", &self.units.len())
            .field("replacements", &self.replacements.len())
            .finish()
    }
}

impl TryFrom<Vec<u8>> for Charsmap {
    type Error = Error;

    fn try_from(blob: Vec<u8>) -> Result<Self> {
        Self::new(&blob)
    }
}

impl From<Charsmap> for Vec<u8> {
    fn from(charsmap: Charsmap) -> Self {
        charsmap.blob()
    }
}

fn is_character(key: &[u8]) -> bool {
    std::str::from_utf8(key).is_ok_and(|key| key.chars().nth(1).is_none())
}

/// The units of a trie by the base that they belong to.
struct Children<'a> {
    units: &'a [u32],
    /// Where the children of each base begin among all.
    firsts: Vec<u32>,
    children: Vec<u32>,
}

impl<'a> Children<'a> {
    fn of(units: &'a [u32]) -> Self {
        // A child lies in the block of 256 of its base.
        let bases = units.len().next_multiple_of(256);
        let with_base = || {
            let units = units.iter().enumerate();
            units.filter_map(|(at, unit)| Some((at ^ usize::from(label(*unit)?), at)))
        };
        let mut firsts = vec![0; bases + 1];
        for (base, _) in with_base() {
            firsts[base] += 1;
        }
        let mut end = 0;
        for first in &mut firsts {
            end += *first;
            *first = end;
        }
        let mut children = vec![0; end as usize];
        for (base, child) in with_base().rev() {
            firsts[base] -= 1;
            children[firsts[base] as usize] = child as u32;
        }
        Self {
            units,
            firsts,
            children,
        }
    }

    fn of_node(&self, node: usize) -> std::slice::Iter<'_, u32> {
        let base = base(node, self.units[node]);
        match self.firsts.get(base..base + 2) {
            Some(&[first, end]) => self.children[first as usize..end as usize].iter(),
            _ => [].iter(),
        }
    }
}

/// A set of characters. Those from `CharacterSet::KNOWN` on may always be in it; by default, all may be.
#[derive(Clone, Debug, Default)]
struct CharacterSet(Box<[u64]>);

impl CharacterSet {
    /// Code points below which nearly all characters of any text are.
    const KNOWN: usize = 0x2_0000;

    fn add(&mut self, character: u32) {
        if let Some(bits) = self.0.get_mut(character as usize / 64) {
            *bits |= 1 << (character % 64);
        }
    }

    fn may_have(&self, character: u32) -> bool {
        let bits = self.0.get(character as usize / 64);
        bits.is_none_or(|bits| bits >> (character % 64) & 1 == 1)
    }
}

/// The front of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct KeyFront {
    /// No more than one character has begun.
    is_first: bool,
    /// The last one, and how many of its bytes are still to come.
    last: u32,
    missing: u32,
}

impl KeyFront {
    /// That of no character.
    const NONE: Self = Self {
        is_first: true,
        last: NO_CHARACTER,
        missing: 0,
    };

    /// With one more byte; none where that cannot be UTF-8.
    fn and(self, byte: u8) -> Option<Self> {
        let ones = byte.leading_ones();
        match (self.missing, ones) {
            (0, 0 | 2..=4) => Some(Self {
                is_first: self.last == NO_CHARACTER,
                last: u32::from(byte) & (0x7F >> ones),
                missing: ones.saturating_sub(1),
            }),
            (1.., 1) => Some(Self {
                last: self.last << 6 | u32::from(byte) & 0x3F,
                missing: self.missing - 1,
                ..self
            }),
            _ => None,
        }
    }

    /// What of it matters for how a key goes on.
    fn state(self) -> Self {
        match self.missing {
            0 => Self {
                is_first: false,
                last: 0,
                missing: 0,
            },
            _ => self,
        }
    }
}

/// How far the check has come with a unit.
#[derive(Clone, Copy)]
enum State {
    New,
    OnPath,
    /// The longest way down from it, in bytes.
    Done(u32),
}

/// The byte that leads to a unit; a value has none.
fn label(unit: u32) -> Option<u8> {
    (unit >> 31 == 0 && unit & 0xFF != 0).then_some(unit as u8)
}

fn ends_key(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

fn value(unit: u32) -> usize {
    (unit & 0x7FFF_FFFF) as usize
}

/// Where the children of the unit at `at` lie, and its value.
fn base(at: usize, unit: u32) -> usize {
    let scale = if unit >> 9 & 1 == 1 { 8 } else { 0 };
    at ^ ((unit >> 10) as usize) << scale
}

fn broken(reason: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Format,
        format!("the precompiled character map is broken: {reason}"),
    )
    .hint("take it again from the model it belongs to")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOB: &[u8] = include_bytes!("../../../../testdata/charsmap.bin");

    #[test]
    fn the_longest_key_at_the_front_is_found() {
        let charsmap = Charsmap::new(BLOB).unwrap();
        let found = |text: &str| charsmap.longest_prefix(text.as_bytes());
        assert_eq!(found("Ax"), Some((1, "a")));
        assert_eq!(found("Ex"), Some((1, "e")));
        assert_eq!(found("E\u{301}x"), Some((3, "é")));
        assert_eq!(found("\u{200b}"), Some((3, "")));
        assert_eq!(found("x"), None);
        assert_eq!(found("\0A"), None);
        assert_eq!(found(""), None);
        assert_eq!(charsmap.longest_prefix(&[0xE2, 0x80]), None);
    }

    #[test]
    fn bytes_inside_keys_are_told_from_those_that_are_keys() {
        let charsmap = Charsmap::new(BLOB).unwrap();
        let inner = charsmap.inner_bytes();
        assert!(inner[usize::from(b'E')] && inner[0xCC] && inner[0x81]);
        assert!(!inner[usize::from(b'A')] && !inner[usize::from(b' ')]);
    }

    #[test]
    fn characters_that_no_key_changes_are_kept() {
        let map = Charsmap::new(BLOB).unwrap();
        let keys = map.long_keys().unwrap();
        let keys: Vec<&str> = (keys.iter())
            .map(|key| std::str::from_utf8(key).unwrap())
            .collect();
        for c in (0..CharacterSet::KNOWN as u32).filter_map(char::from_u32) {
            let is_key = map.longest_prefix(c.to_string().as_bytes()).is_some();
            let is_behind = keys.iter().any(|key| key.chars().skip(1).any(|it| it == c));
            assert_eq!(map.keeps_character(c), !is_key && !is_behind, "{c:?}");
        }
    }

    #[test]
    fn keys_of_several_characters_are_listed() {
        let mut keys = Charsmap::new(BLOB).unwrap().long_keys().unwrap();
        keys.retain(|key| key.starts_with(b"E"));
        keys.sort();
        assert_eq!(keys, ["E\u{301}".as_bytes()]);
    }

    fn refused(blob: &[u8], reason: &str) {
        let error = Charsmap::new(blob).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains(reason), "{error}");
    }

    fn blob(units: &[u32], replacements: &[u8]) -> Vec<u8> {
        let mut blob = (4 * units.len() as u32).to_le_bytes().to_vec();
        blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.extend(replacements);
        blob
    }

    /// A unit reached by `byte`, whose children lie at `at ^ offset`.
    fn unit(byte: u8, offset: u32, ends_key: bool) -> u32 {
        offset << 10 | u32::from(ends_key) << 8 | u32::from(byte)
    }

    #[test]
    fn broken_blobs_are_refused() {
        refused(b"", "ends before the size");
        refused(&[0; 4], "not a positive multiple of 4");
        refused(&[3, 0, 0, 0, 1, 2, 3], "not a positive multiple of 4");
        refused(&[0xFC, 0xFF, 0xFF, 0xFF, 1], "only 1 are there");
        refused(&BLOB[..500], "only 496 are there");
        refused(&blob(&[0], b"\xFF\0"), "not UTF-8");
        // From the root by 1 to unit 1, whose value lies outside.
        refused(
            &blob(&[0, unit(1, 1 << 10, true)], b"x\0"),
            "should be at 1025",
        );
        // Its value points outside of the replacements, or into a character.
        refused(
            &blob(&[0, unit(1, 2, true), 0, 9], b"x\0"),
            "byte 9 of the replacements",
        );
        refused(
            &blob(&[0, unit(1, 2, true), 0, 1], "é\0".as_bytes()),
            "byte 1 of the",
        );
        // From unit 1 by 1 to unit 1.
        refused(&blob(&[0, unit(1, 1, false)], b""), "leads to itself");
        // The root's children lie where the root itself is reached by no byte: nothing to find.
        Charsmap::new(&blob(&[0], b"")).unwrap();
    }

    #[test]
    fn no_corruption_panics_or_hangs() {
        let text = "AÉE\u{301}ﬁ½\u{200b}xyz\0\u{10ffff}";
        for position in 0..BLOB.len() {
            for change in [0x01, 0x02, 0x80, 0xFF] {
                let mut blob = BLOB.to_vec();
                blob[position] ^= change;
                if let Ok(charsmap) = Charsmap::new(&blob) {
                    charsmap.longest_prefix(text.as_bytes());
                    let mut text = AlignedText::original(text);
                    charsmap.normalize(&mut text).unwrap();
                }
            }
            let _ = Charsmap::new(&BLOB[..position]);
        }
    }
}
