//! Searches in text.

use crate::interrupt::paced;

/// The last place up to `at` where a character begins or the text ends.
pub fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The places of a text in another, from left to right, without overlap.
fn occurrences(text: &str, wanted: &str) -> impl Iterator<Item = usize> {
    paced(text.match_indices(wanted)).map(|(at, _)| at)
}

/// How often `wanted`, which is not empty, is in a text.
pub fn count(text: &str, wanted: &str) -> usize {
    occurrences(text, wanted).count()
}

/// `text` with another in place of each occurrence of `from`, which is not empty; `capacity` is how
/// long about it becomes.
pub fn replaced(text: &str, from: &str, to: &str, capacity: usize) -> String {
    let mut new = String::with_capacity(capacity);
    let mut done = 0;
    for at in occurrences(text, from) {
        new.push_str(&text[done..at]);
        new.push_str(to);
        done = at + from.len();
    }
    new.push_str(&text[done..]);
    new
}

/// How many bytes of white space these characters begin with.
pub fn white_space(characters: impl Iterator<Item = char>) -> usize {
    let spaces = characters.take_while(|c| c.is_whitespace());
    spaces.map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_occurrences_are_replaced() {
        for wanted in ["a", "aa", "aab", "▁", "▁▁", "b▁▁a", "é▁", "x"] {
            let text = "aaaab▁▁ab▁aaé▁";
            assert_eq!(replaced(text, wanted, "--", 0), text.replace(wanted, "--"));
            assert_eq!(count(text, wanted), text.matches(wanted).count());
        }
    }
}
