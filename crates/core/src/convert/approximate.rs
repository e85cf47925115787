//! Approximate conversion of Unigram models and character maps to `tokenizer.json` and back, with a
//! list of what differs.
//!
//! Look here for what an approximation may change. Each difference of ids that is found in texts made
//! of the pieces must be one of these:
//!
//! - two segmentations are equally good except for rounding, in 32 bits here and 64 there;
//! - the text spells a control, unknown or byte piece, which is a piece like any other there;
//! - the character map applies to grapheme clusters there, and to the longest match here. In a
//!   cluster of fewer than six bytes the shortest key at its front replaces everything: CR LF becomes one
//!   space, and an accent or a variation selector after a rewritten character is
//!   lost. In a longer cluster, and in characters that are no cluster, each character is replaced
//!   separately: half-width kana and their marks, jamo, and letters and marks stay apart where the
//!   map would compose them;
//! - a text that begins with a user-defined piece of a BPE gets no space in front;
//! - U+0085 and `▁` are white space to pre-tokenizers that split there; here U+0085 is a character,
//!   and a `▁` in front of the text is no dummy prefix.
//!
//! A map whose replacement for several characters is not the composition of their separate replacements has no counterpart.

use super::explanation::Explanation;
use super::verify::verify;
use crate::convert::json_to_model_file::{all_white_space, from_huggingface, unk_surface};
use crate::convert::model_file_to_json::{Exactness, before_model, convert};
use jeton_formats::cannot_hold::{MODEL_FILE, TOKENIZER_JSON, cannot_hold};
use jeton_formats::{huggingface, sentencepiece as model_file};
use jeton_models::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_models::model::{Model, Unigram, byte_of_token};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Charsmap, Normalizer, WhiteSpace};
use jeton_stages::pre_tokenizer::{PreTokenizer, PrependScheme};
use jeton_stages::vocab::show;
use jeton_text::error::{Error, Result};

/// The stages of a `tokenizer.json` that come nearest to those of a `.model` file; of a tokenizer
/// that it can hold, these themselves.
///
/// # Errors
/// What cannot be kept and would show in many texts, by name; a text that differs for another
/// reason than those that are known.
pub fn approximate_huggingface(stages: &Stages) -> Result<Stages> {
    if !matches!(stages.model, Model::SentencePiece(_)) {
        return huggingface::write(stages).map(|_| stages.clone());
    }
    let converted = convert(stages, Exactness::Near)?;
    let explanation = Explanation::of(stages)?;
    explanation
        .check_map()
        .map_err(|what| cannot_hold(TOKENIZER_JSON, what))?;
    verify(stages, &converted, Some(&explanation))?;
    Ok(converted)
}

/// The stages of a `.model` file that come nearest to those of a Unigram model of `tokenizer.json`,
/// without what is around a text there: added special tokens, truncation, padding. Of a tokenizer
/// that such a file can hold, that of the file.
///
/// # Errors
/// As [`approximate_huggingface`].
pub fn approximate_model(stages: &Stages) -> Result<Stages> {
    stages.ask_for_room(1536);
    let unigram = match &stages.model {
        Model::Unigram(unigram) => unigram,
        Model::SentencePiece(_) => return model_file::write(stages).map(|_| stages.clone()),
        Model::Bpe(_) => return from_huggingface(stages),
        other => return Err(cannot(format!("a {} model", other.kind()))),
    };
    let stages = &Stages {
        post_processor: None,
        truncation: None,
        padding: None,
        ..stages.clone()
    };
    let pieces = pieces_of(stages, unigram)?;
    let unknown = unigram.unk_id().and_then(|id| unigram.vocab().token(id));
    let unknown = unknown.and_then(|token| std::str::from_utf8(token).ok());
    let mut refusal = cannot(
        "this normalizer with this pre-tokenizer, which should be a character map and Metaspace",
    );
    for (charsmap, white_space) in candidates(stages)? {
        let trainer = TrainerSpec {
            algorithm: Algorithm::Unigram,
            byte_fallback: unigram.byte_fallback(),
            unk_surface: unk_surface(stages, unknown),
            ..TrainerSpec::default()
        };
        let normalizer = NormalizerSpec {
            name: match charsmap {
                Some(_) => "user_defined".to_owned(),
                None => "identity".to_owned(),
            },
            precompiled_charsmap: charsmap.map(Charsmap::blob).unwrap_or_default(),
            add_dummy_prefix: white_space.add_dummy_prefix,
            remove_extra_whitespaces: white_space.remove_extra,
            escape_whitespaces: white_space.escape,
        };
        let mut made = model_file::stages(ModelProto::new(pieces.clone(), trainer, normalizer))?;
        if let Some(Normalizer::SentencePiece(normalizer)) = &mut made.normalizer {
            normalizer.white_space_mut().legacy = white_space.legacy;
        }
        let mut explanation = Explanation::of(&made)?;
        explanation.differs_at = stages
            .pre_tokenizer
            .as_ref()
            .map_or(&[], |step| differs_at(step));
        explanation.check_map().map_err(cannot)?;
        match verify(stages, &made, Some(&explanation)) {
            Ok(()) => return Ok(made),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}

fn cannot(what: impl std::fmt::Display) -> Error {
    cannot_hold(MODEL_FILE, what)
}

/// The tokens of a Unigram model as pieces.
fn pieces_of(stages: &Stages, unigram: &Unigram) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    for (id, score) in (0..).zip(unigram.scores()) {
        let token = unigram.vocab().token(id).unwrap_or_default();
        let Ok(text) = std::str::from_utf8(token) else {
            return Err(cannot(format!(
                "the token {}, which is not text",
                show(token)
            )));
        };
        let added = stages.added_tokens.iter().find(|added| added.id == id);
        let is_byte = || byte_of_token(token).is_some();
        let kind = match added {
            _ if unigram.unk_id() == Some(id) => PieceKind::Unknown,
            Some(added) if added.special => PieceKind::Control,
            Some(_) => return Err(cannot(format!("the added token {text:?}"))),
            None if unigram.byte_fallback() && is_byte() => PieceKind::Byte,
            None => PieceKind::Normal,
        };
        let score = match kind {
            PieceKind::Normal => *score as f32,
            _ => 0.0,
        };
        pieces.push(Piece::new(text, score, kind));
    }
    let mut beyond = stages.added_tokens.clone();
    beyond.retain(|token| token.id as usize >= pieces.len());
    beyond.sort_by_key(|token| token.id);
    for token in beyond {
        if !token.special || token.id as usize != pieces.len() {
            return Err(cannot(format!("the added token {:?}", token.content)));
        }
        pieces.push(Piece::new(token.content, 0.0, PieceKind::Control));
    }
    Ok(pieces)
}

/// The rules that a normalizer and a pre-tokenizer may express.
fn candidates(stages: &Stages) -> Result<Vec<(Option<&Charsmap>, WhiteSpace)>> {
    let charsmap = match &stages.normalizer {
        Some(Normalizer::Precompiled(map)) => Some(map),
        Some(Normalizer::Sequence(steps)) => match steps.first() {
            Some(Normalizer::Precompiled(map)) => Some(map),
            _ => None,
        },
        _ => None,
    };
    let metaspace = match &stages.pre_tokenizer {
        Some(PreTokenizer::Sequence(steps)) => steps.last(),
        other => other.as_ref(),
    };
    let mut found = Vec::new();
    for white_space in all_white_space() {
        let (normalizer, prefix) = before_model(charsmap, white_space, &[])?;
        let is_own = (&normalizer, &prefix) == (&stages.normalizer, &stages.pre_tokenizer);
        let fits = match metaspace {
            _ if is_own => true,
            None => false,
            Some(PreTokenizer::Metaspace {
                replacement: '▁',
                prepend_scheme,
                ..
            }) => {
                let prefix = *prepend_scheme != PrependScheme::Never;
                let legacy = *prepend_scheme == PrependScheme::Always;
                white_space.escape
                    && (white_space.add_dummy_prefix, white_space.legacy) == (prefix, legacy)
            }
            Some(_) => false,
        };
        if fits {
            found.push((charsmap, white_space));
        }
    }
    Ok(found)
}

/// The characters that a pre-tokenizer takes for white space, and SentencePiece does not.
fn differs_at(pre_tokenizer: &PreTokenizer) -> &'static [char] {
    match pre_tokenizer {
        PreTokenizer::Sequence(steps) => match steps.first() {
            Some(PreTokenizer::WhitespaceSplit) => &['\u{85}', '▁'],
            _ => &['▁'],
        },
        PreTokenizer::Metaspace { .. } => &['▁'],
        _ => &[],
    }
}
