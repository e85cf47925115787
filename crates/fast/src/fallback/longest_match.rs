//! WordPiece's longest match by a double array, with one memory access per byte of a word.
//!
//! Look here for how the pieces of new words become tokens in WordPiece.

use jeton_models::model::WordPiece;
use jeton_stages::tables::double_array::{ArrayNode, DoubleArray};

/// The tokens of a WordPiece model, in a double array.
#[derive(Debug)]
pub struct Longest {
    tokens: DoubleArray,
    /// After the mark of tokens that continue a word.
    continuing: Option<ArrayNode>,
    unknown: Option<u32>,
    /// A piece of more characters is unknown as a whole.
    max_characters: usize,
}

impl Longest {
    /// The tokens of `model`.
    pub fn new(model: &WordPiece) -> Self {
        let tokens = DoubleArray::new(model.trie(), |_| Some(0.0));
        Self {
            continuing: tokens.place(model.continuing_subword_prefix().as_bytes()),
            unknown: model.vocab().id(model.unk_token().as_bytes()),
            max_characters: model.max_input_chars_per_word(),
            tokens,
        }
    }

    /// Appends the tokens of `piece`, which is UTF-8; says false, and appends none, if the piece is
    /// unknown and there is no token for that.
    pub fn tokenize(&self, piece: &[u8], ids: &mut Vec<u32>) -> bool {
        let before = ids.len();
        if self.is_short(piece) && self.match_all(piece, ids) {
            return true;
        }
        ids.truncate(before);
        ids.extend(self.unknown);
        self.unknown.is_some()
    }

    fn is_short(&self, piece: &[u8]) -> bool {
        let begins = |byte: &&u8| **byte & 0xC0 != 0x80;
        piece.len() <= self.max_characters
            || (piece.iter().filter(begins).nth(self.max_characters)).is_none()
    }

    /// Appends the longest match at each place; false where there is none.
    #[inline(always)]
    fn match_all(&self, piece: &[u8], ids: &mut Vec<u32>) -> bool {
        let mut rest = piece;
        let mut place = Some(ArrayNode::ROOT);
        while !rest.is_empty() {
            let Some(from) = place else { return false };
            let mut longest = None;
            self.tokens.prefixes_behind(from, rest, |length, id, _| {
                if rest.get(length).is_none_or(|next| next & 0xC0 != 0x80) {
                    longest = Some((id, length));
                }
            });
            let Some((id, length)) = longest else {
                return false;
            };
            ids.push(id);
            rest = &rest[length..];
            place = self.continuing;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_stages::vocab::Vocab;

    fn ids(longest: &Longest, piece: &str) -> Option<Vec<u32>> {
        let mut ids = vec![9];
        let known = longest.tokenize(piece.as_bytes(), &mut ids);
        assert!(known || ids == [9]);
        known.then(|| ids[1..].to_vec())
    }

    #[test]
    fn a_word_is_its_longest_matches_or_unknown() {
        let vocab = Vocab::new([("[UNK]", 0), ("un", 1), ("##aff", 2), ("##able", 3)]).unwrap();
        let longest = Longest::new(&WordPiece::new(vocab, "[UNK]", "##", 9));
        assert_eq!(ids(&longest, "unaffable"), Some(vec![1, 2, 3]));
        assert_eq!(ids(&longest, "unaffected"), Some(vec![0]));
        assert_eq!(ids(&longest, "ununaffable"), Some(vec![0]));
    }

    #[test]
    fn odd_vocabularies() {
        let halves = Vocab::new([(&b"a"[..], 0), (b"a\xc3", 1), (b"\xc3\xa9", 2), (b"", 3)]);
        let longest = Longest::new(&WordPiece::new(halves.unwrap(), "[UNK]", "", 2));
        assert_eq!(ids(&longest, "aé"), Some(vec![0, 2]));
        assert_eq!(ids(&longest, "aéa"), None);
        assert_eq!(ids(&longest, "é"), Some(vec![2]));
        assert_eq!(ids(&longest, "b"), None);
        let bare = Vocab::new([("a", 0), ("[UNK]", 1)]).unwrap();
        let longest = Longest::new(&WordPiece::new(bare, "[UNK]", "##", 100));
        assert_eq!(ids(&longest, "a"), Some(vec![0]));
        assert_eq!(ids(&longest, "aa"), Some(vec![1]));
    }
}
