//! SentencePiece's precompiled character map: a trie from UTF-8 strings to what they become.
//!
//! Look here for the blob's format: a little-endian `u32` that says how many bytes the trie has,
//! the trie as an array of `u32` units (Darts-clone's double array), then the replacements, each
//! ended by NUL. The value of a key is where its replacement begins.

mod changed_characters;
mod checks;
mod double_array;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use changed_characters::CharacterSet;
use double_array::{Children, base, ends_key, label, value};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::tick;
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

/// Bytes of all keys together above which they are not listed. NFKC's have two million.
const KEY_BYTES: usize = 1 << 26;

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
        let mut starts = text.char_indices().map(|(at, _)| &text.as_bytes()[at..]);
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
        tick();
        let mut base = base(0, self.units[0]);
        let steps = text.iter().map_while(move |&byte| {
            let at = base ^ usize::from(byte);
            let unit = *self.units.get(at)?;
            base = double_array::base(at, unit);
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
        for (start, grapheme) in old.as_str().grapheme_indices(true) {
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
