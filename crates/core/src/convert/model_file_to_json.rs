//! A SentencePiece model as a `tokenizer.json`, where the meaning can be kept.
//!
//! Look here for why a conversion is refused. Models of merges and of characters have a counterpart
//! in `tokenizer.json`; whole words do not, since there neighbouring unknown words do not become one
//! token. Unigram and character maps have a near counterpart: see [`super::approximate`].
//!
//! The converted tokenizer is compared with the original, on texts made of the pieces: ids must be
//! equal, and so must the decoded texts, as long as the text has no `▁` of its own.
//! A control piece decodes to its name, unless special tokens are skipped.

use std::collections::HashMap;

use super::verify::verify;
use jeton_formats::cannot_hold::{TOKENIZER_JSON, cannot_hold};
use jeton_formats::huggingface::shortest;
use jeton_models::model::bpe::{Alphabet, BpeOptions};
use jeton_models::model::sentencepiece::spec::{Algorithm, ModelProto, Piece, PieceKind};
use jeton_models::model::{Bpe, Model, SentencePiece, Unigram};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::{Decoder, LeadingSpaces, SentencePieceDecoder};
use jeton_stages::normalizer::{
    Charsmap, Normalizer, SPACE_RUNS, SentencePieceNormalizer, WhiteSpace,
};
use jeton_stages::pre_tokenizer::{PreTokenizer, PrependScheme};
use jeton_text::error::{Error, Result};
use jeton_text::interrupt::tick;
use jeton_text::pattern::{Dialect, Regex, SearchPattern};
use jeton_text::text::AlignedText;

/// Bytes above which a piece is refused, so that finding its parts takes bounded time. SentencePiece's
/// own have at most 16 characters unless set otherwise.
const LONGEST_PIECE: usize = 1024;

/// The stages of a `tokenizer.json` that mean what these stages of a `.model` file do.
///
/// # Errors
/// What cannot be kept, by name; a text that would be encoded or decoded otherwise.
pub fn to_huggingface(stages: &Stages) -> Result<Stages> {
    let converted = convert(stages, Exactness::Exact).map_err(|error| {
        error.hint(match convert(stages, Exactness::Near) {
            Ok(_) => {
                "save it as .model, which holds everything, or save its approximation: \
                 Tokenizer.approximation in Python, --approximate on the command line"
            }
            Err(_) => "save it as .model, which holds everything",
        })
    })?;
    verify(stages, &converted, None)?;
    Ok(converted)
}

/// Whether a conversion must keep the meaning of every text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exactness {
    /// Of every text.
    Exact,
    /// But for the few texts that [`super::approximate`] explains.
    Near,
}

fn not_in_json(what: impl std::fmt::Display) -> Error {
    cannot_hold(TOKENIZER_JSON, what)
}

pub(super) fn convert(stages: &Stages, exactness: Exactness) -> Result<Stages> {
    stages.ask_for_room(1536);
    let (Model::SentencePiece(model), Some(Normalizer::SentencePiece(normalizer))) =
        (&stages.model, &stages.normalizer)
    else {
        return Err(not_in_json(
            "a SentencePiece model without SentencePiece's normalizer",
        ));
    };
    let Some(Decoder::SentencePiece(decoder)) = &stages.decoder else {
        return Err(not_in_json(
            "a SentencePiece model without SentencePiece's decoder",
        ));
    };
    if let Some(piece) = model.twin() {
        return Err(not_in_json(format!(
            "two pieces that are spelled {piece:?}, one of text and one that text never becomes"
        )));
    }
    let converted = match (model.proto().trainer().algorithm, exactness) {
        (Algorithm::Unigram, Exactness::Near) => Model::Unigram(convert_unigram(model)?),
        _ => Model::Bpe(convert_model(model)?),
    };
    let mut added_tokens = stages.added_tokens.clone();
    // Pieces of a Unigram model are chosen by their scores there.
    let user_defined = match &converted {
        Model::Bpe(_) => normalizer.user_defined(),
        _ => &[],
    };
    let (converted_normalizer, prefix) = convert_normalizer(normalizer, user_defined, exactness)?;
    if !user_defined.is_empty() {
        added_tokens.extend(added_pieces(model, converted_normalizer.as_ref())?);
    }
    added_tokens.sort_by_key(|token| token.id);
    Ok(Stages {
        added_tokens,
        normalizer: converted_normalizer,
        pre_tokenizer: match (prefix, &stages.pre_tokenizer) {
            (Some(prefix), Some(other)) => {
                Some(PreTokenizer::Sequence(vec![prefix, other.clone()]))
            }
            (prefix, other) => prefix.or_else(|| other.clone()),
        },
        model: converted,
        post_processor: stages.post_processor.clone(),
        decoder: Some(convert_decoder(decoder)?),
        truncation: stages.truncation.clone(),
        padding: stages.padding.clone(),
    })
}

/// User-defined pieces as added tokens, which are split off from normalized text as these are.
fn added_pieces(model: &SentencePiece, normalizer: Option<&Normalizer>) -> Result<Vec<AddedToken>> {
    let pieces = model.proto().pieces.of_kind(PieceKind::UserDefined);
    let token = |(piece, id): (Piece<&str>, u32)| {
        let mut text = AlignedText::original(piece.text);
        normalizer.map_or(Ok(()), |it| it.normalize(&mut text))?;
        if text.as_str() != piece.text {
            return Err(not_in_json(format!(
                "the user-defined piece {:?}: there, it would be looked for as {:?}",
                piece.text,
                text.as_str()
            )));
        }
        Ok(AddedToken {
            normalized: true,
            ..AddedToken::plain(id, piece.text)
        })
    };
    pieces.map(token).collect()
}

fn convert_normalizer(
    normalizer: &SentencePieceNormalizer,
    user_defined: &[String],
    exactness: Exactness,
) -> Result<NormalizerAndPrefix> {
    if normalizer.charsmap().is_some() && exactness == Exactness::Exact {
        return Err(not_in_json(
            "the character map: there, what replaces a character replaces the marks after it, too",
        ));
    }
    let white_space = normalizer.white_space();
    if white_space.suffix && white_space.add_dummy_prefix {
        return Err(not_in_json("a space that is put at the end of the text"));
    }
    if let Some(piece) = user_defined.first()
        && (white_space.add_dummy_prefix || white_space.remove_extra)
        && exactness == Exactness::Exact
    {
        return Err(not_in_json(format!(
            "the user-defined piece {piece:?}: a text that begins with it gets no space in front"
        )));
    }
    before_model(normalizer.charsmap(), white_space, user_defined)
}

/// A normalizer, and the pre-tokenizer that puts a `▁` in front of the text only.
pub(super) type NormalizerAndPrefix = (Option<Normalizer>, Option<PreTokenizer>);

/// What `tokenizer.json` has for a character map, these rules of white space, and pieces that are
/// split off from normalized text.
///
/// A normalizer there knows no text, only the stretches between special tokens. So what is put in front
/// of the text alone is a pre-tokenizer's, and spaces are removed at the ends of each stretch.
///
/// A piece that is split off is looked for by its normalized spelling, so a space that a normalizer puts in
/// front of each stretch must not be put in front of it: of a stretch that is the piece and nothing else,
/// it is taken away.
pub(super) fn before_model(
    charsmap: Option<&Charsmap>,
    white_space: WhiteSpace,
    cut_out: &[String],
) -> Result<NormalizerAndPrefix> {
    let space = if white_space.escape { "▁" } else { " " };
    let replace = |pattern, content: &str| Normalizer::Replace {
        pattern,
        content: content.to_owned(),
    };
    let regex = |source: &str| Regex::new(source, Dialect::Oniguruma).map(SearchPattern::Regex);
    let charsmap = charsmap.cloned().map(Normalizer::Precompiled);
    let mut steps = Vec::from_iter(charsmap);
    let in_front_alone = white_space.add_dummy_prefix && !white_space.legacy;
    if white_space.remove_extra {
        // The space in front of a text is its dummy prefix, of which there is one.
        let ends = match (white_space.escape, in_front_alone) {
            (true, false) => r"\A +|[ ▁]+\z",
            (false, false) => r"\A +| +\z",
            (true, true) => r"[ ▁]+\z",
            (false, true) => r" +\z",
        };
        steps.push(replace(regex(ends)?, ""));
        steps.push(replace(regex(SPACE_RUNS)?, " "));
    }
    if white_space.add_dummy_prefix && white_space.legacy {
        steps.push(Normalizer::Prepend {
            prefix: space.to_owned(),
        });
        if !cut_out.is_empty() {
            let pieces: Vec<String> = cut_out.iter().map(|it| regex_syntax::escape(it)).collect();
            let alone = format!(r"\A{space}(?=(?:{})\z)", pieces.join("|"));
            steps.push(replace(regex(&alone)?, ""));
        }
    }
    if white_space.escape && !(in_front_alone && white_space.remove_extra) {
        steps.push(replace(SearchPattern::Literal(" ".to_owned()), space));
    }
    let prefix = if white_space.escape {
        PreTokenizer::dummy_prefix()
    } else {
        PreTokenizer::Metaspace {
            replacement: ' ',
            prepend_scheme: PrependScheme::First,
            split: false,
        }
    };
    Ok((
        (!steps.is_empty()).then_some(Normalizer::Sequence(steps)),
        in_front_alone.then_some(prefix),
    ))
}

fn convert_decoder(decoder: &SentencePieceDecoder) -> Result<Decoder> {
    if decoder.denormalizer.is_some() {
        return Err(not_in_json(
            "the character map that decoded text goes through",
        ));
    }
    let replace = |pattern: &str, content: &str| Decoder::Replace {
        pattern: SearchPattern::Literal(pattern.to_owned()),
        content: content.to_owned(),
    };
    let mut steps = Vec::new();
    // With bytes, no text becomes the unknown piece.
    if let Some((unknown, surface)) = &decoder.unknown
        && !decoder.bytes
        && surface != unknown
    {
        steps.push(replace(unknown, surface));
    }
    steps.push(replace("▁", " "));
    if decoder.bytes {
        steps.push(Decoder::ByteFallback);
    }
    steps.push(Decoder::Fuse);
    if decoder.leading_spaces != LeadingSpaces::Keep {
        steps.push(Decoder::Strip {
            content: ' ',
            start: 1,
            stop: 0,
        });
    }
    Ok(Decoder::Sequence(steps))
}

fn convert_model(model: &SentencePiece) -> Result<Bpe> {
    let proto = model.proto();
    let merges = match proto.trainer().algorithm {
        Algorithm::Bpe => derive_merges(proto)?,
        Algorithm::Char => Vec::new(),
        Algorithm::Word => {
            return Err(not_in_json(
                "a model of whole words in which neighbouring unknown words are one token",
            ));
        }
        Algorithm::Unigram => {
            return Err(not_in_json(
                "this Unigram model: there, scores are summed in 64 bits and not in 32, and \
                 control and byte pieces are found in text",
            ));
        }
    };
    for piece in proto.pieces.iter() {
        let found_in_text = matches!(piece.kind, PieceKind::Normal | PieceKind::UserDefined);
        if !found_in_text && piece.text.chars().nth(1).is_none() {
            return Err(not_in_json(format!(
                "the piece {:?}, a character that text never becomes",
                piece.text
            )));
        }
    }
    let options = BpeOptions {
        alphabet: Alphabet::Characters,
        unk_token: proto
            .pieces
            .iter()
            .find(|piece| piece.kind == PieceKind::Unknown)
            .map(|piece| piece.text.to_owned()),
        fuse_unk: true,
        byte_fallback: proto.trainer().byte_fallback,
        ..BpeOptions::default()
    };
    Bpe::by_merges(model.vocab().clone(), merges, options)
}

/// A Unigram model that differs in rounding, and in text that spells control and byte pieces: these
/// have the lowest score, so that they are the last resort.
fn convert_unigram(model: &SentencePiece) -> Result<Unigram> {
    // Few digits, which every reader of JSON reads alike.
    let decimal = |score| shortest(score).unwrap_or(f64::from(score));
    let lowest = decimal(model.min_score());
    let mut unk_id = None;
    let mut pieces = Vec::new();
    for (piece, id) in model.proto().pieces.iter().zip(0..) {
        let score = match piece.kind {
            PieceKind::Normal => decimal(piece.score),
            PieceKind::UserDefined => decimal(SentencePiece::bonus(piece.text.len())),
            PieceKind::Control | PieceKind::Byte => lowest,
            PieceKind::Unknown => {
                unk_id = Some(id);
                lowest
            }
            PieceKind::Unused => {
                return Err(not_in_json(format!(
                    "the unused piece {:?}, which text never becomes",
                    piece.text
                )));
            }
        };
        pieces.push((piece.text, score));
    }
    if unk_id.is_none() {
        return Err(not_in_json("a Unigram model without an unknown piece"));
    }
    if lowest > 0.0 {
        return Err(not_in_json("scores that are all above zero"));
    }
    Unigram::new(pieces, unk_id, model.proto().trainer().byte_fallback)
}

/// All pairs of pieces that make a piece: the best piece first, and the longest left part first.
fn derive_merges(proto: &ModelProto) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let of_kind = |kind: PieceKind| proto.pieces.iter().filter(move |piece| piece.kind == kind);
    if let Some(piece) = of_kind(PieceKind::Unused).next() {
        return Err(not_in_json(format!(
            "the unused piece {:?}, which is merged and split again",
            piece.text
        )));
    }
    let ids: HashMap<&str, usize> = of_kind(PieceKind::Normal)
        .map(|piece| piece.text)
        .zip(0..)
        .collect();
    let mut made = Vec::new();
    for piece in of_kind(PieceKind::Normal) {
        tick();
        let text = piece.text;
        if text.chars().nth(1).is_none() {
            continue;
        }
        if text.len() > LONGEST_PIECE {
            return Err(not_in_json(format!("a piece of {} bytes", text.len())));
        }
        let mut buffer = [0; 4];
        if let Some(alone) = text
            .chars()
            .find(|character| !ids.contains_key(&*character.encode_utf8(&mut buffer)))
        {
            return Err(not_in_json(format!(
                "the piece {text:?}: it contains {alone:?}, which is not a piece"
            )));
        }
        let pairs: Vec<(&str, &str)> = text
            .char_indices()
            .skip(1)
            .map(|(at, _)| text.split_at(at))
            .filter(|(left, right)| ids.contains_key(left) && ids.contains_key(right))
            .collect();
        if !pairs.is_empty() {
            made.push((piece, pairs));
        }
    }
    made.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));
    let mut merges = Vec::new();
    for equals in made.chunk_by(|(a, _), (b, _)| a.score == b.score) {
        check_equals(equals.iter().map(|(piece, _)| *piece))?;
        let mut pairs: Vec<_> = equals.iter().flat_map(|(_, pairs)| pairs.clone()).collect();
        let length = |text: &str| std::cmp::Reverse(text.chars().count());
        pairs.sort_by_key(|(left, right)| (length(left), length(right)));
        merges.extend(
            pairs
                .iter()
                .map(|(left, right)| ((*left).into(), (*right).into())),
        );
    }
    Ok(merges)
}

/// Refuses pieces of equal scores, of which the leftmost is merged first, unless all of them repeat
/// one character: then it does not matter as long as the longest left parts come first, since a run
/// grows from its front either way.
fn check_equals<'p>(mut pieces: impl Iterator<Item = Piece<&'p str>>) -> Result<()> {
    let Some(first) = pieces.next() else {
        return Ok(());
    };
    let repeated = first.text.chars().next();
    let is_run = |piece: &Piece<&str>| piece.text.chars().all(|c| Some(c) == repeated);
    match pieces.find(|piece| !is_run(&first) || !is_run(piece)) {
        None => Ok(()),
        Some(other) => Err(not_in_json(format!(
            "the equal scores of {:?} and {:?}, of which the leftmost is merged first",
            first.text, other.text
        ))),
    }
}
