//! Places along a text that a SentencePiece model's normalizer changes.
//!
//! Look here for T5's `.model` files. The normalizer replaces the longest key at its place, again and
//! again, and what it removes belongs to what stands before it. Along a stretch of text that it leaves
//! as it is, but for runs of spaces, the lengths of tokens say where they stand, and no steps are made;
//! elsewhere each token is compared with what the steps give.

use std::borrow::Cow;

use super::kept_stretches::{Ascii, Kept};
use super::known_characters::Known;
use super::lengths::STEPS;
use super::mark::{MARK, MARK_BYTES};
use super::ruler::At;
use super::run::Stretch;
use super::table::{BYTE, INSIDE, ODD, Spaces, Table, Tables, UNKNOWN};
use super::{Output, Section};
use jeton_fast::Place;
use jeton_models::model::Model;
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{
    CharacterSet, Charsmap, KeyCharacters, Normalizer, SentencePieceNormalizer as StepNormalizer,
};
use jeton_stages::split::safe_cuts::decode;
use jeton_text::interrupt::Pace;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::{Span, boundary_before};

/// What of a `.model` file is known beforehand.
#[derive(Debug)]
pub(super) struct Steps {
    tables: Tables,
    characters: Lazy<Characters>,
    known: Lazy<Known>,
}

/// Which characters a normalizer leaves.
#[derive(Debug)]
struct Characters {
    kept: Kept,
    /// Those that may change what stands before them.
    behind: CharacterSet,
}

/// What one step writes, and the removed steps behind it.
struct Written<'c> {
    /// With a space for each `▁`.
    text: Cow<'c, str>,
    /// How much of it belongs to tokens already.
    done: usize,
    /// The old text that it stands for.
    old: Span,
}

impl Written<'_> {
    /// Whether some of it belongs to no token yet.
    fn is_left(&self) -> bool {
        self.done < self.text.len()
    }
}

/// The tokens of a section on their way.
struct Call<'c> {
    table: &'c Table,
    characters: &'c Characters,
    known: &'c Lazy<Known>,
    model: &'c Model,
    normalizer: &'c StepNormalizer,
    text: &'c str,
    /// What stands for characters that have no piece, if these are not written as bytes.
    unk_id: Option<u32>,
    collapses: bool,
    /// Where the next step begins.
    at: usize,
    /// The step that was asked for last: where it begins, how long it is and what it writes.
    asked: (usize, usize, &'c str),
    /// A space that the next steps write is removed.
    after_space: bool,
    /// What was written last, if tokens have not come to its end.
    written: Option<Written<'c>>,
    /// Where the kept stretch ends that was found last.
    kept_end: usize,
    /// Whether what is written there ends a run of characters that have no piece.
    ends_unknown: bool,
    /// The last token was an unknown one: the next one has to be spelled where that ended.
    after_unknown: bool,
}

impl Steps {
    pub fn new(stages: &Stages) -> Option<Self> {
        let normalizer = normalizer(stages)?;
        let white_space = normalizer.white_space();
        let Model::SentencePiece(model) = &stages.model else {
            return None;
        };
        let fits = white_space.escape && !white_space.suffix && model.twin().is_none();
        (fits && Tables::have_room(stages)).then(|| Self {
            tables: Tables::new(),
            characters: Lazy::new(),
            known: Lazy::new(),
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
        let (normalizer, Model::SentencePiece(model)) = (normalizer(stages)?, &stages.model) else {
            return None;
        };
        // In text that was rewritten before, a `▁` would be told from a space no longer.
        if section.origin.is_some() {
            return None;
        }
        let collapses = normalizer.white_space().remove_extra;
        let spaces = match collapses {
            true => Spaces::Collapsed,
            false => Spaces::Marked,
        };
        let mut call = Call {
            table: self.tables.of(stages, output.ruler.unit(), spaces)?,
            characters: self.characters.get(|| Characters::of(normalizer)),
            known: &self.known,
            model: &stages.model,
            normalizer,
            text: section.stretch.text,
            unk_id: model.unk_id().filter(|_| model.byte_ids().is_none()),
            collapses,
            at: 0,
            asked: (usize::MAX, 0, ""),
            after_space: false,
            written: None,
            kept_end: 0,
            ends_unknown: false,
            after_unknown: false,
        };
        let legacy = normalizer.white_space().legacy;
        if section.stretch.place == Place::First
            || legacy && section.stretch.place == Place::Section
        {
            call.begin()?;
        }
        let mut next = 0;
        let mut pace = Pace::default();
        while next < ids.len() {
            pace.step();
            let done = call.run(
                &ids[next..ids.len().min(next + STEPS)],
                section.start,
                output,
            );
            pace.steps(done);
            next += done;
            if let Some(&id) = ids.get(next) {
                let span = call.token(id)?;
                output.push(Span::new(
                    section.start + span.start,
                    section.start + span.end,
                ));
                next += 1;
            }
        }
        call.is_done(legacy || section.stretch.is_last)
            .then_some(())
    }
}

impl<'c> Call<'c> {
    /// What happens at the front of a text.
    fn begin(&mut self) -> Option<()> {
        let mut pace = Pace::default();
        while self.collapses && self.at < self.text.len() {
            pace.step();
            let (length, new) = self.ask(self.at);
            if new != " " {
                break;
            }
            self.at += length;
        }
        self.after_space = self.collapses;
        if self.at < self.text.len() && self.normalizer.white_space().add_dummy_prefix {
            let start = self.at;
            self.written = Some(Written {
                text: " ".into(),
                done: 0,
                old: Span::new(start, self.pass_removed()?),
            });
        }
        Some(())
    }

    /// Adds the spans of the first of these tokens, as long as they lie along kept text; says how many.
    fn run(&mut self, ids: &[u32], start: usize, output: &mut Output<'_, '_>) -> usize {
        let is_left = self.written.as_ref().is_some_and(Written::is_left);
        if is_left || self.after_unknown {
            return 0;
        }
        if self.at >= self.kept_end {
            self.find_kept();
        }
        if self.at >= self.kept_end {
            return 0;
        }
        // Which characters are known takes a look at all pieces.
        let known = self.known.made().zip(self.unk_id);
        let stretch = Stretch {
            text: self.text.as_bytes(),
            end: self.kept_end,
            odd: ODD | INSIDE,
            ends_unknown: self.ends_unknown,
            unknown: known.and_then(|(known, id)| known.unknown(id)),
        };
        let mut at = At {
            byte: self.at,
            units: output.ruler.at(start + self.at),
        };
        let done = match self.collapses {
            true => (self.table).run::<false, true>(&stretch, ids, &mut at, output.spans),
            false => (self.table).run::<false, false>(&stretch, ids, &mut at, output.spans),
        };
        output.ruler.set(start + at.byte, at.units);
        self.at = at.byte;
        if done > 0 {
            let last = self.text.as_bytes()[self.at - 1];
            self.after_space = self.collapses && self.characters.kept.is_space_byte(last);
        }
        done
    }

    /// Finds where the text ends that is left as it is from here on, but for runs of spaces: where
    /// what follows takes nothing away from it, and is not taken away with it.
    fn find_kept(&mut self) {
        let at = self.at;
        let Characters { kept, behind } = self.characters;
        let bytes = self.text.as_bytes();
        let begins = |at| self.normalizer.user_defined_at(self.text, at).is_some();
        let end = kept.first_other(self.text, at, false, begins);
        let is_space = |at: usize| kept.is_space_byte(bytes[at]);
        let ends_in_space = self.collapses && end > at && is_space(end - 1);
        let goes_on = match end == bytes.len() {
            // Spaces at the end are removed.
            true => {
                self.ends_unknown = true;
                ends_in_space
            }
            false => {
                let (_, new) = self.ask(end);
                let is_removed = match ends_in_space {
                    true => new.trim_start_matches(' ').is_empty(),
                    false => new.is_empty(),
                };
                let is_known = |c| self.known.made().is_some_and(|it| it.has(self.model, c));
                self.ends_unknown = new.starts_with(|c| c == ' ' || is_known(c));
                is_removed || behind.may_have(decode(bytes, end).0)
            }
        };
        self.kept_end = end;
        if !goes_on || end == at {
            return;
        }
        // What the last character becomes is not certain, nor whether a space before it is removed.
        let mut last = boundary_before(self.text, end - 1);
        let mut pace = Pace::default();
        while self.collapses && is_space(last) && last > at && is_space(last - 1) {
            pace.step();
            last -= 1;
        }
        (self.kept_end, self.ends_unknown) = (last, is_space(last));
    }

    /// The span of a token that may be anything.
    fn token(&mut self, id: u32) -> Option<Span> {
        let entry = self.table.entry(id);
        let after_unknown = std::mem::take(&mut self.after_unknown);
        if entry & BYTE != 0 {
            return self.take(&[(entry >> 16) as u8]);
        }
        if entry & UNKNOWN == 0 {
            return self.take(self.model.vocab().token(id)?);
        }
        if after_unknown || self.unk_id != Some(id) {
            return None;
        }
        self.after_unknown = true;
        self.unknown()
    }

    /// The span of a token, which has to be what is written next.
    fn take(&mut self, token: &[u8]) -> Option<Span> {
        let mut rest = token;
        let mut span: Option<Span> = None;
        while !rest.is_empty() {
            let written = self.next()?;
            span = Some(Span::new(
                span.map_or(written.old.start, |it| it.start),
                written.old.end,
            ));
            while let (Some(byte), Some(first)) =
                (written.text.as_bytes().get(written.done), rest.first())
            {
                let marked = rest.strip_prefix(&MARK_BYTES);
                if *byte != marked.map_or(*first, |_| b' ') {
                    return None;
                }
                rest = marked.unwrap_or(&rest[1..]);
                written.done += 1;
            }
        }
        span
    }

    /// The span of a run of characters that have no piece.
    fn unknown(&mut self) -> Option<Span> {
        let (known, model) = (self.known.get(|| Known::new(self.model)), self.model);
        let mut span: Option<Span> = None;
        let mut pace = Pace::default();
        while let Some(written) = self.next() {
            pace.step();
            let character = written.text.get(written.done..)?.chars().next()?;
            if character == ' ' || known.has(model, character) {
                break;
            }
            written.done += character.len_utf8();
            span = Some(Span::new(
                span.map_or(written.old.start, |it| it.start),
                written.old.end,
            ));
        }
        span.filter(|_| known.has(model, MARK))
    }

    /// What is written next and belongs to no token yet; none at the end, and where that is not known.
    fn next(&mut self) -> Option<&mut Written<'c>> {
        if !self.written.as_ref().is_some_and(Written::is_left) {
            self.written = self.step();
        }
        self.written.as_mut()
    }

    /// How long the step at a place is, and what it writes.
    fn ask(&mut self, at: usize) -> (usize, &'c str) {
        if self.asked.0 != at {
            let (length, new) = self.normalizer.step(self.text, at);
            self.asked = (at, length, new);
        }
        (self.asked.1, self.asked.2)
    }

    /// What the next step writes that is not removed.
    fn step(&mut self) -> Option<Written<'c>> {
        let mut pace = Pace::default();
        while self.at < self.text.len() {
            pace.step();
            let start = self.at;
            let (length, mut new) = self.ask(start);
            // Only a map with keys that end inside a character leads elsewhere.
            if !self.text.is_char_boundary(start + length) {
                return None;
            }
            self.at = start + length;
            if self.after_space {
                new = new.trim_start_matches(' ');
            }
            if new.is_empty() {
                continue;
            }
            self.after_space = self.collapses && new.ends_with(' ');
            let text = match new.len() >= MARK_BYTES.len() && new.contains(MARK) {
                true => Cow::Owned(new.replace(MARK, " ")),
                false => Cow::Borrowed(new),
            };
            let old = Span::new(start, self.pass_removed()?);
            return Some(Written { text, done: 0, old });
        }
        None
    }

    /// Passes steps that write nothing; says where they end.
    fn pass_removed(&mut self) -> Option<usize> {
        let mut pace = Pace::default();
        while self.at < self.text.len() {
            pace.step();
            let kept = self.characters.kept.length(self.text, self.at, true);
            if kept.is_some() {
                break;
            }
            let (length, new) = self.ask(self.at);
            let is_removed = match self.after_space {
                true => new.trim_start_matches(' ').is_empty(),
                false => new.is_empty(),
            };
            if !is_removed {
                break;
            }
            self.at += length;
            if !self.text.is_char_boundary(self.at) {
                return None;
            }
        }
        Some(self.at)
    }

    /// Whether nothing is left but spaces that are removed at the end of a text.
    fn is_done(&mut self, is_last: bool) -> bool {
        let collapses = self.collapses && is_last;
        while let Some(written) = self.next() {
            let rest = &written.text.as_bytes()[written.done..];
            if !collapses || rest.iter().any(|byte| *byte != b' ') {
                return false;
            }
            written.done = written.text.len();
        }
        self.at == self.text.len()
    }
}

/// The normalizer of a `.model` file.
fn normalizer(stages: &Stages) -> Option<&StepNormalizer> {
    match (&stages.normalizer, &stages.pre_tokenizer) {
        (Some(Normalizer::SentencePiece(normalizer)), None) => Some(normalizer),
        _ => None,
    }
}

impl Characters {
    /// Those of a normalizer.
    fn of(normalizer: &StepNormalizer) -> Self {
        let map = normalizer.charsmap();
        let characters = match map {
            Some(map) => map.key_characters(),
            None => Some(KeyCharacters::default()),
        };
        let (mut others, behind) = match characters {
            Some(KeyCharacters { keys, behind }) => (keys.and(&behind), behind),
            None => (CharacterSet::all(), CharacterSet::all()),
        };
        let firsts = (normalizer.user_defined().iter()).filter_map(|it| it.chars().next());
        for first in firsts.filter(|it| !it.is_ascii()) {
            others.add(first.into(), true);
        }
        let is_space = |map: &Charsmap, byte: u8| {
            map.longest_prefix(&[byte]) == Some((1, " ")) && !map.inner_bytes()[usize::from(byte)]
        };
        let begins = |byte| normalizer.begins_user_defined(byte);
        let becomes = |byte: usize| match byte as u8 {
            byte @ b'!'..=b'~' if !others.may_have(byte.into()) => match begins(byte) {
                true => Ascii::Asked,
                false => Ascii::Kept,
            },
            byte if begins(byte) => Ascii::Other,
            // A space is a space to every map that the fast path takes.
            byte @ 0..=0x1F if map.is_some_and(|map| is_space(map, byte)) => Ascii::Space,
            _ => Ascii::Other,
        };
        let ascii = Box::new(std::array::from_fn(becomes));
        Self {
            kept: Kept::new(ascii, false, others),
            behind,
        }
    }
}
