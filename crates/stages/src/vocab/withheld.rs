//! Tokens that a model does not find in text, whatever the text spells.
//!
//! These are the special tokens in the model's own vocabulary. Look here for why
//! `special="ignore"` costs nothing in a call: they are withheld once, when a tokenizer is built.

/// The ids of tokens that are withheld.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// A bit for each id up to the greatest.
    words: Vec<u64>,
}

impl Withheld {
    /// The set of these ids.
    pub(crate) fn new(ids: &[u32]) -> Self {
        let count = ids.iter().max().map_or(0, |max| *max as usize / 64 + 1);
        let mut words = vec![0; count];
        for id in ids {
            words[*id as usize / 64] |= 1 << (id % 64);
        }
        Self { words }
    }

    /// Whether an id is in it.
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        let word = self.words.get(id as usize / 64);
        word.is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The ids, in order.
    pub fn ids(&self) -> Vec<u32> {
        let some = (0..).step_by(64).zip(&self.words);
        let some = some.filter(|(_, word)| **word != 0);
        some.flat_map(|(first, _)| first..first + 64)
            .filter(|id| self.contains(*id))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_was_given() {
        for ids in [&[][..], &[0], &[63, 64], &[5, 1000, 64 * 17 - 1]] {
            let withheld = Withheld::new(ids);
            assert_eq!(withheld.ids(), ids);
            assert_eq!(withheld.is_empty(), ids.is_empty());
            for id in (0..1100).chain([u32::MAX]) {
                assert_eq!(withheld.contains(id), ids.contains(&id), "{id}");
            }
        }
    }
}
