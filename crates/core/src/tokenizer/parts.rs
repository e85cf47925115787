//! Parts of a text that are encoded separately: where they end, and their tokens.
//!
//! A batch encodes the parts of a large text on all cores, a stream those of a text that arrives in pieces.

use std::sync::Arc;

use super::{EncodeOptions, Tokenizer};
use jeton_fast::{Compiled, Count, Place};
use jeton_models::model::{Model, Sampling};
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::error::Result;
use jeton_training::word_counts::FirstStages;

/// Bytes by which the search for a split point continues if added tokens are near.
const SEARCH_STEP: usize = 1 << 10;
/// Bytes of the search window for a split point.
const SEARCH_WINDOW: usize = 1 << 16;

impl Tokenizer {
    /// A safe split point of `text`, about `reach` bytes after `start`: the parts before and after it,
    /// each encoded at its [`Place`], have the tokens of the text. The end of the text if none is known.
    pub fn split_point(
        &self,
        text: &str,
        start: usize,
        reach: usize,
        options: &EncodeOptions,
    ) -> usize {
        let Some(compiled) = self.compiled.as_ref().filter(|_| self.has_parts(options)) else {
            return text.len();
        };
        let finds_nothing = self.added_tokens.finds_nothing(&options.special);
        let mut limit = reach;
        loop {
            let end = compiled.split_point(&self.stages, text, start, limit);
            if finds_nothing || end == text.len() || self.added_tokens.surely_apart_from(text, end)
            {
                return end;
            }
            limit = limit.max(end - start) + SEARCH_STEP;
            if limit - reach > SEARCH_WINDOW {
                return text.len();
            }
        }
    }

    /// Whether [`Tokenizer::split_point_in_prefix`] finds split points.
    pub(crate) fn splits_prefixes(&self, options: &EncodeOptions) -> bool {
        let compiled = self.compiled.as_deref();
        compiled.is_some_and(Compiled::splits_looking_back)
            && self.has_parts(options)
            && (self.added_tokens.finds_nothing(&options.special)
                || self.added_tokens.may_be_apart())
    }

    /// As [`Tokenizer::split_point`], if `text` is only the beginning of a text; `None` if that depends on the
    /// rest.
    pub(crate) fn split_point_in_prefix(
        &self,
        text: &str,
        reach: usize,
        options: &EncodeOptions,
    ) -> Option<usize> {
        let end = self.split_point(text, 0, reach, options);
        (end + self.added_tokens.longest() < text.len()).then_some(end)
    }

    /// As [`Tokenizer::encode_into`], of a part as [`Tokenizer::split_point`] gives it; `is_last` says
    /// whether the text ends with it.
    pub(crate) fn encode_part(
        &self,
        text: &str,
        place: Place,
        is_last: bool,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if !self.encode_compiled(text, place, is_last, options, ids)? {
            ids.extend(self.encode_part_by_stages(text, place, is_last, options)?);
        }
        Ok(())
    }

    /// As [`Tokenizer::encode_part`], by the stages: what goes around a text goes in front of its first part
    /// and after its last.
    fn encode_part_by_stages(
        &self,
        text: &str,
        place: Place,
        is_last: bool,
        options: &EncodeOptions,
    ) -> Result<Vec<u32>> {
        let frame = self.frame(options.add_special_tokens);
        let Some((before, after)) = frame.filter(|_| place != Place::First || !is_last) else {
            return Ok(self.encode(text, None, options)?.ids);
        };
        let bare = EncodeOptions {
            add_special_tokens: false,
            ..options.clone()
        };
        let before = if place == Place::First { before } else { &[] };
        let after = if is_last { after } else { &[] };
        Ok([before, &self.encode(text, None, &bare)?.ids, after].concat())
    }

    /// As [`Tokenizer::count`], of a part as [`Tokenizer::split_point`] gives it.
    pub(crate) fn count_part(
        &self,
        text: &str,
        place: Place,
        is_last: bool,
        options: &EncodeOptions,
    ) -> Result<usize> {
        let mut count = Count::default();
        if self.encode_compiled(text, place, is_last, options, &mut count)? {
            Ok(count.0)
        } else {
            Ok(self
                .encode_part_by_stages(text, place, is_last, options)?
                .len())
        }
    }

    /// The stages that find safe split points in a text whose end is not read yet: the tokens of its
    /// parts are those of the text, as [`EncodeOptions::PLAIN`] finds them. `None` if tokens depend on
    /// the whole text.
    pub(crate) fn split_point_stages(&self) -> Option<Arc<FirstStages>> {
        let stages = self.split_point_stages.get(|| {
            if self.needs_whole_text() || self.frame(false).is_none() {
                return None;
            }
            let stages = &self.stages;
            let pre_tokenizer = match (&stages.model, &stages.pre_tokenizer) {
                (Model::Characters(_), None) => Some(PreTokenizer::FixedLength { length: 1 }),
                (Model::Superwords(model), None) => Some(model.pattern().clone()),
                (_, pre_tokenizer) => pre_tokenizer.clone(),
            };
            let finds_nothing = self
                .added_tokens
                .finds_nothing(&EncodeOptions::PLAIN.special);
            let added_tokens = if finds_nothing {
                Vec::new()
            } else {
                stages.added_tokens.clone()
            };
            FirstStages::new(added_tokens, stages.normalizer.clone(), pre_tokenizer)
                .ok()
                .map(|it| match stages.model {
                    Model::Superwords(_) => it.for_stretches(),
                    _ => it,
                })
                .filter(FirstStages::has_split_points)
                .map(Arc::new)
        });
        stages.clone()
    }

    /// Whether [`Tokenizer::parts_at`] may say so of any place.
    pub(crate) fn may_part(&self, special: &SpecialPolicy) -> bool {
        *special == SpecialPolicy::Ignore
            || self.added_tokens.may_be_apart()
                && !(self.stages.normalizer.is_some()
                    && self.added_tokens.looks_in_normalized(special))
    }

    /// Whether no special token that `special` lets be found is near a place where the stages of
    /// [`Tokenizer::split_point_stages`] split a text whose end is not read yet.
    pub(crate) fn parts_at(&self, text: &str, at: usize, special: &SpecialPolicy) -> bool {
        *special == SpecialPolicy::Ignore
            || at + self.added_tokens.longest() < text.len()
                && self.added_tokens.surely_apart_from(text, at)
    }

    /// Whether the tokens of a text depend on all that comes before them.
    pub(crate) fn needs_whole_text(&self) -> bool {
        let compiled = self.compiled.as_deref();
        compiled.is_some_and(Compiled::needs_whole_text)
    }

    /// Whether texts have parts that are encoded separately.
    pub(super) fn has_parts(&self, options: &EncodeOptions) -> bool {
        if self.frames[usize::from(options.add_special_tokens)].is_none() {
            return false;
        }
        let finds_nothing = self.added_tokens.finds_nothing(&options.special);
        options.sampling == Sampling::default()
            && (finds_nothing || self.finds_in_parts(&options.special))
    }

    /// Whether the added tokens of a text are those of its parts, if none crosses a split point. Not where
    /// one is an error, which says where it is, nor in normalized text.
    fn finds_in_parts(&self, special: &SpecialPolicy) -> bool {
        let is_normalized = self.stages.normalizer.is_some();
        matches!(special, SpecialPolicy::Ignore | SpecialPolicy::Allow)
            && !(is_normalized && self.added_tokens.looks_in_normalized(special))
    }
}
