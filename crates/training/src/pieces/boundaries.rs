//! Spellings that always split words: those of special tokens and of the user's
//! symbols. No piece holds a part of one.

use jeton_stages::tables::trie::Trie;

/// Spellings at which words are always split.
pub(super) struct Boundaries(Option<Trie>);

impl Boundaries {
    /// Boundaries of these spellings.
    pub(super) fn new(texts: &[String]) -> Self {
        let spelled = texts.iter().map(String::as_bytes);
        Self((!texts.is_empty()).then(|| Trie::new(spelled.zip(0..))))
    }

    /// Calls `each` with what lies between the boundaries in a word, from the front, the longest of
    /// several at one place; returns how many boundaries there are.
    pub(super) fn between<'w>(&self, word: &'w str, mut each: impl FnMut(&'w str)) -> u64 {
        let Some(trie) = &self.0 else {
            each(word);
            return 0;
        };
        let (mut start, mut at, mut boundaries) = (0, 0, 0);
        while let Some(character) = word[at..].chars().next() {
            let rest = &word.as_bytes()[at..];
            match trie.prefixes(trie.root(), rest).last() {
                None => at += character.len_utf8(),
                Some((_, length)) => {
                    each(&word[start..at]);
                    boundaries += 1;
                    at += length;
                    start = at;
                }
            }
        }
        each(&word[start..]);
        boundaries
    }
}
