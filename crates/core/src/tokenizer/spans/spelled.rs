//! The places of tokens in the text that reaches the model, which they spell one after the other.
//!
//! Look here for unknown tokens. In a model of words, one stands for its whole piece; in a model of characters,
//! for a character that is not a token or a run of these. Where it ends is certain only if every character of
//! every token is a token itself.

use std::collections::HashSet;
use std::ops::Range;

use foldhash::fast::RandomState;

use jeton_models::model::bpe::MergeRule;
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_models::model::{Model, byte_of_token};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::SPACE_MARK;
use jeton_text::interrupt::tick;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::{AlignedText, Span, boundary_before};

/// A token and its span.
pub type Spanned = (u32, Span);

/// Where the unknown tokens of a model end.
#[derive(Debug)]
pub struct Unknown {
    kind: Lazy<Option<(u32, UnknownText)>>,
    known: Lazy<KnownCharacters>,
}

/// The characters that are tokens.
#[derive(Debug)]
struct KnownCharacters {
    known: HashSet<char, RandomState>,
    /// Whether `▁` and every character of every token is one.
    are_all: bool,
}

/// What an unknown token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnknownText {
    Piece,
    Character,
    Characters,
}

impl Unknown {
    /// For a model that later calls pass.
    pub fn new() -> Self {
        Self {
            kind: Lazy::new(),
            known: Lazy::new(),
        }
    }

    /// Adds the first of `ids` that spell a part of a piece, with their spans. `None` if they may not spell
    /// it; some are added then.
    pub fn spell(
        &self,
        stages: &Stages,
        piece: &AlignedText,
        part: Range<usize>,
        ids: &[u32],
        found: &mut Vec<Spanned>,
    ) -> Option<()> {
        let text = piece.as_str().as_bytes();
        let mut at = part.start;
        let mut ids = ids.iter();
        while at < part.end {
            tick();
            let &id = ids.next()?;
            let rest = &text[at..part.end];
            let is_first = at == 0;
            let is_last = part.end == text.len();
            let (length, place) = match spelling(stages, id) {
                Spelling::Byte(byte) if rest[0] == byte && !rest.starts_with(b"<0x") => {
                    let start = boundary_before(piece.as_str(), at);
                    let length = piece.as_str()[start..].chars().next()?.len_utf8();
                    (1, start..start + length)
                }
                Spelling::Byte(_) => return None,
                Spelling::Unknown => {
                    let rest = piece.as_str().get(at..part.end)?;
                    let length = self.length(stages, id, rest, is_first && is_last)?;
                    (length, at..at + length)
                }
                Spelling::Text {
                    token,
                    prefix,
                    suffix,
                } => {
                    let token = if is_first {
                        token
                    } else {
                        without_prefix(token, prefix)?
                    };
                    let whole = is_last.then(|| without_suffix(token, suffix)).flatten();
                    let length = match whole {
                        Some(whole) if whole == rest => whole.len(),
                        _ if suffix.is_empty() || token.len() < rest.len() => token.len(),
                        _ => return None,
                    };
                    if length == 0 || !rest.starts_with(&token[..length]) {
                        return None;
                    }
                    (length, at..at + length)
                }
            };
            found.push((id, piece.span_of(place)));
            at += length;
        }
        Some(())
    }

    /// Whether the model may give the same tokens at other places. Between segmentations with equal sums the
    /// text in front decides, and a character of a token that is no token itself may be unknown instead.
    pub fn may_be_elsewhere(&self, model: &Model, tokens: &[Spanned]) -> bool {
        let kind = *self.kind.get(|| unknown_text(model));
        let Some((unk_id, UnknownText::Characters)) = kind else {
            return false;
        };
        let known = || &self.known.get(|| known_characters(model)).known;
        let has_unknown = |&(id, _): &Spanned| {
            let token = model.vocab().token(id).map(String::from_utf8_lossy);
            id != unk_id && token.is_some_and(|it| it.chars().any(|it| !known().contains(&it)))
        };
        tokens.iter().any(|(id, _)| *id == unk_id) && tokens.iter().any(has_unknown)
    }

    /// The length of the text at the front of `rest` that becomes one unknown token, if it is certain.
    /// `rest` is the end of a piece, or with `is_whole` the whole piece; an unknown word is always whole.
    pub fn length(&self, stages: &Stages, id: u32, rest: &str, is_whole: bool) -> Option<usize> {
        let kind = self.kind.get(|| unknown_text(&stages.model));
        let (_, stands_for) = kind.filter(|(unk_id, _)| *unk_id == id)?;
        // Where the text spells the token itself, it could be either.
        let token = stages.model.vocab().token(id)?;
        if rest.as_bytes().starts_with(token) {
            return None;
        }
        if stands_for == UnknownText::Piece {
            return is_whole.then_some(rest.len()).filter(|length| *length > 0);
        }
        let KnownCharacters { known, are_all } = self.known.get(|| known_characters(&stages.model));
        if !are_all {
            return None;
        }
        let mut characters = rest.chars();
        let first = characters.next().filter(|it| !known.contains(it))?;
        if stands_for == UnknownText::Character {
            return Some(first.len_utf8());
        }
        let run = rest.char_indices().find(|(_, it)| known.contains(it));
        let length = run.map_or(rest.len(), |(length, _)| length);
        // A run of unknown characters can spell the token itself only if all of its characters are unknown.
        let token = std::str::from_utf8(token).ok()?;
        let may_spell = !token.chars().any(|it| known.contains(&it));
        (!may_spell || !rest[..length].contains(token)).then_some(length)
    }
}

/// The unknown token and the text that becomes it, if it is an unknown token only.
fn unknown_text(model: &Model) -> Option<(u32, UnknownText)> {
    let of_words = |token: &str| Some((model.vocab().id(token.as_bytes())?, UnknownText::Piece));
    match model {
        Model::WordPiece(words) => of_words(words.unk_token()),
        Model::WordLevel(words) => of_words(words.unk_token()),
        Model::Unigram(unigram) if !unigram.byte_fallback() => {
            Some((unigram.unk_id()?, UnknownText::Characters))
        }
        Model::SentencePiece(pieces) if pieces.byte_ids().is_none() => {
            Some((pieces.unk_id()?, UnknownText::Characters))
        }
        Model::Bpe(bpe) if !bpe.options().byte_fallback && !bpe.options().has_affixes() => {
            let id = model
                .vocab()
                .id(bpe.options().unk_token.as_ref()?.as_bytes())?;
            let MergeRule::Merges(merges) = bpe.rule() else {
                return None;
            };
            let is_merged = merges
                .iter()
                .any(|&(left, right)| left == id || right == id);
            let text = if bpe.options().fuse_unk {
                UnknownText::Characters
            } else {
                UnknownText::Character
            };
            (!is_merged).then_some((id, text))
        }
        _ => None,
    }
}

fn known_characters(model: &Model) -> KnownCharacters {
    let vocab = model.vocab();
    let is_text = |id: u32| match model {
        Model::SentencePiece(pieces) => {
            matches!(pieces.kind(id), PieceKind::Normal | PieceKind::UserDefined)
        }
        _ => !vocab.withheld().contains(id),
    };
    let tokens = vocab.iter().filter(|(_, id)| is_text(*id));
    let mut known = HashSet::default();
    let mut all = HashSet::<char, RandomState>::from_iter([SPACE_MARK]);
    for text in tokens.filter_map(|(token, _)| std::str::from_utf8(token).ok()) {
        let mut characters = text.chars();
        let first = characters.next();
        known.extend(first.filter(|_| characters.next().is_none()));
        all.extend(text.chars());
    }
    let are_all = all.is_subset(&known);
    // A space is written as its mark.
    known.insert(' ');
    KnownCharacters { known, are_all }
}

/// What a token is.
enum Spelling<'v> {
    /// Text. `prefix` marks a token that continues a piece, `suffix` one that ends it.
    Text {
        token: &'v [u8],
        prefix: &'v [u8],
        suffix: &'v [u8],
    },
    Byte(u8),
    Unknown,
}

/// What a token of the model spells, if text becomes it.
fn spelling(stages: &Stages, id: u32) -> Spelling<'_> {
    let model = &stages.model;
    let Some(token) = model.vocab().token(id) else {
        return Spelling::Unknown;
    };
    let (mut prefix, mut suffix) = ("", "");
    let (is_unknown, has_bytes) = match model {
        Model::Bpe(bpe) => {
            let options = bpe.options();
            prefix = options
                .continuing_subword_prefix
                .as_deref()
                .unwrap_or_default();
            suffix = options.end_of_word_suffix.as_deref().unwrap_or_default();
            let unk_token = options.unk_token.as_deref();
            let is_unknown = unk_token.is_some_and(|it| it.as_bytes() == token);
            (is_unknown || options.separate_suffix, options.byte_fallback)
        }
        Model::Characters(characters) => (characters.unk_id() == Some(id), false),
        // The tokens of the bytes of a character, or of several, all have the span of all of them.
        Model::Unigram(unigram) => {
            let is_byte = unigram.byte_fallback() && byte_of_token(token).is_some();
            (unigram.unk_id() == Some(id) || is_byte, false)
        }
        Model::SentencePiece(model) => match model.kind(id) {
            PieceKind::Byte => (false, true),
            PieceKind::Normal | PieceKind::UserDefined => (false, false),
            _ => (true, false),
        },
        Model::LongestMatch(_) | Model::PickyBpe(_) | Model::Superwords(_) => (false, false),
        Model::WordLevel(model) => (model.unk_token().as_bytes() == token, false),
        Model::WordPiece(model) => {
            prefix = model.continuing_subword_prefix();
            (model.unk_token().as_bytes() == token, false)
        }
    };
    if is_unknown {
        return Spelling::Unknown;
    }
    if has_bytes && let Some(byte) = byte_of_token(token) {
        return Spelling::Byte(byte);
    }
    Spelling::Text {
        token,
        prefix: prefix.as_bytes(),
        suffix: suffix.as_bytes(),
    }
}

/// A token without the mark of one that continues a piece. Most models have none, and to compare a token
/// with an empty slice is slow on a processor with AVX-512 (`docs/experiments.md`): the pointer of such a
/// slice leads nowhere, and a masked load from there is left to microcode.
#[inline(always)]
fn without_prefix<'v>(token: &'v [u8], prefix: &[u8]) -> Option<&'v [u8]> {
    if prefix.is_empty() {
        return Some(token);
    }
    token.strip_prefix(prefix)
}

/// A token without the mark of one that ends a piece, as [`without_prefix`].
#[inline(always)]
fn without_suffix<'v>(token: &'v [u8], suffix: &[u8]) -> Option<&'v [u8]> {
    if suffix.is_empty() {
        return Some(token);
    }
    token.strip_suffix(suffix)
}
