//! Decoding ids that arrive one by one, while a model writes, up to a stop text or a stop token.
//!
//! The texts of a stream, joined, equal the result of one call for all ids: [`Tokenizer::decode`].

use std::sync::Arc;

use super::{DecodeOptions, Skipped, Tokenizer};
use jeton_stages::decoder::{Invalid, Stops, TokenStream};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::{InvalidUtf8, NotUtf8, WholeCharacters};

/// The stop texts and stop tokens of a stream.
#[derive(Clone, Debug, Default)]
pub struct StopRules {
    /// Texts before which the text ends, however tokens split them; none is empty.
    pub texts: Vec<String>,
    /// Tokens before which it ends, sorted.
    pub ids: Vec<u32>,
    /// How many ids come before a stop is looked for.
    pub min_tokens: usize,
}

/// What ended a stream of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The stop text of this number.
    Text(usize),
    /// This stop token.
    Id(u32),
}

/// Decodes ids that arrive one by one.
///
/// ```no_run
/// # fn example(tokenizer: &jeton_core::Tokenizer, ids: &[u32]) -> jeton_core::Result<()> {
/// use jeton_core::{DecodeOptions, DecodeStream, InvalidUtf8, StopRules};
///
/// let stops = StopRules { texts: vec!["\n\n".into()], ..StopRules::default() };
/// let options = DecodeOptions::default();
/// let mut stream = DecodeStream::new(tokenizer, options, InvalidUtf8::Replace, stops)?;
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
    characters: WholeCharacters,
    stops: Stops,
    stop_ids: Arc<[u32]>,
    min_tokens: usize,
    stopped: Option<Stopped>,
    invalid: InvalidUtf8,
    options: DecodeOptions,
    /// How many ids came.
    position: usize,
    /// How many of them came before there was a stop.
    before_stop: usize,
    /// If a text may be a stop: what says which ids give the text in front of it.
    recent: Option<Box<Recent>>,
    /// Bytes of text that were given.
    given: usize,
    is_finished: bool,
    /// Room to work in.
    bytes: Vec<u8>,
    more: String,
}

/// The end of a stream so far: as much as decides how many ids give the text that was given.
#[derive(Clone, Debug)]
struct Recent {
    /// Where it begins: as many ids do not give the text that was given since, unless it is the front.
    start: Checkpoint,
    /// A place from which on more may be forgotten, and how many of `ids` come before it.
    middle: Option<(Checkpoint, usize)>,
    /// The ids since, which have text, and for each how many ids came with it in all.
    ids: Vec<(u32, usize)>,
    /// The text since.
    text: String,
}

/// A stream in front of an id.
#[derive(Clone, Debug)]
struct Checkpoint {
    tokens: TokenStream,
    characters: WholeCharacters,
    /// Bytes of text that came.
    length: usize,
}

impl Recent {
    /// Ids between two checkpoints.
    const DISTANCE: usize = if cfg!(test) { 2 } else { 64 };

    /// Forgets what comes before the checkpoint in the middle if it is not needed any more; `now` is the
    /// stream as it is.
    fn forget(&mut self, now: impl FnOnce() -> Checkpoint, given: usize, invalid: InvalidUtf8) {
        let place = self.middle.as_ref().map_or(0, |(_, place)| *place);
        if self.ids.len() - place < Self::DISTANCE {
            return;
        }
        let length = self.start.length + self.text.len();
        let now = || Checkpoint { length, ..now() };
        match self.middle.take() {
            None => self.middle = Some((now(), self.ids.len())),
            Some((middle, place)) if middle.length <= given => {
                let text = &self.text[middle.length - self.start.length..];
                let given = &text[..text.len() - (length - given)];
                if middle.gives(given, invalid) {
                    self.middle = Some((middle, place));
                    return;
                }
                self.text.drain(..middle.length - self.start.length);
                self.ids.drain(..place);
                self.start = middle;
                self.middle = Some((now(), self.ids.len()));
            }
            waiting => self.middle = waiting,
        }
    }
}

impl Checkpoint {
    /// Whether the text of all ids in front of it goes on like this.
    fn gives(&self, text: &str, invalid: InvalidUtf8) -> bool {
        let mut end = self.clone();
        let (mut bytes, mut more) = (Vec::new(), String::new());
        let is_whole = end.tokens.finish(&mut bytes).is_ok()
            && (end.characters.push(&bytes, invalid, true, &mut more)).is_ok();
        is_whole && more.starts_with(text)
    }
}

impl DecodeStream {
    /// A stream that ends before the first stop.
    ///
    /// # Errors
    /// A stop that can never occur: the spelling of a token that is left out, or an id without a token.
    pub fn new(
        tokenizer: &Tokenizer,
        options: DecodeOptions,
        invalid: InvalidUtf8,
        stops: StopRules,
    ) -> Result<Self> {
        let of_tokens = match invalid {
            InvalidUtf8::Replace => Invalid::Replace,
            InvalidUtf8::Strict | InvalidUtf8::Ignore => Invalid::Keep,
        };
        for (number, text) in stops.texts.iter().enumerate() {
            tokenizer.check_stop(number, text, &options.skipped)?;
        }
        let is_unknown = |id: &&u32| tokenizer.decoder_input(**id).is_none();
        if let Some(id) = stops.ids.iter().find(is_unknown) {
            return Err(Error::new(
                ErrorKind::Lookup,
                format!("stop_ids holds {id}, which has no token"),
            ));
        }
        let tokens = TokenStream::new(tokenizer.stages.decoder.as_ref(), of_tokens);
        let recent = Recent {
            start: Checkpoint {
                tokens: tokens.clone(),
                characters: WholeCharacters::default(),
                length: 0,
            },
            middle: None,
            ids: Vec::new(),
            text: String::new(),
        };
        Ok(Self {
            tokens,
            characters: WholeCharacters::default(),
            recent: (!stops.texts.is_empty()).then(|| Box::new(recent)),
            stops: Stops::new(stops.texts),
            stop_ids: stops.ids.into(),
            min_tokens: stops.min_tokens,
            stopped: None,
            invalid,
            options,
            position: 0,
            before_stop: 0,
            given: 0,
            is_finished: false,
            bytes: Vec::new(),
            more: String::new(),
        })
    }

    /// Appends to `text` what is sure with one id more. After a stop nothing comes any more.
    ///
    /// # Errors
    /// An id that has no token, which changes nothing; under [`InvalidUtf8::Strict`], bytes that
    /// are not UTF-8; the stream is finished.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: u32, text: &mut String) -> Result<()> {
        if self.is_finished {
            return Err(Error::new(
                ErrorKind::Argument,
                "this stream is finished: begin another one",
            ));
        }
        let token = tokenizer.kept_input(id, self.position, &self.options)?;
        let is_early = self.position < self.min_tokens;
        self.position += 1;
        if self.stopped.is_some() {
            return Ok(());
        }
        if !is_early && self.stop_ids.binary_search(&id).is_ok() {
            self.stopped = Some(Stopped::Id(id));
            return self.end(text);
        }
        self.before_stop += 1;
        let Some(token) = token else {
            return Ok(());
        };
        let invalid = self.replacing();
        if let Some(recent) = &mut self.recent {
            let now = || Checkpoint {
                tokens: self.tokens.clone(),
                characters: self.characters.clone(),
                length: 0,
            };
            recent.forget(now, self.given, invalid);
            recent.ids.push((id, self.before_stop));
        }
        self.bytes.clear();
        self.tokens.push(&token, &mut self.bytes)?;
        self.give(false, is_early, text)
    }

    /// Appends the rest: there are no more ids.
    ///
    /// # Errors
    /// Under [`InvalidUtf8::Strict`], bytes that are not UTF-8.
    pub fn finish(&mut self, text: &mut String) -> Result<()> {
        if std::mem::replace(&mut self.is_finished, true) || self.stopped.is_some() {
            Ok(())
        } else {
            self.end(text)
        }
    }

    /// The bytes at the end that are no complete character; after an error, the bytes that it is about.
    pub fn incomplete(&self) -> &[u8] {
        self.characters.incomplete()
    }

    /// What ended the stream, if it has ended.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// How many of the ids that came belong to the text: all of them, or those in front of the token
    /// that it stopped at, or the fewest that give what is in front of the text that it stopped at.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn kept_tokens(&self, tokenizer: &Tokenizer) -> Result<usize> {
        if !matches!(self.stopped, Some(Stopped::Text(_))) {
            return Ok(self.before_stop);
        }
        let Some(recent) = &self.recent else {
            return Ok(self.before_stop);
        };
        let invalid = self.replacing();
        let mut kept = &recent.text[..self.given - recent.start.length];
        let mut state = recent.start.clone();
        let mut kept_tokens = 0;
        for &(id, count) in &recent.ids {
            if state.gives(kept, invalid) {
                break;
            }
            kept_tokens = count;
            let (mut bytes, mut more) = (Vec::new(), String::new());
            if let Some(token) = tokenizer.kept_input(id, count - 1, &self.options)? {
                state.tokens.push(&token, &mut bytes)?;
            }
            let is_text = state.characters.push(&bytes, invalid, false, &mut more);
            is_text.map_err(NotUtf8::in_ids)?;
            kept = kept.get(more.len()..).unwrap_or_default();
        }
        Ok(kept_tokens)
    }

    /// How bytes that are not UTF-8 are read where they are no error.
    fn replacing(&self) -> InvalidUtf8 {
        match self.invalid {
            InvalidUtf8::Strict => InvalidUtf8::Replace,
            invalid => invalid,
        }
    }

    /// Gives all that is kept.
    fn end(&mut self, text: &mut String) -> Result<()> {
        self.bytes.clear();
        self.tokens.finish(&mut self.bytes)?;
        self.give(true, false, text)
    }

    fn give(&mut self, is_end: bool, is_early: bool, text: &mut String) -> Result<()> {
        self.more.clear();
        let made = self
            .characters
            .push(&self.bytes, self.invalid, is_end, &mut self.more);
        if let Some(recent) = &mut self.recent {
            recent.text.push_str(&self.more);
        }
        let before = text.len();
        if is_early {
            text.push_str(&self.more)
        } else {
            self.stops.push(&self.more, is_end, text)
        }
        self.given += text.len() - before;
        // Text after a stop is dropped, and so is an error in it.
        match self.stops.first_match() {
            Some(number) => {
                self.stopped = Some(Stopped::Text(number));
                Ok(())
            }
            None => made.map_err(NotUtf8::in_ids),
        }
    }
}

impl Tokenizer {
    /// Refuses a stop string that contains a token which decoding skips.
    fn check_stop(&self, number: usize, stop: &str, skipped: &Skipped) -> Result<()> {
        let holds = |content: &str| !content.trim().is_empty() && stop.contains(content);
        let is_skipped = |id: u32, content: &str| match skipped {
            Skipped::Nothing => false,
            Skipped::Special => self.decodes_as_special(id, content.as_bytes()),
            Skipped::Ids(ids) => ids.binary_search(&id).is_ok(),
        };
        let mut tokens = self.stages.added_tokens.iter();
        match tokens.find(|it| holds(&it.content) && is_skipped(it.id, &it.content)) {
            None => Ok(()),
            Some(token) => Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "stop[{number}] holds {:?}, a token that skip_special_tokens leaves out",
                    token.content
                ),
            )
            .hint(format!("pass stop_ids=[{}] to end at that token", token.id))),
        }
    }
}
