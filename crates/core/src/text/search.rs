//! Searches in text that an interrupt can end, and what is done with what they find.

use crate::interrupt::{paced, poll};

/// The last place up to `at` where a character begins or the text ends.
pub(crate) fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Bytes that are searched for a text in one go.
const STRETCH: usize = 1 << 20;

/// Where `wanted`, which is not empty, stands in a text, from left to right and beside each other: what
/// `match_indices` gives, which hears no interrupt while it finds nothing, so it goes over `stretch`
/// bytes at a time.
fn occurrences<'t>(
    text: &'t str,
    wanted: &'t str,
    stretch: usize,
) -> impl Iterator<Item = usize> + 't {
    // What begins before `sure` ends in the stretch that is searched.
    let searched = move |start: usize| {
        let sure = boundary_before(text, start.saturating_add(stretch.max(4)));
        let seen = boundary_before(text, sure.saturating_add(wanted.len()));
        (start, sure, text[start..seen].match_indices(wanted))
    };
    let (mut start, mut sure, mut found) = searched(0);
    let mut done = 0;
    std::iter::from_fn(move || {
        loop {
            match found.next() {
                Some((at, _)) if start + at < sure => {
                    done = start + at + wanted.len();
                    return Some(start + at);
                }
                _ if sure == text.len() => return None,
                _ => {
                    poll();
                    (start, sure, found) = searched(sure.max(done));
                }
            }
        }
    })
}

/// How often `wanted`, which is not empty, stands in a text.
pub(crate) fn count(text: &str, wanted: &str) -> usize {
    paced(occurrences(text, wanted, STRETCH)).count()
}

/// `text` with another in place of each occurrence of `from`, which is not empty; `capacity` is how
/// long about it becomes.
pub(crate) fn replaced(text: &str, from: &str, to: &str, capacity: usize) -> String {
    let mut new = String::with_capacity(capacity);
    let mut done = 0;
    for at in paced(occurrences(text, from, STRETCH)) {
        new.push_str(&text[done..at]);
        new.push_str(to);
        done = at + from.len();
    }
    new.push_str(&text[done..]);
    new
}

/// How many bytes of white space these characters begin with.
pub(crate) fn white_space(characters: impl Iterator<Item = char>) -> usize {
    let spaces = paced(characters).take_while(|c| c.is_whitespace());
    spaces.map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_are_the_same_in_stretches() {
        let text = "aaaab▁▁ab▁aaé▁";
        for wanted in ["a", "aa", "aab", "▁", "▁▁", "b▁▁a", "é▁", "x"] {
            let expected: Vec<_> = text.match_indices(wanted).map(|(at, _)| at).collect();
            for stretch in 0..text.len() + 2 {
                let found: Vec<_> = occurrences(text, wanted, stretch).collect();
                assert_eq!(found, expected, "{wanted:?}, {stretch} bytes at a time");
            }
            assert_eq!(replaced(text, wanted, "--", 0), text.replace(wanted, "--"));
        }
        assert_eq!(occurrences("", "a", 1).next(), None);
    }
}
