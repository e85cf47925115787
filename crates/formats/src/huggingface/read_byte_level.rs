//! Reads a byte-level BPE of a `tokenizer.json`: its tokens become raw bytes instead of GPT-2's
//! characters.
//!
//! A file spells each byte as one of 256 printable characters, and the library that it belongs to
//! rewrites text that way before the model sees it. If only the model could see the
//! difference, the vocabulary is read as raw bytes and text is not rewritten: same ids, less work.
//!
//! Some bytes may have no token, since training leaves out those that its corpus lacks. Text with such a
//! byte is unknown there, or dropped, like a character without a token. There is one exception: if the file
//! writes unknown text as tokens such as `<0xC4>`, the vocabulary stays as it is spelled, since those
//! would be the bytes of the 256 characters, not of the text.
//!
//! A token with a character outside the 256 is never found in text, since text is rewritten
//! to the 256. As raw bytes it could be found, or could collide with another token. If it is an added
//! token, its id has a meaning without the vocabulary, and the vocabulary leaves it out; otherwise the
//! vocabulary stays as it is spelled. An added token may have the id of a token for the
//! same bytes, as `"\n"` beside `"Ċ"`; only the first of them is left out. If it has the id of a
//! token that has the same spelling but other bytes, as `"é"` for the byte E9, the vocabulary stays
//! as it is spelled.

use std::collections::HashSet;

use super::model::{Entries, PICKY_BPE, SUPERWORDS};
use super::node::Node;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::error::Result;
use jeton_text::printable;
use jeton_text::text::{AlignedText, is_in_utf8};

/// The places of the tokens that the model's vocabulary leaves out when it is lifted, or `None`
/// where it must stay as it is spelled.
pub(super) fn left_out(
    model: &Node<'_>,
    entries: &Entries<'_>,
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
    decoder: Option<&Decoder>,
    added_tokens: &[AddedToken],
) -> Result<Option<HashSet<usize>>> {
    let is_bpe = match model.optional("type")? {
        Some(kind) => matches!(kind.json.as_str(), Some("BPE" | PICKY_BPE | SUPERWORDS)),
        None => model.has("merges"),
    };
    // Many files, that of GPT-2 among them, have empty ones.
    let plain = |name: &str| -> Result<bool> {
        let affix = model.optional(name)?;
        Ok(affix.is_none_or(|it| it.json.as_str() == Some("")))
    };
    let lifts = is_bpe
        && plain("continuing_subword_prefix")?
        && plain("end_of_word_suffix")?
        && !normalizer.is_some_and(is_byte_level)
        && pre_tokenizer.is_some_and(ends_in_bytes)
        && decoder == Some(&Decoder::ByteLevel { printable: true })
        && (has_all_bytes(entries) || may_lack_bytes(model)?);
    if !lifts {
        return Ok(None);
    }
    for token in added_tokens {
        if !decodes_to_itself(token, normalizer)? {
            return Ok(None);
        }
    }
    let added: HashSet<(&str, u32)> = added_tokens
        .iter()
        .map(|token| (token.content.as_str(), token.id))
        .collect();
    let is_other = |(content, _): &(&str, u32)| {
        printable::decode(content).is_some_and(|bytes| bytes != content.as_bytes())
    };
    let others: HashSet<(&str, u32)> = added.iter().copied().filter(is_other).collect();
    if !others.is_empty() && entries.iter().any(|entry| others.contains(entry)) {
        return Ok(None);
    }
    let mut odd = HashSet::new();
    let mut left_out = HashSet::new();
    for (place, entry) in entries.iter().enumerate() {
        if !printable::stands_for_bytes(entry.0) {
            if !added.contains(entry) {
                return Ok(None);
            }
            odd.insert(entry.0);
            left_out.insert(place);
        }
    }
    if !odd.is_empty() && any_merged(model, &odd)? {
        Ok(None)
    } else {
        Ok(Some(left_out))
    }
}

/// Makes the stages around a lifted model leave bytes as they are.
pub(super) fn lift(pre_tokenizer: Option<&mut PreTokenizer>, decoder: Option<&mut Decoder>) {
    if let Some(PreTokenizer::ByteLevel { printable, .. }) = pre_tokenizer.and_then(last) {
        *printable = false;
    }
    if let Some(decoder) = decoder {
        lift_decoder(decoder);
    }
}

fn lift_decoder(decoder: &mut Decoder) {
    match decoder {
        Decoder::ByteLevel { printable } => *printable = false,
        Decoder::Sequence(stages) => stages.iter_mut().for_each(lift_decoder),
        _ => {}
    }
}

fn last(pre_tokenizer: &mut PreTokenizer) -> Option<&mut PreTokenizer> {
    match pre_tokenizer {
        PreTokenizer::Sequence(stages) => stages.last_mut().and_then(last),
        stage => Some(stage),
    }
}

/// Whether the last stage rewrites text to GPT-2's characters, and no other one does.
fn ends_in_bytes(pre_tokenizer: &PreTokenizer) -> bool {
    fn count(pre_tokenizer: &PreTokenizer) -> usize {
        match pre_tokenizer {
            PreTokenizer::ByteLevel { .. } => 1,
            PreTokenizer::Sequence(stages) => stages.iter().map(count).sum(),
            _ => 0,
        }
    }
    fn ends(pre_tokenizer: &PreTokenizer) -> bool {
        match pre_tokenizer {
            PreTokenizer::ByteLevel { .. } => true,
            PreTokenizer::Sequence(stages) => stages.last().is_some_and(ends),
            _ => false,
        }
    }
    ends(pre_tokenizer) && count(pre_tokenizer) == 1
}

fn is_byte_level(normalizer: &Normalizer) -> bool {
    match normalizer {
        Normalizer::ByteLevel => true,
        Normalizer::Sequence(stages) => stages.iter().any(is_byte_level),
        _ => false,
    }
}

/// Whether every byte that text can hold is a token: then nothing is ever unknown.
fn has_all_bytes(entries: &Entries<'_>) -> bool {
    let mut missing: HashSet<char> = (0..=u8::MAX)
        .filter(|byte| is_in_utf8(*byte))
        .map(printable::to_char)
        .collect();
    for (token, _) in entries {
        let mut characters = token.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            missing.remove(&character);
        }
    }
    missing.is_empty()
}

/// Whether what becomes of a byte that is no token is the same for raw bytes: nothing, or the unknown
/// token, which has to be found by the same name.
fn may_lack_bytes(model: &Node<'_>) -> Result<bool> {
    let unk_token = model.optional("unk_token")?.map(|node| node.string());
    let unk_token = unk_token.transpose()?;
    let is_itself = |token: String| printable::decode(&token) == Some(token.into_bytes());
    Ok(unk_token.is_none_or(is_itself) && !model.bool_or("byte_fallback", false)?)
}

/// Whether a decoder of printable characters makes of an added token what one of raw bytes does.
pub(super) fn decodes_to_itself(
    token: &AddedToken,
    normalizer: Option<&Normalizer>,
) -> Result<bool> {
    let mut text = AlignedText::original(&token.content);
    if let (true, Some(normalizer)) = (token.normalized, normalizer) {
        normalizer.normalize(&mut text)?;
    }
    let text = text.as_str();
    Ok(printable::decode(text).is_none_or(|bytes| bytes == text.as_bytes()))
}

/// Whether a merge names one of these tokens.
fn any_merged(model: &Node<'_>, tokens: &HashSet<&str>) -> Result<bool> {
    // The tokens of events all stand for bytes.
    let Some(merges) = model.optional("merges")? else {
        return Ok(false);
    };
    let mut merges = merges.merges()?.flatten();
    Ok(merges.any(|(first, second)| match second {
        Some(second) => tokens.contains(first) || tokens.contains(second),
        None => first.split(' ').any(|part| tokens.contains(part)),
    }))
}
