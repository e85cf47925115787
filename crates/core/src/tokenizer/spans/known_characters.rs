//! Which characters are tokens by themselves: the text of an unknown token ends where one of them begins.

use jeton_models::model::Model;
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::sentencepiece::spec::PieceKind;
use jeton_stages::normalizer::CharacterSet;
use jeton_stages::split::safe_cuts::decode;
use jeton_text::interrupt::{Pace, paced};
use jeton_text::text::Unit;

use super::mark::MARK;
use super::ruler::At;

/// The characters that are tokens.
#[derive(Debug)]
pub struct Known {
    characters: CharacterSet,
    /// Each character of each token is one, and `▁` is: then no token goes on with one that is none.
    is_closed: bool,
}

/// The token that stands for a run of characters that are no tokens, where each character of a token is
/// one.
#[derive(Clone, Copy)]
pub struct UnknownRun<'k> {
    pub id: u32,
    known: &'k Known,
}

/// The token that stands for characters that have no piece.
#[derive(Clone, Copy, Debug)]
pub struct UnknownToken {
    pub id: u32,
    /// Neighbours are one token.
    pub fuses: bool,
}

impl UnknownToken {
    /// That of a model which writes none as bytes and makes nothing else of the token.
    pub fn of(model: &Model) -> Option<Self> {
        match model {
            Model::Unigram(unigram) => Some(Self {
                id: unigram.unk_id()?,
                fuses: true,
            }),
            Model::Bpe(bpe) if !bpe.options().byte_fallback => {
                let id = bpe
                    .vocab()
                    .id(bpe.options().unk_token.as_ref()?.as_bytes())?;
                let MergeRule::Merges(merges) = bpe.rule() else {
                    return None;
                };
                let is_merged = |&(left, right): &(u32, u32)| left == id || right == id;
                (!merges.iter().any(is_merged)).then_some(Self {
                    id,
                    fuses: bpe.options().fuse_unk,
                })
            }
            _ => None,
        }
    }
}

impl Known {
    /// Those of a model.
    pub fn new(model: &Model) -> Self {
        let vocab = model.vocab();
        let texts = || {
            let tokens = vocab.iter().filter(|(_, id)| is_text(model, *id));
            paced(tokens).filter_map(|(token, _)| std::str::from_utf8(token).ok())
        };
        let mut characters = CharacterSet::default();
        for mut text in texts().map(str::chars) {
            if let (Some(only), None) = (text.next(), text.next()) {
                characters.add(only.into(), true);
            }
        }
        let mut all = texts().flat_map(str::chars).chain([MARK]);
        let is_closed = all.all(|c| is_known(&characters, model, c));
        Self {
            characters,
            is_closed,
        }
    }

    /// Whether a character is a token.
    pub fn has(&self, model: &Model, character: char) -> bool {
        is_known(&self.characters, model, character)
    }

    /// The unknown token, if it is certain where what it stands for ends.
    pub fn unknown(&self, id: u32) -> Option<UnknownRun<'_>> {
        self.is_closed.then_some(UnknownRun { id, known: self })
    }
}

impl UnknownRun<'_> {
    /// Where the run of characters that are no tokens ends which begins at this place, or goes on at
    /// `end`. A space ends it.
    #[inline]
    pub fn end(&self, text: &[u8], at: At, end: usize, unit: Unit) -> Option<At> {
        let text = &text[..end];
        let (mut next, mut units) = (at.byte, at.units);
        let mut pace = Pace::default();
        while let Some(b'!'..) = text.get(next) {
            pace.step();
            let (character, length) = decode(text, next);
            if self.known.characters.may_have(character) {
                if !CharacterSet::tells(character) {
                    return None;
                }
                break;
            }
            next += length;
            units += unit.of_length(length);
        }
        (next > at.byte).then_some(At { byte: next, units })
    }
}

fn is_known(characters: &CharacterSet, model: &Model, character: char) -> bool {
    let id = || {
        let mut bytes = [0; 4];
        model
            .vocab()
            .text_id(character.encode_utf8(&mut bytes).as_bytes())
    };
    characters.may_have(character.into())
        && (CharacterSet::tells(character.into()) || id().is_some_and(|id| is_text(model, id)))
}

/// Whether text may become this token.
fn is_text(model: &Model, id: u32) -> bool {
    match model {
        Model::SentencePiece(model) => {
            matches!(model.kind(id), PieceKind::Normal | PieceKind::UserDefined)
        }
        _ => !model.vocab().withheld().contains(id),
    }
}
