//! The encoding of an entry in two steps: ids and spans at once, the other columns when they are first
//! read.
//!
//! Look here for the columns that the fast path does not find. The post-processor alone says the type of a
//! token, the text it belongs to and whether it was added: it needs only the number of tokens. Words
//! are known if the caller split the text into them, or if nothing splits it; otherwise the stages run.

use std::iter::repeat_n;

use super::encoding_builder::EncodingBuilder;
use super::entries::Encoder;
use super::spans::{Row, rows};
use super::{EncodeOptions, Entry, Input, Tokenizer};
use jeton_models::model::{Sampler, Sampling};
use jeton_stages::encoding::Encoding;
use jeton_stages::post_processor::{Part, PostProcessor};
use jeton_text::error::Result;
use jeton_text::interrupt::filled;
use jeton_text::text::Unit;

/// An encoding of which ids and spans are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The ids.
    pub ids: Vec<u32>,
    /// Where each token came from, in the unit that was requested.
    pub spans: Vec<Row>,
    /// The other columns.
    pub rest: Rest,
}

/// The columns of an encoding besides ids and spans, or the counts from which they are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// All of them.
    Known(Attributes),
    /// How many tokens each text of the entry has, or each of its words, counted through a pair.
    Counted(Vec<usize>),
}

/// The columns of an [`Encoding`] besides ids and spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Which piece of the text each token belongs to; `None` for tokens the post-processor added.
    pub word_ids: Vec<Option<u32>>,
    /// 0 for the first text and 1 for the second, or as a template says.
    pub type_ids: Vec<u32>,
    /// Which text each token came from; `None` for tokens the post-processor added.
    pub sequence_ids: Vec<Option<u32>>,
    /// Whether the post-processor added the token.
    pub special_tokens_mask: Vec<bool>,
}

/// One text of an entry, with its token counts.
#[derive(Clone, Copy, Debug)]
pub enum Source<'t> {
    /// A text, and how many tokens it has. Without the text, all of it counts as one word.
    Text(Option<&'t str>, usize),
    /// How many tokens each of the words has that the caller split it into.
    Words(&'t [usize]),
}

impl From<Encoding> for Spanned {
    fn from(encoding: Encoding) -> Self {
        Self {
            spans: rows(&encoding.spans).collect(),
            ids: encoding.ids,
            rest: Rest::Known(Attributes {
                word_ids: encoding.word_ids,
                type_ids: encoding.type_ids,
                sequence_ids: encoding.sequence_ids,
                special_tokens_mask: encoding.special_tokens_mask,
            }),
        }
    }
}

impl Tokenizer {
    /// Whether the fast path finds ids and spans of texts, so that [`Tokenizer::encode_with_spans`] is
    /// the sooner way to them; it may still have to ask the stages.
    pub fn finds_spans(&self, options: &EncodeOptions) -> bool {
        self.ways_to_spans(options).is_some()
    }

    /// The ids and spans of an entry; those of [`Tokenizer::encode_entry`], faster.
    ///
    /// ```
    /// # use jeton_core::tokenizer::{Rest, Source};
    /// # use jeton_core::{EncodeOptions, Entry, Input, Tokenizer};
    /// # fn example(tokenizer: &Tokenizer) -> jeton_core::Result<()> {
    /// let options = EncodeOptions::default();
    /// let entry = Entry { first: Input::Text("to be"), second: None };
    /// let spanned = tokenizer.encode_entry_with_spans(&entry, &options)?;
    /// if let Rest::Counted(counts) = &spanned.rest {
    ///     let source = Source::Text(Some("to be"), counts[0]);
    ///     let attributes = tokenizer.attributes(&[source], &options)?;
    ///     assert_eq!(attributes.word_ids.len(), spanned.ids.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_entry_with_spans(
        &self,
        entry: &Entry<'_>,
        options: &EncodeOptions,
    ) -> Result<Spanned> {
        if self.finds_spans(options) {
            let (mut ids, mut spans) = (Vec::new(), Vec::new());
            if let Entry {
                first: Input::Text(text),
                second: None,
            } = entry
            {
                self.encode_with_spans(text, options, &mut ids, &mut spans)?;
                return Ok(self.spanned_text(ids, spans, options));
            }
            let encoder = Encoder::new(self, options);
            if let Some(counts) = encoder.counted_spans(entry, &mut ids, &mut spans)? {
                let rest = Rest::Counted(counts);
                return Ok(Spanned { ids, spans, rest });
            }
        }
        Ok(self.encode_entry(entry, options)?.into())
    }

    /// The encoding of a text, of ids and spans that [`Tokenizer::encode_with_spans`] gave with these
    /// options.
    pub fn spanned_text(&self, ids: Vec<u32>, spans: Vec<Row>, options: &EncodeOptions) -> Spanned {
        let frame = self.frame(options.add_special_tokens);
        let added = frame.map_or(0, |(before, after)| before.len() + after.len());
        let rest = Rest::Counted(vec![ids.len() - added]);
        Spanned { ids, spans, rest }
    }

    /// The columns beside ids and spans of what was encoded with these options.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], of texts that it does not encode.
    pub fn attributes(
        &self,
        sources: &[Source<'_>],
        options: &EncodeOptions,
    ) -> Result<Attributes> {
        let parts = sources.iter().map(|source| {
            let word_ids = self.word_ids(source, options)?;
            let rows = word_ids.len();
            let encoding = Encoding {
                // The post-processor looks at neither.
                ids: filled(0, rows),
                spans: filled(Default::default(), rows),
                word_ids,
                type_ids: filled(0, rows),
                sequence_ids: filled(Some(0), rows),
                special_tokens_mask: filled(false, rows),
                texts: Vec::new(),
            };
            Ok(Part::new(encoding, Vec::new()))
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let encoding = match &self.stages.post_processor {
            Some(post_processor) => post_processor.process(parts, options.add_special_tokens)?,
            None => PostProcessor::join(parts),
        };
        Ok(Attributes {
            word_ids: encoding.word_ids,
            type_ids: encoding.type_ids,
            sequence_ids: encoding.sequence_ids,
            special_tokens_mask: encoding.special_tokens_mask,
        })
    }

    /// The word of each token.
    fn word_ids(&self, source: &Source<'_>, options: &EncodeOptions) -> Result<Vec<Option<u32>>> {
        match *source {
            Source::Words(counts) => {
                let words = (0..).zip(counts);
                let words = words.flat_map(|(word, &count)| repeat_n(Some(word), count));
                Ok(words.collect())
            }
            Source::Text(None, count) => Ok(filled(Some(0), count)),
            Source::Text(Some(text), count) => {
                let is_one_word = self.compiled.is_some()
                    && self.stages.pre_tokenizer.is_none()
                    && self.added_tokens.finds_nothing(&options.special);
                if is_one_word {
                    return Ok(filled(Some(0), count));
                }
                let words = self.words_fallback(text, options)?;
                assert_eq!(words.len(), count, "each token has its word");
                Ok(words)
            }
        }
    }

    fn words_fallback(&self, text: &str, options: &EncodeOptions) -> Result<Vec<Option<u32>>> {
        let mut rows = EncodingBuilder::new(Unit::Bytes);
        rows.begin(text, None);
        let mut sampler = Sampler::new(Sampling::default());
        self.encode_text(text, options, &mut sampler, &mut rows)?;
        Ok(rows.encoding.word_ids)
    }
}
