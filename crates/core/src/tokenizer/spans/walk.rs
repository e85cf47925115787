//! The walk along a text that finds the places of the fast path's tokens.
//!
//! Look here for why these are the spans of the stages. Along text of a byte-level model, the lengths of its
//! tokens are enough. Text that is split at spaces goes to the stages chunk by chunk. A chunk ends only where
//! the strategy may split the text too, so it becomes the same wherever it is. A cache keeps the places
//! of its tokens, as the strategy's own cache keeps the tokens. If the stages give a chunk other tokens than
//! the fast path, the whole text goes through the stages.

mod chunk;

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use chunk::{Chunk, End};
use foldhash::fast::RandomState;

use super::kept::KeptCharacters;
use super::ruler::At;
use super::spelled::{Spanned, Unknown};
use super::table::{LengthTable, LengthTables};
use super::{Output, Section};
use crate::tokenizer::STAGED_BYTES;
use jeton_fast::{Compiled, Place, Reusable, Spanning, Taken, WordCache, WorkspacePool};
use jeton_models::model::{Model, Sampler, Sampling};
use jeton_models::stages::{BeforeModel, Stages};
use jeton_stages::normalizer::{Form, Normalizer, SPACE_MARK};
use jeton_stages::post_processor::{Margins, Trimming};
use jeton_text::interrupt::{poll, tick};
use jeton_text::mem::room;
use jeton_text::text::{AlignedText, Span};

/// Tokens between two polls for an interrupt.
const STEPS: usize = 1 << 14;
/// Bytes to normalize after text that a form changes, since its tokens may reach into them.
const BEHIND: usize = 16;

/// Finds the places of tokens, mostly without the model.
#[derive(Debug)]
pub struct Walk {
    spanning: Spanning,
    kept: KeptCharacters,
    /// The bytes that the strategy treats as spaces.
    is_space: [bool; 256],
    tables: LengthTables,
    unknown: Unknown,
    /// Chunks, by the unit of their places.
    pools: [WorkspacePool<Chunks>; 3],
    pub(super) trimming: Trimming,
}

/// A cache of chunks: for each token its id, and at how many units of the chunk it begins and ends.
struct Chunks(WordCache);

impl Reusable for Chunks {
    fn new() -> Box<Self> {
        Box::new(Self(WordCache::half(RandomState::default().hash_one(0))))
    }

    fn is_current(&self) -> bool {
        self.0.keeps_the_limit()
    }
}

/// The state of a walk along one section.
struct Call<'c, 'o, 't> {
    walk: &'c Walk,
    compiled: &'c dyn Compiled,
    stages: &'c Stages,
    section: &'c Section<'c>,
    ids: &'c [u32],
    /// Index of the next token.
    next: usize,
    /// Byte of the section where it begins.
    at: usize,
    output: &'c mut Output<'o, 't>,
    chunks: Option<Taken<'c, Chunks>>,
    /// Buffers for the tokens of a chunk, and for its entry in the cache.
    found: Vec<Spanned>,
    remembered: Vec<u32>,
}

impl Walk {
    /// The walk for these stages, if there is one.
    pub fn new(stages: &Stages, compiled: Option<&dyn Compiled>) -> Option<Self> {
        let trimming = match &stages.post_processor {
            Some(post_processor) => post_processor.trimming()?,
            None => Trimming::None,
        };
        let knows_margins = matches!(&stages.model, Model::Bpe(bpe) if bpe.merges_bytes_only());
        let is_known = match &stages.model {
            // Otherwise one unknown token may cover characters of several chunks.
            Model::SentencePiece(model) => {
                let mark = SPACE_MARK.to_string();
                let parts_unknown =
                    model.byte_ids().is_some() || model.vocab().text_id(mark.as_bytes()).is_some();
                trimming == Trimming::None && model.twin().is_none() && parts_unknown
            }
            _ => trimming == Trimming::None || knows_margins,
        };
        let compiled = compiled?;
        let spanning = match compiled.spanning() {
            Spanning::Lengths if !LengthTables::have_room(stages.model.vocab()) => Spanning::Pieces,
            spanning => spanning,
        };
        // Where a text itself spells a mark of word parts, a token may be longer than its entry says.
        let marks = stages.model.marks().into_iter().flatten();
        let marks: Vec<char> = marks.filter_map(|it| it.chars().next()).collect();
        let drops = matches!(&stages.model, Model::Bpe(bpe) if bpe.drops_unknown());
        // Where characters are dropped, one may look like a mark, and a mark may be a token of no text.
        (is_known && (!drops || marks.is_empty())).then(|| Self {
            spanning,
            kept: KeptCharacters::new(marks),
            is_space: std::array::from_fn(|byte| compiled.is_space(byte as u8)),
            tables: LengthTables::new(),
            unknown: Unknown::new(),
            pools: Default::default(),
            trimming,
        })
    }

    /// Adds the spans of the tokens of a section. `None` if their places are not certain; some spans are
    /// added then.
    pub(super) fn section(
        &self,
        compiled: &dyn Compiled,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let mut call = Call {
            walk: self,
            compiled,
            stages,
            section,
            ids,
            next: 0,
            at: 0,
            output,
            chunks: None,
            found: Vec::new(),
            remembered: Vec::new(),
        };
        match (section.origin, self.spanning) {
            (Some(text), _) => call.spelled(text, None)?,
            (None, Spanning::Lengths) => {
                let vocab = stages.model.vocab();
                call.bytes(self.tables.of(vocab, call.output.ruler.unit))?;
            }
            (None, Spanning::Chunks) => {
                while call.at < section.stretch.text.len() {
                    tick();
                    call.chunk()?;
                }
            }
            (None, Spanning::Pieces) => {
                let normalizer = stages.normalizer.as_ref();
                let normalizer = normalizer.filter(|_| !section.stretch.is_normalized);
                let text = section.stretch.text;
                room::ask(text.len().saturating_mul(STAGED_BYTES));
                call.spelled(&AlignedText::original(text), normalizer)?;
            }
        }
        (call.next == ids.len()).then_some(())
    }

    /// Adds the tokens of a part of a piece with their spans: the first of `ids`, if they spell it or the model
    /// gives the same ones.
    fn place(
        &self,
        stages: &Stages,
        piece: &AlignedText,
        part: Range<usize>,
        ids: &[u32],
        found: &mut Vec<Spanned>,
    ) -> Option<()> {
        let before = found.len();
        let spelled = self.unknown.spell(stages, piece, part.clone(), ids, found);
        if spelled.is_some() {
            return spelled;
        }
        found.truncate(before);
        let mut sampler = Sampler::new(Sampling::default());
        let mut tokens = Vec::new();
        let model = &stages.model;
        model
            .tokenize(piece.as_str(), &mut sampler, &mut tokens)
            .ok()?;
        for token in tokens.iter().filter(|it| part.contains(&it.range.start)) {
            if token.range.end > part.end {
                return None;
            }
            found.push((token.id, piece.span_of(token.range.clone())));
        }
        let own = &found[before..];
        let is_same = own.iter().map(|(id, _)| id).eq(ids.get(..own.len())?);
        (is_same && !self.unknown.may_be_elsewhere(model, own)).then_some(())
    }
}

impl Call<'_, '_, '_> {
    /// Adds the span of the next token, in bytes of the section.
    fn push(&mut self, span: Span) {
        let id = self.ids[self.next];
        let start = if self.section.origin.is_some() {
            0
        } else {
            self.section.start
        };
        let span = Span::new(start + span.start, start + span.end);
        let vocab = self.stages.model.vocab();
        let margins = || Margins::of_bytes(vocab.token(id).unwrap_or_default());
        self.output.push_trimmed(span, margins);
        self.next += 1;
    }

    /// Adds all tokens by the text that reaches the model; `normalizer` has not run yet.
    fn spelled(&mut self, text: &AlignedText, normalizer: Option<&Normalizer>) -> Option<()> {
        let before_model = BeforeModel {
            normalizer,
            pre_tokenizer: self.stages.pre_tokenizer.as_ref(),
        };
        let pieces = before_model.pieces(text.clone()).ok()?;
        let mut found = std::mem::take(&mut self.found);
        for piece in pieces.iter() {
            found.clear();
            let part = 0..piece.as_str().len();
            let ids = &self.ids[self.next..];
            self.walk.place(self.stages, piece, part, ids, &mut found)?;
            found.iter().for_each(|(_, span)| self.push(*span));
        }
        Some(())
    }

    /// Adds the tokens of a byte-level model: by their lengths where the Unicode form keeps the text, by
    /// normalizing it where the form changes something.
    fn bytes(&mut self, table: &LengthTable) -> Option<()> {
        let text = self.section.stretch.text;
        let form = self.stages.normalizer.as_ref().and_then(Form::of);
        let adds_space = self.compiled.adds_space();
        // The same few stretches come again and again.
        let mut changes = HashMap::<&str, bool, RandomState>::default();
        let mut next_changed = |from| {
            let form = form?;
            let mut unsure = std::iter::successors(form.next_unsure(text, from), |it| {
                form.next_unsure(text, it.end)
            });
            unsure.find(|it| {
                let is_changed = |old: &&str| matches!(form.normalized(old), Cow::Owned(_));
                *changes
                    .entry(&text[it.clone()])
                    .or_insert_with_key(is_changed)
            })
        };
        let mut changed = next_changed(0);
        if adds_space || self.output.trimming != Trimming::None {
            self.window(form, adds_space, changed.as_ref())?;
        }
        while self.at < text.len() {
            while let Some(passed) = changed.as_ref().filter(|it| it.end <= self.at) {
                changed = next_changed(passed.end);
            }
            let end = changed.as_ref().map_or(text.len(), |it| it.start);
            let done = self.run(table, end);
            if done == STEPS {
                poll();
            }
            // A window begins with a whole character.
            while !text.is_char_boundary(self.at) {
                self.next -= 1;
                self.at -= self.stages.model.vocab().token(self.ids[self.next])?.len();
                self.output.spans.pop();
            }
            if self.at < text.len() && done < STEPS {
                self.window(form, false, changed.as_ref())?;
            }
        }
        Some(())
    }

    /// Adds the next token at least, and those of the next stretch that a form changes if it reaches that.
    fn window(
        &mut self,
        form: Option<Form>,
        adds_space: bool,
        changed: Option<&Range<usize>>,
    ) -> Option<()> {
        let text = self.section.stretch.text;
        let vocab = self.stages.model.vocab();
        let Some(&id) = self.ids.get(self.next) else {
            return text.is_empty().then_some(());
        };
        let reach = self.at + vocab.token(id)?.len();
        let least = changed.filter(|it| it.start <= reach);
        let least = least.map_or(self.at, |it| it.end);
        let is_fixed = |at: &usize| {
            text.is_char_boundary(*at) && form.is_none_or(|form| form.fixes_at(text, *at))
        };
        let mut reach = reach.max(least) + BEHIND;
        loop {
            let end = (reach..text.len()).find(is_fixed).unwrap_or(text.len());
            let mut new = AlignedText::original(&text[self.at..end]);
            if let Some(form) = form {
                form.normalize(&mut new).ok()?;
            }
            if adds_space && !new.as_str().starts_with(' ') {
                new.prepend(" ").ok()?;
            }
            let bytes = new.as_str().as_bytes();
            let mut byte = 0;
            self.found.clear();
            while let Some(&id) = self.ids.get(self.next + self.found.len())
                && let Some(token) = vocab.token(id)
                && !token.is_empty()
                && bytes[byte..].starts_with(token)
            {
                self.found.push((id, new.span_of(byte..byte + token.len())));
                byte += token.len();
                let old = if byte == bytes.len() {
                    end
                } else {
                    self.at + new.span_of(byte..byte + 1).start
                };
                let is_whole = new.as_str().is_char_boundary(byte);
                if is_whole && old >= least && (old == text.len() || old < end && is_fixed(&old)) {
                    let start = self.at;
                    let found = std::mem::take(&mut self.found);
                    for (_, span) in &found {
                        self.push(Span::new(start + span.start, start + span.end));
                    }
                    (self.at, self.found) = (old, found);
                    return Some(());
                }
            }
            if end == text.len() {
                return None;
            }
            reach = end + (end - self.at);
        }
    }

    /// Adds tokens along text that stays as it is up to `end`, until one is odd; returns how many.
    fn run(&mut self, table: &LengthTable, end: usize) -> usize {
        let start = self.section.start;
        let text = &self.section.stretch.text.as_bytes()[..end];
        let ids = &self.ids[self.next..self.ids.len().min(self.next + STEPS)];
        let mut at = At {
            byte: self.at,
            units: self.output.ruler.at(start + self.at),
        };
        let Output {
            spans, trimming, ..
        } = &mut *self.output;
        let done = match *trimming {
            Trimming::None => table.run::<false>(text, ids, &mut at, spans),
            _ => table.run::<true>(text, ids, &mut at, spans),
        };
        self.output.ruler.set(start + at.byte, at.units);
        self.at = at.byte;
        self.next += done;
        done
    }

    /// Adds the tokens of the chunk that begins here: from the cache if its entry has the same ids, else from
    /// the stages.
    fn chunk(&mut self) -> Option<()> {
        let text = self.section.stretch.text;
        let normalizer = self.stages.normalizer.as_ref();
        let is_space = |at: usize| self.walk.is_space[usize::from(text.as_bytes()[at])];
        let ends = |at: &usize| {
            let before = || text[..*at].chars().next_back();
            is_space(*at)
                && !is_space(*at - 1)
                && before().is_some_and(|it| self.walk.kept.has(normalizer, it))
        };
        let end = (self.at + 1..text.len()).find(ends);
        let chunk = Chunk {
            text: &text[self.at..end.unwrap_or(text.len())],
            begins_with_space: is_space(self.at),
            place: match self.at {
                0 => self.section.stretch.place,
                _ => Place::Inner,
            },
            end: match (end, self.section.stretch.is_last) {
                (Some(_), _) => End::Inner,
                (None, false) => End::Section,
                (None, true) => End::Text,
            },
        };
        let start = self.at;
        self.at += chunk.text.len();
        // What the normalizer removes where a part begins belongs to the last token of the part before.
        let is_cut = start == 0 && chunk.place == Place::Inner;
        let may_begin_at = |first: Option<u32>| {
            let begins = first.is_some_and(|first| first == 0 || chunk.begins_with_space);
            (!is_cut || begins).then_some(())
        };
        let key = chunk.key();
        let pool = &self.walk.pools[self.output.ruler.unit as usize];
        let Chunks(chunks) = &mut **self.chunks.get_or_insert_with(|| pool.take());
        let first = self.output.ruler.at(self.section.start + start) as i64;
        // How a token is trimmed may depend on those before it.
        let is_cached = self.output.trimming == Trimming::None;
        self.remembered.clear();
        if is_cached && chunks.emit(&key, &mut self.remembered) {
            let (tokens, _) = self.remembered.as_chunks::<2>();
            let ids = self.ids.get(self.next..self.next + tokens.len());
            if ids.is_some_and(|ids| tokens.iter().map(|[id, _]| id).eq(ids)) {
                may_begin_at(tokens.first().map(|[_, place]| place >> 16))?;
                let row =
                    |place: u32| [place >> 16, place & 0xFFFF].map(|it| first + i64::from(it));
                let rows = tokens.iter().map(|[_, place]| row(*place));
                self.output.spans.extend(rows);
                self.next += tokens.len();
                return Some(());
            }
        }
        let mut found = std::mem::take(&mut self.found);
        chunk.ask(self.walk, self.stages, &self.ids[self.next..], &mut found)?;
        may_begin_at(found.first().map(|(_, span)| span.start as u32))?;
        let before = self.output.spans.len();
        for (_, span) in &found {
            self.push(Span::new(start + span.start, start + span.end));
        }
        self.remembered.clear();
        for ((id, _), row) in found.iter().zip(&self.output.spans[before..]) {
            let [from, to] = row.map(|it| (it - first) as u32);
            self.remembered.extend([*id, from << 16 | to]);
        }
        if is_cached && let Some(Chunks(chunks)) = self.chunks.as_deref_mut() {
            // The cache takes no longer chunks, so 16 bits per place are enough.
            chunks.insert(&key, &self.remembered);
        }
        self.found = found;
        Some(())
    }
}
