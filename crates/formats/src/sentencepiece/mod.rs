//! SentencePiece `.model` files: read and written without protobuf.
//!
//! Everything that changes behaviour is in the file, possibly with a self-test. A tokenizer that was
//! read from a file is written again byte for byte.
//!
//! Text never becomes a control piece such as `</s>`, as in SentencePiece, unless the caller allows
//! special tokens. What happens at the ends of a text happens only there, not next to special tokens:
//! a dummy prefix in front of a text, and spaces removed at both ends.

mod interface;

use crate::cannot_hold::{Part, parts_not_held};
use jeton_models::model::{Model, Sampler, Sampling, SentencePiece};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::{Decoder, LeadingSpaces, SentencePieceDecoder};
use jeton_stages::normalizer::{Charsmap, Normalizer, SentencePieceNormalizer, WhiteSpace};
use jeton_stages::vocab::show;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::threads::{LARGE, both};

pub use interface::{DecodedPiece, IdOrPiece, ReadPath, ReadPiece, Reader, Samples};
use jeton_models::model::sentencepiece::spec::{ModelProto, NormalizerSpec, PieceKind};

/// The stages of a tokenizer that a file describes.
///
/// # Errors
/// Bytes that are no such file; pieces that contradict each other; a broken character map.
pub fn read(file: &[u8]) -> Result<Stages> {
    let proto = ModelProto::read(file)?;
    let is_whole = proto.has_trainer() && proto.has_normalizer();
    stages(proto).map_err(|error| {
        if is_whole {
            error
        } else {
            error.hint(
                "after the pieces there should be a trainer_spec and a normalizer_spec: the file \
             seems to be cut, take it again from where it came",
            )
        }
    })
}

/// What about a file that was read suggests that it is not whole, though SentencePiece reads it.
pub fn warnings(stages: &Stages) -> Vec<String> {
    let Model::SentencePiece(model) = &stages.model else {
        return Vec::new();
    };
    let proto = model.proto();
    let missing = match (proto.has_trainer(), proto.has_normalizer()) {
        (true, true) => None,
        (false, true) => Some("trainer_spec"),
        (true, false) => Some("normalizer_spec"),
        (false, false) => Some("trainer_spec and no normalizer_spec"),
    };
    let mut warnings = Vec::new();
    warnings.extend(missing.map(|what| {
        format!(
            "there is no {what} after the pieces, as if the file had been cut; what it does not \
             say is as SentencePiece has it by default"
        )
    }));
    let pieces = proto.pieces.len();
    if let Some(size) = proto.stated_size()
        && size > pieces as u64
    {
        warnings.push(format!(
            "trainer_spec says that there are {size} pieces, and the file holds {pieces}"
        ));
    }
    warnings.extend(failed_self_test(stages, model));
    warnings
}

/// The stages that a file means.
///
/// # Errors
/// Pieces that contradict each other; a broken character map.
pub fn stages(proto: ModelProto) -> Result<Stages> {
    let texts = |kind: PieceKind| {
        let of_kind = proto.pieces.of_kind(kind);
        of_kind.map(|(piece, _)| piece.text.to_owned())
    };
    let user_defined = texts(PieceKind::UserDefined).collect();
    let spec = proto.normalizer().clone();
    let suffix = proto.trainer().treat_whitespace_as_suffix;
    let unknown = texts(PieceKind::Unknown).next();
    let unknown = unknown.map(|text| (text, proto.trainer().unk_surface.clone()));
    let mut decoder = SentencePieceDecoder {
        unknown,
        bytes: proto.trainer().byte_fallback,
        leading_spaces: match (spec.remove_extra_whitespaces, spec.add_dummy_prefix) {
            (true, _) => LeadingSpaces::DropAll,
            (false, true) => LeadingSpaces::DropOne,
            (false, false) => LeadingSpaces::Keep,
        },
        denormalizer: None,
    };
    let added_tokens = (proto.pieces.of_kind(PieceKind::Control))
        .map(|(piece, id)| AddedToken::special(id, piece.text))
        .collect();
    let respec = proto.denormalizer().cloned().unwrap_or_default();
    let maps = [&spec, &respec].map(|spec| spec.precompiled_charsmap.len());
    let ((normalizer, denormalizer), model) = both(
        maps.iter().sum::<usize>() >= LARGE && proto.pieces.len() >= LARGE,
        || {
            let denormalizer = !respec.precompiled_charsmap.is_empty();
            (
                normalizer(&spec, suffix, user_defined),
                denormalizer.then(|| self::normalizer(&respec, false, Vec::new())),
            )
        },
        || SentencePiece::new(proto),
    );
    let normalizer = normalizer.map_err(|error| error.at("normalizer_spec"))?;
    decoder.denormalizer = denormalizer
        .transpose()
        .map_err(|error| error.at("denormalizer_spec"))?;
    Ok(Stages {
        added_tokens,
        normalizer: Some(Normalizer::SentencePiece(normalizer)),
        pre_tokenizer: None,
        model: Model::SentencePiece(model?),
        post_processor: None,
        decoder: Some(Decoder::SentencePiece(decoder)),
        truncation: None,
        padding: None,
    })
}

/// Completes stages around a SentencePiece model with what its file says: the normalizer and the
/// decoder where none is given, and the control pieces. Stages around another model are left as
/// they are.
///
/// # Errors
/// A file whose stages cannot be built.
pub fn complete(stages: &mut Stages) -> Result<()> {
    let Model::SentencePiece(model) = &stages.model else {
        return Ok(());
    };
    let own = self::stages(model.proto().clone())?;
    if stages.normalizer.is_none() {
        stages.normalizer = own.normalizer;
    }
    if stages.decoder.is_none() {
        stages.decoder = own.decoder;
    }
    for control in own.added_tokens {
        if stages
            .added_tokens
            .iter()
            .all(|t| t.content != control.content)
        {
            stages.added_tokens.push(control);
        }
    }
    Ok(())
}

fn normalizer(
    spec: &NormalizerSpec,
    suffix: bool,
    user_defined: Vec<String>,
) -> Result<SentencePieceNormalizer> {
    let charsmap = match spec.precompiled_charsmap.as_slice() {
        [] => None,
        blob => {
            let charsmap = Charsmap::new(blob)?;
            charsmap.check_all()?;
            Some(charsmap)
        }
    };
    let white_space = WhiteSpace {
        add_dummy_prefix: spec.add_dummy_prefix,
        remove_extra: spec.remove_extra_whitespaces,
        escape: spec.escape_whitespaces,
        suffix,
        legacy: false,
    };
    Ok(SentencePieceNormalizer::new(
        charsmap,
        white_space,
        user_defined,
    ))
}

/// Score by which two segmentations of a Unigram model may differ and are as good as equal.
const SCORE_TOLERANCE: f32 = 1e-7;

/// What is wrong with the first self-test of the file that fails.
fn failed_self_test(stages: &Stages, model: &SentencePiece) -> Option<String> {
    let Some(Normalizer::SentencePiece(normalizer)) = &stages.normalizer else {
        return None;
    };
    let mut tests = model.proto().self_tests().iter().enumerate();
    tests.find_map(|(number, test)| {
        let text = normalizer.normalize_str(&test.input);
        let mut tokens = Vec::new();
        let mut sampler = Sampler::new(Sampling::default());
        let cut = model.tokenize(&text, &mut sampler, &mut tokens, &mut ());
        let pieces = tokens.iter().filter_map(|token| {
            let piece = model.proto().pieces.get(token.id)?;
            Some(match piece.kind {
                PieceKind::Unknown => &text[token.range.clone()],
                _ => piece.text,
            })
        });
        let pieces = pieces.collect::<Vec<&str>>().join(" ");
        let passed = cut.is_ok()
            && (pieces == test.expected
                || model
                    .score_of(&pieces)
                    .zip(model.score_of(&test.expected))
                    .is_some_and(|(a, b)| (a - b).abs() <= SCORE_TOLERANCE));
        let [input, expected, pieces] =
            [&test.input, &test.expected, &pieces].map(|text| show(text.as_bytes()));
        (!passed).then(|| {
            format!(
                "self_test_data: sample {number}: {input} should be split into {expected}, but it \
                 is cut into {pieces}, as if the file had been changed after it was made"
            )
        })
    })
}

/// Writes a tokenizer as a `.model` file, without its truncation and padding. It must have been read from
/// such a file, or fit one; `convert` converts others first.
///
/// # Errors
/// A tokenizer that the file cannot hold, such as one that was changed since it was read; the stage
/// is named.
pub fn write(stages: &Stages) -> Result<Vec<u8>> {
    stages.ask_for_room(256);
    let Model::SentencePiece(model) = &stages.model else {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "a .model file holds no {} model of another format",
                stages.model.kind()
            ),
        ));
    };
    let mut held = self::stages(model.proto().clone())?;
    if let (Some(Normalizer::SentencePiece(held)), Some(Normalizer::SentencePiece(given))) =
        (&mut held.normalizer, &stages.normalizer)
    {
        held.white_space_mut().legacy = given.white_space().legacy;
    }
    // The model is the file, whatever text may become.
    match parts_not_held(stages, &held).find(|part| *part != Part::Model) {
        None => Ok(model.proto().write()),
        Some(part) => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "a SentencePiece model holds its own stages alone, and cannot hold {}",
                part.of(stages)
            ),
        )),
    }
}
