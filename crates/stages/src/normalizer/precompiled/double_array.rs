//! Units of Darts-clone's double array: what their bits say, and which children a node has.
//!
//! A unit, reached from a node whose children lie at `base`, for the byte `c`, is the one at `base ^ c`:
//!
//! ```text
//! bits 0–7    c; with bit 31 set, the unit is a value and not a node
//! bit 8       whether a key ends here; its value is the unit at this node's own base
//! bits 9–30   this node's base, relative to the node: bits 10–30, times 256 if bit 9 is set
//! ```

/// The units of a trie by the base that they belong to.
pub struct Children<'a> {
    units: &'a [u32],
    /// Where the children of each base begin among all.
    firsts: Vec<u32>,
    children: Vec<u32>,
}

impl<'a> Children<'a> {
    pub fn of(units: &'a [u32]) -> Self {
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

    pub fn of_node(&self, node: usize) -> std::slice::Iter<'_, u32> {
        let base = base(node, self.units[node]);
        match self.firsts.get(base..base + 2) {
            Some(&[first, end]) => self.children[first as usize..end as usize].iter(),
            _ => [].iter(),
        }
    }
}

/// The byte that leads to a unit; a value has none.
pub fn label(unit: u32) -> Option<u8> {
    (unit >> 31 == 0 && unit & 0xFF != 0).then_some(unit as u8)
}

pub fn ends_key(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

pub fn value(unit: u32) -> usize {
    (unit & 0x7FFF_FFFF) as usize
}

/// Where the children of the unit at `at` lie, and its value.
pub fn base(at: usize, unit: u32) -> usize {
    let scale = if unit >> 9 & 1 == 1 { 8 } else { 0 };
    at ^ ((unit >> 10) as usize) << scale
}
