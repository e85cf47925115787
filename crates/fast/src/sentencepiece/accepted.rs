//! Which SentencePiece models the fast path accepts: those in which no token and no step of the normalizer
//! crosses the border between a word and the space before the next.

use super::SPACE;
use jeton_models::model;
use jeton_models::model::sentencepiece::spec::{Algorithm, Piece, PieceKind, Pieces};
use jeton_stages::normalizer::SentencePieceNormalizer;

/// Checks that what a normalizer makes of text before a space does not depend on what follows.
pub(super) fn check_normalizer(
    normalizer: &SentencePieceNormalizer,
) -> std::result::Result<(), &'static str> {
    let white_space = normalizer.white_space();
    if !white_space.escape {
        return Err("leaves spaces as they are (escape_whitespaces)");
    }
    if white_space.suffix {
        return Err("puts a space after a text (treat_whitespace_as_suffix)");
    }
    if white_space.remove_extra && !white_space.add_dummy_prefix {
        return Err("removes spaces in front and puts none there (add_dummy_prefix)");
    }
    if (normalizer.user_defined().iter()).any(|piece| piece.contains([' ', '▁'])) {
        Err("keeps a user-defined piece that has a space")
    } else {
        Ok(())
    }
}

/// Checks that no token of a model may lie on both sides of a space.
pub(super) fn check_model(model: &model::SentencePiece) -> std::result::Result<(), &'static str> {
    let pieces = &model.proto().pieces;
    let algorithm = model.proto().trainer().algorithm;
    if !matches!(algorithm, Algorithm::Bpe | Algorithm::Unigram) {
        return Err("of words or characters");
    }
    // Which parts an unused piece falls into depends on where it was made last.
    if algorithm == Algorithm::Bpe && pieces.of_kind(PieceKind::Unused).next().is_some() {
        return Err("BPE with unused pieces");
    }
    if spans_a_cut(pieces) {
        return Err("has a piece with a space after something else");
    }
    if (pieces.of_kind(PieceKind::UserDefined)).any(|(piece, _)| piece.text.contains('▁')) {
        Err("has a user-defined piece with a space")
    } else {
        Ok(())
    }
}

/// The pieces that text may consist of, unused ones included.
pub(super) fn texts_of(pieces: &Pieces) -> impl Iterator<Item = Piece<&str>> {
    use PieceKind::{Normal, Unused, UserDefined};
    (pieces.iter()).filter(|piece| matches!(piece.kind, Normal | Unused | UserDefined))
}

/// Whether text that becomes a piece may lie on both sides of a place where chunks are split: a space
/// after anything but a space.
fn spans_a_cut(pieces: &Pieces) -> bool {
    // Mostly, all pieces together have no more spaces than are in front of one.
    let texts = pieces.texts().as_bytes();
    let [a, b, c] = *SPACE.as_bytes() else {
        return true;
    };
    // Counted in bytes, of which a processor adds many at once.
    let spaces = |part: &[u8]| {
        let places = part.iter().zip(&part[1..]).zip(&part[2..]);
        let spaces = places.map(|((x, y), z)| u8::from((*x == a) & (*y == b) & (*z == c)));
        usize::from(spaces.sum::<u8>())
    };
    let last = SPACE.len() - 1;
    let parts = (0..texts.len().saturating_sub(last)).step_by(usize::from(u8::MAX));
    let ends = |at: usize| texts.len().min(at + usize::from(u8::MAX) + last);
    let spaces: usize = parts.map(|at| spaces(&texts[at..ends(at)])).sum();
    let mut start = 0;
    let mut in_front = 0;
    for &end in pieces.ends() {
        while start < end && texts[start..].starts_with(SPACE.as_bytes()) {
            start += SPACE.len();
            in_front += 1;
        }
        start = end;
    }
    (in_front != spaces || texts.contains(&b' '))
        && texts_of(pieces).any(|piece| behind_spaces(piece.text).contains(['▁', ' ']))
}

/// What of a piece follows the spaces in front.
fn behind_spaces(mut piece: &str) -> &str {
    while let Some(behind) = piece.strip_prefix(SPACE) {
        piece = behind;
    }
    piece
}
