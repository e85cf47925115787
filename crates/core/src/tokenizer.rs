//! A tokenizer: the stages in order. The only file that knows the order.

mod entries;
mod exceeds;
mod n_best;
pub mod spans;
mod streams;
mod surface;

pub(crate) use entries::Encoder;
pub use entries::{Entry, Input};
pub use streams::{DecodeStream, EncodeStream};
pub use surface::Shape;

use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::added_tokens::{AddedTokens, Cut, SpecialPolicy};
use crate::decoder::{Decoder, Invalid, Surfaces, not_text};
use crate::encoding::Encoding;
use crate::error::{Error, ErrorKind, Result};
use crate::fast::{Compiled, Count, Obstacle, Place, Plan, Sink};
use crate::format::{self, LoadOptions};
use crate::growth::Growth;
use crate::interrupt::{self, Pace, paced};
use crate::log::{self, Topic};
use crate::mem::lazy::Lazy;
use crate::model::bpe::Alphabet;
use crate::model::{Model, Sampler, Sampling, SentencePiece, Token};
use crate::normalizer::Normalizer;
use crate::post_processor::{Margins, Part, PostProcessor};
use crate::pre_tokenizer::PreTokenizer;
use crate::stages::Stages;
use crate::text::{AlignedText, Pieces, Span, Unit, UnitIndex};
use crate::train::word_counts::FirstStages;
use spans::Walk;

/// A tokenizer: text to ids and back. It never changes once built, so threads share it freely.
#[derive(Debug)]
pub struct Tokenizer {
    stages: Stages,
    added_tokens: AddedTokens,
    /// The fast path, for stages that it knows.
    compiled: Option<Compiled>,
    /// Which strategy that is, and why no faster one.
    plan: Plan,
    /// What the post-processor puts around the ids of one text, without special tokens and with
    /// them; none where that is not all it does.
    frames: [Option<Frame>; 2],
    /// The same of a pair.
    pair_frames: [Option<PairFrame>; 2],
    /// How spans are found beside the compiled path, for stages that this is known of.
    walk: Option<Walk>,
    /// Whether a backtracking engine runs one of its patterns.
    backtracks: bool,
    /// The texts of tokens for decoding, once so many ids were decoded that they pay.
    surfaces: Lazy<Option<Surfaces>>,
    decoded: AtomicUsize,
}

/// How many ids are decoded one by one before the texts of all tokens are computed.
const BEFORE_SURFACES: usize = 1 << 10;

/// Bytes by which the search for a split point goes on where added tokens are near.
const SEARCH_STEP: usize = 1 << 10;
/// Bytes of the search window for a split point.
const SEARCH_WINDOW: usize = 1 << 16;

/// What may vary from one call of encoding to the next.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// What special tokens in the text mean.
    pub special: SpecialPolicy,
    /// Whether the post-processor adds its special tokens.
    pub add_special_tokens: bool,
    /// Random segmentation.
    pub sampling: Sampling,
    /// What spans count.
    pub unit: Unit,
}

impl EncodeOptions {
    /// What a call means that gives none.
    pub const PLAIN: Self = Self {
        special: SpecialPolicy::Ignore,
        add_special_tokens: false,
        sampling: Sampling {
            dropout: None,
            alpha: None,
            nbest_size: None,
            seed: None,
        },
        unit: Unit::Characters,
    };
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// What becomes of decoded bytes that are not UTF-8, as in Python's `bytes.decode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// They are an error.
    Strict,
    /// They become U+FFFD.
    #[default]
    Replace,
    /// They are dropped.
    Ignore,
}

impl Tokenizer {
    /// The tokenizer of these stages.
    ///
    /// # Errors
    /// Stages that do not fit together, each named.
    pub fn new(mut stages: Stages) -> Result<Self> {
        stages.added_tokens.sort_by_key(|token| token.id);
        let added_tokens =
            AddedTokens::new(stages.added_tokens.clone(), stages.normalizer.as_ref())?;
        added_tokens.check_against(stages.model.vocab())?;
        stages.model.check_marks()?;
        // Special tokens are cut out, or they are text: the model never finds one.
        stages.model.withhold(&added_tokens.special_ids());
        let (compiled, mut plan) = Compiled::new(&stages);
        let frames = [false, true].map(|add| frame(stages.post_processor.as_ref(), add));
        if let Some(compiled) = &compiled {
            let searched = stages.normalizer.is_some()
                && added_tokens.looks_in_normalized(&SpecialPolicy::Ignore);
            if searched && !compiled.may_be_normalized() {
                plan.detours.push(Obstacle::normalized_added_tokens());
            }
            if frames.iter().any(Option::is_none) {
                let post_processor = stages.post_processor.as_ref();
                plan.detours.push(Obstacle::post_processor(post_processor));
            }
        }
        log::tell(Topic::Plan, || plan.to_string());
        Ok(Self {
            compiled,
            plan,
            walk: Walk::new(&stages),
            frames,
            pair_frames: [false, true].map(|add| pair_frame(stages.post_processor.as_ref(), add)),
            backtracks: backtracks(&stages),
            stages,
            added_tokens,
            surfaces: Lazy::new(),
            decoded: AtomicUsize::new(0),
        })
    }

    /// The tokenizer of a file, or of a folder that holds one.
    ///
    /// # Errors
    /// As [`format::load`]; stages that do not fit together.
    pub fn load(path: &Path, options: &LoadOptions) -> Result<Self> {
        let loaded = format::load(path, options)?;
        Self::new(loaded.stages).map_err(|error| error.at(loaded.path.display().to_string()))
    }

    /// The stages.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// How it encodes text, and why not faster.
    pub fn encoding_plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether even a short text may take long: a backtracking engine runs one of the patterns.
    pub fn backtracks(&self) -> bool {
        self.backtracks
    }

    /// The tokens of a text, or of a pair of texts, with where each came from.
    ///
    /// # Errors
    /// What the special policy forbids, and what the model has no token for.
    pub fn encode(
        &self,
        text: &str,
        pair: Option<&str>,
        options: &EncodeOptions,
    ) -> Result<Encoding> {
        let entry = Entry {
            first: Input::Text(text),
            second: pair.map(Input::Text),
        };
        self.encode_entry(&entry, options)
    }

    /// The tokens of a text or a pair, each of which may be words that were split before, with where
    /// each came from: a place in its text, or in its word.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_entry(&self, entry: &Entry<'_>, options: &EncodeOptions) -> Result<Encoding> {
        if options.sampling.alpha.is_some() {
            self.sentencepiece("alpha")?;
        }
        let mut sampler = Sampler::new(options.sampling);
        let mut parts = Vec::with_capacity(2);
        for input in entry.inputs() {
            let part = self.encode_one(input, options, &mut sampler);
            parts.push(part.map_err(|error| entry.at(parts.len(), error))?);
        }
        match &self.stages.post_processor {
            Some(post_processor) => post_processor.process(parts, options.add_special_tokens),
            None => Ok(PostProcessor::join(parts)),
        }
    }

    /// Only the ids of a text: those of [`Tokenizer::encode`], sooner.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_ids(&self, text: &str, options: &EncodeOptions) -> Result<Vec<u32>> {
        let mut ids = Vec::with_capacity(text.len() / 4);
        self.encode_into(text, options, &mut ids)?;
        Ok(ids)
    }

    /// As [`Tokenizer::encode_ids`], appended to `ids`; on an error, they hold some of the text's.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_into(
        &self,
        text: &str,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        self.encode_part(text, Place::First, true, options, ids)
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
            ids.extend_from_slice(&self.encode(text, None, options)?.ids);
        }
        Ok(())
    }

    /// Where a part of `text` ends that a batch encodes by itself, if it begins at `start` and shall
    /// have about `reach` bytes: the tokens of the parts, each encoded as what it is of the text,
    /// are those of the text. The whole rest where no such place is known.
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

    /// What says where a text that is not read to its end yet can be cut, so that the tokens of its
    /// parts, each encoded as what it is of the text, are those of the text; nothing where only the
    /// whole text tells.
    pub(crate) fn certain_cuts(&self) -> Option<FirstStages> {
        if self.needs_whole_text() || !self.has_parts(&EncodeOptions::PLAIN) {
            return None;
        }
        let Stages {
            added_tokens,
            normalizer,
            pre_tokenizer,
            model,
            ..
        } = self.stages.clone();
        let pre_tokenizer = match (model, pre_tokenizer) {
            (Model::Characters(_), None) => Some(PreTokenizer::FixedLength { length: 1 }),
            (_, pre_tokenizer) => pre_tokenizer,
        };
        FirstStages::new(added_tokens, normalizer, pre_tokenizer).ok()
    }

    /// Whether the tokens of a text depend on all that stands before them.
    pub(crate) fn needs_whole_text(&self) -> bool {
        let compiled = self.compiled.as_ref();
        compiled.is_some_and(Compiled::needs_whole_text)
    }

    /// Whether texts have parts that are encoded by themselves.
    fn has_parts(&self, options: &EncodeOptions) -> bool {
        if self.frames[usize::from(options.add_special_tokens)].is_none() {
            return false;
        }
        let finds_nothing = self.added_tokens.finds_nothing(&options.special);
        options.sampling == Sampling::default()
            && (finds_nothing || self.finds_in_parts(&options.special))
    }

    /// Whether the added tokens of a text are those of its parts, where they leave the places between
    /// them alone: not where one is an error, which says where it stands, nor in normalized text.
    fn finds_in_parts(&self, special: &SpecialPolicy) -> bool {
        let is_normalized = self.stages.normalizer.is_some();
        matches!(special, SpecialPolicy::Ignore | SpecialPolicy::Allow)
            && !(is_normalized && self.added_tokens.looks_in_normalized(special))
    }

    /// The model of a `.model` file, if nothing else cuts text.
    fn sentencepiece(&self, wanted: &str) -> Result<&SentencePiece> {
        match &self.stages.model {
            Model::SentencePiece(model)
                if self.stages.pre_tokenizer.is_none()
                    && self.added_tokens.finds_nothing(&SpecialPolicy::Ignore) =>
            {
                Ok(model)
            }
            _ => Err(Error::new(
                ErrorKind::Unsupported,
                format!("{wanted} needs a tokenizer as a SentencePiece .model file holds it"),
            )),
        }
    }

    /// Only how many tokens a text has.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: &str, options: &EncodeOptions) -> Result<usize> {
        self.count_part(text, Place::First, true, options)
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
        match self.encode_compiled(text, place, is_last, options, &mut count)? {
            true => Ok(count.0),
            false => Ok(self.encode(text, None, options)?.len()),
        }
    }

    /// Gives the tokens to `sink`, unless the compiled path does not know this tokenizer or call.
    fn encode_compiled(
        &self,
        text: &str,
        place: Place,
        is_last: bool,
        options: &EncodeOptions,
        sink: &mut impl Sink,
    ) -> Result<bool> {
        let Some(compiled) = &self.compiled else {
            return Ok(false);
        };
        let Some((before, after)) = &self.frames[usize::from(options.add_special_tokens)] else {
            return Ok(false);
        };
        let normalizer = self.sought_in_normalized(options);
        if options.sampling != Sampling::default()
            || normalizer.is_some() && !compiled.may_be_normalized()
        {
            return Ok(false);
        }
        if place == Place::First {
            sink.push_all(before);
        }
        let growth = Rc::new(Growth::of(text.len()));
        if self.added_tokens.finds_nothing(&options.special) {
            compiled.encode(&self.stages, text, place, false, &growth, sink)?;
        } else {
            let text = AlignedText::original(text);
            let cuts = self.added_tokens.cut(text, normalizer, &options.special)?;
            for cut in paced(cuts.into_iter()) {
                match cut {
                    Cut::Token(id, _) => sink.push_all(&[id]),
                    Cut::Text(text) => {
                        let place = match text.original_start() {
                            0 => place,
                            _ => Place::Section,
                        };
                        let is_normalized = normalizer.is_some();
                        let text = text.as_str();
                        compiled.encode(&self.stages, text, place, is_normalized, &growth, sink)?;
                    }
                }
            }
        }
        if is_last {
            sink.push_all(after);
        }
        Ok(true)
    }

    /// The normalizer, if added tokens are looked for in what it makes of text.
    fn sought_in_normalized(&self, options: &EncodeOptions) -> Option<&Normalizer> {
        let normalizer = self.stages.normalizer.as_ref();
        normalizer.filter(|_| self.added_tokens.looks_in_normalized(&options.special))
    }

    /// The tokens of a text, or of words, each of which is a text by itself.
    fn encode_one(
        &self,
        input: &Input<'_>,
        options: &EncodeOptions,
        sampler: &mut Sampler,
    ) -> Result<Part> {
        let mut rows = Rows::new(options.unit);
        let mut pace = Pace::default();
        for (number, text) in input.texts().iter().enumerate() {
            pace.step();
            rows.begin(text, input.is_words().then_some(number as u32));
            self.encode_text(text, options, sampler, &mut rows)
                .map_err(|error| input.at(number, error))?;
        }
        Ok(Part::new(rows.encoding, rows.margins))
    }

    /// text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─▶ ids and spans
    fn encode_text(
        &self,
        text: &str,
        options: &EncodeOptions,
        sampler: &mut Sampler,
        rows: &mut Rows,
    ) -> Result<()> {
        let stages = &self.stages;
        let trims = stages
            .post_processor
            .as_ref()
            .is_some_and(PostProcessor::trims);
        let mut tokens = Vec::new();
        let mut pace = Pace::default();
        for cut in self.added_tokens.cut(
            AlignedText::original(text),
            stages.normalizer.as_ref(),
            &options.special,
        )? {
            pace.step();
            match cut {
                Cut::Token(id, text) => {
                    rows.push(id, text.span_of(0..text.as_str().len()));
                    if trims {
                        let margins = Margins::of_text(text.as_str(), options.unit);
                        rows.margins.push(margins);
                    }
                    rows.end_word();
                }
                Cut::Text(text) => {
                    let mut pieces = Pieces::new(text);
                    if let Some(pre_tokenizer) = &stages.pre_tokenizer {
                        pre_tokenizer.cut(&mut pieces)?;
                    }
                    for piece in pieces.iter() {
                        pace.step();
                        tokens.clear();
                        stages
                            .model
                            .tokenize(piece.as_str(), sampler, &mut tokens)?;
                        for token in &tokens {
                            pace.step();
                            rows.push(token.id, piece.span_of(token.range.clone()));
                            if trims {
                                let margins = self.margins(token, piece.as_str(), options.unit);
                                rows.margins.push(margins);
                            }
                        }
                        rows.end_word();
                    }
                }
            }
        }
        Ok(())
    }

    /// The white space at the ends of a token of the model, which a Unigram model's unknown token
    /// has where its text has it.
    fn margins(&self, token: &Token, piece: &str, unit: Unit) -> Margins {
        let model = &self.stages.model;
        let id = token.id;
        let text = piece.get(token.range.clone()).unwrap_or_default();
        let token = model.vocab().token(id).unwrap_or_default();
        match (model, std::str::from_utf8(token)) {
            (Model::Bpe(bpe), _) if bpe.options().alphabet == Alphabet::Bytes => {
                Margins::of_bytes(token)
            }
            (Model::Unigram(unigram), _) if unigram.unk_id() == Some(id) => {
                Margins::of_text(text, unit)
            }
            (_, Ok(token)) => Margins::of_text(token, unit),
            (_, Err(_)) => Margins::default(),
        }
    }

    /// The largest id, of the vocabulary or of an added token.
    pub fn max_id(&self) -> Option<u32> {
        let added = self.stages.added_tokens.last().map(|token| token.id);
        added.max(self.stages.model.vocab().max_id())
    }

    /// All ids that stand for a token, of the model or added, rising. Two may have the same bytes.
    pub fn token_ids(&self) -> Vec<u32> {
        let own = self.stages.model.vocab().iter().map(|(_, id)| id);
        let mut ids: Vec<u32> = own.collect();
        ids.extend(self.stages.added_tokens.iter().map(|token| token.id));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The id that stands for unknown text, if the model has one.
    pub fn unknown_id(&self) -> Option<u32> {
        let named = |token: &str| self.bytes_to_id(token.as_bytes());
        match &self.stages.model {
            Model::Bpe(model) => model.options().unk_token.as_deref().and_then(named),
            Model::WordLevel(model) => named(model.unk_token()),
            Model::WordPiece(model) => named(model.unk_token()),
            Model::Unigram(model) => model.unk_id(),
            Model::Characters(model) => model.unk_id(),
            Model::SentencePiece(model) => model.unk_id(),
        }
    }

    /// The id of the token with these bytes: of the added tokens first, then of the vocabulary.
    pub fn bytes_to_id(&self, token: &[u8]) -> Option<u32> {
        let mut added = self.stages.added_tokens.iter();
        let added = added.find(|added| added.content.as_bytes() == token);
        added
            .map(|added| added.id)
            .or_else(|| self.stages.model.vocab().id(token))
    }

    /// The bytes that an id stands for in the vocabulary or among the added tokens.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        match self.added_tokens.by_id(id) {
            Some(token) => Some(token.content.as_bytes()),
            None => self.stages.model.vocab().token(id),
        }
    }

    /// What is put around the ids of one text: the ids before and those after it. `None` where the
    /// post-processor does something else to them.
    pub fn frame(&self, add_special_tokens: bool) -> Option<(&[u32], &[u32])> {
        let (before, after) = self.frames[usize::from(add_special_tokens)].as_ref()?;
        Some((before, after))
    }

    /// The text of these ids, as the decoder says.
    ///
    /// # Errors
    /// An id that stands for no token; under [`OnInvalid::Strict`], bytes that are not UTF-8.
    pub fn decode(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        on_invalid: OnInvalid,
    ) -> Result<String> {
        match on_invalid {
            OnInvalid::Replace => {
                let bytes = self.decode_with(ids, skip_special_tokens, Invalid::Replace)?;
                Ok(String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into()))
            }
            OnInvalid::Strict => {
                let bytes = self.decode_bytes(ids, skip_special_tokens)?;
                String::from_utf8(bytes).map_err(|error| {
                    let valid = error.utf8_error().valid_up_to();
                    not_text(error.as_bytes()[valid], valid)
                })
            }
            OnInvalid::Ignore => Ok(self
                .decode_bytes(ids, skip_special_tokens)?
                .utf8_chunks()
                .map(|chunk| chunk.valid())
                .collect()),
        }
    }

    /// The text of these ids as bytes, as the decoder says; what is not UTF-8 is kept.
    ///
    /// # Errors
    /// An id that stands for no token.
    pub fn decode_bytes(&self, ids: &[u32], skip_special_tokens: bool) -> Result<Vec<u8>> {
        self.decode_with(ids, skip_special_tokens, Invalid::Keep)
    }

    /// Whether an id counts as special in decoding. As in `tokenizers`, what the decoder gets
    /// decides, even where a list has the spelling of a special token under a second id.
    fn decodes_as_special(&self, id: u32, token: &[u8]) -> bool {
        let spelled = matches!(self.stages.model, Model::Unigram(_));
        (spelled || self.added_tokens.by_id(id).is_some())
            && std::str::from_utf8(token)
                .ok()
                .and_then(|content| self.added_tokens.by_content(content))
                .is_some_and(|token| token.special)
    }

    /// As [`Tokenizer::decode`], appended to `text` as bytes, in which what is not UTF-8 may still be
    /// as it was; without `replace` it is kept for certain, as by [`Tokenizer::decode_bytes`].
    ///
    /// # Errors
    /// An id that stands for no token.
    pub fn decode_into(
        &self,
        ids: &[u32],
        skip_special_tokens: bool,
        replace: bool,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let invalid = match replace {
            true => Invalid::Replace,
            false => Invalid::Keep,
        };
        let Some(surfaces) = self.surfaces(ids.len()) else {
            text.extend(self.decode_by_stages(ids, skip_special_tokens, invalid)?);
            return Ok(());
        };
        if let Some(position) = interrupt::position(ids, |id| !surfaces.has(id)) {
            self.known_input(ids[position], position)?;
        }
        let kept: Vec<u32>;
        let mut ids = ids;
        let is_special = |id| surfaces.is_special(id);
        if skip_special_tokens && interrupt::position(ids, is_special).is_some() {
            let ordinary = paced(ids.iter().copied()).filter(|&id| !is_special(id));
            kept = ordinary.collect();
            ids = &kept;
        }
        let token = |id| self.decoder_input(id).unwrap_or_default();
        surfaces.decode(self.stages.decoder.as_ref(), token, ids, invalid, text)
    }

    /// The texts of tokens, if `count` ids more make them pay, and the decoder is one with such.
    fn surfaces(&self, count: usize) -> Option<&Surfaces> {
        if self.surfaces.made().is_none()
            && self.decoded.fetch_add(count, Ordering::Relaxed) + count < BEFORE_SURFACES
        {
            return None;
        }
        let make = || {
            let ids = self.max_id().map_or(0, |max| max as usize + 1);
            // Ids with large gaps would make a large table of nothing.
            if ids > 4 * self.stages.model.vocab().len() + (1 << 16) {
                return None;
            }
            let tokens = (0..ids as u32).map(|id| {
                let token = self.decoder_input(id)?;
                Some((token, self.decodes_as_special(id, token)))
            });
            Surfaces::new(self.stages.decoder.as_ref(), &tokens.collect::<Vec<_>>())
        };
        self.surfaces.get(make).as_ref()
    }

    /// What the decoder gets for an id.
    fn decoder_input(&self, id: u32) -> Option<&[u8]> {
        if let (Model::SentencePiece(model), Some(Decoder::SentencePiece(_))) =
            (&self.stages.model, &self.stages.decoder)
            && let Some(input) = model.to_decoder(id)
        {
            return Some(input);
        }
        match self.added_tokens.decoder_input(id) {
            Some(content) => Some(content.as_bytes()),
            None => self.token_bytes(id),
        }
    }

    /// What the decoder gets for the id at a position of a text.
    fn known_input(&self, id: u32, position: usize) -> Result<&[u8]> {
        self.decoder_input(id).ok_or_else(|| {
            Error::new(
                ErrorKind::Lookup,
                format!("id {id} at position {position} stands for no token"),
            )
        })
    }

    fn decode_with(&self, ids: &[u32], skip_special: bool, invalid: Invalid) -> Result<Vec<u8>> {
        let mut text = Vec::with_capacity(5 * ids.len());
        self.decode_into(ids, skip_special, invalid == Invalid::Replace, &mut text)?;
        Ok(text)
    }

    /// ids ─▶ token bytes ─ decoder ─▶ text
    pub(crate) fn decode_by_stages(
        &self,
        ids: &[u32],
        skip_special: bool,
        invalid: Invalid,
    ) -> Result<Vec<u8>> {
        let mut tokens = Vec::with_capacity(ids.len());
        for (position, &id) in paced(ids.iter().enumerate()) {
            let token = self.known_input(id, position)?;
            if !(skip_special && self.decodes_as_special(id, token)) {
                tokens.push(token.to_vec());
            }
        }
        match &self.stages.decoder {
            Some(decoder) => Ok(decoder.decode(tokens, invalid)?.concat()),
            None => Ok(tokens.join(&b' ')),
        }
    }
}

/// Whether a backtracking engine runs one of the patterns.
fn backtracks(stages: &Stages) -> bool {
    let Stages {
        normalizer,
        pre_tokenizer,
        decoder,
        ..
    } = stages;
    normalizer.as_ref().is_some_and(Normalizer::backtracks)
        || pre_tokenizer.as_ref().is_some_and(PreTokenizer::backtracks)
        || decoder.as_ref().is_some_and(Decoder::backtracks)
}

/// The ids before and after those of a text.
type Frame = (Vec<u32>, Vec<u32>);

/// The ids before, between and after those of a pair.
type PairFrame = [Vec<u32>; 3];

/// What a post-processor puts around the ids of one text, found out with one id that no token has.
fn frame(post_processor: Option<&PostProcessor>, add_special_tokens: bool) -> Option<Frame> {
    const TEXT: u32 = u32::MAX;
    let Some(post_processor) = post_processor else {
        return Some(Frame::default());
    };
    let framed = post_processor
        .process(vec![part_of(TEXT)], add_special_tokens)
        .ok()?;
    let mut parts = framed.ids.split(|id| *id == TEXT);
    let frame = (parts.next()?.to_vec(), parts.next()?.to_vec());
    parts.next().is_none().then_some(frame)
}

/// What a post-processor puts before, between and behind the ids of a pair, found out as [`frame`] does.
fn pair_frame(
    post_processor: Option<&PostProcessor>,
    add_special_tokens: bool,
) -> Option<PairFrame> {
    const FIRST: u32 = u32::MAX - 1;
    const SECOND: u32 = u32::MAX;
    let Some(post_processor) = post_processor else {
        return Some(PairFrame::default());
    };
    let parts = vec![part_of(FIRST), part_of(SECOND)];
    let framed = post_processor.process(parts, add_special_tokens).ok()?;
    let texts = framed.ids.iter().filter(|id| **id >= FIRST);
    if !texts.eq(&[FIRST, SECOND]) {
        return None;
    }
    let mut parts = framed.ids.split(|id| *id >= FIRST).map(<[u32]>::to_vec);
    Some([parts.next()?, parts.next()?, parts.next()?])
}

/// A text of one token.
fn part_of(id: u32) -> Part {
    let mut rows = Rows::new(Unit::Bytes);
    rows.push(id, Span::default());
    Part::new(rows.encoding, Vec::new())
}

/// An encoding as it grows, token by token.
struct Rows {
    encoding: Encoding,
    /// The margins of each token, where they are asked for.
    margins: Vec<Margins>,
    unit: Unit,
    index: UnitIndex,
    /// The end of the text, in bytes.
    end: usize,
    word: u32,
    /// The word that all of the text is, if somebody split it into words before.
    whole_word: Option<u32>,
}

impl Rows {
    fn new(unit: Unit) -> Self {
        Self {
            encoding: Encoding::default(),
            margins: Vec::new(),
            unit,
            index: UnitIndex::new("", unit),
            end: 0,
            word: 0,
            whole_word: None,
        }
    }

    /// What follows are the tokens of this text.
    fn begin(&mut self, text: &str, whole_word: Option<u32>) {
        self.index = UnitIndex::new(text, self.unit);
        self.end = text.len();
        self.whole_word = whole_word;
    }

    fn push(&mut self, id: u32, span: Span) {
        // The bytes of an end-of-word suffix that the vocabulary lacks count as text.
        let span = Span::new(span.start.min(self.end), span.end.min(self.end));
        self.encoding.ids.push(id);
        self.encoding.spans.push(self.index.of(span));
        let word = self.whole_word.unwrap_or(self.word);
        self.encoding.word_ids.push(Some(word));
        self.encoding.type_ids.push(0);
        self.encoding.sequence_ids.push(Some(0));
        self.encoding.special_tokens_mask.push(false);
    }

    fn end_word(&mut self) {
        self.word += 1;
    }
}
