//! The stages of a tokenizer, as plain data, and the order in which those before the
//! model run.
//!
//! Formats read and write them; encoding, training and the fast path's fallback call
//! [`BeforeModel`]; the fast path checks which of them it can speed up.

use std::borrow::Cow;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::model::Model;
use jeton_stages::added_tokens::{AddedToken, AddedTokens, SpecialPolicy, TextOrToken};
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::vocab::show;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::length_limit::LengthLimit;
use jeton_text::mem::room;
use jeton_text::text::{AlignedText, Pieces};

/// The stages of a tokenizer, as they are put together and taken apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// Tokens found by their spelling, before any other stage.
    pub added_tokens: Vec<AddedToken>,
    /// What happens to text first.
    pub normalizer: Option<Normalizer>,
    /// Where text is split.
    pub pre_tokenizer: Option<PreTokenizer>,
    /// From pieces to tokens.
    pub model: Model,
    /// The special tokens around a text.
    pub post_processor: Option<PostProcessor>,
    /// From tokens back to text.
    pub decoder: Option<Decoder>,
    /// The truncation that the file asks for, as JSON text. Truncation is an argument of a call:
    /// encoding does not read this, it is kept for the caller and for writing the file again.
    pub truncation: Option<String>,
    /// The padding that the file asks for, as JSON text; kept as `truncation` is.
    pub padding: Option<String>,
}

impl Stages {
    /// A model and nothing around it.
    pub fn of_model(model: Model) -> Self {
        Self {
            added_tokens: Vec::new(),
            normalizer: None,
            pre_tokenizer: None,
            model,
            post_processor: None,
            decoder: None,
            truncation: None,
            padding: None,
        }
    }

    /// Ends the work unless there is room for this many bytes per token of the vocabulary, four times as many
    /// per added token, and for some copies of their texts. Writers and conversions ask before they begin,
    /// since their lists and maps of small values grow without asking.
    pub fn ask_for_room(&self, bytes_per_token: usize) {
        const COPIES: usize = 16;
        let added = self.added_tokens.iter();
        let added = added.map(|token| 4 * bytes_per_token + COPIES * token.content.len());
        let vocab = self.model.vocab().iter();
        let vocab = vocab.map(|(token, _)| bytes_per_token + COPIES * token.len());
        room::ask(added.chain(vocab).fold(0, usize::saturating_add));
    }

    /// The id of the token with these bytes: of the added tokens first, then of the vocabulary.
    pub fn bytes_to_id(&self, token: &[u8]) -> Option<u32> {
        let mut added = self.added_tokens.iter();
        let added = added.find(|added| added.content.as_bytes() == token);
        added
            .map(|added| added.id)
            .or_else(|| self.model.vocab().id(token))
    }

    /// The bytes of an id among the added tokens or in the vocabulary.
    fn id_to_bytes(&self, id: u32) -> Option<&[u8]> {
        let mut added = self.added_tokens.iter();
        let added = added.find(|added| added.id == id);
        match added {
            Some(added) => Some(added.content.as_bytes()),
            None => self.model.vocab().token(id),
        }
    }

    /// The tokens that the post-processor puts around a text by an id which is not theirs: each name with
    /// that id.
    pub fn misnamed(&self) -> Vec<(&str, u32)> {
        let tokens = self
            .post_processor
            .iter()
            .flat_map(PostProcessor::special_tokens);
        let mut misnamed: Vec<(&str, u32)> = tokens
            .filter(|(id, name)| self.bytes_to_id(name.as_bytes()) != Some(*id))
            .filter(|(id, name)| self.id_to_bytes(*id) != Some(name.as_bytes()))
            .map(|(id, name)| (name, id))
            .collect();
        misnamed.sort_unstable();
        misnamed.dedup();
        misnamed
    }

    /// What is wrong with a token that [`Self::misnamed`] lists.
    pub fn misnaming(&self, name: &str, id: u32) -> String {
        let says = format!("the post-processor gives {name:?} the id {id}");
        let other = self.id_to_bytes(id).map(show);
        match (self.bytes_to_id(name.as_bytes()), other) {
            (Some(own), Some(other)) => format!("{says}, which is {other}; its own is {own}"),
            (Some(own), None) => format!("{says}, which has no token; its own is {own}"),
            (None, Some(other)) => format!("{says}, which is {other}; no token is spelled so"),
            (None, None) => format!("{says}, which has no token, and no token is spelled so"),
        }
    }

    /// Checks that the post-processor has what it puts around a text: what its templates name, and ids
    /// that are those of tokens.
    ///
    /// # Errors
    /// The first name or id for which this is not so.
    pub fn check_frame(&self) -> Result<()> {
        let Some(post_processor) = &self.post_processor else {
            return Ok(());
        };
        let wrong = |message: String| Err(Error::new(ErrorKind::Format, message));
        if let Some(name) = post_processor.unknown_name() {
            return wrong(format!(
                "the template of the post-processor names {name:?}, which its special_tokens do not hold"
            ));
        }
        let mut tokens = post_processor.special_tokens().into_iter();
        match tokens.find(|(id, _)| self.id_to_bytes(*id).is_none()) {
            Some((id, name)) => wrong(self.misnaming(name, id)),
            None => Ok(()),
        }
    }

    /// What these stages say that was hardly meant so, or that encoding does not do by itself.
    pub fn warnings(&self) -> Vec<String> {
        let misnamed = self.misnamed().into_iter();
        let mut warnings: Vec<String> = misnamed
            .map(|(name, id)| format!("{}. The id counts", self.misnaming(name, id)))
            .collect();
        if let Model::Bpe(bpe) = &self.model
            && let Some(dropout) = bpe.options().dropout
            && dropout > 0.0
        {
            warnings.push(format!(
                "the model says dropout={dropout}, by which merges are left out at random. Here none \
                 is, unless a call says so, as encode(text, dropout={dropout})"
            ));
        }
        warnings
    }

    /// The stages that run before the model.
    pub fn before_model(&self) -> BeforeModel<'_> {
        BeforeModel {
            normalizer: self.normalizer.as_ref(),
            pre_tokenizer: self.pre_tokenizer.as_ref(),
        }
    }
}

/// The stages that run before the model, in their order: what makes pieces of a text.
///
/// ```text
/// text ─ added tokens ─ normalizer ─ pre-tokenizer ─▶ pieces
/// ```
///
/// Whoever needs all of them calls this, so that encoding, training and the fast path cannot drift
/// apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct BeforeModel<'s> {
    /// What happens to text first.
    pub normalizer: Option<&'s Normalizer>,
    /// Where text is split.
    pub pre_tokenizer: Option<&'s PreTokenizer>,
}

/// An added token that is in a text, or a stretch of the text between two of them.
#[derive(Debug)]
pub enum Section {
    /// An added token, with the text that it took.
    Token(u32, AlignedText),
    /// What the model sees of the text.
    Pieces(Pieces),
}

impl<'s> BeforeModel<'s> {
    /// The sections of `text`: `added_tokens` are those of the same tokenizer, and `special` says
    /// which of them may be found. Each section is split into pieces when the iterator comes to it.
    ///
    /// # Errors
    /// As [`AddedTokens::cut`]; from the iterator, as [`PreTokenizer::cut`].
    pub fn sections(
        self,
        added_tokens: &AddedTokens,
        text: &str,
        special: &SpecialPolicy,
    ) -> Result<impl Iterator<Item = Result<Section>> + use<'s>> {
        let text = AlignedText::original(text);
        // Some added tokens are found in normalized text, so the normalizer runs in here.
        let cuts = added_tokens.cut(text, self.normalizer, special)?;
        Ok(cuts.into_iter().map(move |cut| {
            Ok(match cut {
                TextOrToken::Token(id, text) => Section::Token(id, text),
                TextOrToken::Text(text) => Section::Pieces(self.cut(text)?),
            })
        }))
    }

    /// The pieces of a text in which no added tokens are left.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`] and [`PreTokenizer::cut`].
    pub fn pieces(self, mut text: AlignedText) -> Result<Pieces> {
        if let Some(normalizer) = self.normalizer {
            normalizer.normalize(&mut text)?;
        }
        self.cut(text)
    }

    /// As [`pieces`](Self::pieces), for a caller that needs no spans and has `cut`, a faster form of
    /// the pre-tokenizer. `limit` has the length of the text that `text` is of.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`]; the errors of `cut`.
    pub fn pieces_by<'t, P>(
        self,
        text: &'t str,
        limit: &Rc<LengthLimit>,
        cut: impl FnOnce(Cow<'t, str>) -> Result<P>,
    ) -> Result<P> {
        cut(match self.normalizer {
            Some(normalizer) => normalizer.normalized_within(text, limit)?,
            None => Cow::Borrowed(text),
        })
    }

    /// Splits normalized text into pieces.
    fn cut(self, text: AlignedText) -> Result<Pieces> {
        let mut pieces = Pieces::new(text);
        if let Some(pre_tokenizer) = self.pre_tokenizer {
            pre_tokenizer.cut(&mut pieces)?;
        }
        Ok(pieces)
    }
}

/// A stage, of one of several kinds.
pub trait StageKind {
    /// What a `tokenizer.json` calls its kind.
    fn kind(&self) -> &'static str;
}

macro_rules! kinds_of {
    ($($stage:ty),*) => {$(
        impl StageKind for $stage {
            fn kind(&self) -> &'static str {
                <$stage>::kind(self)
            }
        }
    )*};
}

kinds_of!(Normalizer, PreTokenizer, PostProcessor, Decoder);
