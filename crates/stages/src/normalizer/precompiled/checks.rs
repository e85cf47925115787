//! The checks of a map: its trie must not point outside the map or back to itself, and its values must be text.

use super::double_array::{Children, base, ends_key, label, value};
use super::{Charsmap, broken};
use jeton_text::error::Result;
use jeton_text::length_limit::LONGEST_REPLACEMENT;

/// Bytes above which a key is refused, so that a lookup takes bounded time. SentencePiece's own keys
/// have fewer than 40.
const LONGEST_KEY: u32 = 1024;

impl Charsmap {
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

    /// Walks all that a lookup can reach, and says which bytes are in keys of more than one.
    pub(super) fn check(&self) -> Result<[bool; 256]> {
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
}

/// How far the check has come with a unit.
#[derive(Clone, Copy)]
enum State {
    New,
    OnPath,
    /// The longest way down from it, in bytes.
    Done(u32),
}
