//! Where tokens stand in a text that normalizers changed in places: their lengths, added up as `lengths`
//! does, through the origins of the changed stretches.

use super::changed_text::Changed;
use super::known_characters::UnknownToken;
use super::lengths::{Lengths, STEPS, margins};
use super::mark::MARK_BYTES;
use super::ruler::At;
use super::run::Stretch;
use super::table::{BYTE, CUT, INSIDE, MARKED, ODD, Table, UNKNOWN, bytes_of, is_inside, units_of};
use super::{Output, Section};
use jeton_models::stages::Stages;
use jeton_stages::split::safe_cuts::decode;
use jeton_text::interrupt::{Pace, paced};
use jeton_text::text::{Span, white_space};

/// Tokens along a changed text.
struct Call<'c> {
    lengths: &'c Lengths,
    table: &'c Table,
    section: &'c Section<'c>,
    changed: Changed,
    /// What stands for characters that have no piece.
    unknown: Option<UnknownToken>,
    /// Whether the text spells that token, if that was asked.
    is_spelled_out: Option<bool>,
    stages: &'c Stages,
    /// How much of the new text is done.
    start: usize,
    /// What was put in front is still to come.
    front: bool,
    /// Where the piece begins whose `▁` has come last.
    begun: Option<usize>,
    /// The last token was an unknown one: the next one has to be spelled where that ended.
    after_unknown: bool,
}

impl Lengths {
    /// As [`Lengths::walk`], of text that normalizers changed.
    pub(super) fn walk_changed(
        &self,
        table: &Table,
        stages: &Stages,
        section: &Section<'_>,
        changed: Changed,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let mut call = Call {
            lengths: self,
            table,
            section,
            unknown: *self.unknown.get(|| UnknownToken::of(&stages.model)),
            is_spelled_out: None,
            stages,
            start: 0,
            front: self.front(section, &changed.text),
            changed,
            begun: None,
            after_unknown: false,
        };
        let mut next = 0;
        let mut pace = Pace::default();
        while next < ids.len() {
            pace.step();
            let done = call.run(&ids[next..ids.len().min(next + STEPS)], output);
            pace.steps(done);
            next += done;
            if let Some(&id) = ids.get(next) {
                call.token(id, output)?;
                next += 1;
            }
        }
        call.skip_white_space();
        (call.start == call.changed.text.len() && !call.front).then_some(())
    }
}

impl Call<'_> {
    /// Adds the spans of the first of these tokens, if they lie along text that is as it was; says how
    /// many.
    fn run(&mut self, ids: &[u32], output: &mut Output<'_, '_>) -> usize {
        if self.front
            || self.after_unknown
            || output.trims.is_some()
            || self.section.origin.is_some()
        {
            return 0;
        }
        let Some((end, old)) = self.changed.unchanged(self.start) else {
            return 0;
        };
        let old = self.section.start + old;
        let mut at = At {
            byte: self.start,
            units: output.ruler.at(old),
        };
        let done = match self.lengths.parted() {
            None => {
                let stretch = Stretch {
                    text: &self.changed.text,
                    end,
                    odd: ODD,
                    ends_unknown: false,
                    unknown: None,
                };
                (self.table).run::<false, false>(&stretch, ids, &mut at, output.spans)
            }
            Some(true) => self.run_of_words(ids, &mut at, end, output),
            Some(false) => 0,
        };
        output.ruler.set(old + at.byte - self.start, at.units);
        self.start = at.byte;
        done
    }

    /// The same of words that white space parts and that `▁` begins, which stands for no character.
    fn run_of_words(
        &self,
        ids: &[u32],
        at: &mut At,
        end: usize,
        output: &mut Output<'_, '_>,
    ) -> usize {
        let text = &self.changed.text[..];
        let mut done = 0;
        for &id in ids {
            let entry = self.table.entry(id);
            let next = at.byte + bytes_of(entry);
            let begins = entry & MARKED != 0;
            if entry & (ODD | INSIDE | CUT) != 0
                || next > end
                || begins != (text[at.byte] == b' ')
                || begins && (bytes_of(entry) == 1 || is_white_space(text, at.byte + 1))
                || at.byte == 0
            {
                break;
            }
            let start = at.units + usize::from(begins);
            at.units += units_of(entry);
            at.byte = next;
            output.spans.push([start as i64, at.units as i64]);
            done += 1;
        }
        done
    }

    /// Adds the span of a token that may be anything.
    fn token(&mut self, id: u32, output: &mut Output<'_, '_>) -> Option<()> {
        let entry = self.table.entry(id);
        let skipped = self.skip_white_space();
        let mut has_front = std::mem::take(&mut self.front);
        if self.lengths.parted() == Some(true)
            && (skipped || self.start == 0)
            && self.begun != Some(self.start)
        {
            self.begun = Some(self.start);
            has_front = true;
        }
        let most = self.changed.text.len();
        let rest = self.changed.text.get(self.start..)?;
        // Were a byte spelled out in the text, its token could be either.
        if entry & BYTE != 0 && (has_front || rest.starts_with(b"<0x")) {
            return None;
        }
        let length = match entry & UNKNOWN != 0 {
            true => match self.unknown {
                Some(unknown)
                    if unknown.id == id && !has_front && !(self.after_unknown && unknown.fuses) =>
                {
                    self.unknown(unknown)?
                }
                _ => return None,
            },
            false => {
                let token = self.stages.model.vocab().token(id)?;
                let is_marked = token.starts_with("▁".as_bytes()) || token.starts_with(b" ");
                if has_front && !is_marked
                    || self.after_unknown && !self.is_spelled(token, has_front)
                {
                    return None;
                }
                self.table.lengths(id, entry)[0] - usize::from(has_front)
            }
        };
        self.after_unknown = entry & UNKNOWN != 0;
        let end = self.start + length;
        if end > most {
            return None;
        }
        // What was put in front shares the span of the first character.
        let last = end.max(self.start + 1) - 1;
        let (first, last) = (self.origin(self.start), self.origin(last));
        let span = Span::new(first.start, last.end);
        output.push_trimmed(span, || margins(self.stages, id));
        self.start = end;
        Some(())
    }

    /// Where a byte of the text came from.
    fn origin(&mut self, byte: usize) -> Span {
        if let Some(aligned) = self.section.origin {
            return aligned.span_of(byte..byte + 1);
        }
        let start = self.section.start;
        let span = self.changed.origin(self.section.stretch.text, byte);
        Span::new(start + span.start, start + span.end)
    }

    /// The characters of the new text from where the tokens have come to; none inside a character.
    fn rest(&self) -> impl Iterator<Item = char> {
        let text = &self.changed.text[..];
        let mut at = match text.get(self.start) {
            Some(byte) if !is_inside(*byte) => self.start,
            _ => text.len(),
        };
        std::iter::from_fn(move || {
            (at < text.len()).then(|| {
                let (character, length) = decode(text, at);
                at += length;
                char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER)
            })
        })
    }

    /// Passes white space that leaves nothing; says whether there is some.
    fn skip_white_space(&mut self) -> bool {
        if self.lengths.parted().is_none() {
            return false;
        }
        let length = white_space(self.rest());
        self.start += length;
        length > 0
    }

    /// How long the run of characters is that have no piece. What comes behind it begins with one that
    /// has, or it is not spelled there.
    fn unknown(&mut self, unknown: UnknownToken) -> Option<usize> {
        let vocab = self.stages.model.vocab();
        vocab.text_id("▁".as_bytes())?;
        let token = std::str::from_utf8(vocab.token(unknown.id)?).ok()?;
        // Spelled out, it would be a part of the run.
        let text = &self.changed.text[..];
        let contains = || std::str::from_utf8(text).is_ok_and(|text| text.contains(token));
        if *self.is_spelled_out.get_or_insert_with(contains) {
            return None;
        }
        let mut length = 0;
        for c in paced(self.rest()) {
            if c == ' ' || self.lengths.parted().is_some() && c.is_whitespace() {
                break;
            }
            if self.lengths.knows(self.stages, c) {
                break;
            }
            length += c.len_utf8();
            if !unknown.fuses {
                break;
            }
        }
        (length > 0).then_some(length)
    }

    /// Whether the text goes on with this token, but for what is put in front.
    fn is_spelled(&self, token: &[u8], has_front: bool) -> bool {
        let mut rest = self.changed.text[self.start..].iter();
        let mut token = token;
        let mut has_front = has_front;
        while let Some(byte) = token.first() {
            let marked = token.strip_prefix(&MARK_BYTES);
            let expected = if marked.is_some() { b' ' } else { *byte };
            token = marked.unwrap_or(&token[1..]);
            if !std::mem::take(&mut has_front) && rest.next() != Some(&expected) {
                return false;
            }
        }
        true
    }
}

/// Whether white space stands at this place of a text, which a word begins with only if more stands
/// before it.
#[inline]
fn is_white_space(text: &[u8], at: usize) -> bool {
    match text[at] {
        byte if byte.is_ascii() => byte.is_ascii_whitespace() || byte == b'\x0B',
        _ => char::from_u32(decode(text, at).0).is_some_and(char::is_whitespace),
    }
}
