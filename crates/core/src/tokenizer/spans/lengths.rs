//! Places by the lengths of tokens alone, for stages that change nothing of the text but its spaces.
//!
//! Look here for byte-level BPE and for Llama 2's models. A token with something odd about it (it
//! begins inside a character, it is very long) is looked at more closely. Where a Unicode form changes
//! the text, it does so between fixed characters: what it makes of such a stretch knows where it came
//! from, and the rest of the text is as it was.

use std::borrow::Cow;
use std::ops::Range;

use super::table::{BYTE, MARK, MARKED, ODD, Table, Tables, UNKNOWN};
use super::{Output, Section};
use crate::compiled::Place;
use crate::format::sentencepiece::Algorithm;
use crate::interrupt::poll;
use crate::model::Model;
use crate::model::bpe::Alphabet;
use crate::normalizer::{Form, Normalizer};
use crate::pattern::SearchPattern;
use crate::post_processor::Margins;
use crate::pre_tokenizer::{PreTokenizer, PrependScheme};
use crate::stages::Stages;
use crate::text::{AlignedText, Span, Unit};

/// How many tokens there are from one question whether anybody waits to the next.
const STEPS: usize = 1 << 14;

/// About how long the stretches are that a form is asked of, in bytes.
const STRETCH: usize = 256;

/// What the tokens of each id spell, of tokenizers that change nothing but spaces.
#[derive(Debug)]
pub(super) struct Lengths {
    /// The form that text is brought into first.
    form: Option<Form>,
    /// Whether spaces are written `▁`.
    marks: bool,
    /// What is put in front of a text, of a section, and of a part.
    fronts: [Front; 3],
    /// Whether what is put in front has the span of the first character; else it has an empty one.
    shares: bool,
    tables: Tables,
}

/// When a space is put in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    Never,
    Always,
    /// Unless there is one.
    Missing,
}

impl Lengths {
    pub fn new(stages: &Stages) -> Option<Self> {
        let own = match &stages.model {
            Model::Bpe(bpe) if bpe.merges_bytes_only() => Self::of_cuts(stages),
            Model::Characters(_) => Self::of_cuts(stages).filter(|it| it.form.is_none()),
            Model::Bpe(bpe) => {
                let options = bpe.options();
                let is_plain = options.alphabet == Alphabet::Characters
                    && options.dropout.is_none()
                    && options.continuing_subword_prefix.is_none()
                    && options.end_of_word_suffix.is_none()
                    && !options.separate_suffix;
                Self::of_marks(stages).filter(|_| is_plain)
            }
            Model::Unigram(_) => Self::of_marks(stages),
            Model::SentencePiece(_) => Self::of_file(stages),
            Model::WordLevel(_) | Model::WordPiece(_) => None,
        };
        own.filter(|_| Tables::have_room(stages))
    }

    fn of(form: Option<Form>, marks: bool, fronts: [Front; 3], shares: bool) -> Self {
        Self {
            form,
            marks,
            fronts,
            shares,
            tables: Tables::new(),
        }
    }

    /// Of stages that cut text, and at most bring it into a form or put a space in front.
    fn of_cuts(stages: &Stages) -> Option<Self> {
        let normalizer = stages.normalizer.as_ref();
        let form = match normalizer.filter(|it| !it.changes_nothing()) {
            Some(normalizer) => Some(Form::of(normalizer)?),
            None => None,
        };
        let front = match &stages.pre_tokenizer {
            Some(PreTokenizer::ByteLevel {
                add_prefix_space: true,
                printable: false,
                ..
            }) => Front::Missing,
            Some(pre_tokenizer) if !only_cuts(pre_tokenizer) => return None,
            _ => Front::Never,
        };
        Some(Self::of(form, false, [front; 3], true))
    }

    /// Of a `tokenizer.json` that writes spaces as `▁`, by its normalizers or its pre-tokenizer.
    fn of_marks(stages: &Stages) -> Option<Self> {
        let mut steps = Vec::new();
        flatten(stages.normalizer.as_ref(), &mut steps);
        let prepends = |step: &&&Normalizer| match step {
            Normalizer::Prepend { prefix } => prefix.chars().eq([MARK]),
            _ => false,
        };
        let prepends = steps.first().filter(prepends).is_some();
        let replaces = match &steps[usize::from(prepends)..] {
            [] => false,
            [
                Normalizer::Replace {
                    pattern: SearchPattern::Literal(space),
                    content,
                },
            ] => {
                if space != " " || !content.chars().eq([MARK]) {
                    return None;
                }
                true
            }
            _ => return None,
        };
        let first = match prepends {
            true => Front::Always,
            false => Front::Never,
        };
        let fronts = match &stages.pre_tokenizer {
            Some(PreTokenizer::Metaspace {
                replacement: MARK,
                prepend_scheme,
                ..
            }) => match (prepends, prepend_scheme) {
                (true, _) | (false, PrependScheme::Never) => [first, first],
                (false, PrependScheme::Always) => [Front::Missing, Front::Missing],
                (false, PrependScheme::First) => [Front::Missing, Front::Never],
            },
            None if replaces => [first, first],
            // Its spaces are written by then.
            Some(PreTokenizer::Split {
                pattern: SearchPattern::Literal(space),
                ..
            }) if replaces && space == " " => [first, first],
            _ => return None,
        };
        let [first, section] = fronts;
        Some(Self::of(None, true, [first, section, Front::Never], true))
    }

    /// Of a `.model` file without a character map.
    fn of_file(stages: &Stages) -> Option<Self> {
        let (Some(Normalizer::SentencePiece(normalizer)), Model::SentencePiece(model), None) =
            (&stages.normalizer, &stages.model, &stages.pre_tokenizer)
        else {
            return None;
        };
        let white_space = normalizer.white_space();
        let fits = white_space.escape
            && !white_space.suffix
            && !white_space.remove_extra
            && normalizer.charsmap().is_none()
            && normalizer.user_defined().is_empty()
            && model.proto().trainer().algorithm == Algorithm::Bpe;
        let front = match white_space.add_dummy_prefix {
            true => Front::Always,
            false => Front::Never,
        };
        fits.then(|| Self::of(None, true, [front, front, Front::Never], false))
    }

    /// Adds the spans of these tokens of a section; none if they do not fit it.
    pub fn walk(
        &self,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let unit = output.ruler.unit();
        let table = self.tables.of(stages, unit, self.marks)?;
        if section.origin.is_none() && self.form.is_none() {
            return self.walk_original(table, stages, section, ids, output);
        }
        let mut changed = Changed::default();
        let text;
        if section.origin.is_none()
            && let Some(form) = self.form
        {
            text = changed.normalize(form, section.text)?;
            if changed.edits.is_empty() {
                return self.walk_original(table, stages, section, ids, output);
            }
        } else {
            text = section.text.to_owned();
        }
        self.walk_changed(table, stages, section, (&text, changed), ids, output)
    }

    fn front(&self, section: &Section<'_>, text: &str) -> bool {
        let at = match section.place {
            Place::First => 0,
            Place::Section => 1,
            Place::Inner => 2,
        };
        let is_there = || text.starts_with(' ') || self.marks && text.starts_with(MARK);
        match self.fronts[at] {
            Front::Never => false,
            Front::Always => !text.is_empty(),
            Front::Missing => !text.is_empty() && !is_there(),
        }
    }

    /// Of text that is as the caller gave it.
    fn walk_original(
        &self,
        table: &Table,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let mut call = Call {
            lengths: self,
            table,
            stages,
            text: section.text,
            unit: output.ruler.unit(),
            has_marks: self.marks && section.text.contains(MARK),
            front: self.front(section, section.text),
            byte: 0,
            units: output.ruler.at(section.start),
        };
        let mut ids = ids;
        if let Some((&first, rest)) = ids.split_first() {
            let span = call.odd(first)?;
            output.push_trimmed(span, || margins(stages, first));
            ids = rest;
        }
        for ids in ids.chunks(STEPS) {
            poll();
            match output.trims {
                None => call.run::<false>(ids, output)?,
                Some(_) => call.run::<true>(ids, output)?,
            }
        }
        if call.byte != section.text.len() || call.front {
            return None;
        }
        output.ruler.set(section.start + call.byte, call.units);
        Some(())
    }

    /// Of text that a form changed, or that came out of the normalizer.
    fn walk_changed(
        &self,
        table: &Table,
        stages: &Stages,
        section: &Section<'_>,
        (text, mut changed): (&str, Changed),
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let mut front = usize::from(self.front(section, text));
        let mut start = 0;
        let mut origin = |byte: usize| match section.origin {
            Some(aligned) => aligned.span_of(byte..byte + 1),
            None => changed.origin(section, byte),
        };
        for ids in ids.chunks(STEPS) {
            poll();
            for &id in ids {
                let entry = table.entry(id);
                if entry & (UNKNOWN | BYTE | MARKED) != 0 {
                    return None;
                }
                let length = table.lengths(id, entry)[0];
                let end = start + length.checked_sub(std::mem::take(&mut front))?;
                if end > text.len() {
                    return None;
                }
                // What was put in front shares the span of the first character.
                let last = end.max(start + 1) - 1;
                let span = Span::new(origin(start).start, origin(last).end);
                let span = output.ruler.of(span);
                output.push_trimmed(span, || margins(stages, id));
                start = end;
            }
        }
        (start == text.len() && front == 0).then_some(())
    }
}

/// The white space at the ends of a token.
fn margins(stages: &Stages, id: u32) -> Margins {
    Margins::of_bytes(stages.model.vocab().token(id).unwrap_or_default())
}

/// Whether all text is still there, as it was, if the pieces have its length.
fn only_cuts(pre_tokenizer: &PreTokenizer) -> bool {
    match pre_tokenizer {
        PreTokenizer::ByteLevel {
            add_prefix_space,
            printable,
            ..
        } => !add_prefix_space && !printable,
        PreTokenizer::Metaspace { .. } => false,
        PreTokenizer::Sequence(stages) => stages.iter().all(only_cuts),
        _ => true,
    }
}

fn flatten<'n>(normalizer: Option<&'n Normalizer>, steps: &mut Vec<&'n Normalizer>) {
    match normalizer {
        Some(Normalizer::Sequence(stages)) => {
            stages.iter().for_each(|stage| flatten(Some(stage), steps));
        }
        Some(step) => steps.push(step),
        None => {}
    }
}

/// The tokens of a section on their way.
struct Call<'c> {
    lengths: &'c Lengths,
    table: &'c Table,
    stages: &'c Stages,
    text: &'c str,
    unit: Unit,
    /// Whether the text holds the character that stands for a space.
    has_marks: bool,
    /// Whether what was put in front is still to come.
    front: bool,
    /// How much of the text is done, and how many units stand before what is not.
    byte: usize,
    units: usize,
}

impl Call<'_> {
    #[inline(always)]
    fn run<const TRIMS: bool>(&mut self, ids: &[u32], output: &mut Output<'_, '_>) -> Option<()> {
        let odd = match self.has_marks {
            true => ODD | MARKED,
            false => ODD,
        };
        let (mut byte, mut units) = (self.byte, self.units);
        for &id in ids {
            let entry = self.table.entry(id);
            if entry & odd != 0 || TRIMS && units == 0 {
                (self.byte, self.units) = (byte, units);
                let span = self.odd(id)?;
                (byte, units) = (self.byte, self.units);
                output.push_trimmed(span, || margins(self.stages, id));
                continue;
            }
            let start = units;
            byte += (entry & 0xFF) as usize;
            units += (entry >> 8 & 0xFF) as usize;
            let span = match TRIMS {
                false => [start as i64, units as i64],
                true => {
                    let start = start + (entry >> 16 & 15) as usize;
                    let end = units - (entry >> 20 & 15) as usize;
                    [start as i64, end.max(start) as i64]
                }
            };
            output.spans.push(span);
        }
        (self.byte, self.units) = (byte, units);
        Some(())
    }

    /// The span of a token that may be anything, in units.
    #[inline(never)]
    fn odd(&mut self, id: u32) -> Option<Span> {
        let entry = self.table.entry(id);
        let text = self.text.as_bytes();
        let start = self.byte;
        // Were a byte spelled out in the text, its token could be either.
        let is_spelled = text.get(start..)?.starts_with(b"<0x");
        if entry & UNKNOWN != 0 || entry & BYTE != 0 && is_spelled {
            return None;
        }
        let [mut length, mut units] = self.table.lengths(id, entry);
        let has_front = std::mem::take(&mut self.front);
        if has_front {
            let token = self.stages.model.vocab().token(id)?;
            let is_front = token.starts_with(b" ") || token.starts_with("▁".as_bytes());
            if entry & BYTE != 0 || !is_front {
                return None;
            }
            (length, units) = (length.checked_sub(1)?, units.checked_sub(1)?);
        }
        if self.has_marks && entry & MARKED != 0 {
            let spelled = self.spelled(id, has_front)?;
            if self.unit == Unit::Bytes {
                units += spelled - length;
            }
            length = spelled;
        }
        let end = start + length;
        if end > text.len() {
            return None;
        }
        let mut span = Span::new(self.units, self.units + units);
        let is_inside = |at: usize| !self.text.is_char_boundary(at);
        if has_front && length == 0 {
            let first = self.text.chars().next().filter(|_| self.lengths.shares);
            let first = first.map_or(0, char::len_utf8);
            span.end += self.unit.count(&text[..first]);
        } else if is_inside(start) {
            let begin = (0..start).rev().find(|at| !is_inside(*at))?;
            let before = match self.unit {
                Unit::Bytes => start - begin,
                _ => self.unit.count(&text[begin..=begin]),
            };
            span.start = span.start.checked_sub(before)?;
        }
        if self.unit == Unit::Bytes {
            span.end += (end..text.len()).take_while(|at| is_inside(*at)).count();
        }
        (self.byte, self.units) = (end, self.units + units);
        Some(span)
    }

    /// How many bytes of the text a token covers that holds `▁`, of which each is a space or itself.
    fn spelled(&self, id: u32, has_front: bool) -> Option<usize> {
        let token = std::str::from_utf8(self.stages.model.vocab().token(id)?).ok()?;
        let mut rest = self.text.get(self.byte..)?;
        for character in token.chars().skip(usize::from(has_front)) {
            let same = rest.strip_prefix(character);
            let space = || rest.strip_prefix(' ').filter(|_| character == MARK);
            rest = same.or_else(space)?;
        }
        Some(self.text.len() - self.byte - rest.len())
    }
}

/// The stretches of a text that a form changed.
#[derive(Default)]
struct Changed {
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

impl Changed {
    /// The text in this form; what changed is noted.
    fn normalize(&mut self, form: Form, text: &str) -> Option<String> {
        let mut new = String::new();
        let mut done = 0;
        let mut start = 0;
        while start < text.len() {
            poll();
            let mut end = crate::text::boundary_before(text, start + STRETCH);
            // What stands before a fixed character is normalized by itself.
            while end < text.len() && (end <= start || !form.fixes(text, end)) {
                end += text[end..].chars().next().map_or(1, char::len_utf8);
            }
            let stretch = &text[start..end];
            if let Cow::Owned(changed) = form.normalized(stretch) {
                let mut aligned = AlignedText::original(stretch);
                form.normalize(&mut aligned).ok()?;
                // Both have to be the same, or the places are not those of these tokens.
                if aligned.as_str() != changed {
                    return None;
                }
                new.push_str(&text[done..start]);
                let first = new.len();
                new.push_str(&changed);
                self.edits.push(Edit {
                    range: first..new.len(),
                    old_start: start,
                    old_end: end,
                    text: aligned,
                });
                done = end;
            }
            start = end;
        }
        new.push_str(&text[done..]);
        Some(new)
    }

    /// Where a byte of the new text came from, as a span of its part; bytes come in order, but for a
    /// few.
    fn origin(&mut self, section: &Section<'_>, byte: usize) -> Span {
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
        if let Some(edit) = self.edits.get(self.next)
            && edit.range.contains(&byte)
        {
            let at = byte - edit.range.start;
            let span = edit.text.span_of(at..at + 1);
            let start = section.start + edit.old_start;
            return Span::new(start + span.start, start + span.end);
        }
        let (new, old) = match self.next.checked_sub(1) {
            Some(last) => (self.edits[last].range.end, self.edits[last].old_end),
            None => (0, 0),
        };
        let at = old + byte - new;
        let text = section.text;
        let start = crate::text::boundary_before(text, at);
        let length = text[start..].chars().next().map_or(0, char::len_utf8);
        Span::new(section.start + start, section.start + start + length)
    }
}
