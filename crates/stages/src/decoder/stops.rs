//! Stop texts: finds the first of them that is complete, in text that arrives in parts.

use std::sync::Arc;

/// Finds the first stop text in a stream, even if it arrives in several parts.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    stops: Arc<[String]>,
    /// Text that may begin one of them.
    kept: String,
    found: Option<usize>,
}

impl Stops {
    /// Looks for the first of `stops` in text that comes in pieces.
    pub fn new(stops: Vec<String>) -> Self {
        Self {
            stops: stops.into(),
            ..Self::default()
        }
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.stops.is_empty()
    }

    /// The text that was found, by its number.
    pub fn first_match(&self) -> Option<usize> {
        self.found
    }

    /// Appends to `text` what of `more` surely comes before a stop; at the end, that is all if there
    /// is none.
    pub fn push(&mut self, more: &str, is_end: bool, text: &mut String) {
        if self.found.is_some() {
            return;
        }
        if self.stops.is_empty() {
            return text.push_str(more);
        }
        self.kept.push_str(more);
        let ends = self.stops.iter().enumerate().filter_map(|(number, stop)| {
            let start = self.kept.find(stop.as_str())?;
            Some((start + stop.len(), start, number))
        });
        if let Some((_, start, number)) = ends.min() {
            self.found = Some(number);
            text.push_str(&self.kept[..start]);
            self.kept.clear();
            return;
        }
        let begun = if is_end { 0 } else { self.begun() };
        let sure = self.kept.len() - begun;
        text.push_str(&self.kept[..sure]);
        self.kept.drain(..sure);
    }

    /// How many bytes at the end of what is kept may begin a stop.
    fn begun(&self) -> usize {
        let begun = self.stops.iter().map(|stop| {
            let most = stop.len().min(self.kept.len() + 1);
            let lengths = (1..most).rev().filter(|&n| stop.is_char_boundary(n));
            let mut lengths = lengths.filter(|&n| self.kept.ends_with(&stop[..n]));
            lengths.next().unwrap_or(0)
        });
        begun.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_first_stop_to_be_complete_is_found(
            parts in prop::collection::vec("[abcé]{0,3}", 0..8),
            stops in prop::collection::vec("[abcé]{1,4}", 0..4),
        ) {
            let whole = parts.concat();
            let ends = stops.iter().enumerate().filter_map(|(number, stop)| {
                let start = whole.find(stop.as_str())?;
                Some((start + stop.len(), start, number))
            });
            let first = ends.min();
            let (mut found, mut text) = (Stops::new(stops.clone()), String::new());
            for part in &parts {
                found.push(part, false, &mut text);
                // Nothing is kept that cannot begin a stop.
                prop_assert!(found.kept.is_empty() || found.begun() == found.kept.len());
            }
            found.push("", true, &mut text);
            prop_assert_eq!(found.first_match(), first.map(|(_, _, number)| number));
            prop_assert_eq!(&text, first.map_or(whole.as_str(), |(_, start, _)| &whole[..start]));
        }
    }
}
