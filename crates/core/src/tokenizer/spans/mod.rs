//! Spans at about the speed of ids: the fast path returns the ids, and a walk along the text finds the place
//! of each.
//!
//! `walk` adds up the lengths of tokens along text of byte-level models, in one loop (`run`) with the lengths in
//! `table`, and elsewhere caches the answers of the stages, chunk by chunk (`kept`). `spelled` matches tokens
//! with the text that reaches the model; `ruler` counts units.

mod kept;
mod ruler;
mod run;
mod spelled;
mod table;
mod walk;

use std::rc::Rc;

use super::frames::Frame;
use super::{EncodeOptions, Tokenizer};
use jeton_fast::{Compiled, Place, Stretch};
use jeton_models::model::Sampling;
use jeton_stages::added_tokens::TextOrToken;
use jeton_stages::post_processor::{Margins, Trimming};
use jeton_text::error::Result;
use jeton_text::interrupt::{paced, tick};
use jeton_text::length_limit::LengthLimit;
use jeton_text::mem::room;
use jeton_text::text::{AlignedText, Span};
use ruler::Ruler;
pub(super) use walk::Walk;

/// A span as an array holds it: where it begins and where it ends.
pub type Row = [i64; 2];

/// Spans as rows.
pub fn rows(spans: &[Span]) -> impl Iterator<Item = Row> {
    paced(spans.iter()).map(|span| [span.start as i64, span.end as i64])
}

/// Text between added tokens.
struct Section<'t> {
    stretch: Stretch<'t>,
    /// Where it begins in its part of the text.
    start: usize,
    /// Where it came from, if it was changed.
    origin: Option<&'t AlignedText>,
}

/// Spans as they grow.
struct Output<'o, 't> {
    spans: &'o mut Vec<Row>,
    ruler: Ruler<'t>,
    /// The number of spans before the first token of the text; `None` if other parts came first.
    first: Option<usize>,
    trimming: Trimming,
}

impl Output<'_, '_> {
    /// Adds the span of a token, in bytes of the part.
    fn push(&mut self, span: Span) {
        let span = self.ruler.of(span);
        self.spans.push([span.start as i64, span.end as i64]);
    }

    /// As [`Self::push`], without the margins of the token: as [`Margins::leave_out`], whatever the
    /// unit.
    fn push_trimmed(&mut self, mut span: Span, margins: impl FnOnce() -> Margins) {
        if self.trimming != Trimming::None {
            let add_prefix_space = self.trimming == Trimming::BehindPrefix;
            let Margins { leading, trailing } = margins();
            let is_first = self.is_first() || self.ruler.is_front(span.start);
            if leading > 0 && !(is_first && add_prefix_space && leading == 1) {
                span.start = self.ruler.behind(span.start, leading, span.end);
            }
            if trailing > 0
                && let Some(end) = self.ruler.before(span.end, trailing)
            {
                span.end = end.max(span.start);
            }
        }
        self.push(span);
    }

    /// Whether the next token is the first of the text.
    fn is_first(&self) -> bool {
        self.first == Some(self.spans.len())
    }
}

/// A part of a text whose tokens are wanted.
#[derive(Clone, Copy)]
pub(crate) struct SpannedPart<'t> {
    pub text: &'t str,
    pub place: Place,
    pub is_last: bool,
    /// How many units come before it in its text.
    pub before: usize,
}

impl Tokenizer {
    /// The ids of a text appended to `ids`, and to `spans` where each came from in the unit of
    /// `options`: those of [`Tokenizer::encode`], faster. On an error, they hold some of the text's.
    ///
    /// ```
    /// # use jeton_core::{EncodeOptions, Tokenizer};
    /// # fn example(tokenizer: &Tokenizer) -> jeton_core::Result<()> {
    /// let (mut ids, mut spans) = (Vec::new(), Vec::new());
    /// tokenizer.encode_with_spans("to be", &EncodeOptions::default(), &mut ids, &mut spans)?;
    /// assert_eq!(ids.len(), spans.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_with_spans(
        &self,
        text: &str,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
    ) -> Result<()> {
        let part = SpannedPart {
            text,
            place: Place::First,
            is_last: true,
            before: 0,
        };
        let before = (ids.len(), spans.len());
        if !self.encode_part_with_spans(part, options, ids, spans)? {
            ids.truncate(before.0);
            spans.truncate(before.1);
            let encoding = self.encode(text, None, options)?;
            ids.extend_from_slice(&encoding.ids);
            spans.extend(rows(&encoding.spans));
        }
        Ok(())
    }

    /// Whether the parts that [`Tokenizer::split_point`] gives may be encoded separately with spans.
    pub(crate) fn has_spanned_parts(&self) -> bool {
        self.walk.is_some() && !self.needs_whole_text()
    }

    /// What ids and spans are found by beside the stages, and what is around them; none where the
    /// stages have to run.
    pub(super) fn ways_to_spans(
        &self,
        options: &EncodeOptions,
    ) -> Option<(&dyn Compiled, &Walk, &Frame)> {
        let compiled = self.compiled.as_deref()?;
        let walk = self.walk.as_ref()?;
        let frame = self.frames[usize::from(options.add_special_tokens)].as_ref()?;
        let is_drawn = options.sampling != Sampling::default();
        let is_sought = self.sought_in_normalized(options).is_some();
        (!is_drawn && (!is_sought || compiled.may_be_normalized()))
            .then_some((compiled, walk, frame))
    }

    /// As [`Tokenizer::encode_with_spans`], of a part; false where the stages have to run, with
    /// the whole text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub(crate) fn encode_part_with_spans(
        &self,
        part: SpannedPart<'_>,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
    ) -> Result<bool> {
        tick();
        let Some((compiled, walk, (before, after))) = self.ways_to_spans(options) else {
            return Ok(false);
        };
        let normalizer = self.sought_in_normalized(options);
        let SpannedPart { text, place, .. } = part;
        if place == Place::First {
            ids.extend_from_slice(before);
            spans.resize(spans.len() + before.len(), Row::default());
        }
        let mut output = Output {
            first: (place == Place::First).then_some(spans.len()),
            spans,
            ruler: Ruler::new(text, options.unit, part.before),
            trimming: walk.trimming,
        };
        let limit = Rc::new(LengthLimit::of(text.len()));
        let section = |section: Section<'_>, ids: &mut Vec<u32>, output: &mut Output<'_, '_>| {
            let first = ids.len();
            compiled.encode(&self.stages, section.stretch, &limit, ids)?;
            let ids = &ids[first..];
            room::reserve(output.spans, ids.len());
            let found = walk.section(compiled, &self.stages, &section, ids, output);
            Ok(found.is_some())
        };
        if self.added_tokens.finds_nothing(&options.special) {
            let whole = Section {
                stretch: Stretch::whole(text, place),
                start: 0,
                origin: None,
            };
            if !section(whole, ids, &mut output)? {
                return Ok(false);
            }
        } else {
            let aligned = AlignedText::original(text);
            let cuts = self
                .added_tokens
                .cut(aligned, normalizer, &options.special)?;
            for cut in cuts {
                match cut {
                    TextOrToken::Token(id, token) => {
                        ids.push(id);
                        let span = token.span_of(0..token.as_str().len());
                        output.push_trimmed(span, || Margins::of_text(token.as_str()));
                    }
                    TextOrToken::Text(stretch) => {
                        let between = Section {
                            stretch: Stretch::of(&stretch, place, normalizer.is_some()),
                            start: stretch.original_start(),
                            origin: stretch.is_rewritten().then_some(&stretch),
                        };
                        if !section(between, ids, &mut output)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        if part.is_last {
            ids.extend_from_slice(after);
            spans.resize(spans.len() + after.len(), Row::default());
        }
        Ok(true)
    }
}
