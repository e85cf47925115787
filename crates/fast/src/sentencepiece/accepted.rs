//! Which SentencePiece models the fast path accepts: those in which no token and no step of the normalizer
//! crosses the border between a word and the space before the next.

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
    // Chunks are split before a space that follows anything but a space.
    let spans_a_cut = |piece: Piece<&str>| {
        let behind_spaces = piece.text.trim_start_matches('▁');
        behind_spaces.contains(['▁', ' '])
    };
    if texts_of(pieces).any(spans_a_cut) {
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
