//! How deeply sequences of stages may be nested in an untrusted file.

use std::cell::Cell;

use serde::{Deserialize, Deserializer};

/// Levels of sequences of stages, one inside the other, that an image may have.
const MAX_DEPTH: usize = 64;

/// Reads the parts of a sequence of stages, no deeper than `MAX_DEPTH`: a few bytes of image
/// can ask for a level each, and each level takes stack.
pub fn nested<'de, D, T>(deserializer: D) -> std::result::Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });

    struct Level;

    impl Drop for Level {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }

    DEPTH.set(DEPTH.get() + 1);
    let _level = Level;
    if DEPTH.get() > MAX_DEPTH {
        return Err(serde::de::Error::custom("sequences nested too deeply"));
    }
    Vec::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use crate::normalizer::Normalizer;

    #[test]
    fn deep_nesting_is_refused() {
        let sequence = postcard::to_allocvec(&Normalizer::Sequence(vec![])).unwrap()[0];
        let image = [sequence, 1].repeat(1_000_000);
        assert!(postcard::from_bytes::<Normalizer>(&image).is_err());
        let image = [[sequence, 1].repeat(10).as_slice(), &[sequence, 0]].concat();
        assert!(postcard::from_bytes::<Normalizer>(&image).is_ok());
    }
}
