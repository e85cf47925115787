//! Entries: a text or a pair, each of which may come as words.
//!
//! Look here for how the fast path encodes the entries of a batch: their texts and words one after
//! another, with the tokens of the post-processor around them.

use super::frames::{Frame, PairFrame};
use super::spans::{Row, rows};
use super::{EncodeOptions, Tokenizer};
use jeton_models::model::Sampling;
use jeton_stages::encoding::Encoding;
use jeton_stages::post_processor::{PostProcessor, Trimming};
use jeton_text::error::{Error, Result};
use jeton_text::interrupt::filled;
use jeton_text::text::{CharacterIndex, Unit};

/// A text, or the words into which the caller split it. Each word is encoded as a text of its own; the
/// post-processor sees all of their tokens as those of one text.
#[derive(Clone, Copy, Debug)]
pub enum Input<'t> {
    /// A text.
    Text(&'t str),
    /// Its words.
    Words(&'t [&'t str]),
}

impl<'t> Input<'t> {
    /// The text alone, or the words.
    pub fn texts(&self) -> &[&'t str] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Words(words) => words,
        }
    }

    /// Whether the caller split it into words.
    pub(super) fn is_words(&self) -> bool {
        matches!(self, Self::Words(_))
    }

    /// Says in which word something is wrong.
    pub(super) fn at(&self, number: usize, error: Error) -> Error {
        match self {
            Self::Text(_) => error,
            Self::Words(_) => error.at(format!("word {number}")),
        }
    }
}

/// A text or a pair of texts, encoded to one sequence of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'t> {
    /// The text.
    pub first: Input<'t>,
    /// The second text of a pair.
    pub second: Option<Input<'t>>,
}

impl<'t> Entry<'t> {
    /// Its texts in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Input<'t>> {
        std::iter::once(&self.first).chain(&self.second)
    }

    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        let texts = self.inputs().flat_map(Input::texts);
        texts.map(|text| text.len()).sum()
    }

    /// Which of its texts or words each token came from, counted through the pair; none for what the
    /// post-processor added.
    pub fn origins(&self, encoding: &Encoding) -> Vec<Option<u32>> {
        let mut origins = filled(None, encoding.len());
        for (text, rows) in &encoding.texts {
            let (input, before) = match (text, &self.second) {
                (0, _) => (&self.first, 0),
                (_, Some(second)) => (second, self.first.texts().len() as u32),
                (_, None) => continue,
            };
            let words = &encoding.word_ids[rows.clone()];
            for (origin, word) in origins[rows.clone()].iter_mut().zip(words) {
                *origin = match input {
                    Input::Text(_) => Some(before),
                    Input::Words(_) => word.map(|word| before + word),
                };
            }
        }
        origins
    }

    /// Gives the spans of an encoding of it, which count characters, in another unit.
    pub(super) fn change_unit(&self, encoding: &mut Encoding, unit: Unit) {
        let texts = self.inputs().flat_map(Input::texts);
        let texts: Vec<_> = texts.map(|text| CharacterIndex::new(text, unit)).collect();
        let origins = self.origins(encoding);
        for (span, origin) in encoding.spans.iter_mut().zip(origins) {
            if let Some(origin) = origin {
                *span = texts[origin as usize].of(*span);
            }
        }
    }

    /// Says in which text of a pair something is wrong.
    pub(super) fn at(&self, number: usize, error: Error) -> Error {
        match (self.second, number) {
            (None, _) => error,
            (Some(_), 0) => error.at("first text"),
            (Some(_), _) => error.at("second text"),
        }
    }
}

/// Encodes entries with the same options.
pub(crate) struct Encoder<'a> {
    tokenizer: &'a Tokenizer,
    options: &'a EncodeOptions,
    /// For a text without what the post-processor adds.
    bare: EncodeOptions,
    /// What the post-processor puts around one text and around a pair; none where it does something
    /// else, or where random numbers continue from one text to the next.
    frame: Option<&'a Frame>,
    pair_frame: Option<&'a PairFrame>,
    /// Whether the spans of texts, and those of words, are the same by themselves and together.
    has_spans: bool,
    has_spans_of_words: bool,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(tokenizer: &'a Tokenizer, options: &'a EncodeOptions) -> Self {
        let bare = EncodeOptions {
            add_special_tokens: false,
            ..options.clone()
        };
        let adds_nothing = tokenizer.frames[0] == Some(Frame::default());
        let is_by_itself = adds_nothing && options.sampling == Sampling::default();
        let kind = usize::from(options.add_special_tokens);
        let post_processor = tokenizer.stages.post_processor.as_ref();
        let trimming = post_processor.map_or(Some(Trimming::None), PostProcessor::trimming);
        Self {
            tokenizer,
            options,
            bare,
            frame: tokenizer.frames[kind].as_ref().filter(|_| is_by_itself),
            pair_frame: tokenizer.pair_frames[kind]
                .as_ref()
                .filter(|_| is_by_itself),
            has_spans: trimming.is_some(),
            // The first token of a text is trimmed otherwise only where a space was put in front.
            has_spans_of_words: matches!(trimming, Some(Trimming::None | Trimming::All)),
        }
    }

    /// Appends the ids of an entry to `ids`; on an error, they hold some of them.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub(crate) fn ids(&self, entry: &Entry<'_>, ids: &mut Vec<u32>) -> Result<()> {
        let Some(around) = self.around(entry) else {
            let encoding = self.tokenizer.encode_entry(entry, self.options)?;
            ids.extend_from_slice(&encoding.ids);
            return Ok(());
        };
        ids.extend_from_slice(around[0]);
        for (number, (input, after)) in entry.inputs().zip(&around[1..]).enumerate() {
            for (word, text) in input.texts().iter().enumerate() {
                let encoded = self.tokenizer.encode_into(text, &self.bare, ids);
                encoded.map_err(|error| entry.at(number, input.at(word, error)))?;
            }
            ids.extend_from_slice(after);
        }
        Ok(())
    }

    /// As [`Self::ids`], and appends to `spans` where each token came from in its text or word, and to
    /// `origins` which of the entry's texts or words that is, counted through the pair; none for what
    /// the post-processor added.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub(crate) fn spans(
        &self,
        entry: &Entry<'_>,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
        origins: &mut Vec<Option<u32>>,
    ) -> Result<()> {
        let Some(around) = self.around_spans(entry) else {
            return self.spans_fallback(entry, ids, spans, origins);
        };
        self.spans_within(around, entry, ids, spans, |length, origin| {
            origins.resize(length, origin);
        })
    }

    /// As [`Self::spans`], but says how many tokens each of the texts or words has; none, and nothing is
    /// appended, where the stages have to run.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub(super) fn counted_spans(
        &self,
        entry: &Entry<'_>,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
    ) -> Result<Option<Vec<usize>>> {
        let Some(around) = self.around_spans(entry) else {
            return Ok(None);
        };
        let mut counts = Vec::new();
        let mut before = ids.len();
        self.spans_within(around, entry, ids, spans, |length, origin| {
            counts.extend(origin.map(|_| length - before));
            before = length;
        })?;
        Ok(Some(counts))
    }

    /// What is around the texts, if their spans are the same by themselves and together.
    fn around_spans(&self, entry: &Entry<'_>) -> Option<[&'a [u32]; 3]> {
        let known = if entry.inputs().any(Input::is_words) {
            self.has_spans_of_words
        } else {
            self.has_spans
        };
        self.around(entry).filter(|_| known)
    }

    /// Tells after each text or word, and after what is added, how many ids there are, and which text or
    /// word those after the ones before came from.
    fn spans_within(
        &self,
        around: [&[u32]; 3],
        entry: &Entry<'_>,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
        mut tell: impl FnMut(usize, Option<u32>),
    ) -> Result<()> {
        let add = |added: &[u32], ids: &mut Vec<u32>, spans: &mut Vec<Row>| {
            ids.extend_from_slice(added);
            spans.resize(ids.len(), Row::default());
        };
        add(around[0], ids, spans);
        tell(ids.len(), None);
        let mut origin = 0;
        for (number, (input, after)) in entry.inputs().zip(&around[1..]).enumerate() {
            for (word, text) in input.texts().iter().enumerate() {
                let encoded = self
                    .tokenizer
                    .encode_with_spans(text, &self.bare, ids, spans);
                encoded.map_err(|error| entry.at(number, input.at(word, error)))?;
                tell(ids.len(), Some(origin));
                origin += 1;
            }
            add(after, ids, spans);
            tell(ids.len(), None);
        }
        Ok(())
    }

    fn spans_fallback(
        &self,
        entry: &Entry<'_>,
        ids: &mut Vec<u32>,
        spans: &mut Vec<Row>,
        origins: &mut Vec<Option<u32>>,
    ) -> Result<()> {
        let encoding = self.tokenizer.encode_entry(entry, self.options)?;
        spans.extend(rows(&encoding.spans));
        origins.extend(entry.origins(&encoding));
        ids.extend_from_slice(&encoding.ids);
        Ok(())
    }

    /// What comes before the first text, and after each, if that is all that the post-processor adds.
    fn around(&self, entry: &Entry<'_>) -> Option<[&'a [u32]; 3]> {
        match entry.second {
            None => self.frame.map(|(before, after)| [&before[..], after, &[]]),
            Some(_) => self
                .pair_frame
                .map(|[before, between, after]| [before, between, after].map(Vec::as_slice)),
        }
    }
}
