//! Which ids `tokenizers` gives to added tokens, and which tokenizers a `tokenizer.json` cannot hold for that.

use crate::cannot_hold::{TOKENIZER_JSON, cannot_hold};
use jeton_models::model::Model;
use jeton_models::model::bpe::MergeRule;
use jeton_models::stages::Stages;
use jeton_text::error::Result;
use jeton_text::printable;
use jeton_text::text::AlignedText;

/// The id of the token of the model that a file spells as `content`.
pub fn id_in_model(model: &Model, content: &str) -> Option<u32> {
    if model.has_raw_tokens() {
        model.vocab().id(&printable::decode(content)?)
    } else {
        model.vocab().id(content.as_bytes())
    }
}

/// Refuses added tokens that `tokenizers` would give other ids: those of the tokens that the model
/// spells so.
pub fn check_ids(stages: &Stages) -> Result<()> {
    for token in &stages.added_tokens {
        if let Some(id) = id_in_model(&stages.model, &token.content)
            && id != token.id
        {
            return Err(cannot_hold(
                TOKENIZER_JSON,
                format!(
                    "the added token {:?} with id {}: there it would have the id {id} of the token \
                     that is spelled so",
                    token.content, token.id
                ),
            ));
        }
    }
    Ok(())
}

/// The added tokens that must be written among the model's, because `tokenizers` gives an added
/// token that the model lacks the next id after the number of tokens in the model.
pub fn tokens_out_of_order(stages: &Stages) -> Vec<(&str, u32)> {
    let vocab = stages.model.vocab();
    let mut missing: Vec<_> = stages
        .added_tokens
        .iter()
        .filter(|token| id_in_model(&stages.model, &token.content).is_none())
        .map(|token| (token.content.as_str(), token.id))
        .collect();
    missing.sort_by_key(|(_, id)| *id);
    let size = vocab.iter().count();
    let in_order = |(position, (_, id)): (usize, &(&str, u32))| *id as usize == size + position;
    let last = missing
        .iter()
        .enumerate()
        .rposition(|entry| !in_order(entry));
    missing.truncate(last.map_or(0, |last| last + 1));
    missing
}

/// Refuses an added token that must be written among the model's, if the model could then make it
/// of text.
pub fn check_out_of_reach(stages: &Stages, content: &str, id: u32) -> Result<()> {
    let is_found = match &stages.model {
        Model::Bpe(bpe) => {
            let options = bpe.options();
            let is_spelled = !stages.model.has_raw_tokens() || printable::stands_for_bytes(content);
            let has_pieces = options.ignore_merges || *bpe.rule() == MergeRule::Ranks;
            let affix = |affix: &Option<String>| affix.clone().unwrap_or_default();
            let prefix = affix(&options.continuing_subword_prefix);
            let suffix = affix(&options.end_of_word_suffix);
            let bare = content.strip_prefix(&prefix).unwrap_or(content);
            let bare = bare.strip_suffix(&suffix).unwrap_or(bare);
            let is_symbol = bare.chars().nth(1).is_none()
                || options.byte_fallback && content.starts_with("<0x")
                || options.unk_token.as_deref() == Some(content);
            is_spelled && (is_symbol || has_pieces && is_piece(stages, content)?)
        }
        Model::WordPiece(model) => {
            let prefix = model.continuing_subword_prefix();
            let inner = content.strip_prefix(prefix).unwrap_or(content);
            is_piece(stages, content)? || is_piece(stages, inner)? || content == model.unk_token()
        }
        Model::WordLevel(model) if content == model.unk_token() => true,
        // No other token of the vocabulary is found but those that events make.
        Model::PickyBpe(_) => content.chars().nth(1).is_none(),
        _ => is_piece(stages, content)?,
    };
    if is_found {
        Err(cannot_hold(
            TOKENIZER_JSON,
            format!(
                "the added token {content:?} with id {id}: there, ids go on after the model's \
                 without a gap, and in the model's vocabulary it would be found as text"
            ),
        ))
    } else {
        Ok(())
    }
}

/// Whether the model may see this text as a piece, by itself or between others.
fn is_piece(stages: &Stages, content: &str) -> Result<bool> {
    const AROUND: [&str; 5] = ["", " ", "a", ".", "\n"];
    for before in AROUND {
        for after in AROUND {
            let text = AlignedText::original(&format!("{before}{content}{after}"));
            let pieces = stages.before_model().pieces(text)?;
            if pieces.iter().any(|piece| piece.as_str() == content) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
