//! What normalizers change of a text, stretch by stretch, and where each stretch came from.
//!
//! Look here for how the lengths of tokens say where they stand in a text that is changed in places:
//! they say so in the new text, of which all but the changed stretches is as it was.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::kept::{Ascii, Kept};
use crate::interrupt::poll;
use crate::normalizer::{Charsmap, Form, Normalizer};
use crate::pattern::SearchPattern;
use crate::text::{AlignedText, Span, boundary_before};

/// About how long the stretches are that a form is asked of, in bytes.
const STRETCH: usize = 256;

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
    kept: Kept,
    /// Letters of ASCII are lowered.
    lowers: bool,
    /// White space is removed at the front and at the end.
    strips: [bool; 2],
    /// The only step that changes more than ASCII's spaces is a character map.
    only_map: bool,
}

/// A text as it is now, and its stretches that were changed.
pub struct Changed {
    pub text: String,
    edits: Vec<Edit>,
    /// The first one that may hold the byte that is asked for.
    next: usize,
}

/// A stretch that was changed.
struct Edit {
    /// Where it lies now, and where its old text ended.
    range: Range<usize>,
    old_end: usize,
    /// Its text, which knows where in the old stretch it came from, and where that begins.
    text: AlignedText,
    old_start: usize,
}

impl Changing {
    /// The text as these normalizers leave it; none where its stretches depend on each other.
    pub fn of(&self, text: &str) -> Option<Changed> {
        match self {
            Self::Form(form) => of_form(*form, text),
            Self::Chain(chain) => chain.of(text),
        }
    }
}

fn of_form(form: Form, text: &str) -> Option<Changed> {
    let mut changed = Changed::default();
    let mut done = 0;
    let mut start = 0;
    while start < text.len() {
        poll();
        let mut end = boundary_before(text, start + STRETCH);
        // What stands before a fixed character is normalized by itself.
        while end < text.len() && (end <= start || !form.fixes(text, end)) {
            end += text[end..].chars().next().map_or(1, char::len_utf8);
        }
        let stretch = &text[start..end];
        if let Cow::Owned(new) = form.normalized(stretch) {
            let mut aligned = AlignedText::original(stretch);
            form.normalize(&mut aligned).ok()?;
            // Both have to be the same, or the places are not those of these tokens.
            if aligned.as_str() != new {
                return None;
            }
            changed.text.push_str(&text[done..start]);
            changed.push(aligned, start..end);
            done = end;
        }
        start = end;
    }
    changed.text.push_str(&text[done..]);
    Some(changed)
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
                } if regex.source() == " {2,}" => match content.as_str() {
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
                },
                _ => return None,
            }
        }
        let mut chain = Self {
            only_map: maps.len() == 1 && others == 0,
            steps,
            kept: Kept::new(ascii.clone(), true),
            lowers,
            strips,
        };
        let inside = |map: &&Charsmap| map.inner_bytes()[usize::from(b'\n')];
        let new = chain.normalized("a\na", false)?;
        if new.as_str() == "a a" && !maps.iter().any(inside) {
            ascii[usize::from(b'\n')] = Ascii::Space;
        }
        chain.kept = Kept::new(ascii, true);
        Some(chain)
    }

    fn map(&self) -> Option<&Charsmap> {
        self.steps.iter().find_map(|step| match step {
            Normalizer::Precompiled(map) => Some(map),
            _ => None,
        })
    }

    /// Whether a character beyond ASCII is left, whatever stands behind it.
    fn leaves(&self, character: char) -> bool {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        self.only_map
            && !character.is_whitespace()
            && self.map().is_some_and(|map| map.leaves(bytes))
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
        let leaves = |c: char| self.leaves(c);
        let mut changed = Changed::default();
        let bytes = text.as_bytes();
        // What is removed at the very front moves all spans that follow.
        let begins_kept = |at: &u8| !self.strips[0] || !at.is_ascii_whitespace();
        if let Some(first) = bytes.first() {
            let is_kept = self.kept.length(text, 0, false, leaves).is_some();
            if !is_kept || !begins_kept(first) {
                return None;
            }
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
        while at < text.len() {
            poll();
            let before = bytes[..at].last().copied().filter(u8::is_ascii);
            let after_space = before.is_some_and(|it| self.kept.removes_next(it));
            let end = self.kept.end(text, at, after_space, leaves).min(last);
            if end > at {
                at = end;
                continue;
            }
            let end = self.stretch_end(text, at, last)?;
            self.keep(&text[done..at], &mut changed.text);
            let new = self.normalized(&text[at..end], end == text.len())?;
            changed.push(new, at..end);
            (done, at) = (end, end);
        }
        self.keep(&text[done..], &mut changed.text);
        Some(changed)
    }

    /// Adds kept text as it becomes.
    fn keep(&self, text: &str, new: &mut String) {
        let start = new.len();
        match self.kept.is_space('\n') {
            false => new.push_str(text),
            true => (text.split('\n').enumerate()).for_each(|(number, line)| {
                new.extend((number > 0).then_some(' '));
                new.push_str(line);
            }),
        }
        if self.lowers {
            new[start..].make_ascii_lowercase();
        }
    }

    /// Where the stretch ends that begins with the kept character at `start`: before a kept character
    /// that nothing before it is seen together with.
    fn stretch_end(&self, text: &str, start: usize, last: usize) -> Option<usize> {
        let leaves = |c: char| self.leaves(c);
        let mut characters = text[start..].char_indices();
        let (_, mut before) = characters.next()?;
        for (count, (at, character)) in characters.enumerate() {
            let at = start + at;
            if count > 0
                && at < last
                && !self.kept.is_space(character)
                && self.kept.length(text, at, false, leaves).is_some()
                && parts(before, character)
            {
                return Some(at);
            }
            before = character;
        }
        Some(text.len())
    }
}

/// Whether a grapheme cluster surely ends between these characters.
fn parts(left: char, right: char) -> bool {
    let are_two = |a: char, b: char| {
        let pair: String = [a, b].iter().collect();
        pair.graphemes(true).nth(1).is_some()
    };
    // What goes on with the character before it may join the one behind it, too.
    are_two('a', left) && are_two(left, right)
}

impl Default for Changed {
    fn default() -> Self {
        Self::from(String::new())
    }
}

impl From<String> for Changed {
    /// A text of which no stretch is changed.
    fn from(text: String) -> Self {
        Self {
            text,
            edits: Vec::new(),
            next: 0,
        }
    }
}

impl Changed {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    fn push(&mut self, text: AlignedText, old: Range<usize>) {
        let first = self.text.len();
        self.text.push_str(text.as_str());
        self.edits.push(Edit {
            range: first..self.text.len(),
            old_start: old.start,
            old_end: old.end,
            text,
        });
    }

    /// Makes `next` the first edit that does not end before this byte; bytes come in order, but for a
    /// few.
    fn seek(&mut self, byte: usize) {
        while self.next > 0 && self.edits[self.next - 1].range.end > byte {
            self.next -= 1;
        }
        while self
            .edits
            .get(self.next)
            .is_some_and(|it| it.range.end <= byte)
        {
            self.next += 1;
        }
    }

    /// Where in the old text a byte stands that is in no edit.
    fn old(&self, byte: usize) -> usize {
        match self.next.checked_sub(1) {
            Some(last) => self.edits[last].old_end + byte - self.edits[last].range.end,
            None => byte,
        }
    }

    /// Where the text that is as it was goes on from this byte to, and where the byte stood; none in a
    /// stretch that was changed.
    pub fn unchanged(&mut self, byte: usize) -> Option<(usize, usize)> {
        self.seek(byte);
        let end = match self.edits.get(self.next) {
            Some(edit) => edit.range.start,
            None => self.text.len(),
        };
        (byte < end).then(|| (end, self.old(byte)))
    }

    /// Where a byte of the new text came from, as a span of the old one, which is `text`.
    pub fn origin(&mut self, text: &str, byte: usize) -> Span {
        self.seek(byte);
        if let Some(edit) = self.edits.get(self.next)
            && edit.range.contains(&byte)
        {
            let at = byte - edit.range.start;
            let span = edit.text.span_of(at..at + 1);
            return Span::new(edit.old_start + span.start, edit.old_start + span.end);
        }
        let start = boundary_before(text, self.old(byte));
        let length = text[start..].chars().next().map_or(0, char::len_utf8);
        Span::new(start, start + length)
    }
}
