//! A `tokenizer.json` as a SentencePiece model, where the meaning can be kept.
//!
//! Look here for why such a conversion is refused. The model that is made is converted back by
//! [`super::model_file_to_json`], and must be the same tokenizer; then the two are compared on texts.

use std::collections::HashMap;

use super::model_file_to_json::{Exactness, before_model, convert};
use super::verify::verify;
use jeton_formats::cannot_hold::{MODEL_FILE, Part, cannot_hold, parts_not_held, stage};
use jeton_formats::sentencepiece as model_file;
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_models::model::{Bpe, Model, byte_of_token};
use jeton_models::stages::Stages;
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::{Normalizer, WhiteSpace};
use jeton_stages::vocab::show;
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::pattern::SearchPattern;

/// The stages of the `.model` file that means what these stages of a `tokenizer.json` do. Those that put a
/// space in front of each stretch between special tokens are `legacy`, which no file says.
///
/// # Errors
/// Stages that are not what [`to_huggingface`](super::model_file_to_json::to_huggingface) makes of such a file, each named; a text that would
/// be encoded or decoded otherwise.
pub fn from_huggingface(stages: &Stages) -> Result<Stages> {
    stages.ask_for_room(1536);
    let cannot = |what: &str| cannot_hold(MODEL_FILE, what).hint("save it as tokenizer.json");
    let bpe = match &stages.model {
        Model::Bpe(bpe) => bpe,
        Model::Unigram(_) => {
            return Err(cannot_hold(
                MODEL_FILE,
                "a Unigram model of tokenizer.json: its scores are summed in 64 bits and not in 32",
            )
            .hint(
                "save it as tokenizer.json, or save its approximation: Tokenizer.approximation in \
                 Python, --approximate on the command line",
            ));
        }
        other => return Err(cannot(&format!("a {} model", other.kind()))),
    };
    if bpe.options().unk_token.is_none() && !bpe.options().byte_fallback {
        return Err(cannot("a model without an unknown token"));
    }
    let white_space = white_space_of(stages)?.ok_or_else(|| {
        let stage = stage("normalizer", stages.normalizer.as_ref());
        cannot(&format!("{stage}, which does more than mark spaces"))
    })?;
    let proto = ModelProto::new(
        pieces_of(stages, bpe)?,
        TrainerSpec {
            algorithm: if bpe.merges().merges.is_empty() {
                Algorithm::Char
            } else {
                Algorithm::Bpe
            },
            byte_fallback: bpe.options().byte_fallback,
            unk_surface: unk_surface(stages, bpe.options().unk_token.as_deref()),
            ..TrainerSpec::default()
        },
        NormalizerSpec {
            name: "identity".to_owned(),
            add_dummy_prefix: white_space.add_dummy_prefix,
            remove_extra_whitespaces: white_space.remove_extra,
            escape_whitespaces: white_space.escape,
            ..NormalizerSpec::default()
        },
    );
    let mut made = model_file::stages(proto)
        .map_err(|error| cannot(&format!("these tokens, as pieces: {error}")))?;
    if let Some(Normalizer::SentencePiece(normalizer)) = &mut made.normalizer {
        normalizer.white_space_mut().legacy = white_space.legacy;
    }
    let held = convert(&made, Exactness::Exact).map_err(|error| {
        cannot(&format!(
            "this BPE model, which its pieces do not reproduce: {error}"
        ))
    })?;
    let Model::Bpe(held_bpe) = &held.model else {
        return Err(cannot("this BPE model"));
    };
    for part in parts_not_held(stages, &held) {
        let name = part.of(stages);
        return Err(cannot(&match part {
            Part::AddedTokens => {
                format!("{name}, except control and user-defined pieces")
            }
            Part::Normalizer | Part::PreTokenizer => name,
            Part::Model if held_bpe.options() != bpe.options() => {
                "these options of the BPE model".to_owned()
            }
            Part::Model if by_token(held_bpe) != by_token(bpe) => {
                "merges that are not all pairs of tokens that make a token, token by token"
                    .to_owned()
            }
            // It merges in another order, with the same result.
            Part::Model => continue,
            Part::PostProcessor => format!("{name}, which adds special tokens"),
            Part::Decoder => format!("{name} with these steps"),
        }));
    }
    verify(stages, &made, None)?;
    Ok(made)
}

/// The rules for white space that a normalizer expresses, together with the pre-tokenizer if possible.
fn white_space_of(stages: &Stages) -> Result<Option<WhiteSpace>> {
    let mut found = None;
    for white_space in all_white_space() {
        let (normalizer, prefix) = before_model(None, white_space, &[])?;
        if normalizer == stages.normalizer {
            if prefix == stages.pre_tokenizer {
                return Ok(Some(white_space));
            }
            found.get_or_insert(white_space);
        }
    }
    Ok(found)
}

/// All rules for white space that a `tokenizer.json` can express.
pub(super) fn all_white_space() -> impl Iterator<Item = WhiteSpace> {
    (0..16).map(|bits| WhiteSpace {
        add_dummy_prefix: bits & 1 != 0,
        remove_extra: bits & 2 != 0,
        escape: bits & 4 != 0,
        suffix: false,
        legacy: bits & 8 != 0,
    })
}

/// What the decoder writes for the unknown token: its name, unless it replaces that.
pub(super) fn unk_surface(stages: &Stages, unknown: Option<&str>) -> String {
    let first = match &stages.decoder {
        Some(Decoder::Sequence(steps)) => steps.first(),
        _ => None,
    };
    match first {
        Some(Decoder::Replace {
            pattern: SearchPattern::Literal(pattern),
            content,
        }) if unknown == Some(pattern) => content.clone(),
        _ => unknown.unwrap_or_default().to_owned(),
    }
}

/// The tokens as pieces: those that merges make have the highest scores, the first merge the
/// highest.
fn pieces_of(stages: &Stages, bpe: &Bpe) -> Result<Vec<Piece>> {
    let cannot = |what: String| Err(cannot_hold(MODEL_FILE, what));
    let made = made_tokens(bpe);
    let scores = scores_of(&made);
    let options = bpe.options();
    let mut pieces = Vec::with_capacity(bpe.vocab().len());
    let mut unmade = -(scores.len() as f32);
    for (token, id) in bpe.vocab().iter() {
        tick();
        if id as usize != pieces.len() {
            return cannot(format!("a gap in the ids: none is {}", pieces.len()));
        }
        let Ok(text) = std::str::from_utf8(token) else {
            return cannot(format!("the token {}, which is not text", show(token)));
        };
        let added = stages.added_tokens.iter().find(|added| added.id == id);
        let is_byte = || byte_of_token(token).is_some();
        let kind = match added {
            _ if options.unk_token.as_deref() == Some(text) => PieceKind::Unknown,
            Some(added) if added.special => PieceKind::Control,
            Some(_) => PieceKind::UserDefined,
            None if options.byte_fallback && is_byte() => PieceKind::Byte,
            None => PieceKind::Normal,
        };
        let score = match (kind, scores.get(token)) {
            (PieceKind::Normal, Some(score)) => *score,
            (PieceKind::Normal, None) => {
                unmade -= 1.0;
                unmade
            }
            _ => 0.0,
        };
        pieces.push(Piece::new(text, score, kind));
    }
    Ok(pieces)
}

/// The scores of what merges make: the earlier the higher, and equal where the merges of several
/// tokens are mixed.
fn scores_of(made: &[Vec<u8>]) -> HashMap<&[u8], f32> {
    let last: HashMap<&[u8], usize> = made.iter().map(Vec::as_slice).zip(0..).collect();
    let mut scores = HashMap::new();
    let (mut score, mut end) = (0.0, None);
    for (at, token) in made.iter().enumerate() {
        if end.is_some_and(|end| at > end) {
            score -= 1.0;
        }
        scores.insert(token.as_slice(), score);
        end = end.max(last.get(token.as_slice()).copied());
    }
    scores
}

/// What each merge makes, first to last.
fn made_tokens(bpe: &Bpe) -> Vec<Vec<u8>> {
    let token = |id| bpe.vocab().token(id).unwrap_or_default();
    let merges = bpe.merges().merges;
    merges
        .into_iter()
        .map(|(left, right)| [token(left), token(right)].concat())
        .collect()
}

/// The merges, those that make one token together and in one order.
fn by_token(bpe: &Bpe) -> Option<Vec<Vec<(u32, u32)>>> {
    if matches!(bpe.rule(), MergeRule::Ranks) {
        return None;
    }
    let merges = bpe.merges().merges;
    let made: Vec<_> = made_tokens(bpe).into_iter().zip(merges).collect();
    let groups = made.chunk_by(|(a, _), (b, _)| a == b);
    Some(
        groups
            .map(|group| {
                let mut pairs: Vec<_> = group.iter().map(|(_, pair)| *pair).collect();
                pairs.sort_unstable();
                pairs
            })
            .collect(),
    )
}
