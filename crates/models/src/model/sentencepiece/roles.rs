//! What the pieces of a model are for: text, bytes, unknown text; and how they are looked up.

use std::collections::HashMap;

use super::spec::{Algorithm, ModelProto, Piece, PieceKind};
use crate::model::token::{byte_of_token, byte_token};
use jeton_stages::tables::trie::Trie;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// What the pieces of each kind are for.
#[derive(Clone)]
pub struct Roles {
    /// The pieces that text may consist of, unused ones included; for Unigram alone.
    pub trie: Trie,
    /// The pieces that are matched before any other.
    pub user_defined: Trie,
    pub has_user_defined: bool,
    pub unk_id: Option<u32>,
    /// The pieces of the 256 bytes, where unknown text is written as bytes.
    pub byte_ids: Option<Vec<u32>>,
    /// The lowest score of a piece that text may become.
    pub min_score: f32,
}

impl Roles {
    pub fn of(proto: &ModelProto) -> Result<Self> {
        let pieces = &proto.pieces;
        let mut user_defined = Vec::new();
        let mut bytes = HashMap::new();
        let mut unk_id = None;
        let holds_nul = pieces.texts().as_bytes().contains(&0);
        let ends = pieces.ends();
        let is_one_empty = ends.first() == Some(&0) || ends.windows(2).any(|it| it[0] == it[1]);
        // Of normal pieces there is nothing else to be said.
        let checked = if holds_nul || is_one_empty {
            (0..pieces.len() as u32).collect()
        } else {
            pieces.others().to_vec()
        };
        for (piece, id) in checked
            .into_iter()
            .filter_map(|id| Some((pieces.get(id)?, id)))
        {
            let text = piece.text.as_bytes();
            let broken = |message: String| {
                Err(Error::new(ErrorKind::Format, message).at(format!("piece {id}")))
            };
            if text.is_empty() {
                return broken("it is empty".to_owned());
            }
            if holds_nul && text.contains(&0) {
                return broken(format!("{} holds a NUL", show(text)));
            }
            match piece.kind {
                PieceKind::Normal | PieceKind::Unused | PieceKind::Control => {}
                PieceKind::UserDefined => user_defined.push((text, id)),
                PieceKind::Unknown => {
                    if let Some(other) = unk_id.replace(id) {
                        return broken(format!(
                            "{} is a second unknown piece, after piece {other}",
                            show(text)
                        ));
                    }
                }
                PieceKind::Byte if !proto.trainer().byte_fallback => {
                    return broken(format!(
                        "{} is a byte, but byte_fallback is off",
                        show(text)
                    ));
                }
                PieceKind::Byte => {
                    let Some(byte) = byte_of_token(text) else {
                        return broken(format!("{} is no byte", show(text)));
                    };
                    bytes.insert(byte, id);
                }
            }
        }
        let broken = |message: &str| Err(Error::new(ErrorKind::Format, message));
        let byte_ids = if proto.trainer().byte_fallback {
            Some(all_bytes(&bytes)?)
        } else {
            None
        };
        if unk_id.is_none() && byte_ids.is_none() {
            return broken("there is no unknown piece");
        }
        let is_unigram = proto.trainer().algorithm == Algorithm::Unigram;
        if is_unigram && !pieces.kinds().iter().any(|kind| is_text(*kind)) {
            return broken("there are no pieces of text");
        }
        let scores = pieces.kinds().iter().zip(pieces.scores());
        let normal = scores.filter(|(kind, _)| **kind == PieceKind::Normal);
        Ok(Self {
            trie: if is_unigram {
                Trie::new(texts(proto).map(|(piece, id)| (piece.text.as_bytes(), id)))
            } else {
                Trie::default()
            },
            has_user_defined: !user_defined.is_empty(),
            user_defined: Trie::new(user_defined),
            unk_id,
            byte_ids,
            min_score: normal.fold(f32::MAX, |least, (_, score)| least.min(*score)),
        })
    }
}

/// Whether text may become a piece of this kind, unless the piece is withheld.
pub fn is_text(kind: PieceKind) -> bool {
    use PieceKind::{Normal, Unused, UserDefined};
    matches!(kind, Normal | UserDefined | Unused)
}

/// The pieces that text may become, withheld ones too, with their ids.
fn texts(proto: &ModelProto) -> impl Iterator<Item = (Piece<&str>, u32)> {
    let pieces = proto.pieces.iter().zip(0..);
    pieces.filter(|(piece, _)| is_text(piece.kind))
}

/// The vocabulary. Pieces of text may be spelled as the others are, but for BPE; apart from that,
/// each spelling has one piece.
pub fn vocab_of(proto: &ModelProto) -> Result<(Vocab, Vocab)> {
    let pieces = &proto.pieces;
    if let Some(vocab) = Vocab::of_ends(pieces.texts().as_bytes().to_vec(), pieces.ends()) {
        return Ok((vocab, Vocab::default()));
    }
    let all = pieces.iter().zip(0..);
    let spelled = |(piece, id): (Piece<&'_ str>, u32)| (piece.text.to_owned(), id);
    let error = match Vocab::new(all.clone().map(spelled)) {
        Ok(vocab) => return Ok((vocab, Vocab::default())),
        Err(error) => error,
    };
    if proto.trainer().algorithm == Algorithm::Bpe {
        return Err(error);
    }
    let others = || all.clone().filter(|(piece, _)| !is_text(piece.kind));
    Vocab::new(texts(proto).map(spelled))?;
    Vocab::new(others().map(spelled))?;
    let vocab = Vocab::of_list(texts(proto).chain(others()).map(spelled))?;
    let twins = texts(proto).filter(|(piece, id)| vocab.id(piece.text.as_bytes()) != Some(*id));
    let twins = Vocab::new(twins.map(|(piece, id)| ([b"\0", piece.text.as_bytes()].concat(), id)))?;
    Ok((vocab, twins))
}

/// The pieces of all 256 bytes.
fn all_bytes(ids: &HashMap<u8, u32>) -> Result<Vec<u32>> {
    (0..=u8::MAX)
        .map(|byte| {
            ids.get(&byte).copied().ok_or_else(|| {
                let name = show(&byte_token(byte));
                Error::new(
                    ErrorKind::Format,
                    format!("byte_fallback is on, but there is no piece {name}"),
                )
            })
        })
        .collect()
}
