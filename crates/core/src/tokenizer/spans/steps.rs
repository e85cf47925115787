//! Places along the steps of a SentencePiece model's normalizer.
//!
//! Look here for T5's `.model` files. The normalizer replaces the longest key at its place, again and
//! again, and what it removes belongs to what stands before it. What the walk needs to know beyond a
//! step is whether the next ones leave nothing; of plain ASCII it is known that they do not. Along a
//! stretch of text that is left as it is no steps are made: there, lengths say where tokens stand.

use super::kept::{Ascii, Kept};
use super::table::{At, Table, Tables};
use super::{Output, Section};
use crate::fast::Place;
use crate::interrupt::Pace;
use crate::model::sentencepiece::spec::PieceKind;
use crate::model::{Model, SentencePiece};
use crate::normalizer::{Charsmap, Normalizer, SentencePieceNormalizer};
use crate::stages::Stages;
use crate::text::Span;

/// What stands for a space.
const MARK: &str = "▁";

/// How many tokens lie along kept text from one question whether anybody waits to the next.
const RUN: usize = 1 << 12;

/// What of a model's normalizer is known beforehand.
#[derive(Debug)]
pub(super) struct Steps {
    /// The characters that are left as they are: no user-defined piece begins with them.
    kept: Kept,
    /// No key and no piece begins with a space, and so spaces are `▁` whatever follows.
    marks_spaces: bool,
    tables: Tables,
}

impl Steps {
    pub fn new(stages: &Stages) -> Option<Self> {
        let (normalizer, model) = parts(stages)?;
        let white_space = normalizer.white_space();
        // A space is a space to every map that the compiled path takes.
        let fits = white_space.escape && !white_space.suffix && model.twin().is_none();
        let keeps_ascii = normalizer.charsmap().is_none_or(Charsmap::keeps_ascii);
        let mut ascii = Box::new([Ascii::Other; 256]);
        if keeps_ascii {
            ascii[usize::from(b'!')..=usize::from(b'~')].fill(Ascii::Kept);
        }
        if let Some(map) = normalizer.charsmap() {
            let is_space = |byte: u8| map.longest_prefix(&[byte]) == Some((1, " "));
            for byte in (0..b' ').filter(|byte| !map.inner_bytes()[usize::from(*byte)]) {
                if is_space(byte) {
                    ascii[usize::from(byte)] = Ascii::Space;
                }
            }
        }
        for piece in normalizer.user_defined() {
            let first = piece.bytes().next()?;
            ascii[usize::from(first)] = Ascii::Other;
        }
        fits.then(|| Self {
            kept: Kept::new(ascii, white_space.remove_extra),
            marks_spaces: normalizer.leaves(' '),
            tables: Tables::new(),
        })
    }

    /// Adds the spans of these tokens of a section; none if they do not fit it.
    pub fn walk(
        &self,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let (normalizer, model) = parts(stages)?;
        let white_space = normalizer.white_space();
        let mut cursor = Cursor {
            normalizer,
            text: section.text,
            kept: &self.kept,
            collapses: white_space.remove_extra,
            at: 0,
            after_space: false,
            pending: String::new(),
            done: 0,
            span: Span::default(),
            peeked: None,
            kept_end: 0,
        };
        let unit = output.ruler.unit();
        let table = self.tables.of(stages, unit, true);
        let table = table.filter(|_| self.marks_spaces);
        if section.place != Place::Inner {
            cursor.begin(white_space.add_dummy_prefix)?;
        }
        let mut pace = Pace::default();
        let kinds = model.proto().pieces.kinds();
        let start = section.start;
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            pace.step();
            if let Some(table) = table {
                let few = &ids[next..ids.len().min(next + RUN)];
                let done = cursor.run(table, few, start, output);
                next += done;
                if done > 0 {
                    continue;
                }
            }
            let span = match kinds.get(id as usize)? {
                PieceKind::Normal | PieceKind::UserDefined => {
                    cursor.take(model.vocab().token(id)?)?
                }
                PieceKind::Byte => {
                    let digits = model.vocab().token(id)?.get(3..5)?;
                    let digits = std::str::from_utf8(digits).ok()?;
                    cursor.take(&[u8::from_str_radix(digits, 16).ok()?])?
                }
                PieceKind::Unknown => cursor.unknown(model)?,
                PieceKind::Control | PieceKind::Unused => return None,
            };
            output.push(Span::new(start + span.start, start + span.end));
            next += 1;
        }
        cursor.is_done().then_some(())
    }
}

/// The normalizer and the model of a `.model` file.
fn parts(stages: &Stages) -> Option<(&SentencePieceNormalizer, &SentencePiece)> {
    match (&stages.normalizer, &stages.model, &stages.pre_tokenizer) {
        (Some(Normalizer::SentencePiece(normalizer)), Model::SentencePiece(model), None) => {
            Some((normalizer, model))
        }
        _ => None,
    }
}

/// A text on its way through the normalizer.
struct Cursor<'c> {
    normalizer: &'c SentencePieceNormalizer,
    text: &'c str,
    kept: &'c Kept,
    /// Runs of spaces are one space, and none stand at the ends.
    collapses: bool,
    /// The next byte of the text that no step was made for.
    at: usize,
    /// Spaces that come now are removed.
    after_space: bool,
    /// What the last step made, how much of it is done, and where it came from.
    pending: String,
    done: usize,
    span: Span,
    /// The next step, if it was made to see that it leaves something, and where.
    peeked: Option<(usize, (usize, &'c str))>,
    /// Where the kept stretch ends that was found last.
    kept_end: usize,
}

impl<'c> Cursor<'c> {
    /// The front of a text.
    fn begin(&mut self, add_prefix: bool) -> Option<()> {
        let mut pace = Pace::default();
        while self.collapses && self.at < self.text.len() {
            pace.step();
            let (length, new) = self.normalizer.step(self.text, self.at);
            if new != " " {
                break;
            }
            self.at += length;
        }
        if self.at == self.text.len() {
            return Some(());
        }
        self.after_space = self.collapses;
        if add_prefix {
            self.pending.push_str(MARK);
            self.span = Span::new(self.at, self.at);
            self.absorb()?;
        }
        Some(())
    }

    /// Adds the spans of the first of these tokens, if they lie in a kept stretch; says how many.
    #[inline]
    fn run(
        &mut self,
        table: &Table,
        ids: &[u32],
        start: usize,
        output: &mut Output<'_, '_>,
    ) -> usize {
        if self.done < self.pending.len() {
            return 0;
        }
        if self.kept_end <= self.at {
            let leaves = |c: char| self.normalizer.leaves(c);
            self.kept_end = (self.kept).end(self.text, self.at, self.after_space, leaves);
        }
        let first = start + self.at;
        let mut at = At {
            byte: first,
            units: output.ruler.at(first),
        };
        let done = table.run(ids, &mut at, start + self.kept_end, output.spans);
        if done > 0 {
            output.ruler.set(at.byte, at.units);
            self.at = at.byte - start;
            self.after_space = self.kept.removes_next(self.text.as_bytes()[self.at - 1]);
        }
        done
    }

    /// A step: how many bytes it takes, and what they become.
    fn step(&self) -> Option<(usize, &'c str)> {
        let (length, new) = self.normalizer.step(self.text, self.at);
        // Only a map with keys that end inside a character leads elsewhere.
        if !self.text.is_char_boundary(self.at + length) {
            return None;
        }
        Some(match self.after_space {
            true => (length, new.trim_start_matches(' ')),
            false => (length, new),
        })
    }

    /// Whether the character at `at` is one of ASCII that is left as it is.
    fn is_plain(&self, at: usize) -> bool {
        let text = self.text.as_bytes();
        text.get(at).is_some_and(|it| self.kept.holds_ascii(*it))
            && text.get(at + 1).is_none_or(u8::is_ascii)
    }

    /// What is removed behind a step belongs to it.
    fn absorb(&mut self) -> Option<()> {
        let mut pace = Pace::default();
        while self.at < self.text.len() && !self.is_plain(self.at) {
            pace.step();
            let (length, new) = self.step()?;
            if !new.is_empty() {
                self.peeked = Some((self.at, (length, new)));
                break;
            }
            self.at += length;
            self.span.end = self.at;
        }
        Some(())
    }

    /// Makes steps until one leaves something; false at the end.
    fn advance(&mut self) -> Option<bool> {
        let mut pace = Pace::default();
        while self.at < self.text.len() {
            pace.step();
            let (length, new) = match self.peeked {
                Some((at, step)) if at == self.at => step,
                _ => self.step()?,
            };
            let start = self.at;
            self.at += length;
            if new.is_empty() {
                continue;
            }
            self.after_space = self.collapses && new.ends_with(' ');
            self.pending.clear();
            self.done = 0;
            for part in new.split_inclusive(' ') {
                let bare = part.strip_suffix(' ');
                self.pending.push_str(bare.unwrap_or(part));
                if bare.is_some() {
                    self.pending.push_str(MARK);
                }
            }
            self.span = Span::new(start, self.at);
            self.absorb()?;
            return Some(true);
        }
        Some(false)
    }

    /// The span of the next bytes, which have to be these.
    #[inline]
    fn take(&mut self, token: &[u8]) -> Option<Span> {
        let text = self.text.as_bytes();
        let mut span: Option<Span> = None;
        let mut rest = token;
        while !rest.is_empty() {
            let waiting = &self.pending.as_bytes()[self.done..];
            if waiting.is_empty() {
                if let Some(behind) = rest.strip_prefix(MARK.as_bytes())
                    && !self.after_space
                    && text.get(self.at) == Some(&b' ')
                    && self.is_plain(self.at + 1)
                {
                    let start = self.at;
                    self.at += 1;
                    self.after_space = self.collapses;
                    span = Some(Span::new(span.map_or(start, |it| it.start), self.at));
                    rest = behind;
                    continue;
                }
                let plain = self.plain(rest);
                if plain > 0 {
                    let start = self.at;
                    self.at += plain;
                    self.after_space = false;
                    span = Some(Span::new(span.map_or(start, |it| it.start), self.at));
                    rest = &rest[plain..];
                    continue;
                }
                if !self.advance()? {
                    return None;
                }
                continue;
            }
            let length = waiting.len().min(rest.len());
            if waiting[..length] != rest[..length] {
                return None;
            }
            self.done += length;
            rest = &rest[length..];
            let start = span.map_or(self.span.start, |it| it.start);
            span = Some(Span::new(start, self.span.end));
        }
        span
    }

    /// How many bytes of the text are the next ones of a token and are surely left as they are, with
    /// nothing behind them that is removed.
    #[inline]
    fn plain(&self, token: &[u8]) -> usize {
        let text = &self.text.as_bytes()[self.at..];
        let same = text.iter().zip(token);
        let same = same.take_while(|(a, b)| a == b && self.kept.holds_ascii(**a));
        let count = same.count();
        match text.get(count) {
            None | Some(b' '..=b'~') => count,
            Some(_) => count.saturating_sub(1),
        }
    }

    /// The span of a token that stands for characters that have no piece. Neighbours of that kind are
    /// one token, so it ends before the first character that has one: what comes next begins there,
    /// or it would not be told apart, and does not fit.
    fn unknown(&mut self, model: &SentencePiece) -> Option<Span> {
        let mut span: Option<Span> = None;
        let mut pace = Pace::default();
        loop {
            pace.step();
            if self.done == self.pending.len() && !self.advance()? {
                return span;
            }
            let Some(character) = self.pending.get(self.done..)?.chars().next() else {
                return span;
            };
            let length = character.len_utf8();
            let text = &self.pending[self.done..self.done + length];
            match model.piece_id(text).map(|id| model.kind(id)) {
                None => {}
                Some(PieceKind::Normal | PieceKind::UserDefined) => return span,
                Some(_) => return None,
            }
            self.done += length;
            let start = span.map_or(self.span.start, |it| it.start);
            span = Some(Span::new(start, self.span.end));
        }
    }

    /// Whether nothing is left but spaces that are removed.
    fn is_done(&mut self) -> bool {
        loop {
            let Some(rest) = self.pending.get(self.done..) else {
                return false;
            };
            let is_space = self.collapses && rest.chars().all(|it| MARK.contains(it));
            if !rest.is_empty() && !is_space {
                return false;
            }
            self.done = self.pending.len();
            match self.advance() {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        }
    }
}
