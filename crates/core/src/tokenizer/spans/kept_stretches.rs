//! Stretches of text whose bytes the normalizer keeps one for one, so that the lengths of tokens say
//! where they stand.
//!
//! Look here for when the lengths of tokens say where they stand although the normalizer changes text
//! elsewhere: a *kept stretch* is one of which each character is left or, if it is a space, becomes one
//! `▁` or nothing, whatever stands around the stretch, and behind which a character stands that leaves
//! something.

use super::mark::MARK;
use jeton_stages::normalizer::CharacterSet;
use jeton_stages::split::safe_cuts::decode;
use jeton_text::text::{ByteSet, boundary_before};

/// What becomes of a character of ASCII before another one that is kept and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ascii {
    /// It is left as it is.
    Kept,
    /// One space, whatever stands around it, unless spaces collapse.
    Space,
    /// It is left, unless something begins with it there that is cut out as a whole.
    Asked,
    /// Something else, or that is not known.
    Other,
}

/// Which characters a normalizer leaves as they are.
#[derive(Debug)]
pub struct Kept {
    ascii: Box<[Ascii; 256]>,
    /// The bytes that begin a character which may not be kept.
    suspects: ByteSet,
    /// Whether a space behind a space is removed.
    collapses: bool,
    /// The characters beyond ASCII that are not left, or may change what stands before them.
    others: CharacterSet,
}

impl Kept {
    /// With what becomes of characters of ASCII, of which a space is one, and with those beyond that
    /// are not left or that may change what stands before them.
    pub fn new(mut ascii: Box<[Ascii; 256]>, collapses: bool, mut others: CharacterSet) -> Self {
        others.add(MARK.into(), true);
        ascii[usize::from(b' ')] = Ascii::Space;
        // Of characters that are not told apart, any may be among the others.
        let mut leads: [bool; 256] = std::array::from_fn(|byte| byte >= 0xF0);
        let told = ('\u{80}'..).take_while(|it| CharacterSet::tells((*it).into()));
        for character in told.filter(|it| others.may_have((*it).into())) {
            let lead = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
            leads[usize::from(lead)] = true;
        }
        let suspects = ByteSet::new(|byte| match ascii[usize::from(byte)] {
            _ if !byte.is_ascii() => leads[usize::from(byte)],
            Ascii::Kept => false,
            Ascii::Space => collapses,
            Ascii::Asked | Ascii::Other => true,
        });
        Self {
            ascii,
            suspects,
            collapses,
            others,
        }
    }

    /// Whether a character becomes a space.
    pub fn is_space(&self, character: char) -> bool {
        u8::try_from(character).is_ok_and(|byte| self.is_space_byte(byte))
    }

    /// The same of a byte of UTF-8.
    pub fn is_space_byte(&self, byte: u8) -> bool {
        self.ascii[usize::from(byte)] == Ascii::Space
    }

    /// Whether a space that follows this character of ASCII is removed.
    pub fn removes_next(&self, byte: u8) -> bool {
        self.collapses && self.ascii[usize::from(byte)] == Ascii::Space
    }

    /// Adds kept text as it becomes.
    pub fn write(&self, text: &str, new: &mut Vec<u8>) {
        // Among what is not printed, spaces alone are kept.
        new.extend(text.bytes().map(|byte| byte.max(b' ')));
    }

    /// Where the kept stretch of `text` ends that begins at `at`; `after_space` says that a space that
    /// stands there is removed.
    pub fn end(&self, text: &str, at: usize, after_space: bool) -> usize {
        match self.first_other(text, at, after_space, |_| true) {
            end if end == text.len() => end,
            // The last character that is kept is seen to leave something, but not yet what follows it.
            end => boundary_before(text, end.saturating_sub(1)).max(at),
        }
    }

    /// The first character from `at` on that may not be kept, or another one far behind it; `begins`
    /// says of a character that it is asked about whether it is not. What is kept before it may be seen
    /// together with it.
    #[inline]
    pub fn first_other(
        &self,
        text: &str,
        at: usize,
        after_space: bool,
        begins: impl Fn(usize) -> bool,
    ) -> usize {
        let bytes = text.as_bytes();
        self.suspects.find_near(text, at, |next| {
            let after_space = match next == at {
                true => after_space,
                false => self.removes_next(bytes[next - 1]),
            };
            match self.ascii[usize::from(bytes[next])] {
                Ascii::Asked => begins(next),
                _ => self.length(text, next, after_space).is_none(),
            }
        })
    }

    /// How long the character at `at` is, if it is kept before one that is.
    #[inline]
    pub fn length(&self, text: &str, at: usize, after_space: bool) -> Option<usize> {
        let bytes = text.as_bytes();
        let (character, length) = decode(bytes, at);
        let is_kept = match self.ascii[usize::from(bytes[at])] {
            _ if length > 1 => !self.others.may_have(character),
            class => (class == Ascii::Kept) | (class == Ascii::Space) & !after_space,
        };
        is_kept.then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascii() -> Box<[Ascii; 256]> {
        let mut ascii = Box::new([Ascii::Other; 256]);
        ascii[usize::from(b'!')..=usize::from(b'~')].fill(Ascii::Kept);
        ascii[usize::from(b'\t')] = Ascii::Space;
        ascii
    }

    fn kept(collapses: bool) -> Kept {
        let mut others = CharacterSet::default();
        "é…".chars().for_each(|c| others.add(c.into(), true));
        Kept::new(ascii(), collapses, others)
    }

    #[test]
    fn worked_example() {
        let end = |text: &str, after_space| kept(true).end(text, 0, after_space);
        assert_eq!(end("to be", false), 5);
        // What follows the last letter may be removed, and is then a part of its span.
        assert_eq!(end("to be\n", false), 4);
        assert_eq!(end("to beé", false), 4);
        assert_eq!(end("to жж…", false), 5);
        assert_eq!(end("to ж▁", false), 3);
        assert_eq!(end("to  be", false), 2);
        assert_eq!(end("to\t be", false), 2);
        assert_eq!(end("to\tbe", false), 5);
        assert_eq!(end(" be", true), 0);
        assert_eq!(kept(false).end("to  be", 0, false), 6);
    }

    #[test]
    fn stretches_end_before_the_last_kept_character() {
        let mut ascii = ascii();
        for line in [Ascii::Other, Ascii::Space] {
            ascii[usize::from(b'\n')] = line;
            ascii[usize::from(b'>')] = Ascii::Other;
            let kept = Kept::new(ascii.clone(), true, kept(true).others);
            for length in 0..100 {
                for odd in [
                    "\n",
                    "\n ",
                    "\t",
                    "\t ",
                    "é",
                    "  ",
                    "▁",
                    "ж",
                    ">",
                    "\u{20000}",
                ] {
                    let text = format!("{}{odd}{}", "a b".repeat(length / 3), "c".repeat(50));
                    let (mut end, mut next, mut after_space) = (0, 0, false);
                    while let Some(length) = kept.length(&text, next, after_space) {
                        after_space = kept.removes_next(text.as_bytes()[next]);
                        end = next;
                        next += length;
                        if next == text.len() {
                            end = next;
                            break;
                        }
                    }
                    assert_eq!(kept.end(&text, 0, false), end, "{text:?}");
                }
            }
        }
    }
}
