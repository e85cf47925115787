//! Split points of a long chunk before it is normalized: between two characters whose normal forms are
//! adjacent in no piece.
//!
//! Text without spaces is looked up in the cache in such parts, so the character map runs once for each new
//! part, and not for each text.

use super::SPACE;
use jeton_stages::normalizer::{Charsmap, SentencePieceNormalizer};
use jeton_stages::split::split_points::{SplitPoints, decode};
use jeton_text::interrupt::Pace;

/// Code points of the table; characters from here on are not in it.
const CHARACTERS: u32 = 1 << 16;

/// Characters that the normalizer leaves as they are.
pub struct KeptCharacters {
    /// A bit for each: it is left as it is, whatever follows it.
    always: Vec<u64>,
    /// A bit for each of ASCII: it is left as it is before another one of ASCII.
    before_ascii: u128,
}

/// What [`KeptCharacters::raw_split_points`] found, besides the places.
pub struct RawSplitPoints {
    /// How many ends of parts.
    pub count: usize,
    /// Whether the normalizer changes some character up to there.
    pub changed: bool,
    /// Whether after the last end something comes that has to be normalized together with what
    /// is next to it.
    pub stuck: bool,
}

impl KeptCharacters {
    /// The characters that `normalizer` leaves as they are. Those that it makes spaces of are not
    /// among them.
    pub fn new(normalizer: &SentencePieceNormalizer) -> Self {
        let leaves = |c: &char| !SPACE.contains(*c) && *c != ' ' && normalizer.leaves(*c);
        let mut always = vec![0; CHARACTERS as usize / 64];
        for c in (0..CHARACTERS).filter_map(char::from_u32).filter(leaves) {
            always[c as usize / 64] |= 1 << (c as u32 % 64);
        }
        let mut before_ascii = 0;
        if normalizer.charsmap().is_none_or(Charsmap::keeps_ascii) {
            let user_defined = normalizer.user_defined();
            for byte in b'!'..=b'~' {
                let begins = |piece: &String| piece.as_bytes().first() == Some(&byte);
                before_ascii |= u128::from(!user_defined.iter().any(begins)) << byte;
            }
        }
        Self {
            always,
            before_ascii,
        }
    }

    #[inline(always)]
    fn is_kept(&self, character: u32, next: Option<&u8>) -> bool {
        let bits = self.always.get(character as usize / 64);
        bits.is_some_and(|bits| bits >> (character % 64) & 1 == 1)
            || character < 128
                && self.before_ascii >> character & 1 == 1
                && next.is_none_or(u8::is_ascii)
    }

    /// Where the first parts of `text` from `start` on end, in `ends`. No key of the character map
    /// spans `start`, or the end of `text`.
    ///
    /// Between two matches of the normalizer, which never looks back, parts are normalized by
    /// themselves, unless there are spaces; so it is known what is next to each other.
    pub fn raw_split_points<const N: usize>(
        &self,
        normalizer: &SentencePieceNormalizer,
        split_points: &SplitPoints,
        text: &str,
        start: usize,
        ends: &mut [usize; N],
    ) -> RawSplitPoints {
        let bytes = text.as_bytes();
        let mut found = RawSplitPoints {
            count: 0,
            changed: false,
            stuck: false,
        };
        let mut left = None;
        let mut at = start;
        let mut pace = Pace::default();
        while at < bytes.len() && found.count < N {
            pace.step();
            let (character, length) = decode(bytes, at);
            let mut step = NormalizerMatch {
                next: at + length,
                first: character,
                last: character,
                changed: false,
            };
            if !self.is_kept(character, bytes.get(step.next)) {
                match NormalizerMatch::of(normalizer, text, at) {
                    Some(asked) => step = asked,
                    None => {
                        found.stuck = true;
                        return found;
                    }
                }
            }
            found.changed |= step.changed;
            ends[found.count] = at;
            found.count +=
                usize::from(left.is_some_and(|left| !split_points.may_join(left, step.first)));
            left = Some(step.last);
            at = step.next;
        }
        if found.count < N {
            ends[found.count] = bytes.len();
            found.count += 1;
        }
        found
    }
}

/// A match of the normalizer.
struct NormalizerMatch {
    /// Where it ends.
    next: usize,
    /// The first and the last character of what it becomes.
    first: u32,
    last: u32,
    /// Whether that is something else.
    changed: bool,
}

impl NormalizerMatch {
    /// The match at `at`, unless it becomes nothing, or something with a space, or ends inside a
    /// character.
    fn of(normalizer: &SentencePieceNormalizer, text: &str, at: usize) -> Option<Self> {
        let (length, new) = normalizer.step(text, at);
        let next = at + length;
        let old = text.get(at..next)?;
        let last = new.chars().next_back()?;
        let is_space = |c: char| c == ' ' || c == '▁';
        let mut first = last;
        if new.len() > last.len_utf8() {
            first = new.chars().next()?;
            if new.contains(is_space) {
                return None;
            }
        } else if is_space(last) {
            return None;
        }
        Some(Self {
            next,
            first: first.into(),
            last: last.into(),
            changed: new != old,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_stages::normalizer::WhiteSpace;
    use jeton_stages::vocab::Vocab;

    fn raw_split_points(text: &str) -> (Vec<usize>, bool, bool) {
        let rules = [("，", ","), ("　", " "), ("e\u{301}", "é")];
        let rules = rules.map(|(from, to)| (from.to_owned(), to.to_owned()));
        let charsmap = Charsmap::compile(&rules.into_iter().collect()).unwrap();
        let user_defined = vec!["x，".to_owned()];
        let normalizer =
            SentencePieceNormalizer::new(Some(charsmap), WhiteSpace::default(), user_defined);
        let pieces = ["中", ",中", "x，", "été"].map(|piece| piece.as_bytes().to_vec());
        let split_points = SplitPoints::new(&Vocab::new(pieces.into_iter().zip(0..)).unwrap());
        let mut ends = [0; 4];
        let found = KeptCharacters::new(&normalizer).raw_split_points(
            &normalizer,
            &split_points,
            text,
            0,
            &mut ends,
        );
        (ends[..found.count].to_vec(), found.changed, found.stuck)
    }

    #[test]
    fn worked_example() {
        assert_eq!(raw_split_points("中，中"), (vec![3, 9], true, false));
        // Left as it is, since it is user-defined.
        assert_eq!(raw_split_points("中x，中"), (vec![3, 7, 10], false, false));
        assert_eq!(
            raw_split_points("e\u{301}te\u{301}e"),
            (vec![7, 8], true, false)
        );
        assert_eq!(raw_split_points("中中　中"), (vec![3], false, true));
        assert_eq!(raw_split_points("abcdef"), (vec![1, 2, 3, 4], false, false));
    }
}
