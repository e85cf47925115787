//! Builds character maps: from rules to the bytes that `precompiled` reads.
//!
//! Look here for how a double array is laid out. Keys with the same ending share it. States are
//! placed one after another; each takes the first base, within the last blocks of 256 units, at which
//! all its successors are free, and a new block if there is none, so building is linear in
//! the size of the rules.

use std::collections::{BTreeMap, HashMap};

use super::Charsmap;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::tick;
use jeton_text::length_limit::LONGEST_REPLACEMENT;

/// Units of a block: one for each byte that a base can be combined with.
const BLOCK_UNITS: usize = 256;
/// Blocks at the end that are searched for free units.
const RECENT: usize = 16;

/// Bytes above which a key is refused, as when a map is read.
const LONGEST_KEY: usize = 1024;

/// What can follow at some place in a key: bytes with the states they lead to, and for the end of a
/// key, as byte 0, where its replacement begins.
type State = Vec<(u8, u32)>;

/// All states, equal ones once: keys share their ends as well as their beginnings.
#[derive(Default)]
struct States {
    list: Vec<State>,
    numbers: HashMap<State, u32>,
}

impl States {
    /// The state after the first `depth` bytes of all these keys, which are in order.
    fn of(&mut self, below: &[(&[u8], u32)], depth: usize) -> u32 {
        let mut state = State::new();
        let mut below = below;
        if let Some(((key, offset), rest)) = below.split_first()
            && key.len() == depth
        {
            state.push((0, *offset));
            below = rest;
        }
        for same in below.chunk_by(|(a, _), (b, _)| a[depth] == b[depth]) {
            state.push((same[0].0[depth], self.of(same, depth + 1)));
        }
        let next = self.list.len() as u32;
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.list.push(state.clone());
            next
        })
    }
}

#[derive(Default)]
struct Builder {
    units: Vec<u32>,
    taken: Vec<bool>,
    /// Whether a unit is the base of some state.
    is_base: Vec<bool>,
}

impl Charsmap {
    /// The map that replaces each key by its value.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use jeton_stages::normalizer::Charsmap;
    ///
    /// let rules = [("Æ", "AE"), ("ſ", "s"), ("ſſ", "ß")];
    /// let rules: BTreeMap<String, String> =
    ///     rules.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
    /// let map = Charsmap::compile(&rules)?;
    /// assert_eq!(map.longest_prefix("ſſx".as_bytes()), Some((4, "ß")));
    /// # Ok::<(), jeton_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// A key that is empty, very long, or holds U+0000; a value that is long or holds it.
    pub fn compile(rules: &BTreeMap<String, String>) -> Result<Self> {
        let mut replacements = String::new();
        let mut offsets: HashMap<&str, u32> = HashMap::new();
        let mut entries = Vec::with_capacity(rules.len());
        for (key, value) in rules {
            let holds_nul = key.contains('\0') || value.contains('\0');
            let is_long = key.len() > LONGEST_KEY || value.len() > LONGEST_REPLACEMENT;
            if key.is_empty() || is_long || holds_nul {
                let key: String = key.chars().take(40).collect();
                return Err(Error::new(
                    ErrorKind::Argument,
                    format!("the rule for {key:?} is empty, too long, or holds U+0000"),
                )
                .hint("leave it out"));
            }
            let offset = *offsets.entry(value).or_insert_with(|| {
                let offset = replacements.len() as u32;
                replacements.push_str(value);
                replacements.push('\0');
                offset
            });
            entries.push((key.as_bytes(), offset));
        }
        let mut states = States::default();
        let root = states.of(&entries, 0);
        let mut builder = Builder::default();
        builder.grow();
        builder.taken[0] = true;
        builder.is_base[0] = true;
        builder.place(&states.list, root);
        builder.fill_unused();
        let mut blob = (4 * builder.units.len() as u32).to_le_bytes().to_vec();
        blob.extend(builder.units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.extend(replacements.as_bytes());
        Self::new(&blob)
    }
}

impl Builder {
    fn grow(&mut self) {
        let size = self.units.len() + BLOCK_UNITS;
        self.units.resize(size, 0);
        self.taken.resize(size, false);
        self.is_base.resize(size, false);
    }

    /// Places the states from `root` on. The unit that leads to a state holds its base.
    fn place(&mut self, states: &[State], root: u32) {
        let mut bases = vec![None; states.len()];
        let mut waiting = vec![(0, root)];
        while let Some((at, number)) = waiting.pop() {
            let state = &states[number as usize];
            let ends = state.first().is_some_and(|(label, _)| *label == 0);
            let (base, is_new) = match bases[number as usize] {
                Some(base) => (base, false),
                None => (self.find_base(state), true),
            };
            // Arrays of rules are far smaller than 2^21 units, so the base is written as it is.
            self.units[at] |= ((at ^ base) as u32) << 10 | u32::from(ends) << 8;
            if !is_new {
                continue;
            }
            bases[number as usize] = Some(base);
            self.is_base[base] = true;
            for &(label, next) in state {
                let at = base ^ usize::from(label);
                self.taken[at] = true;
                self.units[at] = match label {
                    0 => next | 1 << 31,
                    _ => {
                        waiting.push((at, next));
                        u32::from(label)
                    }
                };
            }
        }
    }

    /// Gives unused units labels with which no state leads to them.
    fn fill_unused(&mut self) {
        for block in (0..self.units.len()).step_by(BLOCK_UNITS) {
            let unused_base = (block..block + BLOCK_UNITS).find(|&at| !self.is_base[at]);
            for at in block..block + BLOCK_UNITS {
                if let (false, Some(base)) = (self.taken[at], unused_base) {
                    self.units[at] = (at ^ base) as u32;
                }
            }
        }
    }

    fn find_base(&mut self, state: &State) -> usize {
        let fits = |builder: &Self, base: usize| {
            let free = |(label, _): &(u8, u32)| !builder.taken[base ^ usize::from(*label)];
            !builder.is_base[base] && state.iter().all(free)
        };
        let recent = self.units.len().saturating_sub(RECENT * BLOCK_UNITS);
        tick();
        if let Some(base) = (recent..self.units.len()).find(|&base| fits(self, base)) {
            return base;
        }
        let base = self.units.len();
        self.grow();
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_and_nothing_else() {
        let mut state = 3_u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) % below
        };
        let mut rules = BTreeMap::new();
        for _ in 0..5_000 {
            let key: String = (0..1 + next(4))
                .filter_map(|_| char::from_u32(0x41 + next(0x500)))
                .collect();
            rules.insert(key, format!("{}", next(300)));
        }
        let map = Charsmap::compile(&rules).unwrap();
        for (key, value) in &rules {
            let expected = Some((key.len(), value.as_str()));
            assert_eq!(map.longest_prefix(key.as_bytes()), expected);
        }
        let listed = map.rules().unwrap().into_iter();
        let listed: BTreeMap<String, String> = listed.map(|(k, v)| (k, v.to_owned())).collect();
        assert_eq!(listed, rules);
        for _ in 0..5_000 {
            let text: String = (0..4)
                .filter_map(|_| char::from_u32(0x41 + next(0x500)))
                .collect();
            let keys = text
                .char_indices()
                .map(|(at, c)| &text[..at + c.len_utf8()]);
            let expected = keys
                .filter_map(|key| Some((key.len(), rules.get(key)?.as_str())))
                .next_back();
            assert_eq!(map.longest_prefix(text.as_bytes()), expected);
        }
        assert!(Charsmap::compile(&BTreeMap::new()).is_ok());
        let empty = BTreeMap::from([(String::new(), "a".to_owned())]);
        assert!(Charsmap::compile(&empty).is_err());
    }
}
