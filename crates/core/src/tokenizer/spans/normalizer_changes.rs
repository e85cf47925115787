//! What normalizers change of a text, stretch by stretch.
//!
//! Look here for the forms of Unicode and for what the normalizers of a `tokenizer.json` do one after
//! another.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use unicode_segmentation::UnicodeSegmentation;

use super::changed_text::Changed;
use super::kept_stretches::{Ascii, Kept};
use super::mark::MARK;
use jeton_stages::normalizer::{CharacterSet, Charsmap, Form, KeyCharacters, Normalizer};
use jeton_text::interrupt::Pace;
use jeton_text::mem::lazy::Lazy;
use jeton_text::pattern::SearchPattern;
use jeton_text::text::{AlignedText, boundary_before};

/// Normalizers whose changes are known by stretches.
#[derive(Debug)]
pub enum Changing {
    /// A Unicode form.
    Form(Form),
    /// A character map, and what stands around it.
    Chain(Box<Chain>),
}

/// Normalizers that change a stretch of text between kept characters as if nothing stood around it.
#[derive(Debug)]
pub struct Chain {
    steps: Vec<Normalizer>,
    /// What becomes of characters of ASCII, but for line ends.
    ascii: Box<[Ascii; 256]>,
    /// Letters of ASCII are lowered.
    lowers: bool,
    /// Runs of spaces become one.
    collapses: bool,
    /// White space is removed at the front and at the end.
    strips: [bool; 2],
    /// The only step that changes more than ASCII's spaces is a character map.
    only_map: bool,
    characters: Lazy<Characters>,
}

/// Which characters a chain leaves.
#[derive(Debug)]
struct Characters {
    kept: Kept,
    /// No kept character is removed together with what stands behind it.
    stay: bool,
    /// Those that may change what stands before them.
    behind: CharacterSet,
}

impl Changing {
    /// A text as these normalizers leave it, or nothing of it if a form changes nothing; none where its
    /// stretches depend on each other.
    pub fn of(&self, text: &str) -> Option<Changed> {
        match self {
            Self::Form(form) => of_form(*form, text),
            Self::Chain(chain) => chain.of(text),
        }
    }
}

fn of_form(form: Form, text: &str) -> Option<Changed> {
    let mut changed = Changed::with_capacity(0);
    let (mut done, mut at) = (0, 0);
    // The same few characters change again and again.
    let mut known: HashMap<&str, Option<Rc<AlignedText>>> = HashMap::new();
    let mut pace = Pace::default();
    while let Some(stretch) = form.next_unsure(text, at) {
        pace.step();
        at = stretch.end;
        let old = &text[stretch.clone()];
        let new = match known.get(old) {
            Some(new) => new,
            None => known.entry(old).or_insert(changed_by(form, old)?),
        };
        if let Some(new) = new {
            let kept = &text.as_bytes()[done..stretch.start];
            changed.text.extend_from_slice(kept);
            changed.push_aligned(new, stretch);
            done = at;
        }
    }
    if done > 0 {
        changed.text.extend_from_slice(&text.as_bytes()[done..]);
    }
    Some(changed)
}

/// What a form makes of a stretch, if that is something else; none where its two ways differ, as the
/// places of one are then not those of the tokens.
#[expect(
    clippy::option_option,
    reason = "it may be unknown, or known to be nothing else"
)]
fn changed_by(form: Form, old: &str) -> Option<Option<Rc<AlignedText>>> {
    let Cow::Owned(new) = form.normalized(old) else {
        return Some(None);
    };
    let mut aligned = AlignedText::original(old);
    form.normalize(&mut aligned).ok()?;
    (aligned.as_str() == new).then(|| Some(Rc::new(aligned)))
}

impl Chain {
    /// These normalizers, if each of them does to a stretch between kept characters what it does to it
    /// in its text. `writes_marks` says that spaces are written `▁` behind them.
    pub fn new(normalizers: &[&Normalizer], writes_marks: bool) -> Option<Self> {
        use Normalizer::{
            Lowercase, Nfc, Nfd, Nfkc, Nfkd, Nmt, Precompiled, Replace, Strip, StripAccents,
        };
        let mut ascii = Box::new([Ascii::Other; 256]);
        ascii[usize::from(b'!')..=usize::from(b'~')].fill(Ascii::Kept);
        let mut lowers = false;
        let mut strips = [false; 2];
        let mut collapses = false;
        let mut maps = Vec::new();
        let mut others = 0;
        let mut steps = Vec::new();
        for normalizer in normalizers {
            steps.push((*normalizer).clone());
            match normalizer {
                Nfc | Nfd | Nfkc | Nfkd | StripAccents | Nmt => others += 1,
                Lowercase => {
                    lowers = true;
                    others += 1;
                }
                Precompiled(map) if map.keeps_ascii() && map.leaves(b" ") => maps.push(map),
                Strip { left, right } => strips = [strips[0] | left, strips[1] | right],
                Replace {
                    pattern: SearchPattern::Literal(literal),
                    ..
                } if !literal.contains(|c: char| c == '▁' || c.is_whitespace()) => {
                    for byte in literal.bytes().filter(u8::is_ascii) {
                        ascii[usize::from(byte.to_ascii_lowercase())] = Ascii::Other;
                        ascii[usize::from(byte.to_ascii_uppercase())] = Ascii::Other;
                    }
                    others += 1;
                }
                Replace {
                    pattern: SearchPattern::Regex(regex),
                    content,
                } if regex.source() == " {2,}" => {
                    collapses = true;
                    match content.as_str() {
                        " " => {}
                        "▁" if writes_marks => {
                            let pattern = SearchPattern::Regex(regex.clone());
                            steps.pop();
                            steps.push(Replace {
                                pattern,
                                content: " ".to_owned(),
                            });
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        Some(Self {
            only_map: maps.len() == 1 && others == 0,
            steps,
            ascii,
            lowers,
            collapses,
            strips,
            characters: Lazy::new(),
        })
    }

    fn map(&self) -> Option<&Charsmap> {
        self.steps.iter().find_map(|step| match step {
            Normalizer::Precompiled(map) => Some(map),
            _ => None,
        })
    }

    /// Which characters are left.
    fn characters(&self) -> Characters {
        let mut ascii = self.ascii.clone();
        let makes_space = (self.normalized("a\na", false)).is_some_and(|new| new.as_str() == "a a");
        let inside = |map: &Charsmap| map.inner_bytes()[usize::from(b'\n')];
        if makes_space && !self.map().is_some_and(inside) {
            ascii[usize::from(b'\n')] = Ascii::Space;
        }
        let map = self.map().filter(|_| self.only_map);
        let characters = map.and_then(Charsmap::key_characters);
        let stay = characters.is_some();
        let (others, behind) = match characters {
            Some(KeyCharacters { keys, behind }) => (keys.and(&behind), behind),
            None => (CharacterSet::all(), CharacterSet::all()),
        };
        Characters {
            kept: Kept::new(ascii, self.collapses, others),
            stay,
            behind,
        }
    }

    /// A stretch, normalized; white space is removed only at the end of the last.
    fn normalized(&self, stretch: &str, is_last: bool) -> Option<AlignedText> {
        let mut text = AlignedText::original(stretch);
        for step in &self.steps {
            match step {
                Normalizer::Strip { right, .. } => {
                    let right = is_last && *right;
                    let left = false;
                    Normalizer::Strip { left, right }
                        .normalize(&mut text)
                        .ok()?;
                }
                step => step.normalize(&mut text).ok()?,
            }
        }
        Some(text)
    }

    fn of(&self, text: &str) -> Option<Changed> {
        let characters = self.characters.get(|| self.characters());
        let kept = &characters.kept;
        let mut changed = Changed::with_capacity(text.len());
        let bytes = text.as_bytes();
        // What is removed at the very front moves all spans that follow.
        let begins_kept = |at: &u8| !self.strips[0] || !at.is_ascii_whitespace();
        let stays = || characters.stay || bytes.get(1).is_none_or(u8::is_ascii);
        if let Some(first) = bytes.first()
            && (kept.length(text, 0, false).is_none() || !begins_kept(first) || !stays())
        {
            return None;
        }
        let tail = match self.strips[1] {
            true => text.trim_end().len(),
            false => text.len(),
        };
        // Where the last character begins before white space that is removed.
        let last = match tail == text.len() {
            true => tail,
            false => text[..tail]
                .char_indices()
                .next_back()
                .map_or(0, |(at, _)| at),
        };
        let (mut done, mut at) = (0, 0);
        let mut pace = Pace::default();
        while at < text.len() {
            pace.step();
            let before = bytes[..at].last().copied().filter(u8::is_ascii);
            let after_space = before.is_some_and(|it| kept.removes_next(it));
            let end = kept.end(text, at, after_space).min(last);
            if end > at {
                at = end;
                continue;
            }
            // What stands before it stays.
            let first = match characters.stay {
                true => at,
                false => done.max(boundary_before(text, at.saturating_sub(1))),
            };
            let start = stretch_start(text, done, first);
            let end = stretch_end(kept, text, at, last);
            self.keep(kept, &text[done..start], &mut changed.text);
            let is_last = end == text.len();
            if is_last && self.strips[1]
                || !self.by_characters(characters, text, start..end, &mut changed)
            {
                let new = self.normalized(&text[start..end], is_last)?;
                // It would be told from a space no longer.
                if new.as_str().contains(MARK) {
                    return None;
                }
                changed.push_aligned(&Rc::new(new), start..end);
            }
            (done, at) = (end, end);
        }
        self.keep(kept, &text[done..], &mut changed.text);
        Some(changed)
    }

    /// Adds a stretch of which each character is mapped by itself and leaves something; false if it is
    /// not of that kind.
    fn by_characters(
        &self,
        characters: &Characters,
        text: &str,
        stretch: Range<usize>,
        changed: &mut Changed,
    ) -> bool {
        let Characters { kept, behind, .. } = characters;
        let Some(map) = self.map().filter(|_| self.only_map) else {
            return false;
        };
        let replacement = |at: usize, c: char| map.replacement(&text[at..at + c.len_utf8()]);
        let mut before: Option<(char, bool)> = None;
        for (at, c) in text[stretch.clone()].char_indices() {
            let new = replacement(stretch.start + at, c);
            let joins = |(left, is_mapped): (char, bool)| {
                behind.may_have(c.into())
                    || is_mapped && !parts(left, c)
                    || self.collapses && kept.is_space(left) && kept.is_space(c)
            };
            if before.is_some_and(joins)
                || c == MARK
                || new.is_some_and(|new| {
                    new.is_empty() || new.contains(MARK) || self.collapses && new.contains(' ')
                })
            {
                return false;
            }
            before = Some((c, new.is_some()));
        }
        for (at, c) in text[stretch.clone()].char_indices() {
            let old = stretch.start + at..stretch.start + at + c.len_utf8();
            match replacement(old.start, c) {
                Some(new) if new.len() != 1 || c.len_utf8() != 1 => changed.push(new, old),
                Some(new) => changed.text.extend_from_slice(new.as_bytes()),
                None => changed.text.extend_from_slice(text[old].as_bytes()),
            }
        }
        true
    }

    /// Adds kept text as it becomes.
    fn keep(&self, kept: &Kept, text: &str, new: &mut Vec<u8>) {
        let start = new.len();
        kept.write(text, new);
        if self.lowers {
            new[start..].make_ascii_lowercase();
        }
    }
}

/// Where the stretch begins that holds the character at `at`, but not what stands before `done`: where
/// it is not seen together with what stands before it.
fn stretch_start(text: &str, done: usize, at: usize) -> usize {
    let mut start = at;
    let mut characters = text[done..at].char_indices().rev();
    let mut right = text[at..].chars().next();
    while let (Some((before, left)), Some(character)) = (characters.next(), right)
        && !parts(left, character)
    {
        (start, right) = (done + before, Some(left));
    }
    start
}

/// Where the stretch ends that begins at `start`: before a kept character that nothing before it is
/// seen together with.
fn stretch_end(kept: &Kept, text: &str, start: usize, last: usize) -> usize {
    let mut characters = text[start..].char_indices();
    let mut before = characters.next().map(|(_, character)| character);
    for (count, (at, character)) in characters.enumerate() {
        let at = start + at;
        let next = at + character.len_utf8();
        let is_kept = |at: usize| kept.length(text, at, false).is_some();
        if count > 0
            && at < last
            && !kept.is_space(character)
            && is_kept(at)
            && (next == text.len() || is_kept(next))
            && before.is_none_or(|before| parts(before, character))
        {
            return at;
        }
        before = Some(character);
    }
    text.len()
}

/// Whether a grapheme cluster surely ends between these characters.
fn parts(left: char, right: char) -> bool {
    let are_two = |a: char, b: char| {
        let mut pair = [0; 8];
        let length = a.encode_utf8(&mut pair).len();
        let length = length + b.encode_utf8(&mut pair[length..]).len();
        let pair = std::str::from_utf8(&pair[..length]);
        pair.is_ok_and(|pair| pair.graphemes(true).nth(1).is_some())
    };
    let is_printed = |c: char| matches!(c, ' '..='~');
    // What goes on with the character before it may join the one behind it, too.
    is_printed(left) && is_printed(right) || are_two('a', left) && are_two(left, right)
}
