//! Which characters a map may change: those of its keys, the first and those after it.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::Charsmap;
use super::double_array::{Children, ends_key, label};

/// States above which the characters of keys are not distinguished. NFKC's keys need some 80,000.
const MAX_STATES: usize = 1 << 20;

/// No code point.
const NO_CHARACTER: u32 = u32::MAX;

impl Charsmap {
    /// The characters that are keys, or follow others in one. `None` if a key begins or ends inside
    /// a character, or if very many ways lead through the trie.
    pub(super) fn changed(&self) -> Option<CharacterSet> {
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
}

/// A set of characters. Those from `CharacterSet::KNOWN` on may always be in it; by default, all may be.
#[derive(Clone, Debug, Default)]
pub struct CharacterSet(Box<[u64]>);

impl CharacterSet {
    /// Code points below which nearly all characters of any text are.
    pub const KNOWN: usize = 0x2_0000;

    fn add(&mut self, character: u32) {
        if let Some(bits) = self.0.get_mut(character as usize / 64) {
            *bits |= 1 << (character % 64);
        }
    }

    pub fn may_have(&self, character: u32) -> bool {
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

    /// The part of this that decides how a key can continue.
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
