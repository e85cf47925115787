//! Text and ids that arrive piece by piece: decoding while a model writes, encoding without the whole
//! text in memory.
//!
//! The outputs of a stream, joined, equal the result of one call for everything: [`Tokenizer::decode`],
//! [`Tokenizer::encode_ids`].

use std::sync::Arc;

use super::{DecodeOptions, EncodeOptions, Skipped, Tokenizer};
use jeton_fast::Place;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_stages::decoder::{Invalid, Stops, TokenStream};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::{InvalidUtf8, NotUtf8, WholeCharacters, boundary_before};
use jeton_training::word_counts::FirstStages;

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
    /// Refuses a stop that holds the spelling of a token which is left out of the text.
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

/// Bytes of a text, about, that are encoded at a time.
const BYTES_AT_A_TIME: usize = if cfg!(test) { 32 } else { 256 << 10 };
/// Bytes at the end of these that are searched for a place to split.
const SEARCHED_AT_END: usize = if cfg!(test) { 24 } else { 64 << 10 };
/// The most bytes of text that wait for a split point.
const MAX_KEPT: usize = 512 << 20;

/// Approximate bytes of a part in the middle of a text.
pub(super) const PART: usize = if cfg!(test) { 48 } else { 1 << 10 };

/// Finds split points in a text that is not complete yet: the parts, each encoded at its [`Place`], have
/// the tokens of the whole text.
#[derive(Debug)]
pub(super) enum SplitPointSearch {
    Stages(Arc<FirstStages>),
    /// The tokenizer's fast path, which looks only at what comes before a place.
    Compiled,
}

impl SplitPointSearch {
    /// For a tokenizer and these options; `refused` says in an error what cannot be done without split points.
    ///
    /// # Errors
    /// No safe split points are known for this tokenizer, or for text in which its special tokens are
    /// looked for; `special` is [`SpecialPolicy::Raise`], whose error needs a place in the whole text.
    pub(super) fn new(
        tokenizer: &Tokenizer,
        options: &EncodeOptions,
        refused: &str,
    ) -> Result<Self> {
        if options.special == SpecialPolicy::Raise {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "within a part, the place of a special token in the whole text is not known, so special \
                 cannot be \"raise\"",
            )
            .hint("pass \"ignore\", \"allow\" or a set of special tokens"));
        }
        let stages = tokenizer.split_point_stages().filter(|_| {
            tokenizer.frame(options.add_special_tokens).is_some()
                && tokenizer.may_part(&options.special)
        });
        let compiled = || tokenizer.splits_prefixes(options).then_some(Self::Compiled);
        stages.map(Self::Stages).or_else(compiled).ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!("{refused}: no safe split points are known for it"),
            )
            .hint("encode the whole text, or each line or paragraph as a text of its own")
        })
    }

    /// A split point, sought from about `near` on, of a text that continues after its end.
    pub(super) fn find(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        near: usize,
        options: &EncodeOptions,
    ) -> Option<usize> {
        match self {
            Self::Stages(stages) => {
                let at = near + stages.split_point(&text[near..])?;
                let parts = tokenizer.parts_at(text, at, &options.special);
                parts.then_some(at)
            }
            Self::Compiled => tokenizer.split_point_in_prefix(text, near, options),
        }
    }

    /// A split point near the front of a text that continues at both ends, and how many bytes the search looked
    /// at: it is a split point of every text that holds those.
    pub(super) fn find_within(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        options: &EncodeOptions,
    ) -> Option<(usize, usize)> {
        let added = &tokenizer.added_tokens;
        // These bytes rule out an added token that begins in front of the text and ends after them.
        let is_far_enough = |at| added.finds_nothing(&options.special) || at >= added.reach();
        let mut size = PART;
        loop {
            let window = &text[..boundary_before(text, size)];
            // To judge a place, the fast path reads from the last space in front of it.
            let space = window.bytes().skip(1).position(|byte| byte == b' ');
            let near = match self {
                Self::Stages(_) => Some(0),
                Self::Compiled => space.map(|space| (space + 2).max(window.len() / 2)),
            };
            let found = near.and_then(|near| {
                let near = boundary_before(window, near);
                self.find(tokenizer, window, near, options)
            });
            match found.filter(|&at| at > 0 && is_far_enough(at)) {
                Some(at) => return Some((at, window.len())),
                None if window.len() == text.len() => return None,
                None => size *= 2,
            }
        }
    }
}

impl Tokenizer {
    /// A place in `part` at which every text that contains `part` may be split: its tokens are those of the
    /// text in front of the place, as the front of a text, and those after it. None if none is known.
    ///
    /// After an edit, only the text between such places in front of it and after it has other tokens.
    pub fn split_point_within(&self, part: &str, special: SpecialPolicy) -> Option<usize> {
        let options = EncodeOptions {
            special,
            ..EncodeOptions::PLAIN
        };
        let split_points = SplitPointSearch::new(self, &options, "").ok()?;
        Some(split_points.find_within(self, part, &options)?.0)
    }
}

/// Encodes a text that arrives piece by piece.
#[derive(Debug)]
pub struct EncodeStream {
    split_points: SplitPointSearch,
    options: EncodeOptions,
    kept: String,
    /// The length from which on a place to split is searched for again, in bytes.
    room: usize,
    place: Place,
}

impl EncodeStream {
    /// A stream of a text in which special tokens are what `special` says.
    ///
    /// # Errors
    /// No safe split points are known for this tokenizer; `special` is [`SpecialPolicy::Raise`].
    pub fn new(
        tokenizer: &Tokenizer,
        special: SpecialPolicy,
        add_special_tokens: bool,
    ) -> Result<Self> {
        let options = EncodeOptions {
            special,
            add_special_tokens,
            ..EncodeOptions::PLAIN
        };
        let split_points =
            SplitPointSearch::new(tokenizer, &options, "this tokenizer cannot encode a stream")?;
        Ok(Self {
            split_points,
            options,
            kept: String::new(),
            room: BYTES_AT_A_TIME,
            place: Place::First,
        })
    }

    /// Adds text, and appends the ids that no later text can change to `ids`.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; half a gigabyte of text without a safe split point.
    pub fn push(&mut self, tokenizer: &Tokenizer, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        self.kept.push_str(text);
        while self.kept.len() >= self.room {
            let Some(end) = self.split_point(tokenizer) else {
                if self.kept.len() > MAX_KEPT {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        "more than 512 MiB of text have no safe split point",
                    ));
                }
                // Not a block further: each search may go over all that is kept.
                self.room = (2 * self.kept.len()).min(MAX_KEPT + 1);
                return Ok(());
            };
            let part = &self.kept[..end];
            tokenizer.encode_part(part, self.place, false, &self.options, ids)?;
            self.place = Place::Inner;
            self.kept.drain(..end);
            self.room = BYTES_AT_A_TIME;
        }
        Ok(())
    }

    /// Appends the remaining ids, at the end of the text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn finish(self, tokenizer: &Tokenizer, ids: &mut Vec<u32>) -> Result<()> {
        tokenizer.encode_part(&self.kept, self.place, true, &self.options, ids)
    }

    /// A safe split point near the end of the kept text.
    fn split_point(&self, tokenizer: &Tokenizer) -> Option<usize> {
        let near = self.kept.len().saturating_sub(SEARCHED_AT_END);
        let near = boundary_before(&self.kept, near);
        self.split_points
            .find(tokenizer, &self.kept, near, &self.options)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use jeton_formats::sentencepiece;
    use jeton_models::Stages;
    use jeton_models::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
    };
    use jeton_models::model::{Bpe, Characters, Model, Unigram};
    use jeton_stages::added_tokens::AddedToken;
    use jeton_stages::normalizer::{Normalization, Normalizer};
    use jeton_stages::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior, named};
    use jeton_stages::vocab::Vocab;
    use jeton_text::mem::lazy::LazyStatic;
    use jeton_text::pattern::{Dialect, Regex, SearchPattern};

    fn ranks() -> Stages {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let merged: [&[u8]; 6] = [b"th", b"he", b"the", b" the", b"\n\n", b"  "];
        let all = bytes.chain(merged.map(<[u8]>::to_vec)).zip(0..);
        let ranks = Bpe::by_ranks(Vocab::new(all).unwrap()).unwrap();
        Stages::of_model(Model::Bpe(ranks))
    }

    fn in_pattern(name: &str) -> Stages {
        Stages {
            pre_tokenizer: Some(named::find(name).unwrap().pre_tokenizer()),
            ..ranks()
        }
    }

    fn added(id: u32, content: &str, normalized: bool) -> AddedToken {
        AddedToken {
            normalized,
            ..AddedToken::plain(1000 + id, content)
        }
    }

    /// After each form of Unicode, with added tokens in the text and in what the form makes of it.
    fn in_forms() -> Vec<Stages> {
        let mut all = Vec::new();
        let forms = [
            Normalizer::Nfc,
            Normalizer::Nfd,
            Normalizer::Nfkc,
            Normalizer::Nfkd,
        ];
        for form in forms {
            for name in ["gpt2", "qwen2", "qwen3.5", "o200k"] {
                let stages = Stages {
                    normalizer: Some(form.clone()),
                    ..in_pattern(name)
                };
                all.push(stages.clone());
                all.push(Stages {
                    added_tokens: vec![
                        added(0, "  ", true),
                        added(1, "   ", true),
                        added(2, "e\u{301}", true),
                        added(3, "e the", false),
                        added(4, " th", true),
                        AddedToken {
                            special: true,
                            ..added(5, "the!", true)
                        },
                    ],
                    ..stages
                });
            }
        }
        all
    }

    /// Those that see words with the spaces before them: of `.model` files, which make one of all spaces
    /// or do not, and of a `tokenizer.json`, with an added token that no normalizer sees.
    fn with_marks() -> Vec<Stages> {
        let mut all = Vec::new();
        let pieces = [
            "▁", "▁the", "▁t", "th", "he", "the", "e", "t", "h", "▁▁", "?",
        ];
        for collapses in [false, true] {
            let normal = |(text, place)| Piece::new(text, -f32::from(place), PieceKind::Normal);
            let first = Piece::new("<unk>", 0.0, PieceKind::Unknown);
            let pieces = pieces.into_iter().zip(0_u8..).map(normal);
            let trainer = TrainerSpec {
                algorithm: Algorithm::Bpe,
                ..TrainerSpec::default()
            };
            let charsmap = Normalization::NmtNfkc.charsmap().unwrap();
            let normalizer = NormalizerSpec {
                precompiled_charsmap: charsmap.blob(),
                add_dummy_prefix: collapses,
                remove_extra_whitespaces: collapses,
                escape_whitespaces: true,
                ..NormalizerSpec::default()
            };
            let pieces = [first].into_iter().chain(pieces);
            all.push(sentencepiece::stages(ModelProto::new(pieces, trainer, normalizer)).unwrap());
        }
        let pieces = ["<unk>"].into_iter().chain(pieces);
        let model = Unigram::new(pieces.map(|piece| (piece, -1.0)), Some(0), false).unwrap();
        all.push(Stages {
            normalizer: Some(Normalizer::Nfkc),
            pre_tokenizer: Some(PreTokenizer::Metaspace {
                replacement: '▁',
                prepend_scheme: PrependScheme::First,
                split: true,
            }),
            added_tokens: vec![added(0, "e the", false)],
            ..Stages::of_model(Model::Unigram(model))
        });
        all
    }

    pub static TOKENIZERS: LazyStatic<Vec<Tokenizer>> = LazyStatic::new(tokenizers);

    fn tokenizers() -> Vec<Tokenizer> {
        let patterns = ["gpt2", "cl100k", "o200k"].map(in_pattern);
        // In text that stays as it is, split points see such tokens.
        let late = Stages {
            added_tokens: vec![added(0, "e the", true), added(1, "  ", false)],
            ..in_pattern("gpt2")
        };
        let letters = "?the\n "
            .chars()
            .map(|letter| letter.to_string().into_bytes());
        let letters = Characters::new(Vocab::new(letters.zip(0..)).unwrap(), Some(0)).unwrap();
        let characters = Stages::of_model(Model::Characters(letters));
        let all = patterns.into_iter().chain([late, characters]);
        let all = all.chain(in_forms()).chain(with_marks());
        all.map(|stages| Tokenizer::new(stages).unwrap()).collect()
    }

    #[test]
    fn stages_that_need_the_whole_text_are_named() {
        let in_form = || Stages {
            normalizer: Some(Normalizer::Nfc),
            ..in_pattern("gpt2")
        };
        let with = |token| Stages {
            added_tokens: vec![token],
            ..in_form()
        };
        let expression = SearchPattern::Regex(Regex::new(r"\w+", Dialect::Oniguruma).unwrap());
        for (why, stages) in [
            ("all text is one piece", ranks()),
            (
                "an expression that no scanner knows, behind a form",
                Stages {
                    pre_tokenizer: Some(PreTokenizer::Split {
                        pattern: expression,
                        behavior: SplitBehavior::Isolated,
                        invert: false,
                    }),
                    ..in_form()
                },
            ),
            (
                "more than a form",
                Stages {
                    normalizer: Some(Normalizer::Sequence(vec![
                        Normalizer::Nfd,
                        Normalizer::Lowercase,
                    ])),
                    ..in_form()
                },
            ),
            (
                "a token that may stand across any split point",
                with(added(0, "e\u{301} the", true)),
            ),
            (
                "a token across a line end",
                with(added(0, "the\nthe", true)),
            ),
            (
                "a token that takes white space",
                with(AddedToken {
                    lstrip: true,
                    ..added(0, "the", false)
                }),
            ),
        ] {
            let tokenizer = Tokenizer::new(stages).unwrap();
            let error = EncodeStream::new(&tokenizer, SpecialPolicy::Ignore, false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{why}");
        }
    }

    #[test]
    fn special_tokens_that_are_text_do_not_prevent_split_points() {
        let mask = AddedToken {
            special: true,
            lstrip: true,
            ..added(0, "e the\n", true)
        };
        let stages = Stages {
            normalizer: Some(Normalizer::Nfc),
            added_tokens: vec![mask],
            ..in_pattern("gpt2")
        };
        let tokenizer = Tokenizer::new(stages).unwrap();
        let text = "the the\nthe ".repeat(50);
        let mut stream = EncodeStream::new(&tokenizer, SpecialPolicy::Ignore, false).unwrap();
        let mut ids = Vec::new();
        stream.push(&tokenizer, &text, &mut ids).unwrap();
        assert!(!ids.is_empty());
        stream.finish(&tokenizer, &mut ids).unwrap();
        let expected = tokenizer.encode_ids(&text, &EncodeOptions::PLAIN).unwrap();
        assert_eq!(ids, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn a_stream_gives_the_ids_of_the_whole(parts in prop::collection::vec(
            "( | the|the|e|\n|  |é|\u{301}|\u{323}|ᄀ|ᅡ|ᆨ|가|ﬁ|>|\u{338}|Å|1|'ll|🙂|\u{A0}|[?!]){0,12}", 0..12,
        )) {
            let whole = parts.concat();
            for tokenizer in &*TOKENIZERS {
                let mut stream = EncodeStream::new(tokenizer, SpecialPolicy::Ignore, false).unwrap();
                let mut ids = Vec::new();
                for part in &parts {
                    stream.push(tokenizer, part, &mut ids).unwrap();
                }
                stream.finish(tokenizer, &mut ids).unwrap();
                let expected = tokenizer.encode_ids(&whole, &EncodeOptions::PLAIN).unwrap();
                prop_assert_eq!(&ids, &expected);

                let options = DecodeOptions::default();
                let stops = StopRules::default();
                let mut stream =
                    DecodeStream::new(tokenizer, options, InvalidUtf8::Replace, stops).unwrap();
                let mut text = String::new();
                for &id in &ids {
                    stream.push(tokenizer, id, &mut text).unwrap();
                }
                stream.finish(&mut text).unwrap();
                let expected = tokenizer.decode(&ids, &false.into(), InvalidUtf8::Replace).unwrap();
                prop_assert_eq!(&text, &expected);
            }
        }
    }
}
