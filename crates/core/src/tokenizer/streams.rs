//! Text and ids that come piece by piece: decoding while a model writes, encoding without the whole
//! text in memory.
//!
//! What a stream has given, put together, is what one call gives for everything: [`Tokenizer::decode`],
//! [`Tokenizer::encode_ids`].

use super::{EncodeOptions, OnInvalid, Tokenizer};
use crate::decoder::{Broken, Characters, Invalid, Stops, TokenStream};
use crate::error::{Error, ErrorKind, Result};
use crate::fast::Place;
use crate::train::word_counts::FirstStages;

/// The text of ids that come one by one.
///
/// ```no_run
/// # fn example(tokenizer: &jeton_core::Tokenizer, ids: &[u32]) -> jeton_core::Result<()> {
/// use jeton_core::{DecodeStream, OnInvalid};
///
/// let mut stream = DecodeStream::new(tokenizer, false, OnInvalid::Replace, vec!["\n\n".into()]);
/// let mut text = String::new();
/// for &id in ids {
///     stream.push(tokenizer, id, &mut text)?;
/// }
/// stream.finish(&mut text)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DecodeStream {
    tokens: TokenStream,
    characters: Characters,
    stops: Stops,
    broken: Broken,
    skip_special_tokens: bool,
    /// How many ids came.
    position: usize,
    is_finished: bool,
    /// Room to work in.
    bytes: Vec<u8>,
    more: String,
}

impl DecodeStream {
    /// A stream that ends before the first of `stops` that is complete; none of them is empty.
    pub fn new(
        tokenizer: &Tokenizer,
        skip_special_tokens: bool,
        on_invalid: OnInvalid,
        stops: Vec<String>,
    ) -> Self {
        let (invalid, broken) = match on_invalid {
            OnInvalid::Strict => (Invalid::Keep, Broken::Error),
            OnInvalid::Replace => (Invalid::Replace, Broken::Replaced),
            OnInvalid::Ignore => (Invalid::Keep, Broken::Dropped),
        };
        Self {
            tokens: TokenStream::new(tokenizer.stages.decoder.as_ref(), invalid),
            characters: Characters::default(),
            stops: Stops::new(stops),
            broken,
            skip_special_tokens,
            position: 0,
            is_finished: false,
            bytes: Vec::new(),
            more: String::new(),
        }
    }

    /// Appends to `text` what is sure with one id more. Behind a stop nothing comes any more.
    ///
    /// # Errors
    /// An id that stands for no token, which changes nothing; under [`OnInvalid::Strict`], bytes that
    /// are not UTF-8; the stream is finished.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: u32, text: &mut String) -> Result<()> {
        if self.is_finished {
            return Err(Error::new(
                ErrorKind::Argument,
                "this stream is finished: begin another one",
            ));
        }
        let token = tokenizer.known_input(id, self.position)?;
        self.position += 1;
        if self.skip_special_tokens && tokenizer.decodes_as_special(id, token) {
            return Ok(());
        }
        self.bytes.clear();
        self.tokens.push(token, &mut self.bytes)?;
        self.give(false, text)
    }

    /// Appends the rest: there are no more ids.
    ///
    /// # Errors
    /// Under [`OnInvalid::Strict`], bytes that are not UTF-8.
    pub fn finish(&mut self, text: &mut String) -> Result<()> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        self.bytes.clear();
        self.tokens.finish(&mut self.bytes)?;
        self.give(true, text)
    }

    /// The bytes at the end that are no text so far: after an error, those that it is about.
    pub fn begun(&self) -> &[u8] {
        self.characters.begun()
    }

    /// The number of the stop that the text ended at.
    pub fn stopped_at(&self) -> Option<usize> {
        self.stops.found()
    }

    fn give(&mut self, is_end: bool, text: &mut String) -> Result<()> {
        self.more.clear();
        let made = self
            .characters
            .push(&self.bytes, self.broken, is_end, &mut self.more);
        self.stops.push(&self.more, is_end, text);
        made
    }
}

/// About how much of a text is encoded at a time, in bytes.
const BLOCK: usize = if cfg!(test) { 32 } else { 256 << 10 };
/// How much of the end of that is looked at for a place to cut.
const NEAR: usize = if cfg!(test) { 24 } else { 64 << 10 };
/// How much of a text is kept, at most, for want of a place to cut.
const LONGEST: usize = 512 << 20;

/// The ids of a text that comes piece by piece.
#[derive(Debug)]
pub struct EncodeStream {
    cuts: FirstStages,
    options: EncodeOptions,
    kept: String,
    /// The length from which on a place to cut is searched for again, in bytes.
    room: usize,
    place: Place,
}

impl EncodeStream {
    /// A stream in which special tokens are text.
    ///
    /// # Errors
    /// For this tokenizer only the whole text tells where its tokens are.
    pub fn new(tokenizer: &Tokenizer, add_special_tokens: bool) -> Result<Self> {
        let options = EncodeOptions {
            add_special_tokens,
            ..EncodeOptions::PLAIN
        };
        let cuts = tokenizer.certain_cuts();
        let cuts = cuts.filter(|cuts| tokenizer.has_parts(&options) && cuts.has_split_points());
        let cuts = cuts.ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                "this tokenizer cannot encode a stream: the end of a text can change the tokens at its \
                 front",
            )
            .hint("encode the whole text, or each line or paragraph as a text of its own")
        })?;
        Ok(Self {
            cuts,
            options,
            kept: String::new(),
            room: BLOCK,
            place: Place::First,
        })
    }

    /// Appends to `ids` those that are sure with more of the text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; half a gigabyte of text without a place that surely parts tokens.
    pub fn push(&mut self, tokenizer: &Tokenizer, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        self.kept.push_str(text);
        while self.kept.len() >= self.room {
            let Some(cut) = self.cut() else {
                if self.kept.len() > LONGEST {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        "more than 512 MiB of text have no place that surely parts tokens",
                    ));
                }
                self.room = self.kept.len() + BLOCK;
                return Ok(());
            };
            let part = &self.kept[..cut];
            tokenizer.encode_part(part, self.place, false, &self.options, ids)?;
            self.place = Place::Inner;
            self.kept.drain(..cut);
            self.room = BLOCK;
        }
        Ok(())
    }

    /// Appends the rest: there is no more text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn finish(self, tokenizer: &Tokenizer, ids: &mut Vec<u32>) -> Result<()> {
        tokenizer.encode_part(&self.kept, self.place, true, &self.options, ids)
    }

    /// A place near the end of what is kept where tokens surely part.
    fn cut(&self) -> Option<usize> {
        let mut near = self.kept.len().saturating_sub(NEAR);
        while !self.kept.is_char_boundary(near) {
            near += 1;
        }
        self.cuts
            .split_point(&self.kept[near..])
            .map(|at| near + at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Stages;
    use crate::model::{Bpe, Characters, Model};
    use crate::pre_tokenizer::named;
    use crate::vocab::Vocab;

    fn tokenizers() -> Vec<Tokenizer> {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let merged: [&[u8]; 6] = [b"th", b"he", b"the", b" the", b"\n\n", b"  "];
        let all = bytes.chain(merged.map(<[u8]>::to_vec)).zip(0..);
        let ranks = Bpe::by_ranks(Vocab::new(all).unwrap()).unwrap();
        let patterns = ["gpt2", "cl100k", "o200k"].map(|name| {
            let pattern = named::find(name).unwrap().pre_tokenizer();
            let model = Model::Bpe(ranks.clone());
            Stages {
                pre_tokenizer: Some(pattern),
                ..Stages::of_model(model)
            }
        });
        let letters = "?the\n "
            .chars()
            .map(|letter| letter.to_string().into_bytes());
        let letters = Characters::new(Vocab::new(letters.zip(0..)).unwrap(), Some(0)).unwrap();
        let characters = Stages::of_model(Model::Characters(letters));
        let all = patterns.into_iter().chain([characters]);
        all.map(|stages| Tokenizer::new(stages).unwrap()).collect()
    }

    #[test]
    fn what_needs_the_whole_text_is_told() {
        let bytes = (0..=u8::MAX).map(|byte| (vec![byte], u32::from(byte)));
        let model = Bpe::by_ranks(Vocab::new(bytes).unwrap()).unwrap();
        let tokenizer = Tokenizer::new(Stages::of_model(Model::Bpe(model))).unwrap();
        let error = EncodeStream::new(&tokenizer, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_stream_gives_the_ids_of_the_whole(parts in prop::collection::vec(
            "( |the|\n|  |é|1|'ll|🙂|\u{A0}|[?!]){0,12}", 0..12,
        )) {
            let whole = parts.concat();
            for tokenizer in tokenizers() {
                let mut stream = EncodeStream::new(&tokenizer, false).unwrap();
                let mut ids = Vec::new();
                for part in &parts {
                    stream.push(&tokenizer, part, &mut ids).unwrap();
                }
                stream.finish(&tokenizer, &mut ids).unwrap();
                let expected = tokenizer.encode_ids(&whole, &EncodeOptions::PLAIN).unwrap();
                prop_assert_eq!(&ids, &expected);

                let mut stream = DecodeStream::new(&tokenizer, false, OnInvalid::Replace, Vec::new());
                let mut text = String::new();
                for &id in &ids {
                    stream.push(&tokenizer, id, &mut text).unwrap();
                }
                stream.finish(&mut text).unwrap();
                let expected = tokenizer.decode(&ids, false, OnInvalid::Replace).unwrap();
                prop_assert_eq!(&text, &expected);
            }
        }
    }
}
