//! A tokenizer: the order of the stages, and the public calls of encoding.
//!
//! [`BeforeModel`](jeton_models::stages::BeforeModel) has the order of the stages before the model, which
//! training calls too. Decoding, the parts of a text and facts about tokens are in the folder
//! of this name.

mod columns;
mod counted_text;
mod decode_stream;
mod decoded_spans;
mod decoding;
mod encode_stream;
mod encoding_builder;
mod entries;
mod exceeds;
mod frames;
mod n_best;
mod parts;
pub mod spans;
mod split_point_search;
mod surface;
mod tokens;

pub use columns::{Attributes, Rest, Source, Spanned};
pub use counted_text::CountedText;
pub use decode_stream::{DecodeStream, StopRules, Stopped};
pub use decoding::{DecodeOptions, Skipped, UnknownIds};
pub use encode_stream::EncodeStream;
pub(crate) use entries::Encoder;
pub use entries::{Entry, Input};
pub use surface::Shape;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use encoding_builder::EncodingBuilder;
use frames::{Frame, PairFrame};
use jeton_fast::{Compiled, Place, Plan, Sink, Stretch, UnsupportedStage, compile};
use jeton_formats::{self, LoadOptions, Loaded};
use jeton_models::model::{Model, Sampler, Sampling, Token};
use jeton_models::stages::{Section, Stages};
use jeton_stages::added_tokens::{AddedTokens, SpecialPolicy, TextOrToken};
use jeton_stages::decoder::{DecodeTable, Decoder};
use jeton_stages::encoding::Encoding;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::{Margins, Part, PostProcessor};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{paced, tick};
use jeton_text::length_limit::LengthLimit;
use jeton_text::log;
use jeton_text::mem::lazy::Lazy;
use jeton_text::mem::room;
use jeton_text::text::{AlignedText, Unit};
use jeton_training::word_counts::FirstStages;
use spans::Walk;

/// A tokenizer: text to ids and back. It never changes once built, so threads share it freely.
#[derive(Debug)]
pub struct Tokenizer {
    stages: Stages,
    added_tokens: AddedTokens,
    /// The fast path, for stages that it knows.
    compiled: Option<Box<dyn Compiled>>,
    /// Which strategy that is, and why no faster one.
    plan: Plan,
    /// What the post-processor puts around the ids of one text, without special tokens and with
    /// them; none where that is not all it does.
    frames: [Option<Frame>; 2],
    /// The same of a pair.
    pair_frames: [Option<PairFrame>; 2],
    /// How spans are found beside the fast path, for stages that this is known of.
    walk: Option<Walk>,
    /// Whether one of its patterns runs on a backtracking engine.
    backtracks: bool,
    /// The texts of tokens for decoding, computed once enough ids were decoded for that to pay.
    decode_table: Lazy<Option<DecodeTable>>,
    decoded: AtomicUsize,
    /// What finds safe split points in a text that comes part by part, once one does.
    split_point_stages: Lazy<Option<Arc<FirstStages>>>,
}

/// The options of one call of encoding.
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
    /// The options of a call without arguments.
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

/// Bytes of memory that the stages take for a byte of text: its origins before and after a step, pieces,
/// tokens.
const STAGED_BYTES: usize = 128;

impl Tokenizer {
    /// The tokenizer of these stages.
    ///
    /// # Errors
    /// Stages that do not fit together, each named.
    pub fn new(stages: Stages) -> Result<Self> {
        Self::of(stages, ErrorKind::Format)
    }

    /// The tokenizer of stages that come from no file: what is wrong with their added tokens is so in what the
    /// caller gave.
    ///
    /// # Errors
    /// As [`Tokenizer::new`].
    pub fn of_arguments(stages: Stages) -> Result<Self> {
        let tokenizer = Self::of(stages, ErrorKind::Argument)?;
        tokenizer.check_names(&[])?;
        Ok(tokenizer)
    }

    /// As [`Tokenizer::of_arguments`], of stages that were changed: a post-processor that gave tokens other
    /// ids before may still do so.
    ///
    /// # Errors
    /// As [`Tokenizer::new`].
    pub fn of_changed(stages: Stages, before: &Stages) -> Result<Self> {
        let tokenizer = Self::of(stages, ErrorKind::Argument)?;
        tokenizer.check_names(&before.misnamed())?;
        Ok(tokenizer)
    }

    /// Refuses a post-processor that gives a token the id of another, but for those that are `known`.
    fn check_names(&self, known: &[(&str, u32)]) -> Result<()> {
        let misnamed = self.stages.misnamed().into_iter();
        let mut new = misnamed.filter(|it| !known.contains(it));
        match new.next() {
            None => Ok(()),
            Some((name, id)) => {
                let message = self.stages.misnaming(name, id);
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }

    /// As [`Tokenizer::new`], where added tokens that are not what they should be are an error of a kind.
    fn of(mut stages: Stages, kind: ErrorKind) -> Result<Self> {
        let of_kind = |error: Error| match error.kind() {
            ErrorKind::Format => error.of_kind(kind),
            _ => error,
        };
        let added_tokens = AddedTokens::new(
            std::mem::take(&mut stages.added_tokens),
            stages.normalizer.as_ref(),
        )
        .map_err(of_kind)?;
        added_tokens
            .check_against(stages.model.vocab())
            .map_err(of_kind)?;
        stages.added_tokens = added_tokens.list().to_vec();
        stages.model.check_marks()?;
        stages.check_frame().map_err(of_kind)?;
        // Special tokens are split off, or they are text: the model never finds one.
        stages.model.withhold(&added_tokens.special_ids());
        let (compiled, mut plan) = compile(&stages);
        let frames = [false, true].map(|add| frames::frame(stages.post_processor.as_ref(), add));
        if let Some(compiled) = &compiled {
            let searched = stages.normalizer.is_some()
                && added_tokens.looks_in_normalized(&SpecialPolicy::Ignore);
            if searched && !compiled.may_be_normalized() {
                plan.detours
                    .push(UnsupportedStage::normalized_added_tokens());
            }
            if frames.iter().any(Option::is_none) {
                let post_processor = stages.post_processor.as_ref();
                plan.detours
                    .push(UnsupportedStage::post_processor(post_processor));
            }
        }
        log::tell_plan(|| plan.to_string());
        Ok(Self {
            walk: Walk::new(&stages, compiled.as_deref()),
            compiled,
            plan,
            frames,
            pair_frames: [false, true]
                .map(|add| frames::pair_frame(stages.post_processor.as_ref(), add)),
            backtracks: backtracks(&stages),
            stages,
            added_tokens,
            decode_table: Lazy::new(),
            decoded: AtomicUsize::new(0),
            split_point_stages: Lazy::new(),
        })
    }

    /// The tokenizer of a file, or of a folder that holds one.
    ///
    /// # Errors
    /// As [`jeton_formats::load`]; stages that do not fit together.
    pub fn load(path: &Path, options: &LoadOptions) -> Result<Self> {
        Self::of_loaded(jeton_formats::load(path, options)?)
    }

    /// The tokenizer of the bytes of a file, which `name` names in errors.
    ///
    /// # Errors
    /// As [`Tokenizer::load`].
    pub fn from_bytes(name: &Path, bytes: &[u8], options: &LoadOptions) -> Result<Self> {
        Self::of_loaded(jeton_formats::load_bytes(name, bytes, options)?)
    }

    fn of_loaded(loaded: Loaded) -> Result<Self> {
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
        options.sampling.check_seed()?;
        let post_processor = self.stages.post_processor.as_ref();
        // Trimming counts characters.
        let unit = if post_processor.is_some_and(PostProcessor::trims) {
            Unit::Characters
        } else {
            options.unit
        };
        let mut sampler = Sampler::new(options.sampling);
        let mut parts = Vec::with_capacity(2);
        for input in entry.inputs() {
            let part = self.encode_one(input, options, unit, &mut sampler);
            parts.push(part.map_err(|error| entry.at(parts.len(), error))?);
        }
        let mut encoding = match post_processor {
            Some(post_processor) => post_processor.process(parts, options.add_special_tokens)?,
            None => PostProcessor::join(parts),
        };
        if unit != options.unit {
            entry.change_unit(&mut encoding, options.unit);
        }
        Ok(encoding)
    }

    /// Only the ids of a text: those of [`Tokenizer::encode`], faster.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_ids(&self, text: &str, options: &EncodeOptions) -> Result<Vec<u32>> {
        let mut ids = room::with_capacity(text.len() / 4);
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

    /// Only how many tokens a text has.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: &str, options: &EncodeOptions) -> Result<usize> {
        self.count_part(text, Place::First, true, options)
    }

    /// Gives the tokens to `sink` by the fast path; returns `false`, and gives none, where that does not
    /// know this tokenizer or call.
    fn encode_compiled(
        &self,
        text: &str,
        place: Place,
        is_last: bool,
        options: &EncodeOptions,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        tick();
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
        let limit = Rc::new(LengthLimit::of(text.len()));
        if self.added_tokens.finds_nothing(&options.special) {
            let whole = Stretch::whole(text, place);
            compiled.encode(&self.stages, whole, &limit, sink)?;
        } else {
            let text = AlignedText::original(text);
            let cuts = self.added_tokens.cut(text, normalizer, &options.special)?;
            for cut in cuts {
                match cut {
                    TextOrToken::Token(id, _) => sink.push_all(&[id]),
                    TextOrToken::Text(text) => {
                        let stretch = Stretch::of(&text, place, normalizer.is_some());
                        compiled.encode(&self.stages, stretch, &limit, sink)?;
                    }
                }
            }
        }
        if is_last {
            sink.push_all(after);
        }
        Ok(true)
    }

    /// The normalizer, if this call searches normalized text for added tokens.
    fn sought_in_normalized(&self, options: &EncodeOptions) -> Option<&Normalizer> {
        let normalizer = self.stages.normalizer.as_ref();
        normalizer.filter(|_| self.added_tokens.looks_in_normalized(&options.special))
    }

    /// The tokens of a text, or of words, each of which is a text by itself.
    fn encode_one(
        &self,
        input: &Input<'_>,
        options: &EncodeOptions,
        unit: Unit,
        sampler: &mut Sampler,
    ) -> Result<Part> {
        let mut rows = EncodingBuilder::new(unit);
        for (number, text) in input.texts().iter().enumerate() {
            room::ask(text.len().saturating_mul(STAGED_BYTES));
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
        rows: &mut EncodingBuilder,
    ) -> Result<()> {
        tick();
        let stages = &self.stages;
        let trims = stages
            .post_processor
            .as_ref()
            .is_some_and(PostProcessor::trims);
        let mut tokens = Vec::new();
        let before_model = stages.before_model();
        for section in before_model.sections(&self.added_tokens, text, &options.special)? {
            match section? {
                Section::Token(id, text) => {
                    rows.push(id, text.span_of(0..text.as_str().len()));
                    if trims {
                        rows.margins.push(Margins::of_text(text.as_str()));
                    }
                    rows.end_word();
                }
                Section::Pieces(pieces) => {
                    for piece in pieces.iter() {
                        tokens.clear();
                        stages
                            .model
                            .tokenize(piece.as_str(), sampler, &mut tokens)?;
                        for token in paced(tokens.iter()) {
                            rows.push(token.id, piece.span_of(token.range.clone()));
                            if trims {
                                rows.margins.push(self.margins(token, piece.as_str()));
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
    fn margins(&self, token: &Token, piece: &str) -> Margins {
        let model = &self.stages.model;
        let id = token.id;
        let text = piece.get(token.range.clone()).unwrap_or_default();
        let token = model.vocab().token(id).unwrap_or_default();
        match (model, std::str::from_utf8(token)) {
            _ if model.has_raw_tokens() => Margins::of_bytes(token),
            (Model::Unigram(unigram), _) if unigram.unk_id() == Some(id) => Margins::of_text(text),
            (_, Ok(token)) => Margins::of_text(token),
            (_, Err(_)) => Margins::default(),
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
